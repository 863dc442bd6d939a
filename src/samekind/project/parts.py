"""Parts: a kind that is split further, in a project of its own with a question of its own.

A part is about the rows that its kind had when it was split. It finds them in the data of its parent by what
they hold. Where it is kept follows from its parent's place and the kind's number: both can be moved together.
"""

from __future__ import annotations

import json
import re
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from samekind.data import Contents, Items, match_contents
from samekind.ledger import Ledger, LedgerMissing, ProjectPlace, ProjectURL
from samekind.project.words import ProjectError, check_name, name_in_table, numbered

if TYPE_CHECKING:
    from samekind.project.project import Project

__all__ = [
    "PART",
    "Parts",
    "items_of_part",
    "parent_of",
    "part_name",
    "place_of_parent",
    "place_of_part",
    "rows_of_part",
    "with_parts",
]

SPLIT = "split"  # in `settings` of a parent: the numbers of its kinds that are split
PART = "part"  # in those of a part: the number of its kind
NAME = re.compile(r"(?P<parent>.+)\.kind-(?P<number>[0-9]{1,9})")
ENDINGS = re.compile(r"(\.samekind)?\.[^.]+$")


class Parts:
    """The kinds of a project that are split further.

    Parameters
    ----------
    project : Project
        Their parent.

    Examples
    --------
    >>> from samekind.data import demo_items
    >>> from samekind.project import Project
    >>> project = Project(demo_items(), random_state=0)
    >>> project.kinds.place_in_new([0, 1, 2, 3], "curved")
    >>> project.kinds.place_in_new([4, 5, 6], "straight")
    >>> number = project.parts.split(0, "Is it written with one line?")
    >>> part = project.parts.open(number)
    >>> project.parts.numbers, part.title, part.standing.criterion
    ([1], 'digits / curved', 'Is it written with one line?')
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self._opened: dict[int, Project] = {}
        self._lock = threading.RLock()

    @property
    def numbers(self) -> list[int]:
        """The numbers of the kinds that are split."""
        found: list[int] = json.loads(self._project.ledger.settings.get(SPLIT, "[]"))
        return found

    def split(self, cluster: int, question: str = "") -> int:
        """Let the rows of a cluster be sorted further; return its number, by which `open` has the part.

        Again, it takes in which rows the cluster has now, unless the part is open. The question, if there is
        one, is its criterion.
        """
        criterion = check_name(question, "A criterion")
        project = self._project
        items = self._items(cluster)
        with project.state():
            ref = project.kinds.ref(project.kinds.members(cluster))
        with self._lock:
            if ref.number not in self._opened:
                title = f"{project.title} / {name_in_table(ref)}"
                self._opened[ref.number] = self._make(ref.number, items, title)
            part = self._opened[ref.number]
        if criterion:
            part.standing.set_criterion(criterion)
        with project.act():
            if ref.number not in self.numbers:
                project.ledger.set(SPLIT, json.dumps(sorted({*self.numbers, ref.number})))
        return ref.number

    def open(self, number: int) -> Project:
        """Return the project of a part; it is closed with its parent."""
        if number not in self.numbers:
            raise ProjectError(f"{numbered(number).capitalize()} is not split.")
        from samekind.project.files import open_part

        with self._lock:
            if number not in self._opened:
                place = self._place(number)
                assert place is not None  # or it would be open since it was split
                project = self._project
                self._opened[number] = open_part(project.items, place, project.ledger.read_only)
            return self._opened[number]

    def forget(self, number: int) -> None:
        """Close the project of a part; the next `open` reads it anew."""
        with self._lock:
            if (part := self._opened.pop(number, None)) is not None:
                part.close()

    def close(self) -> None:
        """Close the projects of all parts."""
        for number in list(self._opened):
            self.forget(number)

    def _items(self, cluster: int) -> Items:
        """Return what is known or predicted to be in a cluster, as items of their own."""
        project = self._project
        if project.is_records or project.items.is_streamed or project.items.contents() is None:
            raise ProjectError("Only texts, pictures and rows in memory can be split further.")
        now = project.moment()
        rows = np.flatnonzero(now.kinds.clusters().labels_ == now.kinds.label_of(cluster))
        if rows.size < 2:
            raise ProjectError("This kind has only one item. There is nothing to split.")
        return chosen_items(project.items, rows)

    def _make(self, number: int, items: Items, title: str) -> Project:
        from samekind.project.files import SETTINGS, kept_in, make_project

        parent = self._project.ledger
        settings = kept_in(parent, SETTINGS)
        settings = {name: value for name, value in settings.items() if name != "budget"}
        place = self._place(number)
        if place is not None:
            with suppress(LedgerMissing), Ledger(place, read_only=True) as there:
                if PART not in there.settings:
                    raise ProjectError(
                        f"{place} is another project. Move it away, and split again."
                    )
        part = make_project(items, place, title=title, any_data=True, **settings)
        if part.ledger.settings.get(PART) is None:
            with part.act():
                part.ledger.set(PART, str(number))
        return part

    def _place(self, number: int) -> ProjectPlace | None:
        store = self._project.ledger.store
        if store is None:
            return None
        where = store.place
        return place_of_part(ProjectURL(where) if "://" in where else Path(where), number)


def chosen_items(items: Items, chosen: NDArray[np.intp]) -> Items:
    """Return some items of a project with their copies."""
    copies = items.copies
    rows = chosen if copies is None else np.flatnonzero(np.isin(copies.item_of, chosen))
    return items.whole.take(rows).distinct()


def rows_of_part(known: Contents, now: Contents) -> NDArray[np.intp]:
    """Return which items of its parent a part knows, by what they hold."""
    places = match_contents(known, now).now
    return np.sort(places[places >= 0])


def items_of_part(known: Contents, items: Items) -> Items:
    """Return the items that a part knows among those of its parent."""
    now = items.contents(known.columns)
    if now is None:
        raise ProjectError(f"{items.source} has become too large to have parts.")
    return chosen_items(items, rows_of_part(known, now))


def part_name(parent: str, number: int) -> str:
    """Return what a part is called in addresses and files."""
    return f"{parent}.kind-{number}"


def parent_of(name: str) -> tuple[str, int] | None:
    """Return what the parent of a part is called, and the number of the kind; None for what is no part.

    Examples
    --------
    >>> parent_of("messages.kind-3"), parent_of("messages")
    (('messages', 3), None)
    """
    found = NAME.fullmatch(name)
    return None if found is None else (found["parent"], int(found["number"]))


def place_of_part(place: ProjectPlace, number: int) -> ProjectPlace:
    """Return where a part is kept: beside its parent.

    Examples
    --------
    >>> place_of_part(Path("of/ann/messages.samekind.db"), 3).as_posix()
    'of/ann/messages.kind-3.samekind.db'
    """
    return _beside(place, part_name(_name_of(place), number))


def place_of_parent(place: ProjectPlace) -> ProjectPlace | None:
    """Return where the parent of a part is kept; None if a place is that of no part."""
    found = parent_of(_name_of(place))
    return None if found is None else _beside(place, found[0])


def _name_of(place: ProjectPlace) -> str:
    return place.name if isinstance(place, ProjectURL) else ENDINGS.sub("", place.name)


def _beside(place: ProjectPlace, name: str) -> ProjectPlace:
    if isinstance(place, ProjectURL):
        url = sa.make_url(place.reveal()).update_query_dict({"project": name})
        return ProjectURL(url.render_as_string(hide_password=False))
    return place.with_name(name + place.name.removeprefix(_name_of(place)))


def with_parts(
    place: ProjectPlace, target: ProjectPlace
) -> list[tuple[ProjectPlace, ProjectPlace]]:
    """Return where a project and all its parts are, each with where it is if the project is elsewhere."""
    found = [(place, target)]
    with Ledger(place, read_only=True) as ledger:
        numbers = json.loads(ledger.settings.get(SPLIT, "[]"))
    for number in numbers:
        own, other = place_of_part(place, number), place_of_part(target, number)
        with suppress(LedgerMissing):  # somebody has deleted it
            found += with_parts(own, other)
    return found
