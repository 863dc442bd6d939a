"""The scikit-learn estimator: the common checks, pipelines, clones, pickles."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from conftest import blobs
from samekind import LabelOracle, SameKindClustering, solve

X, Y = blobs((30, 20, 10))


def expected_failures(estimator):
    return {"check_clustering": "it calls fit(X) without y or an oracle: nobody could answer"}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [
        SameKindClustering(random_state=0),
        SameKindClustering(algorithm="uniform", epsilon=0.1, random_state=0),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn(estimator, check):
    check(estimator)


class TestFit:
    def test_is_solve(self):
        model = SameKindClustering(algorithm="basic", budget=50, random_state=1).fit(X, Y)
        found = solve(X, LabelOracle(Y), algorithm="basic", budget=50, random_state=1)
        np.testing.assert_array_equal(model.cluster_centers_, found.centers_)
        np.testing.assert_array_equal(model.labels_, found.labels_)
        assert model.n_questions_ == found.n_questions_ <= 50
        assert model.clusters_.n_samples_ == found.n_samples_
        assert model.n_features_in_ == 2

    def test_passes_its_parameters_on(self):
        options = {"target": 1, "batch": 7, "epsilon": 0.2, "heavy": 4, "random_state": 3}
        model = SameKindClustering(algorithm="basic", **options).fit(X, Y)
        found = solve(X, LabelOracle(Y), algorithm="basic", **options)
        assert model.clusters_.stop_reason_ == "target"
        assert model.n_questions_ == found.n_questions_
        assert model.clusters_.n_samples_ == found.n_samples_

    def test_predict_finds_the_kinds_again(self):
        model = SameKindClustering(random_state=0).fit(X, Y)
        new_X, new_Y = blobs((9, 8, 7), seed=5)
        assert adjusted_rand_score(new_Y, model.predict(new_X)) == 1.0

    def test_without_anybody_to_answer(self):
        with pytest.raises(
            ValueError, match=r"needs somebody to answer.*Pass y to fit, or oracle="
        ):
            SameKindClustering().fit(X)

    @pytest.mark.parametrize(
        "oracle",
        [LabelOracle(Y), lambda a, b: bool(Y[a] == Y[b])],
        ids=["labels", "function"],
    )
    def test_with_an_oracle(self, oracle):
        model = SameKindClustering(oracle=oracle, random_state=0).fit(X)
        assert adjusted_rand_score(Y, model.labels_) == 1.0

    def test_wrong_parameters_are_named_in_fit(self):
        with pytest.raises(ValueError, match="heavy must be a positive int, got 0"):
            SameKindClustering(algorithm="basic", heavy=0).fit(X, Y)
        with pytest.raises(ValueError, match="X has 60 rows, but y has 59 labels"):
            SameKindClustering().fit(X, Y[:-1])


class TestTools:
    def test_data_frames_keep_their_column_names(self):
        frame = pd.DataFrame(X, columns=["width", "height"])
        model = SameKindClustering(random_state=0).fit(frame, pd.Series(Y))
        assert model.feature_names_in_.tolist() == ["width", "height"]
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(frame[["height", "width"]])
