"""By what rows are recognised when the file or folder that they are in has changed.

Of each row three digests are kept: of all that it holds, of what it is compared by (its text, its picture,
the columns of its features), and of what it is called (the name of a picture's file, or an id). They depend
on cells alone: not on the order of the rows, nor on whether a column was read as whole numbers or as floats.
"""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from samekind.data.copies import Copies, normal_text
from samekind.data.picture_paths import inside
from samekind.data.readers import Array
from samekind.data.views import cell_text
from samekind.errors import DataError

if TYPE_CHECKING:
    from samekind.data.columns import Series
    from samekind.data.pictures import Pictures

__all__ = [
    "Contents",
    "Matched",
    "contents_of",
    "digests_of_pictures",
    "digests_of_texts",
    "match_contents",
    "read_contents",
]

Digests = NDArray[np.uint64]
PARTS = ("whole", "compared", "called")
_EXACT = 2.0**53  # numbers below it are exact as floats
_MISSING = np.uint64(0x9E3779B97F4A7C15)
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Contents:
    """Digests of rows.

    Attributes
    ----------
    whole, compared, called : ndarray of uint64
        Of all of each row, of what it is compared by, and of what it is called; 0: nothing.
    columns : dict
        The columns of a table that these were made from, by the names above.
    """

    whole: Digests
    compared: Digests
    called: Digests
    columns: dict[str, list[str]]

    def __len__(self) -> int:
        return self.whole.size

    def take(self, rows: NDArray[np.intp]) -> Contents:
        """Return those of some rows."""
        return Contents(self.whole[rows], self.compared[rows], self.called[rows], self.columns)

    def followed_by(self, others: Contents) -> Contents:
        """Return those of these rows and then of others."""
        whole, compared, called = (
            np.concatenate([getattr(own, part) for own in (self, others)]) for part in PARTS
        )
        return Contents(whole, compared, called, self.columns)

    def to_bytes(self) -> bytes:
        """Return the digests as bytes, row by row: 24 for each."""
        return np.column_stack([self.whole, self.compared, self.called]).astype("<u8").tobytes()

    def columns_text(self) -> str:
        """Return the names of the columns as JSON."""
        return json.dumps(self.columns)

    @classmethod
    def from_bytes(cls, packed: bytes, columns: str) -> Contents:
        """Make it again; a ValueError says that it cannot be such."""
        if len(packed) % 24:
            raise ValueError("the digests of the rows are cut off")
        own = np.frombuffer(packed, dtype="<u8").astype(np.uint64).reshape(-1, 3)
        names = json.loads(columns)
        if not isinstance(names, dict):
            raise ValueError("the columns of the digests are no JSON object")
        listed = {str(key): [str(name) for name in value] for key, value in names.items()}
        whole, compared, called = np.ascontiguousarray(own.T)
        return cls(whole, compared, called, listed)


class Matched(NamedTuple):
    """Which rows of before are which now.

    Attributes
    ----------
    now : ndarray of int
        For each row of before its number now; -1: it is gone.
    edited : int
        Rows whose other cells or name changed, but not what they are compared by.
    changed : ndarray of int
        Rows of now that are called as one that is gone, and are compared by something else.
    """

    now: NDArray[np.intp]
    edited: int
    changed: NDArray[np.intp]


def match_contents(before: Contents, now: Contents) -> Matched:
    """Recognise rows: those that are wholly the same, then those that are compared by the same.

    Of rows that are alike the first is the first again, and so on.
    """
    place = np.full(len(before), -1, dtype=np.intp)
    same_place = np.arange(min(len(before), len(now)))
    stayed = before.whole[same_place] == now.whole[same_place]
    place[same_place[stayed]] = same_place[stayed]
    edited = 0
    for old, new, is_edit in (
        (before.whole, now.whole, False),
        (before.compared, now.compared, True),
    ):
        lost = np.flatnonzero(place < 0)
        left = np.setdiff1d(np.arange(len(now)), place[place >= 0])
        _, own, theirs = np.intersect1d(
            _numbered(old[lost]), _numbered(new[left]), assume_unique=True, return_indices=True
        )
        place[lost[own]] = left[theirs]
        edited += own.size if is_edit else 0
    left = np.setdiff1d(np.arange(len(now)), place[place >= 0])
    gone = before.called[place < 0]
    changed = left[np.isin(now.called[left], gone[gone != 0])]
    return Matched(place, edited, changed)


def contents_of(
    frame: pd.DataFrame | None,
    pictures: Pictures | None,
    compared: Sequence[str],
    hidden: Iterable[str] = (),
    like: dict[str, list[str]] | None = None,
    text: str | None = None,
) -> Contents:
    """Return the digests of all rows of a table, of pictures, or of a table that names pictures.

    `compared` are the columns that rows are compared by, `hidden` are no part of them. `like` has the columns
    that earlier digests were made from: the same are taken, also if there are more of them now. `text` is the
    column of texts: they are compared by what `normal_text` leaves of them.
    """
    looked_at = None if pictures is None else digests_of_pictures(pictures)
    if frame is None:
        assert looked_at is not None
        return Contents(looked_at, looked_at, np.zeros_like(looked_at), {})
    hashed = {str(name): column for name, column in frame.items()}
    columns = like or _choose(hashed, list(compared), set(hidden))
    missing = [name for names in columns.values() for name in names if name not in hashed]
    if missing:
        raise DataError(
            f"the column {missing[0]!r} by which its rows are recognised is not there. Put it back."
        )
    every = {name: _of_cells(hashed[name]) for names in columns.values() for name in names}
    whole, own, called = (
        _joined([every[name] for name in columns.get(part, ())], len(frame)) for part in PARTS
    )
    if looked_at is not None:
        whole, own = _joined([whole, looked_at], len(frame)), looked_at
    elif text is not None:
        own = digests_of_texts(hashed[text])
    if not columns.get("called"):
        called = np.zeros_like(whole)
    return Contents(whole, own, called, columns)


