"""The conversation: its log and the agent loop.

Reading order; each file imports only files above it:

log     the session log as handlers can see it
loop    the agent loop: one conversation with a model
"""
