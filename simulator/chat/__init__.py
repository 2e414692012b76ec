"""The conversation: its log and the agent loop.

Reading order; each file imports only files above it:

log     the session log as handlers can see it
loop    the agent loop: one conversation with a model
frozen         a copy of frozen data with other values
faults         seeded faults: bugs that real chats shipped
parts          rows and their parts, queue items, as data with a JSON form
entries        the entries of a session log, and the tree in it
logfile        entries to lines and back, torn tails
rows           the cold fold of the log; snapshots
wire           events of the stream
chunks         events as JSON, and as chunks beside the transport's own
projection     entries to events
importing      session files of an agent to entries, and a stream they could have had
recording      what a model did in such a file, as a script
transcript     rows as words for a terminal
window         the events that can be replayed
context        what the model is given
turns          what the full loop hears and asks for
messages       the message that streams
pen            the loop's state, and what one step writes down
conversation   the full agent loop
followups      admission of messages: numbers and nonces
requests       what tabs and server say to each other
reopening      a session from its log
host           one session: append, then show
server         all sessions, each opened once
merging        how a client puts a row together
view           what a tab knows, as data
optimistic     messages shown before the server has them
reducer        the client's fold of events
client         a browser tab
network        tabs, server, disk, model and links as one world
chances        what can happen next in it
happenings     what a move does to it
properties     what must hold in it
endings        what must hold when nothing more happens
hunting        a bounded search through such worlds
small_worlds   where each seeded fault shows
"""
