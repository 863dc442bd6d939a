"""In a notebook: the questions below a cell, as on the page, in JupyterLab, VS Code, Colab and marimo."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from samekind.data import Items
from samekind.engine import Session
from samekind.project import Project, open_project

if TYPE_CHECKING:
    from samekind.notebook.project_widget import ProjectWidget

__all__ = ["ProjectWidget", "widget"]


def __getattr__(name: str) -> object:
    if name != "ProjectWidget":  # which needs anywidget
        raise AttributeError(f"module 'samekind.notebook' has no attribute {name!r}")
    from samekind.notebook.project_widget import ProjectWidget

    return ProjectWidget


def widget(
    what: Project | Session | Items | Path | str, *, items: Items | None = None, who: str = ""
) -> ProjectWidget:
    """Return a widget that asks: pairs, line-ups and sheets, as on the page of ``samekind label``.

    It is shown where it is the last line of a cell. Answers go to the ledger of the project or session,
    at once; the cell's kernel takes them while it runs nothing else.

    Parameters
    ----------
    what : Project, Session, Items, path or str
        What to ask about: a project, or its file; a session, which stays the same; or items, of which
        nothing is kept on disk.
    items : Items or None
        What is shown of the rows of a session; by default their numbers.
    who : str
        Who is noted as having answered.

    Returns
    -------
    widget : ProjectWidget
        With `project`, `clusters()` and `refresh()`.

    Examples
    --------
    >>> import samekind
    >>> from samekind.data import demo_items
    >>> widget = samekind.notebook.widget(demo_items())  # doctest: +SKIP
    >>> widget.clusters().n_discovered_  # doctest: +SKIP
    0
    """
    try:
        from samekind.notebook.project_widget import ProjectWidget
    except ModuleNotFoundError as error:
        if error.name not in ("anywidget", "ipywidgets", "traitlets", "fastapi", "itsdangerous"):
            raise
        raise ImportError(
            "widget needs anywidget and FastAPI. Install them: pip install 'samekind[notebook]'."
        ) from error
    return ProjectWidget(_project(what, items), who)


def _project(what: object, items: Items | None) -> Project:
    if isinstance(what, Session):
        return Project(_items(what) if items is None else items, session=what)
    if items is not None:
        raise ValueError("items is what is shown of a session's rows; leave it out.")
    if isinstance(what, Project):
        return what
    if isinstance(what, Items):
        return Project(what)
    if isinstance(what, str | Path):
        return open_project(Path(what))
    raise TypeError(
        f"widget takes a Project, a Session, Items or a project's file, got {type(what).__name__}."
    )


def _items(session: Session) -> Items:
    """Return the rows of a session as items."""
    points = session.points
    names = [f"x{j}" for j in range(points.d)]
    return Items.of_array(points.rows(np.arange(points.n)), "rows", names)
