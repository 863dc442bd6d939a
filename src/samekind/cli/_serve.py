"""``samekind serve``."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from samekind.cli import _options as options
from samekind.cli._console import chat
from samekind.cli._errors import UserError, explained, needs, users_values
from samekind.cli._places import Place, no_project, place_of, served_name

EXAMPLES = """[bold]Examples[/bold]

samekind serve messages.samekind.db photos.samekind.db

samekind serve messages.samekind.db --host 0.0.0.0 --name kinds.example --certificate cert.pem --key key.pem

samekind serve messages.samekind.db --overlap 2

samekind serve 'postgresql+psycopg://ann@db.example/kinds?project=messages' --behind-proxy 127.0.0.1 --name kinds.example
"""  # noqa: E501
SECRET = "SAMEKIND_SECRET"  # in the environment: signs the passes of browsers
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
NAMED = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)=(?P<place>.+)")

_network, _proxy = (partial(options.option, p) for p in ("Where it listens", "Behind a proxy"))
_served = typer.Argument(
    metavar="PROJECT…",
    help="Projects that samekind label made: files, or databases' URLs. NAME=PROJECT gives one its name "
    "in addresses.",
)
Served = Annotated[list[str], _served]
ServeHost = Annotated[str, _network("ADDRESS", "The address to listen at; 0.0.0.0 is every one.")]
_port = _network(
    "N", "The port; by default 8720, or a free one if that is taken.", min=0, max=65535
)
ServePort = Annotated[int | None, _port]
_name = _network(
    "NAME", "A name of the server in browsers, such as kinds.example; may be repeated.", "--name"
)
ServerNames = Annotated[list[str] | None, _name]
_certificate = _network("FILE", "A certificate and its chain, in PEM, to speak https.")
Certificate = Annotated[Path | None, _certificate]
Key = Annotated[Path | None, _network("FILE", "The key of the certificate, in PEM.")]
_root_path = _proxy("PATH", "The path under which the proxy has the server, such as /kinds.")
RootPath = Annotated[str, _root_path]
_behind = _proxy(
    "ADDRESS", "The proxy's address; its X-Forwarded-Proto is believed. May be repeated."
)
BehindProxy = Annotated[list[str] | None, _behind]


@explained
def serve(
    projects: Served,
    host: ServeHost = "127.0.0.1",
    port: ServePort = None,
    name: ServerNames = None,
    certificate: Certificate = None,
    key: Key = None,
    root_path: RootPath = "",
    behind_proxy: BehindProxy = None,
    overlap: options.Overlap = None,
) -> int:
    """Serve projects to a team. Everybody has a personal link.

    samekind links makes them. SIGTERM or Ctrl-C ends the server; every answer is kept.
    """
    from rich.console import Console

    from samekind.project import check_overlap, open_project

    if overlap is not None:
        with users_values():
            check_overlap(overlap)
    if (certificate is None) != (key is None):
        raise UserError("--certificate and --key belong together: give both, or neither.")
    for file in (certificate, key):
        if file is not None and not file.is_file():
            raise UserError(f"{file} does not exist. Check the name.")
    places = name_projects(projects)
    with needs():
        from samekind.web.app import make_app
        from samekind.web.auth import LinkAuth
        from samekind.web.logs import log_request, write_logs
        from samekind.web.server import (
            ServeError,
            Server,
            Tls,
            hosts_of,
            listen,
            reachable,
            wait_for_end,
        )
        from samekind.web.site import HostedProject, Site
    root = f"/{root_path.strip('/')}" if root_path.strip("/") else ""
    site = Site(
        [HostedProject(called, place) for called, place in places.items()],
        partial(open_project, overlap=overlap),
    )
    with users_values():
        auth = LinkAuth(site, os.environ.get(SECRET), root_path=root)
    tls = None if certificate is None or key is None else Tls(certificate, key)
    try:
        listening = listen(host, port)
        port = int(listening.getsockname()[1])
        app = make_app(
            site,
            auth,
            allowed_hosts=[*hosts_of(host, port), *(name or ())],
            root_path=root,
            proxies=behind_proxy or (),
            observer=log_request,
        )
        server = Server(app, listening, tls=tls)
    except ServeError as error:
        raise UserError(str(error)) from error
    write_logs()
    with site, server:
        address = f"{'http' if tls is None else 'https'}://{reachable(host)}:{port}{root}"
        pages = "\n".join(f"  {address}/p/{called}/" for called in places)
        chat(
            Console(stderr=True),
            f"\nThe pages are at\n{pages}\nPeople open them by their links: samekind links add PROJECT NAME "
            f"--url {address}\nCtrl-C stops the server; every answer is kept.",
        )
        wait_for_end()
    return 0


def name_projects(given: Sequence[str]) -> dict[str, Place]:
    """Return places by their names in addresses; each is given as ``PROJECT`` or ``NAME=PROJECT``."""
    named: dict[str, Place] = {}
    for one in given:
        found = NAMED.fullmatch(one)
        place = place_of(found["place"] if found else one)
        name = found["name"] if found else served_name(place)
        if not NAME.fullmatch(name):
            raise UserError(
                f"{place} cannot be called {name!r} in an address: letters, digits and . _ - only, at most "
                "63. Name it yourself: NAME=PROJECT"
            )
        if name in named:
            raise UserError(
                f"{named[name]} and {place} are both called {name!r}. Name one yourself: NAME=PROJECT"
            )
        if why := no_project(place):  # a damaged one is tried again while others are served
            raise UserError(why)
        named[name] = place
    return named
