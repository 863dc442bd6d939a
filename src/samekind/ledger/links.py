"""Links by which people come in to a project: each has a name, a role, and a token that is not kept.

Only a digest of the token is in the database, so nobody who reads that can come in. A token has 256 random
bits, so a plain digest is as good as a slow one. Whether a link holds is looked up each time: one that is
revoked opens nothing from then on, on any server.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple, Self

import sqlalchemy as sa

from samekind.ledger.errors import LedgerError, ReplacedError
from samekind.ledger.events import ROLES
from samekind.ledger.ledger import Ledger
from samekind.ledger.places import ProjectPlace
from samekind.ledger.sqlite import readable_place
from samekind.ledger.store import Store
from samekind.ledger.tables import links

__all__ = ["ROLES", "Link", "Links"]

TOKEN_BYTES = 32
LONGEST_NAME = 100
WAIT = 10.0


class Link(NamedTuple):
    """Somebody's way into a project.

    Attributes
    ----------
    id : int
        Its number in the project.
    digest : str
        SHA-256 of its token.
    who : str
        Whose it is: answers that come by it are theirs.
    role : str
        "answer", "review" or "own".
    at, expires, revoked : float or None
        When it was made, when it ends and when it was revoked, in seconds since 1970.
    """

    id: int
    digest: str
    who: str
    role: str
    at: float
    expires: float | None
    revoked: float | None

    def holds(self, now: float) -> bool:
        """Return whether it opens anything."""
        return self.revoked is None and (self.expires is None or now < self.expires)

    def may(self, role: str) -> bool:
        """Return whether its owner may do what a role may."""
        return ROLES.index(self.role) >= ROLES.index(role)


class Links:
    """The links of a project.

    Parameters
    ----------
    place : Path or ProjectURL
        A project that is there.

    Examples
    --------
    >>> import tempfile
    >>> from samekind.ledger import Ledger
    >>> folder = tempfile.TemporaryDirectory()
    >>> place = Path(folder.name, "mine.db")
    >>> Ledger(place).close()
    >>> with Links(place) as links:
    ...     link, token = links.invite("ann", "review")
    ...     found = links.find(token)
    ...     revoked = links.revoke(who="ann")
    ...     later = links.find(token)
    >>> found.who, found.may("answer"), found.may("own"), len(revoked), later.holds(time.time())
    ('ann', True, False, 1, False)
    >>> folder.cleanup()
    """

    def __init__(self, place: ProjectPlace) -> None:
        self.place = place
        if isinstance(place, Path):
            readable_place(place).clean()  # no project is made by looking for links
        self._store = Store(place, wait=WAIT)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the database."""
        self._store.close()

    def invite(
        self,
        who: str,
        role: str = "answer",
        *,
        expires: float | None = None,
        within: Ledger | None = None,
    ) -> tuple[Link, str]:
        """Make a link; return it and its token, which cannot be had again.

        It is part of the transaction that `within`, a ledger of the project, is in, if it is in one.
        """
        name = who.strip()
        if not name or len(name) > LONGEST_NAME or not name.isprintable():
            raise ValueError(
                f"a name has 1 to {LONGEST_NAME} characters, all of them printable, got {who!r:.120}."
            )
        if role not in ROLES:
            raise ValueError(f"a role is one of {', '.join(ROLES)}, got {role!r:.40}.")
        now = time.time()
        if expires is not None and expires <= now:
            raise ValueError("a link must end in the future. Name a later time.")
        token = secrets.token_urlsafe(TOKEN_BYTES)
        begun = None if within is None else within.open_transaction
        with (
            self._explaining(),
            self._store.write() if begun is None else nullcontext(begun) as own,
        ):
            if (target := own.state().moved_to) is not None:
                raise LedgerError(f"{self.place} was moved to {target}: make links there.")
            last = own.connection.execute(sa.select(sa.func.max(links.c.id))).scalar() or 0
            made = Link(last + 1, digest_of(token), name, role, now, expires, None)
            own.connection.execute(sa.insert(links).values(**made._asdict()))
        return made, token

    def find(self, token: str) -> Link | None:
        """Return the link of a token, be it revoked or not; None if there is none."""
        return self._one(links.c.digest == digest_of(token))

    def get(self, number: int) -> Link | None:
        """Return the link with a number; None if there is none."""
        return self._one(links.c.id == number)

    def all(self) -> list[Link]:
        """Return all links, the oldest first."""
        with self._explaining(), self._store.reading() as own:
            found = own.connection.execute(sa.select(links).order_by(links.c.id))
            return [Link(*row) for row in found]

    def revoke(self, *, who: str | None = None, number: int | None = None) -> list[Link]:
        """Revoke somebody's links, or the one with a number; return those that held until now."""
        own = links.c.who == who if number is None else links.c.id == number
        now = time.time()
        with self._explaining(), self._store.write() as transaction:
            connection = transaction.connection
            found = connection.execute(sa.select(links).where(own).order_by(links.c.id))
            held = [link for link in (Link(*row) for row in found) if link.holds(now)]
            ids = [link.id for link in held]
            connection.execute(sa.update(links).where(links.c.id.in_(ids)).values(revoked=now))
        return [link._replace(revoked=now) for link in held]

    def _one(self, which: sa.ColumnElement[bool]) -> Link | None:
        with self._explaining(), self._store.reading() as own:
            found = own.connection.execute(sa.select(links).where(which)).first()
        return None if found is None else Link(*found)

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            with self._store.explaining("be used for links"):
                yield
        except ReplacedError as error:
            raise LedgerError(
                f"{self.place} is not there any more: it was deleted or replaced."
            ) from error


def digest_of(token: str) -> str:
    """Return what is kept of a token."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
