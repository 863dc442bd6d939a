"""Commands whose help shows no type beside a flag, and options whose value may be left out."""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperCommand, TyperGroup

# What an option means without a value, and what its value looks like: what does not is no value.
OPTIONAL = {"--dask": ("local", re.compile(r"(\w+://\S+|[\w.-]+:\d+|\[[0-9a-fA-F:]+\]:\d+)"))}


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

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments."""
        return super().parse_args(ctx, _with_values(args))

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, --help among them."""
        return _plain(super().get_params(ctx))


class Group(TyperGroup):
    """All commands."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, --help among them."""
        return _plain(super().get_params(ctx))
