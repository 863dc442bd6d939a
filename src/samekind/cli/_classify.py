"""``samekind classify``."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from samekind.cli import _options as options
from samekind.cli._errors import INTERRUPTED, UserError, explained, needs, users_values
from samekind.cli._words import in_options

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from samekind.algorithms import Classified
    from samekind.data import Items
    from samekind.project import Project

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
    path = out or Path(f"{new.absolute().stem}.kinds.csv")
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise UserError(f"--out must be a .csv or .parquet file, got {path}.")
    if path.exists() and path.samefile(new):
        raise UserError(f"the kinds would replace the data, {new}. Name another file: --out FILE")

    import numpy as np
    from rich.console import Console
    from rich.text import Text

    from samekind.algorithms import Classified
    from samekind.cli._passes import Passes
    from samekind.cli._projects import chat, opened, plural
    from samekind.cli._results import replace_file
    from samekind.engine import NOT_ASKED
    from samekind.project import write_csv

    def write(beside: Path) -> None:
        if path.suffix.lower() == ".parquet":
            table.to_parquet(beside, index=False)
        else:
            write_csv(table, beside)

    screen = Console(stderr=True)
    code = 0
    with opened(project, screen) as known:
        if not known.clusters().n_discovered_:
            raise UserError(
                f"no kind is known in {project}. Answer first: samekind label {project}"
            )
        with needs(), users_values(), Passes(screen) as passes:
            items = known.items.load_new(new, embeddings=embeddings, progress=passes)
        for note in items.notes:
            chat(screen, f"  {in_options(note)}")
        if predict:
            result = Classified(np.full(items.n, NOT_ASKED), np.zeros(items.n, dtype=np.intp))
        elif labels is not None:
            result = _classified_by_names(known, items, labels)
        else:
            answers = project.with_name(f"{project.stem}.{new.absolute().stem}.answers.db")
            result, code = _classified_by_person(known, items, answers, who, screen)
        table = _table(known, items, result)
    replace_file(path, write)
    for line in _told(result):
        Console().print(Text(line))
    asked = plural(int(result.n_asked.sum()), "question")
    Console().print(
        Text(f"{path}  the kind of {plural(items.n, 'new row')}, with {asked}"), soft_wrap=True
    )
    return code


def _classified_by_names(project: Project, items: Items, column: str) -> Classified:
    """Let the names of the clusters, in a column, answer."""
    from samekind.errors import no_such_column

    names = [] if items.frame is None else [str(name) for name in items.frame.columns]
    if items.frame is None or column not in names:
        raise UserError(str(no_such_column(items.source, "--labels", column, names)))
    found = project.clusters()
    given = items.frame[column].astype(str).tolist()
    name_of: dict[int, str | None] = {}
    for members in found.members_:
        name_of |= dict.fromkeys(members.tolist(), project.name_of(members.tolist()))
    if not any(name_of.values()):
        raise UserError(
            "no kind of the project has a name, so a column of names cannot answer. Name the kinds on "
            "the page, or with R at the prompt."
        )
    return found.classify(
        items.X, lambda row, member: given[row - found.n_rows_] == name_of[member]
    )


def _classified_by_person(
    project: Project, items: Items, path: Path, who: str | None, screen: Console
) -> tuple[Classified, int]:
    from samekind.cli._interrupts import Interrupts
    from samekind.cli._projects import chat, plural
    from samekind.engine import ClassifySession, OtherDataError
    from samekind.ledger import SqlLedger
    from samekind.terminal import classify_in_terminal, keys_at_hand, user_name

    with SqlLedger(path) as ledger, Interrupts() as interrupts:
        before = f", {plural(len(ledger), 'answer')} from before" if len(ledger) else ""
        chat(screen, f"{plural(items.n, 'new thing')}{before}. Answers are kept in {path}.")
        try:
            session = ClassifySession(project.clusters(), items.X, ledger=ledger)
        except OtherDataError as error:
            raise UserError(
                f"the answers kept about {items.source} are about other rows: it has changed since. "
                f"Move {path} away to start anew."
            ) from error
        name = user_name() if who is None else who
        keys = keys_at_hand(interrupts.while_reading)
        with suppress(KeyboardInterrupt):
            classify_in_terminal(session, project, items, who=name, console=screen, keys=keys)
        return session.result(), INTERRUPTED if interrupts.count else 0


def _table(project: Project, items: Items, result: Classified) -> pd.DataFrame:
    """Return a line for each new row: the user's columns, its cluster, and whether somebody said so."""
    import numpy as np
    import pandas as pd

    from samekind.engine import NOT_ASKED
    from samekind.project import beside_own_columns, name_in_table

    found = project.clusters()
    asked = result.labels >= -1
    clusters = np.where(result.labels >= 0, result.labels, -1)
    open_rows = result.labels == NOT_ASKED
    if open_rows.any():
        clusters[open_rows] = found.predict(items.X[open_rows])
    refs = project.refs()
    numbers = np.array([*(ref.number for ref in refs), -1])
    names = np.array([*map(name_in_table, refs), "no kind"], dtype=object)
    table = pd.DataFrame(
        {
            "row": np.arange(items.n),
            "kind": numbers[clusters],
            "name": names[clusters],
            "name_is_proposed": np.array([*(ref.name is None for ref in refs), True])[clusters],
            "known": asked,
            "confidence": np.where(asked, 1.0, np.nan),
            "questions": result.n_asked,
        }
    )
    return beside_own_columns(items.frame, table)


def _told(result: Classified) -> list[str]:
    """Say which rows are of no kind that is known, which are unclear, and which nobody was asked about."""
    import numpy as np

    from samekind.cli._projects import plural

    lines: list[str] = []
    for cluster, what in ((-1, "of no kind known so far"), (-2, "unclear"), (-3, "predicted")):
        rows = np.flatnonzero(result.labels == cluster)
        if rows.size:
            some = ", ".join(map(str, rows[:MOST_ROWS].tolist())) + " …" * (rows.size > MOST_ROWS)
            verb = "is" if rows.size == 1 else "are"
            listed = "" if cluster == -3 else f": {some}"
            lines.append(f"{plural(rows.size, 'new row')} {verb} {what}{listed}")
    return lines
