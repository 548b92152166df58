"""Pages to look at reductions: the report as one HTML file, and the workbench, where authors edit and test rules.

`server.create_server(bench, port)` returns the server of the workbench, whose requests `api.answer` answers.
"""
