"""The promised ratios: a module for each topic, a function for each measure.

Nothing heavy is imported before a measure runs.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

__all__ = ["MANY", "MEASURES", "Measure", "Ratio", "Setting", "SkippedError"]

FEWEST = 2_000  # rows, however much the data are shrunk
MANY = 40_000  # rows; fewer than this, `focused` treats in another way than a million


class Ratio(NamedTuple):
    """What was measured, in words and as a ratio, and its limit; None where nothing is promised."""

    what: str
    measured: str
    ratio: float
    most: float | None

    @property
    def is_kept(self) -> bool:
        return self.most is None or self.ratio <= self.most


class SkippedError(Exception):
    """Says why something cannot be measured here."""


@dataclass
class Setting:
    """Where and how large to measure."""

    shrink: int = 1
    """Rows are divided by this, to see that everything works; nothing is promised then."""
    scratch: Path = field(default_factory=lambda: Path(tempfile.gettempdir()))
    """Where large files are written, and removed afterwards."""
    peer_python: str | None = field(default_factory=lambda: os.environ.get("SAMEKIND_PEER_PYTHON"))
    """A Python that has cobras_ts."""

    def rows(self, n: int, fewest: int = FEWEST) -> int:
        return max(n // self.shrink, min(n, fewest))

    def questions(self, n: int) -> int:
        return max(n // self.shrink, min(n, 200))


class Measure(NamedTuple):
    """A measure, by the module and the function that take it."""

    module: str
    function: str
    about: str
    is_large: bool = False
    """Whether it runs only when it is named, or with --large."""

    def take(self, setting: Setting) -> Iterator[Ratio]:
        found: Callable[[Setting], Iterator[Ratio]] = getattr(
            import_module(f"{__name__}.{self.module}"), self.function
        )
        return found(setting)


MEASURES = {
    "pass": Measure(
        "passes", "full_pass", "a centre that every row is measured to, against reading"
    ),
    "centres": Measure("centres", "hundred", "100 D²-sampled centres, against kmeans_plusplus"),
    "batched": Measure("solving", "batched", "200,000 questions, against kmeans_plusplus"),
    "focused": Measure(
        "solving", "focused", "10,000 questions, against kmeans_plusplus; distances"
    ),
    "reduce": Measure(
        "reduced", "reduced", "hundreds of columns: the reduced space, 1,000 questions, one by one"
    ),
    "growth": Measure("growth", "growth", "`focused` from 10^5 to 10^7 rows, after the first pass"),
    "answers": Measure(
        "answers", "late_and_early", "the last 100 of 10,000 answers, and the first"
    ),
    "acts": Measure(
        "acts", "acts", "answers, corrections, merges and undo of a project with 10^5 answers"
    ),
    "page": Measure(
        "pages", "pages", "presses, undo, mergers and changes on a page of 10^5 rows, over HTTP"
    ),
    "texts": Measure("texts", "features_of_texts", "features of 60,000 texts, and the second time"),
    "memory": Measure("house", "memory", "peak memory of `batched`"),
    "session": Measure("house", "session", "a million questions through session and ledger"),
    "sqlite": Measure("house", "sqlite", "answers a second into a SQLite ledger"),
    "import": Measure("house", "importing", "import samekind, against sklearn.cluster"),
    "cobras": Measure("cobras", "against_cobras", "300 questions on 10^6 rows, against COBRAS"),
    "dask": Measure(
        "workers", "on_workers", "two worker processes, against an array; one is killed"
    ),
    "mapped": Measure("mapped", "mapped", "10^8 rows in a file: takes minutes, 4 GB of disk", True),
}
