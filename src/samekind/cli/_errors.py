"""What a command says when something goes wrong.

Mistakes that the user can mend end with one message and exit code 2; Ctrl-C ends with 130. Anything else
is a fault of samekind and shows its traceback.
"""

from __future__ import annotations

import functools
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec

import typer

from samekind.cli._places import Place
from samekind.errors import Message, Parameter, ParameterError

MISTAKEN = 2
INTERRUPTED = 130
# Parameters of `samekind.load` and of algorithms that share one option, --read or --set.
READ = ("header", "sheet", "standardize", "image_shape")
SET = (
    *("batch", "target", "epsilon", "heavy", "patience", "goal", "audit"),
    *("metric", "reduce", "random_state", "lineup"),
)
CALLED = {"embeddings": "--features", "other": "--link"}

PAGE = ("the page", "web", " Or answer here: --terminal")
REPORT = ("the report", "report", "")
EXTRAS = dict.fromkeys(("fastapi", "itsdangerous", "starlette", "uvicorn"), PAGE) | {
    "mcp": ("samekind mcp", "mcp", ""),
    "PIL": ("a folder of pictures", "web", ""),
    "jinja2": REPORT,
    "markupsafe": REPORT,
    "plotly": REPORT,
}

P = ParamSpec("P")


class UserError(Exception):
    """Something that the user can mend; the message says how."""


def in_options(text: str) -> str:
    """Return a message in which parameters are options: ``--exclude height`` for ``exclude=['height']``."""
    return text.worded(_option) if isinstance(text, Message) else text


def _option(parameter: Parameter) -> str:
    name, value = parameter.name, parameter.value
    if value is False and name == "records":
        return "--no-records"
    shared = next((o for o, names in (("--read", READ), ("--set", SET)) if name in names), None)
    if shared is not None:
        plain = {True: "=yes", False: "=no", None: ""}.get(value, f"={value}")  # type: ignore[call-overload]
        return f"{shared} {name}{plain}"
    called = CALLED.get(name, f"--{name.replace('_', '-')}")
    if value is None or value is True:
        return called
    values = value if isinstance(value, list | tuple) else [value]
    return f"{called} {shlex.quote(','.join(map(str, values)))}"


@contextmanager
def users_values(project: Place | None = None) -> Iterator[None]:
    """Take a ValueError for the user's: only around code that checks what the user gave."""
    try:
        yield
    except ValueError as error:
        from samekind.engine import OtherDataError

        text = in_options(error.message if isinstance(error, ParameterError) else str(error))
        if project is not None and isinstance(error, OtherDataError):
            text = f"{project}: {text}"
        raise UserError(text) from error


@contextmanager
def needs() -> Iterator[None]:
    """Say how to install a package that is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        if name not in EXTRAS:
            raise
        what, extra, instead = EXTRAS[name]
        raise UserError(
            f"{what} needs packages that are not installed ({name} is missing). Install them: "
            f"pip install 'samekind[{extra}]'.{instead}"
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
