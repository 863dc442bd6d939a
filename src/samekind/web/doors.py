"""Who is let in: by the one token of a page, or by personal links.

A door sees a request after the guard has found that it is well formed and no other site's. It says who asks,
in which role and about which project, or refuses.
"""

from __future__ import annotations

import hmac
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.types import Scope

from samekind.project import Project

__all__ = [
    "CALLER",
    "HOSTED",
    "Caller",
    "Door",
    "Entry",
    "RefusalError",
    "TokenDoor",
    "bearer",
]

CALLER = "samekind.caller"  # in the scope of a request
HOSTED = "samekind.hosted"  # too, where there are several projects: the one that is asked about


class RefusalError(Exception):
    """The request is not let in; the message says why."""

    def __init__(self, status: int, words: str, **headers: str) -> None:
        super().__init__(words)
        self.status = status
        self.headers = headers


@dataclass(frozen=True)
class Caller:
    """Who asks: `who` is None where requests say so themselves, and need not prove it."""

    project: Project
    who: str | None = None
    role: str = "own"
    name: str = ""  # of the project, where there are several
    link: int = 0  # its number, where people have links


class Entry(NamedTuple):
    """Who was let in, if that is asked at all, and a cookie for them."""

    caller: Caller | None = None
    cookie: str | None = None


class Door(ABC):
    """What decides who is let in."""

    needs_header = True
    """Whether what changes something must have the header ``X-Samekind: 1``."""

    @abstractmethod
    def is_page(self, path: str) -> bool:
        """Return whether other sites may link to this address."""

    @abstractmethod
    async def admit(self, scope: Scope, path: str, headers: Headers) -> Entry:
        """Say who asks, or raise `RefusalError`."""


class TokenDoor(Door):
    """One project, and one token or none; those who have it say by themselves who they are."""

    def __init__(self, project: Project, token: str | None) -> None:
        self._caller = Caller(project)
        self._token = token

    def is_page(self, path: str) -> bool:
        """Return whether it is the page."""
        return path == "/"

    async def admit(self, scope: Scope, path: str, headers: Headers) -> Entry:
        """Let everybody in who knows the token."""
        if self._token is None or not (path == "/api" or path.startswith("/api/")):
            return Entry(self._caller)
        offered = bearer(headers) or _in_address(scope["query_string"])
        if not hmac.compare_digest(offered.encode("utf-8", "replace"), self._token.encode()):
            raise RefusalError(
                401, "The token is missing or wrong. Open the whole address that samekind printed."
            )
        return Entry(self._caller)


def bearer(headers: Headers) -> str:
    """Return the token of the header `Authorization`, or ""."""
    given = headers.get("authorization", "")
    return given[7:].strip() if given[:7].lower() == "bearer " else ""


def _in_address(query: bytes) -> str:
    try:
        return parse_qs(query.decode("latin-1"), max_num_fields=50).get("token", [""])[0]
    except ValueError:
        raise RefusalError(400, "The address has too many parts.") from None
