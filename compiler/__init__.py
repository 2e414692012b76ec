"""Tree to snapshot: names, types, checks, lowering, pictures. Pure; files come through a reader that is passed in.

Reading order; each file imports only files above it:

expression    the stored form of expressions
snapshot      the compiled workflow as pydantic models
types          shapes: what a type means, as data
patterns       the patterns of text types, in linear time
unions         what includes what, unions in normal form
description    shapes in the syntax of the language
findings       where a pass puts its diagnostics
assignability  what may be given for what, and where two shapes part
constants      values that need no run
typescope      written types to shapes
printing       an expression of a snapshot in the syntax of the language
reader         the rim: files and built-ins
modules        every file that a root needs, read once
resolver       every name to its declaration
graph          nodes and arrows of one workflow
routing        edge lines to the graph
"""
