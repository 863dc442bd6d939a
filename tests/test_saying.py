"""Saying what a row is, sheets, the criterion: in a project, over the API, at the prompt (P13 to P15)."""

from __future__ import annotations

import io
from contextlib import closing
from functools import partial

import numpy as np
import pytest
from rich.console import Console

from conftest import honest
from samekind import DIFFERENT, SAME
from samekind.data import load
from samekind.project import (
    NewCluster,
    Project,
    ProjectError,
    SheetAnswer,
    make_project,
    open_project,
)
from samekind.terminal import Lines, answer_in_terminal

WORDS = ["refund", "parcel", "password", "invoice", "stolen card"]
KINDS = np.arange(150) % len(WORDS)
TEXTS = [f"my {WORDS[kind]} number {row} please" for row, kind in enumerate(KINDS)]


def message_items(folder):
    """Messages of five kinds that are far apart, with vectors that say so."""
    data, vectors = folder / "messages.csv", folder / "vectors.npy"
    data.write_text("message\n" + "\n".join(TEXTS), encoding="utf-8")
    rng = np.random.default_rng(0)
    np.save(vectors, 6 * np.eye(8)[KINDS] + rng.normal(size=(len(KINDS), 8)))
    return load(data, text="message", embeddings=vectors)


@pytest.fixture(scope="module")
def items(tmp_path_factory):
    return message_items(tmp_path_factory.mktemp("messages"))


truth = partial(honest, kinds=KINDS)


def answered(items, count, path=None, **settings):
    """Return a project after so many presses."""
    project = Project(items, path, **{"random_state": 0, "sheet": 0} | settings)
    for _ in range(count):
        [question] = project.next("ann")
        project.answer(question.id, truth(question), who="ann")
    return project


def state(project):
    session = project.session
    return (
        [session.members_of(row) for row in range(len(KINDS))],
        session.n_questions,
        str(project.clusters().certificate_),
    )


def subject(question):
    return question.a.row if question.type == "pair" else question.item.row


def elsewhere(project, row):
    """Return a cluster that is not compared with a row in an open question."""
    [question] = project.next("ann")
    shown = [o.cluster for o in getattr(question, "options", [])]
    shown += [question.b_cluster.cluster] if question.type == "pair" else []
    return next(c.cluster for c in project.kinds.find(row=row) if c.cluster not in shown)


@pytest.fixture
def project(items):
    return answered(items, 14, lineup=2)


class TestInAQuestion:
    def test_any_cluster_settles_the_row_with_one_answer(self, project):
        """P15: what is said is said of the item that is not yet placed."""
        [question] = project.next("ann")
        row, ledger = subject(question), project.session.ledger
        cluster = elsewhere(project, row)
        before, lines, asked = state(project), len(ledger), project.session.n_questions
        project.answer(question.id, cluster, who="ann")
        assert row in project.session.members_of(cluster)
        assert len(ledger) == lines + 1
        assert project.session.n_questions == asked + 1
        assert row not in project.session.pending()[:, 0]
        assert project.undo(who="ann")
        assert state(project)[0] == before[0]
        assert row in project.session.pending()[:, 0]

    def test_a_new_cluster_is_there_at_once_and_goes_with_its_name(self, project):
        [question] = project.next("ann")
        row, before = subject(question), state(project)
        n_clusters, clicks = project.status().clusters, project.status().presses
        project.answer(question.id, NewCluster(" Lost  keys "), who="ann")
        assert project.session.members_of(row) == [row]
        assert project.status().clusters == n_clusters + 1
        assert project.status().presses == clicks + 1
        assert project.kinds.find("lost keys")[0].cluster == row
        others = [c.cluster for c in project.kinds.find() if c.cluster != row]
        pairs = np.array([[row, other] for other in others])
        assert (project.session.ledger.lookup(pairs) == DIFFERENT).all()
        [words] = project.undo(who="ann")
        assert words == f"row {row}: none of {n_clusters} kinds"
        assert state(project)[0] == before[0]
        assert row in project.session.pending()[:, 0]
        assert project.kinds.find("lost keys") == []

    def test_a_named_cluster_of_one_row_may_be_called_new_when_it_is_compared(self, items):
        """That says of which clusters it is none, and gives it another name."""
        project = Project(items, random_state=2, sheet=0)
        for _ in range(200):
            [question] = project.next("ann")
            row = subject(question)
            if project.session.members_of(row) == [row]:
                break
            refusal = "different" if question.type == "pair" else "none"
            project.answer(question.id, refusal, who="ann")  # so all are clusters of one row
        else:
            pytest.fail("no cluster of one row was compared with others")
        project.kinds.rename(row, "first")
        project.answer(question.id, NewCluster("second"), who="ann")
        assert project.session.members_of(row) == [row]
        assert project.kinds.name_of([row]) == "second"
        assert project.undo(who="ann")
        assert project.session.members_of(row) == [row]  # it was one before that question, too
        assert project.kinds.name_of([row]) == "first"
        assert row in project.session.pending()

    def test_a_new_cluster_of_a_name_that_there_is_means_that_one(self, project):
        """P14: whatever its capitals."""
        [question] = project.next("ann")
        cluster = elsewhere(project, subject(question))
        project.kinds.rename(cluster, "Refunds")
        n_clusters = project.status().clusters
        project.answer(question.id, NewCluster("refunds"), who="ann")
        assert subject(question) in project.session.members_of(cluster)
        assert project.status().clusters == n_clusters

    @pytest.mark.parametrize(
        "settings",
        [{"algorithm": "basic"}, pytest.param({"error_rate": 0.1}, marks=pytest.mark.slow)],
    )
    def test_nobody_is_trapped_where_a_run_cannot_be_told(self, items, settings):
        """Whatever is said of a row, another question comes in the end."""
        project = Project(items, random_state=0, **settings)
        asked = []
        for turn in range(40):
            questions = project.next("ann")
            if not questions:
                break
            row = subject(questions[0])
            asked.append(questions[0].id)
            fits = [
                c.cluster for c in project.kinds.find(row=row) if KINDS[c.cluster] == KINDS[row]
            ]
            said = fits[0] if fits and turn % 2 else NewCluster(WORDS[KINDS[row]])
            project.answer(questions[0].id, said, who="ann")
        assert len(asked) == len(set(asked))


