"""Where the well-known tables come from: a folder of files, a cache, or a download into the cache.

A table is one ``.npz`` with ``X`` (raw values, float32), ``y`` (0-based classes), ``label_names``
and ``col_names``. The names and their order are fixed here, so a download and a file from elsewhere
number the classes alike.
"""

from __future__ import annotations

import io
import os
import urllib.request
import zipfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from samekind.errors import DataError

Arrays: TypeAlias = dict[str, NDArray[Any]]

SHUTTLE_ID = 40685  # "shuttle" on OpenML: the training and the test file of UCI together
SHUTTLE_CLASSES = ("Rad.Flow", "Fpv.Close", "Fpv.Open", "High", "Bypass", "Bpv.Close", "Bpv.Open")

# fmt: off
# The numeric attributes but for one that is always zero; yes-or-no attributes are not numeric.
KDD_COLUMNS = (
    "duration", "src_bytes", "dst_bytes", "wrong_fragment", "urgent", "hot", "num_failed_logins",
    "num_compromised", "root_shell", "su_attempted", "num_root", "num_file_creations",
    "num_shells", "num_access_files", "count", "srv_count", "serror_rate", "srv_serror_rate",
    "rerror_rate", "srv_rerror_rate", "same_srv_rate", "diff_srv_rate", "srv_diff_host_rate",
    "dst_host_count", "dst_host_srv_count", "dst_host_same_srv_rate", "dst_host_diff_srv_rate",
    "dst_host_same_src_port_rate", "dst_host_srv_diff_host_rate", "dst_host_serror_rate",
    "dst_host_srv_serror_rate", "dst_host_rerror_rate", "dst_host_srv_rerror_rate",
)
# From the largest to the smallest in the 10 % file.
KDD_CLASSES = (
    "smurf", "neptune", "normal", "back", "satan", "ipsweep", "portsweep", "warezclient",
    "teardrop", "pod", "nmap", "guess_passwd", "buffer_overflow", "land", "warezmaster", "imap",
    "rootkit", "loadmodule", "ftp_write", "multihop", "phf", "perl", "spy",
)
# fmt: on

BANKING77_URL = (
    "https://raw.githubusercontent.com/PolyAI-LDN/task-specific-datasets/master/banking_data/"
)

ROWS = {"shuttle": 58_000, "kdd": 4_898_431, "kdd10": 494_021, "banking77": 13_083}


def find_table(name: str, *, files: tuple[str, ...], download_if_missing: bool) -> list[Path]:
    """Return the paths of a table's files, downloaded into the cache first if need be."""
    cache = cache_folder()
    places = [cache]
    if folder := os.environ.get("SAMEKIND_DATA"):
        if not Path(folder).is_dir():
            raise FileNotFoundError(
                f"SAMEKIND_DATA must name a folder that exists, got {folder!r}. Correct it, or "
                "unset it to download the data."
            )
        places.insert(0, Path(folder))
    for place in places:
        paths = [place / file for file in files]
        if all(path.is_file() for path in paths):
            return paths

    wanted = " and ".join(files)
    advice = f"set SAMEKIND_DATA to a folder that holds {wanted}"
    looked = " or ".join(map(str, places))
    if not download_if_missing:
        raise FileNotFoundError(
            f"{wanted} not found in {looked}. Pass download_if_missing=True, or {advice}."
        )
    download, convert = _SOURCES[name]
    try:
        raw = download()
    except Exception as error:  # the fetchers' own errors are many: what failed is the download
        raise FileNotFoundError(
            f"{wanted} not found in {looked}, and the download failed ({_first_line(error)}). "
            f"Connect to the internet and try again, or {advice}."
        ) from error
    _save(cache, name, convert(raw))
    return [cache / file for file in files]


def cache_folder() -> Path:
    """Return samekind's folder within scikit-learn's data home."""
    return Path(_sklearn_datasets().get_data_home()) / "samekind"


def _sklearn_datasets() -> Any:
    return import_module("sklearn.datasets")  # takes long, and few need it


