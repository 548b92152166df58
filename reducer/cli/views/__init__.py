"""Views print the results of the analysis as tables, text, HTML or JSON. They compute nothing."""
