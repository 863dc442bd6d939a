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
from sqlalchemy.exc import DBAPIError

from samekind.ledger.addresses import ProjectPlace, ProjectURL, without_secrets
from samekind.ledger.database import Database
from samekind.ledger.erase import MOVED_TO
from samekind.ledger.errors import LedgerError
from samekind.ledger.memory import Ledger
from samekind.ledger.sqlite_file import readable_place
from samekind.ledger.tables import links, meta
from samekind.ledger.version_7 import ROLES

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
    >>> from samekind.ledger import SqlLedger
    >>> folder = tempfile.TemporaryDirectory()
    >>> place = Path(folder.name, "mine.db")
    >>> SqlLedger(place).close()
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
        self._where = place.reveal() if isinstance(place, ProjectURL) else str(place)
        if isinstance(place, Path):
            readable_place(place).clean()  # no project is made by looking for links
        self._database = Database(self._where, WAIT, read_only=False)
        try:
            with self._explaining(), self._database.opened():
                pass
        except BaseException:
            self._database.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the database."""
        self._database.close()

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
        begun: sa.Connection | None = getattr(within, "_connection", None)
        transaction = self._database.writing() if begun is None else nullcontext(begun)
        with self._explaining(), transaction as connection:
            self._refuse_moved(connection)
            last = connection.execute(sa.select(sa.func.max(links.c.id))).scalar() or 0
            made = Link(last + 1, digest_of(token), name, role, now, expires, None)
            connection.execute(sa.insert(links).values(**made._asdict()))
        return made, token

    def find(self, token: str) -> Link | None:
        """Return the link of a token, be it revoked or not; None if there is none."""
        return self._one(links.c.digest == digest_of(token))

    def get(self, number: int) -> Link | None:
        """Return the link with a number; None if there is none."""
        return self._one(links.c.id == number)

    def all(self) -> list[Link]:
        """Return all links, the oldest first."""
        with self._explaining(), self._database.reading() as connection:
            found = connection.execute(sa.select(links).order_by(links.c.id))
            return [Link(*row) for row in found]

    def revoke(self, *, who: str | None = None, number: int | None = None) -> list[Link]:
        """Revoke somebody's links, or the one with a number; return those that held until now."""
        own = links.c.who == who if number is None else links.c.id == number
        now = time.time()
        with self._explaining(), self._database.writing() as connection:
            found = connection.execute(sa.select(links).where(own).order_by(links.c.id))
            held = [link for link in (Link(*row) for row in found) if link.holds(now)]
            ids = [link.id for link in held]
            connection.execute(sa.update(links).where(links.c.id.in_(ids)).values(revoked=now))
        return [link._replace(revoked=now) for link in held]

    def _refuse_moved(self, connection: sa.Connection) -> None:
        where = sa.select(meta.c.value).where(meta.c.key == MOVED_TO)
        if (target := connection.execute(where).scalar()) is not None:
            raise LedgerError(f"{self.place} was moved to {target}: make links there.")

    def _one(self, which: sa.ColumnElement[bool]) -> Link | None:
        with self._explaining(), self._database.reading() as connection:
            found = connection.execute(sa.select(links).where(which)).first()
        return None if found is None else Link(*found)

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except (DBAPIError, sa.exc.TimeoutError) as error:
            words = without_secrets(getattr(error, "orig", error), self._where)
            raise LedgerError(f"the links of {self.place} could not be read: {words}.") from error


def digest_of(token: str) -> str:
    """Return what is kept of a token."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
