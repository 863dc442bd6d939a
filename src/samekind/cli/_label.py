"""``samekind label``: ask somebody about their items, on a page or at the prompt."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from samekind.cli import _options as options
from samekind.cli._console import Interrupts, Passes, chat, plural
from samekind.cli._errors import (
    INTERRUPTED,
    UserError,
    explained,
    in_options,
    needs,
    users_values,
)
from samekind.cli._models import ModelOptions
from samekind.cli._opening import Opening, check_packages, has_display
from samekind.cli._places import Place, is_demo, is_project, is_same
from samekind.errors import Message, Parameter, no_such_file

if TYPE_CHECKING:
    from rich.console import Console

    from samekind.project import Project

EXAMPLES = """[bold]Examples[/bold]

samekind label messages.csv --text message

samekind label photos/ --budget 300

samekind label people.csv --records --criterion "Are these the same person?"

samekind label customers.csv --link orders.csv --columns surname=last_name

samekind label messages.samekind.db --terminal

samekind label messages.csv --text message --model llama@http://127.0.0.1:8000/v1 --criterion C
"""
WITH_MODEL = {"error_rate": "estimate", "lineup": 1, "sheet": 0, "batch": 16}  # it may err


@explained
def label(
    context: typer.Context,
    data: options.Pile = None,
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
    terminal: options.Terminal = False,
    who: options.Who = None,
    project: options.LabelProject = None,
    budget: options.Presses = None,
    criterion: options.Criterion = None,
    error_rate: options.ErrorRate = None,
    tolerance: options.Tolerance = None,
    settings: options.Settings = None,
    model: options.Model = None,
    model_budget: options.ModelBudget = None,
    price: options.Price = None,
    cap: options.Cap = None,
    port: options.Port = None,
    no_browser: options.NoBrowser = False,
) -> int:
    """Sort your items into kinds by answering questions, on a page or at the prompt.

    Every answer is kept in a project. The same command, or samekind label PROJECT, continues it.
    """
    from rich.console import Console

    if data is None and project is not None:
        if isinstance(project, Path) and not project.exists():
            raise UserError(f"there is no project {project}. Name your data, too, to make one.")
        data = project
    if data is None:
        raise UserError("name your data, or look at the demo: samekind label demo:digits")
    given = context.params
    where = _project_of(data, project)
    _check_ahead(given, data, where)
    loading, asking = options.loading_options(given), options.algorithm_options(given)
    if budget is not None:
        asking["budget"] = budget
    if model is not None:
        asking = WITH_MODEL | asking
    screen = Console(stderr=True)
    with Opening(screen) as opening:
        if not terminal:
            opening.serve(where, port, open_browser=has_display() and not no_browser)
        from samekind.cli._projects import print_found, print_next  # once the page listens

        opened = _open(data, where, loading, asking, screen, opening)
        with closing(opened):
            if criterion is not None:
                with users_values(where):
                    opened.standing.set_criterion(criterion)
            if model is not None:
                _let_model_answer(opened, ModelOptions(model, criterion, price, cap), model_budget)
            _introduce(opened, where, screen)
            code = 0
            if terminal:
                opening.go_on()
                code = _ask_here(opened, who, screen)
            else:
                opening.hand_over(opened)
            if opened.standing.stop_reason is None:
                opened.standing.leave()
            print_found(opened)
            print_next(where)
    return code


def _project_of(data: Place, project: Place | None) -> Place:
    """Return where the answers are kept."""
    if is_project(data):
        if project is not None and not is_same(project, data):
            raise UserError(f"{data} is a project itself: leave --project out.")
        return data
    if project is not None:
        return project
    if is_demo(data):
        folder = Path("samekind-demo")
        folder.mkdir(exist_ok=True)
        return folder / "digits.db"
    assert isinstance(data, Path)
    whole = data.expanduser().absolute()
    name = whole.name if whole.is_dir() else whole.stem
    plain = re.sub(r"[*?\[\]]+", "", name)  # of a pattern
    return Path(f"{plain or whole.parent.name}.samekind.db")


def _check_ahead(given: dict[str, Any], data: Place, where: Place) -> None:
    """Complain, before there is a page, of what can be seen without the data, and at once."""
    is_pattern = any(sign in str(data) for sign in "*?[")
    for file in (data, *(given["link"] or ())):
        if not isinstance(file, Path) or is_demo(file) or is_pattern:
            continue
        if not file.exists():
            raise no_such_file(file)
        is_empty = file.is_file() and not file.stat().st_size
        if not is_project(file) and (is_empty or (file.is_dir() and not any(file.iterdir()))):
            raise UserError(f"{file} is empty. Check the name, or what was to write it.")
    if not given["terminal"]:
        check_packages()
    if not isinstance(where, Path):
        from samekind.project import features_of

        features_of(where)  # does it answer?
    loading = options.loading_options(given)
    if (features := loading.get("features")) is not None:
        from samekind.data.feature_names import check_features

        with users_values():
            check_features(features)
    if given["model"] is not None:
        is_new = isinstance(where, Path) and not where.exists()
        criterion = given["criterion"] or (None if is_new else "perhaps in the project")
        ModelOptions(given["model"], criterion, given["price"], given["cap"]).check()


def _open(
    data: Place,
    path: Place,
    loading: dict[str, Any],
    asking: dict[str, Any],
    screen: Console,
    opening: Opening,
) -> Project:
    from samekind.data import load
    from samekind.project import cache_of, features_of, make_project, open_project

    with needs(), users_values(path), Passes(screen) as passes:
        tick = opening.heard_by(passes)
        if data == path or not isinstance(data, Path):
            if loading:
                names = ", ".join(in_options(Message(Parameter(name))) for name in loading)
                raise UserError(f"{path} remembers its data: leave {names} out.")
            return open_project(path, progress=tick, on_items=opening.loaded, **asking)
        before = features_of(path)
        if before is None and not is_demo(data):
            loading.setdefault("records", "auto")
        if not loading.keys() & {"features", "embeddings", "columns", "records"}:
            loading["features"] = before or "auto"
        items = load(str(data), **loading, cache=cache_of(path), progress=tick)
        opening.loaded(items)
        if items.is_records:
            asking = {"algorithm": "records"} | asking
            for name in ("lineup", "sheet"):  # records are compared two by two
                asking.pop(name, None)
        return make_project(items, path, **asking)


def _let_model_answer(project: Project, model: ModelOptions, budget: int | None) -> None:
    """Let a model answer in the background."""
    from dataclasses import replace

    from samekind.project import Assistant

    if model.criterion is None:
        model = replace(model, criterion=project.standing.criterion)
    project.assistant = Assistant(project, model.make(project.items), budget=budget)
    project.assistant.start()


def _introduce(project: Project, path: Place, screen: Console) -> None:
    items, before = project.items, len(project.session.ledger)
    what = "picture" if items.medium == "image" else items.medium
    verb = "is" if before == 1 else "are"
    lines = [f"{plural(items.whole.n, what)} from {items.source}."]
    lines += [f"  {in_options(note)}" for note in items.notes]
    chat(screen, "\n".join(lines))
    if project.notices:
        chat(screen, "\n".join(project.notices), wrap=True)
    chat(
        screen,
        f"{plural(before, 'answer')} from before {verb} in {path}."
        if before
        else f"Answers are kept in {path}.",
    )


def _ask_here(project: Project, who: str | None, screen: Console) -> int:
    from samekind.terminal import answer_in_terminal, keys_at_hand

    if project.standing.stop_reason == "user":
        project.standing.resume()  # whoever sits down wants to be asked
    with Interrupts() as interrupts:
        keys = keys_at_hand(interrupts.while_reading)
        try:
            answer_in_terminal(project, who=who, console=screen, keys=keys)
        except KeyboardInterrupt:
            project.standing.leave()
            screen.print()
        return INTERRUPTED if interrupts.count else 0
