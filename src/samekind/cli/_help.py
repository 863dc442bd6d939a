"""Commands whose help shows no type beside a flag, and that know what others call them."""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperCommand, TyperGroup

# What other programs call what some command does.
ELSEWHERE = dict.fromkeys(("dedupe", "dedup", "deduplicate"), "samekind label DATA --records")


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
