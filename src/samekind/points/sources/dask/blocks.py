"""Blocks of rows on a Dask cluster, and how they are asked where they lie."""

from __future__ import annotations

import asyncio
import pickle
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from logging import ERROR
from threading import RLock
from time import monotonic, sleep
from typing import Any, Generic, TypeAlias, TypeVar

import dask
import distributed
from distributed import Client, Future

from samekind.points.calls import Call
from samekind.points.sources.dask.worker import (
    ANSWER,
    FORGET,
    BlockOutcome,
    BlockRequest,
    BlockServerPlugin,
    BlockStatus,
    LogEntry,
)

__all__ = ["Blocks", "ClusterError", "compute_blocks", "find_client", "serve_blocks"]

T = TypeVar("T")  # what answers for a block
R = TypeVar("R")
Combine: TypeAlias = Callable[[dict[int, R]], dict[int, R]]

TRIES = 12  # requests in vain, one after the other, until a run fails
LONGEST = 2.0  # seconds to wait between two of them
PATIENCE = 60.0  # seconds to wait for a first worker when there is none
REACH = 2.0  # seconds in which a worker must be reached directly, or it never is
IMPATIENT = 0.5  # seconds after which to ask whether the worker is there at all


class ClusterError(RuntimeError):
    """The cluster lost what it cannot bring back."""


def find_client(client: Client | None = None) -> tuple[Client, bool]:
    """Return the given client, the current one or a new one, and whether it is new.

    A new one computes in threads of this process, as Dask does where there is no client, and is the current
    one from then on.
    """
    if client is not None:
        return client, False
    try:
        return distributed.get_client(), False
    except ValueError:
        return Client(processes=False, dashboard_address=":0", silence_logs=ERROR), True


def serve_blocks(client: Client) -> None:
    """Have every worker of a cluster answer requests."""
    if client.asynchronous:
        raise ValueError(
            "samekind waits for the cluster's answers, and an asynchronous client cannot be waited "
            "for. Pass a client that is made without asynchronous=True."
        )
    if client.status != "running":
        raise ValueError(f"the client is not connected but {client.status}. Pass one that is.")
    try:
        client.register_plugin(BlockServerPlugin())
    except ImportError as error:
        raise ClusterError(
            f"the workers cannot import samekind ({error}). Install the same version there."
        ) from error


def compute_blocks(
    client: Client,
    run: str,
    partitions: Iterable[object],
    function: Callable[..., R],
    *args: object,
) -> list[Future]:
    """Have a function make a block of each partition of a collection; return the blocks."""
    block = dask.delayed(function, pure=False)
    blocks = [
        block(partition, *args, dask_key_name=f"samekind-{run}-{number}")
        for number, partition in enumerate(partitions)
    ]
    return list(client.compute(blocks))


