"""What a worker of a Dask cluster does: it keeps blocks of rows, what is known of them, and answers.

Its rules:

- What changes a block's state is an entry of a log that the driver keeps. A worker knows how many entries it
  has applied, applies each once, and keeps the result of the last, so a request may come twice.
- Nothing is lost with a worker: where the block comes to life again, the whole log is applied anew.
- State goes when its block does: when the driver lets go of it, or is gone itself.
"""

from __future__ import annotations

import asyncio
import pickle
import weakref
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import IntEnum
from threading import Lock
from typing import Any, Generic, NamedTuple, TypeVar

from distributed import Worker, WorkerPlugin, get_worker

from samekind.points.calls import Call

__all__ = [
    "ANSWER",
    "FORGET",
    "BlockOutcome",
    "BlockRequest",
    "BlockServer",
    "BlockServerPlugin",
    "BlockState",
    "BlockStatus",
    "LogEntry",
    "state_here",
]

ANSWER, FORGET = "samekind", "samekind_forget"  # operations by which workers are called
SWEEP = 2.0  # seconds after which state is looked for whose block is gone

T = TypeVar("T")  # what answers for a block

_servers: weakref.WeakKeyDictionary[Worker, BlockServer] = weakref.WeakKeyDictionary()


class LogEntry(NamedTuple):
    """A call that changes every block, and the number of what it changes there."""

    key: int
    call: Call[Any, object]


@dataclass(frozen=True)
class BlockRequest(Generic[T]):
    """What some blocks on one worker are to do."""

    run: str
    """To which the blocks belong."""
    make: Callable[[Any, int], T]
    """Returns what answers for a block, given the block and a number of threads."""
    block_keys: dict[int, str]
    """By which Dask knows the blocks."""
    n_on_worker: int
    """How many blocks of the run this worker has."""
    since: int
    log: list[LogEntry | None]
    """The entries from number `since` on; None where what they changed was dropped."""
    calls: dict[int, Call[T, object] | None]
    """What to answer then, for each block; None for what the last entry did."""
    combine: Callable[[dict[int, Any]], dict[int, Any]] | None
    """Makes less of the answers of this worker's blocks."""
    is_quick: bool
    """Whether to answer is done sooner than handed to another thread."""


class BlockStatus(IntEnum):
    """How a request went for a block."""

    DONE = 0
    BEHIND = 1
    """Entries of the log are missing; the result is how many there are."""
    ABSENT = 2
    FAILED = 3
    """The result is the exception."""


class BlockOutcome(NamedTuple):
    """How a request went for a block, and what came of it."""

    status: BlockStatus
    result: Any


class BlockState(Generic[T]):
    """What answers for a block, and how much of the log it has seen."""

    def __init__(self, block_key: str, target: T) -> None:
        self.block_key = block_key
        self.target = target
        self.lock = Lock()
        self.n_applied = 0
        self.n_changes: Counter[int] = Counter()  # entries that were applied to each key
        self._last_result: object = None

    def answer(self, request: BlockRequest[T], part: int) -> BlockOutcome:
        """Catch up with the log, and run the call."""
        with self.lock:
            if self.n_applied < request.since:
                return BlockOutcome(BlockStatus.BEHIND, self.n_applied)
            for entry in request.log[self.n_applied - request.since :]:
                if entry is not None:
                    self._last_result = entry.call(self.target)
                    self.n_changes[entry.key] += 1
                self.n_applied += 1
            call = request.calls[part]
            return BlockOutcome(
                BlockStatus.DONE, self._last_result if call is None else call(self.target)
            )


class BlockServer:
    """Answers requests on a worker. Only its event loop changes which blocks have a state."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._states: dict[tuple[str, int], BlockState[Any]] = {}
        self._threads = max(1, worker.state.nthreads)
        self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="samekind")
        self._is_sweeping = False

    def __len__(self) -> int:
        return len(self._states)

    async def answer(self, request: bytes) -> bytes:
        """Return for each block of a request how it went, and the result."""
        found = await self._answer(pickle.loads(request))
        return pickle.dumps(found, protocol=pickle.HIGHEST_PROTOCOL)

    async def forget(self, run: str) -> None:
        """Drop all state of a run."""
        for name in [name for name in self._states if name[0] == run]:
            del self._states[name]

    def state(self, run: str, part: int) -> BlockState[Any] | None:
        """Return the state of a block, if it is here."""
        return self._states.get((run, part))

    async def _answer(self, request: BlockRequest[T]) -> dict[int, BlockOutcome]:
        states = {part: self._find(request, part) for part in request.calls}
        here = [(part, state) for part, state in states.items() if state is not None]
        stride = min(self._threads, len(here))
        shares = [here[first::stride] for first in range(stride)]
        if request.is_quick and not request.log:
            done = [_answer_all(request, share) for share in shares]
        else:
            loop = asyncio.get_running_loop()
            done = await asyncio.gather(
                *(loop.run_in_executor(self._pool, _answer_all, request, some) for some in shares)
            )
        found = dict.fromkeys(request.calls, BlockOutcome(BlockStatus.ABSENT, None))
        for outcomes in done:
            found |= outcomes
        for part, outcome in found.items():
            if outcome.status == BlockStatus.FAILED:
                self._states.pop((request.run, part), None)  # half a change: let it be made anew
        good = {part: out.result for part, out in found.items() if out.status == BlockStatus.DONE}
        if good and request.combine is not None:
            for part, result in request.combine(good).items():
                found[part] = BlockOutcome(BlockStatus.DONE, result)
        return found

    def _find(self, request: BlockRequest[T], part: int) -> BlockState[T] | None:
        state = self._states.get((request.run, part))
        key = request.block_keys[part]
        if state is None and key in self._worker.data:
            threads = max(1, self._threads // max(1, request.n_on_worker))
            state = BlockState(key, request.make(self._worker.data[key], threads))
            self._states[request.run, part] = state
            if not self._is_sweeping:
                self._sweep()
        return state

    def _sweep(self) -> None:
        """Drop the state of blocks that are gone, and look again later."""
        for name, state in list(self._states.items()):
            if state.block_key not in self._worker.data:
                del self._states[name]
        self._is_sweeping = bool(self._states)
        if self._is_sweeping:
            asyncio.get_running_loop().call_later(SWEEP, self._sweep)


def _answer_all(
    request: BlockRequest[T], some: list[tuple[int, BlockState[T]]]
) -> dict[int, BlockOutcome]:
    found = {}
    for part, state in some:
        try:
            found[part] = state.answer(request, part)
        except Exception as error:
            found[part] = BlockOutcome(BlockStatus.FAILED, error)
    return found


class BlockServerPlugin(WorkerPlugin):  # type: ignore[misc]
    """Puts a server on every worker, also on those that come later."""

    name = ANSWER

    def setup(self, worker: Worker) -> None:
        """Put a server there, if there is none."""
        if worker not in _servers:
            server = _servers[worker] = BlockServer(worker)
            worker.handlers[ANSWER] = server.answer
            worker.handlers[FORGET] = server.forget


def state_here(run: str, part: int) -> BlockState[Any] | None:
    """Return the state of a block on the worker that runs this task, if it is there."""
    server = _servers.get(get_worker())
    return None if server is None else server.state(run, part)
