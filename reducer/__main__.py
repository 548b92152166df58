"""Run the command line: `python -m reducer`."""

import sys

from reducer.cli import main

if __name__ == "__main__":
    sys.exit(main())
