"""Views turn what the engine and the analysis found into tables, text, HTML or JSON; they compute nothing."""
