"""Our algorithms beside other packages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from experiments.benchmark_data import choose_data
from experiments.design import check_algorithms, check_budgets, check_positive, skipped
from experiments.metrics import observations, read_peer
from experiments.peers import OURS, PEERS, PeerSetup, find_peer
from experiments.results import Results
from experiments.runner import Case, Runs
from experiments.store import Record
from experiments.summary import summarize

PEER_DATA = ("digits", "mixture-1", "digits-1000", "mixture-1000")
PEER_BUDGETS = (100, 300, 1_000)


class Comparison:
    """Our algorithms and other packages side by side, each in a process with a time limit.

    Parameters
    ----------
    data, peers : sequence of str
        Among `PEER_DATA` and `experiments.peers.PEERS`. A peer that is not here is left out.
    algorithms : sequence of str
        Ours.
    runs : int
        Runs of each; run i has seed i.
    points : iterable of int
        Numbers of questions to compare at.
    limit : int
        Seconds after which a run is ended; what it had reached by then counts.
    """

    file = "peers"

    def __init__(
        self,
        data: Sequence[str] | None = None,
        *,
        peers: Sequence[str] = tuple(PEERS),
        algorithms: Sequence[str] = ("focused", "batched"),
        runs: int = 3,
        points: Iterable[int] = PEER_BUDGETS,
        limit: int = 300,
    ) -> None:
        self.data = choose_data(data, PEER_DATA)
        for name in peers:
            if name not in PEERS:
                raise ValueError(f"peers must be among {', '.join(PEERS)}, got {name!r}.")
        names = [*(OURS + name for name in check_algorithms(algorithms)), *peers]
        self.skipped = {name: why for name in names if (why := find_peer(name).missing())}
        self.names = [name for name in names if name not in self.skipped]
        self.runs, self.limit = check_positive("runs", runs), check_positive("limit", limit)
        self.points = check_budgets(points)

    def cases(self) -> list[Case]:
        """Return what is to run."""
        setup = PeerSetup(tuple(self.points), self.limit)
        return [
            Case(data, name, setup, self.runs, limit=self.limit)
            for data in self.data
            for name in self.names
        ]

    def results(self, runs: Runs) -> Results:
        """Return what each reached with so many questions."""
        problems: dict[str, dict[str, list[str]]] = {}
        for record in runs.records:
            if record["problem"]:
                said = problems.setdefault(record["data"], {}).setdefault(record["algorithm"], [])
                said[:] = sorted({*said, record["problem"]})
        details: Record = {
            "runs": self.runs,
            "budgets": self.points,
            "limit": self.limit,
            "remarks": {name: find_peer(name).remark for name in self.names},
            "problems": problems,
        }
        summary = summarize(observations(runs.records, read_peer))
        seeds = "run i: made data and draws have seed i"
        return Results("peers", summary, details, self.skipped | skipped(runs), seeds)
