"""Loaders of well-known tables, in scikit-learn's manner."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.datasets import _descriptions as descriptions
from samekind.datasets._fetch import find_table, load_arrays
from samekind.errors import DataError

_CHUNK_ROWS = 1 << 16
KDD_FULL_COUNTS = {
    "normal": 972_781,
    "smurf": 2_807_886,
    "neptune": 1_072_017,
    "satan": 15_892,
    "ipsweep": 12_481,
    "portsweep": 10_413,
    "nmap": 2_316,
}


def load_shuttle(
    *, return_X_y: bool = False, standardize: bool = True, download_if_missing: bool = True
) -> Any:
    """Load Statlog Shuttle, the paper's SHUTTLE: 58,000 points, 9 features, 7 classes.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` instead of a Bunch.
    standardize : bool, default=True
        Whether to give each feature mean 0 and variance 1, as the paper does. Constant features
        become 0.
    download_if_missing : bool, default=True
        Whether to download what is found neither in the folder that the environment variable
        ``SAMEKIND_DATA`` names (``shuttle.npz``) nor in the cache.

    Returns
    -------
    data : sklearn.utils.Bunch
        With ``data`` (float32; moments are computed in float64), ``target`` (int64),
        ``target_names``, ``feature_names`` and ``DESCR``.

    Notes
    -----
    A download comes from OpenML and is kept in the folder ``samekind`` of scikit-learn's data home.
    It holds the same points as a file from elsewhere, perhaps in another order.

    Examples
    --------
    >>> from samekind.datasets import load_shuttle
    >>> data = load_shuttle()  # doctest: +SKIP
    >>> data.data.shape  # doctest: +SKIP
    (58000, 9)
    """
    (path,) = find_table("shuttle", files=("shuttle.npz",), download_if_missing=download_if_missing)
    return _bunch(path, descriptions.SHUTTLE, return_X_y=return_X_y, standardize=standardize)


def load_kdd(
    *,
    return_X_y: bool = False,
    standardize: bool = True,
    full: bool = False,
    reweighted: bool = False,
    download_if_missing: bool = True,
) -> Any:
    """Load KDD Cup 1999, the 10 % file: 494,021 points, 33 features, 23 classes; or the full one.

    Parameters
    ----------
    return_X_y, standardize, download_if_missing
        As for `load_shuttle`; the file is ``kdd10.npz``. With `reweighted`, mean and variance are those
        of the repeated rows.
    full : bool, default=False
        Whether to load the full file, as the paper does: 4,898,431 points (``kdd.npz``). Where it is
        missing it is downloaded, and scikit-learn makes a table of it that takes several GB of memory.
    reweighted : bool, default=False
        Whether to repeat rows until every class is as large as in the full file that the paper
        uses: 4,898,431 rows, 650 MB. Each row comes as often as the others of its class, or once
        more; repeats stand next to each other, in the order of the file. Call results on it
        "KDD 10 %, reweighted", never "KDD".

    Returns
    -------
    data : sklearn.utils.Bunch
        As of `load_shuttle`.

    Examples
    --------
    >>> from samekind.datasets import load_kdd
    >>> X, y = load_kdd(return_X_y=True)  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (494021, 33)
    """
    if full and reweighted:
        raise ValueError(
            "full and reweighted exclude each other: the full file has all rows as they are."
        )
    name = "kdd" if full else "kdd10"
    (path,) = find_table(name, files=(f"{name}.npz",), download_if_missing=download_if_missing)
    if full:
        return _bunch(path, descriptions.KDD_FULL, return_X_y=return_X_y, standardize=standardize)
    return _bunch(
        path,
        descriptions.KDD_REWEIGHTED if reweighted else descriptions.KDD,
        return_X_y=return_X_y,
        standardize=standardize,
        class_sizes=KDD_FULL_COUNTS if reweighted else None,
    )


def load_digits(*, return_X_y: bool = False, standardize: bool = False) -> Any:
    """Load scikit-learn's digits: 1,797 points, 64 features, 10 classes; always offline.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` instead of a Bunch.
    standardize : bool, default=False
        Whether to give each pixel mean 0 and variance 1. Not by default: pixels share one unit, and
        standardising would make a stray dot at the margin count as much as the stroke itself.

    Returns
    -------
    data : sklearn.utils.Bunch
        With ``data`` (float32), ``target`` (int64), ``target_names``, ``feature_names``, ``images``
        (1797, 8, 8) and ``DESCR``.

    Examples
    --------
    >>> from samekind.datasets import load_digits
    >>> data = load_digits()
    >>> data.data.shape, data.images.shape
    ((1797, 64), (1797, 8, 8))
    """
    table = _digits_table()
    X = table[:, :-1].astype(np.float32)
    y = table[:, -1].astype(np.int64)
    if standardize:
        _standardize(X)
    if return_X_y:
        return X, y
    from sklearn.utils import Bunch

    return Bunch(
        data=X,
        target=y,
        target_names=np.array([str(number) for number in range(10)]),
        feature_names=[f"pixel_{i}_{j}" for i in range(8) for j in range(8)],
        DESCR=descriptions.DIGITS,
        images=table[:, :-1].reshape(-1, 8, 8),
    )


def _digits_table() -> NDArray[np.float64]:
    """Return pixels and digits from scikit-learn's file, without loading it, which takes a second."""
    package = find_spec("sklearn")
    for folder in (package and package.submodule_search_locations) or ():
        path = Path(folder, "datasets", "data", "digits.csv.gz")
        if path.is_file():
            return np.loadtxt(path, delimiter=",")
    from sklearn import datasets  # it has moved

    digits = datasets.load_digits()
    return np.column_stack([digits.data, digits.target])


