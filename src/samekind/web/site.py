"""The projects of a server: opened one after the other in the background, each on its own.

One that cannot be opened, or breaks later, is tried again from time to time; the others go on meanwhile.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Literal

from samekind.ledger import LedgerError, LedgerGone, LedgerStale, Links, ProjectPlace
from samekind.project import Project, open_project

__all__ = ["HostedProject", "Site"]

log = logging.getLogger("samekind.web")

RETRY = 15.0  # seconds until a project that could not be opened is tried again
PATIENCE = 5.0  # seconds for which one that is being opened is waited for when the server ends
State = Literal["opening", "ready", "failed"]


class HostedProject:
    """A project of a server, open or not yet.

    Attributes
    ----------
    name : str
        What it is called in addresses.
    state : str
        "opening", "ready" or "failed".
    """

    def __init__(self, name: str, place: ProjectPlace) -> None:
        self.name = name
        self.place = place
        self.state: State = "opening"
        self._project: Project | None = None
        self._links: Links | None = None
        self._lock = threading.Lock()

    @property
    def project(self) -> Project | None:
        """The project, once it is open."""
        return self._project

    @property
    def links(self) -> Links:
        """Who may come in; known before the project is open."""
        with self._lock:
            if self._links is None:
                self._links = Links(self.place)
            return self._links

    def open(self, opener: Callable[[ProjectPlace], Project]) -> None:
        """Open the project, or note and log that it cannot be opened."""
        try:
            self.close()
            _ = self.links
            self._project = opener(self.place)
        except Exception as error:  # whatever is wrong with one, the others are served
            words = str(error) if isinstance(error, LedgerError | ValueError | OSError) else ""
            log.error(
                "project %s could not be opened: %s", self.name, words or type(error).__name__,
                exc_info=None if words else error,
            )  # fmt: skip
            self.state = "failed"
            return
        self.state = "ready"
        log.info("project %s is open", self.name)

    def note_failure(self, error: LedgerError) -> None:
        """Have the project opened again if nothing else helps: its file was replaced, or its data changed."""
        if isinstance(error, LedgerGone | LedgerStale) and self.state == "ready":
            self.state = "failed"

    def close(self) -> None:
        """Close the project and its links; whoever is in the middle of an act finishes that before."""
        project, self._project = self._project, None
        if project is not None:
            project.close()
        with self._lock:
            links, self._links = self._links, None
        if links is not None:
            with suppress(LedgerError):
                links.close()


class Site:
    """All projects of a server.

    Parameters
    ----------
    places : mapping of str to Path or ProjectURL
        Projects by their names in addresses.
    opener : callable
        Opens one.
    """

    def __init__(
        self,
        places: Mapping[str, ProjectPlace],
        opener: Callable[[ProjectPlace], Project] = open_project,
    ) -> None:
        self.projects = {name: HostedProject(name, place) for name, place in places.items()}
        self._opener = opener
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep_open, name="projects", daemon=True)

    def start(self) -> None:
        """Begin to open the projects."""
        self._thread.start()

    def close(self) -> None:
        """Close all projects."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(PATIENCE)
        for hosted in self.projects.values():
            hosted.close()

    def _keep_open(self) -> None:
        while True:
            for hosted in self.projects.values():
                if self._ended.is_set():
                    return
                if hosted.state != "ready":
                    hosted.open(self._opener)
            if self._ended.wait(RETRY):
                return
