"""Snapshot, scenario and choices in; trace and verdict out.

    from windtunnel.simulator import simulate, explore, crashpoints, replay

Reading order; each file imports only files above it:

choices       the one source of chance
clock         virtual time
pool          a frozen value becomes a small number
budget        what may go wrong in one run, and how often
hosting       which hosts a run has, and what else may happen around it
providers/    what stands in for the model
events        what can happen: events, messages, effects
chat/         the conversation: its log and the agent loop
run/          the engine: state, routing, completion, recovery
store/        what survives a crash
network       the links between the processes
outside       the world outside, where effects happen once for each key
around        who works on the run, and who sits behind
moves         what can happen next
facts         what a watcher knows of the workflow
account       the watcher's account of a run, and what it holds it to
promises      what must hold of effects, notifications and requests
conduct       what must hold of whoever acts
invariants    what must hold in every run
tables        the components of the world as numbers, and every change of one
offers        what provider, effects and people may do
handlers      one handler call, made once for each distinct question
seats         the states of those who sit behind, and how a seat changes hands
world         everything wired together
trace         a path written down with absolute names
simulation    one path through the world
search/       every schedule within bounds
durable/      runs on a real store, and every crash point there
serving/      the conversation for real, in browsers of this machine
worlds/       a small workflow for each seeded fault
faults        bugs that real systems had, put back on purpose
scenario/     one run as it is written, and what was expected of it
operations    simulate, explore, crashpoints, replay
report/       results in words
testing       a plugin for pytest, and functions for tests
strategies    workflows, scenarios and values for Hypothesis
machines      the conversation as a stateful machine of Hypothesis
commands/     the commands, one file each
cli           the command line
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from windtunnel.simulator.operations import (
        CrashPoints,
        Exploration,
        HostingRefused,
        InputRefused,
        NotSimulated,
        Run,
        TokenError,
        UnknownFault,
        crashpoints,
        explore,
        replay,
        simulate,
    )

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


def __getattr__(name: str) -> Any:
    """Load what is asked for, so that the command line starts quickly."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from windtunnel.simulator import operations

    return getattr(operations, name)
