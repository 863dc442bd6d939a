"""A project on a server, with the methods of a local session."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from samekind import project as p
from samekind.client.connection import Connection
from samekind.client.findings import RemoteFindings
from samekind.client.parsing import record_from
from samekind.client.telling import SKIP, WORDS, Pair, pairs_of_question, said_of
from samekind.flow import UNSURE, Pairs, check_answers, check_pairs
from samekind.ledger import Link

__all__ = ["RemoteSession"]

MOST = 10  # questions that are fetched at once


class RemoteSession(RemoteFindings):
    """Questions of a project on a server, and answers to them; `Client.session` makes it.

    It has the methods of `Session`, but for those that make no sense from afar (docs/api-http.md). Questions
    that `pending` returns are kept for you for a while, so that several programs and people share the work.
    `next` and `answer` are what the page does: pairs, line-ups and sheets. What one may do depends on the
    role of the link (docs/team.md), and all that is told is its owner's: another `who` is refused.
    """

    def __init__(self, connection: Connection, path: str) -> None:
        super().__init__(connection, path)
        self._asked: dict[Pair, p.Question] = {}  # what was pending last, and of which question

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

    def tell(
        self, pairs: ArrayLike, answers: ArrayLike, *, who: str = "", free: ArrayLike = False
    ) -> None:
        """Answer some of the pending questions, in this order; all are on the server's disk then.

        `ServerError` (409) says that one is not open any more; those before it are kept. Where several
        people are to answer each question, tell all pending pairs of a row at once: they are one question.
        UNSURE that is `free` skips a question; what else is free is learnt, which owners may.
        """
        self._check_who(who)
        checked = check_pairs(pairs)
        said = check_answers(answers, len(checked))
        is_free = np.broadcast_to(np.asarray(free, dtype=bool), len(checked))
        learnt = is_free & (said != UNSURE)
        told: dict[Pair, int] = {}
        words = np.where(is_free, SKIP, said)[~learnt].tolist()
        for (a, b), word in zip(checked[~learnt].tolist(), words, strict=True):
            told[(b, a) if (b, a) in self._asked else (a, b)] = word
        if len(told) < len(words):
            raise ValueError("a pair is answered twice. Give one answer to each pair.")
        for question_id, answer in said_of(told, self._asked):
            self.answer(question_id, answer)
        self.learn(checked[learnt], said[learnt])

    def learn(self, pairs: ArrayLike, answers: ArrayLike, *, who: str = "") -> None:
        """Take in answers that nobody was asked for; they are free. UNSURE says nothing, and is left out."""
        self._check_who(who)
        checked = check_pairs(pairs)
        said = check_answers(answers, len(checked)).tolist()
        lines = [f"{a},{b},{WORDS[s]}" for (a, b), s in zip(checked.tolist(), said, strict=True)]
        if lines:
            self.import_answers("\n".join(["a,b,answer", *lines, ""]))

    def change(
        self, pairs: ArrayLike, answers: ArrayLike, *, who: str = "", asked: ArrayLike = False
    ) -> None:
        """Write answers that change earlier ones, and count at once; UNSURE only where there is one."""
        if np.any(asked):
            raise ValueError("asked is True, but only tell() is charged for. Leave it out.")
        checked = check_pairs(pairs)
        said = check_answers(answers, len(checked))
        self.learn(checked[said != UNSURE], said[said != UNSURE], who=who)
        for a, b in checked[said == UNSURE].tolist():
            self.correct(a, b, "unsure")

    def undo(self, count: int = 1, *, who: str | None = None, together: bool = True) -> int:
        """Take back your last `count` acts, each as a whole; return how many there were."""
        self._check_who(who)
        if not together:
            raise ValueError("together is False, but acts are taken back whole. Leave it out.")
        return len(self._change("POST", "/undo", {"count": count})["undone"])

    def catch_up(self) -> None:
        """Do nothing: every call sees what others wrote."""

    def next(self, *, lineup: bool = True, most: int = 1) -> list[p.Question]:
        """Return open questions for you as the page shows them, at most so many, and keep them for you."""
        found = self._get("/next", {"lineup": str(lineup).lower(), "most": most})
        return record_from(list[p.Question], found["questions"])

    def answer(self, question_id: str, answer: p.Said) -> None:
        """Answer a question; it is on the server's disk when this returns. See `Project.answer`."""
        said: object = answer
        if isinstance(answer, p.NewCluster):
            said = {"new": answer.name}
        elif isinstance(answer, p.SheetAnswer):
            said = {"different": [*answer.different], "unsure": [*answer.unsure]}
        self._change("POST", "/answers", {"id": question_id, "answer": said})

    def item(self, row: int) -> p.ItemView:
        """Return what is shown of a row."""
        return record_from(p.ItemView, self._get(f"/items/{row}"))

    def overview(self, members: int = 8) -> p.Overview:
        """Return all clusters found so far, with some members of each."""
        return record_from(p.Overview, self._get("/clusters", {"members": members}))

    def cluster(self, cluster: int, *, offset: int = 0, limit: int = 24) -> p.ClusterPage:
        """Return some members of the cluster that a row stands for, the known ones first."""
        query = {"offset": offset, "limit": limit}
        return record_from(p.ClusterPage, self._get(f"/clusters/{cluster}", query))

    def answers(self, *, offset: int = 0, limit: int = 50) -> p.AnswerPage:
        """Return answers that stand, newest first."""
        return record_from(p.AnswerPage, self._get("/answers", {"offset": offset, "limit": limit}))

    def rename(self, cluster: int, name: str) -> None:
        """Give a cluster a name; "" takes it away."""
        self._change("PUT", f"/clusters/{cluster}/name", {"name": name})

    def merge(self, clusters: list[int]) -> None:
        """Say of clusters that they are one."""
        self._change("POST", "/clusters/merge", {"clusters": clusters})

    def correct(self, a: int, b: int, answer: str) -> None:
        """Change what was answered about a pair: "same", "different" or "unsure"."""
        self._change("PUT", "/answers", {"a": a, "b": b, "answer": answer})

    def reviews(self, *, offset: int = 0, limit: int = 20) -> p.ReviewPage:
        """Return the pairs that people disagree about, and what each of them said."""
        return record_from(p.ReviewPage, self._get("/reviews", {"offset": offset, "limit": limit}))

    def settle_review(self, a: int, b: int, answer: str) -> None:
        """Settle what people disagree about: "same", "different" or "unsure"."""
        self._change("POST", "/reviews", {"a": a, "b": b, "answer": answer})

    def import_answers(self, text: str) -> int:
        """Take in answers from a CSV with the columns a, b and answer; return how many are new."""
        body = text.encode("utf-8")
        found: Any = self._connection.change("POST", f"{self._path}/answers/import", None, csv=body)
        return int(found["imported"])

    def skipped(self, most: int = 3) -> list[p.PairQuestion]:
        """Return questions that were skipped, to come back to: `answer` them by their ids."""
        return record_from(list[p.PairQuestion], self._get("/skipped", {"most": most})["questions"])

    def annotators(self) -> p.AnnotatorPage:
        """Return who answered, people and models, how much they agree, and what a model does now."""
        return record_from(p.AnnotatorPage, self._get("/annotators"))

    def links(self) -> list[Link]:
        """Return who may come in, and who no more; `digest` is not told."""
        return [_link_of(found) for found in self._get("/links")["links"]]

    def invite(
        self, who: str, role: str = "answer", *, expires: float | None = None
    ) -> tuple[Link, str]:
        """Make a link, till `expires` (seconds since 1970); return it and its address, told this once."""
        made = self._change("POST", "/links", {"who": who, "role": role, "expires": expires})
        return _link_of(made["link"]), self._connection.url + made["path"]

    def revoke(self, number: int) -> Link:
        """Let a link open nothing from now on; return it."""
        return _link_of(self._change("POST", f"/links/{number}/revoke", {}))

    def stop(self, reason: str = "user") -> None:
        """Ask nothing more, of anybody, until `resume`."""
        if reason != "user":
            raise ValueError(f"reason is {reason!r}, but a server knows only 'user'. Leave it out.")
        self._change("POST", "/finish", {})

    def resume(self) -> None:
        """Go on after `stop`."""
        self._change("POST", "/resume", {})

    def close(self) -> None:
        """Hang up; all that was told is kept."""
        self._connection.close()

    def _check_who(self, who: str | None) -> None:
        """Refuse to speak for others."""
        if who and who != self.who:
            raise ValueError(f"who is {who!r}, but this is the link of {self.who!r}. Use theirs.")

    def _change(self, method: str, path: str, body: object) -> Any:
        return self._connection.change(method, self._path + path, body)


def _link_of(found: dict[str, Any]) -> Link:
    known = {name: found[name] for name in Link._fields if name in found}
    return Link(**{"digest": ""} | known)
