"""What load a server holds: simulated people with time to think, over HTTP, on one or several servers.

    python -m benchmarks.team                             # SQLite, one server, 50 people, 20,000 answers
    python -m benchmarks.team --servers 2 --answers 4000
    python -m benchmarks.team --place 'postgresql+psycopg://ann@localhost/postgres?project=load'
    python -m benchmarks.team --place postgres            # a server of its own, as the tests start one

It stops by itself, after `--answers` or `--minutes`, and proves from the ledger that no acknowledged answer
is lost or doubled and no question was given to two people. Exits with 1 if a promise is not kept.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import httpx
    from numpy.typing import NDArray

Json = dict[str, Any]

CLUSTERS = 100
COLUMNS = 16
REFUSED = 0.02  # promised: at most this share of the clicks,
SECONDS = 0.15  # and 95 of 100 within this time
START = 600.0  # seconds that a server may take to prepare itself


@dataclass
class Record:
    """What happened to the people."""

    kept: list[tuple[str, str, object]] = field(default_factory=list)  # who, question, answer
    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    waited: int = 0  # times that somebody got no question
    cut_off: int = 0  # connections
    started: float = 0.0
    ended: float = 0.0


def make_rows(n: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return rows of clusters whose sizes differ, and which overlap a little."""
    rng = np.random.default_rng(0)
    sizes = rng.dirichlet(np.full(CLUSTERS, 2.0))
    y = rng.choice(CLUSTERS, n, p=sizes)
    centers = rng.normal(size=(CLUSTERS, COLUMNS)) * 3.0
    X = centers[y] + rng.normal(size=(n, COLUMNS))
    return X.astype(np.float32), y


def open_project(place: str, n: int) -> Any:
    """Open the project of the simulation, as a server does."""
    from samekind.data import Items
    from samekind.ledger import ProjectURL
    from samekind.project import Project

    X, _ = make_rows(n)
    items = Items.of_array(X, "rows", [f"x{k}" for k in range(COLUMNS)])
    where = ProjectURL(place) if "://" in place else Path(place)
    return Project(items, where, random_state=0, sheet=0)


def serve(place: str, n: int, port: int) -> None:
    """Serve the project until the process is ended."""
    from samekind.web import serve as serve_page

    project = open_project(place, n)
    if profile := os.environ.get("SAMEKIND_PROFILE"):  # where to write what took how long
        _profile(project, profile)
    serve_page(project, host="127.0.0.1", port=port, open_browser=False)


def _profile(project: Any, path: str) -> None:
    import cProfile

    profiler = cProfile.Profile()
    for name in ("next", "answer", "status"):
        method = getattr(project, name)

        def profiled(*args: Any, method: Any = method, **more: Any) -> Any:
            with project.locked():
                profiler.enable()
                try:
                    return method(*args, **more)
                finally:
                    profiler.disable()

        setattr(project, name, profiled)
    close = project.close
    project.close = lambda: (profiler.dump_stats(path), close())


@contextlib.contextmanager
def servers(place: str, n: int, count: int) -> Iterator[tuple[list[str], list[int]]]:
    """Start servers, and yield their addresses and process numbers once they answer."""
    started, addresses = [], []
    try:
        for _ in range(count):
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port = free.getsockname()[1]
            command = [sys.executable, "-m", "benchmarks.team", "--serve", str(port)]
            environment = os.environ | {"SAMEKIND_LOAD_PLACE": place}  # it may hold a password
            started.append(subprocess.Popen([*command, "--rows", str(n)], env=environment))
            addresses.append(f"http://127.0.0.1:{port}")
            _wait_for(addresses[-1], started[-1])
        yield addresses, [process.pid for process in started]
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait(60)


def _wait_for(address: str, process: subprocess.Popen[bytes]) -> None:
    import httpx

    last = perf_counter() + START
    while perf_counter() < last:
        if process.poll() is not None:
            raise SystemExit(f"a server ended with {process.returncode}.")
        with contextlib.suppress(httpx.HTTPError):
            if httpx.get(f"{address}/api/next", timeout=60).status_code == 200:
                return
        asyncio.run(asyncio.sleep(0.2))
    raise SystemExit("a server did not start.")


def cpu_seconds(processes: list[int]) -> float:
    """Return the processor time that these have used so far."""
    import psutil

    return sum(sum(psutil.Process(number).cpu_times()[:2]) for number in processes)


def said(question: Json, y: NDArray[np.int64]) -> object:
    """Return what somebody who knows the matter answers."""
    if question["type"] == "pair":
        return "same" if y[question["a"]["row"]] == y[question["b"]["row"]] else "different"
    own = y[question["item"]["row"]]
    options = (o["cluster"] for o in question["options"] if y[o["members"][0]["row"]] == own)
    return next(options, "none")


