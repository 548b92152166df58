"""The one way from files, folders, streams and tables to histories and samples.

`sources.find_sources` turns names into sources. `chunks.read_chunks` reads a source in pieces: a history, JSON lines or
a sample, compressed or not. `recorded.recorded` yields the tool returns in it.
"""
