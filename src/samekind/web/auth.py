"""Who may do what: tokens, links, roles, and passes for browsers.

- A request names its caller by a token in the header `Authorization`, never in an address. Other sites
  cannot send that header, so it also protects against cross-site request forgery.
- Images and downloads are fetched by the browser itself, without that header. For these GET requests alone a
  cookie is accepted, the *pass*, which is set with the replies to a token. It names a link and is signed with
  a secret of the server. That secret is not in the project file, so nobody can make a pass from a copy of it.
- `LinkAuth` looks the link up in its project for every request, so revoking it has effect at once.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie

from fastapi import HTTPException
from itsdangerous import BadData, URLSafeSerializer
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.types import Scope

from samekind.ledger import ROLES, LedgerError, Link, Links
from samekind.web.site import FAILED, HostedProject, Site

__all__ = ["ROLES", "Auth", "Caller", "LinkAuth", "TokenAuth"]

API = re.compile(r"/p/(?P<project>[^/]+)/api(?P<rest>/.*)?")
BY_BROWSER = re.compile(r"/items/[0-9]+/picture|/export/[^/]+")
COOKIE = "samekind-pass"
PORT = re.compile(r":([0-9]+)$")
SHORTEST_SECRET = 32


@dataclass(frozen=True)
class Caller:
    """Who asks about which project: the owner of a link, or with `TokenAuth` anybody who has the token."""

    hosted: HostedProject
    link: Link | None = None

    @property
    def who(self) -> str | None:
        """The name on the link; None where people say their names themselves."""
        return None if self.link is None else self.link.who

    @property
    def role(self) -> str:
        """One of `ROLES`; each may do what those before it may."""
        return "own" if self.link is None else self.link.role

    def may(self, role: str) -> bool:
        """Return whether the caller may do what a role may."""
        return ROLES.index(self.role) >= ROLES.index(role)


class Auth(ABC):
    """Finds the caller of a request.

    Parameters
    ----------
    site : Site
        The projects.
    secret : str
        Signs passes.
    root_path : str
        The path under which a proxy has the server.
    """

    wrong = "The token is missing or wrong."

    def __init__(self, site: Site, secret: str, root_path: str = "") -> None:
        self._site = site
        self._signer = URLSafeSerializer(
            secret, salt="samekind pass", signer_kwargs={"digest_method": hashlib.sha256}
        )
        self._root_path = root_path

    @abstractmethod
    def of_token(self, hosted: HostedProject, token: str) -> Caller | None:
        """Return who has a token of a project."""

    @abstractmethod
    def of_pass(self, hosted: HostedProject, number: int) -> Caller | None:
        """Return who has the link with this number."""

    async def admit(
        self, scope: Scope, path: str, headers: Headers
    ) -> tuple[Caller | None, str | None]:
        """Return the caller and a new cookie, if any; raise HTTPException for one who may not come in.

        Outside a project's API there is nothing to protect, and no caller.
        """
        asked = API.fullmatch(path)
        if asked is None:
            return None, None
        hosted = await run_in_threadpool(self._site.find, asked["project"])
        by_browser = scope["method"] == "GET" and BY_BROWSER.fullmatch(asked["rest"] or "")
        port = PORT.search(headers.get("host", ""))  # browsers send cookies to all ports of a host
        cookie = f"{COOKIE}-{port[1] if port else 0}"
        given = _cookie(headers, cookie)
        caller = None
        if hosted is not None:  # an unknown project is answered like a wrong token
            token = _bearer(headers)
            if token:
                caller = await run_in_threadpool(self.of_token, hosted, token)
            elif by_browser and given:
                caller = await run_in_threadpool(self._of_signed, hosted, given)
        if hosted is None or caller is None:
            raise HTTPException(401, self.wrong)
        own = self._pass_of(caller)
        if hmac.compare_digest(own.encode(), given.encode("utf-8", "replace")):
            return caller, None
        rules = f"Path={self._root_path}/p/{hosted.name}/; HttpOnly; SameSite=Strict"
        return caller, f"{cookie}={own}; {rules}" + "; Secure" * (scope["scheme"] == "https")

    def _pass_of(self, caller: Caller) -> str:
        number, digest = (0, "") if caller.link is None else (caller.link.id, caller.link.digest)
        return str(self._signer.dumps([caller.hosted.name, number, digest]))

    def _of_signed(self, hosted: HostedProject, given: str) -> Caller | None:
        try:
            signed = self._signer.loads(given)
        except BadData:
            return None
        caller = self.of_pass(hosted, signed[1])
        # also compares the digest: another project may have had this name, and a link with this number
        return caller if caller is not None and self._pass_of(caller) == given else None


class TokenAuth(Auth):
    """One token for everybody, generated when the server starts. Callers say their names, unproven."""

    wrong = (
        "The token is missing or wrong. Open the whole address that samekind printed in the terminal: it "
        "ends in #token=…"
    )

    def __init__(self, site: Site, token: str) -> None:
        super().__init__(site, secret=token)
        self._token = token

    def of_token(self, hosted: HostedProject, token: str) -> Caller | None:
        """Return the caller if the token is right."""
        is_right = hmac.compare_digest(token.encode("utf-8", "replace"), self._token.encode())
        return Caller(hosted) if is_right else None

    def of_pass(self, hosted: HostedProject, number: int) -> Caller | None:
        """Return the caller: the signature, made with the token, says enough."""
        return Caller(hosted)


class LinkAuth(Auth):
    """A personal link for each person, with a name and a role.

    Without a secret each server makes its own when it starts; passes then end with it, and browsers get a new
    one with the next reply. Servers behind one address need the same secret.
    """

    wrong = "The token is missing or wrong. Open the whole link that you were given."

    def __init__(self, site: Site, secret: str | None = None, *, root_path: str = "") -> None:
        if secret is not None and len(secret) < SHORTEST_SECRET:
            raise ValueError(
                f"the secret must have at least {SHORTEST_SECRET} characters, got {len(secret)}. "
                "Make one: openssl rand -hex 32"
            )
        super().__init__(site, secret or secrets.token_hex(32), root_path)

    def of_token(self, hosted: HostedProject, token: str) -> Caller | None:
        """Return the caller if the link holds; say so if it was revoked or has expired."""
        link = self._look_up(hosted, lambda links: links.find(token))
        if link is None:
            return None
        if not link.holds(time.time()):
            why = "was revoked" if link.revoked is not None else "has expired"
            raise HTTPException(401, f"Your link {why}. Ask who gave it to you for a new one.")
        return Caller(hosted, link)

    def of_pass(self, hosted: HostedProject, number: int) -> Caller | None:
        """Return the caller if the link holds."""
        link = self._look_up(hosted, lambda links: links.get(number))
        return Caller(hosted, link) if link is not None and link.holds(time.time()) else None

    def _look_up(self, hosted: HostedProject, find: Callable[[Links], Link | None]) -> Link | None:
        try:
            return find(hosted.links)
        except LedgerError as error:
            hosted.note_failure(error)
            raise HTTPException(503, FAILED, {"Retry-After": "3"}) from None


def _bearer(headers: Headers) -> str:
    given = headers.get("authorization", "")
    return given[7:].strip() if given[:7].lower() == "bearer " else ""


def _cookie(headers: Headers, name: str) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return "" if found is None else found.value
