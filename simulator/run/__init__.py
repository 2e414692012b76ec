"""A run: the snapshot made ready, the state as a fold, and the engine that commits every transition.

Reading order; each file imports only files above it:

liveness       what can still be read at each point of a workflow
nodes          nodes with their expressions compiled
program        a snapshot compiled for running
state          the state of a run as the fold of its events, and the views of it
transition     what a transition of the engine starts from and ends in
words          every sentence that the engine says
completion     whether an assistant answer completes its step, and the receipt
submission     whether a submission is accepted
claims         who may write, and what an executor leaves to the session of the run
effects        actions and shells: called, and judged when they come back
notifications  messages to the session: queued once, shown once
routing        where a run goes next
turns          the turn that is due when a run has ended or waits
decisions      questions for a person: asked, answered, or out of time
engine         one host's engine: event in, state and effects out
recovery       what an engine does that finds a run in the store
"""
