"""Small runs of each sort, after which Numba keeps what the tests need: they start hundreds of processes."""

import numpy as np

from samekind import LabelOracle, NoisyOracle, solve
from samekind.datasets import load_digits

X, y = load_digits(return_X_y=True)
wide = np.float32(np.random.default_rng(0).normal(size=(200, 100)) + 9 * np.eye(100)[y[:200]])
for rows, labels in ((X, y), (X.astype(np.float64), y), (wide, y[:200])):
    for algorithm in ("focused", "batched"):
        solve(rows, LabelOracle(labels), algorithm=algorithm, budget=60, random_state=0)
noisy = NoisyOracle(y, error=0.1)
solve(X, noisy, budget=120, error_rate="estimate", random_state=0)
