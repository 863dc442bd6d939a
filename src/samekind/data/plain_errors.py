"""What the system refuses, in plain words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from samekind.errors import DataError

__all__ = ["plain_errors"]


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
