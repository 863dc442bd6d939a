"""The desk: questions in any order, line-ups, undo, kinds changed by hand, imports, exports, resuming."""

from __future__ import annotations

import csv
import json
import threading
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind import DIFFERENT, SAME, Clusters
from samekind.datasets import load_digits
from samekind.desk import Desk, DeskError, LineUp, Pair, Stale, make_desk, open_desk
from samekind.desk.edits import merged, parted
from samekind.desk.imports import read_answers
from samekind.desk.leases import Leases
from samekind.ledger import Ledger, LedgerError
from samekind.things import demo_things, load_things

RNG = np.random.default_rng(0)
KINDS = np.repeat(np.arange(5), 40)
ROWS = RNG.normal(size=(5, 3))[KINDS] * 6 + 0.3 * RNG.normal(size=(200, 3))


@pytest.fixture
def file(tmp_path):
    np.save(tmp_path / "rows.npy", ROWS)
    return tmp_path / "rows.npy"


@pytest.fixture
def desk(file):
    return Desk(load_things(file), random_state=0)


def few_digits():
    things = demo_things()
    things.X = things.X[:300]
    return things


def truth(question, kinds=KINDS):
    """Answer as one who knows the kinds."""
    if isinstance(question, Pair):
        return "same" if kinds[question.a] == kinds[question.b] else "different"
    for option in question.options:
        if kinds[option.kind] == kinds[question.row]:
            return option.kind
    return "none"


def answer(desk, count, who="ann", **options):
    """Answer so many questions; return them."""
    seen = []
    for _ in range(count):
        questions = desk.next(who, **options)
        if not questions:
            break
        seen.append(questions[0])
        desk.answer(questions[0].id, truth(questions[0]), who=who)
    return seen


def cluster_of(desk, number):
    """Return the desk's name for one of the true kinds."""
    return next(k.kind for k in desk.outline().kinds if KINDS[k.kind] == number)


