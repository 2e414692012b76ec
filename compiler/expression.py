"""The stored form of expressions: JSON lists, head first, that the evaluator runs and a snapshot keeps.

Names are resolved: mounts, nodes and lets stand by qualified id, so an expression means the same wherever it
is read. `evaluator` says what every operator gives for every value.

========================================= ==================================================================
form                                      value
========================================= ==================================================================
`["const", v]`                            the JSON value; a duration is whole milliseconds
`["text", e, …]`                          the parts joined; each is text, int, number or bool
`["input", mount]`                        the input of the mount (`""` is the root), defaults filled
`["node", id]`                            the latest accepted output in this invocation, or null
`["exit", mount, name]`                   that exit's output if it was the last way out, else null
`["choice", id, choice]`                  what was asked with that choice if it was the last one, else null
`["way", id]`                             the exit or choice last taken, or null
`["result", id]`                          `{outcome, error, attempts, durationMs, cut, receipt, provenance}`
                                          of the latest end, or null
`["visits", id, outcome or null]`         started visits in this invocation; with an outcome those that
                                          ended so
`["latest", id, …]`                       `{node, outcome}` of the most recently finished, or null
`["let", qualified]`                      the workflow-level `let`
`["var", name]`                           a bound variable; `output` in validators
`["bind", name, value, body]`             body with the variable bound
`["field", e, name, optional]`            a field; null of null when optional; a missing key is null
`["index", e, i]`                         an item, or null outside the list; negative indexes are outside
`["record", part, …]`                     parts `["field", k, e]`, `["maybe", k, e]` (left out when null),
                                          `["spread", e]`
`["list", part, …]`                       parts `["item", e]`, `["spread", e]`
`["for", item, variable, source, c]`      a comprehension; the condition `c` may be null
`["if", c, a, …, z]`                      the first `a` whose condition is true, else `z`; `else if` adds a
                                          pair
`["and", a, b, …]` `["or", …]` `["??", …]` each side only when needed
`["op", operator, a, b, …]`               `== != < <= > >= + - * / // % in`; more sides are a chain from the
                                          left; `//` is `/` of whole numbers
`["not", e]` `["neg", e]`
`["call", function, e, …]`                a function of the language
========================================= ==================================================================
"""
