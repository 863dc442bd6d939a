"""The cost model: formulas of few constants."""

from __future__ import annotations

from typing import NamedTuple

from benchmarks.scale.constants import Constants

__all__ = ["Cost", "Job", "cost"]

PART = 10**7  # rows of a partition, at most
CACHE = 2 * 2**25  # bytes of rows that the driver remembers
PROCESS = 300e6  # bytes of a driver without data
LEAF = 128


class Job(NamedTuple):
    """So many rows on so many workers of one core each, and what is asked about them."""

    rows: float
    workers: int
    questions: int
    clusters: int


class Cost(NamedTuple):
    """Seconds, bytes and rounds."""

    parts: int
    sites: float
    rounds_all: float
    rounds_few: float
    first: float
    passes: float
    rounds: float
    worker_memory: float
    driver_memory: float
    network: float
    """Through the driver, both ways."""

    @property
    def seconds(self) -> float:
        return self.first + self.passes + self.rounds


def cost(job: Job, known: Constants) -> Cost:
    """Return what a job costs."""
    passes, work, rounds = known.passes, known.work, known.rounds
    d, mine = passes.columns, job.rows / job.workers
    parts = job.workers * max(1, -int(-mine // PART))
    sites = work.sites_per_question * job.questions + work.sites_per_cluster * job.clusters
    to_all = work.all_per_question * job.questions + work.all_per_cluster * job.clusters
    to_few = work.few_per_question * job.questions + work.few_per_cluster * job.clusters
    reached = min(job.workers, work.few_rows)
    of_site = 8 * (3 * d + 2) + 8 * d  # its place twice, its account, its entry in the log
    return Cost(
        parts=parts,
        sites=sites,
        rounds_all=to_all,
        rounds_few=to_few,
        first=mine * (passes.scan + passes.group + passes.first_of_cells),
        passes=mine * sites * (passes.per_leaf / LEAF + passes.per_visit * passes.share),
        rounds=to_all * (rounds.base + rounds.per_worker * job.workers + rounds.per_part * parts)
        + to_few * (rounds.base + (rounds.per_worker + rounds.per_part) * reached),
        worker_memory=mine * (4 * d + known.bytes.kept),
        driver_memory=PROCESS + CACHE + sites * of_site + parts * 2_000,
        network=to_all * job.workers * rounds.bytes_all + to_few * reached * rounds.bytes_few,
    )
