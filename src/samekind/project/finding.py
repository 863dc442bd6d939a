"""Finding a cluster by its name, a word of its examples, or where a row likely is."""

from __future__ import annotations

from typing import Literal

from rapidfuzz import fuzz, utils

from samekind.data import Items
from samekind.engine import Session
from samekind.project.records import ClusterMatch
from samekind.project.shared import ProjectPart, exclusive

__all__ = ["Finding"]

By = Literal["name", "example", "likelihood"]

SHOWN = 3  # examples of a cluster
EXAMPLES = 200  # members of a cluster that are looked through,
MOST_EXAMPLES = 20_000  # and of all clusters together, about
LONGEST = 1000  # characters of an example that are
KEPT = 50_000  # examples that are remembered
FITS = 70.0  # of 100: how well a name or an example has to fit
NAME_FIRST = 15.0  # how much better an example has to fit than a name


class Finding(ProjectPart):
    """All clusters, to pick one from."""

    def __init__(self, items: Items, session: Session) -> None:
        super().__init__(items, session)
        self._texts: dict[int, str] = {}

    @exclusive
    def find(self, text: str = "", *, row: int | None = None, most: int = 20) -> list[ClusterMatch]:
        """Return clusters whose names or examples are like a text, best first.

        Without a text all of them: those first that a row is likeliest in, or the largest.
        """
        self.catch_up()
        if row is not None:
            self._check_rows([row])
        session = self.session
        order = session.rank_clusters(0 if row is None else row)
        groups = [session.members_of(first) for first in order]
        if row is None:
            groups.sort(key=len, reverse=True)
        wanted = utils.default_process(text)
        if not wanted:
            return [self._match(members, members, "likelihood") for members in groups[:most]]
        each = max(SHOWN, min(EXAMPLES, MOST_EXAMPLES // max(1, len(groups))))
        found: list[tuple[float, ClusterMatch]] = []
        for members in groups:
            by_name = _likeness(wanted, utils.default_process(self.name_of(members) or ""))
            likeness = {m: _likeness(wanted, self._text(m)) for m in members[:each]}
            best = sorted(likeness, key=lambda m: -likeness[m])
            by_example = likeness[best[0]]
            if max(by_name, by_example) < FITS:
                continue
            is_named = by_name >= FITS and by_name + NAME_FIRST >= by_example
            score = by_name + NAME_FIRST if is_named else by_example
            found.append((score, self._match(members, best, "name" if is_named else "example")))
        found.sort(key=lambda one: -one[0])
        return [match for _, match in found[:most]]

    def _match(self, members: list[int], examples: list[int], by: By) -> ClusterMatch:
        shown = list(map(self.item, examples[:SHOWN]))
        return ClusterMatch(members[0], self.name_of(members), shown, len(members), by)

    def _text(self, row: int) -> str:
        """Return the words of an item, to be compared."""
        if row not in self._texts:
            if len(self._texts) >= KEPT:
                self._texts.clear()
            item = self.items.show(row)
            words = [item.title, item.text or "", *(value for _, value in item.fields)]
            self._texts[row] = utils.default_process(" ".join(words)[:LONGEST])
        return self._texts[row]


def _likeness(wanted: str, text: str) -> float:
    """Return how like a text is to what is wanted, of 100: as a whole, by its words, or with a part of it."""
    if not text:
        return 0.0
    if len(wanted) > len(text):  # a part of what is wanted says little
        return fuzz.token_sort_ratio(wanted, text)
    return max(fuzz.partial_ratio(wanted, text), fuzz.token_set_ratio(wanted, text))
