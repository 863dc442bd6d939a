"""Run a session to its end with an oracle that answers at once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal

import numpy as np

from samekind.algorithms import DEFAULT, AnyAlgorithm, find_algorithm
from samekind.clusters import Clusters
from samekind.engine.base_session import BaseSession
from samekind.engine.hearing import answer_streaming
from samekind.engine.panel import OraclePanel, make_members
from samekind.engine.session import Session
from samekind.flow import StreamingOracle, check_answers
from samekind.ledger import Ledger
from samekind.oracles import ChatOracle, LabelOracle, Oracle, as_oracle
from samekind.points import Reduce
from samekind.progress import Progress, progress_bar

__all__ = ["ContradictionWarning", "answer_with", "solve"]


class ContradictionWarning(UserWarning):
    """Some answers cannot all be true."""


def answer_with(
    session: BaseSession, oracle: Oracle, after_wave: Callable[[], object] | None = None
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
            said = check_answers(answers, len(pairs))
            expected = session.expect(pairs)
            with session.act():
                for name in dict.fromkeys(names):
                    own = np.array([other == name for other in names])
                    session.write(pairs[own], said[own], name, own[own], expected[own])
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
    algorithm: str | AnyAlgorithm = DEFAULT,
    budget: float | Mapping[str, int | None] | Sequence[int | None] | None = None,
    batch: int | Literal["auto"] | None = None,
    metric: str = "auto",
    reduce: Reduce = "auto",
    random_state: Any = None,
    ledger: Ledger | str | Path | None = None,
    progress: bool = False,
    on_progress: Callable[[Progress], object] | None = None,
    price: Mapping[str, float] | Sequence[float] | None = None,
    **parameters: Any,
) -> Clusters:
    """Find the clusters of X with an oracle that answers at once.

    Parameters
    ----------
    X : array-like of shape (n, d), list of n texts, Dask array or dataframe, or Points
        The rows to cluster. Those of a Dask collection stay on its workers; texts are embedded, as
        `samekind.embed` does.
    oracle : LabelOracle, ChatOracle, FunctionOracle, callable, "command:…", or a list of these
        Who answers. A function of two row numbers returns True, False or None (unsure); a callable of one
        argument takes an (m, 2) array of pairs and returns m answers; "command:…" names a program
        (`CommandOracle`). Of several, listed from cheap to dear, all answer the first few questions, then the
        cheap ones until their budgets are spent, and at last the best one.
    algorithm : str or subclass of Algorithm
        "focused", which asks far fewer questions; "uniform", "basic", "batched" (the paper's practical
        algorithms), "basic-exact", "improved-exact" or "noisy-exact" (with the paper's constants).
    budget : int, None, or a mapping or sequence of these
        The most questions to ask, of each of several oracles: {"model": 5_000, "person": 200}, by their names
        or in their order; or, with the `price` of each, a sum of money, which they share evenly. None asks
        until the algorithm stops by itself. With 0 the result of "focused" is a guess from the rows alone:
        where their density has modes.
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
    price : mapping or sequence of float, or None
        What an answer of each of several oracles costs; without it they are listed from cheap to dear.
    **parameters
        ``target``, ``epsilon``, ``patience``, ``goal``, ``stop``, ``tolerance`` …; see `Session`.

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
    several = oracle if isinstance(oracle, list | tuple) else [oracle]
    answerers = [as_oracle(one, X) for one in several]
    if not answerers:
        raise ValueError("oracle is an empty list: nobody is there to answer.")
    settings = parameters | {"metric": metric, "reduce": reduce, "random_state": random_state}
    settings["batch"] = batch if batch is not None else getattr(answerers[0], "batch", 1)
    may_err = len(answerers) > 1 or getattr(answerers[0], "errs", False)
    if may_err and getattr(find_algorithm(algorithm).Params, "error_rate", 0.0) is None:
        settings.setdefault("error_rate", "estimate")
    members = make_members(answerers, budget, price) if len(answerers) > 1 else []
    if not members and isinstance(budget, Mapping | Sequence):
        raise ValueError(f"budget of one oracle must be a number or None, got {budget!r}.")
    limit: Any = None if members else budget
    with ExitStack() as stack:
        session = stack.enter_context(
            Session(X, algorithm, ledger=ledger, budget=limit, **settings)
        )
        for one in answerers:
            _check_size(one, session.points.n)
        bar = stack.enter_context(progress_bar()) if progress else None
        listeners = [listener for listener in (bar, on_progress) if listener is not None]

        def tell_listeners() -> None:
            for listener in listeners:
                listener(session.progress)

        after_wave = tell_listeners if listeners else None
        if not members:
            answer_with(session, answerers[0], after_wave)
            return session.clusters()
        panel = OraclePanel(session, members)
        panel.answer(after_wave)
        found = session.clusters()
        return found.with_annotators(found.annotators_, panel.notes())


def _check_size(oracle: Oracle, n: int) -> None:
    """Raise an error if an oracle is about another number of rows."""
    if isinstance(oracle, LabelOracle) and len(oracle) != n:
        raise ValueError(f"X has {n} rows, but y has {len(oracle)} labels.")
    if isinstance(oracle, ChatOracle) and len(oracle) != n:
        raise ValueError(f"X has {n} rows, but the model is shown {len(oracle)} items.")
