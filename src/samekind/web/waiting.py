"""The page while samekind prepares itself: words and a bar, at once, on the socket that the real page gets.

It holds nothing of the data, and only this machine can reach it: it is shown where no token is needed. It is
served by the standard library alone, because loading anything else is what is waited for.
"""

from __future__ import annotations

import base64
import hashlib
import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

__all__ = ["WaitingPage"]

STATIC = Path(__file__).with_name("static")
LOOK_AGAIN = 5  # seconds a browser may take to send its request


class WaitingPage:
    """Says what is being prepared, until `stop`.

    Parameters
    ----------
    listening : socket
        Where to answer; it goes on to listen when this page stops.
    """

    def __init__(self, listening: socket.socket) -> None:
        self._state: dict[str, object] = {"preparing": True, "what": "Starting", "share": 0.0}
        page = self

        class Handler(_Handler):
            state: ClassVar = page._state

        self._server = _SocketServer(listening, Handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), daemon=True
        )
        self._thread.start()

    def say(self, what: str, share: float = 0.0) -> None:
        """Say what is being done, and how much of it is done."""
        self._state.update(what=what, share=round(min(1.0, max(0.0, share)), 3))

    def fail(self, message: str) -> None:
        """Say that it failed; give browsers a moment to hear it."""
        self._state.update(what=message, failed=True)
        threading.Event().wait(1.0)

    def stop(self) -> None:
        """Answer no more here; requests that come meanwhile wait for who takes over."""
        self._server.shutdown()
        self._thread.join()


class _SocketServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, listening: socket.socket, handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(listening.getsockname()[:2], handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listening

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that went away is no news."""


class _Handler(BaseHTTPRequestHandler):
    state: ClassVar[dict[str, object]]
    timeout = LOOK_AGAIN

    def do_GET(self) -> None:
        if self.path.startswith("/api/"):
            self._send(503, "application/json", json.dumps(self.state).encode())
        else:
            page, policy = _page()
            self._send(200, "text/html; charset=utf-8", page, policy)

    def _send(self, status: int, media_type: str, body: bytes, policy: str = "") -> None:
        self.send_response(status)
        for name, value in {
            "Content-Type": media_type,
            "Content-Length": str(len(body)),
            "Cache-Control": "no-store",
            "Content-Security-Policy": f"default-src 'none'; frame-ancestors 'none'; {policy}",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Retry-After": "1",
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def version_string(self) -> str:
        return "samekind"

    def log_message(self, format: str, *args: object) -> None:
        """Requests are not written down: addresses may hold secrets."""


def _page() -> tuple[bytes, str]:
    """Return the page, and a policy by which only its own script and style count."""
    text = (STATIC / "waiting.html").read_text("utf-8")
    parts = []
    for tag, rule in (("script", "script-src"), ("style", "style-src")):
        own = text.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0]
        digest = base64.b64encode(hashlib.sha256(own.encode()).digest()).decode()
        parts.append(f"{rule} 'sha256-{digest}'")
    return text.encode(), f"{'; '.join(parts)}; connect-src 'self'; img-src data:"
