"""Scenarios: one run that goes as it is written, and what was expected of it.

Reading order; each file imports only files above it:

messages    acts of a script as messages of the model
returns     turns of a script for effects
script      the provider of a scenario, and which turn comes next
happenings  what an outcome holds, event by event, with its node and visit
verdict     what became of a scenario
refusing    what a scenario asks for that is not simulated
watching    the world as expectations see it
expecting   expectations, held against each moment of a run
cues        when a line of a person or a fault is due
persons     what people do, and answers on their way
directing   one run, as the scenario wants it
running     a scenario and its snapshot to a verdict
writing     a path through the world as a scenario
"""
