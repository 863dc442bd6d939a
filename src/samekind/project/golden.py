"""Golden records: one record for each entity, its values chosen by rules.

A rule is "longest", "newest:COLUMN" (by the dates or numbers in a column), "source:COLUMN=VALUE" (from
records that have the value, such as source:file=crm.csv), or "frequent". Ties go to the most frequent value,
then to the longest, then to the first record.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from samekind.data import cell_text
from samekind.data.records.dates import parse_dates
from samekind.errors import did_you_mean
from samekind.project.words import ProjectError

__all__ = ["Golden", "golden_records", "parse_rules"]

ALL = "*"
FREQUENT, LONGEST, NEWEST, SOURCE = RULES = ("frequent", "longest", "newest", "source")


class Golden(NamedTuple):
    """Golden records, and where their values come from."""

    records: pd.DataFrame
    """A record for each entity, in their order."""
    sources: pd.DataFrame
    """A line for each value of an entity of several records: its row, its rule, how many records have it."""


def parse_rules(text: str, columns: list[str]) -> dict[str, str]:
    """Return the rule of each column that has one: "phone:newest:updated,*:longest"; * is all others."""
    rules = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, _, rule = part.partition(":")
        kind, _, about = rule.partition(":")
        if name != ALL:
            _check_column(name, columns)
        if kind not in RULES:
            raise ProjectError(
                f"A rule for golden records is frequent, longest, newest:COLUMN or source:COLUMN=VALUE, and "
                f"not {rule!r}.{did_you_mean(kind, RULES)}"
            )
        if kind == SOURCE and "=" not in about:
            raise ProjectError(
                f"Name a column and a value, such as source:file=a.csv, not {rule!r}."
            )
        if kind in (NEWEST, SOURCE):
            _check_column(about.partition("=")[0], columns)
        rules[name] = rule
    return rules


def golden_records(
    frame: pd.DataFrame, labels: NDArray[np.intp], rules: Mapping[str, str]
) -> Golden:
    """Return one record for each entity; `labels` numbers the entities from 0 in their order."""
    first, sizes = np.unique(labels, return_index=True, return_counts=True)[1:]
    records = frame.iloc[first].reset_index(drop=True)
    several = np.flatnonzero(sizes[labels] > 1)
    sources = []
    for name in frame.columns:
        rule = rules.get(name, rules.get(ALL, FREQUENT))
        votes = pd.DataFrame(
            {
                "entity": labels[several],
                "value": [cell_text(value) for value in frame[name].iloc[several]],
                "row": several,
                "score": _scores(rule, frame)[several],
            }
        )
        votes = votes[votes["value"] != ""]
        votes["records"] = votes.groupby(["entity", "value"])["row"].transform("size")
        votes["length"] = votes["value"].str.len()
        if rule == LONGEST:
            votes["score"] = votes["length"]
        best = votes.sort_values(
            ["entity", "score", "records", "length", "row"],
            ascending=[True, False, False, False, True],
        ).drop_duplicates("entity")
        values = records[name].to_numpy(dtype=object, copy=True)
        values[best["entity"].to_numpy()] = frame[name].to_numpy(dtype=object)[best["row"]]
        records[name] = values
        best = best.assign(column=name, rule=rule)
        sources.append(best[["entity", "column", "value", "row", "records", "rule"]])
    return Golden(records, pd.concat(sources).sort_values("entity", kind="stable"))


def _scores(rule: str, frame: pd.DataFrame) -> NDArray[np.float64]:
    """Return by how much the value of each row is preferred, before frequency and length count."""
    kind, _, about = rule.partition(":")
    if kind == SOURCE:
        name, _, wanted = about.partition("=")
        return np.array([float(cell_text(value) == wanted) for value in frame[name]])
    if kind == NEWEST:
        texts = [cell_text(value) for value in frame[about]]
        dates = parse_dates(texts)
        days = dates.year * 10_000.0 + dates.month * 100 + dates.day
        numbers = pd.to_numeric(pd.Series(texts, dtype=object), errors="coerce").to_numpy(float)
        return np.where(dates.year > 0, days, np.nan_to_num(numbers, nan=-np.inf))
    return np.zeros(len(frame))


def _check_column(name: str, columns: list[str]) -> None:
    if name not in columns:
        raise ProjectError(f"There is no column {name!r}.{did_you_mean(name, columns)}")
