"""``python -m qad``: the command line."""

import sys

from qad.commands import main

if __name__ == "__main__":
    sys.exit(main())
