"""``samekind label``."""

from __future__ import annotations

from pathlib import Path

import typer

from samekind.cli import _models as models
from samekind.cli import _options as options
from samekind.cli import _project_options as own
from samekind.cli import _record_options as of_records
from samekind.cli._asking import LOCAL, ask_about
from samekind.cli._errors import UserError, explained

EXAMPLES = """[bold]Examples[/bold]

samekind label messages.csv --text message

samekind label photos/ --budget 300

samekind label people.csv --records --question "Are these the same person?"

samekind label messages.samekind.db --terminal

samekind label messages.csv --text message --model http://127.0.0.1:8000/v1 --model-name M --criterion C
"""


@explained
def label(
    context: typer.Context,
    data: options.Pile = None,
    text: options.Text = None,
    image: options.Image = None,
    features: options.Features = None,
    embeddings: options.Embeddings = None,
    records: of_records.AutoRecords = None,
    compare: of_records.Compare = None,
    block: of_records.Block = None,
    columns: options.Columns = None,
    exclude: options.Exclude = None,
    show: options.Show = None,
    raw: options.Raw = False,
    headless: options.Headless = False,
    sheet: options.Sheet = None,
    title: options.Title = None,
    demo: options.Demo = False,
    terminal: options.Terminal = False,
    who: options.Who = None,
    project: options.LabelProject = None,
    any_data: own.AnyData = False,
    budget: options.Presses = None,
    criterion: options.Criterion = None,
    overlap: options.Overlap = None,
    question: of_records.Question = None,
    no_lineup: options.NoLineup = False,
    sheets: options.Sheets = None,
    error_rate: options.ErrorRate = None,
    tolerance: options.Tolerance = None,
    metric: options.Metric = None,
    reduce: options.Reduced = None,
    model: models.Model = None,
    model_name: models.ModelName = None,
    model_budget: models.ModelBudget = None,
    price: models.Price = None,
    cap: models.Cap = None,
    in_flight: models.InFlight = 8,
    seed: options.Seed = None,
    host: options.Host = LOCAL,
    port: options.Port = None,
    no_browser: options.NoBrowser = False,
) -> int:
    """Say of your things which are of the same kind, on a page or at the prompt.

    Every answer is kept in a project. The same command, or samekind label PROJECT, goes on where it was.
    """
    if data is None and project is not None and not demo:
        if isinstance(project, Path) and not project.exists():
            raise UserError(f"there is no project {project}. Name your data, too, to make one.")
        data = context.params["data"] = project  # it knows what it is about
    if demo == (data is not None):
        raise UserError(
            "give either DATA or --demo, not both."
            if demo
            else "name your data, or look at the demo: samekind label --demo"
        )
    return ask_about(context)
