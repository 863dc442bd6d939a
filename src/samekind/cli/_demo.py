"""``samekind demo``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from samekind.cli._errors import explained, needs, users_values

if TYPE_CHECKING:
    from samekind.data import Items

N_MESSAGES = 2000
MESSAGES = "messages.csv"


class Pile(StrEnum):
    """What there is to sort."""

    digits = "digits"
    texts = "texts"


FOLDERS = {Pile.digits: Path("samekind-demo"), Pile.texts: Path("samekind-demo-texts")}
BUDGETS = {Pile.digits: 1000, Pile.texts: 400}
TITLES = {Pile.digits: "Handwritten digits", Pile.texts: "Messages to a shop"}


@explained
def demo(
    pile: Annotated[
        Pile, typer.Argument(help="Handwritten digits, or messages to a shop.")
    ] = Pile.digits,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder for the results.  [dim]\\[default: samekind-demo, or samekind-demo-texts][/dim]",
        ),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="The most questions to ask.  [dim]\\[default: 1000, or 400 about texts][/dim]",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Fixes the draws.")] = 0,
    yourself: Annotated[
        bool, typer.Option("--yourself", help="Answer yourself, at the prompt.")
    ] = False,
) -> int:
    """Sort handwritten digits, or messages to a shop, with a simulated expert.

    Needs nothing and takes seconds. Writes a report, the cluster of every row and the centres.
    """
    from rich.console import Console

    from samekind.cli._job import PROJECT, Job, prepare_folder, run_job

    screen = Console(stderr=True)
    most = BUDGETS[pile] if budget is None else budget
    folder = FOLDERS[pile] if out is None else out
    prepare_folder(folder)
    items = _digits() if pile is Pile.digits else _messages(folder)
    what = "pictures of handwritten digits" if pile is Pile.digits else "messages to a shop"
    expert = "You answer" if yourself else "A simulated expert answers"
    lines = [
        f"{items.n:,} {what}; nobody says how many kinds there are.",
        *(f"  {note}" for note in items.notes),
        f"{expert} “of the same kind?” for at most {most:,} pairs of them.",
    ]
    screen.print("\n".join(lines), highlight=False, markup=False)
    return run_job(
        Job(
            items=items,
            out=folder,
            title=TITLES[pile],
            settings={"budget": most, "random_state": seed, "batch": 1 if yourself else "auto"},
            person=yourself,
            project=folder / PROJECT if yourself else None,
            next_steps=[] if yourself else _next_steps(pile, folder),
        )
    )


def _digits() -> Items:
    from samekind.data import Items
    from samekind.datasets import load_digits

    data = load_digits()
    names = list(data.feature_names)
    return Items.of_array(data.data, "digits", names, labels=data.target, images=data.images)


def _messages(folder: Path) -> Items:
    """Write messages into a file, as a user would have them, and load it."""
    import pandas as pd

    from samekind.data import load
    from samekind.datasets import make_messages

    texts, topics = make_messages(N_MESSAGES, random_state=0)
    path = folder / MESSAGES
    pd.DataFrame({"message": texts, "topic": topics}).to_csv(path, index=False)
    with needs(), users_values():
        return load(path, text="message", labels="topic")


def _next_steps(pile: Pile, folder: Path) -> list[str]:
    if pile is Pile.texts:
        own = folder / MESSAGES
        return [
            "Next:",
            f"  samekind label {own} --text message --show message",
            "                                               be the expert, on a page",
            "  samekind label YOUR.csv --text COLUMN        on a page, with your texts",
        ]
    return [
        "Next:",
        "  samekind label demo:digits                   be the expert, on a page",
        "  samekind label YOUR.csv                      on a page, with your data",
        "  samekind run YOUR.csv --labels COLUMN        a column of labels answers",
        "  samekind demo texts                          sorts messages instead of digits",
    ]
