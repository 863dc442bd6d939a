"""How much people agree: equal to what other packages and publications say."""

from __future__ import annotations

import csv
import io
import math

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import cohen_kappa_score

from samekind.measures import cohen_kappa, fleiss_kappa, krippendorff_alpha
from test_overlap import wrong
from test_sharing import data, project_of, truth  # noqa: F401

SAID = st.sampled_from([-1, 0, 1])


@given(st.lists(st.tuples(SAID, SAID), min_size=2, max_size=40))
def test_cohen_is_scikit_learns(said):
    one, two = map(list, zip(*said, strict=True))
    found = cohen_kappa(one, two)
    if len({*one, *two}) == 1:
        assert math.isnan(found.value)
        return
    assert found.value == pytest.approx(cohen_kappa_score(one, two))
    assert found.n_units == len(said)
    assert found.low <= found.high


@given(arrays(np.float64, (4, 12), elements=st.sampled_from([-1.0, 0.0, 1.0, math.nan])))
def test_alpha_is_krippendorffs(ratings):
    rated = ratings[:, (~np.isnan(ratings)).sum(axis=0) > 1]
    found = krippendorff_alpha(ratings)
    if len(np.unique(rated[~np.isnan(rated)])) < 2:
        assert math.isnan(found.value)
        return
    wanted = krippendorff.alpha(reliability_data=rated, level_of_measurement="nominal")
    assert found.value == pytest.approx(wanted)
    assert found.n_units == rated.shape[1]


def test_alpha_of_krippendorffs_own_example():
    """Nominal data of four observers in his text of 2011: 0.743."""
    nan = math.nan
    ratings = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
        [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan],
    ]
    assert krippendorff_alpha(ratings).value == pytest.approx(0.743, abs=5e-4)


def test_fleiss_of_the_worked_example():
    """Fourteen raters, ten subjects, five categories, as worked out on Wikipedia (Fleiss' kappa): 0.210."""
    counts = [
        [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
    ]  # fmt: skip
    found = fleiss_kappa(counts)
    assert found.value == pytest.approx(0.210, abs=5e-4)
    assert found.low < found.value < found.high


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    rng = np.random.default_rng(0)
    # two people who say the truth with probability 0.9, of pairs of which half are the same: κ is 0.64
    held = 0
    for _ in range(200):
        true = rng.random(150) < 0.5
        one, two = (np.where(rng.random(150) < 0.9, true, ~true) for _ in range(2))
        found = cohen_kappa(one, two)
        held += found.low <= 0.64 <= found.high
    assert 0.88 <= held / 200 <= 0.99


def test_what_cannot_be_measured_is_refused():
    with pytest.raises(ValueError, match="the same units"):
        cohen_kappa([1, 0], [1])
    with pytest.raises(ValueError, match="same number of ratings"):
        fleiss_kappa([[1, 1], [2, 1]])
    with pytest.raises(ValueError, match="a row for each person"):
        krippendorff_alpha([1, 0])
    assert math.isnan(krippendorff_alpha(np.full((2, 3), np.nan)).value)


class TestTheTable:
    @pytest.fixture
    def project(self, data):  # noqa: F811
        project = project_of(data, overlap=2)
        for turn in range(40):
            for who in ("ann", "=bob"):
                (question,) = project.next(who)
                say = wrong if who == "=bob" and turn % 5 == 0 else truth
                project.answer(question.id, say(question, data[1]), who=who)
        return project

    def test_speed_and_agreement_of_each(self, project):
        page = project.team.annotators()
        ann = next(one for one in page.annotators if one.name == "ann")
        assert ann.shared > 0
        assert ann.agreed < ann.shared
        assert ann.seconds is not None
        assert ann.seconds > 0
        (pair,) = page.agreement.people
        assert pair.shared == page.agreement.pairs_of_rows
        assert pair.agreed < pair.shared
        assert page.agreement.low <= page.agreement.alpha <= page.agreement.high
        assert page.agreement.fleiss_raters == 2

    def test_as_csv(self, project):
        def table(name):
            file = io.BytesIO()
            project.export(name, file)
            return list(csv.DictReader(io.StringIO(file.getvalue().decode())))

        assert {row["name"] for row in table("annotators.csv")} == {"ann", "'=bob"}
        alpha, fleiss, cohen = table("agreement.csv")
        assert float(alpha["value"]) == project.team.annotators().agreement.alpha
        assert fleiss["measure"] == "Fleiss kappa of 2"
        assert int(cohen["shared"]) == int(alpha["shared"])
        opinions = table("opinions.csv")
        assert len(opinions) == 2 * int(alpha["shared"])
        assert {row["answer"] for row in opinions} <= {"same", "different", "unsure"}
