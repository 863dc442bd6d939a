"""Papers as lists of references name them: short and long venues, initials, cut titles; and their siblings.

A group writes several papers on one subject, with titles that differ in a word; parts I and II, and a report
that became an article, are papers of their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from experiments.made_records.clerk import Clerk, shuffled
from samekind.datasets import make_records

__all__ = ["make_papers"]

HOW = [
    "fast",
    "robust",
    "scalable",
    "adaptive",
    "approximate",
    "incremental",
    "distributed",
    "efficient",
    "bayesian",
    "sparse",
    "online",
    "optimal",
    "practical",
    "parallel",
    "private",
    "secure",
    "hierarchical",
    "probabilistic",
    "dynamic",
    "unsupervised",
]
WHAT = [
    "clustering",
    "indexing",
    "matching",
    "sampling",
    "estimation",
    "inference",
    "learning",
    "retrieval",
    "compression",
    "scheduling",
    "routing",
    "caching",
    "planning",
    "segmentation",
    "recognition",
    "ranking",
    "verification",
    "mining",
]
OF = [
    "graphs",
    "streams",
    "images",
    "documents",
    "tables",
    "sensor networks",
    "time series",
    "spatial data",
    "large databases",
    "mobile devices",
    "web pages",
    "social networks",
    "gene expression",
    "programs",
    "queries",
    "trajectories",
    "sparse matrices",
]
HOW_FROM = [
    "with random projections",
    "using neural networks",
    "by message passing",
    "under uncertainty",
    "in linear time",
    "via convex optimization",
    "from few examples",
    "on modern hardware",
    "with guarantees",
    "in the presence of noise",
]
VENUES = {
    "proceedings of the international conference on data engineering": "icde",
    "proceedings of the conference on very large data bases": "vldb",
    "journal of machine learning research": "jmlr",
    "ieee transactions on pattern analysis and machine intelligence": "ieee tpami",
    "acm transactions on database systems": "acm tods",
    "annals of statistics": "ann. stat.",
    "neural computation": "neural comput.",
    "knowledge and information systems": "knowl. inf. syst.",
    "communications of the acm": "cacm",
    "information processing letters": "inf. process. lett.",
}


def make_papers(
    n_papers: int = 1_500, seed: int = 0, slips: float = 1.0
) -> tuple[pd.DataFrame, np.ndarray]:
    """Return references, and the paper of each."""
    clerk = Clerk(seed, slips)
    base, _ = make_records(2 * n_papers, 0.0, random_state=seed + 1)
    base = base.dropna()
    people = base[["given_name", "surname"]].to_numpy().tolist()
    records, entities = [], []
    paper = 0
    while paper < n_papers:
        group = [clerk.one(people) for _ in range(clerk.number(1, 6))]
        how, what, on = clerk.one(HOW), clerk.one(WHAT), clerk.one(OF)
        year, title = clerk.number(1985, 2024), ""
        for sibling in range(min(4, clerk.rng.geometric(0.6))):
            before, title = title, f"{how} {what} of {on} {clerk.one(HOW_FROM)}"
            if sibling and clerk.happens(0.3):
                title = f"{before}, part {clerk.one(['ii', '2'])}"
            elif sibling and clerk.happens(0.3):
                title = before  # the article that a report became
            authors = group[: clerk.number(1, len(group) + 1)] if sibling else group
            own = {
                "authors": authors,
                "title": title,
                "venue": clerk.one(list(VENUES)),
                "year": year + sibling,
                "first": clerk.number(1, 900),
                "pages": clerk.number(4, 30),
                "volume": clerk.number(1, 60),
            }
            for _ in range(min(15, clerk.rng.geometric(0.4))):
                records.append(_reference(clerk, own))
                entities.append(paper)
            paper += 1
    return shuffled(records, entities, clerk)


def _reference(clerk: Clerk, paper: dict[str, Any]) -> dict[str, str | None]:
    """Return how somebody refers to a paper."""
    style = clerk.number(0, 3)
    names = [_author(clerk, given, surname, style) for given, surname in paper["authors"]]
    if len(names) > 2 and clerk.happens(0.15):
        authors = f"{names[0]} et al."
    else:
        authors = [" and ", ", ", "; "][style].join(names)
    title = clerk.written(paper["title"], 0.03)
    if clerk.errs(0.06):
        title = " ".join(title.split()[: clerk.number(3, 6)])
    elif clerk.errs(0.04):
        title = f"{title} (extended abstract)"
    venue = paper["venue"]
    if clerk.happens(0.5):
        venue = VENUES[venue]
    elif clerk.happens(0.4):
        venue = venue.replace("proceedings of the", "proc.").replace("international", "int.")
    year = paper["year"] + (clerk.one([-1, 1]) if clerk.errs(0.05) else 0)
    first = paper["first"]
    pages = f"{first}-{first + paper['pages']}" if clerk.happens(0.8) else str(first)
    return {
        "authors": clerk.left_out(authors, 0.03),
        "title": title.capitalize() if clerk.happens(0.5) else title.title(),
        "venue": clerk.left_out(clerk.written(venue, 0.03), 0.1),
        "year": clerk.left_out(str(year), 0.1),
        "volume": clerk.left_out(str(paper["volume"]), 0.5),
        "pages": clerk.left_out(pages, 0.35),
    }


def _author(clerk: Clerk, given: str, surname: str, style: int) -> str:
    surname = clerk.written(surname, 0.02).title()
    short = given[0].upper() + "." if clerk.happens(0.6) else given.title()
    return f"{surname}, {short}" if style == 2 else f"{short} {surname}"
