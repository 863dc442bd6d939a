"""Where a project is, as commands take it: a file, or a database's URL."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from samekind.ledger import ProjectPlace

    Place = ProjectPlace
else:
    Place = Path  # Typer takes no unions; `place_of` says which it is

PROJECTS = (".db", ".sqlite", ".sqlite3")
SQLITE = b"SQLite format 3\0"  # with which its files begin


def place_of(given: str | Place) -> Place:
    """Return a file's path, or a URL that shows its password to nobody."""
    if not isinstance(given, str):
        return given
    if "://" not in given:
        return Path(given)
    from samekind.ledger import ProjectURL

    return ProjectURL(given)


def is_project(place: Place) -> bool:
    """Return whether a place is that of a project, by its name."""
    return not isinstance(place, Path) or place.suffix.lower() in PROJECTS


def is_demo(place: Place) -> bool:
    """Return whether the digits are meant instead of data."""
    from samekind.data import DEMO

    return str(place) == DEMO


def no_project(place: object) -> str:
    """Say why there is no project, where the beginning of a file shows it; "" if nothing is against it.

    Not of one that this process has open: closing a file ends the locks that SQLite holds on it.
    """
    if not isinstance(place, Path):
        return ""
    if not place.is_file():
        return f"{place}: there is no such project. samekind label makes one."
    with place.open("rb") as file:
        if file.read(len(SQLITE)) == SQLITE:
            return ""
    made = f"Give one that samekind label has made of the data, such as {place.stem}.samekind.db."
    return f"{place} is not a SQLite database, so it is no project. {made}"


def is_same(one: Place, other: Place) -> bool:
    """Return whether two places are one."""
    if isinstance(one, Path) and isinstance(other, Path):
        return one.absolute() == other.absolute()
    return str(one) == str(other)


def served_name(place: Place) -> str:
    """Return the default name of a project in addresses.

    Examples
    --------
    >>> served_name(Path("of/ann/messages.samekind.db"))
    'messages'
    """
    own = place.stem.removesuffix(".samekind") if isinstance(place, Path) else place.name
    return re.sub(r"[^A-Za-z0-9._-]+", "-", own).strip("-._")[:63]


def shown_command() -> list[str]:
    """Return the words of the command that runs, without passwords."""
    return [str(place_of(word)) if "://" in word else word for word in sys.argv[1:]]
