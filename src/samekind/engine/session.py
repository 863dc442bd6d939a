"""The session that finds clusters."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from samekind._validation import check_seed
from samekind.algorithms import DEFAULT, find_algorithm
from samekind.clusters import Clusters
from samekind.data import as_points
from samekind.engine.checkpoints import known_at, make_checkpoint
from samekind.engine.flow_session import FlowSession
from samekind.engine.working_space import SpaceChoice
from samekind.flow import FloatArray, Flow, Pairs, check_answers, check_pairs
from samekind.ledger import Ledger, pairs_of
from samekind.measures import Reliability, annotator_reliability
from samekind.points import Points, Reduce, WorkingSpace
from samekind.progress import Progress

__all__ = ["Session"]

COLUMNS = ("questions", "samples", "discovered", "recovered")  # of the history


class Session(FlowSession):
    """Questions to answer, one wave after another, in your own time.

    Ask for `pending` pairs, `tell` answers to any of them in any order, and take the `clusters` whenever
    you like. With a ledger on disk the session can be left and opened again.

    Parameters
    ----------
    X : array-like of shape (n, d), list of n texts, Dask array or dataframe, or Points
        The rows to cluster. Those of a Dask collection stay on its workers; texts are embedded, as
        `samekind.embed` does.
    algorithm : str
        One of "focused", "uniform", "basic", "batched", "basic-exact", "improved-exact",
        "noisy-exact".
    ledger : None, path, URL or Ledger
        Where answers are kept; None keeps them in memory.
    budget : int or None
        The most questions to ask; None asks without limit. Those of earlier sessions of the project
        count, too.
    metric : {"auto", "euclidean", "cosine"}
        "cosine" compares rows by their direction alone; a row of zeros has none, and stays as far
        from one row as from another. "auto" is "cosine" for embeddings of `Items`, and for rows of
        length 1 that are reduced; else "euclidean".
    reduce : int, "auto" or None
        Work in so many dimensions: principal components of the rows, and one more coordinate for
        the distance from them. "auto" is 64 for "focused" where rows have more columns, None for
        the paper's algorithms. None takes rows as they are. Whatever it is, results are in the
        columns that were given. A ledger keeps the space that was found.
    random_state : int, Generator or None
        None takes the seed that the ledger keeps, or draws one and keeps it there.
    **parameters
        ``target``: stop after so many recovered clusters. ``batch``: rows asked about at once.
        ``epsilon``: how small undiscovered clusters may be when the run stops by itself (None: never).
        ``patience``: UNSURE answers after which a row is given up.

        Of "focused": ``certify``: "lazy" calls a row new when the clusters that could plausibly hold it
        refused it, "full" when all did. ``stop``: "reducible", or "certified" to stop when the
        certificate's bounds are within ``tolerance``. ``goal``: "centers", or "labels" to ask nothing for the
        sake of accurate centres. ``lineup``: kinds that a row is compared with at once, where a person can
        pick one of them. ``without``: parts to switch off, for studies.

        Of "focused" and "noisy-exact": ``error_rate``: the share of answers that may be wrong, or "estimate".

        Of the others: ``heavy``: uniform samples that recover a cluster. ``order``: "nearest" or "index".

    Examples
    --------
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> session = Session(X, algorithm="basic", random_state=0)
    >>> while len(session.pending()):
    ...     pairs = session.pending()
    ...     session.tell(pairs, [abs(X[a, 0] - X[b, 0]) < 1 for a, b in pairs])
    >>> session.clusters()
    Clusters(2 recovered of 2 discovered, ..., stop_reason_='exhausted')
    """

    def __init__(
        self,
        X: Any,
        algorithm: str = DEFAULT,
        *,
        ledger: Ledger | str | Path | None = None,
        budget: int | None = None,
        metric: str = "auto",
        reduce: Reduce = "auto",
        random_state: Any = None,
        **parameters: Any,
    ) -> None:
        self._choice = SpaceChoice(metric, reduce, getattr(X, "metric", None))
        self._algorithm = find_algorithm(algorithm)
        params = self._algorithm.Params.make(algorithm, parameters)
        self.seed = check_seed(random_state)
        self.points = as_points(X)
        self._opened: tuple[WorkingSpace | None, Points] | None = None
        self._takes_kept_seed = random_state is None
        super().__init__(params, ledger, budget)

    def __repr__(self) -> str:
        state = self.stop_reason or f"{len(self._pending)} pending"
        return f"Session({self.algorithm!r}, {self.n_questions:,} questions, {state})"

    @property
    def algorithm(self) -> str:
        """The name of the algorithm."""
        return self._algorithm.name

    @property
    def space(self) -> WorkingSpace | None:
        """The space in which the algorithm works; None for that of the rows as they are."""
        return self._open_space()[0]

    @property
    def progress(self) -> Progress:
        """Where the session stands."""
        known = self._run.state
        return Progress(
            questions=self.n_questions,
            samples=known.n_samples,
            discovered=known.n_discovered,
            recovered=len(known.recovered),
            rounds=known.n_rounds,
            seconds=perf_counter() - self._started,
            budget=self.budget,
            target=self.params.target,
        )

    def learn(self, pairs: ArrayLike, answers: ArrayLike, *, who: str = "") -> None:
        """Take in answers that nobody was asked for; they are free.

        The flow starts over with them, unless they are about rows that it has not come to yet.
        """
        self._check_open()
        checked = check_pairs(pairs)
        if not len(checked):
            return
        if checked.max() >= self.points.n:
            raise ValueError(f"row {checked.max()} is not in the data of {self.points.n} rows.")
        if not self._are_asked_about(checked):
            self._write(checked, check_answers(answers, len(checked)), who, False)
        else:
            self.change(checked, answers, who=who)

    def change(
        self, pairs: ArrayLike, answers: ArrayLike, *, who: str = "", asked: bool = False
    ) -> None:
        """Write answers that change what the flow has seen, and begin anew with all that is known then.

        Where the algorithm can resume from what is known; others start over, and use what they come to ask.
        """
        with self.edit():
            self.ledger.record(pairs, answers, who=who, asked=asked)

    @contextmanager
    def edit(self) -> Iterator[None]:
        """Within it, write to the ledger what changes what the flow has seen: in one transaction.

        Afterwards the flow begins anew with all that is known then, as after `change`.
        """
        self._check_open()
        with self.ledger.transaction():
            self._follow()
            line = self.ledger.revision.answers
            yield
            self._make_checkpoint(line)
        self._replay()

    def checkpoint(self) -> None:
        """From here on, begin with what is known now: for sessions that go on with other settings."""
        with self.ledger.transaction():
            self._follow()
            self._make_checkpoint(-1)
        self._replay()

    def questions_to_next_cluster(self) -> float | None:
        """Return about how many questions it takes to find the next cluster, if that can be said."""
        return None if self.done else self._run.questions_to_next_cluster()

    def confidence(self, rows: ArrayLike) -> FloatArray:
        """Return how likely each of these rows is in the cluster that ``labels_`` says.

        1 where that is known; NaN where the algorithm does not say.
        """
        return self._run.confidence(np.asarray(rows, dtype=np.intp))

    @property
    def n_known(self) -> int:
        """How many rows are known to be in some cluster."""
        return self._run.state.n_labelled - len(self._run.state.given_up)

    def members_of(self, row: int) -> list[int]:
        """Return all rows known to be in a row's cluster, its first one first; none if unknown."""
        cluster = self._run.state.cluster_of_row(row)
        return list(self._run.state.members[cluster]) if cluster >= 0 else []

    def clusters(self) -> Clusters:
        """Return what is found so far, and how reliable those who answered are if that is of interest."""
        found, volunteered = self._found(), self.ledger.volunteered()
        if volunteered.size:
            lookup = partial(self.ledger.lookup, infer=self._infers)
            found = found.with_volunteered(lookup, np.unique(pairs_of(volunteered)))
        if self._infers and len(self.ledger.annotators) < 2:
            return found
        return found.with_annotators(self._judge(found))

    def reliability(self) -> list[Reliability]:
        """Estimate how often each annotator's answers are wrong, as far as the clusters found so far tell.

        Retracted answers do not count. Without ``error_rate`` answers are taken to be true and the clusters
        follow them, whoever errs; then only what several people said of the same pair tells anything.

        Examples
        --------
        >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
        >>> session = Session(X, random_state=0, error_rate=0.1)
        >>> while not session.done:
        ...     pairs = session.pending()
        ...     session.tell(pairs, [abs(X[a, 0] - X[b, 0]) < 1 for a, b in pairs], who="ann")
        >>> [ann] = session.reliability()
        >>> ann.name, ann.n_answers == session.n_questions, ann.low < ann.error < ann.high
        ('ann', True, True)
        """
        return self._judge(self._found())

    def _make_checkpoint(self, line: int) -> None:
        """Make a checkpoint after a change that was written from a line on, or taken back (-1)."""
        if self._algorithm.resumes_from_known and self._infers:
            make_checkpoint(self.ledger, self._run.state.members, line)

    def _are_asked_about(self, pairs: Pairs) -> bool:
        """Return whether the flow may have asked about one of these pairs, or be about to.

        Not if nobody ever said anything of one of the two rows, and nobody is asked about it now.
        """
        active = self.ledger.active()
        mentioned = np.concatenate([active["a"], active["b"], self._wave.ravel()])
        return not bool((~np.isin(pairs, mentioned)).any(axis=1).all())

    def _judge(self, found: Clusters) -> list[Reliability]:
        active, names = self.ledger.active(), self.ledger.annotators
        who = [names[number] for number in active["who"].tolist()]
        rows, places = np.unique(pairs_of(active), return_inverse=True)  # others need no label
        labels = np.full(rows.size, -1) if self._infers else found.labels_of(rows)
        return annotator_reliability(places.reshape(-1, 2), active["answer"], who, labels)

    def _found(self) -> Clusters:
        history = np.array(self._history).reshape(-1, len(COLUMNS)).T.copy()
        return Clusters.from_snapshot(
            self._run.snapshot(),
            self.points,
            self._open_space(),
            algorithm_=self.algorithm,
            random_state_=self.seed,
            n_questions_=self.n_questions,
            history_=dict(zip(COLUMNS, history, strict=True)),
            stop_reason_=self.stop_reason,
            contradictions_=[str(found) for found in self.contradictions],
        )

    def _bind_ledger(self) -> None:
        self._bind(self.points.fingerprint(), f"{self.points.n} x {self.points.d}")
        with self.ledger.transaction():
            if "seed" not in self.ledger.meta:
                self.ledger.set_meta("seed", str(self.seed))
            elif self._takes_kept_seed:
                self.seed = int(self.ledger.meta["seed"])

    def _open_space(self) -> tuple[WorkingSpace | None, Points]:
        """Return the space in which the algorithm works, and the points there; found when first needed."""
        if self._opened is None:
            reduces = self._algorithm.reduces
            self._opened = self._choice.open(self.points, self.ledger, self.seed, reduces=reduces)
        return self._opened

    def _begin(self) -> Flow[str]:
        self._started = perf_counter()
        self._history = array("q")  # the COLUMNS after each wave, one after the other
        known = None
        start = self.ledger.latest_checkpoint()
        if start is not None:
            paid = self.ledger.asked_pairs(start.upto)
            self._unclaimed -= paid
            self.n_questions = len(paid)
            if self._algorithm.resumes_from_known:
                known = known_at(self.ledger, start)
        rng = np.random.default_rng(self.seed)
        points = self._open_space()[1]
        self._run = self._algorithm(points, self.params, rng, known)
        return self._run.run()

    def _note_wave(self) -> None:
        known = self._run.state
        now = (self.n_questions, known.n_samples, known.n_discovered, len(known.recovered))
        self._history.extend(now)
