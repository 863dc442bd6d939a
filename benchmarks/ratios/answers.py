"""Whether a question costs more when many are answered."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from time import perf_counter

import samekind
from benchmarks.ratios import Ratio, Setting
from benchmarks.ratios.clock import compile_all
from samekind.datasets import make_synthetic

__all__ = ["late_and_early"]

FEW = 100


def late_and_early(setting: Setting) -> Iterator[Ratio]:
    """A session of 10,000 answers, one at a time, as a person gives them."""
    compile_all()
    questions = setting.questions(10_000)
    X, y = make_synthetic(setting.rows(20_000), n_clusters=30, alpha=1.0, random_state=0)
    oracle = samekind.LabelOracle(y)
    times = []
    with samekind.Session(X, budget=questions, batch=1, epsilon=None, random_state=0) as session:
        while not session.done:
            started = perf_counter()
            pairs = session.pending()
            session.tell(pairs, oracle(pairs))
            times.append((perf_counter() - started) / len(pairs))
    early, late = median(times[:FEW]), median(times[-FEW:])
    yield Ratio(
        f"focused, {len(X):,} rows: the last {FEW} of {questions:,} questions / the first {FEW}",
        f"{late * 1e3:.2f} ms / {early * 1e3:.2f} ms; slowest {max(times) * 1e3:.0f} ms",
        late / early,
        3.0,
    )