def load_banking77(
    *, return_X_y: bool = False, standardize: bool = False, download_if_missing: bool = True
) -> Any:
    """Load Banking77: 13,083 customers' questions as 64-dimensional vectors, 77 intents.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` instead of a Bunch.
    standardize : bool, default=False
        Whether to give each feature mean 0 and variance 1. Not by default: the vectors have length
        one, so that distance is angle, and their later dimensions carry less on purpose.
    download_if_missing : bool, default=True
        As for `load_shuttle`; the files are ``banking77.npz`` and ``banking77.csv.gz``.

    Returns
    -------
    data : sklearn.utils.Bunch
        As of `load_shuttle`, and ``texts``, a list of the questions.

    Notes
    -----
    A download comes from the authors' repository, and the vectors are built here; other versions of
    scikit-learn may round them differently.

    Examples
    --------
    >>> from samekind.datasets import load_banking77
    >>> load_banking77().texts[0]  # doctest: +SKIP
    'I am still waiting on my card?'
    """
    vectors, table = find_table(
        "banking77",
        files=("banking77.npz", "banking77.csv.gz"),
        download_if_missing=download_if_missing,
    )
    data = _bunch(vectors, descriptions.BANKING77, return_X_y=return_X_y, standardize=standardize)
    if return_X_y:
        return data
    import pandas as pd

    texts = pd.read_csv(table, keep_default_na=False)["text"].tolist()
    if len(texts) != len(data.data):
        raise DataError(
            f"{table} holds {len(texts):,} texts for the {len(data.data):,} points of {vectors}. "
            "Replace both files."
        )
    data.texts = texts
    return data


def repeats(
    y: NDArray[np.integer[Any]], names: list[str], class_sizes: dict[str, int]
) -> NDArray[np.intp]:
    """How often to repeat each row so that the named classes get the given sizes.

    Within a class the numbers differ by at most one, and the rows that come once more are spread
    evenly over the class.
    """
    times = np.ones(len(y), dtype=np.intp)
    for name, size in class_sizes.items():
        rows = np.flatnonzero(y == names.index(name))
        each, more = divmod(size, len(rows))
        times[rows] = each
        times[rows[np.arange(more) * len(rows) // max(1, more)]] += 1
    return times


def _bunch(
    path: Path,
    description: str,
    *,
    return_X_y: bool,
    standardize: bool,
    class_sizes: dict[str, int] | None = None,
) -> Any:
    from sklearn.utils import Bunch

    arrays = load_arrays(path)
    X = np.ascontiguousarray(arrays.pop("X"), dtype=np.float32)
    y = arrays["y"].astype(np.int64)
    target_names = arrays["label_names"]
    if class_sizes is not None:
        times = repeats(y, target_names.tolist(), class_sizes)
        X, y = np.repeat(X, times, axis=0), np.repeat(y, times)
    if standardize:
        _standardize(X)
    names = arrays.get("col_names", np.array([f"x{i}" for i in range(X.shape[1])])).tolist()
    found = Bunch(
        data=X, target=y, target_names=target_names, feature_names=names, DESCR=description
    )
    return (X, y) if return_X_y else found


def _standardize(X: NDArray[np.float32]) -> None:
    """Give columns mean 0 and variance 1 in place, with moments in float64; constant ones become 0."""
    from sklearn.preprocessing import StandardScaler

    constant = X.min(axis=0) == X.max(axis=0)
    chunks = [slice(first, first + _CHUNK_ROWS) for first in range(0, len(X), _CHUNK_ROWS)]
    scaler = StandardScaler()
    for rows in chunks:
        scaler.partial_fit(X[rows])
    for rows in chunks:
        X[rows] = scaler.transform(X[rows].astype(np.float64))
    X[:, constant] = 0
