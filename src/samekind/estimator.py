"""The scikit-learn estimator."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from samekind._validation import is_tensor, refuse_dask, to_numpy
from samekind.algorithms import DEFAULT
from samekind.clusters import Clusters
from samekind.data import are_texts, fit_texts, transform_texts
from samekind.engine import solve
from samekind.oracles import LabelOracle

__all__ = ["SameKindClustering"]


class SameKindClustering(ClusterMixin, BaseEstimator):
    """Clustering by same-kind questions, as a scikit-learn estimator.

    Parameters
    ----------
    oracle : LabelOracle, FunctionOracle, callable or None
        Who answers; a function takes two row numbers and returns True, False or None. With None, the `y`
        given to `fit` plays the oracle.
    algorithm, budget, target, batch, epsilon, heavy, goal, stop, tolerance, patience, error_rate, metric,
    reduce, random_state, ledger
        As for `samekind.solve`. ``epsilon="auto"``, and None for `heavy`, `goal`, `stop`, `tolerance`,
        `patience` and `error_rate`, is the algorithm's own default.

    Attributes
    ----------
    clusters_ : Clusters
        The whole result.
    cluster_centers_ : (n_recovered, d) array
        Approximate centroids of the recovered clusters.
    labels_ : (n,) array
        The cluster of each row: the known one, or the predicted one.
    n_questions_ : int
        Questions that were asked.
    n_features_in_ : int
        Columns seen in `fit`.

    Examples
    --------
    >>> from samekind.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = SameKindClustering(budget=2_000, random_state=0).fit(X, y)
    >>> model.cluster_centers_.shape
    (10, 64)
    """

    def __init__(
        self,
        *,
        oracle: Any = None,
        algorithm: str = DEFAULT,
        budget: int | None = None,
        target: int | None = None,
        batch: int | Literal["auto"] | None = None,
        epsilon: float | Literal["auto"] | None = "auto",
        heavy: int | None = None,
        goal: str | None = None,
        stop: str | None = None,
        tolerance: float | None = None,
        patience: int | None = None,
        error_rate: float | Literal["estimate"] | None = None,
        metric: str = "auto",
        reduce: int | Literal["auto"] | None = "auto",
        random_state: Any = None,
        ledger: Any = None,
    ) -> None:
        self.oracle = oracle
        self.algorithm = algorithm
        self.budget = budget
        self.target = target
        self.batch = batch
        self.epsilon = epsilon
        self.heavy = heavy
        self.goal = goal
        self.stop = stop
        self.tolerance = tolerance
        self.patience = patience
        self.error_rate = error_rate
        self.metric = metric
        self.reduce = reduce
        self.random_state = random_state
        self.ledger = ledger

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.oracle is None
        return tags

    def fit(self, X: Any, y: Any = None) -> SameKindClustering:
        """Find the clusters of X by asking the oracle, or `y` in its place.

        Parameters
        ----------
        X : array-like of shape (n, d), or list of n texts
            The rows. Texts are embedded, and so are those given to `predict`.
        y : array-like of shape (n,) or None
            The true kind of each row, looked at only through questions. Not needed with an oracle.
        """
        refuse_dask("X", X)
        refuse_dask("y", y)
        X = to_numpy("X", X) if is_tensor(X) else X
        self.text_features_ = None
        if are_texts(X):
            self.text_features_, X = fit_texts(X)
        X = validate_data(self, X, dtype=(np.float64, np.float32), order="C")
        if self.oracle is None and y is None:
            raise ValueError(
                "SameKindClustering needs somebody to answer: this estimator requires y to be passed, "
                "but the target y is None. Pass y to fit, or oracle= to the constructor."
            )
        given: dict[str, Any] = {} if self.epsilon == "auto" else {"epsilon": self.epsilon}
        for name in ("heavy", "goal", "stop", "tolerance", "patience", "error_rate"):
            if getattr(self, name) is not None:
                given[name] = getattr(self, name)
        self.clusters_: Clusters = solve(
            X,
            self.oracle if self.oracle is not None else LabelOracle(to_numpy("y", y)),
            algorithm=self.algorithm,
            budget=self.budget,
            target=self.target,
            batch=self.batch,
            **given,
            metric=self.metric,
            reduce=self.reduce,
            random_state=self.random_state,
            ledger=self.ledger,
        )
        self.cluster_centers_ = self.clusters_.centers_
        self.labels_ = self.clusters_.labels_
        self.n_questions_ = self.clusters_.n_questions_
        return self

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.intp]:
        """Find the clusters and return the cluster of each row."""
        labels: NDArray[np.intp] = self.fit(X, y).labels_
        return labels

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the nearest cluster of each row, without a question."""
        check_is_fitted(self)
        refuse_dask("X", X)
        if are_texts(X) and self.text_features_ is not None:
            X = transform_texts(self.text_features_, X)
        X = validate_data(self, X, dtype=(np.float64, np.float32), order="C", reset=False)
        return self.clusters_.predict(X)
