"""Requests to a server: sent again while it cannot be reached, and never done twice."""

from __future__ import annotations

import json
import secrets
import ssl
import threading
import time
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlencode, urlsplit

__all__ = ["Connection", "ServerError"]

AGAIN = (408, 425, 429, 502, 503, 504)  # statuses after which the same request may succeed
FIRST_WAIT, LONGEST_WAIT = 0.2, 10.0  # seconds


class ServerError(RuntimeError):
    """The server refused a request, failed at it, or could not be reached.

    Attributes
    ----------
    status : int
        Of HTTP: 401 for a token that opens nothing, 403 for what one's role may not do, 409 for a question
        that is not open any more; 0 if there was no answer.
    """

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class Connection:
    """A server, and the token by which it knows us. Any thread may use it.

    Parameters
    ----------
    url : str
        Where it is, ``https://kinds.example/kinds`` say.
    token : str
        Of a personal link.
    timeout : float
        Seconds for which an answer is waited for.
    patience : float
        Seconds for which a request is sent again while the server cannot be reached, or is busy.
    context : SSLContext or None
        Which certificates are trusted; None trusts those that this machine does.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        timeout: float = 30.0,
        patience: float = 60.0,
        context: ssl.SSLContext | None = None,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query:
            raise ValueError(f"url must be like https://kinds.example, got {url!r:.200}.")
        if not token or not token.isascii() or not token.isprintable():
            raise ValueError("token must be that of a link: the part after #token=.")
        self.url = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
        self._parts = parts
        self._root = parts.path.rstrip("/")
        self._token = token
        self._timeout = timeout
        self._patience = patience
        self._context = context
        self._own = threading.local()  # a connection for each thread
        self._made: list[HTTPConnection] = []

    def __repr__(self) -> str:
        return f"Connection({self.url!r})"  # without the token

    def get(self, path: str, query: Mapping[str, object] | None = None) -> object:
        """Return what the server says, from JSON."""
        return json.loads(self.request("GET", path, query=query))

    def change(
        self,
        method: str,
        path: str,
        body: object,
        query: Mapping[str, object] | None = None,
        *,
        csv: bytes | None = None,
    ) -> object:
        """Change something, once, however often it has to be sent; return what the server says."""
        headers = {
            "Content-Type": "application/json" if csv is None else "text/csv",
            "Idempotency-Key": secrets.token_hex(16),
        }
        sent = json.dumps(body, default=int).encode() if csv is None else csv
        return json.loads(self.request(method, path, sent, headers, query=query))

    def request(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        query: Mapping[str, object] | None = None,
    ) -> bytes:
        """Send a request until it is answered; return the body of the answer, or raise `ServerError`."""
        address = f"{self._root}{path}" + (f"?{urlencode(query)}" if query else "")
        given = {"Authorization": f"Bearer {self._token}", **(headers or {})}
        last, wait = time.monotonic() + self._patience, FIRST_WAIT
        while True:
            try:
                status, after, answer = self._send(method, address, body, given)
            except (OSError, HTTPException) as error:
                self._own.connection.close()  # the next try connects again
                trouble = ServerError(
                    f"{self.url} cannot be reached: {error or type(error).__name__}."
                )
                after = ""
            else:
                if status < 300:
                    return answer
                trouble = ServerError(_words(status, answer), status)
                if status not in AGAIN:
                    raise trouble
            pause = min(float(after), LONGEST_WAIT) if after.isdecimal() else wait
            if time.monotonic() + pause > last:
                raise trouble
            time.sleep(pause)
            wait = min(2 * wait, LONGEST_WAIT)

    def close(self) -> None:
        """Hang up, in all threads; the next request connects again."""
        for connection in self._made:
            connection.close()

    def _send(
        self, method: str, address: str, body: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, str, bytes]:
        connection: HTTPConnection | None = getattr(self._own, "connection", None)
        if connection is None:
            connection = self._own.connection = self._connect()
            self._made.append(connection)
        connection.request(method, address, body, dict(headers))
        answer = connection.getresponse()
        return answer.status, answer.headers.get("Retry-After", ""), answer.read()

    def _connect(self) -> HTTPConnection:
        host, port = self._parts.hostname or "", self._parts.port
        if self._parts.scheme == "http":
            return HTTPConnection(host, port, timeout=self._timeout)
        return HTTPSConnection(host, port, timeout=self._timeout, context=self._context)


def _words(status: int, answer: bytes) -> str:
    try:
        return str(json.loads(answer)["error"])
    except (ValueError, KeyError, TypeError):
        return f"the server answered with the status {status}."
