"""``python -m gqlnb``: the same as ``gqlnb``."""

import sys

from gqlnb.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