class TestOfAnyRow:
    def test_belongs_to(self, project):
        known = project.kinds.find()[0].cluster
        other = project.kinds.find()[1].cluster
        row = next(r for r in range(150) if not project.session.members_of(r))
        before = state(project)
        project.kinds.place([row], known, who="ann")
        assert row in project.session.members_of(known)
        project.kinds.place([row], other, who="ann")  # it moves
        assert row in project.session.members_of(other)
        assert row not in project.session.members_of(known)
        assert not project.answers.contradictions()
        for _ in range(2):
            assert len(project.undo(who="ann")) == 1
        assert state(project)[0] == before[0]

    def test_a_member_leaves_its_cluster_whole(self, project):
        largest = max(project.kinds.find(), key=lambda c: c.known)
        members = project.session.members_of(largest.cluster)
        other = next(c.cluster for c in project.kinds.find() if c.cluster != largest.cluster)
        project.kinds.place(members[1:2], other, who="bob")
        assert members[1] in project.session.members_of(other)
        assert sorted(project.session.members_of(members[0])) == sorted({*members} - {members[1]})
        assert not project.answers.contradictions()

    def test_several_rows_are_a_new_cluster(self, project):
        rows = [r for r in range(150) if not project.session.members_of(r)][:3]
        project.kinds.place_in_new(rows, "odd ones", who="ann")
        assert sorted(project.session.members_of(rows[0])) == rows
        assert project.kinds.find("odd ones")[0].known == 3
        assert len(project.undo(who="ann")) == 1
        assert not project.session.members_of(rows[0])


@pytest.fixture(scope="module")
def named(items):
    project = answered(items, 30)
    for cluster in project.kinds.find(most=1000):
        project.kinds.rename(cluster.cluster, f"about a {WORDS[KINDS[cluster.cluster]]}")
    return project


class TestFinding:
    @pytest.mark.parametrize("text", ["REFUND", "abuot a refnud", "refun"])
    def test_by_name(self, named, text):
        """P14: a name is found as it is typed."""
        first = named.kinds.find(text)[0]
        assert (first.name, first.by) == ("about a refund", "name")

    def test_a_whole_name_comes_before_names_that_contain_it(self, items):
        """P14: "shirt" is not "tshirt"."""
        project = answered(items, 30)
        first, second = (one.cluster for one in project.kinds.find(most=1000)[:2])
        for name, other in (("tshirt", "shirt"), ("shirt", "tshirt")):
            project.kinds.rename(first, name)
            project.kinds.rename(second, f"{other} of another")
            project.kinds.rename(second, other)
            assert project.kinds.find("shirt")[0].name == "shirt"

    def test_by_a_word_of_an_example(self, items):
        project = answered(items, 30)
        found = project.kinds.find("stolen card")
        assert {KINDS[cluster.cluster] for cluster in found} == {4}
        assert all("stolen card" in item.text for item in found[0].members)

    def test_all_of_them_the_likeliest_first(self, named):
        unknown = [row for row in range(150) if not named.session.members_of(row)][:20]
        right = [KINDS[named.kinds.find(row=row)[0].cluster] == KINDS[row] for row in unknown]
        assert np.mean(right) >= 0.9
        assert len(named.kinds.find(row=unknown[0])) == named.status().clusters
        assert named.kinds.find("nothing of the kind whatsoever") == []


