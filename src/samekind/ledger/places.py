"""What may be said of where a project is: a database's URL without its secrets."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import sqlalchemy as sa

__all__ = ["ProjectPlace", "ProjectURL", "shown_address", "without_secrets"]

HIDDEN = "***"
SECRET = re.compile(r"pass|pwd|secret|token|key", re.IGNORECASE)  # names of parameters
PROJECT = "project"  # the parameter that names one of several projects in a database
UNNAMED = "samekind"


class ProjectURL:
    """Where a project is in a database; whoever prints it sees no password.

    Parameters
    ----------
    url : str
        As SQLAlchemy has it; ``?project=NAME`` names one of several projects in the database.

    Examples
    --------
    >>> place = ProjectURL("postgresql+psycopg://ann:sesame@db.example/kinds?project=messages")
    >>> print(place)
    postgresql+psycopg://ann:***@db.example/kinds?project=messages
    >>> place.name
    'messages'
    """

    def __init__(self, url: str) -> None:
        self._url = url

    def __str__(self) -> str:
        return shown_address(self._url)

    def __repr__(self) -> str:
        return f"ProjectURL({str(self)!r})"

    def reveal(self) -> str:
        """Return the URL with its password."""
        return self._url

    @property
    def name(self) -> str:
        """What the project is called in its database."""
        try:
            named = sa.make_url(self._url).query.get(PROJECT, UNNAMED)
        except (sa.exc.ArgumentError, ValueError):
            return UNNAMED
        return named if isinstance(named, str) else named[-1]


ProjectPlace = Path | ProjectURL
"""A file, or a place in a database."""


def shown_address(where: str) -> str:
    """Return a path as it is, and a URL with its password and whatever else is secret hidden.

    Examples
    --------
    >>> shown_address("postgresql://ann:sesame@db.example/kinds?sslpassword=abc")
    'postgresql://ann:***@db.example/kinds?sslpassword=hidden'
    >>> shown_address("postgresql://ann:sesame@db.example:port/kinds")  # no valid URL
    'postgresql://***@db.example:port/kinds'
    """
    if "://" not in where:
        return where
    try:
        url = sa.make_url(where)
        hidden = {name: "hidden" for name in url.query if SECRET.search(name)}
        return url.update_query_dict(hidden).render_as_string(hide_password=True)
    except (sa.exc.ArgumentError, ValueError):
        start, _, rest = where.partition("://")
        return f"{start}://{HIDDEN}@{rest.rpartition('@')[2].partition('?')[0]}"


def without_secrets(text: Any, where: str) -> str:
    """Return what a driver said of a database, without the secrets of its URL, and without values of rows."""
    words, state = str(text), getattr(text, "sqlstate", None)
    if state:  # PostgreSQL adds details, and quotes wrong data (22…)
        primary = "" if state.startswith("22") else text.diag.message_primary
        words = f"{type(text).__name__} (SQLSTATE {state}): {primary or 'no more is told'}"
    words = words.replace(where, shown_address(where))
    try:
        url = sa.make_url(where)
    except (sa.exc.ArgumentError, ValueError):
        return words
    secrets = [url.password, *(value for name, value in url.query.items() if SECRET.search(name))]
    for secret in secrets:
        for part in (secret,) if isinstance(secret, str) else secret or ():
            words = words.replace(part, HIDDEN) if part else words
    return words
