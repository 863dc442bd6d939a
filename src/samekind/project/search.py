"""Searching all items by what they say: words, or a regular expression."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from samekind.project.records import FoundItem, SearchPage
from samekind.project.words import ProjectError

if TYPE_CHECKING:
    from samekind.data import Items
    from samekind.project.project import Project

__all__ = ["search"]

MOST_SHOWN = 100_000  # items whose titles are looked at one by one, where there is no table
MOST_ROWS = 1000  # rows that are returned, as many as can be placed at once


def search(
    project: Project,
    text: str,
    *,
    regex: bool = False,
    column: str = "",
    offset: int = 0,
    limit: int = 24,
) -> SearchPage:
    """Return the items that say something, and the cluster that each is known or predicted to be in.

    All words have to be there, in one column or in several, in capitals or not. A regular expression is one
    of RE2, which no text keeps busy.
    """
    texts = _texts(project.items)
    if column:
        if column not in texts:
            raise ProjectError(f"There is no column {column!r:.60}; these are: {', '.join(texts)}.")
        looked_at = [texts[column]]
    else:
        looked_at = list(texts.values())
    hits = np.ones(project.items.n, dtype=bool)
    for wanted in [text] if regex else text.split():
        hits &= np.any([_says(values, wanted, regex) for values in looked_at], axis=0)
    rows = np.flatnonzero(hits)
    shown = rows[offset : offset + limit]
    project = project.moment()
    with project.state():
        is_blank = project.is_blank or not shown.size
        labels = np.full(shown.size, -1) if is_blank else project.kinds.clusters().labels_of(shown)
        refs = [] if is_blank else project.kinds.refs()
        items = [
            FoundItem(
                **vars(project.item(row)),
                known=bool(project.session.members_of(row)),
                kind=refs[label] if label >= 0 else None,
            )
            for row, label in zip(shown.tolist(), labels.tolist(), strict=True)
        ]
    return SearchPage(items, rows[:MOST_ROWS].tolist(), int(rows.size), list(texts))


def _texts(items: Items) -> dict[str, pa.Array]:
    """Return what is written about all items, by column."""
    frame = items.shown_frame(with_labels=False)
    if frame is not None:
        return {str(name): pa.array(frame[name].astype(str)) for name in frame.columns}
    if items.n > MOST_SHOWN:
        raise ProjectError("These data are too large to be searched.")
    return {"name": pa.array([items.show(row).title for row in range(items.n)])}


def _says(values: pa.Array, wanted: str, regex: bool) -> NDArray[np.bool_]:
    try:
        look = pc.match_substring_regex if regex else pc.match_substring
        found = look(values, wanted, ignore_case=True)
    except pa.ArrowInvalid as error:
        why = str(error).partition(": ")[2]
        raise ProjectError(f"{wanted!r:.80} is no regular expression: {why:.100}.") from None
    return np.asarray(found.fill_null(False))