class TestAsking:
    def test_the_same_question_until_it_is_answered(self, desk):
        (first,) = desk.next("ann")
        assert desk.next("ann") == [first]
        desk.answer(first.id, truth(first), who="ann")
        assert desk.next("ann") != [first]
        assert desk.standing().questions == 1

    def test_all_kinds_with_few_clicks(self, desk):
        answer(desk, 60)
        found = desk.outline()
        assert len(found.kinds) == 5
        assert [kind.estimated for kind in found.kinds] == [40] * 5
        labels = desk.clusters().labels_
        assert len({(a, b) for a, b in zip(labels, KINDS, strict=True)}) == 5

    def test_a_question_answered_elsewhere_is_stale(self, desk):
        (first,) = desk.next("ann")
        desk.answer(first.id, "different", who="ann")
        with pytest.raises(Stale, match="not open"):
            desk.answer(first.id, "same", who="ann")
        assert desk.standing().questions == 1

    @pytest.mark.parametrize(
        "name", ["", "p", "p-1", "p-1-x", "q-1-2", "p-1-2.3", "l-1-", "p--1-2"]
    )
    def test_nonsense_is_refused(self, desk, name):
        with pytest.raises(DeskError):
            desk.answer(name, "same")

    @pytest.mark.parametrize("said", ["yes", "", 1, "none", None])
    def test_nonsense_answers_are_refused(self, desk, said):
        (first,) = desk.next()
        with pytest.raises(DeskError, match="answer to a pair"):
            desk.answer(first.id, said)

    def test_two_people_get_different_questions(self, desk):
        answer(desk, 50)
        while len(desk.session.pending()) < 2:
            answer(desk, 1)
        (ann,), bob = desk.next("ann", most=1), desk.next("bob", most=9)
        assert bob
        assert ann.id not in {question.id for question in bob}

    def test_nobody_goes_empty(self, desk):
        """With one question for three people it is shared; who is second is told."""
        (first,) = desk.next("ann")
        assert desk.next("bob") == [first] == desk.next("cy")
        desk.answer(first.id, truth(first), who="bob")
        with pytest.raises(Stale):
            desk.answer(first.id, truth(first), who="ann")

    def test_leases_run_out(self):
        now = [0.0]
        leases = Leases(60, clock=lambda: now[0])
        assert leases.take(1, "ann")
        assert not leases.take(1, "bob")
        now[0] = 61
        assert leases.take(1, "bob")
        assert not leases.take(1, "ann")
        leases.keep(set())
        assert leases.take(1, "")
        assert leases.take(1, "ann")  # who may have typed a name since

    def test_several_are_open_at_once_later(self, desk):
        most = 0
        for _ in range(100):
            answer(desk, 1)
            most = max(most, len(desk.next("ann", most=3)))
        assert most == 3

    def test_not_sure_and_skip(self, desk):
        answer(desk, 10, lineup=False)
        (unsure,) = desk.next("ann", lineup=False)
        desk.answer(unsure.id, "unsure", who="ann")
        (skipped,) = desk.next("ann", lineup=False)
        desk.answer(skipped.id, "skip", who="ann")
        now = desk.standing()
        assert (now.questions, now.skipped) == (11, 1)
        (again,) = desk.skipped()
        assert {again.a, again.b} == {skipped.a, skipped.b}
        assert again.skipped
        desk.answer(again.id, truth(again), who="ann")
        assert desk.standing().skipped == 0
        assert desk.standing().questions == 12
        with pytest.raises(Stale):
            desk.answer(again.id, "same")

    def test_finish_and_go_on(self, desk):
        answer(desk, 20)
        desk.finish()
        assert desk.next() == []
        assert desk.standing().done
        assert desk.standing().stop_text == "stopped by you"
        desk.resume()
        assert desk.next()
        assert desk.standing().questions >= 20

    def test_budget(self, file):
        desk = Desk(load_things(file), random_state=0, budget=7)
        answer(desk, 100)
        assert desk.standing().questions == 7
        assert desk.standing().stop_reason == "budget"

    def test_many_threads(self, desk):
        def work(who):
            for _ in range(25):
                (question,) = desk.next(who)
                try:
                    desk.answer(question.id, truth(question), who=who)
                except Stale:  # somebody was quicker with a shared one
                    continue
                seen.append(question.id)

        seen = []
        threads = [threading.Thread(target=work, args=(name,)) for name in ("ann", "bob", "cy")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(seen) == len(set(seen))
        assert desk.standing().clicks == len(seen)


class TestLineUp:
    @pytest.fixture
    def desk(self, tmp_path):
        """ClusterState that overlap, so that it is not obvious which comes next."""
        np.save(tmp_path / "blurred.npy", ROWS + 3 * RNG.normal(size=ROWS.shape))
        return Desk(load_things(tmp_path / "blurred.npy"), random_state=0)

    def line_up(self, desk, many=300):
        for _ in range(many):
            (question,) = desk.next("ann")
            if isinstance(question, LineUp):
                return question
            desk.answer(question.id, truth(question), who="ann")
        pytest.fail("no line-up in so many questions")

    def test_one_click_answers_all_its_questions(self, desk):
        question = self.line_up(desk)
        assert len(question.options) > 1
        for option in question.options:
            assert {KINDS[row] for row in option.members} == {KINDS[option.kind]}
        before = desk.standing()
        said = question.options[-1].kind  # right or wrong
        desk.answer(question.id, said, who="ann")
        after = desk.standing()
        assert (after.clicks, after.questions) == (before.clicks + 1, before.questions + 1)
        assert all(
            question.row != getattr(other, "row", None) for other in desk.next("ann", most=9)
        )
        while not desk.session.members_of(question.row):  # until the rest of its wave is answered
            answer(desk, 1)
        assert desk.session.members_of(question.row)[0] == said

    def test_none_of_these_asks_no_kind_again(self, desk):
        question = self.line_up(desk)
        before = desk.standing().questions
        desk.answer(question.id, "none", who="ann")
        assert desk.standing().questions == before + len(question.options)
        lookup = desk.session.ledger.lookup
        for option in question.options:
            assert lookup(np.array([[question.row, option.members[0]]]))[0] == DIFFERENT
        for _ in range(5):
            for other in desk.next("ann", lineup=False):
                pair = {other.a, other.b}
                for option in question.options:
                    of_kind = set(desk.session.members_of(option.members[0]))
                    assert question.row not in pair or not pair & of_kind
                desk.answer(other.id, truth(other), who="ann")

    def test_undo_takes_the_whole_click_back(self, desk):
        question = self.line_up(desk)
        before = desk.standing()
        desk.answer(question.id, truth(question), who="ann")
        (undone,) = desk.undo(who="ann")
        assert "answers about rows" in undone or str(question.row) in undone
        after = desk.standing()
        assert (after.questions, after.clicks) == (before.questions, before.clicks)
        assert desk.next("ann") == [question]

    def test_a_wrong_choice_is_refused(self, desk):
        question = self.line_up(desk)
        for said in (question.row, "same", -1, True):
            with pytest.raises(DeskError):
                desk.answer(question.id, said, who="ann")

    def test_can_be_switched_off(self, desk):
        asked = answer(desk, 60, lineup=False)
        assert all(isinstance(question, Pair) for question in asked)

    def test_replaying_comes_to_the_same(self, file, tmp_path):
        project = tmp_path / "mine.db"
        desk = Desk(load_things(file), project, random_state=0)
        answer(desk, 45)
        now, questions = desk.standing(), desk.next("ann", most=5)
        labels = desk.clusters().labels_.tolist()
        desk.close()
        again = Desk(load_things(file), project)
        assert again.next("ann", most=5) == questions
        assert again.standing() == now
        assert again.clusters().labels_.tolist() == labels

    def test_not_sure_leaves_the_row_alone(self, desk):
        question = self.line_up(desk)
        before = desk.standing()
        desk.answer(question.id, "unsure", who="ann")
        assert desk.standing().questions == before.questions + 1
        for _ in range(40):
            (other,) = desk.next("ann")
            assert question.row not in (getattr(other, "row", None), getattr(other, "a", None))
            desk.answer(other.id, truth(other), who="ann")
        assert question.row in desk.clusters().given_up_

    def test_skip_comes_back_on_demand(self, desk):
        question = self.line_up(desk)
        before = desk.standing()
        desk.answer(question.id, "skip", who="ann")
        after = desk.standing()
        assert (after.questions, after.skipped) == (before.questions, 1)
        (again,) = desk.skipped()
        assert question.row in (again.a, again.b)


class TestUndo:
    def test_to_the_bottom(self, desk):
        start = desk.next("ann")
        answer(desk, 20)
        assert len(desk.undo(5)) == 5
        assert desk.standing().clicks == 15
        assert len(desk.undo(100)) == 15
        assert desk.undo() == []
        assert not desk.standing().can_undo
        assert desk.next("ann") == start

    def test_hand_edits_and_skips(self, desk):
        answer(desk, 40)
        labels = desk.clusters().labels_.tolist()
        (question,) = desk.next("ann", lineup=False)
        desk.answer(question.id, "skip", who="ann")
        kinds = desk.outline().kinds
        desk.merge([kinds[0].kind, kinds[1].kind], who="ann")
        assert desk.standing().kinds == len(kinds) - 1
        desk.undo(2)
        assert desk.clusters().labels_.tolist() == labels
        assert desk.standing().skipped == 0

    def test_only_ones_own(self, desk):
        answer(desk, 5, "ann")
        answer(desk, 1, "bob")
        assert len(desk.undo(99, who="ann")) == 5
        assert desk.undo(who="cy") == []
        assert desk.answers().total == 1


class TestHandEdits:
    def test_names_follow_their_kinds(self, desk):
        answer(desk, 40)
        first, second = cluster_of(desk, 0), cluster_of(desk, 1)
        desk.rename(first, "  noughts \n and more ")
        desk.rename(second, "ones")
        assert {k.name for k in desk.outline().kinds} == {"noughts and more", "ones", None}
        desk.merge([first, second])
        assert sum(k.name == "ones" for k in desk.outline().kinds) == 1  # the newest name
        desk.undo()
        assert {k.name for k in desk.outline().kinds} == {"noughts and more", "ones", None}
        desk.rename(first, "")
        assert {k.name for k in desk.outline().kinds} == {"ones", None}

    @pytest.mark.parametrize("name", ["x" * 201, "a\x00b", "a\u202eb"])
    def test_bad_names(self, desk, name):
        answer(desk, 10)
        with pytest.raises(DeskError, match="name"):
            desk.rename(desk.outline().kinds[0].kind, name)

    def test_names_are_kept(self, file, tmp_path):
        desk = make_desk(load_things(file), tmp_path / "mine.db", random_state=0)
        answer(desk, 20)
        kind = desk.outline().kinds[0].kind
        desk.rename(kind, "größe & <b>")
        desk.close()
        again = open_desk(tmp_path / "mine.db")
        assert next(k.name for k in again.outline().kinds if k.kind == kind) == "größe & <b>"

    def test_a_known_row_that_does_not_belong(self, desk):
        answer(desk, 60)
        kind = cluster_of(desk, 2)
        row = desk.session.members_of(kind)[1]
        others = set(desk.session.members_of(kind)) - {row}
        desk.remove(kind, [row], who="ann")
        assert desk.contradictions() == []
        assert others <= set(desk.session.members_of(kind))
        assert row not in desk.session.members_of(kind)
        page = desk.kind(kind, limit=1000)
        assert row not in page.rows

    def test_the_row_that_stands_for_a_kind_does_not_belong(self, desk):
        answer(desk, 60)
        kind = cluster_of(desk, 3)
        others = desk.session.members_of(kind)[1:]
        assert len(others) > 1
        desk.remove(kind, [kind], who="ann")
        assert desk.contradictions() == []
        assert len({tuple(desk.session.members_of(row)) for row in others}) == 1
        assert kind not in desk.session.members_of(others[0])

    @pytest.mark.parametrize("deed", ["remove", "merge", "correct"])
    @pytest.mark.parametrize("before", ["ann", ""])
    def test_by_hand_and_undone(self, deed, before):
        """Digits, in line-ups too: everything is as it was, also for one who gives a name only later."""
        desk, y = Desk(few_digits(), random_state=0), load_digits().target
        for _ in range(40):
            (question,) = desk.next(before)
            desk.answer(question.id, truth(question, y), who=before)
        known = [desk.session.members_of(row) for row in range(300)]
        standing = replace(desk.standing(), revision=0)
        kinds = sorted(desk.outline().kinds, key=lambda kind: -kind.known)
        out = desk.session.members_of(kinds[0].kind)[2]
        if deed == "remove":
            desk.remove(kinds[0].kind, [out], who="ann")
            assert out not in desk.session.members_of(kinds[0].kind)
        elif deed == "merge":
            desk.merge([kinds[0].kind, kinds[1].kind], who="ann")
            assert kinds[1].kind in desk.session.members_of(kinds[0].kind)
        else:
            said = next(s for s in desk.answers(limit=99).answers if s.answer == "same")
            desk.correct(said.a, said.b, "different", who=before)
        assert desk.contradictions() == []
        assert desk.standing().questions == standing.questions
        desk.undo()
        assert [desk.session.members_of(row) for row in range(300)] == known
        assert replace(desk.standing(), revision=0) == standing

    def test_a_predicted_row_that_does_not_belong(self, desk):
        answer(desk, 60)
        kind = cluster_of(desk, 2)
        page = desk.kind(kind, limit=1000)
        row = page.rows[page.known.index(False)]
        before = desk.next("ann")
        desk.remove(kind, [row], who="ann")
        assert row not in desk.kind(kind, limit=1000).rows
        assert desk.next("ann") == before
        desk.undo()
        assert row in desk.kind(kind, limit=1000).rows

    def test_nothing_that_was_answered_is_lost(self, file, tmp_path):
        """After a change by hand the run goes on with all it knew, and so it does when reopened."""
        project = tmp_path / "mine.db"
        desk = make_desk(load_things(file), project, random_state=0)
        answer(desk, 60)
        before = desk.standing()
        known = [row for row in range(200) if desk.session.members_of(row)]
        desk.merge([cluster_of(desk, 0), cluster_of(desk, 1)], who="ann")
        row = desk.session.members_of(cluster_of(desk, 2))[1]
        desk.remove(cluster_of(desk, 2), [row], who="ann")
        after = desk.standing()
        assert (after.questions, after.clicks) == (before.questions, before.clicks + 2)
        assert {r for r in known if not desk.session.members_of(r)} <= {row}
        assert row not in desk.session.members_of(cluster_of(desk, 2))
        answer(desk, 1)
        questions, now = desk.next("ann"), desk.standing()
        desk.close()
        again = open_desk(project)
        assert (again.next("ann"), again.standing()) == (questions, now)
        again.undo(3)
        assert again.standing().kinds == 5
        assert [r for r in range(200) if again.session.members_of(r)] == known

    def test_taking_an_old_answer_back_loses_nothing_else(self, desk):
        answer(desk, 30, "ann")
        answer(desk, 30, "bob")
        known = [row for row in range(200) if desk.session.members_of(row)]
        desk.undo(who="ann")
        left = [row for row in range(200) if desk.session.members_of(row)]
        assert len(left) >= len(known) - 1
        assert desk.standing().clicks == 59

    def test_bad_removals(self, desk):
        answer(desk, 60)
        kind, other = cluster_of(desk, 0), cluster_of(desk, 1)
        for rows in ([], [other], [-1], [10**6], desk.session.members_of(kind)):
            with pytest.raises(DeskError):
                desk.remove(kind, rows)
        with pytest.raises(DeskError, match="no kind"):
            desk.remove(10**7, [1])

    def test_merging_turns_every_answer_round(self, desk):
        answer(desk, 60)
        kinds = [cluster_of(desk, number) for number in (0, 1, 2)]
        desk.merge(kinds, who="ann")
        assert desk.contradictions() == []
        assert len(desk.outline().kinds) == 3
        with pytest.raises(DeskError, match="two kinds"):
            desk.merge([kinds[0], kinds[0]])

    def test_change_ones_mind(self, desk):
        answer(desk, 30)
        said = next(s for s in desk.answers(limit=99).answers if s.answer == "different")
        desk.correct(said.a, said.b, "same", who="bob")
        assert desk.session.ledger.lookup(np.array([[said.a, said.b]]))[0] == SAME
        free = next(r for r in range(200) if not desk.session.members_of(r))
        with pytest.raises(DeskError, match="Nobody"):
            desk.correct(said.a, free, "same")
        desk.undo(who="bob")  # and what ann had said is there again
        assert desk.session.ledger.answer_by(said.a, said.b, "ann") == DIFFERENT
        assert desk.session.ledger.lookup(np.array([[said.a, said.b]]))[0] == DIFFERENT

    def test_contradictions_are_shown_and_settled(self, desk):
        answer(desk, 30, "ann")
        said = next(s for s in desk.answers(limit=99).answers if s.answer == "different")
        desk.import_answers(f"a,b,answer\n{said.a},{said.b},same\n", who="bob")
        (found,) = desk.contradictions()
        assert {(s.a, s.b) for s in found.pairs} <= {(said.a, said.b), (said.b, said.a)}
        assert desk.standing().contradictions == 1
        desk.correct(said.a, said.b, "different", who="ann")
        assert desk.contradictions() == []


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
    for a, b, answered in parted(members, out, ledger.active()):
        ledger.record([[a, b]], [answered], who="ann", asked=False)
    assert ledger.contradictions == []
    rest = [row for row in members if row not in out]
    for row in rest[1:]:
        assert ledger.lookup(np.array([[rest[0], row]]))[0] == SAME
    for row in out:
        assert ledger.lookup(np.array([[rest[0], row]]))[0] != SAME


@settings(max_examples=60)
@given(edges)
def test_merging_kinds_never_contradicts(said):
    ledger = Ledger()
    groups = [[0, 1, 2], [3, 4], [5, 6, 7]]
    kind = {row: k for k, group in enumerate(groups) for row in group}
    for group in groups:
        for row in group[1:]:
            ledger.record([[group[0], row]], [SAME], who="ann")
    for a, b, _ in said:
        ledger.record([[a, b]], [kind[a] == kind[b]], who="ann")
    for a, b, answered in merged(groups, ledger.active()):
        ledger.record([[a, b]], [answered], who="ann", asked=False)
    assert ledger.contradictions == []
    assert all(ledger.lookup(np.array([[0, row]]))[0] == SAME for row in range(1, 8))


class TestImport:
    def test_answers_are_free_and_used(self, desk):
        pairs = [(0, row, int(KINDS[row] == 0)) for row in range(1, 200, 7)]
        text = "answer,b,a,note\n" + "".join(f"{s},{b},{a},x\n" for a, b, s in pairs)
        assert desk.import_answers(text) == len(pairs)
        assert desk.import_answers(text, who="bob") == 0  # no news
        assert desk.standing().questions == 0
        together = range(1, 40, 7)
        assert set(together) <= set(desk.session.members_of(0))  # at once
        answer(desk, 60)
        assert len(desk.outline().kinds) == 5

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "first line"),
            ("a,b\n1,2\n", "answer is missing"),
            ("a,b,answer\n", "no answer"),
            ("a,b,answer\n1,1,same\n", "itself"),
            ("a,b,answer\n1,2000,same\n", "Line 2: '2000' is not a row"),
            ("a,b,answer\n1,-2,same\n", "'-2' is not a row"),
            ("a,b,answer\n1,2,perhaps\n", "'perhaps'"),
            ("a,b,answer\n1\n", "Line 2 has only 1"),
            ('a,b,answer\n"1,2,same\n', "not a CSV"),
        ],
    )
    def test_what_is_wrong_is_said(self, desk, text, message):
        with pytest.raises(DeskError, match=message):
            desk.import_answers(text)
        assert desk.answers().total == 0

    def test_words(self):
        _, answers = read_answers("a,b,answer\n0,1,Yes\n1,2,NO\n2,3,\n3,4,-1\n", 9)
        assert answers.tolist() == [1, 0, -1, -1]


