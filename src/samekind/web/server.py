"""Serving an application over HTTP: addresses, limits on slow clients, and an end that loses nothing.

Uvicorn has no timeout for the request line and the headers, so `_hang_up` closes connections that keep the
server waiting for them. The guard bounds bodies. A client that does not read the reply is disconnected by the
kernel (on Linux). None of this stops somebody with many addresses: that takes a proxy.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import secrets
import signal
import socket
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

if TYPE_CHECKING:
    from starlette.types import ASGIApp
    from uvicorn.server import ServerState

__all__ = [
    "ANY_ADDRESS",
    "LARGEST_HEAD",
    "LOCAL",
    "ServeError",
    "Server",
    "Tls",
    "address_of",
    "bracketed",
    "hosts_of",
    "listen",
    "new_token",
    "reachable",
    "wait_for_end",
]

LOCAL = ("127.0.0.1", "localhost", "[::1]")
ANY_ADDRESS = "*"  # among allowed hosts: any numeric address, but no name
WILDCARDS = ("0.0.0.0", "::", "")
USUAL_PORT = 8720
LARGEST_HEAD = 16 * 1024  # bytes of the address and the headers
PARSED_HEAD = 16 * LARGEST_HEAD  # so many are read, for the guard to say what is wrong
HEAD_SECONDS = 10  # until a connection without a whole request head is closed
CONNECTIONS = 500  # at once; more get 503
UNREAD_SECONDS = 60  # until a client that does not read the reply is disconnected
PATIENCE = 30  # seconds that requests have to finish when the server is told to end


class ServeError(ValueError):
    """The server cannot be started like this."""


class Tls(NamedTuple):
    """Files for encrypted connections."""

    certificate: Path
    key: Path


class Server:
    """Serves an application in a thread of its own, as a context manager.

    Parameters
    ----------
    app : ASGI application
        What is served.
    listening : socket
        Where; it is closed in the end.
    tls : Tls or None
        Certificate and key.
    patience : int
        Seconds that requests have to finish in the end.
    """

    def __init__(
        self,
        app: ASGIApp,
        listening: socket.socket,
        *,
        tls: Tls | None = None,
        patience: int = PATIENCE,
    ) -> None:
        import uvicorn

        with contextlib.suppress(AttributeError, OSError):
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1000 * UNREAD_SECONDS)
        config = uvicorn.Config(
            app,
            http="h11",
            ws="none",
            loop="asyncio",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,  # the guard looks at them
            h11_max_incomplete_event_size=PARSED_HEAD,
            limit_concurrency=CONNECTIONS,
            timeout_keep_alive=HEAD_SECONDS,
            timeout_graceful_shutdown=patience,
            ssl_certfile=None if tls is None else tls.certificate,
            ssl_keyfile=None if tls is None else tls.key,
        )
        try:
            config.load()
        except OSError as error:
            listening.close()
            raise ServeError(f"the certificate and its key cannot be used: {error}.") from error
        self._server = uvicorn.Server(config)
        self._listening = listening
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), name="server")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.should_exit = True
        self._thread.join()

    async def _run(self) -> None:
        watching = asyncio.create_task(_hang_up(self._server.server_state))
        await self._server.serve(sockets=[self._listening])
        watching.cancel()


async def _hang_up(state: ServerState) -> None:
    """Close connections that have waited too long for a whole request head."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    waiting: dict[Any, float] = {}
    loop = asyncio.get_running_loop()
    while True:
        await asyncio.sleep(HEAD_SECONDS / 10)
        now = loop.time()
        http: set[Any] = {one for one in state.connections if isinstance(one, H11Protocol)}
        idle = {one for one in http if one.cycle is None or one.cycle.response_complete}
        waiting = {one: waiting.get(one, now) for one in idle}
        for one, since in waiting.items():
            if now - since > HEAD_SECONDS:
                one.transport.abort()


def wait_for_end() -> None:
    """Return after SIGTERM or Ctrl-C."""
    ended = threading.Event()
    before = {
        number: signal.signal(number, lambda *_: ended.set())
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        while not ended.wait(0.5):  # without a timeout Windows hears no Ctrl-C
            pass
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def listen(host: str, port: int | None) -> socket.socket:
    """Return a listening socket; port None is the usual one, or a free one if that is taken."""
    if port is None:
        with contextlib.suppress(ServeError):
            return listen(host, USUAL_PORT)
        port = 0
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host.strip("[]"), port), family=family, backlog=100)
    except (OSError, OverflowError) as error:
        words = getattr(error, "strerror", None) or str(error)
        raise ServeError(
            f"cannot listen on {host}, port {port}: {words}. Choose another port, or 0 for a free one."
        ) from error


def hosts_of(host: str, port: int) -> list[str]:
    """Return the names, with ports, of a server that listens at an address."""
    names = [*LOCAL, bracketed(host)]
    if not _is_loopback(host):
        own = socket.gethostname().lower()
        names += [own, f"{own}.local", socket.getfqdn().lower()]
    with_ports = [f"{name}:{port}" for name in names]
    return with_ports + names * (port in (80, 443)) + [ANY_ADDRESS] * (host in WILDCARDS)


def reachable(host: str) -> str:
    """Return the address under which a browser reaches a server that listens at an address."""
    if host not in WILDCARDS:
        return bracketed(host)
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # sends nothing: it finds the address of the way out
        return str(probe.getsockname()[0])
    return "127.0.0.1"


def new_token() -> str:
    """Return a token of 128 random bits."""
    return secrets.token_urlsafe(16)


def address_of(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return a numeric address, or None for a name."""
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None


def bracketed(host: str) -> str:
    """Return an address as it stands in a URL."""
    return f"[{host.strip('[]')}]" if ":" in host else host


def _is_loopback(host: str) -> bool:
    address = address_of(host)
    return host == "localhost" or (address is not None and address.is_loopback)
