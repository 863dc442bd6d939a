"""The session that finds clusters."""

from __future__ import annotations

import copy
from array import array
from collections.abc import Collection
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from samekind._validation import check_seed
from samekind.algorithms import (
    DEFAULT,
    UNKNOWN,
    Algorithm,
    AnyAlgorithm,
    FieldEvidence,
    FlowAlgorithm,
    Folding,
    PairView,
    find_algorithm,
)
from samekind.clusters import Clusters
from samekind.data import as_points
from samekind.engine.base_session import BaseSession
from samekind.engine.runner import (
    NO_PAIRS,
    FlowRunner,
    FoldRunner,
    Followed,
    Halted,
    Runner,
    twin,
)
from samekind.engine.working_space import SpaceChoice
from samekind.flow import FloatArray, Flow, IntArray, Pairs, check_answers, check_pairs
from samekind.ledger import Ledger, pairs_of
from samekind.measures import Reliability, annotator_reliability
from samekind.points import Points, Reduce, WorkingSpace
from samekind.progress import Progress

if TYPE_CHECKING:
    from samekind.ledger import ProjectPlace

__all__ = ["Session"]

COLUMNS = "questions", "samples", "discovered", "recovered"  # of the history


class Session(BaseSession):
    """Questions to answer, a few at a time, in your own time.

    Ask for `pending` pairs, `tell` answers to any of them in any order, and take the `clusters` whenever
    you like. With a ledger on disk the session can be left and opened again.

    Parameters
    ----------
    X : array-like of shape (n, d), list of n texts, Dask array or dataframe, or Points
        The rows to cluster. Those of a Dask collection stay on its workers; texts are embedded, as
        `samekind.embed` does. For "records" a dataframe of records; see `samekind.load` for its fields.
    algorithm : str or subclass of Algorithm
        One of "focused", "uniform", "basic", "batched", "basic-exact", "improved-exact",
        "noisy-exact"; of `RecordPoints` "records"; or one of your own, as a class.
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

        Of "focused": ``goal``: "labels", where every row counts the same, or "centers", where every cluster
        does. ``stop``: "reducible", or "certified" to stop when the certificate's bounds are within
        ``tolerance``.

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
        self._flow_run: Algorithm[Any]  # what asks, if it is a generator
        self._choice = SpaceChoice(metric, reduce, getattr(X, "metric", None))
        self._algorithm = find_algorithm(algorithm)
        params = self._algorithm.Params.make(self._algorithm.name, parameters)
        self.seed = check_seed(random_state)
        self.points = as_points(X, as_records=self._algorithm.compares_records)
        self._takes_kept_seed = random_state is None
        self._opened: tuple[WorkingSpace | None, Points] | None = None
        self._started = perf_counter()
        self._history = array(
            "q"
        )  # the COLUMNS whenever questions were chosen, one after the other
        self._known_at: Known | None = None
        super().__init__(params, ledger, budget)
        try:
            if ledger is not None:
                self._bind_ledger()
            self._runner = self._make_runner()
            self._runner.restart()
        except BaseException:
            self.close()
            raise

    def __repr__(self) -> str:
        state = self.stop_reason or f"{len(self.pending())} pending"
        return f"Session({self.algorithm!r}, {self.n_questions:,} questions, {state})"

    @property
    def algorithm(self) -> str:
        """The name of the algorithm."""
        return self._algorithm.name

    @property
    def folds(self) -> bool:
        """Whether the algorithm takes any answers, and can choose more questions at any time."""
        return isinstance(self._run, Folding)

    @property
    def space(self) -> WorkingSpace | None:
        """The space in which the algorithm works; None for that of the rows as they are."""
        return self._open_space()[0]

    @property
    def progress(self) -> Progress:
        """Where the session stands."""
        with self.choosing():
            samples, discovered, recovered = self._counts()
        return Progress(
            questions=self.n_questions,
            samples=samples,
            discovered=discovered,
            recovered=recovered,
            rounds=self._run.state.n_rounds if isinstance(self._run, FlowAlgorithm) else 0,
            seconds=perf_counter() - self._started,
            budget=self.budget,
            target=self.params.target,
        )

    def learn(self, pairs: ArrayLike, answers: ArrayLike, *, who: str = "") -> None:
        """Take in answers that nobody was asked for; they are free."""
        self.change(pairs, answers, who=who)

    def change(
        self, pairs: ArrayLike, answers: ArrayLike, *, who: str = "", asked: ArrayLike = False
    ) -> None:
        """Write answers to any pairs, be they pending or not, answered before or not.

        Those that were `asked` for, all or some, are charged.
        """
        checked = check_pairs(pairs)
        if checked.size and checked.max() >= self.points.n:
            raise ValueError(f"row {checked.max()} is not in the data of {self.points.n} rows.")
        said = check_answers(answers, len(checked))
        charged = np.broadcast_to(np.asarray(asked, dtype=bool), len(checked))
        nothing = np.empty((len(checked), 0), dtype=np.float32)
        expected = self.expect(checked) if charged.any() else nothing
        with self.act():
            self.write(checked, said, who, charged, expected)

    def choose(self, n: int, taken: Collection[int] = ()) -> Pairs:
        """Return up to n questions beyond the pending ones, about none of the rows that are `taken`.

        For others who answer at the same time. None once the session is over, nor of an algorithm that is a
        generator: it comes to its next questions only when these are answered.
        """
        with self.choosing():
            runner = self._runner
            if n < 1 or not isinstance(runner, FoldRunner) or self.done:
                return NO_PAIRS
            return runner.choose(n, {*taken, *self.pending()[:, 0].tolist()})

    @property
    def history(self) -> dict[str, IntArray]:
        """What there was whenever questions were chosen: questions, samples, clusters found and recovered.

        The last entry is of now. A session that was opened again begins with what was known then.
        """
        with self.choosing():
            now = self.n_questions, *self._counts()
        rows = np.array(self._history, dtype=np.int64).reshape(-1, len(COLUMNS))
        if not len(rows) or tuple(rows[-1].tolist()) != now:
            rows = np.vstack([rows, now])
        return dict(zip(COLUMNS, rows.T.copy(), strict=True))

    def chance_of_same(self, a: int, b: int) -> float:
        """Return how likely the algorithm expects the answer "same"; NaN if it does not say."""
        expected = self.expect(np.array([[a, b]]))
        return float(expected[0, -1]) if expected.size else float("nan")

    def confidence(self, rows: ArrayLike) -> FloatArray:
        """Return how likely each row is in the cluster of ``labels_``: 1 if known, NaN if nobody can say."""
        return self._view().confidence(np.asarray(rows, dtype=np.intp))

    def known(self) -> Known:
        """Return what is known of rows, to be read; within an act, what was known before it wrote."""
        with self.ledger.lock:
            known, now = self._known_at, Followed.all_of(self.ledger)
            if known is None or (known.at != now and not self._has_written):
                rows, first = np.unique(pairs_of(self.ledger.active()), return_index=True)
                when = dict(zip(rows.tolist(), first.tolist(), strict=True))
                clusters = self._view().known_clusters()
                for members in clusters:
                    members.sort(key=lambda row: when.get(row, len(when)))
                place = {row: k for k, rows in enumerate(clusters) for row in rows}
                self._known_at = known = Known(clusters, place, now)
            return known

    @property
    def n_known(self) -> int:
        """How many rows are known to be in some cluster."""
        return len(self.known().place)

    @property
    def n_clusters(self) -> int:
        """How many clusters have a row that is known to be in them."""
        return sum(map(bool, self.known().clusters))

    def known_clusters(self) -> list[list[int]]:
        """Return the rows known to be in each cluster; none if it was merged away."""
        return [list(rows) for rows in self.known().clusters]

    def places_of(self, rows: ArrayLike) -> IntArray:
        """Return which of `known_clusters` each row is in, at the moment; below 0 if that is not known."""
        place = self.known().place
        return np.array([place.get(row, UNKNOWN) for row in np.asarray(rows).tolist()], np.intp)

    def members_of(self, row: int) -> list[int]:
        """Return all rows known to be in a row's cluster, its first one first; none if unknown."""
        known = self.known()
        return list(known.clusters[known.place[row]]) if row in known.place else []

    def rank_clusters(self, row: int) -> list[int]:
        """Return the first row of every cluster, those first that a row is likeliest in."""
        with self.choosing():
            known = self._run.known_clusters()
            likely = [known[cluster] for cluster in self._run.rank_clusters(row)]
        with self.ledger.lock:  # where all of them are now
            clusters, place = self.known()[:2]
            found = dict.fromkeys(place[rows[0]] for rows in likely if rows and rows[0] in place)
        return [clusters[cluster][0] for cluster in found]

    def likely_members(self, row: int, most: int, taken: Collection[int] = ()) -> list[int]:
        """Return rows predicted to be in the cluster that a row is known to be in, most doubtful first."""
        with self.choosing():
            cluster = int(self._run.cluster_of(np.array([row]))[0])
            if cluster < 0 or not isinstance(self._run, Folding):
                return []
            found: list[int] = self._run.likely_members(cluster, most, taken).tolist()
        return found

    @property
    def record_pairs(self) -> PairView:
        """What the algorithm says of pairs of records: probabilities, and entities at other thresholds."""
        view = self._view()
        if not isinstance(view, PairView):
            raise TypeError(f"{self.algorithm!r} says nothing of pairs of records.")
        return view

    def explain(self, a: int, b: int) -> list[FieldEvidence]:
        """Return what each field says of two records; nothing of other rows."""
        with self.choosing():
            return self._run.explain(a, b) if isinstance(self._run, PairView) else []

    def frozen(self) -> Session:
        """Return the session as it is now, to be read: it stays so, and keeps nobody waiting."""
        with self.choosing():
            pairs, reason, history = self.pending(), self.stop_reason or "", self.history
            with self.ledger.lock:
                view = self._view()
                other = copy.copy(self)
                other.ledger = self.ledger.frozen()
        seen = len(other.ledger.log.lines), 0
        n_questions = self._runner.n_questions
        other._stopped, other._known_at = "", None
        other._flow_run = view if isinstance(view, Folding) else twin(view)
        other._runner = Halted(n_questions, reason, pairs, seen, other.ledger.lock)
        other._history = array("q", np.column_stack([*history.values()]).ravel().tolist())
        return other

    def clusters(self) -> Clusters:
        """Return what is found so far, and how reliable those who answered are if that is of interest."""
        found, trusts = self._found(), self.params.trusts_answers
        if not self.folds:  # it has seen only what it asked
            told = np.unique(pairs_of(self.ledger.log.volunteered()))
            found = found.with_volunteered(partial(self.ledger.lookup, infer=trusts), told)
        if trusts and len(self.ledger.annotators) < 2:
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

    def _judge(self, found: Clusters) -> list[Reliability]:
        active, names = self.ledger.active(), self.ledger.annotators
        who = [names[number] for number in active["who"].tolist()]
        rows, places = np.unique(pairs_of(active), return_inverse=True)  # others need no label
        labels = np.full(rows.size, -1) if self.params.trusts_answers else found.labels_of(rows)
        return annotator_reliability(places.reshape(-1, 2), active["answer"], who, labels)

    def _found(self) -> Clusters:
        with self.choosing():
            facts = self.n_questions, self.history, self.stop_reason
        with self.ledger.lock:
            view = self._view()
            contradictions = [str(found) for found in self.contradictions]
        n_questions, history, stop_reason = facts
        return Clusters.from_snapshot(
            view.snapshot() if self.budget != 0 or len(self.ledger) else view.guess(),
            self.points,
            self._open_space(),
            algorithm_=self.algorithm,
            random_state_=self.seed,
            n_questions_=n_questions,
            history_=history,
            stop_reason_=stop_reason,
            contradictions_=contradictions,
        )

    def _bind_ledger(self) -> None:
        self._bind(self.points.fingerprint(), f"{self.points.n} x {self.points.d}")
        self.ledger.limit_rows(self.points.n, trusts=self.params.trusts_answers)
        if "seed" not in self.ledger.settings:
            with self.ledger.transaction():
                if "seed" not in self.ledger.settings:
                    self.ledger.set("seed", str(self.seed))
        if self._takes_kept_seed:
            self.seed = int(self.ledger.settings["seed"])

    def _open_space(self) -> tuple[WorkingSpace | None, Points]:
        """Return the space in which the algorithm works, and the points there; found when first needed."""
        if self._opened is None:
            reduces = self._algorithm.reduces
            self._opened = self._choice.open(self.points, self.ledger, self.seed, reduces=reduces)
        return self._opened

    def _new_run(self) -> Algorithm[Any]:
        rng = np.random.default_rng(self.seed)
        return self._algorithm(self._open_space()[1], self.params, rng)

    def _make_runner(self) -> Runner:
        if issubclass(self._algorithm, Folding):
            return FoldRunner(self._new_run(), self.ledger, self._note_choice)  # type: ignore[arg-type]
        trusts = self.params.trusts_answers
        return FlowRunner(
            self._begin,
            self.ledger,
            look_up=partial(self.ledger.lookup, infer=trusts),
            names_annotators=not trusts,
            on_wave=self._note_choice,
            what=self.algorithm,
        )

    def _begin(self) -> Flow[str]:
        self._history, self._known_at = array("q"), None
        self._flow_run = run = self._new_run()
        assert isinstance(run, FlowAlgorithm)
        return run.run()

    @property
    def _run(self) -> Algorithm[Any]:
        """What asks."""
        return self._runner.algorithm if isinstance(self._runner, FoldRunner) else self._flow_run

    def _view(self) -> Algorithm[Any]:
        """Return an algorithm with all answers, to be read; a generator is that itself.

        Within an act, that is with those of its beginning.
        """
        runner = self._runner
        with self.ledger.lock:
            if isinstance(runner, FoldRunner):
                return runner.view(stay=self._has_written)
            self._follow()
            return self._flow_run

    @property
    def _has_written(self) -> bool:
        """Whether this thread has written answers in an act, which may still fail."""
        return self.is_acting and Followed.all_of(self.ledger) != self._began

    def _counts(self) -> tuple[int, int, int]:
        """Return how many rows were drawn, or are known, and how many clusters are found and recovered."""
        if isinstance(self._runner, Halted):
            _, n_rows, n_found, n_recovered = self._history[-len(COLUMNS) :]
            return n_rows, n_found, n_recovered
        if isinstance(self._run, FlowAlgorithm):
            state = self._run.state
            return state.n_samples, state.n_discovered, len(state.recovered)
        assert isinstance(self._run, Folding)
        n_rows, n_clusters = self._run.counts()
        return n_rows, n_clusters, n_clusters

    def _note_choice(self) -> None:
        self._history.extend((self._runner.n_questions, *self._counts()))


class Known(NamedTuple):
    """What is known of rows at one moment."""

    clusters: list[list[int]]
    """Rows that were answered about first come first."""
    place: dict[int, int]
    """Which of them each known row is in."""
    at: Followed
