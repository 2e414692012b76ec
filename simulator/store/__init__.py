"""What survives a crash.

Reading order; each file imports only files above it:

memory    a transaction of run events, folded whole or not at all
"""
