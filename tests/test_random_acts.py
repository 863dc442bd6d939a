"""Random acts: a live project, one opened again and one of another program always say the same (P6).

What is known follows from the answers that stand. So it must not matter who wrote them, in which order they
were read, or what was done and taken back in between.
"""

from __future__ import annotations

import threading
from contextlib import closing
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import honest
from samekind import DIFFERENT, SAME, UNSURE, Ledger, Session
from samekind.data import Items
from samekind.measures import adjusted_rand_index
from samekind.project import Project, ProjectError
from toy_folding import Toy

N, K = 24, 4
KINDS = np.arange(N) % K
ROWS = (
    np.random.default_rng(5).normal(size=(N, 2))
    + 6 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])[KINDS]
)
SETTINGS = [{}, {"error_rate": 0.1}, {"algorithm": Toy}]
IDS = ["trusted", "may be wrong", "toy"]

acts = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "answer",
                "answer",
                "answer",
                "unsure",
                "skip",
                "undo",
                "correct",
                "merge",
                "remove",
                "place",
                "new",
                "import",
                "rename",
            ]
        ),
        st.integers(0, 2**16),
        st.sampled_from(["ann", "bob"]),
    ),
    max_size=10,
)


def items():
    return Items.of_array(ROWS, "rows", ["x", "y"])


truth = partial(honest, kinds=KINDS)


def clusters_of(project):
    found = [rows for rows in project.session.known_clusters() if rows]
    return sorted(found, key=lambda rows: (-len(rows), rows))


def perform(project, act, number, who):
    """Do something; nothing if there is nothing to do it to."""
    groups = clusters_of(project)
    if act in ("answer", "unsure", "skip"):
        for question in project.next(who):
            project.answer(question.id, truth(question) if act == "answer" else act, who=who)
    elif act == "undo":
        project.undo(1 + number % 3, who=who)
    elif act == "correct":
        said = project.answers.page(limit=999).answers
        if said:
            one = said[number % len(said)]
            word = ["same", "different", "unsure"][number % 3]
            project.answers.correct(one.a, one.b, word, who=who)
    elif act == "merge" and len(groups) > 1:
        project.kinds.merge([groups[0][0], groups[1 + number % (len(groups) - 1)][0]], who=who)
    elif act == "remove" and groups and len(groups[0]) > 1:
        project.kinds.remove(groups[0][0], groups[0][1 : 2 + number % 2], who=who)
    elif act == "place" and groups:
        project.kinds.place([number % N], groups[number % len(groups)][0], who=who)
    elif act == "new":
        project.kinds.place_in_new([number % N], f"kind {number % 5}", who=who)
    elif act == "import":
        pairs = [(number % N, (number + step) % N) for step in (1, 3, 4)]
        lines = [f"{a},{b},{int(KINDS[a] == KINDS[b])}" for a, b in pairs]
        project.answers.import_csv("\n".join(["a,b,answer", *lines]), who=who)
    elif act == "rename" and groups:
        project.kinds.rename(groups[0][0], f"name {number}", who=who)


def known(project):
    """Return all that programs must agree on."""
    project.catch_up()
    session, found = project.session, project.clusters()
    members = [rows for rows in session.known_clusters() if rows]
    return {
        "labels": found.labels_.tolist(),
        "members": sorted(map(sorted, members)),
        "numbers": {min(rows): project.kinds.numbers.of(rows[0]) for rows in members},
        "names": {min(rows): project.kinds.name_of(rows) for rows in members},
        "given up": sorted(found.given_up_.tolist()),
        "questions": session.n_questions,
        "presses": project.standing.n_presses,
    }


def opened(path, setting):
    return Project(items(), path, random_state=0, sheet=0, **setting)


