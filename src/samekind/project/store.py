"""Projects in files, which also know what they are about."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from inspect import signature
from pathlib import Path
from typing import Any

from samekind.data import Items
from samekind.data import load as load_items
from samekind.ledger import Ledger, LedgerDamaged, LedgerError, SqlLedger
from samekind.project.project import SETTINGS, Project

__all__ = [
    "ITEMS",
    "SETTINGS",
    "cache_of",
    "data_of",
    "features_of",
    "kept_in",
    "make_project",
    "open_project",
]

ITEMS, TITLE = "things", "title"  # in `meta`

Progress = Callable[[str, int, int], None]


def cache_of(path: Path) -> Path:
    """Return where the features of a project's items are kept: beside it."""
    return path.with_suffix("") if path.suffix else path


def data_of(ledger: Ledger) -> Path:
    """Return the file or folder that a project is about."""
    return Path(str(kept_in(ledger, ITEMS).get("data", "")))


def features_of(path: Path) -> str | None:
    """Return what the things of a project are compared by; None if there is none, or it does not say."""
    if not path.is_file() or path.stat().st_size == 0:
        return None
    with SqlLedger(path, read_only=True) as ledger:
        kept = kept_in(ledger, ITEMS)
    return _recipe(kept).get("features") if kept else None


def _recipe(kept: dict[str, Any]) -> dict[str, Any]:
    """Return what a project remembers of its items; features had no names at first, and were plain."""
    named = kept.keys() & {"embeddings", "columns", "features"}
    return kept if named else {**kept, "features": "plain"}


def make_project(
    items: Items, path: Path | None, *, title: str | None = None, **settings: Any
) -> Project:
    """Return a project about some items; its file remembers them and the settings.

    Settings given now replace those that the file remembers; the others stay as they were.
    """
    if path is None:
        return Project(items, title=title, **settings)
    with SqlLedger(path) as ledger:
        before, title = kept_in(ledger, SETTINGS), title or ledger.meta.get(TITLE)
        answered = len(ledger) > 0
    wanted = before | settings
    if answered and _of_run(before) != _of_run(wanted):
        with closing(Project(items, path, **before)) as project:
            project.session.checkpoint()  # from here on with other settings
    project = Project(items, path, title=title, **wanted)
    facts = {
        ITEMS: json.dumps(items.recipe()),
        SETTINGS: json.dumps(wanted),
        TITLE: project.title,
    }
    ledger_now = project.session.ledger
    if not facts.items() <= ledger_now.meta.items():
        with ledger_now.transaction():
            for key, value in facts.items():
                ledger_now.set_meta(key, value)
    return project


def _of_run(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that decide what is asked; the budget only decides how much."""
    return {name: value for name, value in settings.items() if name != "budget"}


def open_project(
    path: Path, *, progress: Progress | None = None, read_only: bool = False, **settings: Any
) -> Project:
    """Return a project from its file, with the items that it remembers.

    With `read_only` nothing is written, nobody is waited for, and the file may be one that cannot be written.
    """
    with SqlLedger(path, read_only=True) as ledger:
        recipe = kept_in(ledger, ITEMS)
        kept, title = kept_in(ledger, SETTINGS), ledger.meta.get(TITLE)
    if not recipe:
        raise LedgerError(
            f"{path} does not say what it is about: it was not made by `samekind label`. Run "
            "`samekind label DATA --project` with the data that it was made with."
        )
    items = load_items(**_recipe(recipe), cache=cache_of(path), progress=progress)
    if not read_only:
        return make_project(items, path, **settings)
    reading = SqlLedger(path, read_only=True)
    try:
        return _ReadProject(items, reading, title=title, **kept | settings)
    except BaseException:
        reading.close()
        raise


class _ReadProject(Project):
    """A project that closes the ledger that it was given."""

    def close(self) -> None:
        super().close()
        self.session.ledger.close()


def kept_in(ledger: Ledger, key: str) -> dict[str, Any]:
    """Return what a project keeps as JSON; the ledger has checked that it is such."""
    found = json.loads(ledger.meta.get(key, "{}"))
    names = signature(load_items).parameters if key == ITEMS else found
    unknown = next((name for name in found if name not in names), None)
    if unknown is not None:
        raise LedgerDamaged(
            f"the project is damaged, or of a newer samekind: it keeps {unknown!r} of its data, which is not "
            "known. Run `samekind label DATA --project` with the data that it was made with."
        )
    return dict(found)
