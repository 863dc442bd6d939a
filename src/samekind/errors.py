"""Errors that users can mend. Their messages name parameters as data, so that a front end can word them.

Python says ``exclude=['height']``, the command line ``--exclude height``: see `Message.worded`.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Self

__all__ = [
    "DataError",
    "Message",
    "Parameter",
    "ParameterError",
    "UnknownParameterError",
    "did_you_mean",
    "no_such_column",
    "no_such_file",
]


class Parameter(str):
    """A parameter in a message, perhaps with a value; as text it is what Python calls it.

    Examples
    --------
    >>> Parameter("exclude", ["height"])
    "exclude=['height']"
    """

    name: str
    value: object

    def __new__(cls, name: str, value: object = None) -> Self:
        """Return the parameter; without a value it is only named."""
        text = super().__new__(cls, name if value is None else f"{name}={value!r}")
        text.name, text.value = name, value
        return text

    def __reduce__(self) -> tuple[object, ...]:
        """Return what makes it again: errors cross processes."""
        return type(self), (self.name, self.value)


class Message(str):
    """A text that names parameters.

    Examples
    --------
    >>> text = Message(Parameter("columns"), " must name every column once.")
    >>> text
    'columns must name every column once.'
    >>> text.worded(lambda parameter: f"--{parameter.name}")
    '--columns must name every column once.'
    """

    parts: tuple[str, ...]

    def __new__(cls, *parts: str) -> Self:
        """Join the parts; those that are a `Parameter` stay known as such."""
        text = super().__new__(cls, "".join(parts))
        flat = (part.parts if isinstance(part, Message) else (part,) for part in parts)
        text.parts = tuple(piece for pieces in flat for piece in pieces)
        return text

    def __reduce__(self) -> tuple[object, ...]:
        """Return what makes it again: errors cross processes."""
        return type(self), self.parts

    def worded(self, word: Callable[[Parameter], str]) -> str:
        """Return the text with each parameter as `word` says it."""
        return "".join(word(part) if isinstance(part, Parameter) else part for part in self.parts)


class ParameterError(ValueError):
    """A parameter has a value that it must not have; its parts are those of a `Message`.

    Examples
    --------
    >>> error = ParameterError(Parameter("budget"), " must be a positive int, got 0.")
    >>> error.parameter, str(error)
    ('budget', 'budget must be a positive int, got 0.')
    """

    def __init__(self, *parts: str) -> None:
        super().__init__(*parts)

    def __str__(self) -> str:
        """Return the message as Python says it."""
        return self.message

    @property
    def message(self) -> Message:
        """What is wrong."""
        return Message(*self.args)

    @property
    def parameter(self) -> str | None:
        """The first parameter that is named."""
        return next((part.name for part in self.message.parts if isinstance(part, Parameter)), None)


class UnknownParameterError(ParameterError, TypeError):
    """There is no parameter of this name."""


class DataError(ParameterError):
    """A file or table cannot be used; the message says where, why, and what to do.

    Examples
    --------
    >>> import samekind
    >>> from samekind.errors import DataError
    >>> try:
    ...     samekind.load("flowers.doc")
    ... except DataError as error:
    ...     print(str(error).partition(". ")[0])
    flowers.doc has a suffix that is not known: '.doc'
    """


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Name the closest of the names, with a leading blank, or nothing where none is close."""
    folded = {other.strip().casefold(): other for other in names}
    close = difflib.get_close_matches(name.strip().casefold(), folded, n=1)
    return f" Did you mean {folded[close[0]]!r}?" if close else ""


def no_such_file(path: Path) -> FileNotFoundError:
    """Return the error that says that there is no such file, and names one of a similar name."""
    folder = path.parent
    there = [other.name for other in folder.iterdir()] if folder.is_dir() else []
    return FileNotFoundError(
        f"{path} does not exist.{did_you_mean(path.name, there)} Paths start at the folder that the "
        "program was started in."
    )


def no_such_column(source: str, parameter: str, name: str, names: Sequence[str]) -> DataError:
    """Return the error that says that `parameter` names a column which `source` does not have."""
    shown = ", ".join(map(repr, names[:30])) + (", …" if len(names) > 30 else "")
    return DataError(
        f"{source} has no column {name!r}, which ",
        Parameter(parameter),
        f" names.{did_you_mean(name, names)} Its columns are {shown}.",
    )
