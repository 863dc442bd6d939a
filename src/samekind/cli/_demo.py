"""``samekind demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from samekind.cli._errors import explained


@explained
def demo(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the results.")] = Path(
        "samekind-demo"
    ),
    budget: Annotated[
        int, typer.Option(metavar="N", min=1, help="The most questions to ask.")
    ] = 1000,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Fixes the draws.")] = 0,
    yourself: Annotated[
        bool, typer.Option("--yourself", help="Answer yourself, at the prompt.")
    ] = False,
) -> int:
    """Sort scikit-learn's handwritten digits with a simulated expert.

    Needs nothing and takes seconds. Writes a report, the cluster of every row and the centres.
    """
    from rich.console import Console

    from samekind.cli._job import Job, run_job
    from samekind.cli._results import PROJECT, prepare_folder
    from samekind.data import Items
    from samekind.datasets import load_digits

    data = load_digits()
    prepare_folder(out)
    expert = "You answer" if yourself else "A simulated expert answers"
    Console(stderr=True).print(
        f"{len(data.data):,} pictures of handwritten digits; nobody says how many kinds there are.\n"
        f"{expert} “of the same kind?” for at most {budget:,} pairs of them.",
        highlight=False,
    )
    return run_job(
        Job(
            items=Items.of_array(
                data.data,
                "digits",
                list(data.feature_names),
                labels=data.target,
                images=data.images,
            ),
            out=out,
            title="Handwritten digits",
            settings={"budget": budget, "random_state": seed, "batch": 1 if yourself else "auto"},
            person=yourself,
            project=out / PROJECT if yourself else None,
            next_steps=[]
            if yourself
            else [
                "Next:",
                "  samekind label --demo                        be the expert, on a page",
                "  samekind label YOUR.csv                      on a page, with your data",
                "  samekind run YOUR.csv --labels COLUMN        a column of labels answers",
            ],
        )
    )
