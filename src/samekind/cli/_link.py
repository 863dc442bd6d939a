"""``samekind link``."""

from __future__ import annotations

import typer

from samekind.cli import _options, _project_options, _record_options
from samekind.cli._asking import LOCAL, ask_about
from samekind.cli._errors import UserError, explained
from samekind.cli._places import is_project
from samekind.errors import no_such_file

EXAMPLES = """[bold]Examples[/bold]

samekind link customers.csv orders.csv --compare name:name,birth:date,city

samekind link a.csv b.csv --columns surname=last_name --question "Are these the same person?"
"""


@explained
def link(
    context: typer.Context,
    data: _record_options.First,
    other: _record_options.Second = None,
    columns: _record_options.SameColumns = None,
    compare: _record_options.Compare = None,
    block: _record_options.Block = None,
    exclude: _options.Exclude = None,
    show: _options.Show = None,
    headless: _options.Headless = False,
    title: _options.Title = None,
    question: _record_options.Question = None,
    terminal: _options.Terminal = False,
    who: _options.Who = None,
    project: _options.LabelProject = None,
    any_data: _project_options.AnyData = False,
    budget: _options.Presses = None,
    error_rate: _options.ErrorRate = None,
    tolerance: _options.Tolerance = None,
    seed: _options.Seed = None,
    host: _options.Host = LOCAL,
    port: _options.Port = None,
    no_browser: _options.NoBrowser = False,
) -> int:
    """Say which records of two files are the same: people, firms, papers.

    Each file is taken to have no duplicates of its own, so a record has at most one in the other.
    """
    knows_both = is_project(data)
    if (other is None) != knows_both:
        raise UserError(
            f"{data} is a project, which knows both of its files: leave {other} out."
            if knows_both
            else f"name the second file, too: samekind link {data} SECOND"
        )
    if other is not None and not other.exists():
        raise no_such_file(other)
    return ask_about(context)
