"""The command line: ``samekind demo``, ``run``, ``label``, ``classify``, ``export``, ``import``, ``check`` …

What a command needs is imported when it runs, so that ``samekind --help`` answers at once.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from samekind.cli import (
    _classify,
    _export,
    _import,
    _label,
    _links,
    _mcp,
    _run,
    _serve,
    _split,
    _upkeep,
)
from samekind.cli._demo import demo
from samekind.cli._help import Command, Group

__all__ = ["app", "main"]

app = typer.Typer(
    name="samekind",
    cls=Group,
    help="Find the kinds in a pile of things by asking “are these two of the same kind?”.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(cls=Command)(demo)
app.command(cls=Command, epilog=_label.EXAMPLES)(_label.label)
app.command(cls=Command, epilog=_classify.EXAMPLES)(_classify.classify)
app.command(cls=Command, epilog=_export.EXAMPLES)(_export.export)
app.command("import", cls=Command, epilog=_import.EXAMPLES)(_import.import_)
app.command(cls=Command, epilog=_run.EXAMPLES)(_run.run)
app.command(cls=Command, epilog=_split.EXAMPLES)(_split.split)
app.command(cls=Command, epilog=_upkeep.CHECK)(_upkeep.check)
app.command(cls=Command, epilog=_upkeep.FORGET)(_upkeep.forget)
app.command(cls=Command, epilog=_upkeep.MOVE)(_upkeep.move)
app.command(cls=Command, epilog=_serve.EXAMPLES)(_serve.serve)
app.command(cls=Command, epilog=_mcp.EXAMPLES)(_mcp.mcp)
app.add_typer(_links.links, name="links")
app.command(cls=Command, epilog=_upkeep.BACKUP)(_upkeep.backup)


def _print_version(wanted: bool) -> None:
    if wanted:
        from samekind._version import __version__

        typer.echo(f"samekind {__version__}")
        raise typer.Exit


@app.callback(
    epilog="Begin with [bold]samekind demo[/bold], which needs no answers, or with [bold]samekind label "
    "demo:digits[/bold], where you answer."
)
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Find the kinds in a pile of things by asking “are these two of the same kind?”."""


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # what the terminal cannot show is no reason to stop
            stream.reconfigure(errors="replace")
    app(prog_name="samekind")
