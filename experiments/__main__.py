"""``python -m experiments``."""

import sys

if __name__ == "__main__":
    from experiments.cli import main

    sys.exit(main())
