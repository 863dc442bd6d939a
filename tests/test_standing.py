"""Where the work stands: presses, their budget and history, and whether to stop (P20)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from samekind import Session
from samekind.algorithms import Certificate
from samekind.data import load
from samekind.project import Project, make_project, open_project
from samekind.project.words import advice_in_words
from test_project import KINDS, ROWS, answer


@pytest.fixture
def file(tmp_path):
    np.save(tmp_path / "rows.npy", ROWS)
    return tmp_path / "rows.npy"


class TestWords:
    CERTIFICATE = Certificate(0.95, 0.01, 0.02, 300, 2, 0, wrong_at_any_time=0.03)

    def test_safe(self):
        text = advice_in_words(self.CERTIFICATE, True, 1500, 2000)
        assert text.startswith("Safe to stop")
        assert "98 %" in text

    def test_not_safe(self):
        doubtful = replace(self.CERTIFICATE, wrong=0.2641)
        text = advice_in_words(doubtful, False, 1500, 2000)
        assert text.startswith("Not safe to stop yet")
        assert "27 %" in text

    def test_a_small_pile_is_counted_as_small(self):
        doubtful = replace(self.CERTIFICATE, wrong=0.3)
        text = advice_in_words(doubtful, False, 60, 394)
        assert "16 %" in text
        assert "60 of the 60 items" in text

    def test_all_is_known(self):
        assert advice_in_words(None, False, 0, 50).startswith("Safe to stop")

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
        project.standing.finish()
        project.close()
        again = open_project(tmp_path / "mine.db")
        assert again.status().done
        assert again.next() == []
        again.standing.resume()
        assert again.next()
        again.close()

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

    def test_what_is_taken_back_does_not_count(self, file):
        project = Project(load(file), random_state=0, sheet=0)
        answer(project, 30)
        project.undo(10)
        assert project.status().presses == 20
        assert project.standing.history().presses[-1] == 20

    def test_advice_comes_with_the_state(self, file):
        project = Project(load(file), random_state=0, sheet=0)
        answer(project, 30)
        assert project.status().stopping is None  # it costs a look at all rows
        advice = project.overview.all().stopping
        assert advice.at_presses == 30
        assert project.status().stopping == advice
        assert advice.text.startswith("Safe to stop" if advice.safe else "Not safe")
