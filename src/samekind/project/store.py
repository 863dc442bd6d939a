"""Projects in files, which also know what they are about."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from samekind.data import Items
from samekind.data import load as load_items
from samekind.ledger import LedgerError, SqlLedger
from samekind.project.project import Project

__all__ = ["cache_of", "data_of", "features_of", "make_project", "open_project"]

ITEMS, SETTINGS, TITLE = "things", "settings", "title"  # in `meta`

Progress = Callable[[str, int, int], None]


def cache_of(path: Path) -> Path:
    """Return where the features of a project's items are kept: beside it."""
    return path.with_suffix("") if path.suffix else path


def data_of(ledger: SqlLedger) -> Path:
    """Return the file or folder that a project is about."""
    return Path(str(json.loads(ledger.meta.get(ITEMS, "{}")).get("data", "")))


def features_of(path: Path) -> str | None:
    """Return what the things of a project are compared by; None if there is none, or it does not say."""
    if not path.is_file():
        return None
    with SqlLedger(path) as ledger:
        stored = ledger.meta.get(ITEMS)
    return None if stored is None else _recipe(stored).get("features")


def _recipe(stored: str) -> dict[str, Any]:
    """Return what a project remembers of its items; features had no names at first, and were plain."""
    recipe: dict[str, Any] = json.loads(stored)
    if not recipe.keys() & {"embeddings", "columns", "features"}:
        recipe["features"] = "plain"
    return recipe


def make_project(
    items: Items, path: Path | None, *, title: str | None = None, **settings: Any
) -> Project:
    """Return a project about some items; its file remembers them and the settings.

    Settings given now replace those that the file remembers; the others stay as they were.
    """
    if path is None:
        return Project(items, title=title, **settings)
    with SqlLedger(path) as ledger:
        before, title = json.loads(ledger.meta.get(SETTINGS, "{}")), title or ledger.meta.get(TITLE)
        answered = len(ledger) > 0
    wanted = before | settings
    if answered and _of_run(before) != _of_run(wanted):
        with closing(Project(items, path, **before)) as project:
            project.session.checkpoint()  # from here on with other settings
    project = Project(items, path, title=title, **wanted)
    ledger_now = project.session.ledger
    with ledger_now.transaction():
        for key, value in (
            (ITEMS, json.dumps(items.recipe())),
            (SETTINGS, json.dumps(wanted)),
            (TITLE, project.title),
        ):
            if ledger_now.meta.get(key) != value:
                ledger_now.set_meta(key, value)
    return project


def _of_run(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that decide what is asked; the budget only decides how much."""
    return {name: value for name, value in settings.items() if name != "budget"}


def open_project(path: Path, *, progress: Progress | None = None, **settings: Any) -> Project:
    """Return a project from its file, with the items that it remembers."""
    if not path.is_file():
        raise LedgerError(f"{path}: there is no such project. `samekind label DATA` makes one.")
    with SqlLedger(path) as ledger:
        stored = ledger.meta.get(ITEMS)
    if stored is None:
        raise LedgerError(
            f"{path} does not say what it is about: it was not made by `samekind label`. Run "
            "`samekind label DATA --project` with the data that it was made with."
        )
    items = load_items(**_recipe(stored), cache=cache_of(path), progress=progress)
    return make_project(items, path, **settings)
