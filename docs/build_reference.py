"""Write docs/cli.md from what ``samekind --help`` says."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from samekind.cli import app

HERE = Path(__file__).parent
INTRODUCTION = """# The command line

Made from `samekind --help` by `make docs`; do not edit.

Results go to standard output, progress and talk to standard error. Exit codes: 0 when all went well, 2 for a
mistake that you can mend (the message says how), 130 after Ctrl-C (0 if it ends the page of
`samekind label`), 1 for anything else, and where `samekind check` finds something wrong.
"""


def help_of(*command: str) -> str:
    """Return a command's help as a terminal of 80 columns shows it, without colours."""
    plain = os.environ | {"COLUMNS": "80", "TERMINAL_WIDTH": "80", "NO_COLOR": "1", "TERM": "dumb"}
    call = [sys.executable, "-m", "samekind", *command, "--help"]
    out = subprocess.run(call, env=plain, check=True, capture_output=True, text=True).stdout
    return "\n".join(line.rstrip() for line in out.strip().splitlines())


def reference() -> str:
    """Return the text of docs/cli.md."""
    parts = [INTRODUCTION, f"```text\n{help_of()}\n```\n"]
    for command in _commands(typer.main.get_command(app)):
        parts.append(f"## samekind {' '.join(command)}\n\n```text\n{help_of(*command)}\n```\n")
    return "\n".join(parts)


def _commands(group: Any, *above: str) -> Iterator[tuple[str, ...]]:
    for name, command in sorted(group.commands.items()):
        if hasattr(command, "commands"):
            yield from _commands(command, *above, name)
        else:
            yield (*above, name)


if __name__ == "__main__":
    (HERE / "cli.md").write_text(reference(), encoding="utf-8")
