"""Project files: old ones, several processes on one, and how often a click writes."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa

from samekind.data import load
from samekind.project import (
    PairQuestion,
    Project,
    ProjectError,
    SheetAnswer,
    SheetQuestion,
    make_project,
    open_project,
)
from test_ledger_faults import fork

PROJECTS = Path(__file__).parent / "projects"
KINDS = np.repeat(np.arange(4), 10)
CORNERS = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0], [9.0, 9.0]])
ROWS = CORNERS[KINDS] + np.stack([np.arange(40) % 5, np.arange(40) % 7], axis=1) / 8


def truth(question):
    if isinstance(question, PairQuestion):
        return "same" if KINDS[question.a.row] == KINDS[question.b.row] else "different"
    if isinstance(question, SheetQuestion):
        kind = KINDS[question.cluster.cluster]
        return SheetAnswer([item.row for item in question.items if KINDS[item.row] != kind])
    own = KINDS[question.item.row]
    return next((o.cluster for o in question.options if KINDS[o.cluster] == own), "none")


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

    def test_every_act(self, project):
        answer(project, 20)
        answer(project, 4, "bob")
        writes = self.writes

        def ask(lineup=True):
            return project.next("ann", lineup=lineup)[0]

        question = ask()
        assert writes(project, project.answer, question.id, truth(question), who="ann") == 1
        question = ask(lineup=False)
        assert writes(project, project.answer, question.id, "skip", who="ann") == 1
        [skipped] = project.questions.skipped()
        assert writes(project, project.answer, skipped.id, truth(skipped), who="ann") == 1
        said = next(s for s in project.answers.page().answers if s.who == "ann" and s.asked)
        other = "same" if said.answer == "different" else "different"
        assert writes(project, project.answers.correct, said.a, said.b, other, who="bob") == 1
        assert writes(project, project.undo, who="bob") == 1  # brings ann's answer back
        assert project.session.ledger.answer_by(said.a, said.b, "ann") is not None
        clusters = [found.cluster for found in project.overview.all().clusters]
        assert writes(project, project.kinds.rename, clusters[0], "mine", who="ann") == 1
        assert writes(project, project.kinds.merge, clusters[:2], who="ann") == 1
        assert writes(project, project.undo, who="ann") == 1
        members = project.session.members_of(clusters[0])
        assert writes(project, project.kinds.remove, clusters[0], members[-1:], who="ann") == 1
        assert writes(project, project.undo, 3, who="bob") == 1  # what ann did later stays
        csv = "a,b,answer\n0,1,same\n0,39,different\n"
        assert writes(project, project.answers.import_csv, csv, who="cy") == 1

    def test_looking_writes_nothing(self, project, tmp_path):
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

    def test_every_route(self, project):
        web = pytest.importorskip("test_web_api", reason="needs the packages of the page")
        answer(project, 20, "")
        with web.Serving(project) as server:
            server.client.headers["X-Samekind-Who"] = "ann"

            def send(method, path, json=None, **options):
                response = server.client.request(method, f"/api/{path}", json=json, **options)
                assert response.status_code == 200, response.text

            def changes(method, path, json=None, **options):
                assert self.writes(project, send, method, path, json, **options) == 1

            question = project.next("ann", lineup=False)[0]
            body = {"id": question.id, "answer": truth(question)}
            changes("POST", "answers?lineup=false&most=3", body)
            question = project.next("ann", lineup=False)[0]
            changes("POST", "answers", {"id": question.id, "answer": "skip"})
            said = project.answers.page().answers[-1]
            changes("PUT", "answers", {"a": said.a, "b": said.b, "answer": "unsure"})
            changes("POST", "undo", {"count": 1})
            one, two, *_ = (found.cluster for found in project.overview.all().clusters)
            changes("PUT", f"clusters/{one}/name", {"name": "mine"})
            changes("POST", "clusters/merge", {"clusters": [one, two]})
            changes("POST", "undo", {"count": 1})
            row = project.session.members_of(one)[-1]
            changes("POST", f"clusters/{one}/remove", {"rows": [row]})
            csv = {"content": "a,b,answer\n0,1,same\n", "headers": {"Content-Type": "text/csv"}}
            changes("POST", "answers/import", **csv)
            for path in ("next", "status", "clusters", "map", "history", "answers", "skipped"):
                assert self.writes(project, send, "GET", path) == 0
            for path in ("finish", "resume"):
                changes("POST", path)
