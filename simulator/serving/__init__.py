"""The conversation for real: one session, served to browsers on this machine.

The same pure host that is explored decides everything; here are its disk, its network and its clock. The
model and its tools stay simulated, and a served workflow is run by the same engine as on a real store.

Reading order; each file imports only files above it:

bodies      requests and answers as JSON
frames      what goes down a stream, as frames of an SSE body
speaking    what the simulated model and its tools say
sessionlog  the log of one session as a file that one process holds
service     one session, its readers, its model and its disk
chaos       a wire that drops, doubles and delays for real
engine      the host of a workflow whose agent is the conversation
workflow    a workflow in the session: begun, taken up, told what the agent did
app         the endpoints and the page
running     the server process
"""
