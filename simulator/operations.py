"""What the simulator does, as four functions: `simulate`, `explore`, `crashpoints`, `replay`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from windtunnel.compiler.pipeline import check, compile_workflow
from windtunnel.compiler.reader import MemoryReader
from windtunnel.compiler.resolver import WorkflowId
from windtunnel.compiler.snapshot import Snapshot
from windtunnel.dsl.diagnostics import Severity
from windtunnel.simulator.budget import budget
from windtunnel.simulator.chat.faults import CHAT_FAULTS
from windtunnel.simulator.choices import Choices, Recorded, Seeded
from windtunnel.simulator.faults import BY_ID, Fault, UnknownFault, fault
from windtunnel.simulator.hosting import INTERACTIVE, USUAL, Hosting, HostingRefused, hosting
from windtunnel.simulator.providers.behaviour import Provider
from windtunnel.simulator.run.program import NotSimulated
from windtunnel.simulator.search import exploration
from windtunnel.simulator.search.exploration import CrashPoints, Exploration, Progress, Setup
from windtunnel.simulator.search.explorer import MAX_STATES
from windtunnel.simulator.search.token import Token, TokenError, decode
from windtunnel.simulator.simulation import Run
from windtunnel.simulator.world import InputRefused

__all__ = [
    "CrashPoints",
    "Exploration",
    "HostingRefused",
    "InputRefused",
    "NotSimulated",
    "Run",
    "TokenError",
    "UnknownFault",
    "crashpoints",
    "explore",
    "replay",
    "simulate",
]

FAULT_REFERENCE: Final = "fault:"
"""How a token names the small world of a seeded fault."""

SEEDED_FAULTS: Final = 2
"""Faults that a run drawn from a seed may meet."""

VISITS: Final = 1_000_000
"""Where the counts of visits saturate in a run, and wherever a script may ask for one."""

SEARCHED_VISITS: Final = 2
"""Where they saturate in a search: the first visit and a later one are told apart."""


def simulate(
    snapshot: Snapshot,
    input: JsonValue = None,
    *,
    seed: int | None = None,
    choices: Sequence[int] | Choices | None = None,
    provider: Provider | None = None,
    host: str = INTERACTIVE,
    origin: bool = True,
    second_host: bool = False,
    also: Iterable[str] = (),
) -> Run:
    """Run a workflow once. Without `seed` and `choices` nothing goes wrong and the first good behaviour is
    taken.

    `choices` are whole numbers, or something that answers questions; a `seed` draws behaviour and up to
    SEEDED_FAULTS faults. What stands after `provider` is as in `explore`. Raises InputRefused,
    NotSimulated and HostingRefused.
    """
    around = hosting(host, origin=origin, second_host=second_host, also=also)
    setup = Setup(snapshot, input, provider=provider, visit_cap=VISITS, hosting=around)
    return exploration.run(setup, budget(SEEDED_FAULTS, {}), _answers(seed, choices))


def _answers(seed: int | None, choices: Sequence[int] | Choices | None) -> Choices:
    if choices is not None:
        return Recorded(choices) if isinstance(choices, Sequence) else choices
    return Recorded(()) if seed is None else Seeded(seed)


def explore(
    snapshot: Snapshot | None = None,
    *,
    input: JsonValue = None,
    faults: int = exploration.DEFAULT_FAULTS,
    crashes: int | None = None,
    duplicates: int | None = None,
    provider_faults: int | None = None,
    fault: str | None = None,
    seed: int = 0,
    exact: bool = False,
    states: int | None = None,
    progress: Progress | None = None,
    reference: str | None = None,
    provider: Provider | None = None,
    host: str = INTERACTIVE,
    origin: bool = True,
    second_host: bool = False,
    also: Iterable[str] = (),
) -> Exploration:
    """Every schedule with up to `faults` faults, of each kind at most as many as its cap.

    Without an `input` every input is tried that may take another route. `exact` keeps whole states; a search
    stops after about `states` of them, MAX_STATES by default, and its report is not complete then. With
    `fault` a seeded bug is switched on; without a snapshot its own small world is explored. `reference` is
    the name that tokens give the workflow. `host` is a kind of host, which works for an `origin` session or
    without one; a `second_host` may take the run over; `also` names what else may happen, of ALSO in
    `hosting`. A seeded fault in its own world brings what it needs. Raises InputRefused, NotSimulated,
    UnknownFault and HostingRefused.
    """
    caps = {"crash": crashes, "duplicate": duplicates, "provider": provider_faults}
    around = hosting(host, origin=origin, second_host=second_host, also=also)
    setup = _setup(snapshot, input, fault, reference, provider, around)
    most = MAX_STATES if states is None else states
    return exploration.explore(
        setup, faults=faults, caps=caps, seed=seed, most=most, exact=exact, progress=progress
    )


def crashpoints(
    snapshot: Snapshot,
    *,
    input: JsonValue = None,
    reference: str | None = None,
    provider: Provider | None = None,
    host: str = INTERACTIVE,
    origin: bool = True,
    second_host: bool = False,
    also: Iterable[str] = (),
) -> CrashPoints:
    """Every crash point of the crash-free paths, fired once. Raises as `explore` does."""
    around = hosting(host, origin=origin, second_host=second_host, also=also)
    return exploration.crashpoints(_setup(snapshot, input, None, reference, provider, around))


def replay(token: str, load: Callable[[str], Snapshot]) -> Run:
    """The run of a token, again. `load` gives the snapshot of the workflow under the reference in the token.

    Raises TokenError when the token is damaged, of another version, or made for another text of the workflow.
    """
    setup, decoded = _decoded(token, load)
    return exploration.replay(setup, decoded)


def scenario_of(token: str, load: Callable[[str], Snapshot]) -> str:
    """The run of a token as a `scenario` block that stands beside its workflow.

    Raises TokenError as `replay`, and Unwritable when no scenario says what happens in the run.
    """
    from windtunnel.simulator.scenario.writing import End, written

    setup, decoded = _decoded(token, load)
    run = exploration.replay(setup, decoded)
    invariant = run.violations[0].invariant if run.violations else None
    return written(
        setup.snapshot,
        setup.world,
        setup.world.start(decoded.budget),
        decoded.choices,
        End(run.status, run.exit, invariant),
        input=decoded.input,
        title=f"this ends {run.status}" if invariant is None else f"this breaks {invariant}",
        switches=frozenset() if decoded.fault is None else frozenset({decoded.fault}),
    )


def _decoded(token: str, load: Callable[[str], Snapshot]) -> tuple[Setup, Token]:
    """A token and the setup that it was made in. Raises TokenError."""
    decoded = decode(token)
    snapshot = snapshot_of(decoded.workflow, load)
    if decoded.fault is not None and decoded.fault not in BY_ID:
        raise TokenError(f"This token switches on a fault that is not known here ({decoded.fault}).")
    setup = Setup(
        snapshot,
        decoded.input,
        fault=decoded.fault,
        reference=decoded.workflow,
        hosting=decoded.hosting,
    )
    return setup, decoded


@dataclass(frozen=True, slots=True)
class SeededFault:
    """A bug that can be put back: the `part` that had it (`run` or `conversation`) and its story.

    `holds` says what must hold instead, `invariant` who notices, `world` is the source of its small workflow;
    these are empty for a fault of the conversation, whose small worlds are no workflows.
    """

    id: str
    part: str
    story: str
    holds: str = ""
    invariant: str = ""
    world: str = ""

    def to_json(self) -> dict[str, JsonValue]:
        """The fields that are not empty, with their names."""
        return {name: value for name in _FAULT_FIELDS if (value := getattr(self, name))}


_FAULT_FIELDS: Final = ("id", "part", "story", "holds", "invariant", "world")


def seeded_faults() -> tuple[SeededFault, ...]:
    """Every bug that can be put back, those of runs first."""
    runs = (
        SeededFault(one.id, "run", one.story, one.holds, one.invariant, one.source) for one in BY_ID.values()
    )
    chats = (SeededFault(id, "conversation", story) for id, story in CHAT_FAULTS.items())
    return (*runs, *chats)


def snapshot_of(reference: str, load: Callable[[str], Snapshot]) -> Snapshot:
    """The snapshot that a token names: the small world of a fault, or what `load` gives."""
    if reference.startswith(FAULT_REFERENCE):
        return world_of(fault(reference.removeprefix(FAULT_REFERENCE)))
    return load(reference)


def world_of(fault: Fault) -> Snapshot:
    """The small world of a seeded fault; where the fault is one of the compiler, it keeps quiet about it."""
    reader = MemoryReader({fault.world: fault.source})
    if fault.unchecked is not None:
        return _unchecked(reader, fault)
    compiled = compile_workflow(reader, fault.world)
    assert compiled.snapshot is not None, f"the world of {fault.id} compiles"
    return compiled.snapshot


def _unchecked(reader: MemoryReader, fault: Fault) -> Snapshot:
    from windtunnel.compiler.lowering import lower

    checked = check(reader, fault.world)
    errors = {found.code for found in checked.diagnostics if found.severity is Severity.ERROR}
    assert errors == {fault.unchecked}, f"nothing but {fault.unchecked} is wrong with the world of {fault.id}"
    name = fault.world.removesuffix(".flow")
    snapshot = lower(checked.program, WorkflowId(checked.modules.root, name), checked)
    assert isinstance(snapshot, Snapshot), f"the world of {fault.id} can be lowered"
    return snapshot


def _setup(
    snapshot: Snapshot | None,
    input: JsonValue,
    fault_id: str | None,
    reference: str | None,
    provider: Provider | None,
    around: Hosting,
) -> Setup:
    seeded = None if fault_id is None else fault(fault_id)
    if snapshot is None:
        if seeded is None:
            raise UnknownFault("Name a workflow, or a seeded fault whose own small world is explored.")
        snapshot, reference = world_of(seeded), FAULT_REFERENCE + seeded.id
        around = seeded.hosting if around == USUAL else around
    id = None if seeded is None else seeded.id
    cap = SEARCHED_VISITS if provider is None else VISITS
    return Setup(
        snapshot,
        input,
        fault=id,
        reference=reference,
        provider=provider,
        visit_cap=cap,
        hosting=around,
    )
