"""What a widget asks by messages, answered by the web application, which runs here without a server."""

from __future__ import annotations

import asyncio
import base64
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote

from samekind.project import Project
from samekind.web.app import make_app
from samekind.web.auth import TokenAuth
from samekind.web.server import new_token
from samekind.web.site import HostedProject, Site

__all__ = ["MessageApi"]

NAME = "notebook"  # of the project, in addresses
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
        hosted = HostedProject(NAME)
        hosted.ready(project)
        site, token = Site([hosted]), new_token()
        self._app = make_app(site, TokenAuth(site, token))
        headers = {
            "host": "localhost",
            "authorization": f"Bearer {token}",
            "content-type": "application/json",
            "x-samekind-who": quote(who, safe=""),
        }
        self._headers = [(name.encode(), text.encode()) for name, text in headers.items()]

    def reply(self, message: object) -> Json | None:
        """Return what to send back; None if the message is none of a widget's."""
        if not isinstance(message, dict) or not isinstance(message.get("call"), str):
            return None
        body = message.get("body")
        content = b"" if body is None else json.dumps(body).encode()
        asked = self._ask(str(message.get("method")), str(message.get("path", "")), content)
        with ThreadPoolExecutor(1) as pool:  # a kernel's own loop is running here
            status, media_type, found = pool.submit(asyncio.run, asked).result()
        reply: Json = {"reply": message["call"], "status": status}
        if media_type.startswith("application/json"):
            return reply | {"body": json.loads(found or b"null")}
        if media_type.startswith("image/"):
            coded = base64.b64encode(found).decode()
            return reply | {"body": {"url": f"data:{media_type};base64,{coded}"}}
        return reply | {"status": 400, "body": {"error": "This cannot be done in a notebook."}}

    async def _ask(self, method: str, path: str, content: bytes) -> tuple[int, str, bytes]:
        """Return the status, the type and the body of the application's reply."""
        plain, _, query = path.partition("?")
        started: Json = {}
        parts: list[bytes] = []

        waiting = [{"type": "http.request", "body": content, "more_body": False}]

        async def receive() -> Json:
            while not waiting:  # whoever asks stays until there is a reply
                await asyncio.sleep(3600)
            return waiting.pop()

        async def send(event: Any) -> None:
            started.update(event)
            parts.append(event.get("body", b""))

        length = (b"content-length", str(len(content)).encode())
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": f"/p/{NAME}{plain}",
            "raw_path": f"/p/{NAME}{plain}".encode(),
            "root_path": "",
            "query_string": query.encode(),
            "headers": [*self._headers, length],
            "client": ("127.0.0.1", 0),
            "server": ("localhost", 80),
        }
        await self._app(scope, receive, send)
        headers = dict(started.get("headers", ()))
        return started["status"], headers.get(b"content-type", b"").decode(), b"".join(parts)
