"""A project: questions in any order, line-ups, undo, kinds changed by hand, imports, exports, resuming."""

from __future__ import annotations

import csv
import json
import sqlite3
import threading
import time
from contextlib import closing
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import honest
from samekind import DIFFERENT, SAME, Clusters, Session
from samekind.data import demo_items, load
from samekind.ledger import Ledger, LedgerError, pairs_of
from samekind.project import (
    LineupQuestion,
    PairQuestion,
    Project,
    ProjectError,
    QuestionClosed,
    SheetAnswer,
    SheetQuestion,
    make_project,
    open_project,
)
from samekind.project.pair_answers import split_answers

RNG = np.random.default_rng(0)
KINDS = np.repeat(np.arange(5), 40)
ROWS = RNG.normal(size=(5, 3))[KINDS] * 6 + 0.3 * RNG.normal(size=(200, 3))


@pytest.fixture
def file(tmp_path):
    np.save(tmp_path / "rows.npy", ROWS)
    return tmp_path / "rows.npy"


@pytest.fixture
def project(file):
    return Project(load(file), random_state=0, sheet=0)


truth = partial(honest, kinds=KINDS)


def about(question):
    """Return the row that a question is about."""
    if isinstance(question, SheetQuestion):
        return question.items[0].row
    return question.a.row if isinstance(question, PairQuestion) else question.item.row


def rows_of(page):
    return [member.row for member in page.members]


def answer(project, count, who="ann", **options):
    """Answer so many questions; return them."""
    seen = []
    for _ in range(count):
        questions = project.next(who, **options)
        if not questions:
            break
        seen.append(questions[0])
        project.answer(questions[0].id, truth(questions[0]), who=who)
    return seen


def cluster_of(project, number):
    """Return the project's name for one of the true kinds."""
    return next(k.cluster for k in project.overview.all().clusters if KINDS[k.cluster] == number)


