"""The outermost layer of the application: checks every request, and adds headers to every reply.

A page of another site, open in the same browser, can send requests to this server:

- `Host` must be a name of this server, so no other name can be pointed at its address (DNS rebinding).
- `Origin` and `Sec-Fetch-Site`, if given, must be the page's own. Only pages may be linked to from elsewhere.
- `auth` says who the caller is. All changes need the header `Authorization`, which no other site can send.

The body is bounded in size and time. An unforeseen error is logged, and the client learns nothing about it.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable, Iterable

from fastapi import HTTPException
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from samekind.web.auth import Auth
from samekind.web.server import ANY_ADDRESS, LARGEST_HEAD, address_of

__all__ = ["CALLER", "Guard", "Observer"]

log = logging.getLogger("samekind.web")

CALLER = "samekind.caller"  # in the scope of a request
LARGEST_BODY = 64 * 1024
LARGEST_IMPORT = 16 * 1024 * 1024
IMPORT = "/api/answers/import"
PATIENCE = 60.0  # seconds for a body to arrive
PAGE = re.compile(r"/p/[^/]+/|/")
OWN_SITE = (None, "same-origin", "none")
HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?")
UNKNOWN = "Something went wrong inside samekind; the terminal says what."
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

Observer = Callable[[Scope, int, float], None]
"""Called for every reply with the scope of its request, the status, and the seconds it took."""


class Guard:
    """Checks requests before anything else sees them.

    Parameters
    ----------
    app : ASGI application
        What is guarded.
    auth : Auth
        Finds the caller.
    allowed_hosts : iterable of str
        Names of this server, ``"name"`` or ``"name:port"``; ``"*"`` is any numeric address.
    root_path : str
        The path under which a proxy has the server; the proxy may remove it or not.
    proxies : iterable of str
        Addresses of proxies whose `X-Forwarded-Proto` is believed.
    observer : callable or None
        Called for every reply.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        auth: Auth,
        allowed_hosts: Iterable[str],
        root_path: str = "",
        proxies: Iterable[str] = (),
        observer: Observer | None = None,
    ) -> None:
        self.app = app
        self._auth = auth
        self._hosts = frozenset(host.lower() for host in allowed_hosts)
        self._root_path = root_path
        self._proxies = frozenset(proxies)
        self._observer = observer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": ""})
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        path = self._locate(scope, headers)
        began = time.perf_counter()
        status = 0
        cookie: str | None = None

        async def send_guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                given = MutableHeaders(raw=message.setdefault("headers", []))
                for name, value in SECURITY_HEADERS.items():
                    given.setdefault(name, value)
                if cookie is not None:
                    given.append("Set-Cookie", cookie)
            await send(message)

        try:
            self._check(scope, path, headers)
            scope[CALLER], cookie = await self._auth.admit(scope, path, headers)
            limit = LARGEST_IMPORT if path.endswith(IMPORT) else LARGEST_BODY
            _check_length(headers, limit)
            await self.app(scope, _bounded(receive, limit), send_guarded)
        except HTTPException as refusal:
            reply = JSONResponse({"error": refusal.detail}, refusal.status_code, refusal.headers)
            reply.headers["Connection"] = "close"  # the rest of the body is not read
            await reply(scope, receive, send_guarded)
        except Exception:
            log.exception("%s %s failed", scope["method"], path)
            if status:
                raise
            await JSONResponse({"error": UNKNOWN}, 500)(scope, receive, send_guarded)
        finally:
            if self._observer is not None:
                self._observer(scope, status, time.perf_counter() - began)

    def _locate(self, scope: Scope, headers: Headers) -> str:
        """Apply what the proxy says; return the path below the root path."""
        if scope["client"] and scope["client"][0] in self._proxies:
            scheme = headers.get("x-forwarded-proto", "")
            scope["scheme"] = scheme if scheme in ("http", "https") else scope["scheme"]
        root, path = self._root_path, str(scope["path"])
        if root and path != root and not path.startswith(f"{root}/"):
            scope["path"] = root + path
        scope["root_path"] = root
        return str(scope["path"]).removeprefix(root)

    def _check(self, scope: Scope, path: str, headers: Headers) -> None:
        """Refuse a request that is malformed or comes from another site."""
        size = sum(len(name) + len(value) for name, value in scope["headers"])
        if size + len(path) + len(scope["query_string"]) > LARGEST_HEAD:
            raise HTTPException(431, "The address or the headers are too long.")
        self._check_host(headers)
        if not path.isprintable():
            raise HTTPException(400, "The address has characters that no address here has.")
        if scope["method"] not in ("GET", "HEAD", "POST", "PUT"):
            raise HTTPException(405, "This is not done here.")
        own = [f"{scheme}://{headers['host'].lower()}" for scheme in ("http", "https")]
        foreign = any(origin.lower() not in own for origin in headers.getlist("origin"))
        linked = (
            scope["method"] in ("GET", "HEAD")
            and PAGE.fullmatch(path)
            and headers.get("sec-fetch-mode") == "navigate"
        )
        if foreign or (headers.get("sec-fetch-site") not in OWN_SITE and not linked):
            raise HTTPException(403, "The request comes from another site. Use samekind's page.")

    def _check_host(self, headers: Headers) -> None:
        given = [host.lower() for host in headers.getlist("host")]
        match = HOST.fullmatch(given[0]) if len(given) == 1 else None
        known = match is not None and (
            not self._hosts.isdisjoint((match["name"], f"{match['name']}:{match['port'] or 80}"))
            or (ANY_ADDRESS in self._hosts and address_of(match["name"]) is not None)
        )
        if not known:
            raise HTTPException(
                400, "This server does not go by that name. Use the address that samekind printed."
            )


def _check_length(headers: Headers, limit: int) -> None:
    length = headers.get("content-length", "0")
    if "content-length" in headers and "transfer-encoding" in headers:
        raise HTTPException(400, "A body has a length or comes in chunks, not both.")
    if not (length.isascii() and length.isdecimal()):
        raise HTTPException(400, "Content-Length must be a number.")
    if len(length) > 15 or int(length) > limit:
        raise _too_large(limit)


def _too_large(limit: int) -> HTTPException:
    return HTTPException(413, f"That is too much at once: at most {limit // 1024} kB are taken.")


def _bounded(receive: Receive, limit: int) -> Receive:
    """Return what receives a body of at most `limit` bytes, within `PATIENCE` seconds."""
    left, is_complete = limit, False
    until = asyncio.get_running_loop().time() + PATIENCE

    async def bounded() -> Message:
        nonlocal left, is_complete
        try:
            async with asyncio.timeout_at(None if is_complete else until):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408, "The rest of the request did not arrive.") from None
        left -= len(message.get("body", b""))
        is_complete = not message.get("more_body", False)
        if left < 0:
            raise _too_large(limit)
        return message

    return bounded