class Blocks(Generic[T]):
    """Blocks of a collection that stay where they are, each with a state that is changed by a log.

    Parameters
    ----------
    client : Client
        Of the cluster on which they are.
    run : str
        A name that no other blocks have.
    futures : sequence of Future
        The blocks, in order.
    make : callable
        Returns what answers for a block, given the block and a number of threads. It is sent to the workers.
    """

    def __init__(
        self, client: Client, run: str, futures: Sequence[Future], make: Callable[[Any, int], T]
    ) -> None:
        self.run_name = run
        self.client = client
        self.futures = list(futures)
        self.n_calls: Counter[str] = Counter()
        self._make = make
        self._lock = RLock()
        self._log: list[LogEntry | None] = []
        self._n_applied = [0] * len(self.futures)  # entries that each block has, as far as is known
        self._places: list[str] = []  # the worker of each block
        self._n_on_worker: Counter[str] = Counter()
        self._dropped: deque[LogEntry] = deque()
        self._directly: bool | None = client.direct_to_workers  # None until it was tried

    def update(self, key: int, call: Call[T, R], combine: Combine[R] | None = None) -> list[R]:
        """Change `key` of every block; return the results in order."""
        with self._lock:
            while self._dropped:
                last = self._dropped.popleft()
                self._log = [
                    None if entry and entry.key == last.key else entry for entry in self._log
                ]
                self._log.append(last)
            self._log.append(LogEntry(key, call))
            self.n_calls[call.name] += 1
            found: dict[int, R] = self._request(
                dict.fromkeys(range(len(self.futures))), combine, is_quick=False
            )
            return list(found.values())

    def run(
        self,
        calls: Mapping[int, Call[T, R]],
        combine: Combine[R] | None = None,
        *,
        is_quick: bool = False,
    ) -> dict[int, R]:
        """Run calls that change nothing, each on its own block; return the results."""
        with self._lock:
            self.n_calls[next(iter(calls.values())).name] += 1
            return self._request(calls, combine, is_quick)

    def drop(self, key: int, call: Call[T, object]) -> None:
        """Let a call forget `key` of every block, some time. Asks nobody: the garbage collector calls."""
        self._dropped.append(LogEntry(key, call))

    def entries(self, key: int) -> list[LogEntry]:
        """Return all that happened to `key`."""
        with self._lock:
            return [entry for entry in self._log if entry is not None and entry.key == key]

    def close(self) -> None:
        """Let go of the blocks and all state; nothing can be asked any more."""
        futures, self.futures = self.futures, []
        if futures and self.client.status == "running":
            with suppress(OSError):  # then they find out by themselves
                self.client.sync(self._say_goodbye, set(self._places))
        for future in futures:
            future.release()

    async def _say_goodbye(self, workers: set[str]) -> None:
        sent = [self._send(worker, FORGET, run=self.run_name) for worker in workers]
        await asyncio.wait_for(asyncio.gather(*sent, return_exceptions=True), timeout=5)

    # How requests get there

    def _request(
        self, calls: Mapping[int, Call[T, R] | None], combine: Combine[R] | None, is_quick: bool
    ) -> dict[int, R]:
        """Send requests until every block has answered."""
        if not self.futures:
            raise ClusterError("these points are closed. Make new ones from the data.")
        if self.client.status != "running":
            raise ClusterError(
                f"the client is not connected any more but {self.client.status}. Make new points from the "
                "data; with a ledger, the run goes on where it was."
            )
        found: dict[int, R] = {}
        left = dict(calls)
        tries = 0
        lost: Exception | None
        if not self._places:
            self._find()
        while left:
            before, lost = len(left), None
            replies = self.client.sync(self._deliver, self._pickled(left, combine, is_quick))
            for reply in replies:
                if isinstance(reply, OSError):
                    lost = reply
                    continue
                for part, (status, result) in reply.items():
                    if status == BlockStatus.DONE:
                        found[part] = result
                        self._n_applied[part] = len(self._log)
                        del left[part]
                    elif status == BlockStatus.BEHIND:
                        self._n_applied[part] = result
                    elif status == BlockStatus.ABSENT:
                        lost = LookupError(f"block {part} is not where it was")
                    else:
                        raise result
            tries = tries + 1 if len(left) == before else 0
            if tries > TRIES:
                raise ClusterError(
                    f"workers were asked {TRIES} times for the same and did not answer ({lost}). Look "
                    "into their logs: they may lack memory. With a ledger, the run goes on where it was."
                ) from lost
            if lost is not None:
                sleep(min(0.05 * 2**tries, LONGEST))
                self._find()
        return {part: found[part] for part in calls}

    def _pickled(
        self, calls: dict[int, Call[T, R] | None], combine: Combine[R] | None, is_quick: bool
    ) -> dict[str, bytes]:
        """Return a request for each worker that has some of these blocks."""
        of: dict[str, list[int]] = {}
        for part in calls:
            of.setdefault(self._places[part], []).append(part)
        requests = {}
        for worker, parts in of.items():
            since = min(self._n_applied[part] for part in parts)
            request = BlockRequest(
                run=self.run_name,
                make=self._make,
                block_keys={part: self.futures[part].key for part in parts},
                n_on_worker=self._n_on_worker[worker],
                since=since,
                log=self._log[since:],
                calls={part: calls[part] for part in parts},
                combine=combine,
                is_quick=is_quick,
            )
            requests[worker] = pickle.dumps(request, protocol=pickle.HIGHEST_PROTOCOL)
        return requests

    async def _deliver(self, requests: dict[str, bytes]) -> list[dict[int, BlockOutcome] | OSError]:
        """Return the replies, or what went wrong on the way to a worker."""
        sent = {
            asyncio.ensure_future(self._send(worker, ANSWER, request=request)): worker
            for worker, request in requests.items()
        }
        waiting, patience = set(sent), IMPATIENT
        while waiting:
            done, waiting = await asyncio.wait(waiting, timeout=patience)
            if not done:  # is it still at work, or gone?
                there = await self.client.scheduler.ncores(workers=[sent[task] for task in waiting])
                for task in waiting:
                    if sent[task] not in there:
                        task.cancel()
                patience = min(2 * patience, 10 * LONGEST)
        return [self._outcome(task, worker) for task, worker in sent.items()]

    async def _send(self, worker: str, operation: str, **message: object) -> bytes:
        """Call a worker: directly if it can be reached, otherwise through the scheduler."""
        if self._directly is None:
            self._directly = await self._reaches(worker)
        reply: bytes
        if self._directly:
            reply = await getattr(self.client.rpc(worker), operation)(**message)
        else:
            message = {"op": operation, **message}
            reply = await self.client.scheduler.proxy(worker=worker, msg=message)
        return reply

    async def _reaches(self, worker: str) -> bool:
        try:
            await asyncio.wait_for(self.client.rpc(worker).identity(), timeout=REACH)
        except OSError:
            return False
        return True

    @staticmethod
    def _outcome(task: asyncio.Future[bytes], worker: str) -> dict[int, BlockOutcome] | OSError:
        if task.cancelled():
            return ConnectionError(f"worker {worker} is gone")
        try:
            found: dict[int, BlockOutcome] = pickle.loads(task.result())
        except OSError as error:  # the connection broke
            return error
        return found

    def _find(self) -> None:
        """Wait until every block is on some worker, and note on which."""
        places: dict[str, list[str]] = {}
        while not all(places.get(future.key) for future in self.futures):
            self._wait()
            places = self.client.who_has(self.futures)
        before = self._places or [""] * len(self.futures)
        self._places = []
        for part, future in enumerate(self.futures):
            where = places[future.key]
            self._places.append(before[part] if before[part] in where else where[0])
            if self._places[part] != before[part]:
                self._n_applied[part] = 0
        self._n_on_worker = Counter(self._places)

    def _wait(self) -> None:
        """Wait until all blocks are computed, again where they were lost."""
        alone_since = None
        while True:
            try:
                with self.client.as_current():
                    distributed.wait(self.futures, timeout=LONGEST)
                break
            except CancelledError:
                break
            except TimeoutError:
                if self.client.nthreads():
                    alone_since = None
                elif alone_since is None:
                    alone_since = monotonic()
                elif monotonic() - alone_since > PATIENCE:
                    raise ClusterError(
                        f"the cluster has had no worker for {PATIENCE:.0f} seconds. Start some."
                    ) from None
        for part, future in enumerate(self.futures):
            if future.status == "error":
                raise ClusterError(
                    f"partition {part} was lost with its worker and cannot be computed again: "
                    f"{future.exception()}"
                ) from future.exception()
            if future.status == "cancelled":
                raise ClusterError(
                    "the cluster let go of the data: it was restarted, or the client closed. "
                    "Make new points from the data; with a ledger, the run goes on where it was."
                )
