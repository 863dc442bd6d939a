"""What a widget asks by messages, answered by its project: of the page's interface what questions need."""

from __future__ import annotations

import base64
import logging
import re
from collections.abc import Callable
from dataclasses import asdict
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from samekind.errors import DataError
from samekind.ledger import LedgerError
from samekind.project import NewCluster, Project, ProjectError, QuestionClosed, Said, SheetAnswer

__all__ = ["MessageApi"]

log = logging.getLogger("samekind.notebook")

PICTURE = re.compile(r"/api/items/(\d{1,15})/picture")
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
MOST_QUESTIONS, MOST_FOUND = 10, 1000
Json = dict[str, Any]


class MessageApi:
    """Answers the messages of a widget.

    Parameters
    ----------
    project : Project
        What is asked about.
    who : str
        Who is noted as having answered.

    Examples
    --------
    >>> from samekind.data import demo_items
    >>> api = MessageApi(Project(demo_items(), random_state=0))
    >>> reply = api.reply({"call": "1", "method": "GET", "path": "/api/next"})
    >>> reply["status"], [question["type"] for question in reply["body"]["questions"]]
    (200, ['pair'])
    """

    def __init__(self, project: Project, who: str = "") -> None:
        self.project = project
        self.who = who
        self._routes: dict[tuple[str, str], Callable[[Json, Json], Json]] = {
            ("GET", "/api/next"): lambda query, _: self._open(query),
            ("POST", "/api/answers"): self._answer,
            ("POST", "/api/undo"): self._undo,
            ("GET", "/api/skipped"): self._skipped,
            ("GET", "/api/find"): self._find,
            ("PUT", "/api/criterion"): self._set_criterion,
        }

    def reply(self, message: object) -> Json | None:
        """Return what to send back; None if the message is none of a widget's."""
        if not isinstance(message, dict) or not isinstance(message.get("call"), str):
            return None
        query: Json = {}
        try:
            parts = urlsplit(str(message.get("path", "")))
            query = dict(parse_qsl(parts.query))
            route = str(message.get("method")), parts.path
            status, found = 200, self._do(route, query, message.get("body"))
        except QuestionClosed as error:
            status, found = 409, self._open(query) | {"error": str(error)}
        except ProjectError as error:
            status, found = 400, {"error": str(error)}
        except DataError as error:
            status, found = 404, {"error": str(error)}
        except LedgerError as error:
            status, found = 503, {"error": str(error)}
        except (KeyError, TypeError, ValueError):
            log.exception("a message could not be read")
            status, found = 422, {"error": "The message could not be read."}
        return {"reply": message["call"], "status": status, "body": found}

    def _do(self, route: tuple[str, str], query: Json, body: Any) -> Json:
        if route in self._routes:
            return self._routes[route](query, body if isinstance(body, dict) else {})
        if route[0] == "GET" and (of_row := PICTURE.fullmatch(route[1])):
            return self._picture(int(of_row[1]), query.get("size", "small"))
        raise ProjectError("This cannot be done in a notebook.")

    def _open(self, query: Json) -> Json:
        """Return the open questions, and where the work stands."""
        most = min(MOST_QUESTIONS, max(1, int(query.get("most", 1))))
        lineup = query.get("lineup", "true") != "false"
        questions = self.project.next(self.who, lineup=lineup, most=most)
        return {
            "status": asdict(self.project.status()),
            "questions": [asdict(question) for question in questions],
        }

    def _answer(self, query: Json, body: Json) -> Json:
        self.project.answer(str(body["id"]), _said(body["answer"]), who=self.who)
        return self._open(query) | {"saved": True}

    def _undo(self, query: Json, body: Json) -> Json:
        undone = self.project.take_back(int(body.get("count", 1)), who=self.who or None)
        acts = [
            asdict(one) | {"items": [asdict(self.project.item(row)) for row in one.rows[:2]]}
            for one in undone
        ]
        return self._open(query) | {"undone": [one.text for one in undone], "acts": acts}

    def _skipped(self, query: Json, _: Json) -> Json:
        most = min(100, max(1, int(query.get("most", 3))))
        return {
            "questions": [asdict(question) for question in self.project.questions.skipped(most)]
        }

    def _find(self, query: Json, _: Json) -> Json:
        row = int(query["row"]) if "row" in query else None
        most = min(MOST_FOUND, max(1, int(query.get("most", 20))))
        found = self.project.kinds.find(query.get("text", "")[:200], row=row, most=most)
        return {"clusters": [asdict(cluster) for cluster in found]}

    def _set_criterion(self, query: Json, body: Json) -> Json:
        self.project.standing.set_criterion(str(body["criterion"])[:200])
        return {"status": asdict(self.project.status())}

    def _picture(self, row: int, size: str) -> Json:
        found = self.project.items.picture(row, size)
        if found.media_type not in PICTURES:
            raise DataError(f"Pictures of the type {found.media_type} are not shown.")
        coded = base64.b64encode(found.body).decode()
        return {"url": f"data:{found.media_type};base64,{coded}"}


def _said(answer: Any) -> Said:
    """Return an answer as the project takes it."""
    if isinstance(answer, dict) and "new" in answer:
        return NewCluster(str(answer["new"])[:200])
    if isinstance(answer, dict):
        rows = {key: [int(row) for row in answer.get(key, [])] for key in ("different", "unsure")}
        return SheetAnswer(rows["different"], rows["unsure"])
    if isinstance(answer, bool) or not isinstance(answer, int | str):
        raise ValueError(f"{answer!r} is no answer.")
    return answer  # which words there are, the project checks
