"""Run a compiled loop over a range in several threads.

The loops release the interpreter lock, so plain threads suffice. Several callers may share a pool; a forked
child makes pools of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeAlias, TypeVar

from samekind._validation import check_int

__all__ = ["ReportProgress", "check_threads", "run_in_threads"]

T = TypeVar("T")
ReportProgress: TypeAlias = Callable[[str, float], object]
"""Called with what is being done, and the share of it that is done."""

REPORTS = 32  # pieces for each thread while progress is reported

_pools: dict[int, ThreadPoolExecutor] = {}
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_pools.clear)


def check_threads(threads: int | None) -> int:
    """Return the number of threads to use; None means one for each core that may be used."""
    wanted = check_int("threads", threads, none="use every core")
    if wanted is not None:
        return wanted
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1


def run_in_threads(
    size: int,
    threads: int,
    work: Callable[[int, int], T],
    report: ReportProgress | None = None,
    what: str = "",
) -> list[T]:
    """Call ``work(first, last)`` on `threads` pieces of ``range(size)``; return the results in order.

    With `report` there are more and smaller pieces.
    """
    if report is None and (threads <= 1 or size < threads):
        return [work(0, size)]
    pieces = threads if report is None else min(size, REPORTS * threads)
    edges = [size * piece // pieces for piece in range(pieces + 1)]
    if threads not in _pools:
        _pools[threads] = ThreadPoolExecutor(threads, thread_name_prefix="samekind")
    if report is None:  # the last piece is for the thread that waits for the others
        others = [_pools[threads].submit(work, *piece) for piece in pairwise(edges[:-1])]
        last = work(edges[-2], edges[-1])
        return [*(other.result() for other in others), last]
    found = []
    for result in _pools[threads].map(lambda piece: work(*piece), pairwise(edges)):
        found.append(result)
        report(what, len(found) / pieces)
    return found
