"""A workflow in the session: begun, taken up after a crash, and told what the agent did.

The engine asks for prompts; each becomes a step entry of the conversation as soon as the agent is idle. What
the agent then says is read off the durable entries, in the order in which its loop tells of them.
"""

from __future__ import annotations

from typing import Final

from pydantic import JsonValue

from windtunnel.compiler.canonical import canonical
from windtunnel.compiler.snapshot import Snapshot
from windtunnel.simulator.chat.entries import (
    Commanded,
    Entry,
    MessageEnded,
    RetryEnded,
    RunClosed,
    UserMessage,
)
from windtunnel.simulator.chat.parts import Json, json_text
from windtunnel.simulator.chat.parts import Step as StepOfRow
from windtunnel.simulator.chat.requests import RawChunk
from windtunnel.simulator.chat.turns import Announce, Interrupt, LoopEvent, PromptStep, RunTool, ToolDone
from windtunnel.simulator.durable import wall
from windtunnel.simulator.durable.driving import VISITS, Place, begin, claim, snapshot_of
from windtunnel.simulator.durable.lines import ending, parsed, written
from windtunnel.simulator.durable.offers import model_menu
from windtunnel.simulator.durable.sessionfile import LedgerFile, ledger_path
from windtunnel.simulator.events import (
    ATTEMPT_TEXT,
    CURRENT,
    OLDER,
    Abort,
    Action,
    Answered,
    Cancel,
    Delivered,
    Heard,
    Prompt,
    Published,
    Release,
    Reply,
    Settled,
    StepRef,
    Submitted,
    Tell,
    ToEngine,
)
from windtunnel.simulator.network import Provider
from windtunnel.simulator.providers.behaviour import Submit
from windtunnel.simulator.providers.generated import GeneratedProvider
from windtunnel.simulator.run.program import Program
from windtunnel.simulator.serving.bodies import Refused
from windtunnel.simulator.serving.engine import NOTICE, EngineHost, View, as_seen, view_of, visible
from windtunnel.simulator.serving.frames import RUN
from windtunnel.simulator.serving.service import Service
from windtunnel.simulator.serving.speaking import WORKFLOW_TOOL, Words, broken, submitted, turn_words
from windtunnel.simulator.store.interface import StoreRefused
from windtunnel.simulator.store.records import FINAL, Held, RunRecord

WAITING: Final = "waiting"


