"""Records of a file as features: found anew, or taken from what is kept beside a project."""

from __future__ import annotations

import hashlib

import numpy as np
import pandas as pd

from samekind.data.cache import Cache
from samekind.data.columns import ColumnUse, Role
from samekind.data.features import Made
from samekind.data.records.records import compare_records
from samekind.data.sources import Source
from samekind.data.tables import Tick
from samekind.errors import DataError, Parameter
from samekind.points import CandidatePairs, RecordPoints

__all__ = ["arrays_of_records", "made_of_records", "records_from_cache"]

_OF_PAIRS = ("pairs", "comparisons", "similarity", "views", "learnt_from")


def made_of_records(source: Source, tick: Tick) -> Made:
    """Return the candidate pairs of the records of a source."""
    if source.shown is None:
        raise DataError(f"{source.name} is no table: records are rows of one.")
    options = source.options
    if options.columns is not None and not options.other and options.compare is not None:
        raise DataError(
            *(Parameter("columns"), " and ", Parameter("compare")),
            " must not both be given: both say what is compared.",
        )
    compare = options.compare
    if options.columns is not None and not options.other:
        compare = options.columns
    found = compare_records(
        source.shown.frame,
        compare=compare,
        block=options.block,
        files=source.file_of_row,
        leave_out=[*options.not_compared, *source.only_in_one],
        source=source.name,
        content=_content(source),
        tick=tick,
    )
    return _made(found.points, {name: str(kind) for name, kind in found.kinds.items()}, found.notes)


def arrays_of_records(made: Made) -> dict[str, np.ndarray]:
    """Return what is kept of records."""
    points = made.points
    assert isinstance(points, RecordPoints)
    found = points.candidates
    kept = found.pairs, found.comparisons, found.similarity, found.views, found.features
    return dict(zip(_OF_PAIRS, kept, strict=True))


def records_from_cache(source: Source, cache: Cache) -> Made | None:
    """Return what was kept; None where that is not all there."""
    kept = [cache.array(name) for name in _OF_PAIRS]
    arrays = [np.asarray(array) for array in kept if array is not None]
    if len(arrays) < len(_OF_PAIRS):
        return None
    uses = [ColumnUse.from_json(kept) for kept in cache.about.get("columns", [])]
    kinds = {use.name: use.why for use in uses}
    pairs, comparisons, similarity, views, features = arrays
    candidates = CandidatePairs(pairs, comparisons, tuple(kinds), similarity, views, features)
    X = cache.array("features")
    points = RecordPoints(
        candidates, source.n, files=source.file_of_row, X=X, content=_content(source)
    )
    return _made(points, kinds, cache.texts("notes"))


def _made(points: RecordPoints, kinds: dict[str, str], notes: list[str]) -> Made:
    names = [f"letters {j + 1}" for j in range(points.d)]
    made = Made(points.X, names, points=points, notes=notes)
    made.columns = [ColumnUse(name, Role.FIELD, kind) for name, kind in kinds.items()]
    return made


def _content(source: Source) -> str:
    """Return a text that changes when the records do, whatever is compared of them."""
    assert source.shown is not None
    hashed = pd.util.hash_pandas_object(source.shown.frame.astype(str), index=False)
    digest = hashlib.blake2b(hashed.to_numpy().tobytes(), digest_size=16)
    return f"records {source.n} {digest.hexdigest()}"
