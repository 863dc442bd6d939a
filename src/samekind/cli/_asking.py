"""Ask somebody about their things, on a page or at the prompt: what `label` and `link` do."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from samekind.cli import _models as models
from samekind.cli import _options as options
from samekind.cli._errors import INTERRUPTED, UserError, needs, users_values
from samekind.cli._opening import Opening, check_packages, has_display
from samekind.cli._places import Place, is_project, is_same
from samekind.cli._words import chat, in_options
from samekind.errors import no_such_file

if TYPE_CHECKING:
    from rich.console import Console

    from samekind.project import Project

LOCAL = "127.0.0.1"


def ask_about(context: typer.Context) -> int:
    """Open or make the project that the options of a command speak of, and ask."""
    given = context.params
    data, project, terminal = given.get("data"), given["project"], given["terminal"]
    demo = bool(given.get("demo"))
    chosen = options.loading_options(given)
    own = {"title": given["title"], "budget": given["budget"], "random_state": given["seed"]}
    settings = {name: value for name, value in own.items() if value is not None}
    settings |= options.algorithm_options(given) | options.space_options(given)
    if given.get("model") is not None:  # which may err
        settings = {"error_rate": "estimate", "lineup": 1, "sheet": 0, "batch": 16} | settings
    is_pattern = any(sign in str(data) for sign in "*?[")
    if isinstance(data, Path) and not data.exists() and not is_pattern:
        raise no_such_file(data)
    if not terminal:
        check_packages()

    from contextlib import closing

    from rich.console import Console

    screen = Console(stderr=True)
    where = _project(data, project, demo)
    _check_ahead(given, data, where)
    settings |= {"any_data": True} if given["any_data"] else {}
    shown = has_display() and not given["no_browser"]
    with Opening(screen) as opening:
        if not terminal:
            opening.serve(where, given["host"], given["port"], open_browser=shown)
        from samekind.cli._projects import print_found, print_next  # once the page listens

        if "records" not in chosen and given.get("records") is None:
            chosen["records"] = "auto"
        opened = _open(None if demo else data, where, chosen, settings, screen, opening)
        opened.questions.lineups = not given.get("no_lineup")
        with closing(opened):
            with users_values(where):
                if (criterion := given.get("criterion") or given.get("question")) is not None:
                    opened.standing.set_criterion(criterion)
                if given.get("overlap") is not None:
                    opened.team.set_overlap(given["overlap"])
                if given.get("sheets") is not None:
                    opened.questions.use_sheets(given["sheets"])
            if given.get("model") is not None:
                _let_model_answer(opened, given)
            _introduce(opened, where, screen)
            code = 0
            if terminal:
                opening.go_on()
                code = _ask_here(opened, given["who"], screen)
            else:
                opening.hand_over(opened)
            if opened.standing.stop_reason is None:
                opened.standing.leave()
            print_found(opened)
            print_next(where)
    return code


def _let_model_answer(project: Project, given: dict[str, Any]) -> None:
    """Let a model answer in the background, as the options say."""
    from samekind.project import Assistant

    chosen = _model_options(given, given["criterion"] or project.standing.criterion)
    project.assistant = Assistant(project, chosen.make(project.items), budget=given["model_budget"])
    project.assistant.start()


def _model_options(given: dict[str, Any], criterion: str | None) -> models.ModelOptions:
    said = (given[name] for name in ("price", "cap", "in_flight"))
    return models.ModelOptions(given["model"], given["model_name"], criterion, *said)


def _check_ahead(given: dict[str, Any], data: Place | None, where: Place) -> None:
    """Complain, before there is a page, of what can be seen without the data, and at once."""
    if isinstance(data, Path) and not is_project(data):
        is_empty = data.is_file() and not data.stat().st_size
        if is_empty or (data.is_dir() and not any(data.iterdir())):
            raise UserError(f"{data} is empty. Check the name, or what was to write it.")
    if not isinstance(where, Path):
        from samekind.project import features_of

        features_of(where)  # does it answer?
    if given.get("features") is not None:
        from samekind.data.feature_names import check_features

        with users_values():
            check_features(given["features"])
    if given.get("model") is not None:
        is_new = isinstance(where, Path) and not where.exists()
        kept = None if is_new else "a criterion that may be kept in the project"
        _model_options(given, given["criterion"] or given["question"] or kept).check()


def _project(data: Place | None, project: Place | None, demo: bool) -> Place:
    """Return where the answers are kept."""
    if data is not None and is_project(data):
        if project is not None and not is_same(project, data):
            raise UserError(f"{data} is a project itself: leave --project out.")
        return data
    if project is not None:
        return project
    if demo:
        folder = Path("samekind-demo")
        folder.mkdir(exist_ok=True)
        return folder / "digits.db"
    assert isinstance(data, Path)
    whole = data.expanduser().absolute()
    name = whole.name if whole.is_dir() else whole.stem
    plain = re.sub(r"[*?\[\]]+", "", name)  # of a pattern
    return Path(f"{plain or whole.parent.name}.samekind.db")


def _open(
    data: Place | None,
    path: Place,
    chosen: dict[str, Any],
    settings: dict[str, Any],
    screen: Console,
    opening: Opening,
) -> Project:
    from samekind.cli._passes import Passes
    from samekind.data import DEMO, load
    from samekind.ledger import ProjectURL
    from samekind.project import cache_of, features_of, make_project, open_project

    with needs(), users_values(path), Passes(screen) as passes:
        tick = opening.heard_by(passes)
        if data == path or isinstance(data, ProjectURL):
            chosen = {name: value for name, value in chosen.items() if value != "auto"}
            if chosen:
                negative = {"header": "no-header", "standardize": "no-standardize"}
                names = ", ".join(f"--{negative.get(name, name)}" for name in chosen)
                raise UserError(f"{path} knows what it is about: leave {names} out.")
            return open_project(path, progress=tick, on_items=opening.wait, **settings)
        before = features_of(path)
        if chosen.get("records") == "auto" and (before is not None or data is None):
            del chosen["records"]  # the project is of no records
        if not chosen.keys() & {"features", "embeddings", "columns", "records"}:
            chosen["features"] = before or "auto"
        items = load(data or DEMO, **chosen, cache=cache_of(path), progress=tick)
        opening.wait(items)
        if items.is_records:
            settings = {"algorithm": "records"} | settings
            for name in ("lineup", "sheet"):  # records are compared two by two
                settings.pop(name, None)
        return make_project(items, path, **settings)


def _introduce(project: Project, path: Place, screen: Console) -> None:
    from samekind.cli._projects import plural

    items, before = project.items, len(project.session.ledger)
    what = "picture" if items.medium == "image" else items.medium
    verb = "is" if before == 1 else "are"
    lines = [f"{plural(items.n, what)} from {items.source}."]
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
    from samekind.cli._interrupts import Interrupts
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