class Workflow:
    """One workflow, run after run, in one session. Raises NotSimulated."""

    def __init__(
        self, place: Place, snapshot: Snapshot, input: JsonValue, reference: str, service: Service
    ) -> None:
        Program(snapshot, visit_cap=VISITS)
        self.place, self.snapshot, self.input, self.reference = place, snapshot, input, reference
        self.service = service
        self.host: EngineHost | None = None
        self.trouble = ""
        self._stood: object = None
        self._ends: dict[str, Json] = {}
        self._titles: dict[str, str] = {}
        self._ended: dict[str, MessageEnded] = {}
        self._rest()

    def _rest(self) -> None:
        """Nothing is asked of the agent."""
        self._asked: dict[str, UserMessage] = {}
        self._waiting: Prompt | None = None
        self._out: Prompt | None = None
        self._step: StepRef | None = None
        self._own = True
        self._last: tuple[str, str, str | None] | None = None
        self._frozen = ""
        self._by_engine = False
        self._by_person = False
        self._over = False
        self._call: RunTool | None = None
        self._telling = False

    # --- begun and taken up ---------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin a run. Raises Refused while one goes on."""
        if self.host is not None and not is_over(self.host.record):
            raise Refused(409, "run_in_progress", f"{self.host.record.run} is {self.host.record.status}")
        self._take_up(begin(self.place, self.snapshot, self.input, self.reference).run)
        self.pump()

    def reopened(self) -> None:
        """The session was read from its log: go on with the last run, where it is not over."""
        self._ended = {
            entry.body.message: entry.body
            for entry in self.service.entries
            if isinstance(entry.body, MessageEnded)
        }
        runs = self.place.store.runs()
        try:
            if runs:
                self._take_up(runs[-1].run)
        except StoreRefused as problem:
            self._give_up(problem)
        self.pump()

    def _take_up(self, run: str) -> None:
        self._rest()
        store = self.place.store
        record = store.run(run)
        if is_over(record):
            self.host = None
            return
        if self.host is not None:
            store.release(self.host.claim)
        claimed = claim(self.place, run)
        if isinstance(claimed, Held):
            raise StoreRefused(f"{claimed.owner} works on {run}")
        lines = store.trace(run)
        names = {run, *(line.name for line in lines if line.name)}
        snapshot = snapshot_of(store, record)
        self.host = EngineHost(
            Program(snapshot, visit_cap=VISITS),
            GeneratedProvider(snapshot),
            store,
            View(view_of(self.service.entries, names)),
            LedgerFile(ledger_path(self.place.path, run)),
            claimed,
            port=self._say,
            clock=wall.WallClock(record.created_ms, lines[-1].at if lines else 0),
            wall=wall.now_ms,
        )

    def pump(self) -> None:
        """Let the engine go on as far as it can, and tell readers how it stands."""
        try:
            self._drain()
            self._send()
        except StoreRefused as problem:
            self._give_up(problem)
        stands = None if self.host is None else (self.host.record, self.host.writer.last)
        if stands != self._stood:
            self._stood = stands
            self._tell()

    def _drain(self) -> None:
        while self.host is not None and self.host.advance():
            pass

    def _receive(self, message: ToEngine) -> None:
        """Something for the engine, which then goes on before anything else reaches it."""
        if self.host is not None:
            self.host.receive(message)
            self._drain()

    def _give_up(self, problem: StoreRefused) -> None:
        """The run cannot go on in this process."""
        self.trouble, self.host = str(problem), None

    def _tell(self) -> None:
        self.service.tell_readers(RawChunk(RUN, json_text(self.status())))

    def close(self) -> None:
        """Give the claim back, so that another process need not wait."""
        if self.host is not None:
            self.place.store.release(self.host.claim)
            self.host = None

    # --- what people do -------------------------------------------------------------------------------------

    def command(self, what: str, data: Json) -> None:
        """`start`, `release` a run that is paused, `cancel` one, or `answer` its request. Raises Refused."""
        if what == "start":
            self.start()
        elif self.host is None:
            raise Refused(409, "no_run", "no run goes on")
        elif what == "release":
            self._receive(Release())
        elif what == "cancel":
            self._receive(Cancel())
        else:
            self._answer(self.host, data)
        self.pump()
        self._tell()

    def _answer(self, host: EngineHost, data: Json) -> None:
        asked = host.run.request
        if asked is None:
            raise Refused(409, "nothing_asked", "nothing is asked")
        value = canonical(data["value"]) if "value" in data else None
        choice = data.get("choice")
        events = host.receive(
            Answered(data.get("digest") or asked.digest, choice, value, overdue=host.overdue)
        )
        refused = [event.text("reason") for event in events if event.type == "answer_refused"]
        if refused:
            raise Refused(409, "answer_refused", refused[0])

    def status(self) -> Json:
        """How the last run stands, and the titles of all, for whoever draws them."""
        found: Json = {"workflow": self.snapshot.workflow, "trouble": self.trouble}
        runs = self.place.store.runs()
        for record in runs:
            if record.run not in self._ends:
                stands = self._stands(record)
                if is_over(record):
                    self._ends[record.run] = stands
                found |= stands
        if runs:
            found |= self._ends.get(runs[-1].run, {})
        found["titles"] = self._titles
        return found

    def _stands(self, record: RunRecord) -> Json:
        """How a run stands; its title is kept, under each id that it has."""
        store = self.place.store
        trace = written(record.run, store.trace(record.run))
        titles = [line["payload"].get("title") for line in trace if line["type"] == "run_started"]
        title = (titles[0] if titles else None) or record.workflow
        self._titles |= {line["runId"]: title for line in trace}
        exit, output = ending(trace)
        asked = [each for each in store.decisions(record.run) if each.state == "open"]
        request = parsed(asked[-1].request) if asked and record.status == WAITING else None
        stands: Json = {"run": record.run, "status": record.status, "paused": record.paused}
        return stands | {"exit": exit, "output": output, "request": request}

    # --- the engine to the agent ----------------------------------------------------------------------------

    def _say(self, message: Prompt | Reply | Abort) -> tuple[Action, ...]:
        """What the engine says to its agent."""
        match message:
            case Prompt():
                self._waiting = message
                self._send()
            case Reply(verdict, text):
                call, self._call = self._call, None
                if call is not None:
                    refused = verdict == "refused"
                    self.service.hear(ToolDone(call.message, call.call, json_text(text), refused))
            case Abort():
                return self._abort()
        return ()

    def _abort(self) -> tuple[Action, ...]:
        if self._waiting is not None:
            step, self._waiting = self._waiting.step, None
            return (Tell("engine", Settled(step, "withdrawn")),)
        if self._out is not None:
            self._by_engine = True
            self.service.hear(Interrupt())
        return ()

    def _send(self) -> None:
        """Tell what is to be told and send the prompt that waits, if the agent is idle."""
        chat, host = self.service.host, self.host
        if host is None or chat is None or chat.loop.phase != "idle":
            return
        if host.to_tell is not None and not self._telling:
            node, text = host.to_tell
            self._telling = True
            self.service.hear(Announce(text, StepOfRow(host.writer.run, node, "", NOTICE, NOTICE)))
        if self._waiting is None:
            return
        prompt, self._waiting = self._waiting, None
        self._out = prompt
        asked = prompt.question
        step = StepOfRow(
            host.writer.run,
            asked.node,
            host.attempt,
            prompt.step.completion,
            asked.kind,
            asked.max_chars,
        )
        self.service.hear(PromptStep(asked.prompt.replace(ATTEMPT_TEXT, host.attempt), step))

    def words(self, sent: int) -> Words | None:
        """What the model says to the prompt that is out."""
        if self.host is None or self._out is None:
            return None
        host, asked = self.host, self._out.question
        try:
            menu = model_menu(host.program, host.provider, host.run, Provider(asked=True, question=asked))
        except StoreRefused as problem:
            return broken("", str(problem))
        return turn_words(menu.quiet[0].turn(sent))

    def tool(self, run: RunTool) -> bool:
        """A call of the workflow tool."""
        if run.name != WORKFLOW_TOOL or self.host is None:
            return False
        self._call = run
        attempt = CURRENT if self._step is not None else OLDER
        given = submitted(run.input)
        try:
            if isinstance(given, Submit):
                self._receive(Submitted(given, attempt))
            else:
                self._receive(Published(given.key, given.data))
        except StoreRefused as problem:
            self._give_up(problem)
        self.pump()
        return True

    # --- the agent to the engine ----------------------------------------------------------------------------

    def news(self, entries: tuple[Entry, ...], told: tuple[LoopEvent, ...]) -> None:
        """Entries that became durable, then what the loop told of them."""
        for entry in entries:
            if isinstance(entry.body, MessageEnded):
                self._ended[entry.body.message] = entry.body
            elif isinstance(entry.body, RunClosed) and entry.body.message is not None:
                self._ended[entry.body.message.message] = entry.body.message
        if self.host is None or (not entries and all(event.type == "message_update" for event in told)):
            return
        retries = any(event.type == "auto_retry_start" for event in told)
        try:
            for entry in entries:
                self.host.met(as_seen(entry))
                self._meet(entry)
            for event in told:
                self._hear(event, retries)
        except StoreRefused as problem:
            self._give_up(problem)
        self.pump()

    def _meet(self, entry: Entry) -> None:
        """What an entry is to the step."""
        body = entry.body
        if isinstance(body, UserMessage):
            self._asked[entry.id] = body
        elif isinstance(body, Commanded) and body.what in ("stop", "interrupt"):
            self._by_person = not self._by_engine
        elif isinstance(body, RetryEnded) and body.outcome == "cancelled":
            self._over = True
        elif isinstance(body, RunClosed) and body.error is not None:
            words = "" if body.message is None else visible(body.message.parts)
            self._last = (words, "error", body.error)

    def _begins(self, body: UserMessage) -> None:
        """A turn begins: that of the prompt which is out, or one of a person in the same run."""
        if body.step is not None and body.step.kind == NOTICE:
            self._telling = False
        elif body.step is not None and self._out is not None:
            self._step, self._own, self._last, self._frozen = self._out.step, True, None, ""
            self._receive(Delivered(self._out))
        elif self._step is not None and self._own:
            self._own, self._frozen = False, "" if self._last is None else self._last[1]

    def _hear(self, event: LoopEvent, retries: bool) -> None:
        """What the loop tells, as the engine hears it."""
        if event.type == "agent_settled":
            self._send()
        if event.type == "message_end" and event.subject in self._asked:
            self._begins(self._asked.pop(event.subject))
            return
        step = self._step
        if step is None:
            return
        listens = step.completion == "assistant" and not retries
        if event.type == "message_end" and event.subject in self._ended:
            body = self._ended[event.subject]
            error = self._last[2] if self._last is not None and body.stop == "error" else None
            self._last = (visible(body.parts), body.stop, error)
            if listens:
                self._receive(Heard(step, "message_end", self._own, *self._last))
        elif event.type == "turn_end" and listens and self._last is not None:
            self._receive(Heard(step, "turn_end", self._own, *self._last))
        elif (event.type == "agent_end" and not retries) or self._over:
            why = self._frozen or ("" if self._last is None else self._last[1]) or "stop"
            if self._by_engine or self._by_person:
                why = "aborted" if self._by_engine else "escape"
            self._step = self._out = None
            self._by_engine = self._by_person = self._over = False
            self._receive(Settled(step, why))


def is_over(record: RunRecord) -> bool:
    """Whether a run has ended and has nothing left to tell."""
    return record.status in FINAL and not record.untold
