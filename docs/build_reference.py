"""The reference of the command line, from what ``samekind --help`` says: `conf.py` writes it for the site."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from samekind.cli import app

INTRODUCTION = """The command line
================

This page is generated from ``samekind --help``.

Results go to standard output, progress and messages to standard error. Exit codes: 0 for success, 2 for a
mistake that you can correct (the message says how), 130 after Ctrl-C (0 if it ends the page of
``samekind label``), and 1 for anything else, or where ``samekind check`` finds something wrong.
"""


def commands() -> list[tuple[str, ...]]:
    """Return the words of every command, such as ("links", "add")."""
    return list(_commands(typer.main.get_command(app)))


def help_of(*command: str) -> str:
    """Return a command's help as a terminal of 80 columns shows it, without colours."""
    plain = os.environ | {"COLUMNS": "80", "TERMINAL_WIDTH": "80", "NO_COLOR": "1", "TERM": "dumb"}
    plain |= {"PYTHONIOENCODING": "utf-8"}
    call = [sys.executable, "-m", "samekind", *command, "--help"]
    out = subprocess.run(call, env=plain, check=True, capture_output=True, encoding="utf-8").stdout
    return "\n".join(line.rstrip() for line in out.strip().splitlines())


def reference() -> str:
    """Return the page, in reStructuredText as all generated ones."""
    parts = [INTRODUCTION, _block(help_of())]
    for command in commands():
        title = f"samekind {' '.join(command)}"
        parts += [f"{title}\n{'-' * len(title)}\n", _block(help_of(*command))]
    return "\n".join(parts)


def write_reference(folder: Path) -> None:
    """Write api/cli.rst; leave it alone if it is the same, so that Sphinx need not read it again."""
    page, text = folder / "api" / "cli.rst", reference()
    if not page.exists() or page.read_text(encoding="utf-8") != text:
        page.parent.mkdir(exist_ok=True)
        page.write_text(text, encoding="utf-8")


def _block(text: str) -> str:
    return f".. code-block:: text\n\n{textwrap.indent(text, '   ')}\n"


def _commands(group: Any, *above: str) -> Iterator[tuple[str, ...]]:
    for name, command in sorted(group.commands.items()):
        if hasattr(command, "commands"):
            yield from _commands(command, *above, name)
        else:
            yield (*above, name)
