"""The labelling page and its server. It keeps nothing of its own, so it may be killed at any moment.

`app.make_app` puts the parts together. They are imported when they are used: the application takes a second.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from samekind.project import Project

__all__ = ["serving"]


@contextmanager
def serving(project: Project, host: str = "127.0.0.1", port: int | None = 0) -> Iterator[str]:
    """Serve the page of a project as long as the context lasts.

    Parameters
    ----------
    project : Project
        The project; close it afterwards.
    host, port : str, int or None
        Where to listen. Port 0 is a free one, None the usual one.

    Yields
    ------
    str
        The address of the page, with its token: ``http://127.0.0.1:8720/p/project/#token=…``.
    """
    from samekind.web.app import make_app
    from samekind.web.auth import TokenAuth
    from samekind.web.server import Server, hosts_of, listen, new_token, reachable
    from samekind.web.site import HostedProject, Site

    hosted = HostedProject("project")
    hosted.ready(project)
    site, token, listening = Site([hosted]), new_token(), listen(host, port)
    port = int(listening.getsockname()[1])
    app = make_app(
        site, TokenAuth(site, token), allowed_hosts=hosts_of(host, port), home=hosted.name
    )
    with Server(app, listening):
        yield f"http://{reachable(host)}:{port}/p/{hosted.name}/#token={token}"
