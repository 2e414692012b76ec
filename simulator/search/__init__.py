"""Every schedule within bounds, and what it covers.

Reading order; each file imports only files above it:

explorer      breadth first through the world
coverage      what was taken of a workflow
crashpoints   where a crash can fall, and what becomes of the run
token         a run as one line of text
exploration   explorations, crash points and replays as results
"""
