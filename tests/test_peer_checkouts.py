"""Adapters of peers in their repositories, tried on stand-ins that make the same calls as those do."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from experiments import peer_checkouts
from experiments.peer import Job

X = np.vstack([np.zeros((12, 2)), np.full((12, 2), 9.0)]) + np.random.default_rng(0).normal(
    size=(24, 2), scale=0.1
)
Y = np.repeat(["a", "b"], 12)
FILES = {
    "cobras/cobras_ts/__init__.py": "",
    "cobras/cobras_ts/cobras_kmeans.py": """
import types
class COBRAS_kmeans:
    def __init__(self, data, querier, max_questions):
        self.data, self.querier, self.most = data, querier, max_questions
        self.intermediate_results = []
    def cluster(self):
        for i in range(self.most):
            same = self.querier.query_points(i, i + 1)
            assert same == ((i < 12) == (i + 1 < 12))
            self.intermediate_results.append(([i] * len(self.data), 0.0, i + 1))
        final = types.SimpleNamespace(construct_cluster_labeling=lambda: [99] * len(self.data))
        return final, None, None, None, None
""",
    "A3S/metric.py": "def NMI(a, b):\n    raise AssertionError\nARI = Purity = NMI\n",
    "A3S/Data_feature.py": """
import numpy as np
def compute_posterior_prob_by_l2_distance(model_path, Features, K):
    assert K == 2
    open(model_path, "w").close()
def get_feature_similarity(d, n, types):
    raise AssertionError("it has no data of its own here")
""",
    "A3S/A3S.py": """
from Data_feature import *
from metric import *
import argparse, os
parser = argparse.ArgumentParser()
for name in ("seed", "d", "n", "iso", "T"):
    parser.add_argument("--" + name, type=int)
parser.add_argument("--tau", type=float)
args = parser.parse_args()
features, targetIds = get_feature_similarity(args.d, args.n, 0)
N = n_list[args.n]
assert os.path.exists(iso_paths[args.iso]) and args.T == 4
kinds = {targetIds[i] for i in range(N)}
state = np.eye(N)
pclus_label = np.arange(N)
count = 0
def query(gt_label, x, y):
    return gt_label[x] == gt_label[y]
for i in range(1, N):
    for j in range(i):
        if state[i, j] == 0:
            count += 1
        if query(targetIds, i, j):
            assert np.abs(features[i] - features[j]).max() < 3
            pclus_label[i] = pclus_label[j]
            state[i, j] = state[j, i] = 1
            query(targetIds, i, j)
            break
        state[i, j] = state[j, i] = -1
    NMI(targetIds, pclus_label)
""",
    "Active-Correlation-Clustering/acc/__init__.py": "",
    "Active-Correlation-Clustering/acc/active_clustering.py": """
import numpy as np
import seaborn as sns
from noise_robust_cobras.cobras import COBRAS
from noise_robust_cobras.querier.noisy_labelquerier import ProbabilisticNoisyQuerier
class ActiveClustering:
    def __init__(self, X, Y, repeat_id, initial_clustering_solution=None, **kwargs):
        self.__dict__.update(kwargs)
        assert set(Y) == set(initial_clustering_solution) == {0, 1}
        self.clustering_solution = np.array(initial_clustering_solution)
    def run_AL_procedure(self):
        self.store_experiment_data(initial=True)
        while True:
            self.clustering_solution = self.clustering_solution + self.batch_size
            self.store_experiment_data()
""",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setenv("SAMEKIND_PEERS", str(tmp_path))
    before = dict(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - set(before):
        del sys.modules[name]


def told(ask, budgets):
    reports = []
    report = lambda *given: reports.append(given)  # noqa: E731
    ask(Job(X, Y, budgets, 0, report))
    return reports


def test_cobras_is_read_at_every_budget(folder):
    reports = told(peer_checkouts.ask_cobras, [4, 9])
    assert [(budget, asked, labels[0]) for budget, asked, labels in reports] == [
        (4, 4, 3),
        (9, 9, 99),
    ]


def test_a3s_is_given_our_rows_and_its_questions_are_counted(folder):
    arguments = list(sys.argv)
    (first, asked, few), (last, all_asked, labels) = told(peer_checkouts.ask_a3s, [4, 1_000])
    assert (first, asked) == (4, 4)
    assert len(np.unique(few)) > 2  # it had only begun
    assert last == 1_000
    assert 23 <= all_asked <= 23 + 12  # one a row and one more for each of the second kind's first
    assert len(np.unique(labels)) == 2  # in the order of our rows, not of its shuffled ones
    assert len(set(zip(labels, Y, strict=True))) == 2
    assert sys.argv == arguments
    assert str(folder / "A3S") not in sys.path


def test_a3s_is_ended_with_its_last_budget(folder):
    assert [(budget, asked) for budget, asked, _ in told(peer_checkouts.ask_a3s, [2, 5])] == [
        (2, 2),
        (5, 5),
    ]


def test_active_correlation_clustering_asks_in_batches(folder):
    reports = told(peer_checkouts.ask_correlation, [100, 300])
    assert [(budget, asked) for budget, asked, _ in reports] == [(100, 100), (300, 300)]
    assert [int(labels.max()) for *_, labels in reports] == [101, 301]


def test_a_checkout_says_what_is_wrong_with_it(folder):
    checkout = peer_checkouts.COBRAS
    assert checkout.missing() == ""
    (folder / "cobras" / checkout.file).unlink()
    assert checkout.missing() == (
        "https://github.com/ML-KULeuven/cobras is not here; clone it at b6d700e into the folder that "
        "SAMEKIND_PEERS names"
    )


def test_a_checkout_must_be_at_the_commit_that_is_measured(folder):
    git = ["git", "-C", str(folder / "cobras"), "-c", "user.name=x", "-c", "user.email=x@x"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
        subprocess.run([*git, *arguments], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    said = peer_checkouts.COBRAS.missing()
    assert (
        said == f"{folder / 'cobras'} is at {head.stdout[:7]}: check out b6d700e, which is measured"
    )
    assert replace(peer_checkouts.COBRAS, commit=head.stdout.strip()).missing() == ""
