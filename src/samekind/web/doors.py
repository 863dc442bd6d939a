"""Who is let in: by the one token of a page, or by personal links.

A door sees a request after the guard has found that it is well formed and no other site's. It says who asks,
in which role and about which project, or refuses.
"""

from __future__ import annotations

import hmac
import math
import secrets
from abc import ABC, abstractmethod
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import NamedTuple
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.types import Scope

from samekind.project import Project
from samekind.web.connections import network_of
from samekind.web.guesses import Guesses

__all__ = [
    "CALLER",
    "HOSTED",
    "PASS",
    "Caller",
    "Door",
    "Entry",
    "RefusalError",
    "TokenDoor",
    "bearer",
]

CALLER = "samekind.caller"  # in the scope of a request
HOSTED = "samekind.hosted"  # too, where there are several projects: the one that is asked about
PASS = "samekind-pass"


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

    def __init__(self) -> None:
        self.guesses = Guesses()

    @abstractmethod
    def is_page(self, path: str) -> bool:
        """Return whether other sites may link to this address."""

    @abstractmethod
    async def admit(self, scope: Scope, path: str, headers: Headers) -> Entry:
        """Say who asks, or raise `RefusalError`."""

    def wait_for_guesses(self, network: str) -> None:
        """Refuse to look at a token while its address has to wait."""
        if wait := self.guesses.wait(network):
            seconds = str(math.ceil(wait))
            raise RefusalError(
                429,
                f"Too many wrong tokens came from your address. Try again in {seconds} s.",
                **{"Retry-After": seconds},
            )


class TokenDoor(Door):
    """One project, and one token or none; those who have it say by themselves who they are.

    Who had the right token before is known by a cookie, the *pass*, which alone opens nothing, and never
    waits for others' guesses.
    """

    def __init__(self, project: Project, token: str | None) -> None:
        super().__init__()
        self._caller = Caller(project)
        self._token = token
        self._pass = secrets.token_urlsafe(16)

    def is_page(self, path: str) -> bool:
        """Return whether it is the page."""
        return path == "/"

    async def admit(self, scope: Scope, path: str, headers: Headers) -> Entry:
        """Let everybody in who knows the token."""
        if self._token is None or not (path == "/api" or path.startswith("/api/")):
            return Entry(self._caller)
        had = hmac.compare_digest(
            cookie_of(headers).encode("utf-8", "replace"), self._pass.encode()
        )
        offered = bearer(headers) or _in_address(scope["query_string"])
        network = network_in(scope)
        if offered and not had:
            self.wait_for_guesses(network)
        if not hmac.compare_digest(offered.encode("utf-8", "replace"), self._token.encode()):
            if offered:
                self.guesses.note_wrong(network, offered)
            raise RefusalError(
                401, "The token is missing or wrong. Open the whole address that samekind printed."
            )
        rules = "Path=/api; HttpOnly; SameSite=Strict"
        return Entry(self._caller, None if had else f"{PASS}={self._pass}; {rules}")


def bearer(headers: Headers) -> str:
    """Return the token of the header `Authorization`, or ""."""
    given = headers.get("authorization", "")
    return given[7:].strip() if given[:7].lower() == "bearer " else ""


def network_in(scope: Scope) -> str:
    """Return what counts as the address that a request comes from."""
    client = scope.get("client")
    return network_of(client[0]) if client else ""


def cookie_of(headers: Headers) -> str:
    """Return the pass that a browser has, or ""."""
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(PASS)
    except CookieError:
        return ""
    return "" if found is None else found.value


def _in_address(query: bytes) -> str:
    try:
        return parse_qs(query.decode("latin-1"), max_num_fields=50).get("token", [""])[0]
    except ValueError:
        raise RefusalError(400, "The address has too many parts.") from None
