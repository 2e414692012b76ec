"""What stands in for the model: every behaviour that can happen, as data. Pure; it chooses nothing itself.

Reading order; each file imports only files above it:

behaviour     turns of acts, menus, and the protocol of a provider
patterns      texts that match a pattern
scalars       numbers, truth values, literals: good and bad ones
values        valid, boundary and invalid values of any type
routing       which parts of an output decide the route
thresholds    what outputs and inputs are compared with
sides         values on each side of it
effects       what effects return, and how they fail
people        what people answer
misbehaviour  the ways a model goes wrong
generated     behaviour made from types, examples and validators
scripted      behaviour that somebody wrote
"""
