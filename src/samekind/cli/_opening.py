"""The page of `samekind label`: it is served at once, and says how far the project is open."""

from __future__ import annotations

import os
import sys
import threading
import time
import webbrowser
from collections.abc import Callable
from contextlib import ExitStack
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Self

from samekind.cli._console import chat
from samekind.cli._errors import UserError, needs
from samekind.cli._places import Place, served_name

if TYPE_CHECKING:
    from rich.console import Console

    from samekind.data import Items
    from samekind.project import Project
    from samekind.web.server import Server
    from samekind.web.site import HostedProject

Tick = Callable[[str, int, int], None]
# Slow to load, and no first question needs it: proposed names, the map, the certificate.
LATER = ("scipy.optimize", "sklearn.neighbors", "sklearn.feature_extraction.text")
FIRST_LOOK = 1.0  # seconds in which a browser draws the first question
LAST_LOOK = 1.0  # seconds in which the page reads why it failed
LOCAL = "127.0.0.1"  # for others there is `samekind serve`
ENDING = 5  # seconds that requests have to finish when the page ends


class Opening:
    """Opens a project for somebody who waits: shows progress, and serves the page.

    Parameters
    ----------
    screen : Console
        Where progress is shown besides the page.
    """

    def __init__(self, screen: Console) -> None:
        self._screen = screen
        self._stack = ExitStack()
        self._hosted: HostedProject | None = None

    def __enter__(self) -> Self:
        self._stack.__enter__()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: object) -> None:
        if self._hosted is not None and error is not None and kind is not KeyboardInterrupt:
            self._hosted.fail(str(error))
            time.sleep(LAST_LOOK)
        self._stack.close()

    def serve(self, place: Place, port: int | None, *, open_browser: bool) -> None:
        """Print the address of the page, and serve it from now on."""
        from samekind.web.server import ServeError, hosts_of, listen, new_token

        try:
            listening = listen(LOCAL, port)
        except ServeError as error:
            raise UserError(str(error)) from error
        port = int(listening.getsockname()[1])
        name, token = served_name(place) or "project", new_token()
        page = f"http://{LOCAL}:{port}/p/{name}/#token={token}"
        chat(self._screen, f"\nThe page is at  {page}\nCtrl-C stops it; every answer is kept.")
        if open_browser:
            threading.Thread(target=webbrowser.open, args=(page,), daemon=True).start()
        from samekind.web.app import make_app
        from samekind.web.auth import TokenAuth
        from samekind.web.server import Server
        from samekind.web.site import HostedProject, Site

        self._hosted = HostedProject(name)
        site = Site([self._hosted])
        app = make_app(site, TokenAuth(site, token), allowed_hosts=hosts_of(LOCAL, port), home=name)
        server: Server = Server(app, listening, patience=ENDING)
        self._stack.enter_context(server)

    def heard_by(self, passes: Tick) -> Tick:
        """Return what hears how far the data are loaded, for the terminal and the page."""

        def tick(what: str, done: int, total: int) -> None:
            passes(what, done, total)
            self._say(what, done, total)

        self._say("reading", 0.0)
        return tick

    def loaded(self, _: Items) -> None:
        """Say that the first question is looked for; the very first time, functions are compiled."""
        self._say("Looking for the first question", 0.0)

    def go_on(self) -> None:
        """Load what no first question needs, while somebody answers."""
        later = threading.Timer(FIRST_LOOK, _load, LATER)
        later.daemon = True
        later.start()

    def hand_over(self, project: Project) -> None:
        """Show the project on the page until SIGTERM or Ctrl-C."""
        from samekind.web.server import wait_for_end

        assert self._hosted is not None
        self._hosted.ready(project)
        self.go_on()
        wait_for_end()
        self._hosted = None
        self._stack.close()

    def _say(self, what: str, done: float, total: float = 1.0) -> None:
        if self._hosted is not None:
            self._hosted.progress(what, done, total)


def check_packages() -> None:
    """Complain at once if the packages of the page are not installed."""
    with needs():
        for package in ("fastapi", "itsdangerous", "uvicorn"):
            if find_spec(package) is None:
                raise ModuleNotFoundError(f"No module named {package!r}", name=package)


def has_display() -> bool:
    """Return whether a browser could open a window here."""
    if sys.platform in ("darwin", "win32", "cygwin"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"))


def _load(*modules: str) -> None:
    for module in modules:
        import_module(module)