class TestSearching:
    def test_all_words_have_to_be_there_in_capitals_or_not(self, items):
        project = answered(items, 30)
        found = project.search("STOLEN number", limit=5)
        assert found.total == sum(KINDS == 4)
        assert found.rows == np.flatnonzero(KINDS == 4).tolist()
        assert len(found.items) == 5
        assert all("stolen card" in item.text for item in found.items)
        kinds = {item.kind.cluster for item in found.items if item.kind is not None}
        assert {KINDS[kind] for kind in kinds} == {4}
        assert project.search("stolen refund").total == 0
        assert project.search("stolen", offset=28).items[-1].row == found.rows[-1]

    def test_a_regular_expression_that_no_text_keeps_busy(self, items):
        project = Project(items, random_state=0)
        assert project.search("number [0-9] ", regex=True).rows == list(range(10))
        assert project.search("(x+x+)+y", regex=True).total == 0
        with pytest.raises(ProjectError, match="regular expression"):
            project.search("(", regex=True)
        with pytest.raises(ProjectError, match="no column"):
            project.search("a", column="other")

    def test_all_that_was_found_is_placed_in_one_act(self, items):
        """P2: as many rows as were found."""
        project = answered(items, 14)
        before = project.status().presses
        project.kinds.place_in_new(project.search("stolen").rows, "stolen card", who="ann")
        assert project.status().presses == before + 1
        [kind] = {item.kind.name for item in project.search("stolen", limit=50).items}
        assert kind == "stolen card"
        assert len(project.undo(who="ann")) == 1


class TestSheets:
    def sheet(self, project, most=300):
        for _ in range(most):
            [question] = project.next("ann")
            if question.type == "sheet":
                return question
            project.answer(question.id, truth(question), who="ann")
        pytest.fail("no sheet in so many questions")

    def test_one_press_answers_for_all(self, items):
        """P2: a sheet is one act."""
        project = answered(items, 0, sheet=12)
        question = self.sheet(project)
        rows = [item.row for item in question.items]
        assert 4 <= len(rows) <= 12
        clicks, asked = project.status().presses, project.session.n_questions
        before = state(project)
        project.answer(question.id, SheetAnswer(rows[:1]), who="ann")
        assert project.status().presses == clicks + 1
        assert project.session.n_questions == asked + len(rows)
        member = question.cluster.members[0].row
        told = project.session.ledger.lookup(np.array([[row, member] for row in rows]))
        assert told.tolist() == [DIFFERENT] + [SAME] * (len(rows) - 1)
        assert len(project.undo(who="ann")) == 1
        again = [q for q in project.next("ann", most=9) if q.type == "sheet"]
        assert sorted(rows) in [sorted(item.row for item in sheet.items) for sheet in again]
        assert state(project)[0] == before[0]

    def test_a_sheet_stays_one_when_something_else_is_told(self, items):
        project = answered(items, 0, sheet=12)
        question = self.sheet(project)
        rows = [item.row for item in question.items]
        project.kinds.place(rows[:1], question.cluster.cluster, who="bob")
        rest = [q for q in project.next("ann", most=9) if q.type == "sheet"]
        assert rows[1:] in [[item.row for item in q.items] for q in rest]

    def test_nonsense_is_refused(self, items):
        project = answered(items, 0, sheet=12)
        question = self.sheet(project)
        other = next(r for r in range(150) if r not in [item.row for item in question.items])
        for said in (SheetAnswer([other]), "same", 3, NewCluster("x")):
            with pytest.raises(ProjectError, match="answer to a sheet"):
                project.answer(question.id, said, who="ann")

    def test_every_row_is_known_with_fewer_presses(self, items):
        presses = {}
        for size in (0, 12):
            project = answered(items, 0, sheet=size)
            while questions := project.next("ann"):
                said = truth(questions[0])
                project.answer(questions[0].id, said, who="ann")
                outs = len(said.different) if isinstance(said, SheetAnswer) else 0
                presses[size] = presses.get(size, 0) + 1 + outs
            assert project.status().known_rows == 150
        assert presses[12] <= 0.6 * presses[0]

    def test_they_can_be_switched_off_and_on(self, items, tmp_path):
        path = tmp_path / "mine.db"
        project = make_project(items, path, random_state=0)
        self.sheet(project)
        known = project.status().known_rows
        project.questions.use_sheets(False)
        assert project.status().known_rows == known
        assert not project.status().sheets
        for _ in range(20):
            [question] = project.next("ann")
            assert question.type != "sheet"
            project.answer(question.id, truth(question), who="ann")
        project.close()
        again = make_project(items, path)
        assert not again.status().sheets
        again.questions.use_sheets(True)
        self.sheet(again)
        again.close()

    def test_other_programs_heed_that_they_were_switched(self, items, tmp_path):
        """P6: settings are shared too."""
        path = tmp_path / "mine.db"
        with (
            closing(make_project(items, path, random_state=0)) as one,
            closing(make_project(items, path)) as two,
        ):
            self.sheet(one)
            one.questions.use_sheets(False)
            assert not two.status().sheets
            for _ in range(10):
                [question] = two.next("bob")
                assert question.type != "sheet"
                two.answer(question.id, truth(question), who="bob")
            assert one.status().known_rows == two.status().known_rows
            one.questions.use_sheets(True)
            two.questions.use_sheets(True)  # as it is already
            assert two.status().sheets
            two.questions.use_sheets(False)
            assert not one.status().sheets


