"""Serving the page until Ctrl-C."""

from __future__ import annotations

import contextlib
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import uvicorn
from anyio import to_thread
from fastapi import FastAPI
from uvicorn.config import LOGGING_CONFIG

from samekind.ledger import ProjectPlace
from samekind.project import Project, open_project
from samekind.web.app import make_app
from samekind.web.connections import MOST, BoundedConnection, ProxiedConnection
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

__all__ = ["Tls", "configure", "serve", "serve_team"]

PATIENCE = 30  # seconds in which a server for a team answers requests after it was told to end


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


def configure(
    app: FastAPI,
    *,
    tls: Tls | None = None,
    proxies: Sequence[str] = (),
    patience: int = 5,
    has_logs: bool = False,
) -> uvicorn.Config:
    """Return how the application is served: nothing optional, sizes and connections bounded.

    What a proxy says of who asks is believed if it comes from one of `proxies`. When the server ends,
    requests have `patience` seconds to be answered. `has_logs`: somebody else says how logs are written.
    """
    return uvicorn.Config(
        app,
        ssl_certfile=None if tls is None else tls.certificate,
        ssl_keyfile=None if tls is None else tls.key,
        forwarded_allow_ips=[*proxies],
        http=ProxiedConnection if proxies else BoundedConnection,
        ws="none",
        loop="asyncio",
        lifespan="off",
        log_level="warning",
        access_log=False,  # addresses may hold the token
        proxy_headers=bool(proxies),
        server_header=False,
        h11_max_incomplete_event_size=LARGEST_HEAD,
        timeout_graceful_shutdown=patience,
        log_config=None if has_logs else LOGGING_CONFIG,
    )


class Tls(NamedTuple):
    """Files for encrypted connections."""

    certificate: Path
    key: Path


def serve_team(
    places: Mapping[str, ProjectPlace],
    host: str = "127.0.0.1",
    port: int | None = None,
    *,
    names: Sequence[str] = (),
    root_path: str = "",
    proxies: Sequence[str] = (),
    tls: Tls | None = None,
    on_ready: Callable[[str], None] | None = None,
    overlap: float | None = None,
) -> None:
    """Serve several projects to people with personal links, until SIGTERM or Ctrl-C; close them.

    Parameters
    ----------
    places : mapping of str to Path or ProjectURL
        The projects, by their names in addresses.
    host, port : str, int or None
        Where to listen, as for `serve`.
    names : sequence of str
        Further names that the server goes by, ``"kinds.example"`` say.
    root_path : str
        Under which address a proxy has it, such as ``"/kinds"``.
    proxies : sequence of str
        Addresses of proxies whose forwarded headers are believed.
    tls : Tls or None
        Certificate and key, for connections without a proxy that encrypts.
    on_ready : callable
        Called with the server's address once it listens.
    overlap : float or None
        How many people are to answer each question of every project, as for `Project`; None is as before.
    """
    from samekind.web.logs import log_request
    from samekind.web.site import Site
    from samekind.web.team import make_team_app

    listening = listen(host, port)
    port = listening.getsockname()[1]
    own = [f"{name}:{port}" for name in names_of(host)]
    own += names_of(host) if port in (80, 443) else []
    own += [ANY_ADDRESS] if host in WILDCARDS else []
    site = Site(places, partial(open_project, overlap=overlap))
    app = make_team_app(
        site,
        allowed_hosts=[*own, *names],
        root_path=root_path,
        observer=log_request,
    )
    config = configure(app, tls=tls, proxies=proxies, patience=PATIENCE, has_logs=True)
    scheme = "http" if tls is None else "https"

    def ready() -> None:
        if on_ready is not None:
            on_ready(f"{scheme}://{reachable(host)}:{port}{root_path}/")

    def began() -> None:
        # a request may wait for its project; as many may as there are connections, or else they would keep
        # those of other projects waiting, too
        to_thread.current_default_thread_limiter().total_tokens = MOST
        ready()

    site.start()
    with contextlib.suppress(KeyboardInterrupt):
        _Server(config, began, site.close).run(sockets=[listening])


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
