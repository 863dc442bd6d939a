"""Serving the page until Ctrl-C."""

from __future__ import annotations

import contextlib
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
from samekind.web.guard import LARGEST_HEAD
from samekind.web.reach import (
    ANY_ADDRESS,
    WILDCARDS,
    bracketed,
    check_reach,
    listen,
    names_of,
    reachable,
)

__all__ = ["configure", "serve"]


def serve(
    project: Project,
    host: str = "127.0.0.1",
    port: int | None = None,
    *,
    token: str | None = None,
    allowed_hosts: Iterable[str] = (),
    open_browser: bool = True,
    on_ready: Callable[[str], None] | None = None,
    listening: socket.socket | None = None,
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
    listening : socket or None
        One that listens already, at `host`.

    Raises
    ------
    ServeError
        If the address is not this machine's own and there is no token, or it cannot be used.
    """
    check_reach(host, token)
    listening = listening or listen(host, port)
    port = listening.getsockname()[1]
    names = [f"{name}:{port}" for name in names_of(host)]
    if host in WILDCARDS:
        names.append(ANY_ADDRESS)
    app = make_app(project, token=token, allowed_hosts=[*names, *allowed_hosts])
    secret = f"?token={quote(token, safe='')}" if token else ""

    def ready() -> None:
        if on_ready is not None:
            on_ready(f"http://{reachable(host)}:{port}/{secret}")
        if open_browser and not token:
            near = "127.0.0.1" if host in WILDCARDS else bracketed(host)
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
