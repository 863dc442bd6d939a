"""Several people at once: who gets which question, late answers, and that runs can be repeated (P7)."""

from __future__ import annotations

import heapq
import multiprocessing
import sqlite3
import time
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.team_quality import answer_together as quality_of_team
from conftest import POSTGRES, place_for
from conftest import honest as truth
from samekind import SAME, Ledger
from samekind.data import Items
from samekind.datasets import load_digits, make_synthetic
from samekind.ledger import ProjectURL, forget
from samekind.measures import adjusted_rand_index
from samekind.project import Project, QuestionClosed
from samekind.project.sharing import SECONDS, Comparison, Offers

N = 600


@pytest.fixture(scope="module")
def data():
    return make_synthetic(N, n_clusters=6, alpha=1.0, random_state=3)


def project_of(data, ledger=None, **settings):
    items = Items.of_array(data[0], "rows", [f"x{k}" for k in range(data[0].shape[1])])
    return Project(items, ledger, **{"random_state": 0, "sheet": 0} | settings)


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def answer_together(project, y, people, presses, *, seed=0, clock=None, after=lambda: None):
    """Let people answer, each in their own time; return how often each of them did, and their questions."""
    rng, clock = np.random.default_rng(seed), clock or Clock()
    project.clock = clock
    waiting = [(rng.random(), who) for who in people]
    heapq.heapify(waiting)
    held, seen = {}, []
    while len(seen) < presses and waiting:
        clock.now, who = heapq.heappop(waiting)
        if who in held:
            question = held.pop(who)
            project.answer(question.id, truth(question, y), who=who)
            seen.append((who, question.id))
            after()
        for question in project.next(who)[:1]:
            held[who] = question
        if who in held:
            heapq.heappush(waiting, (clock.now + rng.gamma(4, 0.5), who))
    return seen


def partition(session):
    return {frozenset(members) for members in session.known_clusters() if members}


class TestEverybodyHasSomethingToDo:
    @pytest.mark.parametrize("count", [2, 50])
    def test_nothing_is_refused_nor_asked_twice(self, data, count):
        """P4, P7: two, ten or fifty people at once."""
        project = project_of(data)
        people = [f"p{k}" for k in range(count)]
        seen = answer_together(project, data[1], people, 300)
        assert len(seen) == 300
        assert len({question for _, question in seen}) == 300
        pairs = [frozenset((line.a, line.b)) for line in project.session.ledger.lines()]
        assert len(pairs) == len(set(pairs))
        assert project.status().presses == 300
        assert adjusted_rand_index(data[1], project.clusters().labels_) > 0.9

    @settings(max_examples=8, deadline=None)
    @given(st.lists(st.floats(0.1, 50.0), min_size=2, max_size=8), st.integers(0, 2**31))
    def test_everybody_gets_their_share(self, data, slowness, seed):
        """P7: Whoever is how slow: nobody waits for another, and nobody is given what another has."""
        project, clock = project_of(data), Clock()
        project.clock = clock
        rng = np.random.default_rng(seed)
        waiting = [(0.0, k) for k in range(len(slowness))]
        held, presses = {}, dict.fromkeys(range(len(slowness)), 0)
        for _ in range(80):
            clock.now, k = heapq.heappop(waiting)
            if k in held:
                question = held.pop(k)
                project.answer(question.id, truth(question, data[1]), who=f"p{k}")
                presses[k] += 1
            (question,) = project.next(f"p{k}")
            assert question.id not in {other.id for other in held.values()}
            held[k] = question
            heapq.heappush(waiting, (clock.now + slowness[k] * (0.5 + rng.random()), k))
        quickest = min(range(len(slowness)), key=slowness.__getitem__)
        assert presses[quickest] >= 0.75 * max(presses.values())  # how long each one takes varies

    def test_asked_again_they_get_the_same(self, data):
        """P5: a reload shows the same questions."""
        project = project_of(data)
        answer_together(project, data[1], ["ann", "bob", "cy"], 60)
        for who in ("ann", "bob", "cy"):
            assert project.next(who, most=3) == project.next(who, most=3)

    def test_a_finished_project_has_no_questions_beyond_the_wave_either(self, data):
        project, people = project_of(data), [f"p{k}" for k in range(8)]
        answer_together(project, data[1], people, 60)
        assert all(project.next(who) for who in people)
        project.standing.finish()
        assert not any(project.next(who) for who in people)
        project.standing.resume()
        assert all(project.next(who) for who in people)

    @pytest.mark.slow
    def test_kinds_that_many_find_at_once_become_one(self):
        X, y = load_digits(return_X_y=True)
        found = quality_of_team(X, y, 50, [300], 0)
        assert found["ari"][300] > 0.9  # 0.77 where an eighth of their questions compared kinds

    def test_a_generator_has_nothing_else_so_a_question_is_shared(self, data):
        """P7: nobody waits: the only question is shared, and the late answer is an opinion."""
        project = project_of(data, algorithm="basic")
        (first,) = project.next("ann")
        assert project.next("bob") == [first]
        for who in ("ann", "bob"):
            project.answer(first.id, truth(first, data[1]), who=who)
        with pytest.raises(QuestionClosed):
            project.answer(first.id, "same", who="bob")
        (late,) = project.session.ledger.log.opinions.standing()
        assert (late.who, project.status().presses) == ("bob", 2)

    def test_where_answers_may_be_wrong_both_count(self, data):
        project = project_of(data, error_rate=0.1, overlap=1)
        (first,) = project.next("ann")
        project.clock = lambda: time.time() + 10 * SECONDS
        assert first in project.next("bob", most=9)
        for who in ("ann", "bob"):
            project.answer(first.id, truth(first, data[1]), who=who)
        assert len(project.session.ledger) == 2
        assert project.status().questions == 1


