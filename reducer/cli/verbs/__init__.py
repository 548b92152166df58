"""The verbs of the command line: a module each, called as the verb is, whose `main(arguments)` gives the exit code."""
