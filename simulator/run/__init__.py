"""A run: the snapshot made ready, the state as a fold, and the engine that commits every transition.

Reading order; each file imports only files above it:

liveness      what can still be read at each point of a workflow
program       a snapshot compiled for running
state         the state of a run as the fold of its events, and the views of it
words         every sentence that the engine says
completion    whether an assistant answer completes its step, and the receipt
submission    whether a submission is accepted
routing       where a run goes next
engine        one host's engine: event in, state and effects out
recovery      what an engine does that finds a run in the store
"""