class TestTheRunCanBeRepeated:
    @pytest.mark.parametrize("kind", ["sql", POSTGRES])
    def test_opened_again(self, data, request, kind):
        """P6: With the same ledger it knows the same, whatever was answered beyond what was pending."""
        place = place_for(request, kind)
        project = project_of(data, place)
        answer_together(project, data[1], [f"p{k}" for k in range(12)], 150)
        again = project_of(data, place, random_state=None)
        assert again.session.n_questions == project.session.n_questions
        assert partition(again.session) == partition(project.session)
        labels = [one.clusters().labels_ for one in (project, again)]
        assert (labels[0] == labels[1]).all()
        project.close()
        again.close()

    def test_two_programs_on_one_project(self, data, tmp_path):
        """P6, P7: six people at two programs never have the same question."""
        here, there = (project_of(data, tmp_path / "mine.db") for _ in range(2))
        clock = Clock()
        here.clock = there.clock = clock
        held = {}
        for k in range(120):
            clock.now += 0.1
            who, project = f"p{k % 6}", (here, there)[k % 2]
            if who in held:
                project.answer(held[who].id, truth(held[who], data[1]), who=who)
            (held[who],) = project.next(who)
            ids = [question.id for question in held.values()]
            assert len(ids) == len(set(ids))
        here.catch_up()
        there.catch_up()
        assert partition(here.session) == partition(there.session)
        here.close()
        there.close()

    @pytest.mark.parametrize("is_extra", [False, True])
    def test_what_could_not_be_written_can_be_sent_again(
        self, data, tmp_path, monkeypatch, is_extra
    ):
        """P3: a failed request keeps no key."""
        with Ledger(tmp_path / "rows.db") as ledger:
            project = project_of(data, ledger)
            answer_together(project, data[1], ["ann", "bob"], 40)
            shown = {who: project.next(who)[0] for who in ("ann", "bob", "cat", "dan")}
            wave = set(map(int, project.session.pending()[:, 0]))
            who, question = next(
                (who, one)
                for who, one in shown.items()
                if (int(one.id.split("-")[1]) not in wave) == is_extra
            )

            def send():
                said = truth(question, data[1])
                project.once("key", "", lambda: project.answer(question.id, said, who=who), who=who)

            def fail(*_):
                raise OSError("full")

            before = len(ledger)
            with monkeypatch.context() as broken:
                broken.setattr(ledger, "keep_reply", fail)
                with pytest.raises(OSError, match="full"):
                    send()
            assert len(ledger) == before
            send()
            assert len(ledger) > before

    def test_undo_among_many(self, data):
        project = project_of(data)
        answer_together(project, data[1], ["ann", "bob", "cy"], 60)
        before = len(project.session.ledger)
        assert project.undo(who="bob")
        assert len(project.session.ledger) < before
        answer_together(project, data[1], ["ann", "bob", "cy"], 60)
        assert adjusted_rand_index(data[1], project.clusters().labels_) > 0.8


