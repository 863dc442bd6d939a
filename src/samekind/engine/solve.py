"""Run a session to its end with an oracle that answers at once."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Literal

import numpy as np

from samekind.algorithms import DEFAULT
from samekind.clusters import Clusters
from samekind.engine.flow_session import FlowSession
from samekind.engine.hearing import answer_streaming
from samekind.engine.session import Session
from samekind.flow import StreamingOracle
from samekind.ledger import Ledger
from samekind.oracles import LabelOracle, Oracle, as_oracle
from samekind.points import Reduce
from samekind.progress import Progress, progress_bar

__all__ = ["ContradictionWarning", "answer_with", "solve"]


class ContradictionWarning(UserWarning):
    """Some answers cannot all be true."""


def answer_with(
    session: FlowSession, oracle: Oracle, after_wave: Callable[[], object] | None = None
) -> None:
    """Let an oracle that answers at once answer all questions of a session.

    What one that is paid by the call says is kept as it comes.
    """
    if isinstance(oracle, StreamingOracle):
        answer_streaming(session, oracle, after_wave)
    who = str(getattr(oracle, "name", ""))
    while not session.done:
        pairs = session.pending()
        answers = oracle(pairs)
        names = getattr(oracle, "who", None)
        if names is None:
            session.answer_all(answers, who)
        else:  # several answer: each is noted with who gave it
            for name in dict.fromkeys(names):
                own = np.array([other == name for other in names])
                session.tell(pairs[own], np.asarray(answers)[own], who=name)
        if after_wave is not None:
            after_wave()
    found = session.contradictions
    if found:
        warnings.warn(
            f"{len(found)} of the answers contradict earlier ones, the first: {found[0]}. "
            "See contradictions_ of the result.",
            ContradictionWarning,
            stacklevel=3,
        )


def solve(
    X: Any,
    oracle: Any,
    *,
    algorithm: str = DEFAULT,
    budget: int | None = None,
    batch: int | Literal["auto"] | None = None,
    metric: str = "auto",
    reduce: Reduce = "auto",
    random_state: Any = None,
    ledger: Ledger | str | Path | None = None,
    progress: bool = False,
    on_progress: Callable[[Progress], object] | None = None,
    **parameters: Any,
) -> Clusters:
    """Find the clusters of X with an oracle that answers at once.

    Parameters
    ----------
    X : array-like of shape (n, d), list of n texts, Dask array or dataframe, or Points
        The rows to cluster. Those of a Dask collection stay on its workers; texts are embedded, as
        `samekind.embed` does.
    oracle : LabelOracle, FunctionOracle or callable
        Who answers. A function of two row numbers returns True, False or None (unsure); a callable of one
        argument takes an (m, 2) array of pairs and returns m answers.
    algorithm : str
        "focused", which asks far fewer questions; "uniform", "basic", "batched" (the paper's practical
        algorithms), "basic-exact", "improved-exact" or "noisy-exact" (with the paper's constants).
    budget : int or None
        The most questions to ask; None asks until the algorithm stops by itself. With 0 the result of
        "focused" is a guess from the rows alone: where their density has modes.
    batch : int, "auto" or None
        Rows asked about at once; "auto" starts with one and grows with what is known. None takes what
        suits the oracle: one for a function, "auto" for labels.
    metric : {"auto", "euclidean", "cosine"}
        "cosine" compares rows by their direction alone, as embeddings are meant; see `Session`.
    reduce : int, "auto" or None
        Work in so many dimensions; "auto" is 64 for "focused" where rows have more, None for the
        paper's algorithms. Results are in the columns of X all the same; see `Session`.
    random_state : int, Generator or None
        Fixes the draws.
    ledger : None, path, URL or Ledger
        Where answers are kept. With a file, a run that was cut off goes on where it was.
    progress : bool
        Show a progress bar.
    on_progress : callable or None
        Called with a `Progress` after every wave of questions.
    **parameters
        ``target``, ``epsilon``, ``patience``, ``certify``, ``stop``, ``tolerance`` …; see `Session`.

    Returns
    -------
    Clusters

    Examples
    --------
    >>> import samekind
    >>> X, y = samekind.datasets.load_digits(return_X_y=True)
    >>> clusters = samekind.solve(X, samekind.LabelOracle(y), budget=2_000, random_state=0)
    >>> clusters.n_recovered_
    10
    """
    answers = as_oracle(oracle)
    size = batch if batch is not None else getattr(answers, "batch", 1)
    with Session(
        X,
        algorithm,
        ledger=ledger,
        budget=budget,
        batch=size,
        metric=metric,
        reduce=reduce,
        random_state=random_state,
        **parameters,
    ) as session:
        if isinstance(answers, LabelOracle) and len(answers) != session.points.n:
            raise ValueError(f"X has {session.points.n} rows, but y has {len(answers)} labels.")
        with progress_bar() if progress else nullcontext() as bar:
            listeners = [listener for listener in (bar, on_progress) if listener is not None]

            def tell_listeners() -> None:
                for listener in listeners:
                    listener(session.progress)

            answer_with(session, answers, tell_listeners if listeners else None)
        return session.clusters()