def test_the_criterion_is_kept_with_the_project(items, tmp_path):
    project = make_project(items, tmp_path / "mine.db", random_state=0)
    assert project.status().criterion == ""
    project.standing.set_criterion(" same  intent of the customer ")
    project.close()
    again = open_project(tmp_path / "mine.db")
    assert again.status().criterion == "same intent of the customer"
    with pytest.raises(ProjectError, match="at most 200 characters"):
        again.standing.set_criterion("x" * 201)
    again.close()


class TestAtThePrompt:
    def sit_down(self, project, *lines):
        """Return what the screen showed when somebody typed these lines."""
        screen, given = io.StringIO(), iter(lines)

        def read():
            line = next(given, None)
            if line is None:
                raise EOFError
            return line

        console = Console(file=screen, width=80, force_terminal=False)
        answer_in_terminal(project, who="ann", console=console, keys=Lines(read))
        project.standing.resume()
        return screen.getvalue()

    def test_a_kind_is_found_or_made(self, project):
        """P17: at the prompt as on the page."""
        project.standing.set_criterion("same thing lost")
        [question] = project.next("ann")
        row = subject(question)
        screen = self.sit_down(project, "f", "lost keys", "n", "q")
        assert "same thing lost" in screen
        assert "N a new kind “lost keys”" in screen
        assert project.session.members_of(row) == [row]
        assert project.kinds.find("lost keys")[0].cluster == row
        [question] = project.next("ann")
        row = subject(question)
        self.sit_down(project, "f", "Lost Keys", "q")  # a name that there is
        pair = np.array([[row, project.kinds.find("lost keys")[0].cluster]])
        assert project.session.ledger.lookup(pair) == [SAME]
        lines = len(project.session.ledger)
        self.sit_down(project, "f", "nothing like it", "", "q")  # thought better of it
        assert len(project.session.ledger) == lines

    def test_sheets(self, items):
        project = answered(items, 0, sheet=12)
        question = TestSheets().sheet(project)
        assert project.next("ann")[0].id == question.id
        rows = [item.row for item in question.items]
        screen = self.sit_down(project, "o", "2 99", "o", "2, 3", "q")
        assert "Are these all of the kind" in screen
        assert "Nothing was answered." in screen
        pairs = np.array([[row, question.cluster.members[0].row] for row in rows])
        told = project.session.ledger.lookup(pairs).tolist()
        assert told == [SAME, DIFFERENT, DIFFERENT] + [SAME] * (len(rows) - 3)


def test_what_is_said_by_hand_counts_whoever_answered_before(items):
    """P2: Bob may move what Ann answered, and merge what she told apart; undone, her answers stand again."""
    project = answered(items, 30)
    one, two = (c.cluster for c in project.kinds.find()[:2])
    before = list(map(sorted, state(project)[0]))
    project.kinds.merge([one, two], who="bob")
    assert project.answers.contradictions() == []
    assert two in project.session.members_of(one)
    project.undo(who="bob")
    assert list(map(sorted, state(project)[0])) == before
    moved = project.session.members_of(one)[1]
    project.kinds.place([moved], two, who="bob")
    assert project.answers.contradictions() == []
    assert moved in project.session.members_of(two)
    project.undo(who="bob")
    assert list(map(sorted, state(project)[0])) == before
