"""The session that finds clusters."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from samekind._validation import check_seed
from samekind.algorithms import DEFAULT, UNKNOWN, AnyAlgorithm, PairView, find_algorithm
from samekind.clusters import Clusters
from samekind.data import as_points
from samekind.engine.amendments import find_amendment
from samekind.engine.checkpoints import bind_version, known_at, make_checkpoint
from samekind.engine.forecast import Forecast, discovery_times, forecast_discovery
from samekind.engine.team_session import TeamSession
from samekind.engine.working_space import SpaceChoice
from samekind.flow import FloatArray, Flow, IntArray, Pairs, check_answers, check_pairs
from samekind.ledger import Change, Ledger, pairs_of
from samekind.measures import Reliability, annotator_reliability
from samekind.points import Points, Reduce, WorkingSpace
from samekind.progress import Progress

if TYPE_CHECKING:
    from samekind.ledger import ProjectPlace

__all__ = ["Session"]

COLUMNS = "questions", "samples", "discovered", "recovered"  # of the history


class Session(TeamSession):
    """Questions to answer, one wave after another, in your own time.

    Ask for `pending` pairs, `tell` answers to any of them in any order, and take the `clusters` whenever
    you like. With a ledger on disk the session can be left and opened again.

    Parameters
    ----------
    X : array-like of shape (n, d), list of n texts, Dask array or dataframe, or Points
        The rows to cluster. Those of a Dask collection stay on its workers; texts are embedded, as
        `samekind.embed` does. For "records" a dataframe of records; see `samekind.load` for its fields.
    algorithm : str or subclass of Algorithm
        One of "focused", "uniform", "basic", "batched", "basic-exact", "improved-exact",
        "noisy-exact"; of `RecordPoints` "records", "crowd-transitive" …; or one of your own, as a class.
    ledger : None, path, URL or Ledger
        Where answers are kept; None keeps them in memory.
    budget : int or None
        The most questions to ask; None asks without limit. Those of earlier sessions of the project
        count, too. With 0 the result of "focused" is a guess from the rows alone.
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
        pick one of them. ``sheet``: rows of one cluster that are asked about at once, where a person can
        answer for all. ``without``: parts to switch off, for studies.

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
        algorithm: str | AnyAlgorithm = DEFAULT,
        *,
        ledger: Ledger | str | ProjectPlace | None = None,
        budget: int | None = None,
        metric: str = "auto",
        reduce: Reduce = "auto",
        random_state: Any = None,
        **parameters: Any,
    ) -> None:
        self._choice = SpaceChoice(metric, reduce, getattr(X, "metric", None))
        self._algorithm = find_algorithm(algorithm)
        params = self._algorithm.Params.make(self._algorithm.name, parameters)
        self.seed = check_seed(random_state)
        self.points = as_points(X, as_records=self._algorithm.compares_records)
        self._opened: tuple[WorkingSpace | None, Points] | None = None
        self._amends = self._algorithm.resumes_from_known and params.trusts_answers
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

        What they say of rows that the flow has come to counts at once, as after `change`.
        """
        checked = self._check_rows(pairs)
        said = check_answers(answers, len(checked))
        with self.act():
            if self._are_asked_about(checked):
                self.ledger.change_past()
            self.ledger.record_checked(checked, said, who, False)

    def change(
        self, pairs: ArrayLike, answers: ArrayLike, *, who: str = "", asked: ArrayLike = False
    ) -> None:
        """Write answers that change what the flow has seen: they count at once.

        Where the algorithm can be told what changed (`amends`); others start over, and use what they come to
        ask. Those that were `asked` for, all or some, are charged.
        """
        checked = self._check_rows(pairs)
        said = check_answers(answers, len(checked))
        charged = np.broadcast_to(np.asarray(asked, dtype=bool), len(checked))
        with self.edit():
            self.ledger.record(checked, said, who=who, asked=charged)

    @contextmanager
    def edit(self) -> Iterator[None]:
        """Within it, write to the ledger what changes what the flow has seen; see `act`."""
        with self.act():
            self.ledger.change_past()
            yield

    def checkpoint(self) -> None:
        """From here on, begin with what is known now: for sessions that go on with other settings."""
        if self._amends:
            with self.edit():
                make_checkpoint(self.ledger, self._run.state.members)

    @property
    def history(self) -> dict[str, IntArray]:
        """What there was after each wave: questions, samples, and clusters discovered and recovered."""
        history = np.array(self._history, dtype=np.int64).reshape(-1, len(COLUMNS)).T.copy()
        return dict(zip(COLUMNS, history, strict=True))

    def forecast(self) -> Forecast | None:
        """Return how many more questions the next new cluster may take, if that can be said."""
        times = discovery_times(self.history["questions"], self.history["discovered"])
        return None if self.done else forecast_discovery(times, self.n_questions)

    def confidence(self, rows: ArrayLike) -> FloatArray:
        """Return how likely each row is in the cluster of ``labels_``: 1 if known, NaN if nobody can say."""
        return self._run.confidence(np.asarray(rows, dtype=np.intp))

    def settle(self) -> None:
        """Ask from now on first what somebody who knows better can mend, after the pending questions."""
        self._run.settles = True

    @property
    def n_known(self) -> int:
        """How many rows are known to be in some cluster."""
        return self._run.state.n_labelled - len(self._run.state.given_up)

    def known_clusters(self) -> list[list[int]]:
        """Return the rows known to be in each cluster, by discovery; none if merged away."""
        return [list(rows) for rows in self._run.state.members]

    def places_of(self, rows: ArrayLike) -> IntArray:
        """Return which of `known_clusters` each row is in, at the moment; below 0 if that is not known."""
        return self._run.state.cluster_of(np.asarray(rows, dtype=np.intp))

    def members_of(self, row: int) -> list[int]:
        """Return all rows known to be in a row's cluster, its first one first; none if unknown."""
        cluster = self._run.state.cluster_of_row(row)
        return list(self._run.state.members[cluster]) if cluster >= 0 else []

    def rank_clusters(self, row: int) -> list[int]:
        """Return the first row of every cluster, those first that a row is likeliest in."""
        members = self._run.state.members
        return [members[cluster][0] for cluster in self._run.rank_clusters(row)]

    def sheet_members(self) -> dict[int, int]:
        """Return the rows that a person may be asked about at once, each with what it is compared with."""
        return self._run.sheet_members()

    @property
    def record_pairs(self) -> PairView:
        """What the algorithm says of pairs of records: probabilities, and entities at other thresholds."""
        if not isinstance(self._run, PairView):
            raise TypeError(f"{self.algorithm!r} says nothing of pairs of records.")
        return self._run

    def clusters(self) -> Clusters:
        """Return what is found so far, and how reliable those who answered are if that is of interest."""
        found, told = self._found(), pairs_of(self.ledger.volunteered())
        rows = np.union1d(told, self._run.state.forgotten).astype(np.intp)
        if rows.size:
            lookup = partial(self.ledger.lookup, infer=self._infers)
            found = found.with_volunteered(lookup, rows)
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

    def _check_rows(self, pairs: ArrayLike) -> Pairs:
        """Return pairs of rows, or raise an error if there is no such row."""
        checked = check_pairs(pairs)
        if checked.size and checked.max() >= self.points.n:
            raise ValueError(f"row {checked.max()} is not in the data of {self.points.n} rows.")
        return checked

    def _are_asked_about(self, pairs: Pairs) -> bool:
        """Return whether the flow has come to both rows of one of these pairs."""
        met = self._run.state.cluster_of(pairs.ravel()) != UNKNOWN
        met |= np.isin(pairs.ravel(), self._wave)
        return bool(met.reshape(-1, 2).all(axis=1).any())

    def _judge(self, found: Clusters) -> list[Reliability]:
        active, names = self.ledger.active(), self.ledger.annotators
        who = [names[number] for number in active["who"].tolist()]
        rows, places = np.unique(pairs_of(active), return_inverse=True)  # others need no label
        labels = np.full(rows.size, -1) if self._infers else found.labels_of(rows)
        return annotator_reliability(places.reshape(-1, 2), active["answer"], who, labels)

    def _found(self) -> Clusters:
        return Clusters.from_snapshot(
            self._run.snapshot() if self.budget != 0 or len(self.ledger) else self._run.guess(),
            self.points,
            self._open_space(),
            algorithm_=self.algorithm,
            random_state_=self.seed,
            n_questions_=self.n_questions,
            history_=self.history,
            stop_reason_=self.stop_reason,
            contradictions_=[str(found) for found in self.contradictions],
        )

    def _bind_ledger(self) -> None:
        was_bound = "fingerprint" in self.ledger.meta
        self._bind(self.points.fingerprint(), f"{self.points.n} x {self.points.d}")
        self.ledger.limit_rows(self.points.n)
        if "seed" not in self.ledger.meta:
            with self.ledger.transaction():
                if "seed" not in self.ledger.meta:
                    self.ledger.set_meta("seed", str(self.seed))
        if self._takes_kept_seed:
            self.seed = int(self.ledger.meta["seed"])
        bind_version(self.ledger, self._algorithm, is_new=not was_bound, amends=self._amends)

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
        start = self._view.latest_checkpoint()
        if start is not None:
            paid = self._view.asked_pairs(start.upto)
            self._unclaimed.difference_update(paid.tolist())
            self.n_questions = len(paid)
            if self._algorithm.resumes_from_known:
                known = known_at(self._view, start)
        rng = np.random.default_rng(self.seed)
        points = self._open_space()[1]
        self._run = self._algorithm(points, self.params, rng, known)
        return self._run.run()

    def _amend(self, change: Change) -> Flow[str]:
        run, open_rows = self._run, self._run.interrupt()
        struck = self.ledger.taken_back(change.retracted_before, change.retracted)
        pairs = pairs_of(np.sort(struck, order="when", kind="stable"))
        if change.people:
            run.amend(self._find_beyond(change.people, open_rows))
            return run.run()
        written = pairs_of(self._view.written(change.answers_before, change.answers))
        run.amend(find_amendment(self._view, written, pairs, run.state, open_rows))
        return run.run()

    def _note_wave(self) -> None:
        known = self._run.state
        counts = known.n_samples, known.n_discovered, len(known.recovered)
        self._history.extend((self.n_questions, *counts))
