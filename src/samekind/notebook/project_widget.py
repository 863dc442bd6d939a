"""The widget: the project's questions below a cell."""

from __future__ import annotations

from typing import Any

import anywidget

from samekind.clusters import Clusters
from samekind.notebook.bundle import bundle
from samekind.notebook.messages import MessageApi
from samekind.project import Project

__all__ = ["ProjectWidget"]


class ProjectWidget(anywidget.AnyWidget):
    """The questions of a project, below a cell of a notebook; made by `samekind.notebook.widget`.

    Parameters
    ----------
    project : Project
        What is asked about. All that is answered is in its ledger.
    who : str
        Who is noted as having answered.
    """

    _esm = bundle()

    def __init__(self, project: Project, who: str = "") -> None:
        super().__init__()
        self.project = project
        self._api = MessageApi(project, who)
        self.on_msg(self._heard)

    def _heard(self, _: object, message: Any, buffers: object) -> None:
        reply = self._api.reply(message)
        if reply is not None:
            self.send(reply)

    def clusters(self) -> Clusters:
        """Return what was found so far."""
        return self.project.clusters()

    def refresh(self) -> None:
        """Show what is asked now, after something was changed elsewhere."""
        self.send({"changed": True})
