"""What each part of "focused" is worth: the same runs with one of its parts switched off.

A part is switched off by replacing a constant or a method for the time of a run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.benchmark_data import DATA, choose_data
from experiments.design import check_positive, check_rows, rows_of, skipped
from experiments.evaluation import evaluate
from experiments.metrics import Reading, observations
from experiments.results import SEEDS, Results
from experiments.runner import Case, Runs
from experiments.store import Record
from experiments.summary import summarize
from experiments.trace import Emit, Setup, draws_seed
from experiments.truth import Instance
from samekind import NoisyOracle, Session
from samekind.algorithms.focused import focused, grouping, labels, state, value
from samekind.algorithms.focused.evidence import Evidence
from samekind.algorithms.focused.same import PRIOR, Same
from samekind.algorithms.focused.state import State
from samekind.algorithms.focused.value import Chooser

LABELS = ("accuracy", "ari", "clusters")
CENTERS = ("accurate", "discovered")
SMALL = 3  # rows of a cluster that counts as one


class Study(NamedTuple):
    """What variants are compared by on a data set."""

    questions: int
    metrics: tuple[str, ...] = LABELS


ABLATION = {
    "digits": Study(300),
    "banking77-embedded": Study(300),
    "hwu64-embedded": Study(300),
    "stackoverflow-texts": Study(300),
    "googlenews-texts": Study(300),
    "fashion10k": Study(300),
    "letter": Study(1_500),
    "shuttle": Study(1_000, CENTERS),
    "synthetic-variance-p0": Study(2_000, CENTERS),
}
ERRORS = (0.0, 0.05)


def _prior_only(
    phi: Any, net: Any, yes: Any, who: Any, trust: Any, told: float | None, _: Any
) -> Same:
    return Same(PRIOR, 1e-9, is_certain=True) if told == 0 else Same(PRIOR, told or Same().rate)


def _any_row(self: Chooser, taken: list[int], free: NDArray[np.bool_]) -> tuple[int, float]:
    rows = np.flatnonzero(free)
    if not rows.size:
        return -1, -1.0
    node = int(self.rng.choice(rows))
    near, chances = self.state.hits(node)
    return node, float((chances * self.state.doubt[near]).sum())


_best_row = Chooser._best_row


def _doubt_alone(self: Chooser, taken: list[int], free: NDArray[np.bool_]) -> tuple[int, float]:
    state = self.state
    kept, state.mended = state.mended, np.ones(state.n)
    try:
        return _best_row(self, taken, free)
    finally:
        state.mended = kept


PARTS: dict[str, tuple[tuple[object, str, object], ...]] = {
    "far draws": ((focused, "FAR", {"labels": 0.0, "centers": 0.0}),),
    "value of rows": ((Chooser, "_best_row", _any_row),),
    "what a refusal puts right": ((Chooser, "_best_row", _doubt_alone),),
    "questions about groups": ((Chooser, "_best_groups", lambda *_: None),),
    "questions about links": ((Chooser, "_link", lambda *_: (0.0, -1, -1)),),
    "learning of P(same)": ((state, "fit_same", _prior_only),),
    "soft posteriors": ((State, "_posterior", lambda _, c: (np.array([c]), np.ones(1))),),
    "claims": ((labels, "CLAIM", 0.0),),
    "distances": ((grouping, "UNREACHED", 1e-6), (state, "UNREACHED", 1e-6)),
    "tilt by means": ((state, "MOST_TILT", 0.0),),
    "means": ((state, "FIRST_MEANS", 10**9),),
    "early refusals": ((Evidence, "is_early", property(lambda e: np.zeros(e.size, dtype=bool))),),
    "folding again": ((focused, "REFOLD", 1e9),),
    "luck": ((value, "LUCK", 0.0),),
    "audit": ((focused, "AUDIT_AFTER", 10**9),),
}
"""For each part, what takes the place of what where it is switched off.

