"""Views print what the engine and the analysis found, as tables, text, HTML or JSON; they compute nothing.

A view takes data and a stream (or a console) and returns nothing.
"""
