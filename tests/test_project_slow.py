"""What a project promises, measured over many runs: minutes, not seconds."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import honest as truth
from samekind.data import demo_items
from samekind.datasets import load_digits
from samekind.measures import adjusted_rand_index
from samekind.project import Project
from test_focused_slow import classes_found

pytestmark = pytest.mark.slow

SEEDS = range(10)


def clicks(things, y, seed, *, show, **settings):
    """Return how many clicks it takes to find all digits with an adjusted Rand index of 0.9."""
    project = Project(things, random_state=seed, **settings)
    count = 0
    while True:
        (question,) = project.next("ann", lineup=show)
        project.answer(question.id, truth(question, y), who="ann")
        count += 1
        if count % 2 == 0 and project.status().clusters >= 10:
            found = project.clusters()
            good = adjusted_rand_index(y, found.labels_) >= 0.9
            if good and classes_found(found, y) == 10:
                return count


def test_line_ups_take_half_the_clicks():
    """Beside `focused` as it is by default, asking pairs; and beside the page with line-ups off."""
    things, y = demo_items(), load_digits().target
    means = {
        name: np.mean([clicks(things, y, seed, **how) for seed in SEEDS])
        for name, how in {
            "line-ups": {"show": True},
            "the page, pairs alone": {"show": False},
            "focused by default, pairs": {
                "show": False,
                "lineup": 1,
                "goal": "centers",
                "batch": 1,
            },
        }.items()
    }
    print(means)
    assert means["line-ups"] <= 0.5 * means["focused by default, pairs"]
    assert means["line-ups"] <= 0.75 * means["the page, pairs alone"]