class TestExport:
    def test_all_files(self, desk, tmp_path):
        answer(desk, 60)
        desk.rename(cluster_of(desk, 0), "=HYPERLINK(1)")
        for name in ("csv", "parquet", "json", "npz"):
            desk.export(f"clusters.{name}", tmp_path / f"c.{name}")
        table = pd.read_csv(tmp_path / "c.csv")
        assert len(table) == 200
        assert table["confidence"].between(0, 1).all()
        assert (table.loc[table["known"], "confidence"] == 1).all()
        assert set(table["name"].dropna()) == {"'=HYPERLINK(1)"}
        assert (
            pd.read_parquet(tmp_path / "c.parquet")["cluster"].tolist() == table["cluster"].tolist()
        )
        document = json.loads((tmp_path / "c.json").read_text())
        assert [row["cluster"] for row in document["rows"]] == table["cluster"].tolist()
        assert {kind["name"] for kind in document["kinds"]} == {"=HYPERLINK(1)", None}
        assert Clusters.load(tmp_path / "c.npz").n_discovered_ == 5

    def test_answers_can_be_taken_in_again(self, desk, file, tmp_path):
        answer(desk, 60)
        desk.export("answers.csv", tmp_path / "answers.csv")
        with open(tmp_path / "answers.csv", newline="") as lines:
            assert {line["answer"] for line in csv.DictReader(lines)} == {"same", "different"}
        other = Desk(load_things(file), random_state=1)
        other.import_answers((tmp_path / "answers.csv").read_text())
        known = [row for row in range(200) if desk.session.members_of(row)]
        assert {row for row in known if not other.session.members_of(row)} <= {
            k.kind for k in desk.outline().kinds if k.known == 1
        }

    def test_report(self, desk, tmp_path):
        answer(desk, 30)
        desk.export("report.html", tmp_path / "report.html")
        assert "<html" in (tmp_path / "report.html").read_text()

    def test_unknown(self, desk, tmp_path):
        with pytest.raises(DeskError, match="these can"):
            desk.export("../x", tmp_path / "x")


