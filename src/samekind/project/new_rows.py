"""New rows beside a project: who they are compared with, how sure their clusters are, and what is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from samekind.data import Contents, Items
from samekind.engine import NOT_ASKED, ClassifySession
from samekind.errors import did_you_mean
from samekind.ledger import Ledger
from samekind.project.growth import keep_contents, kept_contents, place_items
from samekind.project.words import NO_KIND, NO_NAME, ProjectError, name_in_table

if TYPE_CHECKING:
    import pandas as pd

    from samekind.algorithms import Classified
    from samekind.clusters import Clusters
    from samekind.project.project import Project

__all__ = ["classify_new", "new_rows_table", "oracle_of_names"]

Floats = NDArray[np.float64]
NEW = "new "  # before what is kept of the columns of new rows
MOST_TO_FIT = 2_000  # rows that tell how far one may be from its own cluster
PIECE = 4_096  # rows whose distances are taken at once
MOST_NAMED = 5


def classify_new(project: Project, items: Items, ledger: Ledger, batch: int = 1) -> ClassifySession:
    """Return a session that asks in which cluster each new row is; one that none fits founds a new one.

    Answers that the ledger has stay with their rows, also if the new rows or those of the project changed.
    """
    found = project.clusters()
    fingerprint, shape = ClassifySession.identity(found, items.points)
    before = kept_contents(ledger)
    now = _contents(project.items, items, None if before is None else before.columns)
    if now is not None:
        if before is None:
            if ledger.settings.get("fingerprint", fingerprint) == fingerprint:
                keep_contents(ledger, now)
        elif ledger.settings.get("fingerprint", fingerprint) != fingerprint:
            place_items(ledger, now, {"fingerprint": fingerprint, "shape": shape})
    return ClassifySession(found, items.X, ledger=ledger, batch=batch, grow=True)


def _contents(old: Items, new: Items, columns: dict[str, list[str]] | None) -> Contents | None:
    """Return by what the rows of a project and then the new ones are recognised."""
    kept = columns or {}
    own = {name: value for name, value in kept.items() if not name.startswith(NEW)}
    theirs = {name.removeprefix(NEW): kept[name] for name in kept if name.startswith(NEW)}
    first, then = old.contents(own or None), new.contents(theirs or None)
    if first is None or then is None:
        return None
    named = first.columns | {f"{NEW}{name}": value for name, value in then.columns.items()}
    joined = first.followed_by(then)
    return Contents(joined.whole, joined.compared, joined.called, named)


def oracle_of_names(
    project: Project, items: Items, column: str
) -> tuple[Callable[[int, int], bool], list[str]]:
    """Return what answers for a column with the names of clusters, and the names that are new.

    A name that is no cluster's but like one is a ProjectError: it is probably misspelt.
    """
    assert items.frame is not None
    found = project.clusters()
    given = items.frame[column].astype(str).tolist()
    n = found.n_rows_
    name_of: dict[int, str | None] = {}
    for members in found.members_:
        name_of |= dict.fromkeys(members.tolist(), project.name_of(members.tolist()))
    names = {name for name in name_of.values() if name}
    if not names:
        raise ProjectError(
            "no kind of the project has a name, so a column of names cannot answer. Name the kinds on "
            "the page, or with R at the prompt."
        )
    unknown = {name: given.count(name) for name in dict.fromkeys(given) if name not in names}
    hints = {name: did_you_mean(name, names) for name in unknown}
    misspelt = [name for name, hint in hints.items() if hint]
    if misspelt or len(unknown) == len(set(given)):
        listed = [
            f"{name!r} ({unknown[name]:,} row{'s' * (unknown[name] > 1)}).{hints[name]}"
            for name in (misspelt or list(unknown))[:MOST_NAMED]
        ]
        kinds = ", ".join(map(repr, sorted(names)[:MOST_NAMED])) + " …" * (len(names) > MOST_NAMED)
        raise ProjectError(
            f"{column!r} holds names that no kind of the project has: {' '.join(listed)} Correct them, or "
            f"name the kinds so; they are called {kinds}."
        )

    def answer(row: int, member: int) -> bool:
        other = given[member - n] if member >= n else name_of[member]
        return given[row - n] == other

    return answer, list(unknown)


def new_rows_table(
    project: Project, items: Items, result: Classified, names: Callable[[int], str]
) -> pd.DataFrame:
    """Return a line for each new row: its cluster, its name, whether somebody said so, and how sure it is.

    `names` has what to call the first, the second, … new cluster.
    """
    import pandas as pd

    found = project.clusters()
    clusters = np.where(result.labels >= 0, result.labels, -1)
    is_known = clusters >= 0
    open_rows = result.labels == NOT_ASKED
    sure = np.where(is_known, 1.0, np.nan)
    if open_rows.any():
        X = items.X[open_rows]
        clusters[open_rows] = found.predict(X)
        sure[open_rows] = _confidence(project, X, clusters[open_rows])
    refs = project.refs()
    kinds = {cluster: ref.number for cluster, ref in enumerate(refs)}
    called = {cluster: name_in_table(ref) for cluster, ref in enumerate(refs)}
    proposed = {cluster: ref.name is None for cluster, ref in enumerate(refs)}
    next_number = max(kinds.values(), default=0) + 1
    for new, cluster in enumerate(sorted(set(clusters[clusters >= len(refs)].tolist()))):
        name = names(int((clusters == cluster).argmax()))
        kinds[cluster] = next_number + new
        called[cluster] = name or f"new kind {new + 1}"
        proposed[cluster] = not name
    return pd.DataFrame(
        {
            "row": np.arange(items.n),
            "kind": [kinds.get(cluster, NO_KIND) for cluster in clusters.tolist()],
            "name": [called.get(cluster, NO_NAME) for cluster in clusters.tolist()],
            "name_is_proposed": [proposed.get(cluster, True) for cluster in clusters.tolist()],
            "known": is_known,
            "new_kind": clusters >= len(refs),
            "confidence": sure.round(4),
            "questions": result.n_asked,
        }
    )


def _confidence(project: Project, X: Floats, labels: NDArray[np.intp]) -> Floats:
    """Return how likely each new row is in the cluster that was predicted for it.

    A cluster is as likely as its nearest known row is near: exp(-t · distance), over the sum of all. What t
    is, two sorts of rows tell, and the lesser one is taken, as either may be too sure when little is known:
    under it known rows, each compared with the others, are likeliest in their own clusters; and rows that
    nobody was asked about are as likely in theirs as the project says of them.
    """
    from scipy.spatial.distance import cdist

    found = project.clusters()
    members = [rows for rows in found.members_ if rows.size]
    if len(members) < 2:
        return np.where(labels >= 0, 1.0, np.nan)
    known = np.concatenate(members)
    own = np.repeat(np.arange(len(members)), [rows.size for rows in members])
    places = found.as_compared(project.session.points.rows(known))
    starts = np.searchsorted(own, np.arange(len(members)))

    def nearest(rows: Floats) -> Floats:
        return np.minimum.reduceat(cdist(rows, places), starts, axis=1)

    crowded = np.flatnonzero(np.bincount(own)[own] > 1)
    left_out = crowded[:: max(1, crowded.size // MOST_TO_FIT)]
    apart = cdist(places[left_out], places)
    apart[np.arange(left_out.size), left_out] = np.inf  # not with itself
    told = [(np.minimum.reduceat(apart, starts, axis=1), own[left_out], np.ones(left_out.size))]
    some, of, sure = _unknown_rows(project, found)
    told.append((nearest(found.as_compared(project.session.points.rows(some))), of, sure))
    steepness = min(
        (_steepness(*rows) for rows in told if rows[1].size),
        default=1.0 / max(float(cdist(places[:500], places[:500]).mean()), 1e-12),
    )
    chances = np.full(len(X), np.nan)
    for first in range(0, len(X), PIECE):
        rows = slice(first, first + PIECE)
        at = np.flatnonzero(labels[rows] >= 0)
        there = _chances(nearest(found.as_compared(X[rows])), steepness)
        chances[first + at] = there[at, labels[rows][at]]
    return chances


def _unknown_rows(
    project: Project, found: Clusters
) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """Return some rows that nobody was asked about, their clusters, and how likely these are."""
    n = found.n_rows_
    rows = np.unique(np.linspace(0, n - 1, min(n, MOST_TO_FIT)).astype(np.intp))
    of, sure = found.labels_[rows], project.session.confidence(rows)
    told = (of >= 0) & (project.session.places_of(rows) < 0) & np.isfinite(sure)
    return rows[told], of[told], sure[told]


def _chances(nearest: Floats, steepness: float) -> Floats:
    weight: Floats = np.exp(-steepness * (nearest - nearest.min(axis=1, keepdims=True)))
    share: Floats = weight / weight.sum(axis=1, keepdims=True)
    return share


def _steepness(nearest: Floats, of: NDArray[np.intp], sure: Floats) -> float:
    """Return the value under which rows are about as likely in these clusters as is said, never certain."""
    from scipy.optimize import minimize_scalar

    scale = max(float(np.median(nearest[np.isfinite(nearest)])), 1e-12)
    rows = np.arange(of.size)

    def loss(log_t: float) -> float:
        chances = _chances(nearest, float(np.exp(log_t)) / scale)[rows, of]
        right, wrong = np.log(np.maximum([chances, 1.0 - chances], 1e-12))
        return float(-(sure * right + (1 - sure) * wrong).mean() + 1e-3 * np.exp(log_t))

    best = minimize_scalar(loss, bounds=(-4.0, 6.0), method="bounded")
    return float(np.exp(best.x)) / scale
