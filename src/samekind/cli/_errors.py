"""What a command says when something goes wrong.

Mistakes that the user can mend end with one message and exit code 2; Ctrl-C ends with 130. Anything else
is a fault of samekind and shows its traceback.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec

import typer

from samekind.cli._places import Place, no_project
from samekind.cli._words import in_options

MISTAKEN = 2
INTERRUPTED = 130

P = ParamSpec("P")


class UserError(Exception):
    """Something that the user can mend; the message says how."""


@contextmanager
def users_values(project: Place | None = None) -> Iterator[None]:
    """Take a ValueError for the user's: only around code that checks what the user gave."""
    try:
        yield
    except ValueError as error:
        from samekind.engine import OtherDataError

        text = str(error)
        if project is not None and isinstance(error, OtherDataError):
            what = text.partition(". ")[0].replace("this project", str(project), 1)
            what = what.replace("any_data=True", "--any-data")
            raise UserError(
                f"{what}. Run it with the data and options it was made with, or start a new project: "
                "--project OTHER.db"
            ) from error
        raise UserError(in_options(text)) from error


@contextmanager
def needs() -> Iterator[None]:
    """Say how to install a package that is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        if name not in ("PIL", "fastapi", "itsdangerous", "starlette", "uvicorn"):
            raise
        what, instead = ("the page", " Or answer here: --terminal")
        if name == "PIL":
            what, instead = "a pile of pictures", ""
        raise UserError(
            f"{what} needs packages that are not installed ({name} is missing). Install them: "
            f"pip install 'samekind[web]'.{instead}"
        ) from error


def explained(command: Callable[P, int]) -> Callable[P, None]:
    """Turn what a command returns or raises into an exit code and at most one message."""

    @functools.wraps(command)
    def explain(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            code = command(*args, **kwargs)
        except KeyboardInterrupt:
            _print_error("interrupted", "stopped at once.")
            code = INTERRUPTED
        except BrokenPipeError:
            raise  # whoever read the output has gone; Typer ends quietly
        except Exception as error:
            from samekind.ledger import LedgerError

            if not isinstance(error, UserError | LedgerError | OSError):
                raise
            message = str(error)
            if isinstance(error, OSError) and error.strerror:
                message = f"{error.filename}: " * bool(error.filename) + f"{error.strerror}."
            if "file is not a database" in message:  # as SQLite says it
                message = no_project(kwargs.get("project") or kwargs.get("data")) or message
            _print_error("error", message)
            code = MISTAKEN
        raise typer.Exit(code)

    return explain


def _print_error(kind: str, message: str) -> None:
    from rich.console import Console
    from rich.text import Text

    sys.stdout.flush()
    text = Text.assemble((f"{kind}:", "bold red"), " ", message)
    Console(stderr=True).print(text, soft_wrap=True)
