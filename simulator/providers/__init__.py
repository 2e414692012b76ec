"""What stands in for the model: every behaviour that can happen, as data. Pure; it chooses nothing itself.

Reading order; each file imports only files above it:

behaviour     turns of acts, menus, and the protocol of a provider
patterns      texts that match a pattern
scalars       numbers, truth values, literals: good and bad ones
values        valid, boundary and invalid values of any type
"""
