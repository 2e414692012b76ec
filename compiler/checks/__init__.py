"""Checks on typed workflows, one file per band of codes.

Reading order; each file imports only files above it:

settings    01, 09  the settings of a workflow
structure   02      what the graph lacks
matches     03      cases
counting    03      what a match does as a count grows
loops       03      limits and cycles
dataflow    04      outputs that nothing reads
staleness   04      outputs that an earlier round left
agents      05      clauses, prompts, timeouts
assistant   06      visible answers
decisions   07      choices, defaults, ways around an approval
effects     08      keys, commands
turns       09      turns of the model
costs       09      steps
limits      03      limits that cannot be reached
staged      12      one scenario under check
scripts     12      what models and effects do
interference  12    what people do, and what goes wrong
expects     12      what is expected
scenarios   12      all of a scenario
names       01      what nothing uses, what hides another
silences    11      `# allow(…)`
checker     all of them, and all findings in order
"""
