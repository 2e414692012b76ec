"""Snapshot, scenario and choices in; trace and verdict out.

Reading order; each file imports only files above it:

choices       the one source of chance
clock         virtual time
pool          a frozen value becomes a small number
budget        what may go wrong in one run, and how often
providers/    what stands in for the model
events        what can happen: events, messages, effects
chat/         the session log and the agent loop
run/          the engine: state, routing, completion, recovery
store/        what survives a crash
network       the links between the processes
moves         what can happen next
invariants    what must hold in every run
world         everything wired together
"""
