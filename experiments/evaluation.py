"""How good the clusters of a run are in the light of the true ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from experiments.store import Record
from experiments.truth import Instance
from samekind import Clusters

ACCURATE = 0.1  # the error up to which a centre counts as accurate
MOST_ROWS = 100_000  # for what takes time for each row: the adjusted Rand index, and to classify them as new


def evaluate(clusters: Clusters, data: Instance) -> Record:
    """Return how good clusters of right answers are.

    Provisional clusters, which are still to be merged, never count twice: of several that are one true
    cluster the best centre counts. Rows predicted to be in any of them are predicted rightly.
    """
    codes = data.true_clusters(clusters)
    seen = np.unique(codes)
    best = np.full(data.n_clusters, np.inf)
    np.minimum.at(best, codes, data.centroid_errors(clusters.all_centers_, codes))
    declared = np.unique(codes[: clusters.n_recovered_])
    labels = clusters.labels_
    wrong = float((np.append(codes, -1)[labels] != data.codes).mean())  # label -1: none
    missing = float(1 - data.sizes[seen].sum() / len(data.codes))
    promise = clusters.certificate_
    assert promise is not None  # "focused" always gives one
    return {
        "questions": clusters.n_questions_,
        "recovered": len(declared),
        "mistaken": int((best[declared] > ACCURATE).sum()),
        "accurate": int((best <= ACCURATE).sum()),
        "discovered": len(seen),
        "of": data.n_clusters,
        "provisional": clusters.n_discovered_ - len(seen),
        "median_error": finite(np.median(best[seen])) if seen.size else None,
        "recovered_error": finite(np.median(best[declared])) if declared.size else None,
        "ari": data.agreement(labels) if len(labels) <= MOST_ROWS else None,
        "unproven": promise.n_unproven,
        "audited": promise.n_audited,
        "undiscovered_bound": promise.undiscovered,
        "undiscovered": missing,
        "wrong_bound": promise.wrong,
        "wrong": wrong,
        "holds": missing <= promise.undiscovered and wrong <= promise.wrong,
    }


def evaluate_noisy(clusters: Clusters, data: Instance) -> Record:
    """Return how good clusters are if rows asked about may be in wrong ones.

    A true cluster is found if most of the members of some cluster are of it.
    """
    asked = np.concatenate([*clusters.members_, clusters.given_up_])
    return {
        "questions": clusters.n_questions_,
        "found": majority_clusters(data.codes, clusters.members_, absolute=True),
        "of": data.n_clusters,
        "returned": clusters.n_discovered_,
        "ari": data.agreement(clusters.labels_),
        "ari_asked": data.agreement(clusters.labels_, asked),
        "estimated_error": clusters.error_rate_,
    }


def majority_clusters(
    codes: NDArray[np.intp], groups: list[NDArray[np.intp]], *, absolute: bool = False
) -> int:
    """Return how many true clusters most members of some group are of.

    With `absolute`, more than half of them; otherwise more than of any other cluster.

    Examples
    --------
    >>> groups = [np.array([0, 1]), np.array([2, 3, 4, 5])]
    >>> majority_clusters(np.array([0, 0, 0, 1, 2, 2]), groups)
    2
    >>> majority_clusters(np.array([0, 0, 0, 1, 2, 2]), groups, absolute=True)
    1
    """
    found = set()
    for members in groups:
        counts = np.bincount(codes[members])
        if not absolute or 2 * counts.max() > len(members):
            found.add(int(counts.argmax()))
    return len(found)


def questions_per_point(clusters: Clusters, data: Instance) -> Record:
    """Classify the data set as if its rows were new, and count the questions of each.

    The paper does the same: it leaves aside that some rows are known from the run. Known members
    would cost nothing, and after 200,000 questions there are as many of them as of others. Of more rows
    than 100,000 as many are taken, evenly.
    """
    n_known = len(data.X)
    n = min(n_known, MOST_ROWS)
    rows = np.arange(n) * n_known // n

    def answer(pairs: NDArray[np.intp]) -> NDArray[np.int8]:
        same: NDArray[np.int8] = data.codes[rows[pairs[:, 0] - n_known]] == data.codes[pairs[:, 1]]
        return same.view(np.int8)

    found = clusters.classify(data.X[rows], answer)
    counts = np.bincount(np.minimum(found.n_asked, 3), minlength=4)
    return {
        "after": clusters.n_questions_,
        "shares": [float(count) / n for count in counts[1:]],  # 1, 2, at least 3 questions
        "mean": float(found.n_asked.mean()),
        "in_none": float((found.labels < 0).mean()),
    }


def finite(value: float | np.floating) -> float | None:
    """Return a number with six digits; None stands for an infinite one, which JSON does not have."""
    return float(f"{value:.6g}") if np.isfinite(value) else None
