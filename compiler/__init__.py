"""Tree to snapshot: names, types, checks, lowering, pictures. Pure; files come through a given reader.

Reading order; each file imports only files above it:

expression    the stored form of expressions
snapshot      the compiled workflow as pydantic models
canonical     canonical JSON and the digests made of it
typetext      a type in words, as JSON, as JSON Schema
acceptance    a type at work: it accepts a value or says what is wrong where
values        equality, order, text and arithmetic of JSON values
functions     the functions of the language
reading       what an expression reads of a run
evaluator     expressions on values
contract      the words that tell a model how to finish
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
paths          which stored value an expression reads
narrowing      what is left of a shape once something is known
flow           what has surely run where; witnesses
stored         the shape of what can be read at a place
fitting        what does not fit, said where it stands
operators      operators on shapes
signatures     functions on shapes
conditions     what a condition tells
calls          functions, reads of the run, templates
expressions    the shape of each expression
clauses        which clauses each kind of node has
settings       which settings a workflow has
inference      the shapes of one workflow
templating     the shapes of templates
checks/        what is wrong with a typed workflow, band by band
plan           every workflow where it is mounted
typelowering   shapes to stored types
exprlowering   expressions to their stored form
edgelowering   routes to stored edges
nodelowering   one node to its stored form
digests        shape, behaviour and presentation
lowering       a checked workflow to its snapshot
snapshotfile   snapshots written, and read with care
pipeline       source to snapshot, one line per phase
"""
