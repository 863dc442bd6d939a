"""The projects of a server: opened one after the other in the background, each on its own.

One that cannot be opened, or breaks later, is tried again from time to time; the others go on meanwhile.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Literal

from samekind.ledger import LedgerError, LedgerGone, LedgerStale, Links, ProjectPlace, ProjectURL
from samekind.project import Project, open_project
from samekind.web.reach import ServeError

__all__ = ["HostedProject", "Site", "name_projects", "served_name"]

log = logging.getLogger("samekind.web")

RETRY = 15.0  # seconds until a project that could not be opened is tried again
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
State = Literal["opening", "ready", "failed"]


def served_name(place: ProjectPlace) -> str:
    """Return what a project is called in addresses, unless somebody says otherwise.

    Examples
    --------
    >>> served_name(Path("of/ann/messages.samekind.db"))
    'messages'
    """
    own = place.name if isinstance(place, ProjectURL) else place.stem.removesuffix(".samekind")
    return re.sub(r"[^A-Za-z0-9._-]+", "-", own).strip("-._")[:63]


def name_projects(given: Sequence[tuple[str, ProjectPlace]]) -> dict[str, ProjectPlace]:
    """Return projects by their names; an error says which cannot be told apart."""
    named: dict[str, ProjectPlace] = {}
    for wanted, place in given:
        name = wanted or served_name(place)
        if not NAME.fullmatch(name):
            raise ServeError(
                f"{place} cannot be called {name!r} in an address: letters, digits and . _ - only, at most "
                "63. Name it yourself: NAME=PROJECT"
            )
        if name in named:
            raise ServeError(
                f"{named[name]} and {place} are both called {name!r}. Name one yourself: NAME=PROJECT"
            )
        named[name] = place
    return named


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
                exc_info=None if words else error, extra={"project": self.name},
            )  # fmt: skip
            self.state = "failed"
            return
        self.state = "ready"
        log.info("project %s is open", self.name, extra={"project": self.name})

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
            self._thread.join()
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
