"""What projects are called in addresses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from samekind.ledger import ProjectPlace
from samekind.web.reach import ServeError

__all__ = ["name_projects", "served_name"]

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


def served_name(place: ProjectPlace) -> str:
    """Return what a project is called in addresses, unless somebody says otherwise.

    Examples
    --------
    >>> served_name(Path("of/ann/messages.samekind.db"))
    'messages'
    """
    own = place.stem.removesuffix(".samekind") if isinstance(place, Path) else place.name
    return re.sub(r"[^A-Za-z0-9._-]+", "-", own).strip("-._")[:63]


def name_projects(given: Sequence[tuple[str, ProjectPlace]]) -> dict[str, ProjectPlace]:
    """Return projects by their names, or the given ones; an error says which cannot be told apart."""
    named: dict[str, ProjectPlace] = {}
    for wanted, place in given:
        name = wanted or served_name(place)
        if not NAME.fullmatch(name):
            raise ServeError(
                f"{place} cannot be called {name!r} in an address: letters, digits and . _ - only, at most "
                "63. Name it yourself: NAME=PROJECT"
            )
        if name in named:
            raise ServeError(
                f"{named[name]} and {place} are both called {name!r}. Name one yourself: NAME=PROJECT"
            )
        named[name] = place
    return named
