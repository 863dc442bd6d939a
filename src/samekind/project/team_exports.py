"""Who answered, how much they agree, and what each of them said of the same pairs, as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, BinaryIO

from samekind.project.agreement import votes_of
from samekind.project.annotators import AnnotatorRecord
from samekind.project.words import WORDS, safe_cell

if TYPE_CHECKING:
    from samekind.project.project import Project

__all__ = ["write_agreement", "write_annotators", "write_opinions"]


def write_annotators(file: BinaryIO, project: Project) -> None:
    """Write a line for everyone who answered: how much, how fast, how often wrong."""
    head = [field.name for field in fields(AnnotatorRecord)]
    page = project.annotators()
    _write(file, head, (list(asdict(one).values()) for one in page.annotators))


def write_agreement(file: BinaryIO, project: Project) -> None:
    """Write the agreement of all, and that of any two people."""
    found = project.annotators().agreement
    head = ["measure", "one", "two", "shared", "agreed", "value", "low", "high"]
    n = found.pairs_of_rows
    rows: list[Sequence[object]] = [
        ("Krippendorff alpha", "", "", n, "", found.alpha, found.low, found.high),
        (f"Fleiss kappa of {found.fleiss_raters}", "", "", n, "", found.fleiss, "", ""),
    ]
    rows += [
        ("Cohen kappa", one.one, one.two, one.shared, one.agreed, one.kappa, one.low, one.high)
        for one in found.people
    ]
    _write(file, head, rows)


def write_opinions(file: BinaryIO, project: Project) -> None:
    """Write what each person says of pairs of which several do; not of those that wait for an opinion."""
    rows = [
        (a, b, who, WORDS[answer])
        for (a, b), said in sorted(votes_of(project).items())
        if len(said) > 1
        for who, answer in said.items()
    ]
    _write(file, ["a", "b", "who", "answer"], rows)


def _write(file: BinaryIO, head: list[str], rows: Iterable[Sequence[object]]) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    out = csv.writer(text)
    out.writerow(head)
    for row in rows:
        out.writerow([safe_cell(cell) if isinstance(cell, str) else cell for cell in row])
    text.detach()  # or else it would close the file
