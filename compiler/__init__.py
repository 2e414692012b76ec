"""Tree to snapshot: names, types, checks, lowering, pictures. Pure; files come through a reader that is passed in.

Reading order; each file imports only files above it:

expression    the stored form of expressions
snapshot      the compiled workflow as pydantic models
"""
