"""Results in words: traces as stories, explorations as summaries, findings as JSON. Pure text in, text out.

Reading order; each file imports only files above it:

columns       aligned columns, measured in cells of a terminal
findings      diagnostics as JSON
sarif         the same as SARIF
annotations   the same beside the lines of a pull request
facts         what can be told before a run
story         a trace, one event a line
folding       quiet visits made short
stored        the runs of a store
course        how far a run came, for a picture
seeded        the bugs that can be put back
summary       what an exploration proved or broke
verdicts      what became of scenarios
junit         the same for build servers
page/         a run as one HTML page
"""
