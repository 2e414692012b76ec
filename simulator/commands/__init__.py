"""The commands, one file each; with `cli` the rim that touches files, terminals and clocks.

Reading order; each file imports only files above it:

console      exit codes, messages and output that is whole or absent
options      options that several commands share
progress     the bar while a search goes on
naming       where a file lies and how its name looks from here
severities   how much findings matter in a project
loading      files to snapshots, with what is wrong told on the way
input        the input of a run
refusing     what the simulator refuses, told as wrong usage
telling      a run told as a story or as JSON
reporting    a run, or a scenario, as a page on disk
piping       a program as the model
providing    who stands behind the model
selecting    which scenarios are meant
staging      files to verdicts, on several cores
watching     the picture of a run, while it runs
stored       a store opened, a run of it told
standings    where the runs of a store stand
mending      safe fixes applied to files
locking      the lock of a project on disk
new          a workflow begun from an example
check        find mistakes
fmt          canonical text
explain      the page of a code
bump         revisions raised and locked
diff         what a change breaks
checkruns    what it means to runs that are not over
facts        what can be told before a run
builtins     the workflows that are shipped
compile      snapshot to JSON
pinning      findings at the boxes of a picture
graph        snapshot to picture
run          one run, told as a story
runs         the runs of a store
resume       a run of a store goes on
answer       a request of a run is answered
cancel       a run of a store ends
test         scenarios, run and told
crashpoints  every crash point fired once
conversing   a known bug of the conversation, hunted
explore      every schedule with up to N faults
faults       bugs that can be put back
torture      every crash point on a real store
replay       a token told again
serve        the conversation and a workflow, in a browser
importing    the session file of an agent
"""
