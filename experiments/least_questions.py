"""The fewest questions to certify a tolerance with at all: ``python -m experiments.least_questions``.

Any certificate that holds for whatever data has to look at enough rows that nobody looked at before. Two
floors, both for a single look with a risk of 5 % and answers that are never wrong:

- if every label is right from the beginning, which nobody knows, how many rows have to be audited;
- for mixtures, if their centres and shares are known, so that the Bayes rule predicts and says which row is
  worth a question: that row is asked about, then the next, and the rest is audited when that is cheapest.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import hypergeom

from experiments.certificate import TOLERANCE
from experiments.small_data import make_overlapping

RISK = 0.05
ROWS, CLUSTERS, RUNS = 3_000, 15, 10
STEP = 50


def fewest_audits(n_rows: int, n_wrong: float, allowed: int) -> int:
    """Return how many of some rows show that at most `allowed` are wrong, if `n_wrong` are.

    Examples
    --------
    >>> fewest_audits(175, 0, 8), fewest_audits(567, 0, 28)
    (49, 55)
    """
    if n_rows <= allowed:
        return 0
    for audited in range(1, n_rows + 1):
        seen = int(n_wrong * audited / n_rows)  # rounded down: a little lucky
        if hypergeom.cdf(seen, n_rows, allowed + 1, audited) < RISK:
            return audited
    return n_rows


def with_known_mixture(run: int) -> tuple[float, int]:
    """Return the share that the Bayes rule has wrong, and the fewest questions with it."""
    X, y = make_overlapping(ROWS, CLUSTERS, run)
    shares, centers = mixture_of(run)
    logs = np.log(shares) - ((X[:, None] - centers) ** 2).sum(axis=2) / 2
    chances = np.exp(logs - logs.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    predicted, is_known = chances.argmax(axis=1), np.zeros(ROWS, dtype=bool)
    wrong_at_first = float((predicted != y).mean())
    worth = np.sort(chances, axis=1)[:, -2]  # what is put right by a question: the second likeliest
    best = ROWS
    for asked in range(ROWS):
        if asked % STEP == 0:
            wrong = int(((predicted != y) & ~is_known).sum())
            allowed = int(TOLERANCE * ROWS)
            if wrong < allowed and asked < best:
                audits = fewest_audits(int((~is_known).sum()), wrong, allowed)
                best = min(best, asked + audits)
        row = int(worth.argmax())
        if predicted[row] == y[row]:
            is_known[row], worth[row] = True, -1.0
        else:
            chances[row, predicted[row]] = 0.0
            chances[row] /= chances[row].sum()
            predicted[row], worth[row] = chances[row].argmax(), np.sort(chances[row])[-2]
    return wrong_at_first, best


def mixture_of(run: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the shares and centres that `make_overlapping` draws."""
    rng = np.random.default_rng(run)
    shares = 1 / np.arange(1, CLUSTERS + 1)
    shares /= shares.sum()
    rng.choice(CLUSTERS, size=ROWS, p=shares)
    return shares, rng.uniform(0, 6, (CLUSTERS, 5))


def main() -> None:
    """Print both floors."""
    for name, rows, clusters in (("wine", 178, 3), ("breast cancer", 569, 2)):
        audits = fewest_audits(rows - clusters, 0, int(TOLERANCE * rows))
        print(f"{name}: {audits} rows to audit if every label is right")
    found = [with_known_mixture(run) for run in range(RUNS)]
    for run, (wrong, questions) in enumerate(found):
        print(f"mixture {run}: the Bayes rule has {wrong:.1%} wrong; {questions:,} questions")
    print(f"median of the mixtures: {np.median([questions for _, questions in found]):,.0f}")


if __name__ == "__main__":
    main()