class TestLooking:
    def test_changes_nothing(self, file):
        quiet, watched = (Desk(load_things(file), random_state=0) for _ in range(2))
        for _ in range(60):
            for _ in range(2):
                watched.outline()
                watched.map()
                watched.session.confidence(np.arange(200))
            (a,), (b,) = quiet.next("ann"), watched.next("ann")
            assert a == b
            quiet.answer(a.id, truth(a), who="ann")
            watched.answer(b.id, truth(b), who="ann")

    def test_pages_of_a_kind(self, desk):
        answer(desk, 60)
        kind = cluster_of(desk, 4)
        whole = desk.kind(kind, limit=1000)
        assert whole.total == 40 == len(whole.rows)
        assert whole.known == sorted(whole.known, reverse=True)
        pages = [desk.kind(kind, offset=start, limit=7) for start in range(0, 49, 7)]
        assert [row for page in pages for row in page.rows] == whole.rows

    def test_map_and_history(self, desk):
        answer(desk, 60)
        points, kinds = desk.map()
        assert len(points) == 200
        assert all(0 <= x <= 1 and 0 <= y <= 1 for x, y, *_ in points)
        assert {k for _, _, k, _, _ in points} == set(range(len(kinds)))
        questions, found = desk.history()
        assert questions == sorted(questions)
        assert found[-1] == 5

    def test_without_a_seed(self, file):
        desk = Desk(load_things(file))  # draws a large one
        assert len(desk.map()[0]) == 200

    def test_empty(self, desk):
        (kind,) = desk.outline().kinds  # the first row is of some kind
        assert (kind.known, kind.estimated) == (1, 200)
        assert desk.map()[1] == [kind.kind]
        assert desk.contradictions() == []
        assert "too early" in desk.standing().left_text

    def test_what_is_left(self, desk):
        answer(desk, 50)
        now = desk.standing()
        assert now.next_kind is None or now.next_kind >= 1
        assert desk.outline().promise is not None


class TestProject:
    def test_remembers_its_things_and_settings(self, file, tmp_path):
        project = tmp_path / "mine.db"
        desk = make_desk(load_things(file), project, title="Mine", budget=30, random_state=3)
        answer(desk, 12)
        questions = desk.next("ann")
        desk.close()
        again = open_desk(project)
        assert again.title == "Mine"
        assert again.session.budget == 30
        assert again.next("ann") == questions

    def test_is_not_one(self, tmp_path):
        with pytest.raises(LedgerError, match="no such project"):
            open_desk(tmp_path / "none.db")
        Desk(demo_things(), tmp_path / "other.db", random_state=0).close()
        with pytest.raises(LedgerError, match="does not say"):
            open_desk(tmp_path / "other.db")

    def test_two_desks_on_one_project(self, file, tmp_path):
        project = tmp_path / "mine.db"
        one = Desk(load_things(file), project, random_state=0)
        two = Desk(load_things(file), project, random_state=0)
        for turn in range(30):
            desk, who = (one, "ann") if turn % 2 else (two, "bob")
            answer(desk, 1, who)
        assert one.next("x") == two.next("y")
        assert one.standing().clicks == 30
        assert one.contradictions() == []
