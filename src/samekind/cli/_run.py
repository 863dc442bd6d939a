"""``samekind run``."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import typer

from samekind.cli import _options as options
from samekind.cli._errors import UserError, explained, in_options, needs, users_values
from samekind.cli._models import CHAT, COMMAND, ModelOptions, cost_in_words, make_oracle

EXAMPLES = """[bold]Examples[/bold]

samekind run flowers.csv --labels species

samekind run flowers.csv --oracle terminal --exclude id --budget 300

samekind run messages.xlsx --text message --labels topic

samekind run digits.npz --labels y --read image_shape=8x8 --project digits.db

samekind run messages.csv --text message --oracle chat:llama@http://127.0.0.1:8000/v1 --criterion C

samekind run people.csv --records --labels person

samekind run 'readings/*.parquet' --labels device --columns voltage,current
"""


@explained
def run(
    context: typer.Context,
    data: options.File,
    labels: options.Labels = None,
    oracle: options.Oracle = "labels",
    criterion: options.Criterion = None,
    price: options.Price = None,
    cap: options.Cap = None,
    dry_run: options.DryRun = False,
    project: options.RunProject = None,
    text: options.Text = None,
    image: options.Image = None,
    features: options.Features = None,
    records: options.Records = None,
    link: options.Link = None,
    compare: options.Compare = None,
    block: options.Block = None,
    columns: options.Columns = None,
    exclude: options.Exclude = None,
    show: options.Show = None,
    read: options.Read = None,
    algorithm: options.Algorithm = None,
    budget: options.Budget = None,
    tolerance: options.Tolerance = None,
    error_rate: options.ErrorRate = None,
    settings: options.Settings = None,
    seed: options.Seed = 0,
    out: options.Out = Path("samekind-run"),
) -> int:
    """Sort data into kinds without a person: labels, a model or a program answers.

    Writes report.html, clusters.csv, centers.csv and clusters.npz into a folder. Large files, and folders of
    Parquet files, are not loaded into memory. Ctrl-C stops and writes what is known so far.
    """
    person, program = oracle == "terminal", oracle.startswith((CHAT, COMMAND))
    if not (person or program or oracle == "labels"):
        raise UserError(
            f"--oracle must be labels, terminal, chat:NAME@URL or command:PROGRAM, got {oracle!r}."
        )
    if labels is None and not person and not program:
        raise UserError(
            "nobody is there to answer. Name the column of the labels, --labels COLUMN, or answer "
            "yourself, --oracle terminal."
        )
    loading = options.loading_options(context.params)
    asking = options.algorithm_options(context.params)
    asking.setdefault("batch", 1 if person else 32 if program else "auto")
    if oracle.startswith(CHAT):
        asking.setdefault("error_rate", "estimate")

    from rich.console import Console

    from samekind.algorithms import DEFAULT, find_algorithm
    from samekind.cli._console import Passes
    from samekind.cli._job import PROJECT, Job, prepare_folder, run_job
    from samekind.data import load
    from samekind.oracles import ChatOracle
    from samekind.project import cache_of

    with users_values():
        is_records = loading.keys() & {"records", "compare", "block", "other"}
        chosen = find_algorithm(algorithm or ("records" if is_records else DEFAULT))
        of_session = {name: asking.pop(name) for name in options.SPACE if name in asking}
        chosen.Params.make(chosen.name, asking)  # complain before a long file is read
    asking |= of_session | {"algorithm": chosen.name, "budget": budget, "random_state": seed}
    screen = Console(stderr=True)
    with ExitStack() as stack:
        passes = stack.enter_context(Passes(screen))
        with needs(), users_values():
            kept = None if project is None else cache_of(project)
            items = load(data, **loading, cache=kept, progress=passes).distinct()
        answers = None
        if program:
            said = ModelOptions(oracle.removeprefix(CHAT), criterion, price, cap)
            answers = make_oracle(oracle, said, items)
            stack.callback(answers.close)
        if dry_run:
            if not isinstance(answers, ChatOracle):
                raise UserError("--dry-run is for a model: --oracle chat:NAME@URL")
            print(cost_in_words(answers, budget))
            return 0
        prepare_folder(out, keep=data, files=items.files)
        screen.print(in_options(items.summary()), markup=False, highlight=False, soft_wrap=True)
        return run_job(
            Job(
                items,
                out,
                title=data.name,
                settings=asking,
                person=person,
                oracle=answers,
                project=out / PROJECT if (person or program) and project is None else project,
                passes=passes,
            )
        )
