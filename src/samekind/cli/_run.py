"""``samekind run``."""

from __future__ import annotations

import re
from contextlib import ExitStack
from pathlib import Path

import typer

from samekind.cli import _models as models
from samekind.cli import _options as options
from samekind.cli import _record_options as of_records
from samekind.cli._errors import UserError, explained, needs, users_values
from samekind.cli._words import in_options

EXAMPLES = """[bold]Examples[/bold]

samekind run flowers.csv --labels species

samekind run flowers.csv --oracle terminal --exclude id --budget 300

samekind run messages.xlsx --text message --labels topic

samekind run digits.npz --labels y --images 8x8 --project digits.db

samekind run messages.csv --text message --oracle chat:http://127.0.0.1:8000/v1 --model-name M --criterion C
samekind run people.csv --records --labels person

samekind run 'readings/*.parquet' --labels device --columns voltage,current
"""


@explained
def run(
    context: typer.Context,
    data: options.File,
    labels: options.Labels = None,
    oracle: options.Oracle = "labels",
    who: options.Who = None,
    model_name: models.ModelName = None,
    criterion: options.Criterion = None,
    price: models.Price = None,
    cap: models.Cap = None,
    in_flight: models.InFlight = 8,
    dry_run: models.DryRun = False,
    project: options.RunProject = None,
    text: options.Text = None,
    image: options.Image = None,
    features: options.Features = None,
    embeddings: options.Embeddings = None,
    records: of_records.Records = False,
    compare: of_records.Compare = None,
    block: of_records.Block = None,
    other: of_records.Other = None,
    columns: options.Columns = None,
    exclude: options.Exclude = None,
    show: options.Show = None,
    raw: options.Raw = False,
    headless: options.Headless = False,
    sheet: options.Sheet = None,
    images: options.Images = None,
    algorithm: options.Algorithm = None,
    budget: options.Budget = None,
    target: options.Target = None,
    epsilon: options.Epsilon = None,
    heavy: options.Heavy = None,
    tolerance: options.Tolerance = None,
    error_rate: options.ErrorRate = None,
    batch: options.Batch = None,
    metric: options.Metric = None,
    reduce: options.Reduced = None,
    seed: options.Seed = 0,
    out: options.Out = Path("samekind-run"),
    quiet: options.Quiet = False,
) -> int:
    """Find the kinds in your own data.

    Writes report.html, clusters.csv, centers.csv and clusters.npz into a folder.

    Large files, and folders of Parquet files, are not loaded into memory.

    Ctrl-C stops, and writes what is known so far.
    """
    person, program = oracle == "terminal", oracle.startswith((models.CHAT, models.COMMAND))
    if not (person or program or oracle == "labels"):
        raise UserError(
            f"--oracle must be labels, terminal, chat:URL or command:PROGRAM, got {oracle!r}."
        )
    if labels is None and not person and not program:
        raise UserError(
            "nobody is there to answer. Name the column of the labels, --labels COLUMN, or answer "
            "yourself, --oracle terminal."
        )
    loading = options.loading_options(context.params)
    if images is not None:
        loading["image_shape"] = _shape(images)
    settings = options.algorithm_options(context.params)
    compared = options.space_options(context.params)
    whole = options.number_or("auto", "--batch", batch, int)
    settings["batch"] = whole if whole is not None else 1 if person else 32 if program else "auto"
    if oracle.startswith(models.CHAT):
        settings.setdefault("error_rate", "estimate")

    from rich.console import Console

    from samekind.algorithms import DEFAULT, find_algorithm
    from samekind.cli._job import Job, run_job
    from samekind.cli._passes import Passes
    from samekind.cli._results import PROJECT, prepare_folder
    from samekind.data import load
    from samekind.oracles import ChatOracle
    from samekind.project import cache_of

    with users_values():
        is_records = loading.keys() & {"records", "compare", "block", "other"}
        chosen = find_algorithm(algorithm or ("records" if is_records else DEFAULT))
        chosen.Params.make(chosen.name, settings)  # complain before a long file is read
    settings |= compared | {"algorithm": chosen.name, "budget": budget, "random_state": seed}
    chat = Console(stderr=True, quiet=quiet)
    with ExitStack() as stack:
        passes = stack.enter_context(Passes(chat))
        with needs(), users_values():
            kept = None if project is None else cache_of(project)
            items = load(data, **loading, cache=kept, progress=passes)
        answers = None
        if program:
            said = (model_name, criterion, price, cap, in_flight)
            url = oracle.removeprefix(models.CHAT)
            answers = models.make_oracle(oracle, models.ModelOptions(url, *said), items)
            stack.callback(answers.close)
        if dry_run:
            if not isinstance(answers, ChatOracle):
                raise UserError("--dry-run is for a model: --oracle chat:URL")
            print(models.cost_in_words(answers, budget))
            return 0
        prepare_folder(out, keep=data, files=items.files)
        chat.print(in_options(items.summary()), markup=False, highlight=False, soft_wrap=True)
        return run_job(
            Job(
                items,
                out,
                title=data.name,
                settings=settings,
                person=person,
                oracle=answers,
                who=who,
                project=out / PROJECT if (person or program) and project is None else project,
                quiet=quiet,
                passes=passes,
            )
        )


def _shape(given: str) -> tuple[int, int]:
    match = re.fullmatch(r"([1-9]\d*)[x×]([1-9]\d*)", given, flags=re.ASCII)
    if match is None:
        raise UserError(f"--images must be height x width, such as 8x8, got {given!r}.")
    return int(match[1]), int(match[2])
