"""One act, one transaction: kills, failing writes, and two programs on one project (P1, P2)."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sqlite3
import sys
from contextlib import closing, contextmanager

import numpy as np
import pytest
import sqlalchemy as sa

from acts import (
    ACTS,
    SHEET,
    act_and_die,
    answer,
    contents,
    dump,
    open_at,
    prepare,
    prepare_sheet,
    truth,
    write_data,
)
from samekind import SAME
from samekind.ledger import LedgerError
from samekind.project import QuestionClosed

FAILURES = ("database or disk is full", "database is locked", "disk I/O error")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """Folders with projects in which every act has something to do: all, and an answer to a sheet."""
    folders = tmp_path_factory.mktemp("acts"), tmp_path_factory.mktemp("sheets")
    (folders[1] / SHEET).touch()
    for folder, bring in zip(folders, (prepare, prepare_sheet), strict=True):
        write_data(folder)
        with closing(open_at(folder)) as project:
            bring(project)
    return folders


@pytest.fixture
def folder(prepared, tmp_path, request):
    act = request.node.callspec.params.get("act") if hasattr(request.node, "callspec") else None
    return shutil.copytree(prepared[act == SHEET], tmp_path / "copy")


class Killed(BaseException):
    """The process ends here."""


@contextmanager
def watched(project, *, stop=None, fail=None, message=FAILURES[0]):
    """Count commits and writes of a project, and stop it around one commit or fail one write."""
    engine = project.session.ledger.store._engine
    counts = {"commit": 0, "write": 0}

    def before_commit(connection):
        if not connection.get_execution_options().get("samekind_reads"):
            counts["commit"] += 1
            if stop == ("before", counts["commit"]):
                raise Killed

    def execute(connection, cursor, statement, parameters, context, executemany):
        if statement.startswith(("INSERT", "UPDATE", "DELETE", "BEGIN IMMEDIATE")):
            counts["write"] += 1
            if fail == counts["write"]:
                raise sqlite3.OperationalError(message)

    sa.event.listen(engine, "commit", before_commit)
    sa.event.listen(engine, "before_cursor_execute", execute)
    try:
        yield counts
    finally:
        sa.event.remove(engine, "commit", before_commit)
        sa.event.remove(engine, "before_cursor_execute", execute)


def reopened(folder):
    with closing(open_at(folder)) as project:
        return contents(project)


@pytest.mark.parametrize("act", ACTS)
def test_an_act_is_one_transaction(folder, act, tmp_path):
    """P1, P2: stopped before its commit, or with a write that fails, it is not done at all."""
    path = folder / "mine.db"
    with (
        closing(open_at(shutil.copytree(folder, tmp_path / "twin"))) as twin,
        watched(twin) as counts,
    ):
        ACTS[act](twin)
    assert counts["commit"] == 1
    with closing(open_at(folder)) as project:
        before, kept = contents(project), dump(path)
        for write in range(counts["write"] + 1):
            message = FAILURES[write % len(FAILURES)]
            if write == 1 and message == FAILURES[1]:
                message = FAILURES[0]  # who begins waits for a lock
            stop = ("before", 1) if write == 0 else None
            wrong = pytest.raises(LedgerError, match="Nothing was changed")
            with (
                watched(project, stop=stop, fail=write, message=message),
                wrong if write else pytest.raises(Killed),
            ):
                ACTS[act](project)
            assert contents(project) == before
            assert dump(path) == kept
        ACTS[act](project)
        done = contents(project)
    assert done == reopened(folder) != before  # live and resumed are in one state


@pytest.fixture(scope="module")
def processes():
    """Return what starts processes that find everything imported and compiled."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # where the server finds us
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["acts_warm"])
        yield context


@pytest.mark.slow
@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("moment", ["before", "after"])
def test_killed_around_its_commit_an_act_is_not_done_or_done(
    folder, act, moment, tmp_path, processes
):
    twin = shutil.copytree(folder, tmp_path / "twin")
    with closing(open_at(twin)) as project:
        if moment == "after":
            ACTS[act](project)
        expected = contents(project)
    child = processes.Process(target=act_and_die, args=(folder, act, moment))
    child.start()
    child.join(120)
    assert child.exitcode == 9
    assert timeless(reopened(folder)) == timeless(expected)


