"""The map of a project: at once one that takes no time, then one made for looking, which is kept."""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.points import Points
from samekind.report import (
    Layout,
    has_neighbors,
    neighbor_layout,
    quick_layout,
    tsne_elsewhere,
)

__all__ = ["MapMaker", "PlacedRows"]

MOST_POINTS = 2000  # that are laid out
SEED = 0  # the map stays the same as the run goes on
DELAY = 2.0  # seconds: who looks in for a moment needs no better map

Floats = NDArray[np.float64]


class PlacedRows(NamedTuple):
    """Rows on the map: where they are, how that was found, and whether a better map is being made."""

    rows: NDArray[np.intp]
    places: Floats
    method: str
    pending: bool


class MapMaker:
    """Lays out a sample of the rows, in the background, once.

    Parameters
    ----------
    points : Points
        The rows.
    file : Path or None
        Where the map is kept for the next time.

    Attributes
    ----------
    waits : bool
        Whether a report waits until the map is made.
    """

    def __init__(self, points: Points, file: Path | None = None) -> None:
        self._points = points
        self.file = file
        self.waits = False
        self._lock = threading.Lock()
        self._sample: Floats | None = None
        self._quick: Layout | None = None
        self._made: Layout | None = None
        self._thread: threading.Timer | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def keep_in(self, file: Path, *, waits: bool = False) -> None:
        """Keep the map in a file from now on; if it `waits`, a report waits until the map is made."""
        self.file, self.waits = file, waits

    @property
    def state(self) -> str:
        """Which map is shown: changes when a better one is there."""
        with self._lock:
            self._begin()
        return "" if self._made is None else self._made.method

    def placed(self, known: NDArray[np.intp]) -> PlacedRows:
        """Return where rows are; `known` ones are always among them."""
        with self._lock:
            self._begin()
            if self._made is None and self._thread is None:
                self._thread = threading.Timer(DELAY, self._make)
                self._thread.daemon = True
                self._thread.start()
            layout = self._made or self._quick
            assert layout is not None
            rows = np.concatenate([self._rows, np.setdiff1d(known, self._rows)])
            X = self._points.rows(rows).astype(np.float64, copy=False)
            places = _framed(layout.place(X, rows), self._rows.size)
            return PlacedRows(rows, places, layout.method, self._made is None)

    def laid_out(self) -> Layout | None:
        """Return the map that is made for looking; None if there is only the one that takes no time."""
        with self._lock:
            self._begin()
        if self._made is None and self.waits:
            self._make()
        return None if self._made is self._quick else self._made

    def wait(self, timeout: float | None = None) -> None:
        """Wait for the map that is being made."""
        if self._thread is not None:
            self._thread.join(timeout)

    def _begin(self) -> None:
        """Choose rows, and make the map that takes no time, or read the one that was made before."""
        if self._sample is None:
            self._rows = _some_rows(self._points.n)
            self._sample = self._points.rows(self._rows).astype(np.float64, copy=False)
            self._quick = quick_layout(self._sample, SEED)
            self._made = self._read()
            if self._made is None and not has_neighbors(self._sample):
                self._made = self._quick

    def stop(self) -> None:
        """Make no map any more."""
        if self._thread is not None:
            self._thread.cancel()
        if self._process is not None:
            self._process.kill()

    def _make(self) -> None:
        assert self._sample is not None

        def begun(process: subprocess.Popen[bytes]) -> None:
            self._process = process

        places = tsne_elsewhere(self._sample, SEED, begun)
        if places is not None:
            self._keep(places)
        with self._lock:
            self._made = self._quick if places is None else neighbor_layout(self._sample, places)

    def _key(self) -> str:
        return f"2 {self._points.fingerprint()} {SEED} {MOST_POINTS}"

    def _read(self) -> Layout | None:
        if self.file is None:
            return None
        try:
            with np.load(self.file, allow_pickle=False) as kept:
                places, key = kept["places"].astype(np.float64), str(kept["key"])
        except (OSError, ValueError, KeyError, EOFError):
            return None
        if key != self._key() or places.shape != (self._rows.size, 2):
            return None
        assert self._sample is not None
        return neighbor_layout(self._sample, places)

    def _keep(self, places: Floats) -> None:
        if self.file is None:
            return
        beside = self.file.with_name(f".{self.file.name}.part")
        with contextlib.suppress(OSError):
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                np.savez(file, places=places, key=self._key())
            beside.replace(self.file)


def _framed(places: Floats, n: int) -> Floats:
    """Return places in a frame in which the first `n` fill the unit square, one scale for both directions."""
    low, high = places[:n].min(axis=0), places[:n].max(axis=0)
    span = float((high - low).max()) or 1.0
    inside: Floats = (places - (low + high) / 2) / span + 0.5
    return inside


def _some_rows(n: int) -> NDArray[np.intp]:
    """Return all rows, or some of them at random, in order."""
    if n <= MOST_POINTS:
        return np.arange(n, dtype=np.intp)
    rng = np.random.default_rng(SEED)
    if n > 2**24:
        return np.unique(rng.integers(0, n, MOST_POINTS)).astype(np.intp)
    return np.sort(rng.choice(n, MOST_POINTS, replace=False)).astype(np.intp)
