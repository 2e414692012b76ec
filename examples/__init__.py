"""The tour as data: `windtunnel new` begins a workflow with one of these files."""