far draws               no share of questions about rows that are far from all known ones
value of rows           fresh rows are drawn uniformly, not by the rows they are expected to put right
what a refusal puts right  a fresh row is worth all doubt that hangs on it
questions about groups  neither about two groups nor about links
questions about links   none inside a group (they are asked only where answers may be wrong)
learning of P(same)     its prior weights; the error rate that was told, or that of the prior
soft posteriors         a refused row is a cluster of its own
claims                  a cluster of one known row takes other rows as any cluster does
distances               only walks count, also where hardly any arrive
tilt by means           the means do not change which group a row is likeliest in
means                   nor are they a feature of P(same)
early refusals          each refusal of a row that was alone counts against its later group
folding again           the live state is never replaced by the derived one
luck                    values do not differ at random
audit                   no question is spent on the certificate
"""


@contextmanager
def without(part: str) -> Iterator[None]:
    """Switch a part off meanwhile; "" leaves all on."""
    changes = PARTS[part] if part else ()
    before = [(owner, name, vars(owner)[name]) for owner, name, _ in changes]
    try:
        for owner, name, changed in changes:
            setattr(owner, name, changed)
        yield
    finally:
        for owner, name, old in before:
            setattr(owner, name, old)


@dataclass(frozen=True)
class AblationSetup(Setup):
    """A run without a part of "focused"; a share `error` of the answers is wrong, which is not told."""

    part: str
    questions: int
    goal: str
    error: float

    def trace(self, algorithm: str, data: Instance, run: int, emit: Emit) -> Record:
        """Return what there is after so many questions."""
        started, seed = perf_counter(), draws_seed(run)
        oracle: Callable[[Any], Any] = data.oracle
        parameters: dict[str, Any] = {"goal": self.goal, "epsilon": None, "batch": "auto"}
        if self.error:
            oracle = NoisyOracle(data.y, error=self.error, seed=seed)
            parameters["error_rate"] = "estimate"
        with (
            without(self.part),
            Session(data.points, budget=self.questions, random_state=seed, **parameters) as session,
        ):
            while not session.done:
                session.answer_all(oracle(session.pending()))
            found = session.clusters()
            sizes = np.bincount(found.labels_[found.labels_ >= 0])
            return {
                **evaluate(found, data),
                "accuracy": data.matched_accuracy(found.labels_),
                "clusters": int((sizes >= SMALL).sum()),
                "seconds": round(perf_counter() - started, 3),
            }


class Ablation:
    """What is lost without each part, on data sets with labels or centres as the goal."""

    file = "ablation"

    def __init__(
        self,
        data: Sequence[str] | None = None,
        *,
        parts: Sequence[str] = tuple(PARTS),
        errors: Sequence[float] = ERRORS,
        runs: int = 10,
        points: Sequence[int] | None = None,
        n: int | None = None,
    ) -> None:
        for name in parts:
            if name not in PARTS:
                raise ValueError(f"parts must be among {', '.join(PARTS)}, got {name!r}.")
        for error in errors:
            if not 0 <= error < 0.5:
                raise ValueError(f"errors must be numbers from 0 to below 0.5, got {error!r}.")
        self.data, self.parts, self.errors = choose_data(data, ABLATION), list(parts), list(errors)
        self.runs, self.n = check_positive("runs", runs), check_rows(n)
        self.questions = {name: ABLATION[name].questions for name in self.data}
        if points is not None:
            self.questions = dict.fromkeys(self.data, check_positive("points", max(points)))

    def cases(self) -> list[Case]:
        """Return what is to run: "focused" as it is, and without each part."""
        cases = []
        for name in self.data:
            data, questions = DATA[name], self.questions[name]
            goal = "labels" if ABLATION[name].metrics == LABELS else "centers"
            for error in self.errors:
                for part in ("", *self.parts):
                    setup = AblationSetup(part, questions, goal, error, n=rows_of(data, self.n))
                    seconds = data.focused_seconds(questions)
                    cases.append(Case(name, variant(part, error), setup, self.runs, seconds))
        return cases

    def results(self, runs: Runs) -> Results:
        """Return a line for each variant and metric."""
        summary = summarize(observations(runs.records, read_ablation))
        details: Record = {"runs": self.runs, "errors": self.errors, "questions": self.questions}
        seeds = SEEDS + "; which answers are wrong has that seed, too"
        return Results(self.file, summary, details, skipped(runs), seeds)


def variant(part: str, error: float) -> str:
    """Return what a variant is called.

    Examples
    --------
    >>> variant("", 0.0), variant("audit", 0.05)
    ('focused', 'focused, without audit, 5% wrong')
    """
    without_part = f", without {part}" if part else ""
    return f"focused{without_part}" + (f", {error:.0%} wrong" if error else "")


def read_ablation(record: Record) -> Iterator[Reading]:
    """Read what the data set is compared by."""
    for metric in ABLATION[record["data"]].metrics:
        yield metric, record["setup"]["questions"], float(record[metric])
