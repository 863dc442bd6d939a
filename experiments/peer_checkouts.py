"""Peers that are on no package index, or not as they are today: adapters of what is in their repositories.

Nothing of them is changed. What they import for plots and for baselines that are not run is left out, and
where a script reads its data from files, it is given ours instead.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import numpy as np

from experiments.peer import Checkout, Job

COBRAS = Checkout(
    "https://github.com/ML-KULeuven/cobras",
    "b6d700ed6906d19d5973b4497e54570dfbbf026d",
    "cobras_ts/cobras_kmeans.py",
)
A3S = Checkout(
    "https://github.com/xiangtanshi/A3S",
    "b6d23e86ffd04d85d6af713e6a8ec8599242fd8c",
    "A3S.py",
)
CORRELATION = Checkout(
    "https://github.com/Linusaronsson/Active-Correlation-Clustering",
    "313d989df570437d0b004e1e8a0f354a750fbe62",
    "acc/active_clustering.py",
)
A3S_OPTIONS = {"T": 4, "tau": 0.8}  # as its README has them for handwritten digits
NOT_RUN = {
    "seaborn": [],
    "noise_robust_cobras": [],
    "noise_robust_cobras.cobras": ["COBRAS"],
    "noise_robust_cobras.querier": [],
    "noise_robust_cobras.querier.noisy_labelquerier": ["ProbabilisticNoisyQuerier"],
}
"""What active correlation clustering imports for its plots and its baselines."""
CORRELATION_OPTIONS = {
    "seed": 0,
    "noise_level": 0,
    "warm_start": 0,
    "K_init": 10,
    "sim_init": 0.1,
    "sim_init_type": "kmeans",
    "acq_fn": "maxexp",
    "eps": 0.3,
    "beta": 1,
    "tau": 1,  # answers are right: no pair is asked about twice
    "num_maxmin_edges": -1,
    "_verbose": False,
}
"""As in its notebook of experiments, but for right answers."""


class _EnoughError(Exception):
    """All that was to be asked has been."""


class _Budgets:
    """Counts questions, and reports when one would be more than a budget."""

    def __init__(self, job: Job) -> None:
        self._job, self._left, self.asked = job, list(job.budgets), 0

    def spend(self, labels: object) -> None:
        """Take down a question that is about to be asked; `labels` are those before it."""
        if self._left and self.asked == self._left[0]:
            self._job.report(self._left.pop(0), self.asked, np.asarray(labels))
        self.asked += 1

    @property
    def spent(self) -> bool:
        """Whether nothing is left to report."""
        return not self._left

    def end(self, labels: object) -> None:
        """Report what is left with the final labels."""
        for budget in self._left:
            self._job.report(budget, self.asked, np.asarray(labels))
        self._left.clear()


@contextmanager
def importing(checkout: Checkout) -> Iterator[None]:
    """Let modules be imported from a checkout."""
    sys.path.insert(0, str(checkout.path))
    try:
        yield
    finally:
        sys.path.remove(str(checkout.path))


def ask_cobras(job: Job) -> None:
    """COBRAS with k-means: splits groups of points and merges them by questions."""
    np.random.seed(job.seed)  # noqa: NPY002 - the only source of its random numbers
    budgets = _Budgets(job)

    class Questions:
        """Answers; labels at a budget are those that COBRAS itself notes for it."""

        def query_points(self, a: int, b: int) -> bool:
            noted = cobras.intermediate_results
            budgets.spend(noted[-1][0] if noted else np.zeros(len(job.y)))
            return bool(job.y[a] == job.y[b])

        def update_clustering(self, clustering: object) -> None: ...

        def continue_cluster_process(self) -> bool:
            return True

    with importing(COBRAS):
        module = import_module("cobras_ts.cobras_kmeans")
    cobras = module.COBRAS_kmeans(job.X, Questions(), job.budgets[-1])
    budgets.end(cobras.cluster()[0].construct_cluster_labeling())


class _Answers(np.ndarray[Any, np.dtype[Any]]):
    """Labels of which a script compares two at a time: every second look at one is a question."""

    script: dict[str, Any]
    budgets: _Budgets
    first: int | None = None

    def __getitem__(self, index: Any) -> Any:
        state = self.__dict__.get("script", {}).get("state")
        if state is not None and isinstance(index, int | np.integer):
            if self.first is None:
                self.first = int(index)
            else:
                if state[self.first, index] == 0:  # or it follows from what was answered
                    self.budgets.spend(self.script["pclus_label"].copy())
                    if self.budgets.spent:
                        raise _EnoughError
                self.first = None
        return super().__getitem__(index)


def ask_a3s(job: Job) -> None:
    """A3S: probabilistic clustering, then clusters are merged and split by questions; told their number."""
    order = np.random.default_rng(job.seed).permutation(len(job.y))  # it shuffles its own data, too
    back = np.argsort(order)
    X, n_clusters = job.X[order], len(np.unique(job.y))
    budgets = _Budgets(
        job._replace(report=lambda b, q, labels: job.report(b, q, np.asarray(labels)[back]))
    )
    script: dict[str, Any] = {"__name__": "A3S"}
    answers = np.unique(job.y[order], return_inverse=True)[1].view(_Answers)
    answers.script, answers.budgets = script, budgets
    with importing(A3S), TemporaryDirectory() as folder, _arguments(job.seed):
        features, metric = import_module("Data_feature"), import_module("metric")
        model = str(Path(folder) / "isotonic.pkl")
        np.random.seed(job.seed)  # noqa: NPY002 - of k-means in the next line
        features.compute_posterior_prob_by_l2_distance(model, X, n_clusters)
        vars(features).update(n_list=[len(X)], iso_paths=[model])
        vars(features)["get_feature_similarity"] = lambda *_: (X, answers)
        vars(metric).update(dict.fromkeys(("NMI", "ARI", "Purity"), lambda *_: 0.0))  # its own log
        code = compile((A3S.path / A3S.file).read_text("utf-8"), A3S.file, "exec")
        with suppress(_EnoughError):
            exec(code, script)
    budgets.end(script["pclus_label"])


@contextmanager
def _arguments(seed: int) -> Iterator[None]:
    """Stand for the command line of A3S."""
    before, options = sys.argv, {"d": 0, "n": 0, "iso": 0, "seed": seed} | A3S_OPTIONS
    sys.argv = ["A3S.py", *(str(part) for name in options for part in (f"--{name}", options[name]))]
    try:
        yield
    finally:
        sys.argv = before


def ask_correlation(job: Job) -> None:
    """Active correlation clustering, asking by expected cost; starts from k-means, told the number."""
    from sklearn.cluster import KMeans

    codes = np.unique(job.y, return_inverse=True)[1]
    batch = math.gcd(*job.budgets)
    start = KMeans(len(np.unique(codes)), n_init="auto", random_state=job.seed).fit(job.X).labels_
    for name, parts in NOT_RUN.items():
        stand_in = ModuleType(name)
        vars(stand_in).update(dict.fromkeys(parts))
        sys.modules.setdefault(name, stand_in)
    with importing(CORRELATION):
        base: Any = import_module("acc.active_clustering").ActiveClustering

    class Asking(base):  # type: ignore[misc]
        """Reports after a batch that fills a budget."""

        asked = 0

        def store_experiment_data(self, initial: bool = False) -> None:
            if initial:
                return
            self.asked += batch
            if self.asked in job.budgets:
                job.report(self.asked, self.asked, self.clustering_solution)
            if self.asked >= job.budgets[-1]:
                raise _EnoughError

    with suppress(_EnoughError):
        Asking(
            job.X, codes, job.seed, start, batch_size=batch, **CORRELATION_OPTIONS
        ).run_AL_procedure()
