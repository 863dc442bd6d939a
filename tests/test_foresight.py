"""The experiments' quick way through a run of the paper's algorithms, beside the ordinary one."""

import numpy as np
import pytest

from experiments.foresight import PRACTICAL
from experiments.trace import PaperSetup, draws_seed
from experiments.truth import Instance
from samekind import Session
from samekind.datasets import make_synthetic


@pytest.mark.parametrize("algorithm", PRACTICAL)
@pytest.mark.parametrize(("run", "p"), [(0, 0.0), (1, 0.6)])
def test_a_run_with_foresight_is_the_run_row_by_row(algorithm, run, p):
    """Small clusters, so that many rows are drawn again: those take no question, but count."""
    data = Instance(*make_synthetic(3_000, n_clusters=20, alpha=2.0, p=p, random_state=run))
    budget = 2_500
    quick = PaperSetup(budget, budget, 20, batch=1).trace(algorithm, data, run, lambda _: None)
    seed = draws_seed(run)
    with Session(
        data.points, algorithm, budget=budget, batch=1, epsilon=None, random_state=seed
    ) as session:
        recovered_at, discovered_at = [], [0] * session.progress.discovered
        while not session.done and len(recovered_at) < data.n_clusters:
            session.tell(pairs := session.pending(), data.oracle(pairs))
            now = session.progress
            discovered_at += [now.questions] * (now.discovered - len(discovered_at))
            recovered_at += [now.questions] * (now.recovered - len(recovered_at))
        clusters = session.clusters()
    assert len(recovered_at) >= 8
    assert quick["recovered_at"] == recovered_at
    assert quick["discovered_at"] == discovered_at
    assert quick["questions"] == clusters.n_questions_
    codes = data.true_clusters(clusters)[: clusters.n_recovered_]
    errors = data.centroid_errors(clusters.centers_, codes)
    np.testing.assert_allclose(quick["errors"], errors, rtol=1e-5)
