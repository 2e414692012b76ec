"""The small worlds of the seeded faults, one workflow a file.

Reading order:

answer.flow    one visible answer, then a value
loop.flow      a visible answer that is given again until it is good
again.flow     a submission that is asked for a second time
pick.flow      a submission with a route for its failure
pay.flow       an effect that must happen once, and a notification
ask.flow       a question for a person, with a default
nested.flow    a limit inside an include
pass.flow      what may be missing, passed on as if it were there
"""
