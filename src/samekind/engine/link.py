"""Link two files of records with an oracle that answers at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from samekind.clusters import Clusters
from samekind.engine.solve import solve
from samekind.flow import Answers, Pairs
from samekind.oracles import LabelOracle, as_oracle

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["link"]


def link(
    a: pd.DataFrame,
    b: pd.DataFrame,
    oracle: Any,
    *,
    compare: str | Mapping[str, str | None] | None = None,
    block: str | None = None,
    columns: Mapping[str, str] | None = None,
    **settings: Any,
) -> Clusters:
    """Find the records of two files that are the same, neither of which has duplicates of its own.

    Parameters
    ----------
    a, b : DataFrame
        The records.
    oracle : callable or LabelOracle
        Who answers: a function of a row of a and a row of b, by their places, that returns True, False or
        None (unsure); or the labels of the rows of a and then those of b.
    compare, block : str, default=None
        What is compared, and where; see `samekind.load`.
    columns : mapping of str to str, default=None
        Names of columns of a to those of b that hold the same.
    **settings
        Of `samekind.solve`: budget, random_state, error_rate, ledger …

    Returns
    -------
    clusters : Clusters
        ``labels_`` has the entity of every row of a, then of every row of b: rows of one entity are linked.

    Examples
    --------
    >>> import pandas as pd, samekind
    >>> a = pd.DataFrame({"name": ["Ann Lee", "Bob Ray", "Cy Dow"], "born": ["1980", "1975", "1990"]})
    >>> b = pd.DataFrame({"name": ["Bob Ray", "Anne Lee"], "born": ["1975", "1980"]})
    >>> known = {(0, 1), (1, 0)}
    >>> found = samekind.link(a, b, lambda i, j: (i, j) in known, random_state=0)
    >>> entity = found.labels_.tolist()
    >>> entity[0] == entity[3 + 1], entity[1] == entity[3 + 0], entity[2] in entity[3:]
    (True, True, False)
    """
    from samekind.data.records import records_of

    records = records_of(a, other=b, compare=compare, block=block, columns=columns)
    answerer = as_oracle(oracle)
    settings.setdefault("algorithm", "records")
    if isinstance(answerer, LabelOracle):
        return solve(records.points, answerer, **settings)

    def in_own_rows(pairs: Pairs) -> Answers:
        ordered = np.sort(pairs, axis=1)
        answers: Answers = answerer(ordered - np.array([0, len(a)]))
        return answers

    return solve(records.points, in_own_rows, **settings)
