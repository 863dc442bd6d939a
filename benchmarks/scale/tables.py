"""The tables of docs/scale.md."""

from __future__ import annotations

from pathlib import Path

from benchmarks.scale.constants import Constants
from benchmarks.scale.model import Job, cost

__all__ = ["BEGIN", "END", "tables", "write"]

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
JOBS = [Job(rows, workers, 10_000, 100) for rows in (1e9, 1e11) for workers in (100, 1_000)]
PACE = 5.0  # seconds a person takes for a question


def tables(known: Constants) -> str:
    """Return the measured constants and what follows from them, in Markdown."""
    return "\n\n".join([_machine(known), _constants(known), _jobs(known)])


def write(page: Path, known: Constants) -> None:
    """Put the tables into a page, between two marks."""
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise ValueError(f"{page} lacks the lines {BEGIN} and {END}.")
    page.write_text(f"{before}{BEGIN}\n\n{tables(known)}\n\n{END}{after}", encoding="utf-8")


def _machine(known: Constants) -> str:
    return (
        f"Measured on a machine with {known.cores} cores, {known.passes.rows:,} rows x "
        f"{known.passes.columns} columns of float32; times of a row are those of one core."
    )


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _constants(known: Constants) -> str:
    passes, kept, rounds, work = known.passes, known.bytes, known.rounds, known.work
    ns, us = 1e9, 1e6
    return _table(
        ("constant", "what it is", "measured"),
        [
            ("s", "scan a row: finite? how wide?", f"{passes.scan * ns:.1f} ns"),
            ("g", "group it: into a leaf of 128 rows", f"{passes.group * ns:.0f} ns"),
            ("f", "first distance, with sums (cells)", f"{passes.first_of_cells * ns:.1f} ns"),
            ("l", "later site: a leaf looked at", f"{passes.per_leaf * ns:.1f} ns"),
            ("v", "later site: a row visited", f"{passes.per_visit * ns:.1f} ns"),
            ("σ", "share of the rows that a later site visits", f"{passes.share:.1%}"),
            ("m", "bytes kept for a row, beside its own 4d", f"{kept.kept:.0f}"),
            (
                "",
                "… for groups; cells",
                f"{kept.groups:.0f}; {kept.cells:.0f}",
            ),
            ("b", "a call to one worker and back", f"{rounds.base * us:,.0f} µs"),
            (
                "w",
                "… for each worker called: work of driver and scheduler",
                f"{rounds.per_worker * us:,.0f} µs",
            ),
            ("p", "… for each partition", f"{rounds.per_part * us:,.0f} µs"),
            ("y", "bytes, both ways, for a worker in a round to all", f"{rounds.bytes_all:,.0f}"),
            ("y′", "… in a round to few", f"{rounds.bytes_few:,.0f}"),
            ("A", "rounds to all", _linear(work.all_per_question, work.all_per_cluster)),
            ("F", "rounds to few", _linear(work.few_per_question, work.few_per_cluster)),
            ("r", "rows asked for in a round to few", f"{work.few_rows:.0f}"),
            (
                "S",
                "sites that take rows in a pass",
                _linear(work.sites_per_question, work.sites_per_cluster),
            ),
            (
                "q",
                "questions for a recovered cluster, to half of them",
                f"{work.questions_per_cluster:.0f}",
            ),
        ],
    )


def _linear(per_question: float, per_cluster: float) -> str:
    return f"{per_question:.2f} Q + {per_cluster:.2f} K"


def _jobs(known: Constants) -> str:
    costs = [(job, cost(job, known)) for job in JOBS]
    rows = [
        ("rows a worker", *(_count(job.rows / job.workers) for job, _ in costs)),
        ("partitions", *(f"{found.parts:,}" for _, found in costs)),
        ("data a worker reads", *(_bytes(40 * job.rows / job.workers) for job, _ in costs)),
        ("scan, group, first distances", *(_seconds(found.first) for _, found in costs)),
        ("later passes", *(_seconds(found.passes) for _, found in costs)),
        ("rounds: waiting for calls", *(_seconds(found.rounds) for _, found in costs)),
        ("**all of it**", *(f"**{_seconds(found.seconds)}**" for _, found in costs)),
        ("rounds to all; to few", *(f"{c.rounds_all:,.0f}; {c.rounds_few:,.0f}" for _, c in costs)),
        ("memory of a worker", *(_bytes(found.worker_memory) for _, found in costs)),
        ("memory of the driver", *(_bytes(found.driver_memory) for _, found in costs)),
        ("through the driver's network", *(_bytes(found.network) for _, found in costs)),
        (
            "a person answering, 5 s a question",
            *(_seconds(PACE * job.questions) for job, _ in costs),
        ),
    ]
    head = (
        f"{JOBS[0].questions:,} questions, {JOBS[0].clusters} clusters, 10 columns of float32",
        *(f"{_count(job.rows)} rows, {job.workers:,} workers" for job in JOBS),
    )
    return _table(head, rows)


def _count(value: float) -> str:
    exponent = len(f"{value:.0f}") - 1
    return f"10^{exponent}" if value == 10**exponent else f"{value:,.0f}"


def _seconds(value: float) -> str:
    for size, unit in ((3_600, "h"), (60, "min")):
        if value >= size:
            return f"{value / size:.1f} {unit}"
    return f"{value:.1f} s"


def _bytes(value: float) -> str:
    for size, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if value >= size:
            return f"{value / size:.1f} {unit}"
    return f"{value / 1e3:.1f} kB"
