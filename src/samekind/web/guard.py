"""Who may come in: the first thing that sees a request, and the last that sees its answer.

Another site's page, open in the same browser, can send requests to this machine. What keeps it out:

- `Host` must be a name of this server, so no other name can be bent to its address (DNS rebinding).
- `Origin` and `Sec-Fetch-Site`, if given, must be the page's own. Only the page itself may be linked to.
- Whatever changes something needs ``X-Samekind: 1``, which browsers let no other site's page send.
- With a token, everything under /api needs it. Who tries many wrong ones has to wait; who had the right one
  before is known by a cookie (a *pass*, which alone opens nothing), and never waits for others' guesses.

A body is read whole, up to its limit, before anything else looks at it. Nothing unforeseen that happens
behind the guard is told to the page.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import math
import re
import secrets
from collections.abc import Iterable
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from samekind.web.connections import network_of
from samekind.web.guesses import Guesses
from samekind.web.reach import ANY_ADDRESS, LOCAL, address_of

__all__ = ["ANY_ADDRESS", "LOCAL", "Guard"]

log = logging.getLogger("samekind.web")

LARGEST_HEAD = 16 * 1024  # the address and the headers
LARGEST_BODY = 64 * 1024
LARGEST_IMPORT = 16 * 1024 * 1024
IMPORT = "/api/answers/import"
PATIENCE = 60.0  # seconds that a body may take to arrive
PASS = "samekind-pass"
OWN_SITE = (None, "same-origin", "none")
SECURITY_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    "Cache-Control": "no-store",
}
HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?")
UNKNOWN = "Something went wrong inside samekind; the terminal says what."


class _RefusalError(Exception):
    def __init__(self, status: int, words: str, **headers: str) -> None:
        super().__init__(words)
        self.status = status
        self.headers = headers


class Guard:
    """The outermost layer of the application."""

    def __init__(
        self, app: ASGIApp, *, allowed_hosts: Iterable[str] = LOCAL, token: str | None = None
    ) -> None:
        self.app = app
        self.hosts = frozenset(host.lower() for host in allowed_hosts)
        self.token = token
        self.guesses = Guesses()
        self._pass = secrets.token_urlsafe(16)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": ""})
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False
        knows_token = False

        async def send_guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(raw=message.setdefault("headers", []))
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
                if knows_token:
                    rules = "Path=/api; HttpOnly; SameSite=Strict"
                    headers.append("Set-Cookie", f"{PASS}={self._pass}; {rules}")
            await send(message)

        try:
            knows_token = self._check(scope)
            body = await _read(receive, LARGEST_IMPORT if scope["path"] == IMPORT else LARGEST_BODY)
            if body is not None:
                await self.app(scope, _replay(body, receive), send_guarded)
        except _RefusalError as refusal:
            answer = JSONResponse({"error": str(refusal)}, refusal.status, refusal.headers)
            answer.headers["Connection"] = "close"  # what is left of the body is not read
            await answer(scope, receive, send_guarded)
        except Exception:
            log.exception("%s %s failed", scope["method"], scope["path"])
            if started:
                raise
            await JSONResponse({"error": UNKNOWN}, 500)(scope, receive, send_guarded)

    def _check(self, scope: Scope) -> bool:
        """Refuse what must not come in; return whether it showed the token for the first time."""
        headers, method, path = Headers(scope=scope), scope["method"], scope["path"]
        self._check_host(headers)
        size = sum(len(name) + len(value) for name, value in scope["headers"])
        if size + len(path) + len(scope["query_string"]) > LARGEST_HEAD:
            raise _RefusalError(400, "The address or the headers are too long.")
        if not path.isprintable():
            raise _RefusalError(400, "The address has characters that no address here has.")
        if method not in ("GET", "HEAD", "POST", "PUT"):
            raise _RefusalError(405, "This is not done here.")
        self._check_site(headers, is_page=path == "/" and method in ("GET", "HEAD"))
        if method not in ("GET", "HEAD") and headers.getlist("x-samekind") != ["1"]:
            raise _RefusalError(403, "The header “X-Samekind: 1” is missing. Use samekind's page.")
        is_new = False
        if self.token is not None and (path == "/api" or path.startswith("/api/")):
            client = scope.get("client")
            is_new = not self._has_pass(headers)
            network = network_of(client[0]) if client else ""
            self._check_token(headers, scope["query_string"], network, waits=is_new)
        _check_length(headers, LARGEST_IMPORT if path == IMPORT else LARGEST_BODY)
        return is_new

    def _check_host(self, headers: Headers) -> None:
        given = [host.lower() for host in headers.getlist("host")]
        match = HOST.fullmatch(given[0]) if len(given) == 1 else None
        known = match is not None and (
            not self.hosts.isdisjoint((match["name"], f"{match['name']}:{match['port'] or 80}"))
            or (ANY_ADDRESS in self.hosts and address_of(match["name"]) is not None)
        )
        if not known:
            raise _RefusalError(
                400, "This server does not go by that name. Use the address that samekind printed."
            )

    def _check_site(self, headers: Headers, is_page: bool) -> None:
        own = [f"{scheme}://{headers['host'].lower()}" for scheme in ("http", "https")]
        foreign = any(origin.lower() not in own for origin in headers.getlist("origin"))
        linked = is_page and headers.get("sec-fetch-mode") == "navigate"
        if foreign or (headers.get("sec-fetch-site") not in OWN_SITE and not linked):
            raise _RefusalError(403, "The request comes from another site. Use samekind's page.")

    def _has_pass(self, headers: Headers) -> bool:
        given = [part.strip() for part in headers.get("cookie", "").split(";")]
        own = f"{PASS}={self._pass}".encode()
        return any(hmac.compare_digest(part.encode("utf-8", "replace"), own) for part in given)

    def _check_token(self, headers: Headers, query: bytes, network: str, *, waits: bool) -> None:
        assert self.token is not None
        given = headers.get("authorization", "")
        if given[:7].lower() == "bearer ":
            offered = given[7:].strip()
        else:
            try:
                offered = parse_qs(query.decode("latin-1"), max_num_fields=50).get("token", [""])[0]
            except ValueError:
                raise _RefusalError(400, "The address has too many parts.") from None
        wait = self.guesses.wait(network) if waits and offered else 0.0
        if wait:
            seconds = str(math.ceil(wait))
            raise _RefusalError(
                429,
                f"Too many wrong tokens came from your address. Try again in {seconds} s.",
                **{"Retry-After": seconds},
            )
        if not hmac.compare_digest(offered.encode("utf-8", "replace"), self.token.encode()):
            if offered:
                self.guesses.note_wrong(network, offered)
            raise _RefusalError(
                401, "The token is missing or wrong. Open the whole address that samekind printed."
            )


def _check_length(headers: Headers, limit: int) -> None:
    length = headers.get("content-length", "0")
    if "content-length" in headers and "transfer-encoding" in headers:
        raise _RefusalError(400, "A body has a length or comes in chunks, not both.")
    if not (length.isascii() and length.isdecimal()):
        raise _RefusalError(400, "Content-Length must be a number.")
    if len(length) > 15 or int(length) > limit:
        raise _too_large(limit)


def _too_large(limit: int) -> _RefusalError:
    return _RefusalError(413, f"That is too much at once: at most {limit // 1024} kB are taken.")


async def _read(receive: Receive, limit: int) -> bytes | None:
    """Return the whole body, or None if the client is gone."""
    body = bytearray()
    try:
        async with asyncio.timeout(PATIENCE):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                body += message.get("body", b"")
                if len(body) > limit:
                    raise _too_large(limit)
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        raise _RefusalError(408, "The rest of the request did not arrive.") from None


def _replay(body: bytes, receive: Receive) -> Receive:
    waiting = [body]

    async def replay() -> Message:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(), "more_body": False}
        return await receive()

    return replay