def timeless(found):
    """Return what a project keeps but for the times."""
    lines = [line._replace(when=0) for line in found["lines"]]
    names = {row: name._replace(at=0) for row, name in found["names"].items()}
    return found | {"lines": lines, "names": names}


class TestTwoPrograms:
    def test_agree_after_every_act(self, folder):
        """P6: two programs, and one that opens the project later."""
        with closing(open_at(folder)) as one, closing(open_at(folder)) as two:
            for act in ACTS:
                doer, other = (one, two) if len(act) % 2 else (two, one)
                if act != "finish":
                    ACTS[act](doer)
                other.catch_up()
                assert contents(one) == contents(two) == reopened(folder)

    def test_only_one_of_two_answers_to_a_question_is_taken(self, folder):
        """P4, P7: two people have two questions, and each is answered once."""
        with closing(open_at(folder)) as one, closing(open_at(folder)) as two:
            question = one.next("ann", lineup=False)[0]
            assert two.next("bob", lineup=False)[0] != question
            one.answer(question.id, "same", who="ann")
            with pytest.raises(QuestionClosed):
                two.answer(question.id, "different", who="bob")
            pair = np.array([[question.a.row, question.b.row]])
            assert two.session.ledger.lookup(pair)[0] == SAME
            assert not two.session.n_contradictions

    def test_an_open_question_stays_open_when_another_one_changes_the_past(self, folder):
        with closing(open_at(folder)) as one, closing(open_at(folder)) as two:
            [question] = one.next("ann")
            two.answers.correct(
                *next((r.a, r.b) for r in two.answers.page().answers), "unsure", who="bob"
            )
            one.answer(question.id, truth(question), who="ann")

    def test_finish_is_kept_and_heeded(self, folder):
        with closing(open_at(folder)) as one, closing(open_at(folder)) as two:
            one.standing.finish()
            assert two.status().stop_reason == "user"
            assert two.next("bob") == []
            with closing(open_at(folder)) as later:
                assert later.next("cy") == []
                later.standing.resume()
                assert later.next("cy")
            assert one.next("ann")
            assert one.status().stop_reason is None
            two.standing.leave()  # is not to finish
            assert one.next("ann")


class TestAfterAChange:
    def test_what_was_taken_back_is_asked_first(self, folder):
        """P2, P5: undo leads back to the same question."""
        with closing(open_at(folder, lineup=1)) as project:
            for _ in range(12):
                [question] = project.next("ann")
                project.answer(question.id, truth(question), who="ann")
                project.undo(who="ann")
                assert project.next("ann")[0].id == question.id
                project.answer(question.id, truth(question), who="ann")

    def test_the_state_is_what_the_ledger_says(self, folder):
        rng = np.random.default_rng(3)
        with closing(open_at(folder)) as project:
            for _ in range(30):
                act = list(ACTS)[rng.integers(len(ACTS) - 1)]
                try:
                    ACTS[act](project)
                except (ValueError, IndexError, StopIteration):
                    answer(project, 2)
                assert_ledger_says_so(project)


def assert_ledger_says_so(project):
    """Rows of one cluster are the same by the ledger, and clusters are not.

    Unless answers contradict each other: then one to the pair itself counts.
    """
    session = project.session
    if session.n_contradictions:
        return
    members = {tuple(session.members_of(row)) for row in range(session.points.n)} - {()}
    for rows in members:
        pairs = np.array([[rows[0], other] for other in rows[1:]], dtype=np.intp).reshape(-1, 2)
        roots = session.ledger.log.implications.components(pairs.ravel()).reshape(-1, 2)
        assert (roots[:, 0] == roots[:, 1]).all()
    firsts = [rows[0] for rows in members]
    pairs = np.array([[a, b] for a in firsts for b in firsts if a < b], dtype=np.intp).reshape(
        -1, 2
    )
    roots = session.ledger.log.implications.components(pairs.ravel()).reshape(-1, 2)
    assert not ((roots[:, 0] == roots[:, 1]) & (roots[:, 0] >= 0)).any()
