"""What a model that answers first is doing, as far as somebody at the prompt has to know it."""

from __future__ import annotations

from collections.abc import Callable

from samekind.project import Project

__all__ = ["ModelNews"]


class ModelNews:
    """Says once that the model is waited for, and once why it answers no more."""

    def __init__(self, project: Project, say: Callable[[str], None]) -> None:
        self._model = project.assistant
        self._say = say
        self._told: set[str] = set()

    def is_at_work(self) -> bool:
        """Return whether the model may yet leave something for people; say so if it does not any more."""
        model = self._model
        if model is None or model.is_working:
            return model is not None
        text = f"{model.oracle.model} {model.state.rstrip('.')}."
        if model.has_failed:
            text += " You are asked without it: go on, or start it and then this command again."
        self._once(text)
        return False

    def say_waiting(self) -> None:
        """Say for whom one waits."""
        assert self._model is not None
        self._once(f"{self._model.oracle.model} answers first; wait for what it leaves to you …")

    def _once(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self._say(text)
