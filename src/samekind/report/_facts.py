"""What was found, in numbers and words. All of it is plain text, which the template escapes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from samekind.clusters import STOP_REASONS, Clusters
from samekind.measures import percent
from samekind.report._comparison import Comparison

__all__ = ["Fact", "annotators", "counted", "facts", "shown_text", "tiles"]

UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")
MOST_LINES = 20  # of contradictions and of notes
LONGEST = 500  # characters of a line


class Fact(NamedTuple):
    """A line of facts: a text, or a list of them; `mark` is how serious it is."""

    name: str
    text: str = ""
    lines: Sequence[str] = ()
    mark: str = ""


def shown_text(value: object, most: int) -> str:
    """Return a text without control characters, cut to at most so many characters."""
    text = UNSEEN.sub(" ", str(value)).strip()
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def counted(number: int, noun: str) -> str:
    """Return "1 row" or "2 rows"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def tiles(clusters: Clusters, truth: Comparison | None, *, are_named: bool = False) -> list[Fact]:
    """Return the headline numbers; of clusters that somebody named only how many there are."""
    known = sum(len(members) for members in clusters.members_)
    word = "kind" if clusters.n_discovered_ == 1 else "kinds"
    found = [Fact(f"{word} found", f"{clusters.n_discovered_:,}")]
    if clusters.n_recovered_ and not are_named:
        found.append(Fact("of them with a settled centre", f"{clusters.n_recovered_:,}"))
    found.append(Fact("questions", f"{clusters.n_questions_:,}"))
    found.append(Fact(f"of {clusters.n_rows_:,} rows labelled by answers", f"{known:,}"))
    if truth is not None:
        found.append(Fact("true kinds", f"{len(truth.classes):,}"))
        found.append(Fact("adjusted Rand index of the labels", f"{truth.agreement:.3f}"))
    return found


def facts(clusters: Clusters, advice: str = "") -> list[Fact]:
    """Return what else one should know, line by line."""
    lines = [
        Fact(
            "stopped because", STOP_REASONS.get(clusters.stop_reason_, str(clusters.stop_reason_))
        ),
        Fact("algorithm", f"{clusters.algorithm_}, seed {clusters.random_state_}"),
    ]
    if advice:
        lines.append(Fact("when to stop", shown_text(advice, LONGEST)))
    if clusters.n_samples_:
        rounds = f" in {counted(clusters.n_rounds_, 'round')}" if clusters.n_rounds_ else ""
        lines.append(Fact("rows drawn", f"{clusters.n_samples_:,}{rounds}"))
    if clusters.certificate_ is not None:
        lines.append(Fact("certificate", clusters.certificate_.in_words("kind")))
    if len(clusters.given_up_):
        lines.append(Fact("given up as unsure", counted(len(clusters.given_up_), "row")))
    if clusters.notes_:
        lines.append(Fact("notes", lines=_listed(clusters.notes_), mark="warn"))
    if wrong := clusters.contradictions_:
        lines.append(Fact(f"contradictions ({len(wrong):,})", lines=_listed(wrong), mark="bad"))
    return lines


def _listed(texts: Sequence[str]) -> list[str]:
    more = [f"and {len(texts) - MOST_LINES:,} more"] if len(texts) > MOST_LINES else []
    return [shown_text(text, LONGEST) for text in texts[:MOST_LINES]] + more


def annotators(clusters: Clusters) -> list[dict[str, str]]:
    """Return what is known of whoever answered, the busiest first."""
    return [
        {
            "name": shown_text(one.shown_name, 60),
            "answers": f"{one.n_answers:,}",
            "unsure": f"{one.n_unsure:,}",
            "error": percent(one.error) if one.is_tested else "not tested",
            "interval": f"{percent(one.low)} to {percent(one.high)}" if one.is_tested else "",
            "warning": shown_text(one.warning or "", LONGEST),
        }
        for one in sorted(clusters.annotators_, key=lambda one: -one.n_answers)
    ]
