"""Commands whose help shows no type beside a flag, and options whose value may be left out."""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperCommand, TyperGroup

# What an option means without a value, and what its value looks like: what does not is no value.
OPTIONAL = {"--dask": ("local", re.compile(r"(\w+://\S+|[\w.-]+:\d+|\[[0-9a-fA-F:]+\]:\d+)"))}

# What other programs call what some command does.
ELSEWHERE = dict.fromkeys(("dedupe", "dedup", "deduplicate"), "samekind label DATA --records")


def _with_values(args: list[str]) -> list[str]:
    """Return the arguments, with a value for every option that was given without."""
    found: list[str] = []
    for place, arg in enumerate(args):
        found.append(arg)
        if arg in OPTIONAL and "--" not in args[:place]:
            value, pattern = OPTIONAL[arg]
            if not any(map(pattern.fullmatch, args[place + 1 : place + 2])):
                found[-1] = f"{arg}={value}"
    return found


def _plain(params: list[Any]) -> list[Any]:
    for param in params:
        if getattr(param, "is_flag", False) and param.metavar is None:
            param.metavar = ""
    return params


class Command(TyperCommand):
    """A command."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help; the lines of a paragraph are as long as the terminal wants them."""
        self.help = re.sub(r"(?<!\n)\n(?!\n)", " ", self.help or "")
        super().format_help(ctx, formatter)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments."""
        try:
            return super().parse_args(ctx, _with_values(args))
        except Exception as error:  # its type depends on the version of Typer
            if "--dask" in args and "extra argument" in (said := getattr(error, "message", "")):
                ctx.fail(f"{said}. --dask takes an address, such as tcp://10.0.0.1:8786, or none.")
            raise

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, --help among them."""
        return _plain(super().get_params(ctx))


class Group(TyperGroup):
    """All commands."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find a command; an error says what does what others call by that name."""
        if args[0] in ELSEWHERE:
            ctx.fail(f"No such command {args[0]!r}. Try: {ELSEWHERE[args[0]]}")
        return super().resolve_command(ctx, args)

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, --help among them."""
        return _plain(super().get_params(ctx))
