"""Projects in files, which also know what they are about."""

from __future__ import annotations

import json
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

from samekind.data import Contents, Items, packed_rows, read_contents
from samekind.data import load as load_items
from samekind.engine import OtherDataError
from samekind.errors import DataError
from samekind.ledger import (
    Ledger,
    LedgerDamaged,
    LedgerError,
    LedgerMissing,
    ProjectPlace,
    ProjectURL,
)
from samekind.project.changes import (
    DataChange,
    compare_contents,
    keep_contents,
    kept_contents,
    take_in_data,
)
from samekind.project.parts import PART, items_of_part, place_of_parent, rows_of_part
from samekind.project.project import Project
from samekind.project.status import SETTINGS
from samekind.project.words import ROWS

__all__ = [
    "ITEMS",
    "SETTINGS",
    "cache_of",
    "changes_of_data",
    "data_of",
    "features_of",
    "kept_in",
    "make_project",
    "open_part",
    "open_project",
]

ITEMS, TITLE = "things", "title"  # in `settings`

Progress = Callable[[str, int, int], None]


def _place(given: str | ProjectPlace) -> ProjectPlace:
    if not isinstance(given, str):
        return given
    return ProjectURL(given) if "://" in given else Path(given)


def cache_of(path: ProjectPlace) -> Path:
    """Return where the features of a project's items are kept: beside it.

    Of a project on a server: in this folder, under its name.
    """
    if isinstance(path, ProjectURL):
        return Path(f"{path.name}.samekind")
    return path.with_suffix("") if path.suffix else path


def _map_of(path: ProjectPlace) -> Path:
    """Return where the map of a project is kept: beside it."""
    prefix = cache_of(path)
    return prefix.with_name(f"{prefix.name}.map.npz")


def data_of(ledger: Ledger) -> Path:
    """Return the file or folder that a project is about."""
    return Path(str(kept_in(ledger, ITEMS).get("data", "")))


def features_of(path: ProjectPlace) -> str | None:
    """Return what the things of a project are compared by; None if there is none, or it does not say."""
    if isinstance(path, Path) and (not path.is_file() or path.stat().st_size == 0):
        return None
    try:
        with Ledger(path, read_only=True) as ledger:
            kept = kept_in(ledger, ITEMS)
    except LedgerMissing:
        return None
    return kept.get("features") if kept else None


def make_project(
    items: Items,
    path: str | ProjectPlace | None,
    *,
    title: str | None = None,
    any_data: bool = False,
    overlap: float | None = None,
    **settings: Any,
) -> Project:
    """Return a project about some items; its file remembers them and the settings.

    Settings given now replace those that the file remembers; the others stay as they were. Where the data
    have changed since, rows are recognised by what they hold, and answers stay with them; `notices` of the
    project say what happened. `any_data` are taken in even if hardly a row is there again. `overlap`, if
    given, is kept with the project; it is no setting of what asks.
    """
    if path is None:
        return Project(items, title=title, overlap=overlap, **settings)
    path, items = _place(path), items.distinct()
    with Ledger(path) as ledger:
        before, title = kept_in(ledger, SETTINGS), title or ledger.settings.get(TITLE)
        notices = take_in_data(ledger, items, before, any_data=any_data)
    wanted = before | settings
    project = Project(items, path, title=title, overlap=overlap, **wanted)
    facts = {ITEMS: json.dumps(items.recipe()), SETTINGS: json.dumps(wanted), TITLE: project.title}
    if (rows := packed_rows(items.rows)) != project.ledger.settings.get(ROWS, ""):
        facts[ROWS] = rows
    ledger_now = project.ledger
    if ledger_now.items is None:
        keep_contents(ledger_now, items.contents())
    project.notices = notices
    project.overview.maps.keep_in(_map_of(path))
    if not facts.items() <= ledger_now.settings.items():
        with ledger_now.transaction():
            for key, value in facts.items():
                ledger_now.set(key, value)
    return project


