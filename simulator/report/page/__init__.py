"""A run as one HTML page that needs no network: sequence diagram, processes, conversation, graph, source.

Reading order; each file imports only files above it:

lanes       who did what to whom: a film as rows of a sequence diagram
visits      quiet visits that a reader may fold
holdings    what each process holds after each row
transcript  the conversation as the person saw it, row by row
places      where nodes stand in the text
graph       the picture of the workflow, ready to be marked
document    everything put into one page
listing     the page that lists scenarios
"""
