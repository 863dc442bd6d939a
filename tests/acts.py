"""All acts of a user on a small project, by their names; and what a project is, to compare."""

from __future__ import annotations

import csv
import io
import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import sqlalchemy as sa

from samekind import UNSURE
from samekind.data import load
from samekind.project import (
    NewCluster,
    Project,
    ProjectError,
    QuestionClosed,
    Said,
    SheetAnswer,
)

ROWS, KINDS = 60, 4
SHEET = "sheet"  # the act that answers one, and the mark of a folder where they are asked


def write_data(folder: Path, rows: int = ROWS) -> Path:
    """Write a table of rows in four clear clusters; row i is in cluster i % 4."""
    rng = np.random.default_rng(0)
    kinds = np.arange(rows) % KINDS
    X = rng.normal(size=(rows, 2)) * 0.7 + 5 * np.column_stack([kinds % 2, kinds // 2])
    path = folder / "rows.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["x", "y"], *X.round(3).tolist()])
    return path


def open_at(folder: Path, **settings: object) -> Project:
    """Open the project in a folder, or at the address that is written there."""
    address = folder / "address"
    where = address.read_text() if address.exists() else folder / "mine.db"
    sheet = 12 if (folder / SHEET).exists() else 0
    settings = {"random_state": 0, "batch": 3, "lineup": 3, "sheet": sheet} | settings
    return Project(load(folder / "rows.csv"), where, **settings)


def truth(question: object) -> Said:
    """Answer a question truly."""
    if question.type == "pair":
        return "same" if question.a.row % KINDS == question.b.row % KINDS else "different"
    if question.type == "sheet":
        kind = question.cluster.cluster % KINDS
        return SheetAnswer([item.row for item in question.items if item.row % KINDS != kind])
    kind = question.item.row % KINDS
    return next((o.cluster for o in question.options if o.cluster % KINDS == kind), "none")


def answer(project: Project, count: int, who: str = "ann") -> None:
    """Answer some questions truly."""
    for _ in range(count):
        question = next(iter(project.next(who)), None)
        if question is not None:
            project.answer(question.id, truth(question), who=who)


def prepare_sheet(project: Project) -> None:
    """Bring a project so far that a sheet is asked."""
    while project.next("ann")[0].type != "sheet":
        answer(project, 1)


def prepare(project: Project) -> None:
    """Bring a project so far that every act has something to do."""
    for who in ["ann"] * 14 + ["bob"] * 6:
        if len(_unknown(project)) > ROWS // 2:
            answer(project, 1, who)
    [question] = project.next("ann", lineup=False)
    project.answer(question.id, "skip", who="ann")
    answer(project, 3, "ann")
    project.kinds.rename(first_clusters(project)[0], "noughts", who="ann")
    rows = [row for row in range(ROWS) if not project.session.members_of(row)]
    for row in rows[:2]:  # of which nobody can tell
        others = first_clusters(project)
        project.session.change([[row, other] for other in others], [UNSURE] * len(others))


def first_clusters(project: Project) -> list[int]:
    """Return the rows that stand for the clusters, those with most known rows first."""
    members = [tuple(rows) for rows in project.session.known_clusters() if rows]
    return [rows[0] for rows in sorted(members, key=lambda rows: (-len(rows), rows))]


def _next_pair(project: Project) -> str:
    return project.next("ann", lineup=False)[0].id


def _answered(project: Project, answer: str, who: str) -> tuple[int, int]:
    records = project.answers.page(limit=1000).answers
    return next((r.a, r.b) for r in records if (r.answer, r.who) == (answer, who))


def _import(project: Project) -> None:
    text = io.StringIO()
    lines = [("a", "b", "answer"), (0, 4, "same"), (1, 5, "same"), (40, 41, "different")]
    csv.writer(text).writerows(lines)
    project.answers.import_csv(text.getvalue(), who="ann")


def _say_cluster(project: Project) -> None:
    [question] = project.next("ann")
    row = question.item.row if question.type == "lineup" else question.a.row
    elsewhere = [c for c in first_clusters(project) if c % KINDS != row % KINDS]
    project.answer(question.id, elsewhere[-1], who="ann")


def _unknown(project: Project) -> list[int]:
    return [row for row in range(ROWS) if not project.session.members_of(row)]


def _answer_lineup(project: Project) -> None:
    [question] = project.next("ann")
    project.answer(question.id, truth(question), who="ann")


ACTS = {
    "answer": lambda p: p.answer(_next_pair(p), "same", who="ann"),
    "line-up": _answer_lineup,
    "skip": lambda p: p.answer(_next_pair(p), "skip", who="ann"),
    "answer what was skipped": lambda p: p.answer(
        p.questions.skipped()[0].id, "different", who="ann"
    ),
    "say which kind": _say_cluster,
    "say it is new": lambda p: p.answer(p.next("ann")[0].id, NewCluster("news"), who="ann"),
    "place": lambda p: p.kinds.place(_unknown(p)[:3], first_clusters(p)[1], who="ann"),
    "move": lambda p: p.kinds.place(
        p.session.members_of(first_clusters(p)[0])[:1], first_clusters(p)[1], who="ann"
    ),
    "place in a new kind": lambda p: p.kinds.place_in_new(_unknown(p)[:3], "more", who="ann"),
    "criterion": lambda p: p.standing.set_criterion("They look alike."),
    "rename": lambda p: p.kinds.rename(first_clusters(p)[1], "ones", who="ann"),
    "merge": lambda p: p.kinds.merge(first_clusters(p)[:2], who="ann"),
    "remove": lambda p: p.kinds.remove(
        first_clusters(p)[0], p.session.members_of(first_clusters(p)[0])[1:3], who="ann"
    ),
    "correct own": lambda p: p.answers.correct(
        *_answered(p, "same", "ann"), "different", who="ann"
    ),
    "correct another's": lambda p: p.answers.correct(
        *_answered(p, "same", "bob"), "different", who="ann"
    ),
    "import": _import,
    SHEET: _answer_lineup,
    "undo": lambda p: p.undo(who="ann"),
    "undo several": lambda p: p.undo(4),
    "finish": lambda p: p.standing.finish(),
}


def contents(project: Project) -> dict[str, object]:
    """Return all that a project keeps and where it stands."""
    ledger, session = project.session.ledger, project.session
    return {
        "lines": list(ledger.lines()),
        "names": dict(ledger.log.names),
        "numbers": {
            tuple(m): project.kinds.numbers.of(m[0]) for m in session.known_clusters() if m
        },
        "finished": ledger.settings.get("finished", ""),
        "criterion": project.standing.criterion,
        "revision": ledger.revision,
        "members": [session.members_of(row) for row in range(session.points.n)],
        "labels": project.clusters().labels_.tolist(),
        "questions": session.n_questions,
        "stop": session.stop_reason,
        "certificate": str(project.clusters().certificate_),
    }


def dump(path: Path) -> dict[str, list[Any]]:
    """Return all that a project's file holds, but for who is looking at which question."""
    with closing(sqlite3.connect(path)) as connection:
        connection.text_factory = bytes
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        names = sorted({name.decode() for (name,) in tables} - {"leases"})
        return {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in names}


def act_and_die(folder: Path, act: str, moment: str) -> None:
    """Do one act, and end right before or right after its commit."""
    project = open_at(folder)
    commit = sa.engine.default.DefaultDialect.do_commit

    def commit_and_die(self: Any, connection: Any) -> None:
        [waits_for_disk] = connection.execute("PRAGMA synchronous").fetchone()
        if connection.total_changes and waits_for_disk == 2:  # not where leases are written
            if moment == "after":
                commit(self, connection)
            os._exit(9)
        commit(self, connection)

    sa.engine.default.DefaultDialect.do_commit = commit_and_die
    ACTS[act](project)


def act_until_killed(folder: Path, seed: int, told: Path) -> None:
    """Do random acts for ever, and write down what was acknowledged: how much of each there is."""
    rng = np.random.default_rng(seed)
    project = open_at(folder)
    names = list(ACTS)
    while True:
        act = names[rng.integers(len(names))] if rng.random() < 0.5 else "line-up"
        try:
            ACTS[act](project)
            if act == "finish":
                project.standing.resume()
        except (IndexError, StopIteration, QuestionClosed, ValueError):
            continue  # nothing to do it to
        now = project.session.ledger.revision
        with told.open("a") as file:  # a line at once, or nothing
            file.write(f"{now.answers} {now.retracted} {now.names}\n")


def act_together(folder: Path, number: int, in_all: int, done: Any, start: Any, stop: Any) -> None:
    """Act on a project as other programs do, until there were enough acts; write down what was told."""
    who, rng = f"p{number}", np.random.default_rng(number)
    told: dict[str, Any] = {"answers": [], "names": [], "seconds": [], "acts": 0}
    own = folder / f"own-{number}"
    own.mkdir()
    write_data(own)
    with closing(open_at(own)) as project:
        prepare(project)  # so that all begin alike, with everything compiled
        for act in ACTS.values():
            act(project)
    project = open_at(folder)
    start.wait()
    while done.value < in_all:
        share, began, acted = rng.random(), perf_counter(), False
        try:
            if share < 0.8:
                [question] = project.next(who, lineup=False)
                said = truth(question) if rng.random() < 0.97 else "different"
                project.answer(question.id, said, who=who)
                told["answers"].append([question.a.row, question.b.row, int(said == "same")])
            elif share < 0.85:
                row, name = first_clusters(project)[0], f"name {rng.integers(10**9)}"
                project.kinds.rename(row, name, who=who)
                told["names"].append(name)
            elif share < 0.88:
                project.kinds.merge(first_clusters(project)[:2], who=who)
            elif share < 0.94:
                records = project.answers.page(limit=1000).answers
                record = records[rng.integers(len(records))]
                right = "same" if record.a % KINDS == record.b % KINDS else "different"
                project.answers.correct(record.a, record.b, right, who=who)
            else:
                project.undo(who=who)
            acted = True
        except (QuestionClosed, ProjectError, ValueError, IndexError):
            pass  # somebody else was quicker
        told["seconds"].append(perf_counter() - began)
        if acted:
            told["acts"] += 1
            with done.get_lock():
                done.value += 1
    stop.wait()
    project.catch_up()
    out = folder / f"out-{number}"
    out.mkdir()
    for name in ("answers.csv", "clusters.csv", "clusters.json", "clusters.parquet"):
        project.export(name, out / name)
    told["pending"] = project.session.pending().tolist()
    (folder / f"told-{number}.json").write_text(json.dumps(told))
    project.close()
