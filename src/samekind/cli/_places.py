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


def place_of(given: str | Place) -> Place:
    """Return a file's path, or a URL that shows its password to nobody."""
    if not isinstance(given, str):
        return given
    if "://" not in given:
        return Path(given)
    from samekind.ledger import ProjectURL

    return ProjectURL(given)


def shown_command() -> list[str]:
    """Return the words of the command that runs, without passwords."""
    return [str(place_of(word)) if "://" in word else word for word in sys.argv[1:]]
