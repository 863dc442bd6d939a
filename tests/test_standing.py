"""Where the work stands: presses, their budget and history, what they will find, whether to stop."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from samekind import Session
from samekind.algorithms import Certificate
from samekind.data import Items, demo_items, load
from samekind.datasets import load_digits
from samekind.engine import discovery_times, forecast_discovery
from samekind.project import Project, make_project, open_project
from samekind.project.words import advice_in_words, left_in_words
from test_project import KINDS, ROWS, answer, truth


@pytest.fixture
def file(tmp_path):
    np.save(tmp_path / "rows.npy", ROWS)
    return tmp_path / "rows.npy"


class TestForecast:
    def test_a_regular_pace_goes_on(self):
        found = forecast_discovery(np.arange(0, 100, 10), now=91)
        assert found.low < 10 < found.high < 60
        assert 3 < found.median < 15
        assert found.found_within(50) == pytest.approx(5, rel=0.3)

    def test_the_longer_nothing_is_found_the_longer_it_takes(self):
        quiet = [forecast_discovery([1, 2, 4, 6, 9], now) for now in (9, 20, 40, 80)]
        lows = [found.low for found in quiet]
        assert lows == sorted(lows)
        none = [found.none_left for found in quiet]
        assert none == sorted(none)
        assert none[0] < 0.1
        assert none[-1] > 0.9
        assert np.isinf(quiet[-1].median)

    def test_after_very_long_nothing_it_still_says_so(self):
        found = forecast_discovery(range(1, 13), now=10_000)
        assert found.none_left == 1
        assert 0 < found.low < found.median == found.high == np.inf
        assert found.found_within(50) == 0

    def test_nothing_is_said_at_first(self):
        assert forecast_discovery([1], 2) is None
        assert Session(ROWS, random_state=0).forecast() is None

    def test_a_session_forecasts_questions(self):
        session = Session(ROWS, random_state=0)
        for _ in range(20):
            pairs = session.pending()
            session.tell(pairs, KINDS[pairs[:, 0]] == KINDS[pairs[:, 1]])
        assert session.forecast().low >= 0

    def test_clusters_that_proved_to_be_one_are_not_counted(self):
        assert discovery_times([0, 1, 2, 5, 7], [1, 2, 3, 2, 4]).tolist() == [0, 1, 7, 7]


class TestWords:
    def test_singular_and_plural(self):
        found = forecast_discovery([1, 2, 3, 4, 5, 6, 7], 7)
        assert left_in_words(found, False).startswith("about 1 more press for the next kind")
        found = forecast_discovery([10, 20, 30, 40, 50, 60], 61)
        assert "more presses for the next kind (1 to" in left_in_words(found, False)
        assert left_in_words(forecast_discovery([1, 2, 3, 4], 300), False) == (
            "hardly a new kind to be expected"
        )
        assert left_in_words(None, True) == ""

    CERTIFICATE = Certificate(0.95, 0.01, 0.02, 300, 2, 0, wrong_at_any_time=0.03)

    def test_safe(self):
        assert advice_in_words(self.CERTIFICATE, True, 1500, 2000, 50, 0.9, 4) == (
            "Safe to stop: at least 98 % of the labels are right; another 50 presses would find "
            "about one more kind with about 4 rows."
        )

    def test_not_safe(self):
        doubtful = replace(self.CERTIFICATE, wrong=0.2641)
        assert advice_in_words(doubtful, False, 1500, 2000, 50, 3.4, 12) == (
            "Not yet: up to 27 % of the labels may be wrong; another 50 presses would find about "
            "3 more kinds with about 12 rows each."
        )

    def test_a_small_pile_is_counted_as_small(self):
        doubtful = replace(self.CERTIFICATE, wrong=0.3)
        text = advice_in_words(doubtful, False, 60, 394, 50, 0.02, 1)
        assert text == (
            "Not yet: up to 16 % of the labels may be wrong, 60 of the 60 rows that are not known; "
            "another 50 presses would hardly find a new kind."
        )

    def test_all_is_known(self):
        assert advice_in_words(None, False, 0, 50, 50, None, None).startswith("Safe to stop")

    def test_what_is_not_known_bounds_what_is_wrong_before_any_check(self):
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

    def test_finishing_is_remembered(self, file, tmp_path):
        project = make_project(load(file), tmp_path / "mine.db", random_state=0)
        answer(project, 5)
        project.finish()
        project.close()
        again = open_project(tmp_path / "mine.db")
        assert again.status().done
        assert again.next() == []
        again.resume()
        assert again.next()
        again.close()

    def test_the_history_is_in_presses_and_the_same_after_a_restart(self, file, tmp_path):
        project = make_project(load(file), tmp_path / "mine.db", random_state=0)
        answer(project, 40)
        history = project.history()
        assert history.presses[-1] == 40
        assert history.questions[-1] == project.status().questions > 40
        assert sorted(history.presses) == history.presses
        times, forecast = project._discovery_times().tolist(), project.forecast()
        project.close()
        again = open_project(tmp_path / "mine.db")
        assert again._discovery_times().tolist() == times
        assert again.forecast() == forecast
        again.close()

    def test_what_is_taken_back_does_not_count(self, file):
        project = Project(load(file), random_state=0)
        answer(project, 30)
        project.undo(10)
        assert project.status().presses == 20
        assert project._discovery_times().max() <= 20

    def test_advice_comes_with_the_state(self, file):
        project = Project(load(file), random_state=0)
        answer(project, 30)
        assert project.status().stopping is None  # it costs a look at all rows
        advice = project.overview().stopping
        assert advice.at_presses == 30
        assert project.status().stopping == advice
        assert advice.text.startswith("Safe to stop" if advice.safe else "Not yet")


def mixture(seed, k=40, n=1500):
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(1, k + 1)
    y = rng.choice(k, n, p=share / share.sum())
    return rng.normal(size=(k, 8))[y] * 2.5 + 0.8 * rng.normal(size=(n, 8)), y


@pytest.mark.slow
@pytest.mark.parametrize("data", ["digits", "mixture"])
def test_the_next_kind_is_found_within_the_stated_range(data):
    """The range is one of 80 %; where no kind is left, only a range without an end is right."""
    shares = []
    for seed in range(10):
        if data == "digits":
            items, y = demo_items(), load_digits().target
        else:
            X, y = mixture(seed)
            items = Items.of_array(X, "mixture", [f"x{column}" for column in range(X.shape[1])])
        project = Project(items, random_state=seed)
        said, kinds = [], []
        for _ in range(160):
            questions = project.next("ann")
            if not questions:
                break
            now = project.status()
            said.append(now.presses_to_next)
            kinds.append(now.clusters)
            project.answer(questions[0].id, truth(questions[0], y), who="ann")
        right = []
        for press, (range_, before) in enumerate(zip(said, kinds, strict=True)):
            if range_ is None:
                continue
            low, high = range_
            later = np.flatnonzero(np.array(kinds[press + 1 :]) > before) + 1
            if later.size:
                right.append(low <= later[0] and (high is None or later[0] <= high))
            elif before >= np.unique(y).size:
                right.append(high is None)
        shares.append(np.mean(right))
    assert np.mean(shares) >= 0.7
    assert np.mean(np.array(shares) >= 0.7) >= 0.7
