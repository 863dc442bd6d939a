"""What loading needs around it: a caller who is told how far it is, and plain words for errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from samekind.datasets import DataError

Tick = Callable[[str, int, int], None]  # stage, done, of how much


def ignore(stage: str, done: int, total: int) -> None:
    """Tell nobody."""


@contextmanager
def plain_errors() -> Iterator[None]:
    """Say in plain words what the system refuses."""
    try:
        yield
    except FileNotFoundError:
        raise
    except UnicodeEncodeError as error:
        raise DataError(
            f"a text holds {error.object[error.start]!r}, which is only half of a character. "
            "Correct it."
        ) from error
    except OSError as error:
        what = error.filename or "the data"
        raise DataError(
            f"{what} cannot be read ({error.strerror or error}). Check its permissions, and that it "
            "is a plain file."
        ) from error
