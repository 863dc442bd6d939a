"""A project on a server, with the methods of a local session."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind.client.connection import Connection
from samekind.client.parsing import record_from
from samekind.client.telling import WORDS, Pair, pairs_of_question, said_of
from samekind.flow import Pairs, check_answers, check_pairs

if TYPE_CHECKING:
    from samekind.clusters import Clusters
    from samekind.project import (
        AnswerPage,
        ClusterPage,
        ItemView,
        Overview,
        Question,
        ReviewPage,
        Said,
        Status,
    )

__all__ = ["RemoteSession"]

MOST = 10  # questions that are fetched at once


class RemoteSession:
    """Questions of a project on a server, and answers to them; `Client.session` makes it.

    It has the methods of `Session` where they make sense from afar: `pending`, `tell`, `learn`, `undo`,
    `done`, `clusters`, `stop`, `resume`. Questions that `pending` returns are kept for you for a while, so
    that several programs and people share the work. `next` and `answer` are what the page does: pairs,
    line-ups and sheets. What one may do depends on the role of the link (docs/team.md).
    """

    def __init__(self, connection: Connection, path: str) -> None:
        self._connection = connection
        self._path = path
        self._asked: dict[Pair, Question] = {}  # pairs that were pending last, and of what they are

    def __repr__(self) -> str:
        return f"RemoteSession({self._connection.url + self._path!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def pending(self) -> Pairs:
        """Return questions that are open, (m, 2); none once the project is finished, or others have them."""
        found = self.next(lineup=False, most=MOST)
        self._asked = {pair: question for question in found for pair in pairs_of_question(question)}
        return np.array([*self._asked], dtype=np.intp).reshape(-1, 2)

    def tell(self, pairs: ArrayLike, answers: ArrayLike) -> None:
        """Answer some of the pending questions, in this order; all are on the server's disk then.

        `ServerError` (409) says that one is not open any more; those before it are kept. Where several
        people are to answer each question, tell all pending pairs of a row at once: they are one question.
        """
        checked = check_pairs(pairs)
        said = check_answers(answers, len(checked)).tolist()
        told = {(a, b): word for (a, b), word in zip(checked.tolist(), said, strict=True)}
        for question_id, answer in said_of(told, self._asked):
            self.answer(question_id, answer)

    def learn(self, pairs: ArrayLike, answers: ArrayLike) -> int:
        """Take in answers that nobody was asked for; they are free. Return how many are new."""
        checked = check_pairs(pairs)
        said = check_answers(answers, len(checked))
        lines = [
            f"{a},{b},{WORDS[word]}"
            for (a, b), word in zip(checked.tolist(), said.tolist(), strict=True)
        ]
        return self.import_answers("\n".join(["a,b,answer", *lines, ""]))

    def undo(self, count: int = 1) -> int:
        """Take back your last `count` acts, as deep as you like; return how many there were."""
        return len(self._change("POST", "/undo", {"count": count})["undone"])

    def next(self, *, lineup: bool = True, most: int = 1) -> list[Question]:
        """Return open questions for you as the page shows them, at most so many, and keep them for you."""
        from samekind.project import Question

        query = {"lineup": str(lineup).lower(), "most": most}
        found = self._get("/next", query)
        return record_from(list[Question], found["questions"])

    def answer(self, question_id: str, answer: Said) -> None:
        """Answer a question; it is on the server's disk when this returns. See `Project.answer`."""
        from samekind.project import NewCluster, SheetAnswer

        said: object = answer
        if isinstance(answer, NewCluster):
            said = {"new": answer.name}
        elif isinstance(answer, SheetAnswer):
            said = {"different": [*answer.different], "unsure": [*answer.unsure]}
        self._change("POST", "/answers", {"id": question_id, "answer": said})

    def status(self) -> Status:
        """Return where the work stands."""
        from samekind.project import Status

        return record_from(Status, self._get("/status"))

    @property
    def done(self) -> bool:
        """Whether there is nothing left to ask."""
        return self.status().done

    @property
    def stop_reason(self) -> str | None:
        """Why nothing is asked any more; None while something is."""
        return self.status().stop_reason

    @property
    def n_questions(self) -> int:
        """How many questions were answered and charged."""
        return self.status().questions

    def item(self, row: int) -> ItemView:
        """Return what is shown of a row."""
        from samekind.project import ItemView

        return record_from(ItemView, self._get(f"/items/{row}"))

    def overview(self, members: int = 8) -> Overview:
        """Return all clusters found so far, with some members of each."""
        from samekind.project import Overview

        return record_from(Overview, self._get("/clusters", {"members": members}))

    def cluster(self, cluster: int, *, offset: int = 0, limit: int = 24) -> ClusterPage:
        """Return some members of the cluster that a row stands for, the known ones first."""
        from samekind.project import ClusterPage

        query = {"offset": offset, "limit": limit}
        return record_from(ClusterPage, self._get(f"/clusters/{cluster}", query))

    def answers(self, *, offset: int = 0, limit: int = 50) -> AnswerPage:
        """Return answers that stand, newest first."""
        from samekind.project import AnswerPage

        return record_from(AnswerPage, self._get("/answers", {"offset": offset, "limit": limit}))

    def rename(self, cluster: int, name: str) -> None:
        """Give a cluster a name; "" takes it away."""
        self._change("PUT", f"/clusters/{cluster}/name", {"name": name})

    def merge(self, clusters: list[int]) -> None:
        """Say of clusters that they are one."""
        self._change("POST", "/clusters/merge", {"clusters": [int(each) for each in clusters]})

    def correct(self, a: int, b: int, answer: str) -> None:
        """Change what was answered about a pair: "same", "different" or "unsure"."""
        self._change("PUT", "/answers", {"a": a, "b": b, "answer": answer})

    def reviews(self, *, offset: int = 0, limit: int = 20) -> ReviewPage:
        """Return the pairs that people disagree about, and what each of them said."""
        from samekind.project import ReviewPage

        return record_from(ReviewPage, self._get("/reviews", {"offset": offset, "limit": limit}))

    def settle(self, a: int, b: int, answer: str) -> None:
        """Settle what people disagree about: "same", "different" or "unsure"."""
        self._change("POST", "/reviews", {"a": a, "b": b, "answer": answer})

    def import_answers(self, text: str) -> int:
        """Take in answers from a CSV with the columns a, b and answer; return how many are new."""
        body = text.encode("utf-8")
        found: Any = self._connection.change("POST", f"{self._path}/answers/import", None, csv=body)
        return int(found["imported"])

    def export(self, name: str, path: str | Path | None = None) -> bytes:
        """Return what was found as a file, ``"clusters.csv"`` say; with a path, write it there, too."""
        found = self._connection.request("GET", f"{self._path}/export/{quote(name, safe='')}")
        if path is not None:
            Path(path).write_bytes(found)
        return found

    def clusters(self) -> Clusters:
        """Return what is found so far, as a local session does; its rows are not with it."""
        from samekind.clusters import Clusters

        handle, name = tempfile.mkstemp(suffix=".npz")
        try:
            with open(handle, "wb") as file:
                file.write(self.export("clusters.npz"))
            return Clusters.load(name)
        finally:
            os.unlink(name)

    def labels(self) -> NDArray[np.intp]:
        """Return the cluster of every row, -1 where none fits."""
        return np.asarray(self.clusters().labels_)

    def stop(self) -> None:
        """Ask nothing more, of anybody, until `resume`."""
        self._change("POST", "/finish", {})

    def resume(self) -> None:
        """Go on after `stop`."""
        self._change("POST", "/resume", {})

    def close(self) -> None:
        """Hang up; all that was told is kept."""
        self._connection.close()

    def _get(self, path: str, query: dict[str, Any] | None = None) -> Any:
        return self._connection.get(self._path + path, query)

    def _change(self, method: str, path: str, body: object) -> Any:
        return self._connection.change(method, self._path + path, body)
