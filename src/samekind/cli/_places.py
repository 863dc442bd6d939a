"""Where a project is, as commands take it: a file, or a database's URL."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from samekind.ledger import ProjectPlace

    Place = ProjectPlace
else:
    Place = Path  # Typer takes no unions; `place_of` says which it is

PROJECTS = (".db", ".sqlite", ".sqlite3")


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


def is_same(one: Place, other: Place) -> bool:
    """Return whether two places are one."""
    if isinstance(one, Path) and isinstance(other, Path):
        return one.absolute() == other.absolute()
    return str(one) == str(other)


def shown_command() -> list[str]:
    """Return the words of the command that runs, without passwords."""
    return [str(place_of(word)) if "://" in word else word for word in sys.argv[1:]]