def read_contents(
    recipe: dict[str, Any], like: dict[str, list[str]], cache: Path | None = None
) -> tuple[Contents | None, list[tuple[str, str]]]:
    """Return the digests of the items of a file or folder, and pictures that are left out.

    It is read, but not made into features. `recipe` has the arguments of `samekind.load`, `cache` is the
    project beside which features are kept.
    """
    from samekind.data.cache import Cache
    from samekind.data.options import DEMO, LoadOptions
    from samekind.data.sources import open_source
    from samekind.data.tables import FrameTable, silent

    if recipe.get("data") == DEMO:
        return None, []
    kept = Cache(cache)
    source = open_source(LoadOptions(**recipe), silent)
    if source.may_leave_out and source.pictures is not None:
        was_broken = {str(name) for name, _ in kept.about.get("left_out", [])}
        source.leave_out(_still_broken(source.pictures, was_broken))
    frame = None if source.shown is None else source.shown.frame
    if frame is None and isinstance(source.table, FrameTable) and source.pictures is None:
        frame = source.table.frame
    if source.is_streamed or (frame is None and source.pictures is None):
        return None, []
    text = source.options.text
    found = contents_of(frame, source.pictures, [], like=like, text=text)
    if text is not None or source.pictures is not None:
        found = found.take(Copies.of(found.compared).rows)
    return found, source.left_out


def _still_broken(pictures: Pictures, names: set[str]) -> list[tuple[str, str]]:
    """Return those of some pictures that cannot be read, and why."""
    broken: list[tuple[str, str]] = []
    for row, name in enumerate(pictures.names):
        if name in names:
            try:
                pictures.open(row, 32)
            except DataError as error:
                broken.append((name, str(error)))
    return broken


def _choose(
    columns: dict[str, Series], compared: list[str], hidden: set[str]
) -> dict[str, list[str]]:
    """Return what digests are made of: all columns that count, those compared, and one of ids."""
    whole = [name for name in columns if name not in hidden]
    ids = [name for name in whole if name not in compared and _is_id(columns[name])]
    return {"whole": whole, "compared": compared or whole, "called": ids[:1]}


def _is_id(column: Series) -> bool:
    plain = not pd.api.types.is_float_dtype(column.dtype) and not column.isna().any()
    try:
        return bool(plain and column.is_unique)
    except TypeError:  # lists and the like
        return False


def digests_of_texts(column: Series) -> Digests:
    """Return a digest of each text, the same for copies."""
    return np.array(
        [_digest(normal_text(cell_text(value)).encode("utf-8", "replace")) for value in column],
        dtype=np.uint64,
    )


def digests_of_pictures(pictures: Pictures) -> Digests:
    """Return digests of the files of pictures, or of the pictures of an array."""
    where = pictures.where
    if isinstance(where, Path):
        return np.array([_of_file(where, name) for name in pictures.names], dtype=np.uint64)
    return np.array([_digest(np.ascontiguousarray(one).tobytes()) for one in where], np.uint64)


def _of_file(folder: Path, name: str) -> int:
    """Return a digest of a picture's file; of its name, if it cannot be read any more."""
    try:
        path = inside(folder, name)
        if not stat.S_ISREG(path.stat().st_mode):
            return int(_of_text(name))
        with path.open("rb") as file:
            found = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=8)).digest()
    except (DataError, OSError):
        return int(_of_text(name))
    return int.from_bytes(found, "little")


def _of_cells(column: Series) -> Digests:
    """Return a digest of each cell; a number has the same one as a text that spells it."""
    if pd.api.types.is_numeric_dtype(column.dtype):
        numbers: Array = column.to_numpy(dtype=np.float64, na_value=np.nan)
        if not (np.abs(numbers) >= _EXACT).any():
            return _of_numbers(numbers)
    texts = [cell_text(value) for value in column]
    codes, unique = pd.factorize(np.array(texts, dtype=object))
    return np.array([_of_text(str(text)) for text in unique], dtype=np.uint64)[codes]


def _of_text(text: str) -> np.uint64:
    try:
        number = float(text)
    except ValueError:
        number = np.inf
    if abs(number) < _EXACT:
        return np.uint64(_of_numbers(np.array([number]))[0])
    return np.uint64(_digest(text.encode("utf-8", "replace"))) if text else _MISSING


def _of_numbers(numbers: Array) -> Digests:
    bits = _mixed((numbers + 0.0).view(np.uint64))  # + 0.0: there is one zero
    return np.where(np.isnan(numbers), _MISSING, bits)


def _digest(content: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little")


def _joined(parts: Sequence[Digests], n: int) -> Digests:
    """Return a digest of several, in their order."""
    with np.errstate(over="ignore"):
        total = np.zeros(n, dtype=np.uint64)
        for part in parts:
            total = _mixed(total * _FACTOR + part)
    return total


def _mixed(values: Digests) -> Digests:
    """Return numbers that look random and are different where these are (the end of SplitMix64)."""
    with np.errstate(over="ignore"):
        values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _numbered(digests: Digests) -> Digests:
    """Return digests that tell the first, the second, … of several equal ones apart."""
    order = np.argsort(digests, kind="stable")
    ordered = digests[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]][: ordered.size])
    counts = np.diff(np.r_[starts, ordered.size])
    nth = np.empty(digests.size, dtype=np.uint64)
    nth[order] = (np.arange(ordered.size) - np.repeat(starts, counts)).astype(np.uint64)
    with np.errstate(over="ignore"):
        return _mixed(digests + nth * _FACTOR)