class Simulation:
    """People who answer until all together have answered so many times."""

    def __init__(self, y: NDArray[np.int64], options: argparse.Namespace) -> None:
        self.record = Record()
        self._y = y
        self._options = options

    async def run(self, addresses: list[str]) -> Record:
        """Let all people answer, each at one of the servers."""
        import httpx

        limits = httpx.Limits(max_connections=None)
        async with contextlib.AsyncExitStack() as stack:
            clients = [
                await stack.enter_async_context(
                    httpx.AsyncClient(base_url=address, timeout=60, limits=limits)
                )
                for address in addresses
            ]
            self.record.started = perf_counter()
            people = (
                self._person(k, clients[k % len(clients)]) for k in range(self._options.people)
            )
            await asyncio.gather(*people)
            self.record.ended = perf_counter()
        return self.record

    async def _person(self, number: int, client: httpx.AsyncClient) -> None:
        record, options = self.record, self._options
        rng = np.random.default_rng(number)
        who = f"person {number}"
        headers = {"X-Samekind": "1", "X-Samekind-Who": who.replace(" ", "%20")}
        last = record.started + 60 * options.minutes
        await asyncio.sleep(rng.random() * options.think)
        questions = (await client.get("/api/next", headers=headers)).json()["questions"]
        while len(record.kept) < options.answers and perf_counter() < last:
            await asyncio.sleep(options.think * rng.gamma(4, 0.25))
            if not questions:
                record.waited += 1
                questions = (await client.get("/api/next", headers=headers)).json()["questions"]
                continue
            answer = said(questions[0], self._y)
            body = {"id": questions[0]["id"], "answer": answer}
            begun = perf_counter()
            response, again = await self._send(client, body, headers)
            record.seconds.append(perf_counter() - begun)
            record.statuses[response.status_code] += 1
            if response.status_code == 200 or again:  # once more it is refused if it was kept
                record.kept.append((who, body["id"], answer))
            questions = response.json().get("questions", [])

    async def _send(
        self, client: httpx.AsyncClient, body: Json, headers: dict[str, str]
    ) -> tuple[httpx.Response, bool]:
        """Send an answer, as the page does once more where the connection was cut; return whether it was."""
        import httpx

        for again in (False, True):
            try:
                return await client.post("/api/answers", json=body, headers=headers), again
            except httpx.TransportError:
                self.record.cut_off += 1
                if again:
                    raise
        raise AssertionError


def proof(place: str, record: Record) -> Json:
    """Return what the ledger says of the answers that were acknowledged."""
    from samekind.ledger import ProjectURL, SqlLedger

    with SqlLedger(ProjectURL(place) if "://" in place else place, read_only=True) as ledger:
        lines = [(frozenset((line.a, line.b)), line.who) for line in ledger.lines()]
        opinions = [(frozenset((one.a, one.b)), one.who) for one in ledger.opinions.lines]
    there = {*lines, *opinions}
    lost = 0
    for who, question, answer in record.kept:
        form, row, others = question.split("-")
        pairs = [frozenset((int(row), int(other))) for other in others.split(".")]
        is_there = [(pair, who) in there for pair in pairs]
        # who picked one of a line-up has said nothing of the others
        lost += not (any(is_there) if form == "l" and isinstance(answer, int) else all(is_there))
    of_pair: dict[frozenset[int], set[str]] = {}
    for pair, who in there:
        of_pair.setdefault(pair, set()).add(who)
    return {
        "lost": lost,
        "doubled": len(lines) + len(opinions) - len(there),
        "given to two": sum(len(people) > 1 for people in of_pair.values()),
        "late": len(opinions),
        "lines": len(lines),
    }


@contextlib.contextmanager
def place_of(given: str | None) -> Iterator[str]:
    """Yield where the project is: as given, a PostgreSQL server of our own, or a temporary file."""
    if given == "postgres":
        sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
        from postgres import running

        with running(fsync="on") as server:
            yield server.url()
    elif given:
        yield given
    else:
        with tempfile.TemporaryDirectory() as folder:
            yield str(Path(folder) / "load.db")


def main(arguments: list[str] | None = None) -> int:
    """Take the load, and print what came of it as JSON."""
    options = _parser().parse_args(arguments)
    if options.serve:
        serve(os.environ["SAMEKIND_LOAD_PLACE"], options.rows, options.serve)
        return 0
    _, y = make_rows(options.rows)
    with place_of(options.place) as place:
        with servers(place, options.rows, options.servers) as (addresses, processes):
            before = cpu_seconds(processes)
            record = asyncio.run(Simulation(y, options).run(addresses))
            cpu = cpu_seconds(processes) - before
        found = proof(place, record)
    clicks, took = sum(record.statuses.values()), record.ended - record.started
    p50, p95, p99 = np.quantile(record.seconds, [0.5, 0.95, 0.99]).tolist()
    result = {
        "place": "PostgreSQL" if "://" in place else "SQLite",
        **{name: getattr(options, name) for name in ("people", "think", "servers", "rows")},
        "answers": len(record.kept),
        "per second": round(len(record.kept) / took, 1),
        "refused": round(1 - len(record.kept) / max(1, clicks), 5),
        "statuses": dict(record.statuses),
        "without a question": record.waited,
        "cut off": record.cut_off,
        "p50 ms": round(1e3 * p50, 1),
        "p95 ms": round(1e3 * p95, 1),
        "p99 ms": round(1e3 * p99, 1),
        "server CPU ms an answer": round(1e3 * cpu / max(1, len(record.kept)), 1),
        "load average": [round(one, 1) for one in os.getloadavg()],
        **found,
    }
    print(json.dumps(result, indent=1))
    wrong = [found[name] for name in ("lost", "doubled", "given to two")]
    return int(result["refused"] > REFUSED or p95 > SECONDS or any(wrong))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.team", description=__doc__)
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--think", type=float, default=1.6, help="seconds, on average")
    parser.add_argument("--answers", type=int, default=20_000)
    parser.add_argument("--minutes", type=float, default=15.0, help="end after so many")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--servers", type=int, default=1)
    parser.add_argument("--place", help="a file, a URL, or 'postgres' for a server of its own")
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
