"""Sessions and ledgers: what a question costs beside the algorithm. Run by asv."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.suite import mixture, rows


class Asking:
    """A session that is answered one question at a time."""

    param_names = ["n"]  # noqa: RUF012
    params = [2_000, 100_000]  # noqa: RUF012
    timeout = 300

    def setup(self, n: int) -> None:
        import samekind

        self.X, y = mixture(n, 30, 1.0)
        self.oracle = samekind.LabelOracle(y)
        self.answer(20)

    def answer(self, budget: int, ledger: Any = None) -> Any:
        import samekind

        with samekind.Session(
            self.X, ledger=ledger, budget=budget, batch=1, epsilon=None, random_state=0
        ) as session:
            while not session.done:
                pairs = session.pending()
                session.tell(pairs, self.oracle(pairs))
            return session

    def time_answer(self, n: int) -> None:
        self.answer(rows(500))

    def time_answer_into_file(self, n: int) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.answer(rows(500), Path(folder, "mine.db"))

    def peakmem_answer(self, n: int) -> None:
        self.answer(rows(500))


class Resuming:
    """A session that is opened again: its flow runs through what is known."""

    timeout = 300

    def setup(self) -> None:
        import samekind

        X, y = mixture(2_000, 30, 1.0)
        self.session = samekind.Session(X, budget=rows(500), batch=1, epsilon=None, random_state=0)
        oracle = samekind.LabelOracle(y)
        while not self.session.done:
            pairs = self.session.pending()
            self.session.tell(pairs, oracle(pairs))

    def teardown(self) -> None:
        self.session.close()

    def time_replay(self) -> None:
        self.session.replay()


class Ledgers:
    """Answers written in waves, and looked up."""

    param_names = ["kind"]  # noqa: RUF012
    params = ["memory", "sqlite"]  # noqa: RUF012
    timeout = 120

    def setup(self, kind: str) -> None:
        rng = np.random.default_rng(0)
        size = rows(5_000)
        self.answers = np.zeros(size, dtype=np.int8)
        self.waves = [
            np.column_stack([np.arange(size) + size * w + 100, rng.integers(0, 100, size)])
            for w in range(4)
        ]
        self.record(kind)

    def record(self, kind: str) -> None:
        import samekind
        from samekind.ledger import open_ledger

        with tempfile.TemporaryDirectory() as folder:
            ledger = (
                open_ledger(None) if kind == "memory" else samekind.Ledger(Path(folder, "bench.db"))
            )
            try:
                for wave in self.waves:
                    ledger.record(wave, self.answers)
                ledger.lookup(self.waves[0])
            finally:
                ledger.close()

    def time_record(self, kind: str) -> None:
        self.record(kind)
