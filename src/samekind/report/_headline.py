"""What was found, in numbers and words."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from samekind.clusters import STOP_REASONS, Clusters
from samekind.report._comparison import Comparison
from samekind.report._figures import shown_text

__all__ = ["NUMBER", "called", "counted", "facts", "lead", "table", "tiles"]

NUMBER = ' class="number"'  # of a cell
LONGEST_NAME = 60
MOST_LINES = 20  # of contradictions and of notes


def counted(number: int, noun: str) -> str:
    """Return "1 row" or "2 rows"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def called(cluster: int, names: Sequence[str | None]) -> str:
    """Return what a cluster is called: its name, or its place among the labels."""
    if cluster < 0:
        return "no kind"
    name = shown_text(names[cluster] or "", LONGEST_NAME)
    return name or f"kind {cluster}"


def table(head: str, body: str) -> str:
    """Return a table of a row of heads and of rows."""
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def lead(clusters: Clusters, d: int) -> str:
    """Say in a sentence what was done."""
    return (
        f"{counted(clusters.n_rows_, 'row')} of {counted(d, 'column')}, sorted into kinds by asking "
        "“are these two of the same kind?”."
    )


def tiles(clusters: Clusters, truth: Comparison | None, *, are_named: bool = False) -> str:
    """Return the headline numbers; of clusters that somebody named only how many there are."""
    known = sum(len(members) for members in clusters.members_)
    word = "kind" if clusters.n_discovered_ == 1 else "kinds"
    found = [(f"{word} found", f"{clusters.n_discovered_:,}")]
    if clusters.n_recovered_ and not are_named:
        found.append(("of them with a settled centre", f"{clusters.n_recovered_:,}"))
    numbers = [
        *found,
        ("questions", f"{clusters.n_questions_:,}"),
        (f"of {clusters.n_rows_:,} rows labelled by answers", f"{known:,}"),
    ]
    if truth is not None:
        numbers.append(("true kinds", f"{len(truth.classes):,}"))
        numbers.append(("adjusted Rand index of the labels", f"{truth.agreement:.3f}"))
    return _definitions(numbers)


def facts(clusters: Clusters, advice: str = "") -> str:
    """Return what else one should know, line by line."""
    why = STOP_REASONS.get(clusters.stop_reason_, str(clusters.stop_reason_))
    lines = [
        ("stopped because", escape(why)),
        ("algorithm", f"{escape(clusters.algorithm_)}, seed {clusters.random_state_}"),
    ]
    if advice:
        lines.append(("when to stop", escape(shown_text(advice, 500))))
    if clusters.n_samples_:
        rounds = f" in {counted(clusters.n_rounds_, 'round')}" if clusters.n_rounds_ else ""
        lines.append(("rows drawn", f"{clusters.n_samples_:,}{rounds}"))
    if clusters.certificate_ is not None:
        lines.append(("certificate", escape(clusters.certificate_.in_words("kind"))))
    if len(clusters.given_up_):
        lines.append(("given up as unsure", counted(len(clusters.given_up_), "row")))
    if clusters.notes_:
        lines.append(('<span class="warn">notes</span>', _listed(clusters.notes_)))
    if clusters.contradictions_:
        name = f'<span class="bad">contradictions ({len(clusters.contradictions_):,})</span>'
        lines.append((name, _listed(clusters.contradictions_)))
    return _definitions(lines)


def _definitions(lines: list[tuple[str, str]]) -> str:
    return "".join(f"<div><dt>{name}</dt><dd>{text}</dd></div>" for name, text in lines)


def _listed(texts: list[str]) -> str:
    items = "".join(f"<li>{escape(shown_text(text, 500))}</li>" for text in texts[:MOST_LINES])
    if len(texts) > MOST_LINES:
        items += f"<li>and {len(texts) - MOST_LINES:,} more</li>"
    return f"<ul>{items}</ul>"
