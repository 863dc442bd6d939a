"""``samekind classify``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from samekind.cli import _options as options
from samekind.cli._console import chat
from samekind.cli._errors import (
    INTERRUPTED,
    UserError,
    explained,
    in_options,
    needs,
    users_values,
)
from samekind.errors import no_such_file

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from samekind.algorithms import Classified
    from samekind.data import Items
    from samekind.flow import IntArray
    from samekind.project import Project

MOST_ROWS = 10  # that are named
BATCH = 4_096  # rows asked about at once where a column answers
EXAMPLES = """[bold]Examples[/bold]

samekind classify messages.samekind.db new.csv

samekind classify messages.samekind.db new.csv --predict -o kinds.csv
"""


New = Annotated[
    Path, typer.Argument(metavar="NEW", help="New items, of the same form as those of the project.")
]
Predict = Annotated[
    bool, options.plain(None, "Ask nothing: take the nearest kind of each row.", "--predict")
]
KindNames = Annotated[
    str | None,
    options.plain("COLUMN", "The column of NEW whose names of kinds answer.", "--labels"),
]
Embeddings = Annotated[
    Path | None,
    options.plain("FILE", "Embeddings of the new items, if the project has such.", "--features"),
]
OutFile = Annotated[
    Path | None,
    options.plain(
        "FILE.csv",
        "Where the kinds go: .csv or .parquet; by default NEW's name with .kinds.csv.",
        *("--out", "-o"),
    ),
]


@explained
def classify(
    project: options.ProjectFile,
    new: New,
    predict: Predict = False,
    labels: KindNames = None,
    who: options.Who = None,
    embeddings: Embeddings = None,
    out: OutFile = None,
) -> int:
    """Sort new things into the kinds of a project, with about one question each, or none.

    What fits none is the first of a new kind. Answers are kept beside the project; the same command goes on
    where it was, also if the new things or those of the project have changed since.
    """
    if predict and labels is not None:
        raise UserError(
            "--predict asks nothing, so --labels has nothing to answer. Give one of them."
        )
    if not new.exists():
        raise no_such_file(new)
    path = out or Path(f"{new.absolute().stem}.kinds.csv")
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise UserError(f"--out must be a .csv or .parquet file, got {path}.")
    if path.exists() and path.samefile(new):
        raise UserError(f"the kinds would replace the data, {new}. Name another file: --out FILE")

    import numpy as np
    from rich.console import Console
    from rich.text import Text

    from samekind.algorithms import Classified
    from samekind.cli._console import Passes, plural
    from samekind.cli._projects import opened, replace_file
    from samekind.engine import NOT_ASKED
    from samekind.project import beside_own_columns, cache_of, new_rows_table, write_csv

    def write(beside: Path) -> None:
        if path.suffix.lower() == ".parquet":
            table.to_parquet(beside, index=False)
        else:
            write_csv(table, beside)

    screen = Console(stderr=True)
    code, names = 0, list[str]()
    with opened(project, screen) as known:
        if not known.clusters().n_discovered_:
            raise UserError(
                f"no kind is known in {project}. Answer first: samekind label {project}"
            )
        with needs(), users_values(), Passes(screen) as passes:
            items = known.items.load_new(new, embeddings=embeddings, progress=passes).distinct()
        for note in items.notes:
            chat(screen, f"  {in_options(note)}")
        if predict:
            result = Classified(np.full(items.n, NOT_ASKED), np.zeros(items.n, dtype=np.intp))
        else:
            beside = cache_of(project)
            answers = beside.with_name(f"{beside.name}.{new.absolute().stem}.answers.db")
            result, code = _classified(known, items, answers, labels, who, screen)
        if labels is not None and items.frame is not None:
            names = items.frame[labels].astype(str).tolist()
        own = new_rows_table(known, items, result, lambda row: names[row] if names else "")
        table = beside_own_columns(items.whole.frame, own)
    replace_file(path, write)
    copies = items.copies
    labels_of_rows = result.labels if copies is None else result.labels[copies.item_of]
    for line in _told(labels_of_rows, own):
        Console().print(Text(line))
    asked = plural(int(result.n_asked.sum()), "question")
    Console().print(
        Text(f"{path}  the kind of {plural(items.whole.n, 'new row')}, with {asked}"),
        soft_wrap=True,
    )
    return code


def _classified(
    project: Project, items: Items, path: Path, labels: str | None, who: str | None, screen: Console
) -> tuple[Classified, int]:
    """Let a column of names answer, or the person here; every answer is kept in a ledger of its own."""
    from samekind.cli._console import Interrupts, plural
    from samekind.engine import OtherDataError, answer_with
    from samekind.ledger import Ledger
    from samekind.oracles import FunctionOracle
    from samekind.project import classify_new
    from samekind.terminal import classify_in_terminal, keys_at_hand, user_name

    oracle = None if labels is None else _names_answer(project, items, labels)
    with Ledger(path) as ledger, Interrupts() as interrupts:
        before = f", {plural(len(ledger), 'answer')} from before" if len(ledger) else ""
        chat(screen, f"{plural(items.n, 'new thing')}{before}. Answers are kept in {path}.")
        try:
            session = classify_new(project, items, ledger, batch=1 if oracle is None else BATCH)
        except OtherDataError as error:
            raise UserError(
                f"the answers kept about {items.source} are about other rows: it has changed since. "
                f"Move {path} away to start anew."
            ) from error
        if oracle is not None:
            answer_with(session, FunctionOracle(oracle, name=f"column {labels}"))
            return session.result(), 0
        name = user_name() if who is None else who
        keys = keys_at_hand(interrupts.while_reading)
        with suppress(KeyboardInterrupt):
            classify_in_terminal(session, project, items, who=name, console=screen, keys=keys)
        return session.result(), INTERRUPTED if interrupts.count else 0


def _names_answer(project: Project, items: Items, column: str) -> Callable[[int, int], bool]:
    from samekind.errors import no_such_column
    from samekind.project import ProjectError, oracle_of_names

    names = [] if items.frame is None else [str(name) for name in items.frame.columns]
    if column not in names:
        raise UserError(str(no_such_column(items.source, "--labels", column, names)))
    try:
        answer, _ = oracle_of_names(project, items, column)
    except ProjectError as error:
        raise UserError(str(error)) from error
    return answer


def _told(labels: IntArray, table: pd.DataFrame) -> list[str]:
    """Say which rows are of new kinds, which are unclear, and which nobody was asked about."""
    import numpy as np

    from samekind.cli._console import plural

    lines: list[str] = []
    for name, those in table[table.new_kind].groupby("name", sort=False):
        lines.append(
            f"{name}: {plural(len(those), 'new row')} of no kind known so far: {_some(those.row)}"
        )
    for cluster, what in ((-2, "unclear"), (-3, "predicted")):
        rows = np.flatnonzero(labels == cluster)
        if rows.size:
            verb = "is" if rows.size == 1 else "are"
            listed = "" if cluster == -3 else f": {_some(rows)}"
            lines.append(f"{plural(rows.size, 'new row')} {verb} {what}{listed}")
    return lines


def _some(rows: Iterable[int]) -> str:
    listed = [str(row) for row in rows]
    return ", ".join(listed[:MOST_ROWS]) + " …" * (len(listed) > MOST_ROWS)
