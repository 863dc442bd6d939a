"""Reading an .npz file that somebody else may have made: how large it is, and that its numbers fit together.

A few megabytes of an archive can unpack to gigabytes, and one large cluster number makes whoever counts
members ask for as much. So what the archive and its arrays declare is looked at before anything is unpacked.
"""

from __future__ import annotations

import math
import os
import zipfile
from typing import IO, Any

from numpy.lib import format as npy
from numpy.typing import NDArray

__all__ = ["DamagedError", "TooLargeError", "check_numbers", "read_arrays"]

MOST_ARRAYS = 100
ALWAYS_FINE = 256 << 20  # bytes in memory, however small the file is
MOST_TIMES = 50  # as large in memory as in the file; labels take a few bits a row there

Arrays = dict[str, NDArray[Any]]


class DamagedError(ValueError):
    """What is in the archive cannot be; the message says what."""


class TooLargeError(ValueError):
    """The archive would take too much memory."""


def read_arrays(file: IO[bytes], max_bytes: int | None) -> Arrays:
    """Return all arrays of an archive that together take at most `max_bytes` in memory.

    None allows fifty times the size of the file, and 256 MB in any case.
    """
    size = os.fstat(file.fileno()).st_size
    limit = max(ALWAYS_FINE, MOST_TIMES * size) if max_bytes is None else max_bytes
    with zipfile.ZipFile(file) as archive:
        infos = archive.infolist()
        if len(infos) > MOST_ARRAYS or len({info.filename for info in infos}) < len(infos):
            raise DamagedError(f"it holds {len(infos):,} arrays, some of them perhaps twice")
        total = sum(max(info.file_size, info.compress_size) for info in infos)
        if total > limit:
            raise TooLargeError(
                f"would take {total / 2**20:,.0f} MB of memory, though it has only "
                f"{size / 2**20:,.1f} MB; {limit / 2**20:,.0f} MB are allowed. If you know who made it, "
                f"pass max_bytes={total}"
            )
        for info in infos:
            _check_declared(archive, info)
        return {info.filename.removesuffix(".npy"): _array(archive, info) for info in infos}


def _check_declared(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> None:
    """Refuse an array that says it is larger than its place in the archive."""
    with archive.open(info) as member:
        version = npy.read_magic(member)
        if version not in ((1, 0), (2, 0)):
            raise DamagedError(f"{info.filename} has an unknown form")
        read_header = npy.read_array_header_1_0 if version[0] == 1 else npy.read_array_header_2_0
        shape, _, dtype = read_header(member)
        if dtype.hasobject:
            raise DamagedError(f"{info.filename} holds Python objects")
        declared = math.prod(shape) * dtype.itemsize
        if min(shape, default=0) < 0 or member.tell() + declared != info.file_size:
            raise DamagedError(f"{info.filename} says that it has another size than it has")


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray[Any]:
    with archive.open(info) as member:
        array: NDArray[Any] = npy.read_array(member, allow_pickle=False)
        return array


def check_numbers(stored: Arrays, n_rows: int) -> None:
    """Refuse clusters and rows that are not there, and arrays that do not fit each other."""
    centers, counts, members = stored["all_centers"], stored["member_counts"], stored["members"]
    if centers.ndim != 2 or centers.dtype.kind != "f":
        raise DamagedError("its centres are no table of numbers")
    k, total = len(centers), len(members)
    _check_range("member_counts", counts, 1, total + 1, (k,))
    if counts.sum() != total:
        raise DamagedError("it does not say which members each cluster has")
    _check_range("members", members, 0, n_rows, (total,))
    _check_range("given_up", stored["given_up"], 0, n_rows, None)
    if "labels" in stored:
        _check_range("labels", stored["labels"], -1, k, (n_rows,))
    if "prototypes" in stored:
        rows = stored["prototypes"]
        if rows.ndim != 2 or rows.shape[1] != centers.shape[1] or rows.dtype.kind != "f":
            raise DamagedError("its labelled rows do not have the columns of its centres")
        _check_range("prototype_clusters", stored["prototype_clusters"], 0, k, (len(rows),))


def _check_range(
    name: str, numbers: NDArray[Any], low: int, end: int, shape: tuple[int, ...] | None
) -> None:
    """Refuse what is no array of integers in [low, end) of a shape."""
    if numbers.dtype.kind not in "iu" or numbers.shape != (shape or (numbers.size,)):
        raise DamagedError(f"{name} is an array of {numbers.dtype} of shape {numbers.shape}")
    if numbers.size and not (low <= numbers.min() and numbers.max() < end):
        wrong = numbers.min() if numbers.min() < low else numbers.max()
        raise DamagedError(f"{name} has the number {wrong}, which must be from {low} to {end - 1}")