def open_project(
    path: str | ProjectPlace,
    *,
    progress: Progress | None = None,
    read_only: bool = False,
    any_data: bool = False,
    on_items: Callable[[Items], object] | None = None,
    **settings: Any,
) -> Project:
    """Return a project from its file, with the items that it remembers; see `make_project`.

    `on_items` is called with them before anything is made of them.

    With `read_only` nothing is written, nobody is waited for, and the file may be one that cannot be written.
    """
    path = _place(path)
    with Ledger(path, read_only=True) as ledger:
        recipe, part = kept_in(ledger, ITEMS), _known_of_part(ledger)
    if not recipe:
        raise LedgerError(
            f"{path} does not say what it is about: it was not made by `samekind label`. Run "
            "`samekind label DATA --project` with the data that it was made with."
        )
    kept_beside = path if part is None else place_of_parent(path) or path
    items = load_items(**recipe, cache=cache_of(kept_beside), progress=progress).distinct()
    if part is not None:
        items = items_of_part(part, items)
    if on_items is not None:
        on_items(items)
    if read_only:
        return _open_to_read(items, path, settings)
    return make_project(items, path, any_data=any_data, **settings)


def open_part(items: Items, path: ProjectPlace, read_only: bool = False) -> Project:
    """Return the project of a part from its file; `items` are those of its parent."""
    with Ledger(path, read_only=True) as ledger:
        part = _known_of_part(ledger)
    if part is None:
        raise LedgerError(f"{path} is another project, and no part. Move it away, and split again.")
    own = items_of_part(part, items)
    return _open_to_read(own, path, {}) if read_only else make_project(own, path)


def _known_of_part(ledger: Ledger) -> Contents | None:
    """Return what a part knows of its items; None of a project that is no part."""
    return kept_contents(ledger) if PART in ledger.settings else None


def _open_to_read(items: Items, path: ProjectPlace, settings: dict[str, Any]) -> Project:
    reading = Ledger(path, read_only=True)
    try:
        _refuse_changed(reading, items, path)
        kept, title = kept_in(reading, SETTINGS), reading.settings.get(TITLE)
        project = Project(items, reading, title=title, **kept | settings)
        project.at_close.callback(reading.close)
        project.overview.maps.keep_in(_map_of(path), waits=True)
        return project
    except BaseException:
        reading.close()
        raise


class ComparedData(NamedTuple):
    """What the data of a project are called, how they have changed, and pictures that are left out."""

    source: str
    change: DataChange
    left_out: list[tuple[str, str]]


def changes_of_data(path: ProjectPlace) -> ComparedData | None:
    """Return how the data of a project differ from what it knows of them; None where it does not know.

    The data are read, but no features are made.
    """
    with Ledger(path, read_only=True) as ledger:
        recipe, known = kept_in(ledger, ITEMS), kept_contents(ledger)
        if known is None or "data" not in recipe:
            return None
        try:
            now, left_out = read_contents(recipe, known.columns, cache_of(path))
        except DataError as error:
            raise OtherDataError(f"this project belongs to other data: {error}") from error
        if now is None:
            return None
        if PART in ledger.settings:
            now = now.take(rows_of_part(known, now))
        return ComparedData(data_of(ledger).name, compare_contents(ledger, now), left_out)


def _refuse_changed(ledger: Ledger, items: Items, path: ProjectPlace) -> None:
    """Complain of data that have changed: who only reads cannot take that in."""
    known = kept_contents(ledger)
    if known is None or ledger.settings.get("fingerprint") == items.points.fingerprint():
        return
    now = items.contents(known.columns)
    change = None if now is None else compare_contents(ledger, now)
    if change is not None and not change.is_other_data and not change.is_same:
        raise DataError(
            f"{items.source} has changed since {path} was opened last: {change}. Take that in first: "
            f"samekind check {path} --take-in"
        )


def kept_in(ledger: Ledger, key: str) -> dict[str, Any]:
    """Return what a project keeps as JSON; the ledger has checked that it is such."""
    found = json.loads(ledger.settings.get(key, "{}"))
    names = signature(load_items).parameters if key == ITEMS else found
    unknown = next((name for name in found if name not in names), None)
    if unknown is not None:
        raise LedgerDamaged(
            f"the project is damaged, or of a newer samekind: it keeps {unknown!r} of its data, which is not "
            "known. Run `samekind label DATA --project` with the data that it was made with."
        )
    return dict(found)