class TestAsking:
    def test_the_same_question_until_it_is_answered(self, project):
        """P5: by the Python interface."""
        (first,) = project.next("ann")
        assert project.next("ann") == [first]
        project.answer(first.id, truth(first), who="ann")
        assert project.next("ann") != [first]
        assert project.status().questions == 1

    def test_all_kinds_with_few_clicks(self, project):
        answer(project, 60)
        found = project.overview.all()
        assert len(found.clusters) == 5
        assert [kind.estimated for kind in found.clusters] == [40] * 5
        labels = project.clusters().labels_
        assert len({(a, b) for a, b in zip(labels, KINDS, strict=True)}) == 5

    def test_a_question_answered_elsewhere_is_stale(self, project):
        """P4: it is not answered twice."""
        (first,) = project.next("ann")
        project.answer(first.id, "different", who="ann")
        with pytest.raises(QuestionClosed, match="not open"):
            project.answer(first.id, "same", who="ann")
        assert project.status().questions == 1

    @pytest.mark.parametrize("said", ["yes", True, SheetAnswer()])
    def test_nonsense_answers_are_refused(self, project, said):
        (first,) = project.next()
        with pytest.raises(ProjectError, match="answer to a pair"):
            project.answer(first.id, said)

    def test_nobody_goes_empty(self, project):
        """P7: with one question for three people, two get others beyond it."""
        questions = [project.next(who)[0] for who in ("ann", "bob", "cy")]
        assert len({question.id for question in questions}) == 3
        for who, question in zip(("bob", "cy", "ann"), questions, strict=True):
            with pytest.raises(QuestionClosed):  # it is another's
                project.answer(question.id + "9", "same", who=who)
        for who, question in zip(("ann", "bob", "cy"), questions, strict=True):
            project.answer(question.id, truth(question), who=who)
        assert project.status().presses == 3

    def test_not_sure_and_skip(self, project):
        """P4: both are answers, and what was skipped can be answered later."""
        answer(project, 10, lineup=False)
        (unsure,) = project.next("ann", lineup=False)
        project.answer(unsure.id, "unsure", who="ann")
        (skipped,) = project.next("ann", lineup=False)
        project.answer(skipped.id, "skip", who="ann")
        now = project.status()
        assert (now.questions, now.skipped) == (11, 1)
        (again,) = project.questions.skipped()
        assert {again.a.row, again.b.row} == {skipped.a.row, skipped.b.row}
        assert again.skipped
        project.answer(again.id, truth(again), who="ann")
        assert project.status().skipped == 0
        assert project.status().questions == 12
        with pytest.raises(QuestionClosed):
            project.answer(again.id, "same")

    def test_budget(self, file):
        project = Project(load(file), random_state=0, budget=7)
        answer(project, 100)
        now = project.status()
        assert (now.presses, now.stop_reason) == (7, "budget")
        assert now.questions >= 7
        assert project.next() == []
        project.standing.resume()
        assert project.next() == []
        project.undo()
        assert len(project.next(most=3)) == 1  # as many as may still be pressed

    def test_many_threads(self, file):
        """P34: any thread may call a project."""
        project = Project(load(file), random_state=0, sheet=0)

        def work(who):
            for _ in range(25):
                (question,) = project.next(who)
                project.answer(question.id, truth(question), who=who)
                seen.append(question.id)

        seen = []
        threads = [threading.Thread(target=work, args=(name,)) for name in ("ann", "bob", "cy")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(seen) == len(set(seen)) == 75
        assert project.status().presses == len(seen)


class TestOthersNeedNotWait:
    """P8: while a writer waits for another program that holds the database."""

    @pytest.fixture
    def project(self, file, tmp_path):
        with Ledger(tmp_path / "mine.db", wait=2.5) as ledger:
            project = Project(load(file), ledger, random_state=0, sheet=0)
            answer(project, 30)
            yield project

    @pytest.fixture
    def held(self, project, tmp_path):
        with closing(sqlite3.connect(tmp_path / "mine.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            yield other

    def test_readers(self, project, held, tmp_path):
        writers = [threading.Thread(target=self.try_to_write, args=(project, [])) for _ in range(3)]
        for writer in writers:
            writer.start()
        time.sleep(0.3)  # until one of them waits for the database
        began = time.perf_counter()
        project.status()
        project.overview.all()
        project.answers.page()
        project.team.reviews()
        project.export("clusters.csv", tmp_path / "clusters.csv")
        assert time.perf_counter() - began < 2
        assert any(writer.is_alive() for writer in writers)
        assert project.next("bob")  # whose leases cannot be written now
        held.execute("ROLLBACK")
        for writer in writers:
            writer.join()

    def test_writers_wait_only_as_long_as_was_said(self, project, held):
        said = []
        writers = [
            threading.Thread(target=self.try_to_write, args=(project, said)) for _ in range(5)
        ]
        began = time.perf_counter()
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        assert time.perf_counter() - began < 2 * 2.5 + 3  # and not once for each of them
        assert len(said) == 5
        assert all("Nothing was changed" in text for text in said)
        held.execute("ROLLBACK")
        project.standing.set_criterion("They look alike.")
        assert project.status().criterion == "They look alike."

    @staticmethod
    def try_to_write(project, said):
        try:
            project.standing.set_criterion("Never kept")
        except LedgerError as error:
            said.append(str(error))

    def test_acts_with_keys_and_questions_do_not_lock_each_other_out(self, project):
        def work(who):
            for k in range(12):
                for question in project.next(who):
                    said = truth(question)
                    key = f"{who} {k}"
                    project.once(
                        key,
                        "",
                        lambda q=question, a=said: project.answer(q.id, a, who=who),
                        who=who,
                    )
                project.once(f"{who} {k} undo", "", lambda: project.undo(who=who), who=who)
            done.append(who)

        done = []
        people = ["ann", "bob", "cy", "dan"]
        threads = [threading.Thread(target=work, args=(who,), daemon=True) for who in people]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert sorted(done) == people

    def test_who_edits_or_reads_does_not_wait_for_who_chooses(self, project):
        """P8: nor does an edit."""
        answer(project, 12)
        one, noughts = project.answers.page().answers[0], cluster_of(project, 0)

        def work():
            project.kinds.rename(noughts, "noughts", who="ann")
            project.answers.correct(one.a, one.b, "unsure", who="ann")
            done.append(project.standing.at_once().presses)

        done = []
        worker = threading.Thread(target=work)
        with project.session.choosing():
            worker.start()
            worker.join(20)
            assert len(done) == 1


def partition(project):
    """Return which rows are known to be in one cluster."""
    rows = range(project.session.points.n)
    return {frozenset(project.session.members_of(row)) for row in rows}


def told(project):
    """Return which rows are in one cluster by the answers, also of a wave that is not over yet."""
    ledger = project.session.ledger
    rows = np.unique(pairs_of(ledger.active()))
    component = ledger.log.implications.components(rows)
    return {frozenset(rows[component == one].tolist()) for one in np.unique(component)}


class TestLineUp:
    @pytest.fixture
    def project(self, tmp_path):
        """ClusterState that overlap, so that it is not obvious which comes next."""
        noise = np.random.default_rng(0).normal(size=ROWS.shape)  # whatever ran before
        np.save(tmp_path / "blurred.npy", ROWS + 3 * noise)
        return Project(load(tmp_path / "blurred.npy"), random_state=0)

    def line_up(self, project, many=300):
        for _ in range(many):
            (question,) = project.next("ann")
            if isinstance(question, LineupQuestion):
                return question
            project.answer(question.id, truth(question), who="ann")
        pytest.fail("no line-up in so many questions")

    def test_one_click_answers_all_its_questions(self, project):
        question = self.line_up(project)
        assert len(question.options) > 1
        for option in question.options:
            assert {KINDS[member.row] for member in option.members} == {KINDS[option.cluster]}
        before = project.status()
        said = question.options[-1].cluster  # right or wrong
        project.answer(question.id, said, who="ann")
        after = project.status()
        assert (after.presses, after.questions) == (before.presses + 1, before.questions + 1)
        assert all(
            question.item.row != getattr(other, "row", None)
            for other in project.next("ann", most=9)
        )
        while not project.session.members_of(
            question.item.row
        ):  # until the rest of its wave is answered
            answer(project, 1)
        assert project.session.members_of(question.item.row)[0] == said

    def test_none_of_these_asks_no_kind_again(self, project):
        """P4: nor any other item of those kinds."""
        question = self.line_up(project)
        before = project.status().questions
        project.answer(question.id, "none", who="ann")
        assert project.status().questions == before + len(question.options)
        lookup = project.session.ledger.lookup
        for option in question.options:
            assert lookup(np.array([[question.item.row, option.members[0].row]]))[0] == DIFFERENT
        for _ in range(5):
            for other in project.next("ann", lineup=False):
                pair = {other.a.row, other.b.row}
                for option in question.options:
                    of_kind = set(project.session.members_of(option.members[0].row))
                    assert question.item.row not in pair or not pair & of_kind
                project.answer(other.id, truth(other), who="ann")

    def test_undo_takes_the_whole_click_back(self, project):
        """P2: all answers of a line-up."""
        question = self.line_up(project)
        before = project.status()
        project.answer(question.id, truth(question), who="ann")
        (undone,) = project.undo(who="ann")
        assert "answers about rows" in undone or str(question.item.row) in undone
        after = project.status()
        assert (after.questions, after.presses) == (before.questions, before.presses)
        (again,) = project.next("ann")
        assert again.item == question.item
        assert {o.cluster for o in again.options} >= {o.cluster for o in question.options}

    def test_a_wrong_choice_is_refused(self, project):
        question = self.line_up(project)
        for said in (question.item.row, "same", -1, True):
            with pytest.raises(ProjectError):
                project.answer(question.id, said, who="ann")

    def test_a_kind_that_is_gone_closes_the_question(self, project):
        """Who chose it saw it: an answer was taken back meanwhile, and nobody is at fault."""
        question = self.line_up(project)
        unknown = next(row for row in range(200) if not project.session.members_of(row))
        with pytest.raises(QuestionClosed, match=f"no kind {unknown} any more"):
            project.answer(question.id, unknown, who="ann")
        with pytest.raises(ProjectError) as refused:
            project.answer(question.id, 10_000, who="ann")
        assert not isinstance(refused.value, QuestionClosed)

    def test_replaying_comes_to_the_same(self, file, tmp_path):
        """P5: closed and opened again."""
        path = tmp_path / "mine.db"
        project = Project(load(file), path, random_state=0)
        answer(project, 45)
        now, questions = project.status(), project.next("ann", most=5)
        labels = project.clusters().labels_.tolist()
        project.close()
        again = Project(load(file), path)
        assert again.next("ann", most=5) == questions
        assert again.status() == now
        assert again.clusters().labels_.tolist() == labels

    def test_not_sure_leaves_the_row_alone(self, project):
        question = self.line_up(project)
        before = project.status()
        project.answer(question.id, "unsure", who="ann")
        assert project.status().questions == before.questions + 1
        assert not project.session.members_of(question.item.row)
        asked = frozenset((question.item.row, question.options[0].cluster))
        for _ in range(20):
            (other,) = project.next("ann")
            if other.type == "pair":
                assert frozenset((other.a.row, other.b.row)) != asked
            project.answer(other.id, truth(other), who="ann")


class TestUndo:
    def test_to_the_bottom(self, project):
        """P2: as many as wanted."""
        start = project.next("ann")
        answer(project, 20)
        assert len(project.undo(5)) == 5
        assert project.status().presses == 15
        assert len(project.undo(100)) == 15
        assert project.undo() == []
        assert not project.status().can_undo
        assert project.next("ann") == start

    def test_hand_edits_and_skips(self, project):
        """P2: edits and skips are acts too."""
        answer(project, 40)
        known = partition(project)
        (question,) = project.next("ann", lineup=False)
        project.answer(question.id, "skip", who="ann")
        kinds = project.overview.all().clusters
        project.kinds.merge([kinds[0].cluster, kinds[1].cluster], who="ann")
        assert project.status().clusters == len(kinds) - 1
        project.undo(2)
        now = partition(project)  # also what was answered in the open wave
        assert all(any(group <= other for other in now) for group in known)
        assert project.status().clusters == len(kinds)
        assert project.next("ann", lineup=False) == [question]
        assert project.status().skipped == 0

    def test_only_ones_own(self, project):
        answer(project, 5, "ann")
        answer(project, 1, "bob")
        assert len(project.undo(99, who="ann")) == 5
        assert project.undo(who="cy") == []
        assert project.answers.page().total == 1


class TestHandEdits:
    def test_names_follow_their_kinds(self, project):
        answer(project, 40)
        first, second = cluster_of(project, 0), cluster_of(project, 1)
        project.kinds.rename(first, "  noughts \n and more ")
        project.kinds.rename(second, "ones")
        assert {k.name for k in project.overview.all().clusters} == {
            "noughts and more",
            "ones",
            None,
        }
        kept = min((k for k in project.overview.all().clusters if k.name), key=lambda k: k.number)
        project.kinds.merge([first, second])
        assert {k.name for k in project.overview.all().clusters} == {
            kept.name,
            None,
        }  # of the oldest
        project.undo()
        assert {k.name for k in project.overview.all().clusters} == {
            "noughts and more",
            "ones",
            None,
        }
        project.kinds.rename(first, "")
        assert {k.name for k in project.overview.all().clusters} == {"ones", None}

    @pytest.mark.parametrize("name", ["x" * 201, "a\x00b", "a\u202eb"])
    def test_bad_names(self, project, name):
        answer(project, 10)
        with pytest.raises(ProjectError, match="name"):
            project.kinds.rename(project.overview.all().clusters[0].cluster, name)

    def test_the_row_that_stands_for_a_kind_does_not_belong(self, project):
        answer(project, 60)
        kind = cluster_of(project, 3)
        others = project.session.members_of(kind)[1:]
        assert len(others) > 1
        project.kinds.remove(kind, [kind], who="ann")
        assert project.answers.contradictions() == []
        assert len({tuple(project.session.members_of(row)) for row in others}) == 1
        assert kind not in project.session.members_of(others[0])

    def test_a_predicted_row_that_does_not_belong(self, project):
        answer(project, 20)
        kind = cluster_of(project, 2)
        page = project.overview.one(kind, limit=1000)
        row = next(member.row for member in page.members if not member.known)
        before = project.next("ann")
        project.kinds.remove(kind, [row], who="ann")
        assert row not in rows_of(project.overview.one(kind, limit=1000))
        assert project.next("ann") == before
        project.undo()
        assert row in rows_of(project.overview.one(kind, limit=1000))

    def test_nothing_that_was_answered_is_lost(self, file, tmp_path):
        """After a change by hand the run goes on with all it knew, and so it does when reopened."""
        path = tmp_path / "mine.db"
        project = make_project(load(file), path, random_state=0)
        answer(project, 60)
        before = project.status()
        known = [row for row in range(200) if project.session.members_of(row)]
        project.kinds.merge([cluster_of(project, 0), cluster_of(project, 1)], who="ann")
        row = project.session.members_of(cluster_of(project, 2))[1]
        project.kinds.remove(cluster_of(project, 2), [row], who="ann")
        after = project.status()
        assert (after.questions, after.presses) == (before.questions, before.presses + 2)
        assert {r for r in known if not project.session.members_of(r)} <= {row}
        assert row not in project.session.members_of(cluster_of(project, 2))
        answer(project, 1)
        now, knew = project.status(), [project.session.members_of(r) for r in range(200)]
        project.close()
        again = open_project(path)  # which need not choose the same question next
        reopened = again.status()
        assert (reopened.questions, reopened.presses) == (now.questions, now.presses)
        assert reopened.clusters == now.clusters
        assert [again.session.members_of(r) for r in range(200)] == knew
        again.undo(3)
        assert again.status().clusters == 5
        assert {r for r in range(200) if again.session.members_of(r)} >= set(known)

    def test_bad_removals(self, project):
        answer(project, 60)
        kind, other = cluster_of(project, 0), cluster_of(project, 1)
        for rows in ([], [other], [-1], [10**6], project.session.members_of(kind)):
            with pytest.raises(ProjectError):
                project.kinds.remove(kind, rows)
        with pytest.raises(ProjectError, match="no kind"):
            project.kinds.remove(10**7, [1])

    def test_merging_turns_every_answer_round(self, project):
        answer(project, 60)
        kinds = [cluster_of(project, number) for number in (0, 1, 2)]
        project.kinds.merge(kinds, who="ann")
        assert project.answers.contradictions() == []
        assert len(project.overview.all().clusters) == 3
        with pytest.raises(ProjectError, match="two kinds"):
            project.kinds.merge([kinds[0], kinds[0]])

    def test_change_ones_mind(self, project):
        answer(project, 30)
        said = next(s for s in project.answers.page(limit=99).answers if s.answer == "different")
        project.answers.correct(said.a, said.b, "same", who="bob")
        assert project.session.ledger.lookup(np.array([[said.a, said.b]]))[0] == SAME
        free = next(r for r in range(200) if not project.session.members_of(r))
        with pytest.raises(ProjectError, match="Nobody"):
            project.answers.correct(said.a, free, "same")
        project.undo(who="bob")  # and what ann had said is there again
        assert project.session.ledger.answer_by(said.a, said.b, "ann") == DIFFERENT
        assert project.session.ledger.lookup(np.array([[said.a, said.b]]))[0] == DIFFERENT

    def test_contradictions_are_shown_and_settled(self, project):
        """P4: by whoever gives the answer that counts."""
        answer(project, 30, "ann")
        said = next(s for s in project.answers.page(limit=99).answers if s.answer == "different")
        project.answers.import_csv(f"a,b,answer\n{said.a},{said.b},same\n", who="bob")
        (found,) = project.answers.contradictions()
        assert {(s.a.row, s.b.row) for s in found.pairs} <= {(said.a, said.b), (said.b, said.a)}
        assert project.status().contradictions == 1
        project.answers.correct(said.a, said.b, "different", who="ann")
        assert project.answers.contradictions() == []


edges = st.lists(
    st.tuples(st.integers(0, 7), st.integers(0, 7), st.booleans()).filter(lambda e: e[0] != e[1]),
    max_size=12,
)


@settings(max_examples=60)
@given(edges, st.sets(st.integers(0, 7), min_size=1, max_size=6))
def test_parting_a_kind_never_contradicts(said, out):
    """Whatever one person said within a kind: the rest is one kind after parting, without the others."""
    ledger = Ledger()
    members = list(range(8))
    for row in members[1:]:
        ledger.record([[0, row]], [SAME], who="ann")
    for a, b, same in said:
        if same:
            ledger.record([[a, b]], [SAME], who="ann")
    for a, b, answered in split_answers(members, out, ledger.active()):
        ledger.record([[a, b]], [answered], who="ann", asked=False)
    assert ledger.contradictions == []
    rest = [row for row in members if row not in out]
    for row in rest[1:]:
        assert ledger.lookup(np.array([[rest[0], row]]))[0] == SAME
    for row in out:
        assert ledger.lookup(np.array([[rest[0], row]]))[0] != SAME


class TestImport:
    def test_answers_are_free_and_used(self, project):
        pairs = [(0, row, int(KINDS[row] == 0)) for row in range(1, 200, 7)]
        text = "answer,b,a,note\n" + "".join(f"{s},{b},{a},x\n" for a, b, s in pairs)
        assert project.answers.import_csv(text) == (len(pairs), 0)
        assert project.answers.import_csv(text, who="bob") == (0, 0)  # no news
        assert project.status().questions == 0
        together = range(1, 40, 7)
        assert set(together) <= set(project.session.members_of(0))  # at once
        answer(project, 60)
        assert len(project.overview.all().clusters) == 5

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("a,b\n1,2\n", "answer is missing"),
            ("a,b,answer\n1,1,same\n", "itself"),
            ("a,b,answer\n1,2000,same\n", "Line 2: '2000' is not a row"),
            ("a,b,answer\n1,2,perhaps\n", "'perhaps'"),
            ('a,b,answer\n"1,2,same\n', "not a CSV"),
        ],
    )
    def test_what_is_wrong_is_said(self, project, text, message):
        with pytest.raises(ProjectError, match=message):
            project.answers.import_csv(text)
        assert project.answers.page().total == 0

    def test_both_answers_for_a_pair_are_told(self, project):
        lines = "0,1,same\n1,0,different\n0,2,unsure\n0,2,same\n3,4,same\n4,3,same\n"
        assert project.answers.import_csv(f"a,b,answer\n{lines}") == (3, 1)
        assert project.session.ledger.lookup(np.array([[0, 1]]))[0] == DIFFERENT


class TestExport:
    def test_all_files(self, project, tmp_path):
        answer(project, 60)
        project.kinds.rename(cluster_of(project, 0), "=HYPERLINK(1)")
        for name in ("csv", "parquet", "json", "npz"):
            project.export(f"clusters.{name}", tmp_path / f"c.{name}")
        table = pd.read_csv(tmp_path / "c.csv")
        assert len(table) == 200
        assert table["confidence"].between(0, 1).all()
        assert (table.loc[table["known"], "confidence"] == 1).all()
        assert set(table["kind"]) == {1, 2, 3, 4, 5}
        given = table[~table["name_is_proposed"]]
        assert set(given["name"]) == {"'=HYPERLINK(1)"}
        [own] = set(given["kind"])
        proposed = table[table["name_is_proposed"]]
        assert (proposed["name"] == "kind " + proposed["kind"].astype(str)).all()
        assert pd.read_parquet(tmp_path / "c.parquet")["kind"].tolist() == table["kind"].tolist()
        document = json.loads((tmp_path / "c.json").read_text())
        assert [row["kind"] for row in document["rows"]] == table["kind"].tolist()
        names = {
            kind["kind"]: (kind["name"], kind["name_is_proposed"]) for kind in document["kinds"]
        }
        assert names.pop(own) == ("=HYPERLINK(1)", False)
        assert names == {number: (f"kind {number}", True) for number in names}
        assert Clusters.load(tmp_path / "c.npz").n_discovered_ == 5

    def test_answers_can_be_taken_in_again(self, project, file, tmp_path):
        answer(project, 60)
        project.export("answers.csv", tmp_path / "answers.csv")
        with open(tmp_path / "answers.csv", newline="") as lines:
            assert {line["answer"] for line in csv.DictReader(lines)} == {"same", "different"}
        other = Project(load(file), random_state=1)
        other.answers.import_csv((tmp_path / "answers.csv").read_text())
        known = [row for row in range(200) if project.session.members_of(row)]
        assert {row for row in known if not other.session.members_of(row)} <= {
            k.cluster for k in project.overview.all().clusters if k.known == 1
        }


class TestLooking:
    def test_changes_nothing(self, file):
        quiet, watched = (Project(load(file), random_state=0, sheet=0) for _ in range(2))
        for _ in range(60):
            for _ in range(2):
                watched.overview.all()
                watched.overview.map()
                watched.session.confidence(np.arange(200))
            (a,), (b,) = quiet.next("ann"), watched.next("ann")
            assert a == b
            quiet.answer(a.id, truth(a), who="ann")
            watched.answer(b.id, truth(b), who="ann")

    def test_pages_of_a_kind(self, project):
        answer(project, 60)
        kind = cluster_of(project, 4)
        whole = project.overview.one(kind, limit=1000)
        assert whole.total == 40 == len(whole.members)
        known = [member.known for member in whole.members]
        assert known == sorted(known, reverse=True)
        pages = [project.overview.one(kind, offset=start, limit=7) for start in range(0, 49, 7)]
        assert [row for page in pages for row in rows_of(page)] == rows_of(whole)

    def test_empty(self, project):
        assert project.overview.all().clusters == []
        assert project.overview.map().clusters == []
        assert set(project.overview.map().place) == {-1}
        assert (project.status().clusters, project.status().known_rows) == (0, 0)
        assert project.answers.contradictions() == []


class TestProject:
    def test_remembers_its_things_and_settings(self, file, tmp_path):
        """P5: with the same questions."""
        path = str(tmp_path / "mine.db")
        project = make_project(load(file), path, title="Mine", budget=30, random_state=3)
        answer(project, 12)
        questions = project.next("ann")
        project.close()
        again = open_project(path)
        assert again.title == "Mine"
        assert again.standing.budget == 30
        assert again.next("ann") == questions

    def test_is_not_one(self, tmp_path):
        with pytest.raises(LedgerError, match="no such project"):
            open_project(tmp_path / "none.db")
        Project(demo_items(), tmp_path / "other.db", random_state=0).close()
        with pytest.raises(LedgerError, match="does not say"):
            open_project(tmp_path / "other.db")

    def test_who_looks_waits_for_nobody(self, project):
        """P8: Not for whoever chooses a question, and not for advice that is derived anew."""
        answer(project, 3)
        assert project.standing.glance().presses == 3
        answer(project, 2)
        chooses, is_over = threading.Event(), threading.Event()

        def choose():
            with project.session.choosing():
                chooses.set()
                is_over.wait(10)

        other = threading.Thread(target=choose)
        other.start()
        chooses.wait(10)
        began = time.perf_counter()
        seen = project.standing.glance()
        took = time.perf_counter() - began
        is_over.set()
        other.join()
        assert took < 1
        assert seen.presses in (3, 5)
        assert project.standing.glance().presses == 5

    def test_a_cluster_that_goes_while_it_is_to_be_shown(self, project, monkeypatch):
        """Somebody takes back what made it, between the choice of a question and its looks."""
        project.questions.sheet = 0
        answer(project, 12)
        while project.next("bob")[0].type != "lineup":
            answer(project, 1)
        choose, undone = project.questions.comparisons, []

        def comparisons(*args, **options):
            found = choose(*args, **options)
            if not undone:
                undone.extend(project.undo(50, who="ann"))
            return found

        monkeypatch.setattr(project.questions, "comparisons", comparisons)
        assert project.next("bob")
        assert undone


class TestWords:
    def test_what_is_not_known_bounds_what_is_wrong_before_any_check(self):
        """P18, P20: what nobody has looked at bounds what is wrong."""
        session = Session(ROWS[:60], random_state=0, goal="labels")
        while session.n_known < 50:
            pairs = session.pending()
            session.tell(pairs, KINDS[pairs[:, 0]] == KINDS[pairs[:, 1]])
        assert session.clusters().certificate_.wrong <= 10 / 60 + 1e-9


class TestPresses:
    def test_the_budget_survives_a_restart_and_can_be_raised(self, file, tmp_path):
        project = make_project(load(file), tmp_path / "mine.db", budget=5, random_state=0)
        assert len(answer(project, 20)) == 5
        project.close()
        again = open_project(tmp_path / "mine.db")
        assert again.status().stop_reason == "budget"
        assert again.next() == []
        again.close()
        more = open_project(tmp_path / "mine.db", budget=9)
        assert len(answer(more, 20)) == 4
        more.close()

    def test_the_history_is_in_presses_and_goes_on_after_a_restart(self, file, tmp_path):
        project = make_project(load(file), tmp_path / "mine.db", random_state=0, sheet=0)
        answer(project, 40)
        history = project.standing.history()
        assert history.presses[-1] == 40
        assert history.questions[-1] == project.status().questions
        assert sorted(history.presses) == history.presses
        project.close()
        again = open_project(tmp_path / "mine.db")
        assert again.standing.history().presses[-1] == 40
        assert again.standing.history().clusters[-1] == history.clusters[-1]
        again.close()

    def test_advice_comes_with_the_state(self, file):
        """P20: it is said with the certificate that it is based on."""
        project = Project(load(file), random_state=0, sheet=0)
        answer(project, 30)
        assert project.status().stopping is None  # it costs a look at all rows
        advice = project.overview.all().stopping
        assert advice.at_presses == 30
        assert project.status().stopping == advice
        assert advice.text.startswith("Safe to stop" if advice.safe else "Not safe")
