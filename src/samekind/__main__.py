"""``python -m samekind``."""

from samekind.cli import main

main()