@pytest.mark.parametrize("setting", SETTINGS, ids=IDS)
class TestPrograms:
    @settings(max_examples=8, deadline=None)
    @given(history=acts)
    def test_say_the_same_whatever_was_done(self, setting, history, tmp_path_factory):
        """P6: two programs and one opened later agree."""
        path = tmp_path_factory.mktemp("acts") / "mine.db"
        with closing(opened(path, setting)) as one, closing(opened(path, setting)) as two:
            for act, number, who in history:
                try:
                    perform((one, two)[number % 2], act, number, who)
                except ProjectError:
                    continue
            with closing(opened(path, setting)) as again:
                expected = known(again)
            assert known(one) == expected
            assert known(two) == expected

    @settings(max_examples=8, deadline=None)
    @given(history=acts, last=acts.filter(bool))
    def test_undo_restores_what_there_was(self, setting, history, last):
        """P2: clusters, names and numbers are as before the act."""
        project = opened(None, setting)
        for act, number, who in history:
            try:
                perform(project, act, number, who)
            except ProjectError:
                continue
        for act, number, _ in last:
            if act == "undo":
                continue
            before = known(project)
            last = project.session.ledger.log.last_acts(1)
            try:
                perform(project, act, number, "cy")
            except ProjectError:
                continue
            if project.session.ledger.log.last_acts(1) != last:
                assert len(project.undo(who=None)) >= 1
                # answers that come back when what replaced them goes may count as another press
                assert known(project) | {"presses": before["presses"]} == before


@pytest.mark.parametrize("setting", SETTINGS, ids=IDS)
class TestSessions:
    def test_two_share_the_work(self, setting, tmp_path):
        """P4, P6: nothing is asked twice, and both find the same."""
        path = tmp_path / "mine.db"
        both = [Session(ROWS, ledger=path, random_state=0, **setting) for _ in range(2)]
        for turn in range(300):
            session = both[turn % 2]
            session.catch_up()
            pairs = session.pending()
            if not len(pairs):
                break
            session.tell(pairs, KINDS[pairs[:, 0]] == KINDS[pairs[:, 1]], who="ab"[turn % 2])
        lines = list(both[0].ledger.lines())
        assert len({frozenset(line[:2]) for line in lines}) == len(lines)
        for session in both:
            session.catch_up()
        assert (both[0].clusters().labels_ == both[1].clusters().labels_).all()
        assert adjusted_rand_index(KINDS, both[0].clusters().labels_) == 1
        for session in both:
            session.close()

    @settings(max_examples=10, deadline=None)
    @given(
        said=st.lists(
            st.tuples(
                st.integers(0, N - 1),
                st.integers(0, N - 1),
                st.sampled_from([SAME, DIFFERENT, UNSURE]),
                st.sampled_from(["ann", "bob"]),
            ).filter(lambda line: line[0] != line[1]),
            max_size=25,
        ),
        undone=st.integers(0, 5),
    )
    def test_any_answers_can_be_taken_in_and_back(self, setting, said, undone, tmp_path_factory):
        """Nobody asked for them, and some contradict others."""
        path = tmp_path_factory.mktemp("said") / "mine.db"
        with Session(ROWS, ledger=path, random_state=0, **setting) as session:
            for a, b, answer, who in said:
                session.learn([[a, b]], [answer], who=who)
            if undone and said:
                session.undo(undone, together=True)
            with Session(ROWS, ledger=Ledger(path, read_only=True), **setting) as again:
                assert (again.clusters().labels_ == session.clusters().labels_).all()
                live, opened = (
                    sorted(sorted(rows) for rows in one.known_clusters() if rows)
                    for one in (session, again)
                )
                assert live == opened
                again.ledger.close()


def test_what_was_taken_back_is_asked_again():
    """P2: and in the same order."""
    session = Session(ROWS, Toy, random_state=0)
    asked = []
    for _ in range(10):
        asked.append(session.pending())
        session.tell(asked[-1], KINDS[asked[-1][:, 0]] == KINDS[asked[-1][:, 1]])
    session.undo(3)
    again = session.pending().tolist()
    assert again == np.concatenate(asked[-3:]).tolist()


def test_others_go_on_while_all_answers_are_folded_again():
    """P8: an undo takes its time, and readers go on."""

    class Slow(Toy):
        name = "slow"

        def choose(self, n, taken=()):
            if is_slow and threading.current_thread() is who_undoes:
                folds.set()
                goes_on.wait(20)
            return super().choose(n, taken)

    is_slow, folds, goes_on = [], threading.Event(), threading.Event()
    who_undoes = None
    session = Session(ROWS, Slow, random_state=0)
    for _ in range(6):
        pairs = session.pending()
        session.tell(pairs, KINDS[pairs[:, 0]] == KINDS[pairs[:, 1]], who="ann")
    last = session.pending()
    is_slow.append(True)
    who_undoes = threading.Thread(target=session.undo)
    who_undoes.start()
    assert folds.wait(20)
    assert session.pending().tolist() == last.tolist()
    goes_on.set()
    who_undoes.join(20)
    assert session.pending().tolist() == pairs.tolist()  # what was taken back is asked again