class TestNothingIsGivenToTwo:
    """P7: whichever rows stand for what is compared."""

    def share(self, project, who, *pairs):
        """Return which of some pairs somebody gets."""
        offered = [Comparison("p", a, (b,)) for a, b in pairs]
        offers = Offers(lambda held, own: iter(offered), list, lambda one: 1)
        return project.questions.sharing.share(who, 1, offers)

    @pytest.mark.parametrize(("of", "members"), [((1, 0), (0, 0)), ((0, 1), (-1, 1))])
    def test_two_clusters_are_compared_by_one_person(self, data, of, members):
        """Whichever rows stand for them."""
        project = project_of(data)
        answer_together(project, data[1], ["ann"], 40)
        clusters = sorted(filter(None, project.session.known_clusters()), key=len)[-2:]
        a, b = (clusters[k][0] for k in of)
        project.session.ledger.leases.share(
            "ann", lambda _: {a: f"p-{a}-{b}"}, now=project.clock(), until=project.clock() + 60
        )
        one, two = (clusters[k][member] for k, member in enumerate(members))
        assert self.share(project, "bob", (one, two)) == []
        (other,) = project.next("bob")
        asked = project.session.places_of(list(pairs_of(other)[0]))
        assert set(asked.tolist()) != set(project.session.places_of([a, b]).tolist())
        for who in ("ann", "bob"):
            project.session.ledger.leases.release(who)
        assert [found.row for found in self.share(project, "bob", (one, two))] == [one]

    def test_a_row_on_anothers_sheet_is_theirs(self, data):
        project = project_of(data)
        answer_together(project, data[1], ["ann"], 20)
        member = project.session.known_clusters()[0][0]
        unknown = [row for row in range(N) if not project.session.members_of(row)][:4]
        sheet = f"g-{member}-{'.'.join(map(str, unknown))}"
        now = project.clock()
        project.session.ledger.leases.share(
            "ann", lambda _: {unknown[0]: sheet}, now=now, until=now + 9
        )
        for row in unknown:
            assert self.share(project, "bob", (row, member)) == []

    @pytest.mark.parametrize("kind", ["sql", POSTGRES])
    def test_what_another_server_has_just_taken_an_answer_to(self, data, request, kind):
        """Between the look at the answers and the look at who has which question, both change."""
        place = place_for(request, kind)
        here, there = (project_of(data, place) for _ in range(2))
        here.next("bob")
        there.next("cy")
        for who in ("bob", "cy"):  # there are several people
            (question,) = here.next(who)
            here.answer(question.id, truth(question, data[1]), who=who)
        for _ in range(5):
            (held,) = there.next("ann")
            plan, changed = here.questions._offers, []

            def answered_meanwhile(*args, plan=plan, changed=changed, held=held):
                found = plan(*args)
                if not changed:
                    changed.append(1)
                    there.answer(held.id, truth(held, data[1]), who="ann")
                    there.next("ann")
                return found

            here.questions._offers = answered_meanwhile
            (got,) = here.next("bob")
            here.questions._offers = plan
            assert changed
            assert not set(pairs_of(got)) & set(pairs_of(held))
            here.answer(got.id, truth(got, data[1]), who="bob")
        assert len(here.session.ledger.log.opinions.lines) == 0
        here.close()
        there.close()

    def test_where_leases_cannot_be_written_this_server_remembers_them(self, data, tmp_path):
        place = tmp_path / "mine.db"
        project = project_of(data, place)
        answer_together(project, data[1], ["ann", "bob"], 20, clock=Clock())
        with sqlite3.connect(place, isolation_level=None) as other:
            other.execute("BEGIN IMMEDIATE")
            ids = [question.id for who in ("ann", "bob", "cy") for question in project.next(who)]
            other.execute("ROLLBACK")
        assert len(set(ids)) == 3
        assert [question.id for who in ("cy", "bob") for question in project.next(who)] == ids[
            :0:-1
        ]
        with Ledger(place, read_only=False) as ledger:
            assert ids[2] in ledger.leases.shown("cy")
        project.close()


