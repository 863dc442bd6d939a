"""What load a server holds: simulated people with time to think, over HTTP, on one or several servers.

    python -m benchmarks.team                             # SQLite, one server, 50 people, 20,000 answers
    python -m benchmarks.team --servers 2 --answers 4000 --edits 0.05
    python -m benchmarks.team --place 'postgresql+psycopg://ann@localhost/postgres?project=load'
    python -m benchmarks.team --place postgres            # a server of its own, as the tests start one

The servers are `samekind serve`, and everybody has a link of their own. With `--edits`, people also name,
merge and take back. It stops by itself, after `--answers` or `--minutes`, and proves from the ledger that
nothing acknowledged is lost or doubled and no question was given to two people; then it opens the project
once more. Exits with 1 if a promise is not kept.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.team_proof import Record, prove
from benchmarks.team_site import (
    api,
    cpu_seconds,
    invite,
    make_rows,
    opening_seconds,
    prepared,
    servers,
)

if TYPE_CHECKING:
    import httpx
    from numpy.typing import NDArray

Json = dict[str, Any]

REFUSED = 0.02  # promised: at most this share of the clicks,
SECONDS = 0.15  # and 95 of 100 within this time
EXPECTED = 200, 400, 409  # the latter two where somebody else was first
TRIES = 3  # to send a request whose connection is cut


def said(question: Json, y: NDArray[np.int64]) -> object:
    """Return what somebody who knows the matter answers."""
    if question["type"] == "pair":
        return "same" if y[question["a"]["row"]] == y[question["b"]["row"]] else "different"
    own = y[question["item"]["row"]]
    options = (o["cluster"] for o in question["options"] if y[o["members"][0]["row"]] == own)
    return next(options, "none")


def shown_clusters(question: Json) -> list[tuple[int, int]]:
    """Return the kinds that somebody sees with a question, and a member of each."""
    if question["type"] == "pair":
        known = [(question[f"{side}_cluster"], question[side]["row"]) for side in ("a", "b")]
        return [(cluster["cluster"], row) for cluster, row in known if cluster]
    return [(option["cluster"], option["members"][0]["row"]) for option in question["options"]]


class Person:
    """Somebody with a link, who answers until all together have answered so many times."""

    def __init__(
        self, number: int, client: httpx.AsyncClient, token: str, team: Simulation
    ) -> None:
        self._number = number
        self._who = f"person {number}"
        self._client = client
        self._headers = {"Authorization": f"Bearer {token}"}
        self._rng = np.random.default_rng(number)
        self._team = team
        self._n_sent = 0

    async def work(self) -> None:
        """Think and answer; now and then name, merge or take back."""
        record, options = self._team.record, self._team.options
        last = record.started + 60 * options.minutes
        await asyncio.sleep(self._rng.random() * options.think)
        questions = await self._next()
        while len(record.kept) < options.answers and perf_counter() < last:
            await asyncio.sleep(options.think * self._rng.gamma(4, 0.25))
            if not questions:
                record.waited += 1
                questions = await self._next()
                continue
            seen = questions[0]
            questions = await self._answer(seen)
            if self._rng.random() < options.edits:
                questions = await self._edit(seen) or questions

    async def _next(self) -> list[Json]:
        reply = await self._client.get("/next", headers=self._headers)
        found: list[Json] = reply.json()["questions"]
        return found

    async def _answer(self, question: Json) -> list[Json]:
        record = self._team.record
        answer = said(question, self._team.y)
        begun = perf_counter()
        reply = await self._send("POST", "/answers", {"id": question["id"], "answer": answer})
        record.seconds.append(perf_counter() - begun)
        record.statuses[reply.status_code] += 1
        if reply.status_code == 200:
            record.kept.append((self._who, question["id"], answer))
        found: list[Json] = reply.json().get("questions", [])
        return found

    async def _edit(self, question: Json) -> list[Json]:
        """Merge two kinds that were shown, name one, or take the answer back; return what is asked then."""
        record, y, text = self._team.record, self._team.y, f"{self._who}, {self._n_sent}"
        shown = shown_clusters(question)
        of_kind = {int(y[member]): cluster for cluster, member in shown}
        begun = perf_counter()
        if len(of_kind) < len(shown):  # two of them are one
            two = next(
                [cluster, of_kind[int(y[member])]]
                for cluster, member in shown
                if of_kind[int(y[member])] != cluster
            )
            reply = await self._send("POST", "/clusters/merge", {"clusters": two})
            record.n_merged += reply.status_code == 200
        elif shown and self._rng.random() < 0.5:
            path = f"/clusters/{shown[0][0]}/name"
            reply = await self._send("PUT", path, {"name": text})
            record.names += [text] if reply.status_code == 200 else []
        else:
            reply = await self._send("POST", "/undo", {})
            record.n_undone += len(reply.json().get("undone", []))
        record.edit_seconds.append(perf_counter() - begun)
        record.edit_statuses[reply.status_code] += 1
        return await self._next()

    async def _send(self, method: str, path: str, body: Json) -> httpx.Response:
        """Send something as the page does: with a key, and again where the connection was cut."""
        import httpx

        self._n_sent += 1
        headers = self._headers | {"Idempotency-Key": f"{self._number}-{self._n_sent}"}
        for attempt in range(TRIES):
            try:
                reply = await self._client.request(method, path, json=body, headers=headers)
                if reply.status_code not in EXPECTED:
                    raise SystemExit(f"{method} {path}: {reply.status_code} {reply.text}")
                return reply
            except httpx.TransportError:
                self._team.record.cut_off += 1
                if attempt + 1 == TRIES:
                    raise
        raise AssertionError


class Simulation:
    """People at servers, and what happened to them."""

    def __init__(self, y: NDArray[np.int64], options: argparse.Namespace) -> None:
        self.record = Record()
        self.y = y
        self.options = options

    async def run(self, addresses: list[str], tokens: list[str]) -> Record:
        """Let all people answer, each at one of the servers."""
        import httpx

        limits = httpx.Limits(max_connections=None)
        async with contextlib.AsyncExitStack() as stack:
            clients = [
                await stack.enter_async_context(
                    httpx.AsyncClient(base_url=api(address), timeout=60, limits=limits)
                )
                for address in addresses
            ]
            self.record.started = perf_counter()
            people = (
                Person(number, clients[number % len(clients)], token, self)
                for number, token in enumerate(tokens)
            )
            await asyncio.gather(*(person.work() for person in people))
            self.record.ended = perf_counter()
        return self.record


def main(arguments: list[str] | None = None) -> int:
    """Take the load, and print what came of it as JSON."""
    options = _parser().parse_args(arguments)
    _, y = make_rows(options.rows)
    with prepared(options.place, options.rows) as where:
        tokens = invite(where, options.people, "review" if options.edits else "answer")
        with servers(where, options.servers) as running:
            before = cpu_seconds(running.processes)
            record = asyncio.run(Simulation(y, options).run(running.addresses, tokens))
            cpu = cpu_seconds(running.processes) - before
        found = prove(where, record) | opening_seconds(where)
    clicks, took = sum(record.statuses.values()), record.ended - record.started
    p50, p95, p99 = np.quantile(record.seconds, [0.5, 0.95, 0.99]).tolist()
    given = ("people", "think", "servers", "rows", "edits")
    result = {
        "place": "PostgreSQL" if "://" in where else "SQLite",
        **{name: getattr(options, name) for name in given},
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
        **(_edits(record) if options.edits else {}),
        **found,
    }
    print(json.dumps(result, indent=1))
    wrong = [found["lost"], found["doubled"], found["given to two"], not found["sound"]]
    return int(result["refused"] > REFUSED or p95 > SECONDS or any(wrong))


def _edits(record: Record) -> Json:
    """Return what became of names, merges and undo."""
    p95 = float(np.quantile(record.edit_seconds, 0.95)) if record.edit_seconds else 0.0
    return {
        "named": len(record.names),
        "merged": record.n_merged,
        "undone": record.n_undone,
        "statuses of edits": dict(record.edit_statuses),
        "p95 ms of edits": round(1e3 * p95, 1),
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.team", description=__doc__)
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--think", type=float, default=1.6, help="seconds, on average")
    parser.add_argument("--answers", type=int, default=20_000)
    parser.add_argument(
        "--edits", type=float, default=0.0, help="this share of the presses, as well"
    )
    parser.add_argument("--minutes", type=float, default=15.0, help="end after so many")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--servers", type=int, default=1)
    parser.add_argument("--place", help="a file, a URL, or 'postgres' for a server of its own")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
