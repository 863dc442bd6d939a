"""``samekind classify``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from samekind.cli import _label_options as options
from samekind.cli._errors import INTERRUPTED, UserError, explained, needs, users_values
from samekind.cli._words import in_options

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from samekind.desk import Desk
    from samekind.terminal import Sorted
    from samekind.things import Things

__all__ = ["EXAMPLES", "classify"]

MOST_ROWS = 10  # that are named
EXAMPLES = """[bold]Examples[/bold]

samekind classify messages.samekind.db new.csv

samekind classify messages.samekind.db new.csv --predict -o kinds.csv
"""


@explained
def classify(
    project: options.ProjectFile,
    new: options.New,
    predict: options.Predict = False,
    labels: options.KindNames = None,
    who: options.Who = None,
    embeddings: options.NewEmbeddings = None,
    out: options.OutFile = None,
) -> int:
    """Sort new things into the kinds of a project, with about one question each, or none.

    Answers are kept beside the project; the same command goes on where it was.
    """
    if predict and labels is not None:
        raise UserError(
            "--predict asks nothing, so --labels has nothing to answer. Give one of them."
        )
    if not new.exists():
        raise UserError(f"{new} does not exist. Check the name.")
    path = out if out is not None else Path(f"{new.absolute().stem}.kinds.csv")
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise UserError(f"--out must be a .csv or .parquet file, got {path}.")
    if path.exists() and path.samefile(new):
        raise UserError(f"the kinds would replace the data, {new}. Name another file: --out FILE")

    from rich.console import Console
    from rich.text import Text

    from samekind.cli._projects import chat, loading, opened, plural
    from samekind.cli._results import replace_file

    screen = Console(stderr=True)
    code = 0
    with opened(project, screen) as desk:
        found = desk.clusters()
        if not found.n_discovered_:
            raise UserError(
                f"no kind is known in {project}. Answer first: samekind label {project}"
            )
        with needs(), users_values(), loading(screen) as progress:
            things = desk.things.like(new, embeddings=embeddings, progress=progress)
        for note in things.notes:
            chat(screen, f"  {in_options(note)}")
        if predict:
            result = _nothing_asked(things)
        elif labels is not None:
            result = _sorted_by_names(desk, things, labels)
        else:
            result, code = _sorted_by_person(desk, things, _beside(project, new), who, screen)
        table = _table(desk, things, result)
    replace_file(path, lambda beside: _write(table, beside, path.suffix.lower()))
    for line in _told(result):
        Console().print(Text(line))
    asked = plural(int(result.questions.sum()), "question")
    Console().print(
        Text(f"{path}  the kind of {plural(things.n, 'new row')}, with {asked}"), soft_wrap=True
    )
    return code


def _beside(project: Path, new: Path) -> Path:
    """Return where the answers about new things are kept."""
    return project.with_name(f"{project.stem}.{new.absolute().stem}.answers.db")


def _nothing_asked(things: Things) -> Sorted:
    import numpy as np

    from samekind.terminal import NOT_ASKED, Sorted

    return Sorted(np.full(things.n, NOT_ASKED), np.zeros(things.n, dtype=np.intp))


def _sorted_by_names(desk: Desk, things: Things, column: str) -> Sorted:
    """Let the names of the kinds, in a column, answer."""
    from samekind.errors import did_you_mean
    from samekind.terminal import Sorted

    names = [] if things.frame is None else [str(name) for name in things.frame.columns]
    if things.frame is None or column not in names:
        raise UserError(
            f"{things.source} has no column {column!r}.{did_you_mean(column, names)} "
            f"Its columns: {', '.join(names) or 'none'}."
        )
    found = desk.clusters()
    said = things.frame[column].astype(str).tolist()
    called: dict[int, str | None] = {}
    for members in found.members_:
        called |= dict.fromkeys(members.tolist(), desk.name_of(members.tolist()))
    if not any(called.values()):
        raise UserError(
            "no kind of the project has a name, so a column of names cannot answer. Name the kinds on "
            "the page, or with R at the prompt."
        )
    result = found.classify(
        things.X, lambda row, member: said[row - found.n_rows_] == called[member]
    )
    return Sorted(*result)


def _sorted_by_person(
    desk: Desk, things: Things, path: Path, who: str | None, screen: Console
) -> tuple[Sorted, int]:
    from samekind.cli._interrupts import Interrupts
    from samekind.cli._projects import chat, plural
    from samekind.ledger import SqlLedger
    from samekind.terminal import at_hand, sort_in_terminal, user_name

    with SqlLedger(path) as ledger, Interrupts() as interrupts:
        before = f", {plural(len(ledger), 'answer')} from before" if len(ledger) else ""
        chat(screen, f"{plural(things.n, 'new thing')}{before}. Answers are kept in {path}.")
        try:
            result = sort_in_terminal(
                desk,
                things,
                ledger,
                who=user_name() if who is None else who,
                console=screen,
                keys=at_hand(interrupts.while_reading),
            )
        except ValueError as error:
            raise UserError(f"{error} Move {path} away to start anew.") from error
        return result, INTERRUPTED if interrupts.count else 0


def _table(desk: Desk, things: Things, result: Sorted) -> pd.DataFrame:
    """Return a line for each new row: the user's columns, its kind, and whether somebody said so."""
    import numpy as np
    import pandas as pd

    found = desk.clusters()
    asked = result.clusters >= -1
    clusters = np.where(result.clusters >= 0, result.clusters, -1)
    open_rows = result.clusters == -3
    if open_rows.any():
        clusters[open_rows] = found.predict(things.X[open_rows])
    members = [rows.tolist() for rows in found.members_]
    firsts = np.array([*(rows[0] for rows in members), -1])
    names = np.array([*(desk.name_of(rows) or "" for rows in members), ""], dtype=object)
    table = pd.DataFrame(
        {
            "row": np.arange(things.n),
            "cluster": clusters,
            "kind": firsts[clusters],
            "name": names[clusters],
            "known": asked,
            "confidence": np.where(asked, 1.0, np.nan),
            "questions": result.questions,
        }
    )
    if things.frame is None:
        return table
    taken = {str(name) for name in things.frame.columns}
    table = table.rename(columns={name: f"samekind_{name}" for name in table if name in taken})
    return pd.concat([things.frame.reset_index(drop=True), table], axis=1)


def _write(table: pd.DataFrame, path: Path, suffix: str) -> None:
    from samekind.desk.exports import harmless

    if suffix == ".parquet":
        table.to_parquet(path, index=False)
        return
    column = "samekind_name" if "samekind_name" in table else "name"
    names = [harmless(name) for name in table[column]]
    table.assign(**{column: names}).to_csv(path, index=False)


def _told(result: Sorted) -> list[str]:
    """Say which rows are of no kind that is known, which are unclear, and which nobody was asked about."""
    import numpy as np

    from samekind.cli._projects import plural

    lines: list[str] = []
    for cluster, what in ((-1, "of no kind known so far"), (-2, "unclear"), (-3, "predicted")):
        rows: Any = np.flatnonzero(result.clusters == cluster)
        if rows.size:
            some = ", ".join(map(str, rows[:MOST_ROWS].tolist())) + " …" * (rows.size > MOST_ROWS)
            verb = "is" if rows.size == 1 else "are"
            listed = "" if cluster == -3 else f": {some}"
            lines.append(f"{plural(rows.size, 'new row')} {verb} {what}{listed}")
    return lines