def pairs_of(question):
    _, row, others = question.id.split("-")
    return [frozenset((int(row), int(other))) for other in others.split(".")]


class TestLeases:
    def test_a_question_passes_to_another_after_two_minutes(self, data):
        """P7: somebody went away with it."""
        project, clock = project_of(data, error_rate=0.1), Clock()
        project.clock = clock
        for _ in range(40):  # until there are two at once
            (question,) = project.next("ann")
            project.answer(question.id, truth(question, data[1]), who="ann")
        (first,) = project.next("ann")
        taken = {question.id for question in project.next("bob", most=9)}
        if len(project.session.pending()) > 1:
            assert first.id not in taken
        clock.now += SECONDS + 1
        assert first.id in {question.id for question in project.next("cy", most=9)}

    @staticmethod
    def take(place, who, got):
        with Ledger(place, wait=60) as ledger:
            for key in range(40):

                def choose(leases, key=key):
                    return {} if any(one.key == key for one in leases) else {key: f"q{key}"}

                if ledger.leases.share(who, choose, now=0.0, until=60.0):
                    got.put((key, who))

    @pytest.mark.parametrize("kind", ["sql", POSTGRES])
    def test_processes_share_them(self, request, kind):
        """P7: three processes at once."""
        place = place_for(request, kind)
        Ledger(place).close()
        context = multiprocessing.get_context("fork")
        got = context.Queue()
        workers = [context.Process(target=self.take, args=(place, f"p{k}", got)) for k in range(3)]
        for worker in workers:
            worker.start()
        found = [got.get(timeout=60) for _ in range(40)]
        for worker in workers:
            worker.join(60)
        assert [worker.exitcode for worker in workers] == [0] * 3
        assert sorted(key for key, _ in found) == list(range(40))
        assert got.empty()


class TestOpinionsInTheLedger:
    @staticmethod
    def fail_after_opinion(ledger):
        with suppress(ZeroDivisionError), ledger.transaction():
            ledger.opine([(1, 4, SAME)], who="bob")
            1 / 0  # noqa: B018

    @pytest.mark.parametrize("kind", ["sql", POSTGRES])
    def test_others_see_them(self, request, kind):
        """P6: opinions too."""
        place = place_for(request, kind)
        with Ledger(place) as ledger, Ledger(place) as other:
            ledger.opine([(4, 1, SAME)], who="ann")
            ledger.record([[5, 6]], [SAME], who="ann")
            other.refresh()
            (opinion,) = other.log.opinions.standing()
            assert opinion[:4] == (1, 4, SAME, "ann")
            other.opine([(1, 4, 0)], who="bob")
            ledger.refresh()
            assert ledger.log.opinions.disputed() == [(1, 4)]
            self.fail_after_opinion(ledger)
            assert ledger.log.opinions.disputed() == [(1, 4)]
            forget(ProjectURL(place) if isinstance(place, str) else place, "bob")
            ledger.refresh()
            assert ledger.log.opinions.disputed() == []
