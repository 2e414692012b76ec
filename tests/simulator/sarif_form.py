"""The part of SARIF 2.1.0 that is used, as strict models: no other property, every bound of the standard.

Written after the published JSON Schema of the standard; a property that is not listed here has to be looked
up there before it is written.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

URI = r"^(?:[a-z]+:)?(?:[A-Za-z0-9\-._~/!$&'()*+,;=:@]|%[0-9A-F]{2})+$"
"""A relative reference or a URI: nothing in it that would have to be escaped."""

Words = Annotated[str, Field(min_length=1)]
Level = Literal["none", "note", "warning", "error"]


class Form(BaseModel):
    """An object of the standard."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Message(Form):
    text: Words


class ArtifactLocation(Form):
    uri: Annotated[str, Field(pattern=URI)]


class Region(Form):
    startLine: Annotated[int, Field(ge=1)]
    startColumn: Annotated[int, Field(ge=1)]
    endLine: Annotated[int, Field(ge=1)]
    endColumn: Annotated[int, Field(ge=1)]

    @model_validator(mode="after")
    def ends_behind_its_start(self) -> Region:
        """An end before the start is no region."""
        assert (self.startLine, self.startColumn) <= (self.endLine, self.endColumn)
        return self


class PhysicalLocation(Form):
    artifactLocation: ArtifactLocation
    region: Region


class Location(Form):
    id: Annotated[int, Field(ge=-1)] | None = None
    physicalLocation: PhysicalLocation
    message: Message | None = None


class Step(Form):
    location: Location


class ThreadFlow(Form):
    locations: Annotated[list[Step], Field(min_length=1)]


class CodeFlow(Form):
    message: Message
    threadFlows: Annotated[list[ThreadFlow], Field(min_length=1)]


class Content(Form):
    text: str


class Replacement(Form):
    deletedRegion: Region
    insertedContent: Content


class ArtifactChange(Form):
    artifactLocation: ArtifactLocation
    replacements: Annotated[list[Replacement], Field(min_length=1)]


class Mend(Form):
    description: Message
    artifactChanges: Annotated[list[ArtifactChange], Field(min_length=1)]


class Result(Form):
    ruleId: Annotated[str, Field(pattern=r"^WT\d{4}$")]
    ruleIndex: Annotated[int, Field(ge=0)]
    level: Level
    message: Message
    locations: Annotated[list[Location], Field(min_length=1)]
    relatedLocations: list[Location] = []
    codeFlows: list[CodeFlow] = []
    fixes: list[Mend] = []

    @model_validator(mode="after")
    def lists_are_sets(self) -> Result:
        """The standard asks for unique items, and related places are told apart by their ids."""
        for items in (self.relatedLocations, self.fixes):
            shown = [item.model_dump_json() for item in items]
            assert len(shown) == len(set(shown))
        ids = [location.id for location in self.relatedLocations]
        assert ids == list(range(1, len(ids) + 1))
        return self


class Configuration(Form):
    level: Level


class Rule(Form):
    id: Words
    name: Annotated[str, Field(pattern=r"^[A-Z][A-Za-z0-9]*$")]
    shortDescription: Message
    help: Message
    defaultConfiguration: Configuration


class Driver(Form):
    name: Words
    semanticVersion: Annotated[str, Field(pattern=r"^\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?$")]
    rules: list[Rule]


class Tool(Form):
    driver: Driver


class Run(Form):
    tool: Tool
    columnKind: Literal["utf16CodeUnits", "unicodeCodePoints"]
    results: list[Result]

    @model_validator(mode="after")
    def results_name_their_rules(self) -> Run:
        """Each rule once, in order, and each result by its place among them."""
        ids = [rule.id for rule in self.tool.driver.rules]
        assert ids == sorted(set(ids))
        assert all(ids[result.ruleIndex] == result.ruleId for result in self.results)
        assert set(ids) == {result.ruleId for result in self.results}
        return self


class Log(Form):
    schema_: Annotated[str, Field(alias="$schema", pattern=r"^https://\S+sarif\S*2\.1\.0\.json$")]
    version: Literal["2.1.0"]
    runs: Annotated[list[Run], Field(min_length=1, max_length=1)]
