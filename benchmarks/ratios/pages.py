"""What a person at the page waits for, over HTTP: the 95th of a hundred presses, in seconds of the clock.

Where the machine is busy with other things, the processor's time, which stands beside it, tells more.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

import numpy as np

import samekind
from benchmarks.ratios import Ratio, Setting, SkippedError
from benchmarks.ratios.clock import compile_all

if TYPE_CHECKING:
    import httpx


__all__ = ["pages"]

Json = dict[str, Any]
Taken = tuple[float, float]  # of the clock, and of the processor

NEXT_QUESTION = 0.1  # seconds from a press to the next question
CHANGE = 0.5  # seconds for undo, a merger, a changed answer
PRESSES, CHANGES = 200, 40


def pages(setting: Setting) -> Iterator[Ratio]:
    """Presses, undo, mergers and changed answers on a page of 10^5 rows after 2,600 answers."""
    try:
        import httpx  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise SkippedError("needs samekind[web] and httpx") from error
    compile_all()
    n, answers = setting.rows(100_000), setting.questions(2_600)
    from experiments.person import served
    from samekind.data import Items
    from samekind.datasets import make_synthetic
    from samekind.project import Project

    X, y = make_synthetic(n, n_clusters=30, alpha=1.0, random_state=0)
    items = Items.of_array(X, "rows", [f"x{k}" for k in range(X.shape[1])])
    with tempfile.TemporaryDirectory(dir=setting.scratch) as folder:
        path = Path(folder) / "mine.db"
        with closing(Project(items, path, random_state=0, epsilon=None)) as project:
            oracle, session = samekind.LabelOracle(y), project.session
            while session.n_questions < answers and not session.done:
                pairs = session.pending()
                session.tell(pairs, oracle(pairs), who="ann")
            with served(project) as client:
                page = _Page(client, y)
                for what, act, times, most in (
                    ("from a press to the next question", page.press, PRESSES, NEXT_QUESTION),
                    ("undo", page.undo, CHANGES, CHANGE),
                    ("to make one of two kinds", page.merge, CHANGES // 4, CHANGE),
                    ("to change an answer", page.correct, CHANGES, CHANGE),
                ):
                    yield _slowest(f"{n:,} rows, {answers:,} answers: {what}", act, times, most)


def _slowest(what: str, act: Callable[[], Taken], times: int, most: float) -> Ratio:
    waited, worked = np.quantile([act() for _ in range(times)], 0.95, axis=0).tolist()
    measured = f"{waited * 1e3:.0f} ms ({worked * 1e3:.0f} ms of the processor's time)"
    return Ratio(f"{what}, 95 % of them", measured, waited / most, 1.0)


class _Page:
    """Does what the page does when somebody presses."""

    def __init__(self, client: httpx.Client, y: Any) -> None:
        self._client = client
        self._y = y
        self._questions: list[Json] = self._send("GET", "/api/next")["questions"]

    def press(self) -> Taken:
        question = self._questions[0]
        body = {"id": question["id"], "answer": self._said(question)}
        return self._timed("POST", "/api/answers", body)

    def undo(self) -> Taken:
        self.press()
        return self._timed("POST", "/api/undo", {"count": 1})

    def merge(self) -> Taken:
        found = self._send("GET", "/api/clusters?members=1")["clusters"]
        body = {"clusters": [found[0]["cluster"], found[1]["cluster"]]}
        taken = self._timed("POST", "/api/clusters/merge", body)
        return max(taken, self._timed("POST", "/api/undo", {"count": 1}))

    def correct(self) -> Taken:
        record = self._send("GET", "/api/answers?limit=1&offset=500")["answers"][0]
        other = "different" if record["answer"] == "same" else "same"
        body = {"a": record["a"], "b": record["b"], "answer": other}
        return self._timed("PUT", "/api/answers", body)

    def _timed(self, method: str, path: str, body: Json) -> Taken:
        began = perf_counter(), process_time()
        reply = self._send(method, path, body)
        taken = perf_counter() - began[0], process_time() - began[1]
        self._questions = reply.get("questions") or self._questions
        return taken

    def _send(self, method: str, path: str, body: Json | None = None) -> Json:
        reply = self._client.request(method, path, json=body)
        reply.raise_for_status()
        found: Json = reply.json()
        return found

    def _said(self, question: Json) -> object:
        y = self._y
        if question["type"] == "sheet":
            own = y[question["cluster"]["members"][0]["row"]]
            rows = [item["row"] for item in question["items"]]
            return {"different": [row for row in rows if y[row] != own]}
        if question["type"] == "pair":
            return "same" if y[question["a"]["row"]] == y[question["b"]["row"]] else "different"
        own = y[question["item"]["row"]]
        options = question["options"]
        right = [one["cluster"] for one in options if y[one["members"][0]["row"]] == own]
        return right[0] if right else "none"
