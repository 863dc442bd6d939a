"""Results for people: in the terminal, and on one HTML page that loads nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from rich.console import Console
from rich.text import Text

from experiments.benchmark_data import DATA
from experiments.figures import Figure, figures_of
from experiments.results import Results
from experiments.store import write_text
from experiments.tables import MARKS, Table, print_table, tables_of

HERE = Path(__file__).parent
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
"""The page runs nothing and loads nothing."""
TITLES = {
    "paper": "The paper's experiments, run again",
    "focused": "What “focused” must show, and what it does",
    "ablation": "“focused” without its parts",
    "noisy": "“focused” when answers are wrong",
    "certificate": "What “focused” promises, and what is true",
    "unsure": "“focused” when nobody can tell a tenth of the rows",
    "piles": "“focused” on texts and embeddings",
    "peers": "Beside its peers",
    "relatives": "Beside its relatives",
}
PAPER = (
    "Li, Song and Zhang, Learning to Cluster via Same-Cluster Queries (2021), Section 5: the paper's "
    "numbers, means of 100 runs, and ours beside them. ± is the 95 % interval of our mean. ≈ the paper's "
    "number lies within it; △ ours is more favourable, ▽ less, which is a difference between two "
    "implementations of one method; ? cannot be said. “12 of 20” is how many runs got that far; the number "
    "before it is their mean. “>”: no run got there with so many questions per cluster."
)
STUDY = (
    "± is the 95 % interval of our mean. “7 of 10” is how many runs got that far; the number before it is "
    "their mean. "
)
FOCUSED = (
    "Of “focused”: recovered, declared so by itself; accurate, discovered and with a centre whose true "
    "error is at most 10 %; discovered, true clusters with a labelled row; provisional, clusters still "
    "to be merged with others; median error of the centres of all discovered clusters; ARI, adjusted "
    "Rand index of all labels; unproven, pairs of clusters that nobody was asked about; then the bounds "
    "of the certificate on the rows in undiscovered clusters and on wrong labels, and in how many runs "
    "both are true."
)
NOISY = (
    "± is the standard deviation of the runs. “focused” alone has right answers and as many questions as a "
    "good result takes; the other rows have so many wrong answers, always the same ones, and more questions. "
    "True clusters found: most of the members of some cluster are of them; beside them those that the same "
    "runs find without errors. Clusters returned: all, also those of one row. ARI: adjusted Rand index of "
    "all labels, and of the rows asked about. Estimated errors: the share of wrong answers as “focused” "
    "estimates it. The goal: all true clusters are found, and the ARI is 0.9; known to 5 questions. "
    "“7 of 10” is how many runs reached it; the number before it is their mean."
)
PROMISES = (
    "The bounds of the certificate on rows in undiscovered clusters and on wrong labels, the true share "
    "of wrong labels, and in how many runs both bounds are true. "
)
PILES = (
    "The adjusted Rand index of all labels, for the sake of which alone is asked. K-means is told the true "
    "number of clusters and asks nothing; the classifier is told the labels of as many rows, drawn "
    "uniformly, as “focused” knows after so many questions."
)
HARD_ROWS = (
    "The tenth of the rows whose ten nearest ones are most mixed are answered UNSURE. Rows given up have "
    "no labels, and are stated apart."
)
ABLATION = (
    "“focused” as it is, and with one part switched off. The last table has the differences. Right rows: "
    "each true cluster may claim one cluster. Clusters made: those of at least three rows. Accurate: with a "
    "centre whose true error is at most 10 %. “5% wrong”: the share of wrong answers, which is not told."
)
PEERS = (
    "After so many questions: the adjusted Rand index of all points, and the true clusters found (those that "
    "are the majority of some cluster). Seconds and memory are of the last budget that was reached."
)
RELATIVES = (
    STUDY
    + "The questions after which rows of 50, 90 and 100 % of the true clusters had been asked about, all "
    "questions of the run, the adjusted Rand index of all labels at its end, and seconds on one core. Ours "
    "stop by themselves, “focused” after 1,000 questions, the others of ours after 20,000 at the latest. The "
    "relatives run to their own end."
)


@dataclass(frozen=True)
class Section:
    """What a page has of one data set."""

    id: str
    title: str
    note: str
    figures: Sequence[Figure]
    tables: Sequence[Table]


def print_results(results: Results, console: Console) -> None:
    """Print all tables."""
    for data, tables in tables_of(results).items():
        if data:
            console.rule(Text(DATA[data].title))
            if note := _note(results, data):
                console.print(Text(note, style="italic"))
        for table in tables:
            print_table(table, console)
    for name, why in results.skipped.items():
        console.print(Text(f"{name} is left out: {why}."))
    console.print(Text(_explanation(results), style="dim"))


def page_of(results: Results) -> str:
    """Return the page, made from nothing but the results."""
    sections = [
        Section(
            f"data-{data}" if data else "required",
            DATA[data].title if data else tables[0].title,
            _note(results, data),
            figures_of(results, data) if data else (),
            tables,
        )
        for data, tables in tables_of(results).items()
    ]
    environment = Environment(
        loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("page.html").render(
        title=TITLES[results.experiment],
        lead=_explanation(results),
        tiles=_tiles(results),
        facts=_facts(results),
        sections=sections,
        policy=POLICY,
        version=results.made_by["samekind"],
    )


def write_markdown(results: Results, path: Path) -> None:
    """Write all tables as Markdown."""
    parts = [f"# {TITLES[results.experiment]}\n\n{_explanation(results)}\n"]
    for data, tables in tables_of(results).items():
        parts += [f"## {DATA[data].title}\n"] if data else []
        for table in tables:
            parts += [f"### {table.title}\n"] if table.title else []
            parts.append(table.markdown())
            parts += [f"{table.caption}\n"] if table.caption else []
    parts += [f"{name}: {fact}\n" for name, fact in _facts(results).items()]
    write_text(path, "\n".join(parts))


def write_page(results: Results, path: Path) -> None:
    """Write the page of results."""
    write_text(path, page_of(results))


def _explanation(results: Results) -> str:
    if results.experiment == "paper":
        return f"{PAPER} {FOCUSED}" if results.details["focused_questions"] else PAPER
    explained = {"noisy": NOISY, "peers": PEERS, "certificate": STUDY + PROMISES}
    explained["piles"] = STUDY + PILES
    explained["ablation"] = STUDY + ABLATION
    explained["relatives"] = RELATIVES
    explained["unsure"] = STUDY + PROMISES + HARD_ROWS
    return explained.get(results.experiment, STUDY + FOCUSED)


def _note(results: Results, data: str) -> str:
    return DATA[data].note if data and results.experiment == "paper" else ""


def _tiles(results: Results) -> dict[str, str]:
    summary = results.summary
    if summary["required"].notna().any():
        met = summary.loc[summary["required"].notna(), "met"].astype(bool)
        return {"of what is required met": f"{met.sum():,}", "missed": f"{(~met).sum():,}"}
    if results.experiment != "paper":
        return {}
    # A note says that it is not the paper's data: the paper's numbers are then no mark to meet.
    counted = summary.loc[~summary["data"].isin(_other_data(results)), "mark"].value_counts()
    names = ("of the paper's numbers beaten", "met within the interval", "missed", "cannot be said")
    return {name: f"{counted.get(mark, 0):,}" for name, mark in zip(names, MARKS, strict=True)}


def _facts(results: Results) -> dict[str, str]:
    runs = results.summary.groupby("data", sort=False)["runs"].max()
    facts = {"runs": "; ".join(f"{n:.0f} on {DATA[str(data)].title}" for data, n in runs.items())}
    if results.experiment == "peers":
        facts["runs"] += f"; of {results.details['limit']} s at most"
        facts |= results.details["remarks"]
    if results.experiment == "relatives":
        facts |= results.details["remarks"]
    facts["seeds"] = results.seeds
    versions = ", ".join(f"{name} {number}" for name, number in results.made_by.items())
    facts["made by"] = f"{versions}; {results.machine['cores']} cores"
    if results.experiment == "paper" and (others := _other_data(results)):
        titles = "; ".join(DATA[data].title for data in others)
        facts["not counted above"] = f"{titles}: not the paper's data"
    return facts | {name: f"left out: {why}" for name, why in results.skipped.items()}


def _other_data(results: Results) -> list[str]:
    return [data for data in results.data if DATA[data].note]
