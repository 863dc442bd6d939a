"""Serving the page until Ctrl-C."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterable
from urllib.parse import quote

import uvicorn
from fastapi import FastAPI

from samekind.project import Project
from samekind.web.app import make_app
from samekind.web.connections import BoundedConnection
from samekind.web.guard import ANY_ADDRESS, LARGEST_HEAD, LOCAL, address_of

__all__ = ["ServeError", "check_reach", "configure", "is_loopback", "serve"]

WILDCARDS = ("0.0.0.0", "::", "")
USUAL_PORT = 8720
SHORTEST_TOKEN = 8


class ServeError(ValueError):
    """The server cannot be started like this."""


def serve(
    project: Project,
    host: str = "127.0.0.1",
    port: int | None = None,
    *,
    token: str | None = None,
    allowed_hosts: Iterable[str] = (),
    open_browser: bool = True,
    on_ready: Callable[[str], None] | None = None,
) -> None:
    """Serve the labelling page until Ctrl-C, and close the project.

    Parameters
    ----------
    project : Project
        What is labelled.
    host : str
        The address to listen at. Others than this machine's own need a token.
    port : int or None
        0 takes a free one. None takes the usual one, so that browsers remember the page, or a free one if
        that is taken.
    token : str or None
        What a browser must know; it is part of the address that `on_ready` is given.
    allowed_hosts : iterable of str
        Further names that the server goes by, as ``"name"`` or ``"name:port"``.
    open_browser : bool
        Whether to open the page. Not done with a token, which others could read in the browser's command.
    on_ready : callable
        Called with the page's address once the server listens.

    Raises
    ------
    ServeError
        If the address is not this machine's own and there is no token, or it cannot be used.
    """
    check_reach(host, token)
    listening = _listen(host, port)
    port = listening.getsockname()[1]
    names = [f"{name}:{port}" for name in _names(host)]
    if host in WILDCARDS:
        names.append(ANY_ADDRESS)
    app = make_app(project, token=token, allowed_hosts=[*names, *allowed_hosts])
    secret = f"?token={quote(token, safe='')}" if token else ""

    def ready() -> None:
        if on_ready is not None:
            on_ready(f"http://{_reachable(host)}:{port}/{secret}")
        if open_browser and not token:
            near = "127.0.0.1" if host in WILDCARDS else _bracketed(host)
            page = f"http://{near}:{port}/"
            threading.Thread(target=webbrowser.open, args=(page,), daemon=True).start()

    with contextlib.suppress(KeyboardInterrupt):
        _Server(configure(app), ready, project.close).run(sockets=[listening])


def configure(app: FastAPI) -> uvicorn.Config:
    """Return how the application is served: nothing optional, sizes and connections bounded."""
    return uvicorn.Config(
        app,
        http=BoundedConnection,
        ws="none",
        loop="asyncio",
        lifespan="off",
        log_level="warning",
        access_log=False,  # addresses may hold the token
        proxy_headers=False,
        server_header=False,
        h11_max_incomplete_event_size=LARGEST_HEAD,
        timeout_graceful_shutdown=5,
    )


def check_reach(host: str, token: str | None) -> None:
    """Refuse to be reached by others without a token, or with one that is easily guessed."""
    if token is not None and not re.fullmatch(rf"[!-~]{{{SHORTEST_TOKEN},200}}", token):
        raise ServeError(
            f"a token has {SHORTEST_TOKEN} to 200 letters, digits or signs and no space, "
            f"this one {len(token)}. Choose another one."
        )
    if token is None and not is_loopback(host):
        raise ServeError(
            f"{host or 'every address'} can be reached by others, who could read your data and "
            "answer. Give a token that only those know who may, or listen on 127.0.0.1."
        )


class _Server(uvicorn.Server):
    def __init__(
        self, config: uvicorn.Config, ready: Callable[[], None], close: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._ready = ready
        self._close = close

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await super().shutdown(sockets)
        finally:
            self._close()  # here, because a signal is raised again, and may end the process, after it


def _listen(host: str, port: int | None) -> socket.socket:
    if port is None:
        with contextlib.suppress(ServeError):
            return _listen(host, USUAL_PORT)
        port = 0
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host.strip("[]"), port), family=family, backlog=100)
    except (OSError, OverflowError) as error:
        words = getattr(error, "strerror", None) or str(error)
        raise ServeError(
            f"cannot listen on {host}, port {port}: {words}. Choose another port, or 0 for a free one."
        ) from error


def is_loopback(host: str) -> bool:
    """Return whether an address can be reached from this machine only."""
    address = address_of(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def _names(host: str) -> list[str]:
    if is_loopback(host):
        return [*LOCAL, _bracketed(host)]
    own = socket.gethostname().lower()
    return [*LOCAL, _bracketed(host), own, f"{own}.local", socket.getfqdn().lower()]


def _bracketed(host: str) -> str:
    return f"[{host.strip('[]')}]" if ":" in host else host


def _reachable(host: str) -> str:
    """Return the address by which other machines reach this one, if it listens to them."""
    if host not in WILDCARDS:
        return _bracketed(host)
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # sends nothing; it only finds the way out
        return str(probe.getsockname()[0])
    return "127.0.0.1"
