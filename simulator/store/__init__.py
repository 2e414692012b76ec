"""What survives a crash: one interface, kept in memory by exploration and in a real database by a driver.

Reading order; each file imports only files above it:

records      what a store keeps, as data
values       payloads to text and back; large values by their content
projections  what a committed line changes beside the trace
interface    what every store does, and what it refuses
memory       the model: a transaction is folded whole or not at all
schema       the tables of the database, and how an older one is brought up
words        what a database engine refuses, in words for a person
sqlite       the same interface on a database file
"""
