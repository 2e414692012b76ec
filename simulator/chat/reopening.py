"""Opening a session from its log: what was open is closed, what may have been sent and is lost voids the
cursors.

Doing it twice is doing it once: a log that was reopened asks for nothing more.
"""

from __future__ import annotations

import re
from typing import Final

from windtunnel.simulator.chat.conversation import drain
from windtunnel.simulator.chat.entries import (
    EpochStarted,
    MessageEnded,
    RetryEnded,
    RunClosed,
    RunOpened,
    SessionOpened,
    ToolClosed,
    UserMessage,
)
from windtunnel.simulator.chat.faults import Faults
from windtunnel.simulator.chat.logfile import LogImage
from windtunnel.simulator.chat.pen import Conversation, Pen
from windtunnel.simulator.chat.rows import Transcript, branch_rows
from windtunnel.simulator.chat.turns import Batch, Settings

OWN_ID: Final = re.compile(r"[ert]([0-9]{1,15})")
"""An id that this loop minted; others come from imported files."""


def minted_in(image: LogImage) -> int:
    """The highest number among the ids in a log, so that none is given out twice."""
    highest = 0
    for entry in image.entries:
        names = [entry.id]
        if isinstance(entry.body, RunOpened):
            names += [entry.body.run, entry.body.turn]
        elif isinstance(entry.body, UserMessage):
            names.append(entry.body.turn)
        for name in names:
            own = OWN_ID.fullmatch(name)
            highest = max(highest, int(own[1]) if own else 0)
    return highest


def open_tools(transcript: Transcript) -> tuple[ToolClosed, ...]:
    """The calls that nothing will answer."""
    return tuple(
        ToolClosed(node.id, call, "aborted")
        for node in transcript.nodes
        if node.row is not None and node.id != transcript.open
        for call in node.row.pending
    )


def last_run(image: LogImage) -> str:
    """The run that began last."""
    for entry in reversed(image.entries):
        if isinstance(entry.body, RunOpened):
            return entry.body.run
    return ""


def reopen(
    session: str, image: LogImage, transcript: Transcript, settings: Settings, faults: Faults
) -> tuple[Conversation, Batch]:
    """The loop of a session that was read from its log, and what has to be done before anything else.

    `transcript` is the fold of the image.
    """
    loop = Conversation(
        settings=settings,
        faults=faults,
        run=last_run(image),
        turn=transcript.turn or "",
        queue=transcript.queue,
        held=transcript.held,
        leaf=transcript.leaf,
        length=len(branch_rows(transcript)),
        minted=minted_in(image),
    )
    pen = Pen(loop)
    if not image.entries:
        pen.add(SessionOpened(session))
    # The epoch goes first: torn after it, the next opening finds the message still open.
    if image.torn or transcript.open is not None:
        pen.add(EpochStarted(transcript.epoch + 1, "torn" if image.torn else "interrupted"))
    held = bool(transcript.queue)
    if transcript.activity == "running":
        message = None
        if transcript.open is not None:
            message = MessageEnded(transcript.open, (), "aborted")
        tools = () if "C30" in faults else open_tools(transcript)
        closed = RunClosed(loop.run, loop.turn, "aborted", message, tools, None, held, recovered=True)
        pen.add(closed)
        pen.set(held=held)
    elif transcript.activity == "retrying":
        pen.add(RetryEnded(loop.turn, 0, "cancelled", held))
        pen.set(held=held)
    elif transcript.queue and not transcript.held and "C35" not in faults:
        drain(pen)
    return pen.state, pen.batch()
