"""Records of a table, or of two, with the pairs of them that may be duplicates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import normalize

from samekind._validation import check_positive_int
from samekind.data.records.blocking import (
    PRODUCTS,
    Pairs,
    nearest_pairs,
    sorted_pairs,
    within_budget,
)
from samekind.data.records.features import RecordTerms, compare_pairs, row_products
from samekind.data.records.fields import Field, make_fields
from samekind.data.records.keys import key_matrix
from samekind.data.records.kinds import (
    Compare,
    FieldKind,
    infer_kinds,
    parse_compare,
    with_plain_names,
)
from samekind.data.records.linking import several_files
from samekind.data.records.rules import Block, copies, pairs_in_blocks, parse_block
from samekind.data.records.terms import letters_of
from samekind.data.tables import Tick, silent
from samekind.points import CandidatePairs, RecordPoints

__all__ = ["ComparedRecords", "compare_records", "records_of"]

_NEIGHBOURS = 20  # with how many others each record is compared; pairs a record are at most as many
_FEWER_NEIGHBOURS = 10  # of very many: each more takes its time, few matches are that far down
_VERY_MANY = 200_000
_COUNTED = (
    50_000  # records up to which words and letter groups are counted: in more, few are rare enough
)
_LESS = 6  # times fewer neighbours by one of the two most telling columns alone
_COMMON = 250  # records with one key, up to which it says something
_MAPPED = 50_000  # records that are laid out on a map
_DIRECTIONS = 8
_TURNS = 4  # towards these directions


@dataclass(frozen=True)
class ComparedRecords:
    """What records are compared by, and which pairs may be one entity."""

    points: RecordPoints
    kinds: dict[str, FieldKind]
    """The columns that are compared, and as what."""
    notes: list[str]
    """What was done, for a person to read."""


def records_of(
    frame: pd.DataFrame,
    *,
    compare: Compare = None,
    block: Block = None,
    other: pd.DataFrame | Sequence[pd.DataFrame] | None = None,
    columns: Mapping[str, str] | None = None,
    leave_out: Sequence[str] = (),
    neighbours: int | None = None,
    source: str = "the table",
    content: str = "",
    progress: Tick | None = None,
) -> ComparedRecords:
    """Find the pairs of records that may be duplicates, and how alike these are in each field.

    Parameters
    ----------
    frame : DataFrame
        A record in each row.
    compare : str, sequence or mapping of str, default=None
        The columns to compare and what they hold: ``"surname:name,birth:date"``. Known are name, address,
        code, date, number, set, text and category; what is not said is found out. None compares all
        columns that can be.
    block : str or sequence of str, default=None
        Compare only records that agree in these columns: ``"postcode"``; ``"postcode,surname+birth"`` in
        the one, or in both of the others.
    other : DataFrame or sequence of DataFrame, default=None
        Further files to link with the first: then records are compared with those of other files only, and
        their rows come after those of the first.
    columns : mapping of str to str, default=None
        Names of columns of the first file to those of others that hold the same.
    leave_out : sequence of str, default=()
        Columns that are not compared, such as the labels.
    neighbours : int, default=None
        With how many others each record is compared, the most alike. None: 20, and 10 where there are more
        than 200,000 records. Twenty find a few more matches of a million (99.5 instead of 99.3 %), and take
        longer to compare.
    source : str
        What to call the table in messages.
    content : str
        What changes when the records do.
    progress : callable, default=None
        Called with a stage, how much of it is done, and of how much.

    Returns
    -------
    records : ComparedRecords

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"name": ["Ann Lee", "Anne Lee", "Bob Ray"], "town": ["Ulm", "Ulm", "Bonn"]})
    >>> found = records_of(people, compare="name:name,town:name")
    >>> found.points.candidates.pairs.tolist()[0]
    [0, 1]
    """
    tick = silent if progress is None else progress
    files, notes = None, list[str]()
    if other is not None:
        others = [other] if isinstance(other, pd.DataFrame) else list(other)
        names = (
            ["the other table"]
            if len(others) == 1
            else [f"table {k + 2}" for k in range(len(others))]
        )
        frame, files, apart, notes = several_files([frame, *others], columns, [source, *names])
        leave_out = [*leave_out, *apart]
    found = compare_records(
        frame,
        compare=compare,
        block=block,
        files=files,
        leave_out=leave_out,
        neighbours=neighbours,
        source=source,
        content=content,
        tick=tick,
    )
    return replace(found, notes=[*notes, *found.notes])


def compare_records(
    frame: pd.DataFrame,
    *,
    compare: Compare,
    block: Block,
    files: NDArray[np.int8] | None,
    leave_out: Sequence[str],
    neighbours: int | None = None,
    source: str,
    content: str,
    tick: Tick,
) -> ComparedRecords:
    """Find pairs of records in one table, which may be of two files; see `records_of`."""
    if neighbours is None:
        neighbours = _NEIGHBOURS if len(frame) <= _VERY_MANY else _FEWER_NEIGHBOURS
    top = check_positive_int("neighbours", neighbours)
    frame = with_plain_names(frame, source)
    names = [name for name in frame.columns if name not in leave_out]
    said = parse_compare(compare, names, source)
    rules = parse_block(block, names, source)
    kinds, why = infer_kinds(frame, said, leave_out)
    tick("fields", 0, 1)
    fields = make_fields(frame, kinds, source, why)
    by_name = {field.name: field for field in fields}
    for name in {name for rule in rules for name in rule} - set(by_name):
        kind = infer_kinds(frame[[name]], {name: None})[0].get(name, FieldKind.CATEGORY)
        by_name |= {
            field.name: field for field in make_fields(frame[[name]], {name: kind}, source, {})
        }
    tick("fields", 1, 1)
    in_rules = [[by_name[name] for name in rule] for rule in rules]
    terms = RecordTerms.of(fields) if len(frame) <= _COUNTED else None
    pairs, similarity = _candidates(fields, in_rules, terms, files, top, tick)
    compared = compare_pairs(fields, pairs, terms, tick)
    found = CandidatePairs(
        pairs,
        compared.comparisons,
        tuple(field.name for field in fields),
        similarity,
        compared.views,
        compared.features,
    )
    X = None if terms is None else _coordinates(terms.letters.unit)
    points = RecordPoints(found, len(frame), files=files, X=X, content=content)
    used = {field.name: field.kind for field in fields}
    return ComparedRecords(points, used, _notes(used, why, rules, points))


def _candidates(
    fields: list[Field],
    rules: list[list[Field]],
    counted: RecordTerms | None,
    files: NDArray[np.int8] | None,
    top: int,
    tick: Tick,
) -> tuple[Pairs, NDArray[np.float32]]:
    """Return the candidate pairs, and how much of their words, letter groups and keys each shares."""
    n = fields[0].codes.size
    kept, tied = copies(fields, files)
    own = fields if kept.size == n else [_of_rows(field, kept) for field in fields]
    owners = None if files is None else files[kept]
    tick("letters", 0, 1)
    terms = normalize(key_matrix(own, most=max(_COMMON, int(PRODUCTS / n / 8))), copy=False)
    alike = [terms]  # what the similarity over all fields is made of
    if counted is not None:
        alike = [counted.letters.unit[kept], counted.words.unit[kept]]
        terms = sparse.hstack([*alike, terms], format="csr")
    useful = within_budget(terms)
    tick("letters", 1, 1)
    if rules:
        chosen = [[f if kept.size == n else _of_rows(f, kept) for f in rule] for rule in rules]
        pairs = pairs_in_blocks(chosen, useful, top, owners, tick)
    else:
        pairs = nearest_pairs(useful, top, owners, tick)
        for column in () if counted is None else _telling_columns(own):
            near = nearest_pairs(within_budget(column), top // _LESS, owners, tick)
            pairs = sorted_pairs(np.concatenate([pairs, near]), kept.size)
    products = [row_products(part, pairs) for part in alike]
    similarity = np.asarray(np.mean(products, axis=0), np.float32)
    if not tied.size:
        return pairs, similarity
    joined = np.concatenate([kept[pairs].astype(np.int32), tied])
    similarity = np.concatenate([similarity, np.ones(len(tied), np.float32)])
    keyed = joined[:, 0].astype(np.int64) * n + joined[:, 1]
    order = np.unique(keyed, return_index=True)[1]
    return joined[order], similarity[order]


def _telling_columns(fields: Sequence[Field]) -> list[sparse.csr_array]:
    """Return the letter groups of the two columns with most values; none where there is only one column.

    Records of one entity may differ in everything else.
    """
    if len(fields) == 1:
        return []
    most = sorted(fields, key=lambda field: len(field.values))[-2:]
    return [letters_of([*field.values, ""]).unit[field.codes] for field in most]


def _coordinates(letters: sparse.csr_array) -> NDArray[np.float32] | None:
    """Return a few directions in which letter groups differ most, for a map; None where that takes long.

    By sparse products and Gram and Schmidt alone: a linear algebra library rounds by the processor.
    """
    n, width = letters.shape
    if n > _MAPPED or min(n, width) <= _DIRECTIONS:
        return None
    rows = letters.astype(np.float64)
    found = np.random.default_rng(0).normal(size=(n, _DIRECTIONS))
    for _ in range(_TURNS):
        found = rows @ (rows.T @ found)
        for j in range(_DIRECTIONS):
            for k in range(j):
                found[:, j] -= (found[:, j] * found[:, k]).sum() * found[:, k]
            found[:, j] /= max(np.sqrt((found[:, j] ** 2).sum()), 1e-12)
    return np.asarray(found, dtype=np.float32)


def _of_rows(field: Field, rows: NDArray[np.intp]) -> Field:
    return replace(field, codes=field.codes[rows])


def _notes(
    kinds: Mapping[str, FieldKind],
    why: Mapping[str, str],
    rules: Sequence[Sequence[str]],
    points: RecordPoints,
) -> list[str]:
    """Say what was compared, and how to have it otherwise."""
    m, n = len(points.candidates.pairs), points.n
    notes = ["compared as " + ", ".join(f"{name}:{kind}" for name, kind in kinds.items())]
    notes += [f"column {name!r} is not compared: {reason}" for name, reason in why.items()]
    if rules:
        agreed = ", or ".join(" and ".join(map(repr, rule)) for rule in rules)
        notes.append(f"only records that agree in {agreed} are compared")
    notes.append(f"{m:,} candidate pairs, {m / n:.1f} a record")
    if not m:
        notes.append("no two records have anything in common: there is nothing to ask")
    return notes
