"""Text to syntax tree; imports nothing of ours and does no IO.

Reading order; each file imports only files above it:

source        a named text, lines and columns
syntax        the frozen tree with spans
diagnostics   a mistake as a value
"""
