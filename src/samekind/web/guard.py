"""Who may come in: the first thing that sees a request, and the last that sees its answer.

Another site's page, open in the same browser, can send requests to this machine. What keeps it out:

- `Host` must be a name of this server, so no other name can be bent to its address (DNS rebinding).
- `Origin` and `Sec-Fetch-Site`, if given, must be the page's own. Only the page itself may be linked to.
- Whatever changes something needs ``X-Samekind: 1``, which browsers let no other site's page send.
- Where there is a token, or people have links, everything under /api needs one: `doors` says who is let in.

A body is read whole, up to its limit, before anything else looks at it. Nothing unforeseen that happens
behind the guard is told to the page.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
import time
from collections.abc import Callable, Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from samekind.web.doors import CALLER, Door, RefusalError
from samekind.web.reach import ANY_ADDRESS, LOCAL, address_of

__all__ = ["ANY_ADDRESS", "LOCAL", "REQUEST", "Guard", "Observer"]

log = logging.getLogger("samekind.web")

LARGEST_HEAD = 16 * 1024  # the address and the headers
LARGEST_BODY = 64 * 1024
LARGEST_IMPORT = 16 * 1024 * 1024
IMPORT = "/answers/import"
REQUEST = "samekind.request"  # in the scope of a request with a key: a digest of it
PATIENCE = 60.0  # seconds that a body may take to arrive
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


Observer = Callable[[Scope, int, float], None]
"""Is told of every request that was answered: its scope, the status, and how many seconds it took."""


class Guard:
    """The outermost layer of the application."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        door: Door,
        allowed_hosts: Iterable[str] = LOCAL,
        root_path: str = "",
        observer: Observer | None = None,
    ) -> None:
        self.app = app
        self.door = door
        self.hosts = frozenset(host.lower() for host in allowed_hosts)
        self._root_path = root_path
        self._observer = observer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": ""})
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if self._root_path:
            _add_root(scope, self._root_path)
        status = 0
        cookie: str | None = None
        began = time.perf_counter()

        async def send_guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(raw=message.setdefault("headers", []))
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
                if cookie is not None:
                    headers.append("Set-Cookie", cookie)
            await send(message)

        try:
            path, headers = scope["path"].removeprefix(self._root_path), Headers(scope=scope)
            limit = LARGEST_IMPORT if path.endswith(IMPORT) else LARGEST_BODY
            self._check(scope, path, headers)
            scope[CALLER], cookie = await self.door.admit(scope, path, headers)
            _check_length(headers, limit)
            body = await _read(receive, limit)
            if body is not None:
                if "idempotency-key" in headers:
                    asked = f"{scope['method']} {path} ".encode()
                    scope[REQUEST] = hashlib.sha256(asked + body).hexdigest()
                await self.app(scope, _replay(body, receive), send_guarded)
        except RefusalError as refusal:
            answer = JSONResponse({"error": str(refusal)}, refusal.status, refusal.headers)
            answer.headers["Connection"] = "close"  # what is left of the body is not read
            await answer(scope, receive, send_guarded)
        except Exception:
            log.exception("%s %s failed", scope["method"], scope["path"])
            if status:
                raise
            await JSONResponse({"error": UNKNOWN}, 500)(scope, receive, send_guarded)
        finally:
            if self._observer is not None:
                self._observer(scope, status, time.perf_counter() - began)

    def _check(self, scope: Scope, path: str, headers: Headers) -> None:
        """Refuse what is not well formed, or another site's."""
        method = scope["method"]
        self._check_host(headers)
        size = sum(len(name) + len(value) for name, value in scope["headers"])
        if size + len(path) + len(scope["query_string"]) > LARGEST_HEAD:
            raise RefusalError(400, "The address or the headers are too long.")
        if not path.isprintable():
            raise RefusalError(400, "The address has characters that no address here has.")
        if method not in ("GET", "HEAD", "POST", "PUT"):
            raise RefusalError(405, "This is not done here.")
        is_page = method in ("GET", "HEAD") and self.door.is_page(path)
        self._check_site(headers, is_page=is_page)
        changes = method not in ("GET", "HEAD")
        if changes and self.door.needs_header and headers.getlist("x-samekind") != ["1"]:
            raise RefusalError(403, "The header “X-Samekind: 1” is missing. Use samekind's page.")

    def _check_host(self, headers: Headers) -> None:
        given = [host.lower() for host in headers.getlist("host")]
        match = HOST.fullmatch(given[0]) if len(given) == 1 else None
        known = match is not None and (
            not self.hosts.isdisjoint((match["name"], f"{match['name']}:{match['port'] or 80}"))
            or (ANY_ADDRESS in self.hosts and address_of(match["name"]) is not None)
        )
        if not known:
            raise RefusalError(
                400, "This server does not go by that name. Use the address that samekind printed."
            )

    def _check_site(self, headers: Headers, is_page: bool) -> None:
        own = [f"{scheme}://{headers['host'].lower()}" for scheme in ("http", "https")]
        foreign = any(origin.lower() not in own for origin in headers.getlist("origin"))
        linked = is_page and headers.get("sec-fetch-mode") == "navigate"
        if foreign or (headers.get("sec-fetch-site") not in OWN_SITE and not linked):
            raise RefusalError(403, "The request comes from another site. Use samekind's page.")


def _add_root(scope: Scope, root_path: str) -> None:
    """Say under which address the application is; a proxy may have taken that from the path, or not."""
    if scope["path"] != root_path and not scope["path"].startswith(f"{root_path}/"):
        scope["path"] = root_path + scope["path"]
    scope["root_path"] = root_path


def _check_length(headers: Headers, limit: int) -> None:
    length = headers.get("content-length", "0")
    if "content-length" in headers and "transfer-encoding" in headers:
        raise RefusalError(400, "A body has a length or comes in chunks, not both.")
    if not (length.isascii() and length.isdecimal()):
        raise RefusalError(400, "Content-Length must be a number.")
    if len(length) > 15 or int(length) > limit:
        raise _too_large(limit)


def _too_large(limit: int) -> RefusalError:
    return RefusalError(413, f"That is too much at once: at most {limit // 1024} kB are taken.")


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
        raise RefusalError(408, "The rest of the request did not arrive.") from None


def _replay(body: bytes, receive: Receive) -> Receive:
    waiting = [body]

    async def replay() -> Message:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(), "more_body": False}
        return await receive()

    return replay
