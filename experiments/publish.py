"""Write an experiment's tables into the documentation: what stands between two marks comes from its results.

A block of a document begins with a comment that names its command and it, and ends with another::

    <!-- made by `make paper`: short -->
    | | BASIC, paper | ours | …
    <!-- end -->
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pandas as pd

from experiments.page import write_page
from experiments.relatives import RELATIVES
from experiments.results import Results, read_results
from experiments.store import write_text
from experiments.tables import MARKS

DOCS = Path(__file__).parent.parent / "docs"
PAGES = ("results/README.md",)
BLOCK = re.compile(r"(<!-- made by `[^`]+`: ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
FILES = ("results", "relatives")  # whose tables are in the documentation
ALGORITHMS = ("uniform", "basic", "batched")
VARIANCE = {f"synthetic-variance-p{p}": f"p = {p}" for p in ("0", "0.1", "0.3")}
COMPARED = VARIANCE | {"shuttle": "Shuttle"}
OTHERS = {
    "synthetic-p0": "with a standard deviation of 0.3 (p = 0)",
    "kdd10": "on KDD 10 %",
    "kdd10-reweighted": "on the same, reweighted",
    "digits": "on digits",
    "banking77": "on Banking77",
}
SMALL_DATA = {
    "synthetic-small": "synthetic, 5,000 rows, 30 clusters",
    "shuttle-small": "Shuttle, 5,000 rows, 7",
    "mixture-small": "mixture, 5,000 rows, 30",
}


def publish(folder: Path, docs: Path = DOCS) -> list[Path]:
    """Copy the results of a folder into the documentation, and write their blocks anew; say what changed."""
    names = [name for name in FILES if (folder / f"{name}.json").is_file()]
    if not names:
        raise ValueError(
            f"{folder} has none of {', '.join(f'{name}.json' for name in FILES)}. Run `python -m "
            f"experiments paper all` or `python -m experiments relatives` with `--out {folder}` first."
        )
    written: list[Path] = []
    for name in names:
        results = read_results(folder / f"{name}.json")
        here = docs / "results" / f"{name}.json"
        results.write(here)
        write_page(results, here.with_suffix(".html"))
        written += [here, here.with_suffix(".html")]
        for page in PAGES:
            write_text(docs / page, with_blocks((docs / page).read_text("utf-8"), results))
    return written + [docs / page for page in PAGES]


def with_blocks(text: str, results: Results) -> str:
    """Return a document with all blocks of an experiment as its results have them."""
    blocks = BLOCKS[results.experiment]

    def anew(block: re.Match[str]) -> str:
        if block[2] not in blocks:
            return block[0]
        lines = "".join(f"{line}\n" for line in blocks[block[2]](results))
        return f"{block[1]}{lines}{block[3]}"

    return BLOCK.sub(anew, text)


def _row(results: Results, data: str, algorithm: str, metric: str, at: float | None) -> pd.Series:
    rows = results.of(data)
    rows = rows[(rows["algorithm"] == algorithm) & (rows["metric"] == metric)]
    return rows[rows["at"] == at].iloc[0] if at is not None else rows.iloc[0]


def _ours(row: pd.Series, decimals: int) -> str:
    short = row["reached"] < row["runs"]
    reached = f" ({row['reached']:.0f} of {row['runs']:.0f})" if short else ""
    return f"{row['mean']:,.{decimals}f} ± {row['high'] - row['mean']:,.{decimals}f}{reached}"


def _runs(results: Results) -> Iterator[str]:
    n = {data: int(results.of(data)["runs"].max()) for data in results.data}
    of_main = ", ".join(f"{n[data]} with {p}" for data, p in VARIANCE.items())
    others = [f"{n[data]} {name}" for data, name in OTHERS.items() if data in n]
    yield f"Runs of each algorithm: {n['shuttle']} on Shuttle; on synthetic data {of_main};"
    yield f"{', '.join(others)}."


def _short(results: Results) -> Iterator[str]:
    yield "| | BASIC, paper | ours | BATCHED, paper | ours |"
    yield "|---|---|---|---|---|"
    late = [("questions per cluster, {} clusters", "fixed_recovery", 0)]
    late += [("centre error, {} clusters, %", "centroid_error", 2)]
    for data in ("synthetic-variance-p0", "synthetic-variance-p0.3"):
        name = f"**synthetic, {VARIANCE[data]}**"
        yield from _lines(results, data, name, (10_000, 50_000, 200_000))
        for label, metric, decimals in late:
            yield _line(results, data, label.format(70), metric, 70, decimals)
    yield from _lines(results, "shuttle", "**Shuttle**", (1_000, 10_000, 30_000))
    for label, metric, decimals in late:
        yield _line(results, "shuttle", label.format("all 7"), metric, 7, decimals)
    printed = "synthetic, p = 0, *standard deviation* 0.3"
    yield from _lines(results, "synthetic-p0", printed, (10_000, 200_000))
    name = "**KDD 10 %, reweighted** (paper: full KDD)"
    yield from _lines(results, "kdd10-reweighted", name, (5_000, 100_000))


def _lines(results: Results, data: str, name: str, marks: Sequence[int]) -> Iterator[str]:
    if data in results.data:
        for at in marks:
            label = f"{name}: clusters at {at:,}" if at == marks[0] else f"at {at:,}"
            yield _line(results, data, label, "fixed_budget", at, 2)


def _line(results: Results, data: str, label: str, metric: str, at: int, decimals: int) -> str:
    cells = [label]
    for algorithm in ("basic", "batched"):
        row = _row(results, data, algorithm, metric, at)
        ours = f"{_ours(row, decimals)} {MARKS[row['mark']]}"
        cells += [f"{row['paper']:,.{decimals}f}", ours]
    return f"| {' | '.join(cells)} |"


def _compared(results: Results) -> pd.DataFrame:
    rows = results.summary
    rows = rows[rows["paper"].notna() & rows["data"].isin(list(COMPARED))]
    return rows.assign(off=100 * (rows["mean"] / rows["paper"] - 1))


def _counts(results: Results) -> Iterator[str]:
    rows = _compared(results)
    marks = {name: Counter(rows[rows["algorithm"] == name]["mark"]) for name in ALGORITHMS}
    ours = marks["basic"] + marks["batched"]
    far = rows["off"].abs().groupby([rows["algorithm"], rows["metric"]]).median()
    yield f"The paper has {ours.total()} numbers for BASIC and BATCHED on synthetic data and Shuttle:"
    yield f"{ours['within']} lie within our intervals; of the others ours are more favourable in"
    yield f"{ours['better']} and less in {ours['worse']}; {ours['open']} cannot be said."
    for metric, what in (("fixed_budget", "recovered clusters"), ("fixed_recovery", "questions")):
        basic, batched = far["basic", metric], far["batched", metric]
        yield f"The median distance is {basic:.1f} % of the {what} for BASIC and {batched:.1f} % for BATCHED."
    uniform = marks["uniform"]
    yield f"Of UNIFORM's {uniform.total()} numbers {uniform['within']} are within."


def _lead(results: Results) -> Iterator[str]:
    heads = ["BATCHED beside BASIC", "rows in which it is ahead or equal, paper", "ours"]
    heads += ["its lead on average, paper", "ours", "rounds a recovered cluster, ours"]
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for data, name in COMPARED.items():
        rows = results.of(data)
        rows = rows[(rows["metric"] == "fixed_budget")]
        paper = rows.pivot(index="at", columns="algorithm", values="paper")
        ours = rows.pivot(index="at", columns="algorithm", values="mean")
        leads = [100 * (part["batched"] / part["basic"] - 1) for part in (paper, ours)]
        n_ahead = [f"{(lead >= 0).sum()} of {lead.size}" for lead in leads]
        last = max(results.of(data).query("metric == 'rounds'")["at"])
        rounds = _row(results, data, "batched", "rounds", last)["mean"] / last
        mean = [f"{lead.mean():+.1f} %".replace("-", "−") for lead in leads]
        title = f"synthetic, {name}" if data in VARIANCE else name
        yield f"| {title} | {n_ahead[0]} | {n_ahead[1]} | {mean[0]} | {mean[1]} | {rounds:.2f} |"


def _figures(results: Results) -> Iterator[str]:
    data = "synthetic-variance-p0"
    rounds = [_row(results, data, name, "rounds", 70)["mean"] for name in ("basic", "batched")]
    new = {
        name: _row(results, data, "batched", "took_on_average", None)["mean"]
        for data, name in COMPARED.items()
    }
    yield f"- **Rounds** for 70 clusters, p = 0: BASIC {rounds[0]:.0f}, BATCHED {rounds[1]:.0f}."
    each = ", ".join(f"{value:.2f} ({name})" for name, value in new.items())
    yield f"- **Questions per classified point**, the whole set taken as new (BATCHED): {each}."


def _relatives(results: Results) -> Iterator[str]:
    yield f"| {results.summary['runs'].max():.0f} runs | {' | '.join(SMALL_DATA.values())} |"
    yield "|---" * (len(SMALL_DATA) + 1) + "|"
    ours = {f"samekind {name}": f"`{name}`" for name in ("focused", *ALGORITHMS)}
    for algorithm, name in (ours | {name: name for name in RELATIVES}).items():
        cells = [_questions_and_end(results, data, algorithm) for data in SMALL_DATA]
        yield f"| {name} | {' | '.join(cells)} |"


def _questions_and_end(results: Results, data: str, algorithm: str) -> str:
    """Return the questions to 90 % of the clusters; all questions; the index."""
    found = _row(results, data, algorithm, "questions_to_share", 90)
    reached = f" ({found['reached']:.0f})" if found["reached"] < found["runs"] else ""
    until = f"{found['mean']:,.0f}{reached}" if found["reached"] else "–"
    asked, index = (
        _row(results, data, algorithm, metric, None)["mean"] for metric in ("asked", "ari_all")
    )
    return f"{until}; {asked:,.0f}; {index:.2f}"


BLOCKS: dict[str, dict[str, Callable[[Results], Iterator[str]]]] = {
    "paper": {
        "runs": _runs,
        "short": _short,
        "counts": _counts,
        "lead": _lead,
        "figures": _figures,
    },
    "relatives": {"relatives": _relatives},
}
