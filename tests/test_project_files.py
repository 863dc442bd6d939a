"""Project files: old ones, several processes on one, and how often a click writes."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager, suppress
from functools import partial

import numpy as np
import pytest
import sqlalchemy as sa

from conftest import honest
from samekind.data import load
from samekind.project import (
    Project,
    ProjectError,
    make_project,
    open_project,
)
from test_ledger_faults import fork

KINDS = np.repeat(np.arange(4), 10)
CORNERS = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0], [9.0, 9.0]])
ROWS = CORNERS[KINDS] + np.stack([np.arange(40) % 5, np.arange(40) % 7], axis=1) / 8


truth = partial(honest, kinds=KINDS)


def answer(project, count, who="ann"):
    for _ in range(count):
        [question] = project.next(who)
        project.answer(question.id, truth(question), who=who)


@pytest.fixture
def rows(tmp_path):
    np.save(tmp_path / "rows.npy", ROWS)
    return tmp_path / "rows.npy"


@pytest.fixture
def project(rows, tmp_path):
    project = make_project(load(rows), tmp_path / "mine.db", random_state=0, sheet=0)
    yield project
    project.close()


class TestTwoProcesses:
    @staticmethod
    def label(rows, path, who, turns):
        """Answer, name, correct and merge, as a second process does beside the first."""
        project = Project(load(rows), path)

        def clusters():
            return [found.cluster for found in project.overview.all().clusters]

        def persist(act):
            """Act on what is there now, and again if the other one was quicker."""
            for _ in range(100):
                with suppress(ProjectError):
                    return act()
            raise AssertionError("the other one was always quicker")

        def answer_all():
            for question in project.next(who):  # none, if the other one has answered it
                project.answer(question.id, truth(question), who=who)

        for turn in range(turns):
            persist(answer_all)
            persist(lambda turn=turn: project.kinds.rename(clusters()[0], f"{who} {turn}", who=who))
            if turn % 5 == 4:
                persist(lambda: project.kinds.merge(clusters()[:2], who=who))
                project.undo(who=who)
            if turn % 5 == 2:
                said = project.answers.page(limit=1).answers[0]
                persist(
                    lambda said=said: project.answers.correct(said.a, said.b, said.answer, who=who)
                )
        project.close()

    def test_keep_all_that_either_does(self, project, rows, tmp_path):
        """P1, P6: two processes that answer, name, correct and merge."""
        path = tmp_path / "mine.db"
        answer(project, 4)
        writers = [fork(self.label, rows, path, who, 10) for who in ("bob", "cy")]
        for writer in writers:
            writer.join(120)
        assert [writer.exitcode for writer in writers] == [0, 0]
        ledger = project.session.ledger
        project.status()  # takes in what the others did
        assert ledger.revision.names == 20
        texts = {one.payload for one in ledger.log.since(0) if one.kind == "name"}
        assert texts == {f"{who} {turn}" for who in ("bob", "cy") for turn in range(10)}
        edits = [one for one in ledger.log.since(0) if one.kind == "edit"]
        assert len(edits) >= 4  # corrections, and merging what was told apart
        again = open_project(path)
        project.catch_up()
        assert again.status() == project.status()
        again.close()

    def test_two_open_projects_see_each_others_names(self, project, rows, tmp_path):
        answer(project, 8)
        other = open_project(tmp_path / "mine.db")
        cluster = project.overview.all().clusters[0].cluster
        before = other.status().revision
        project.kinds.rename(cluster, "mine", who="ann")
        assert other.status().revision != before
        assert next(c.name for c in other.overview.all().clusters if c.cluster == cluster) == "mine"
        other.kinds.rename(cluster, "ours", who="bob")
        assert (
            next(c.name for c in project.overview.all().clusters if c.cluster == cluster) == "ours"
        )
        other.close()


@contextmanager
def transactions(project):
    """Count the transactions of a project's database, by what they begin with."""
    begun = Counter()
    engine = project.session.ledger.store._engine

    def count(connection, cursor, statement, *_):
        begun[statement.split("(")[0].strip()] += 1

    sa.event.listen(engine, "before_cursor_execute", count)
    try:
        yield begun
    finally:
        sa.event.remove(engine, "before_cursor_execute", count)


class TestAClickWritesOnce:
    """Whatever a click does, it takes the lock of the database at most once."""

    def writes(self, project, act, *args, **options):
        with transactions(project) as begun:
            act(*args, **options)
        written = sum(many for what, many in begun.items() if what.startswith(("INSERT", "DELETE")))
        assert (written > 0) == (begun["BEGIN IMMEDIATE"] > 0)
        return begun["BEGIN IMMEDIATE"]

    def test_looking_writes_nothing(self, project, tmp_path):
        """P8: who looks takes no lock."""
        answer(project, 20)
        for look in (
            project.next,
            project.status,
            project.overview.all,
            project.overview.map,
            project.standing.history,
            project.answers.page,
            project.answers.contradictions,
            project.questions.skipped,
            project.standing.resume,
        ):
            assert self.writes(project, look) == 0
        for again in (1, 0):  # to finish or to go on is kept, once
            assert self.writes(project, project.standing.finish) == again
        for again in (1, 0):
            assert self.writes(project, project.standing.resume) == again
        assert self.writes(project, project.export, "clusters.csv", tmp_path / "c.csv") == 0
