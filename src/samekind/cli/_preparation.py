"""From a command to a page that can be answered: what is done meanwhile is said, on the page and here."""

from __future__ import annotations

import socket
import threading
import webbrowser
from collections.abc import Callable
from contextlib import ExitStack
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self

from samekind.cli._errors import UserError
from samekind.cli._passes import STAGES
from samekind.cli._warm_up import ABOUT, compiling

if TYPE_CHECKING:
    from rich.console import Console

    from samekind.data import Items
    from samekind.project import Project
    from samekind.warm_up import WarmUp
    from samekind.web import WaitingPage

Tick = Callable[[str, int, int], None]
# What takes long to load and no first question needs: proposed names, the map, the certificate.
LATER = ("scipy.optimize", "sklearn.neighbors", "sklearn.feature_extraction.text")
FIRST_LOOK = 1.0  # seconds in which a browser draws the first question


class Preparation:
    """Listens and says so at once, compiles ahead in other processes, and hands over to the real page.

    What fails is said on the page, too.
    """

    def __init__(self, screen: Console) -> None:
        self._screen = screen
        self._stack = ExitStack()
        self._page: WaitingPage | None = None
        self._serving: dict[str, Any] = {}
        self._is_loaded = False
        self._work: WarmUp | None = None

    def __enter__(self) -> Self:
        self._stack.__enter__()
        if self._screen.is_terminal:
            self._begin_to_compile()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: object) -> None:
        if self._page is not None:
            if error is not None and not isinstance(error, KeyboardInterrupt):
                self._page.fail(str(error))
            self._page.stop()
        self._stack.close()

    def listen(
        self,
        host: str,
        port: int | None,
        token: str | None,
        ready: Callable[[str], None],
        *,
        open_browser: bool,
    ) -> None:
        """Show what is being prepared, at once, where only this machine can see it and there is no token."""
        from samekind.web import ServeError, WaitingPage, is_loopback
        from samekind.web.reach import listen, reachable

        self._serving = {"host": host, "port": port, "token": token}
        self._serving |= {"on_ready": ready, "open_browser": open_browser}
        self._begin_to_compile()
        if not is_loopback(host) or token is not None:
            return
        try:
            listening = listen(host, port)
        except ServeError as error:
            raise UserError(str(error)) from error
        self._stack.callback(listening.close)
        self._page = WaitingPage(listening)
        self._serving = {"host": host, "listening": listening, "open_browser": False, "token": None}
        address = f"http://{reachable(host)}:{_port(listening)}/"
        ready(address)
        if open_browser:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    def heard_by(self, passes: Tick) -> Tick:
        """Return what is told how far data are loaded: the bar here, and the page."""

        def tick(what: str, done: int, total: int) -> None:
            passes(what, done, total)
            self._say(STAGES.get(what, what), done / total if total else 1.0)

        self._say("Reading the data", 0.0)
        if self._serving:  # what serves the page is loaded meanwhile
            threading.Thread(target=import_module, args=("samekind.web.app",), daemon=True).start()
        return tick

    def wait(self, items: Items) -> None:
        """Wait until all that a first question needs is compiled."""
        self._is_loaded = True
        if self._work is not None:
            from samekind.warm_up import sort_of_rows

            self._work.start(None if items.is_streamed else sort_of_rows(items.X))
            with self._screen.status(f"{ABOUT}, about 15 seconds …"):
                self._work.wait()
        self._say("Looking for the first question", 0.0)

    def go_on(self) -> None:
        """Compile and load all else, while somebody answers."""
        if self._work is not None:
            self._work.go_on()
        later = threading.Timer(FIRST_LOOK, _load, LATER)
        later.daemon = True
        later.start()

    def serve(self, project: Project) -> None:
        """Serve the page until Ctrl-C."""
        from samekind.web import ServeError, serve

        self.go_on()
        if self._page is not None:
            self._page.stop()
            self._page = None
        try:
            serve(project, **self._serving)
        except ServeError as error:
            raise UserError(str(error)) from error

    def _begin_to_compile(self) -> None:
        if self._work is None:
            self._work = self._stack.enter_context(compiling(self._heard))
            if self._work is not None:
                self._work.start()

    def _heard(self, what: str, share: float) -> None:
        if self._is_loaded:
            self._say(what, share)

    def _say(self, what: str, share: float) -> None:
        if self._page is not None:
            self._page.say(what, share)


def _load(*modules: str) -> None:
    for module in modules:
        import_module(module)


def _port(listening: socket.socket) -> int:
    return int(listening.getsockname()[1])
