"""The projects of a server. Each is opening, ready or failed, and fails or recovers on its own."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Literal, Self

from samekind.ledger import LedgerError, LedgerGone, LedgerStale, Links, ProjectPlace
from samekind.ledger.errors import ReplacedError
from samekind.project import Project, open_project, parent_of, part_name

__all__ = ["HostedProject", "Site", "State"]

log = logging.getLogger("samekind.web")

RETRY = 15.0  # seconds until a project that could not be opened is tried again
PATIENCE = 5.0  # seconds to wait for a project that is being opened when the server ends
FAILED = "The project cannot be opened at the moment; the server's log says why."

STAGES = {"reading": "Reading the data", "features": "Computing features"}

State = Literal["opening", "ready", "failed"]


class HostedProject:
    """A project of a server, and how far it is open.

    Parameters
    ----------
    name : str
        The project's name in addresses.
    place : Path, ProjectURL or None
        Where it is stored, if a `Site` opens it; None if somebody else does.

    Attributes
    ----------
    state : str
        "opening", "ready" or "failed".
    doing : str
        What is being done to open it, or why it failed.
    share : float
        How much of that is done, 0 to 1.
    project : Project or None
        The project, once it is ready.
    """

    def __init__(self, name: str, place: ProjectPlace | None = None) -> None:
        self.name = name
        self.place = place
        self.state: State = "opening"
        self.doing, self.share = "Opening the project", 0.0
        self.project: Project | None = None
        self.parent: HostedProject | None = None  # of a part
        self._parts: dict[int, HostedProject] = {}
        self._links: Links | None = None
        self._lock = threading.Lock()

    @property
    def links(self) -> Links:
        """The project's links; they can be read before the project is ready. A part has its parent's."""
        if self.parent is not None:
            return self.parent.links
        if self.place is None:
            raise LookupError("this project has no links")
        with self._lock:
            if self._links is None:
                self._links = Links(self.place)
            return self._links

    def progress(self, what: str, done: float, total: float = 1.0) -> None:
        """Note how far opening has come."""
        if self.state != "opening":  # one that failed says why until it is ready
            return
        self.doing = STAGES.get(what, what)
        self.share = round(min(1.0, max(0.0, done / total if total else 1.0)), 3)

    def part(self, number: int) -> HostedProject | None:
        """Return a part of the project, which opens in the background if need be; None if there is none."""
        project = self.project
        if project is None:
            return None
        if number not in project.parts.numbers:
            with suppress(LedgerError):
                project.catch_up()  # another server may have split the kind
            if number not in project.parts.numbers:
                return None
        with self._lock:
            found = self._parts.get(number)
            if found is None or found.state == "failed":
                found = self._parts[number] = HostedProject(part_name(self.name, number))
                found.parent = self
                threading.Thread(
                    target=found._open_part, args=(project, number), daemon=True
                ).start()
            return found

    def _open_part(self, parent: Project, number: int) -> None:
        try:
            self.ready(parent.parts.open(number))
        except Exception as error:  # the other projects are served all the same
            log.error("project %s could not be opened: %s", self.name, error)
            self.fail()

    def ready(self, project: Project) -> None:
        """Note that the project is open."""
        self.doing, self.share = "", 1.0
        self.project, self.state = project, "ready"

    def fail(self, why: str = FAILED) -> None:
        """Note that the project cannot be used; everybody with access reads the reason."""
        self.doing, self.state = why, "failed"

    def open(self, opener: Callable[..., Project]) -> None:
        """Open the project from its place. Any error is logged and sets the state to "failed"."""
        assert self.place is not None
        try:
            self.close()
            _ = self.links
            project = opener(self.place, progress=self.progress)
        except Exception as error:  # the other projects are served all the same
            words = str(error) if isinstance(error, LedgerError | ValueError | OSError) else ""
            log.error(
                "project %s could not be opened: %s", self.name, words or type(error).__name__,
                exc_info=None if words else error,
            )  # fmt: skip
            self.fail()
            return
        self.ready(project)
        log.info("project %s is open", self.name)

    def note_failure(self, error: LedgerError) -> None:
        """Have the project opened again if its file was replaced or its data changed."""
        is_other = isinstance(error, LedgerGone | LedgerStale)
        if not is_other and not isinstance(error.__cause__, ReplacedError):
            return
        if self.parent is not None and self.parent.project is not None:
            found = parent_of(self.name)
            assert found is not None
            self.parent.project.parts.forget(found[1])
        if self.parent is not None or self.place is not None:
            self.fail()

    def close(self) -> None:
        """Close the project and its links, after any act that is under way."""
        project, self.project = self.project, None
        if project is not None:
            project.close()
        with self._lock:
            self._parts.clear()  # they were closed with it
        with self._lock:
            links, self._links = self._links, None
        if links is not None:
            with suppress(LedgerError):
                links.close()


class Site:
    """All projects of a server.

    As a context manager it opens its projects one after the other in the background, retries those that fail,
    and closes all of them at the end.

    Parameters
    ----------
    hosted : sequence of HostedProject
        The projects.
    opener : callable
        Opens the project at a place; `progress` is told how far it is.
    """

    def __init__(
        self,
        hosted: Sequence[HostedProject],
        opener: Callable[..., Project] = open_project,
    ) -> None:
        self.projects = {one.name: one for one in hosted}
        self._opener = opener
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep_open, name="projects", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join(PATIENCE)
        for hosted in self.projects.values():
            hosted.close()

    def find(self, name: str) -> HostedProject | None:
        """Return a project, or a part of one, by its name in addresses."""
        numbers: list[int] = []
        while name not in self.projects:
            found = parent_of(name)
            if found is None:
                return None
            name, number = found
            numbers.append(number)
        hosted: HostedProject | None = self.projects[name]
        for number in reversed(numbers):
            hosted = None if hosted is None else hosted.part(number)
        return hosted

    def _keep_open(self) -> None:
        while True:
            for hosted in self.projects.values():
                if self._ended.is_set():
                    return
                if hosted.place is not None and hosted.state != "ready":
                    hosted.open(self._opener)
            if self._ended.wait(RETRY):
                return
