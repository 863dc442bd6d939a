"""The door of a server for a team: everybody has a link of their own, with a name and a role.

- The token of a link comes in the header `Authorization`, never in an address, which proxies write down.
- It is looked up in the project that the address names, each time: another project's token is none here, and
  one that was revoked, or has expired, opens nothing from then on.
- Pictures and exports are fetched by the browser itself, which cannot send that header. For these alone, and
  to read, a cookie will do that follows from the link (the *pass*): no other site's page gets it sent, and it
  ends with the link.
"""

from __future__ import annotations

import hmac
import re
import time
from collections.abc import Iterator
from http.cookies import CookieError, SimpleCookie

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.types import Scope

from samekind.ledger import LedgerError, Link
from samekind.web import doors
from samekind.web.doors import Caller, Door, Entry, RefusalError, bearer
from samekind.web.site import HostedProject, Site

__all__ = ["API", "CALLERS", "LinkDoor"]

API = "/api/v1"
CALLERS = "samekind.callers"  # in the scope: who asks, in every project that the token opens
PROJECT = re.compile(rf"{API}/projects/([^/]+)(/.*)?")
PAGE = re.compile(r"/p/[^/]+/|/")
PASS = "samekind-pass"  # a cookie
BY_BROWSER = re.compile(r"/items/[0-9]+/picture|/export/[^/]+")
SCHEMA = f"{API}/openapi.json"
WRONG = "The token is missing or wrong. Open the whole link that you were given."


class LinkDoor(Door):
    """Lets people in by their links.

    Parameters
    ----------
    site : Site
        The projects.
    root_path : str
        Under which address all of it is.
    """

    needs_header = False  # no other site's page can send `Authorization`, which all changes need

    def __init__(self, site: Site, *, root_path: str = "") -> None:
        self._site = site
        self._root_path = root_path

    def is_page(self, path: str) -> bool:
        """Return whether it is the page of a project."""
        return PAGE.fullmatch(path) is not None

    async def admit(self, scope: Scope, path: str, headers: Headers) -> Entry:
        """Let everybody in whose link holds."""
        if path == SCHEMA or not path.startswith("/api"):
            return Entry()
        offered = bearer(headers)
        if path == f"{API}/projects":
            scope[CALLERS] = await run_in_threadpool(self._everywhere, offered)
            return Entry()
        found = PROJECT.fullmatch(path)
        hosted = self._site.projects.get(found[1]) if found else None
        rest = (found[2] or "") if found else ""
        scope[doors.HOSTED] = hosted
        given = _cookie_of(headers)
        reads = scope["method"] == "GET" and BY_BROWSER.fullmatch(rest) is not None
        is_safe = scope["scheme"] == "https"
        return await run_in_threadpool(
            self._enter, hosted, offered, given, reads=reads, is_safe=is_safe
        )

    def _enter(
        self,
        hosted: HostedProject | None,
        offered: str,
        given: str,
        *,
        reads: bool,
        is_safe: bool,
    ) -> Entry:
        link = None
        if offered:
            link = None if hosted is None else _found(hosted, offered)
            if link is None or not link.holds(time.time()):
                raise RefusalError(401, _why_not(link))
        elif reads and hosted is not None:
            link = _link_of_pass(hosted, given)
        if link is None or hosted is None:
            raise RefusalError(401, WRONG)
        project = hosted.project
        if project is None or hosted.state != "ready":
            raise _not_open(hosted)
        cookie = None
        own = _pass_of(link)
        if not hmac.compare_digest(given.encode("utf-8", "replace"), own.encode()):
            place = f"{self._root_path}{API}/projects/{hosted.name}/"
            rules = f"Path={place}; HttpOnly; SameSite=Strict" + "; Secure" * is_safe
            cookie = f"{PASS}={own}; {rules}"
        return Entry(Caller(project, link.who, link.role, hosted.name, link.id), cookie)

    def _everywhere(self, offered: str) -> list[tuple[HostedProject, Link]]:
        """Return the projects that a token opens."""
        opened = list(self._opened_by(offered)) if offered else []
        if not opened:
            raise RefusalError(401, WRONG)
        return opened

    def _opened_by(self, offered: str) -> Iterator[tuple[HostedProject, Link]]:
        for hosted in self._site.projects.values():
            try:
                link = hosted.links.find(offered)
            except LedgerError:  # others may be all right
                continue
            if link is not None and link.holds(time.time()):
                yield hosted, link


def _found(hosted: HostedProject, token: str) -> Link | None:
    try:
        return hosted.links.find(token)
    except LedgerError:
        raise _not_open(hosted) from None


def _cookie_of(headers: Headers) -> str:
    """Return the pass that a browser has, or ""."""
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(PASS)
    except CookieError:
        return ""
    return "" if found is None else found.value


def _link_of_pass(hosted: HostedProject, given: str) -> Link | None:
    """Return the link that a browser's pass belongs to, if it holds."""
    number, _, _ = given.partition(".")
    if not (number.isascii() and number.isdecimal() and len(number) < 10):
        return None
    try:
        link = hosted.links.get(int(number))
    except LedgerError:
        raise _not_open(hosted) from None
    if link is None or not link.holds(time.time()):
        return None
    is_own = hmac.compare_digest(given.encode("utf-8", "replace"), _pass_of(link).encode())
    return link if is_own else None


def _pass_of(link: Link) -> str:
    """Return what only the server and the holder of a link can have."""
    return f"{link.id}.{hmac.new(link.digest.encode(), b'samekind pass', 'sha256').hexdigest()}"


def _why_not(link: Link | None) -> str:
    if link is None:
        return WRONG
    what = "was revoked" if link.revoked is not None else "has expired"
    return f"Your link {what}. Ask who gave it to you for a new one."


def _not_open(hosted: HostedProject) -> RefusalError:
    words = (
        "The project is being opened. Try again in a moment."
        if hosted.state == "opening"
        else "The project cannot be opened at the moment; the server's log says why."
    )
    return RefusalError(503, words, **{"Retry-After": "3"})
