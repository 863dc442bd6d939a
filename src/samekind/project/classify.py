"""New rows beside a project: what they are compared with, and what is kept of the answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from samekind.data import Contents, Items
from samekind.engine import NOT_ASKED, ClassifySession
from samekind.errors import did_you_mean
from samekind.flow import SAME
from samekind.ledger import UNANSWERED, Ledger
from samekind.project.changes import keep_contents, kept_contents, place_items
from samekind.project.exports.tables import of_all_rows
from samekind.project.words import NO_KIND, NO_NAME, ProjectError, name_in_table

if TYPE_CHECKING:
    import pandas as pd

    from samekind.algorithms import Classified
    from samekind.project.project import Project

__all__ = ["classify_new", "new_rows_table", "oracle_of_names"]

NEW = "new "  # before what is kept of the columns of new rows
MOST_NAMED = 5


def classify_new(project: Project, items: Items, ledger: Ledger, batch: int = 1) -> ClassifySession:
    """Return a session that asks in which cluster each new row is; one that none fits founds a new one.

    Answers that the ledger has stay with their rows, also if the new rows or those of the project changed.
    """
    found = project.kinds.clusters()
    fingerprint, shape = ClassifySession.identity(found, items.points)
    before = kept_contents(ledger)
    now = _contents(project.items, items, None if before is None else before.columns)
    if now is not None:
        if before is None:
            if ledger.settings.get("fingerprint", fingerprint) == fingerprint:
                keep_contents(ledger, now)
        elif ledger.settings.get("fingerprint", fingerprint) != fingerprint:
            place_items(ledger, now, {"fingerprint": fingerprint, "shape": shape})
    _know_copies(project, items, ledger)
    return ClassifySession(found, items.X, ledger=ledger, batch=batch, grow=True)


def _know_copies(project: Project, items: Items, ledger: Ledger) -> None:
    """Let copies of items whose cluster is known be in that one, without a question."""
    if items.digests is None or project.items.digests is None:
        return
    found = project.kinds.clusters()
    known = np.concatenate([*found.members_, np.empty(0, dtype=np.intp)])
    _, new, old = np.intersect1d(
        items.digests, project.items.digests[known], assume_unique=True, return_indices=True
    )
    firsts = np.array([rows[0] for rows in found.members_], dtype=np.intp)
    pairs = np.column_stack([found.n_rows_ + new, firsts[found.labels_[known[old]]]])
    pairs = pairs[ledger.lookup(pairs) == UNANSWERED]
    ledger.record(pairs, np.full(len(pairs), SAME), asked=False)


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
    found = project.kinds.clusters()
    given = items.frame[column].astype(str).tolist()
    n = found.n_rows_
    name_of: dict[int, str | None] = {}
    for members in found.members_:
        name_of |= dict.fromkeys(members.tolist(), project.kinds.name_of(members.tolist()))
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
    """Return a line for each new row: its cluster, that one's name, and whether somebody said so.

    `names` has what to call the first, the second, … new cluster.
    """
    import pandas as pd

    project = project.moment()
    with project.state():
        found, refs = project.kinds.clusters(), project.kinds.refs()
    clusters = np.where(result.labels >= 0, result.labels, -1)
    is_known = clusters >= 0
    open_rows = result.labels == NOT_ASKED
    if open_rows.any():
        clusters[open_rows] = found.predict(items.X[open_rows])
    kinds = {cluster: ref.number for cluster, ref in enumerate(refs)}
    called = {cluster: name_in_table(ref) for cluster, ref in enumerate(refs)}
    proposed = {cluster: ref.name is None for cluster, ref in enumerate(refs)}
    next_number = max(kinds.values(), default=0) + 1
    for new, cluster in enumerate(sorted(set(clusters[clusters >= len(refs)].tolist()))):
        name = names(int((clusters == cluster).argmax()))
        kinds[cluster] = next_number + new
        called[cluster] = name or f"new kind {new + 1}"
        proposed[cluster] = not name
    table = pd.DataFrame(
        {
            "kind": [kinds.get(cluster, NO_KIND) for cluster in clusters.tolist()],
            "name": [called.get(cluster, NO_NAME) for cluster in clusters.tolist()],
            "name_is_proposed": [proposed.get(cluster, True) for cluster in clusters.tolist()],
            "known": is_known,
            "new_kind": clusters >= len(refs),
            "questions": result.n_asked,
        }
    )
    return of_all_rows(items, table)