def load_arrays(path: Path) -> Arrays:
    """Read a table's ``.npz``."""
    try:
        # Opened here, for numpy.load leaves a damaged file open.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
            rows = len(arrays["X"]), len(arrays["y"])
            arrays["label_names"]  # a KeyError where there are none
    except (ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise DataError(
            f"{path} cannot be read ({_first_line(error)}). Delete it, and it will be downloaded "
            "again when it is next asked for."
        ) from error
    if rows[0] != rows[1]:
        raise DataError(f"{path} holds {rows[0]:,} points but {rows[1]:,} labels. Replace it.")
    return arrays


def _convert_shuttle(bunch: Any) -> Arrays:
    # UCI numbers the classes 1 to 7 in the order of SHUTTLE_CLASSES.
    number = bunch.target.astype(str).astype(float).to_numpy()
    return {
        "X": bunch.data.to_numpy(dtype=np.float32),
        "y": (number - 1).astype(np.int16),
        "label_names": np.array(SHUTTLE_CLASSES),
        "col_names": np.array([f"V{i}" for i in range(1, bunch.data.shape[1] + 1)]),
    }


def _convert_kdd(bunch: Any) -> Arrays:
    kept = [list(bunch.feature_names).index(column) for column in KDD_COLUMNS]
    numbers = {f"{label}.".encode(): i for i, label in enumerate(KDD_CLASSES)}
    return {
        "X": bunch.data[:, kept].astype(np.float32),
        "y": np.array([numbers[bytes(label)] for label in bunch.target], dtype=np.int16),
        "label_names": np.array(KDD_CLASSES),
        "col_names": np.array(KDD_COLUMNS),
    }


def _download_banking77() -> list[bytes]:
    parts = []
    for part in ("train.csv", "test.csv"):
        with urllib.request.urlopen(BANKING77_URL + part, timeout=60) as response:
            parts.append(response.read())
    return parts


def _convert_banking77(parts: Any) -> Arrays:
    import pandas as pd
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import normalize

    table = pd.concat([pd.read_csv(io.BytesIO(part)) for part in parts], ignore_index=True)
    words = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)
    svd = TruncatedSVD(n_components=64, random_state=0)
    X = normalize(svd.fit_transform(words.fit_transform(table["text"])))
    category = table["category"].to_numpy(dtype=str)
    label_names, y = np.unique(category, return_inverse=True)
    return {
        "X": X.astype(np.float32),
        "y": y.astype(np.int16),
        "label_names": label_names,
        "texts": table["text"].to_numpy(dtype=object),
    }


_SOURCES: dict[str, tuple[Callable[[], Any], Callable[[Any], Arrays]]] = {
    "shuttle": (
        lambda: _sklearn_datasets().fetch_openml(data_id=SHUTTLE_ID, as_frame=True, parser="auto"),
        _convert_shuttle,
    ),
    "kdd": (lambda: _sklearn_datasets().fetch_kddcup99(percent10=False), _convert_kdd),
    "kdd10": (lambda: _sklearn_datasets().fetch_kddcup99(percent10=True), _convert_kdd),
    "banking77": (_download_banking77, _convert_banking77),
}


def _save(cache: Path, name: str, arrays: Arrays) -> None:
    """Keep a download, checked; a file appears in the cache only when it is complete."""
    y, label_names = arrays["y"], arrays["label_names"]
    classes = np.unique(y)
    if len(y) != ROWS[name] or not np.array_equal(classes, np.arange(len(label_names))):
        raise DataError(
            f"The download of {name} has {len(y):,} rows in {len(classes)} classes; expected "
            f"{ROWS[name]:,} in {len(label_names)}. Its source has changed: set SAMEKIND_DATA to a "
            f"folder that holds {name}.npz."
        )
    cache.mkdir(parents=True, exist_ok=True)
    texts = arrays.pop("texts", None)
    if texts is not None:
        import pandas as pd

        table = pd.DataFrame({"text": texts, "category": label_names[y]})
        partial = cache / f"{name}.{os.getpid()}.csv.gz"
        table.to_csv(partial, index=False)
        partial.replace(cache / f"{name}.csv.gz")
    partial = cache / f"{name}.{os.getpid()}.npz"
    np.savez_compressed(partial, **arrays)  # type: ignore[arg-type]
    partial.replace(cache / f"{name}.npz")


def _first_line(error: BaseException) -> str:
    lines = str(error).splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
