"""Runs on a real store: the handlers of exploration, driven by a database and a session log in a file.

Nothing here knows how a workflow runs. A host loads what is durable, asks `moves` what comes next, lets the
same pure handlers answer, and carries out what they say: commits, appends, repairs.

Reading order; each file imports only files above it:

lines        what an engine commits, as lines of a store
session      the session log of one run: entries, and the fold of them
filing       bytes that are whole in a file, and words for when they cannot be
sessionfile  the session log as a file
wall         the clock on the wall, and the processes of this machine
offers       what can come from outside
host         one host with one run
driving      runs begun, taken up, cancelled
expected     what a simulated crash ends in
killing      a process that kills itself at a point
torture      every crash point on a real store
mirroring    the same operations on two stores, over an explored graph
"""
