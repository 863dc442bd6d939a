"""A project: a file of answers that also knows what they are about."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from samekind.data import Items, load
from samekind.desk.desk import Desk
from samekind.ledger import LedgerError, SqlLedger

__all__ = ["cache_of", "make_desk", "open_desk"]

THINGS, SETTINGS, TITLE = "things", "settings", "title"

Progress = Callable[[str, int, int], None]


def cache_of(project: Path) -> Path:
    """Return where the features of a project are kept: beside it."""
    return project.with_suffix("") if project.suffix else project


def make_desk(
    things: Items, project: Path | None, *, title: str | None = None, **settings: Any
) -> Desk:
    """Return a desk for some things; its project remembers them and the settings.

    Settings given now replace those that the project remembers; the others stay as they were.
    """
    if project is None:
        return Desk(things, title=title, **settings)
    with SqlLedger(project) as ledger:
        before, title = json.loads(ledger.meta.get(SETTINGS, "{}")), title or ledger.meta.get(TITLE)
        answered = len(ledger) > 0
    wanted = before | settings
    if answered and _of_run(before) != _of_run(wanted):
        with closing(Desk(things, project, **before)) as desk:
            desk.session.checkpoint()  # from here on with other settings
    desk = Desk(things, project, title=title, **wanted)
    for key, value in (
        (THINGS, json.dumps(things.recipe())),
        (SETTINGS, json.dumps(wanted)),
        (TITLE, desk.title),
    ):
        if desk.session.ledger.meta.get(key) != value:
            desk.session.ledger.set_meta(key, value)
    return desk


def _of_run(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that decide what is asked; the budget only decides how much."""
    return {name: value for name, value in settings.items() if name != "budget"}


def open_desk(project: Path, *, progress: Progress | None = None, **settings: Any) -> Desk:
    """Return the desk of a project, with the things that it remembers."""
    if not project.is_file():
        raise LedgerError(f"{project}: there is no such project. `samekind label DATA` makes one.")
    with SqlLedger(project) as ledger:
        stored = ledger.meta.get(THINGS)
    if stored is None:
        raise LedgerError(
            f"{project} does not say what it is about: it was not made by `samekind label`. Run "
            "`samekind label DATA --project` with the data that it was made with."
        )
    things = load(**json.loads(stored), cache=cache_of(project), progress=progress)
    return make_desk(things, project, **settings)
