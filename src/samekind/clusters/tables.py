"""Clusters as tables: data frames, and a summary for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from samekind._validation import refuse_dask
from samekind.measures import percent

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

    from samekind.clusters.result import Clusters

__all__ = ["STOP_REASONS", "centers_frame", "rows_frame", "summary"]

STOP_REASONS: dict[str | None, str] = {
    "reducible": "a long run of draws brought nothing new",
    "rare": "a long run of uniform draws brought nothing new",
    "covered": "every row lies on the centre of a recovered cluster",
    "exhausted": "every row was asked about",
    "certified": "the certificate holds",
    "unplaced": "rows are left that could not be placed",
    "target": "enough clusters are recovered",
    "budget": "the budget is spent",
    "failed": "who answered could not be asked any more",
    "spent": "the money for the model is spent",
    "user": "stopped by you",
    None: "not finished",
}

MOST_PEOPLE = 10  # in the summary


def rows_frame(clusters: Clusters) -> pd.DataFrame:
    """Return a table with a line for each row; see `Clusters.to_frame`."""
    import pandas as pd

    labels = clusters.labels_
    refuse_dask("labels_", labels)
    known = np.zeros(clusters.n_rows_, dtype=bool)
    for members in clusters.members_:
        known[members] = True
    recovered = (labels >= 0) & (labels < clusters.n_recovered_)
    rows = np.arange(clusters.n_rows_)
    return pd.DataFrame({"row": rows, "cluster": labels, "known": known, "recovered": recovered})


def centers_frame(clusters: Clusters, feature_names: Sequence[str] | None) -> pd.DataFrame:
    """Return a table with a line for each cluster; see `Clusters.centers_frame`."""
    import pandas as pd

    d = clusters.all_centers_.shape[1]
    names = list(feature_names) if feature_names is not None else [f"x{i}" for i in range(d)]
    numbers = np.arange(clusters.n_discovered_)
    counts = pd.DataFrame(
        {
            "cluster": numbers,
            "recovered": numbers < clusters.n_recovered_,
            "known_rows": [len(members) for members in clusters.members_],
        }
    )
    return pd.concat([counts, pd.DataFrame(clusters.all_centers_, columns=names)], axis=1)


def summary(clusters: Clusters) -> Table:
    """Return a table for the terminal; see `Clusters.summary`."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title="What was found", show_header=False, title_justify="left")
    table.add_column(style="bold")
    table.add_column()
    c = clusters
    table.add_row("clusters recovered", f"{c.n_recovered_:,}")
    table.add_row("clusters discovered", f"{c.n_discovered_:,}")
    table.add_row("questions", f"{c.n_questions_:,}")
    rounds = f"{c.n_rounds_:,} round{'s' * (c.n_rounds_ != 1)}"
    table.add_row("rows drawn", f"{c.n_samples_:,} in {rounds}")
    known = sum(len(members) for members in c.members_)
    table.add_row("rows labelled by answers", f"{known:,} of {c.n_rows_:,}")
    if len(c.given_up_):
        table.add_row("rows given up as unsure", f"{len(c.given_up_):,}")
    table.add_row("stopped because", STOP_REASONS.get(c.stop_reason_, str(c.stop_reason_)))
    table.add_row("algorithm, seed", f"{c.algorithm_}, {c.random_state_}")
    if c.space_ is not None:
        table.add_row("distances", Text(str(c.space_)))
    if c.certificate_ is not None:
        table.add_row("certificate", Text(str(c.certificate_)))
    _add_people(table, c)
    for contradiction in c.contradictions_:
        table.add_row("[red]contradiction", Text(contradiction))
    for note in c.notes_:
        table.add_row("[yellow]note", Text(note))
    return table


def _add_people(table: Table, clusters: Clusters) -> None:
    from rich.text import Text

    busiest = sorted(clusters.annotators_, key=lambda one: -one.n_answers)
    for one in busiest[:MOST_PEOPLE]:
        unsure = f" ({one.n_unsure:,} unsure)" if one.n_unsure else ""
        wrong = "not tested"
        if one.is_tested:
            interval = f"{percent(one.low)} to {percent(one.high)}"
            wrong = f"about {percent(one.error)} wrong ({interval})"
        table.add_row(Text(f"answers of {one.shown_name}"), f"{one.n_answers:,}{unsure}, {wrong}")
    if len(busiest) > MOST_PEOPLE:
        rest = busiest[MOST_PEOPLE:]
        answers = sum(one.n_answers for one in rest)
        table.add_row(f"answers of {len(rest):,} more", f"{answers:,}; see annotators_")
    for one in clusters.annotators_:
        if one.warning is not None:
            table.add_row("[red]warning", Text(one.warning))
