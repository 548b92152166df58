"""Pages in the browser: the HTML report, and the workbench in which rules are written.

`page` builds the report, one self-contained file, from the data of a run. The workbench serves the same trees live:
`server.create_server(bench, port, token)` returns its server, and `api.answer` answers its requests.
"""
