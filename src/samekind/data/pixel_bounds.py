"""How large a picture may be, and how much of pictures is in memory at once while they are decoded."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from PIL import Image

from samekind.errors import DataError

T = TypeVar("T")

__all__ = ["DECODING", "MAX_BYTES", "VARIABLE", "PixelBudget", "max_pixels"]

MAX_BYTES = 100 << 20  # of a file
VARIABLE = "SAMEKIND_MAX_PIXELS"
USUAL = 89_478_485  # Pillow's own bound, where it only warns
AT_ONCE = 1 << 26  # pixels, of about 4 bytes
LARGE = 1 << 22


def max_pixels() -> int:
    """Return how many pixels a picture may have: 89 million, or what SAMEKIND_MAX_PIXELS says."""
    given = os.environ.get(VARIABLE, "")
    if not given:
        return USUAL
    try:
        most = int(given)
    except ValueError:
        most = 0
    if most < 1:
        raise DataError(f"{VARIABLE} must be a positive number of pixels, got {given!r}")
    if Image.MAX_IMAGE_PIXELS is not None and most > Image.MAX_IMAGE_PIXELS:
        Image.MAX_IMAGE_PIXELS = most  # or else Pillow would refuse what the user allows
    return most


class PixelBudget:
    """Lets as many threads decode at once as their pictures have room together; a larger one goes alone.

    They come in the order in which they ask, so that small pictures do not keep a large one waiting.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._used = 0
        self._turn = threading.Lock()
        self._freed = threading.Condition()

    def run(self, pixels: int, decode: Callable[[], T]) -> T:
        """Do what takes room for so many pixels, once there is room."""
        with self._hold(pixels):
            if pixels < LARGE:
                return decode()
            # What a thread allocates is given back to the system for certain only when the thread ends.
            with ThreadPoolExecutor(1) as thread:
                return thread.submit(decode).result()

    @contextmanager
    def _hold(self, pixels: int) -> Iterator[None]:
        size = min(pixels, self._most)
        with self._turn, self._freed:
            self._freed.wait_for(lambda: self._used + size <= self._most)
            self._used += size
        try:
            yield
        finally:
            with self._freed:
                self._used -= size
                self._freed.notify_all()


DECODING = PixelBudget(AT_ONCE)
"""Shared by all threads that decode pictures."""
