"""A project of `samekind serve` from any program, over HTTP. Needs ``samekind[client]``."""

from __future__ import annotations

import secrets
import ssl
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self, TypeVar
from urllib.parse import quote

import httpx
from pydantic import TypeAdapter

from samekind import project as p

__all__ = ["Client", "Link", "ServerError"]

AGAIN = (408, 425, 429, 502, 503, 504)  # after these statuses the same request may succeed
FIRST_WAIT, LONGEST_WAIT = 0.2, 10.0  # seconds

Record = TypeVar("Record")


class ServerError(RuntimeError):
    """The server refused a request, failed at it, or could not be reached.

    Attributes
    ----------
    status : int
        The HTTP status, such as 401 for a link that does not hold, 403 for what its role may not do, and
        409 for a question that is no longer open; 0 without a reply.
    """

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Link:
    """A personal link, without its token; times in seconds since 1970."""

    id: int
    who: str
    role: str
    at: float
    expires: float | None
    revoked: float | None


@dataclass(frozen=True)
class _About:
    name: str
    title: str | None
    state: Literal["opening", "ready", "failed"]
    who: str | None
    role: str


class Client:
    """A project of a server, by somebody's personal link. Any thread may use it.

    Every change has an idempotency key. While the server cannot be reached or is busy, the request is
    repeated with the same key, so it is done once.

    Parameters
    ----------
    link : str
        The whole link, such as ``https://kinds.example/p/messages/#token=…``; it says who answers.
    timeout : float
        Seconds to wait for a reply.
    patience : float
        Seconds to repeat a request while the server cannot be reached or is busy.
    verify : bool or SSLContext
        Which certificates are trusted, as for httpx.

    Examples
    --------
    >>> client = Client("https://kinds.example/p/messages/#token=mLfN2Sg")
    >>> client
    Client('https://kinds.example/p/messages/')

    With a server there::

        with Client(link) as client:
            while questions := client.next(lineup=False):
                client.answer(questions[0].id, "different")
            print(client.status().clusters)
    """

    def __init__(
        self,
        link: str,
        *,
        timeout: float = 30.0,
        patience: float = 60.0,
        verify: bool | ssl.SSLContext = True,
    ) -> None:
        page, _, token = link.partition("#token=")
        place = httpx.URL(page)
        if place.scheme not in ("http", "https") or "/p/" not in place.path or place.query:
            raise ValueError(
                f"link must be like https://kinds.example/p/NAME/#token=…, got {page!r:.200}."
            )
        if not token or not token.isascii() or not token.isprintable():
            raise ValueError("link must be whole, with the token after #token=.")
        self._page = page.rstrip("/") + "/"
        self._patience = patience
        self._http = httpx.Client(
            base_url=self._page + "api",
            headers={"Authorization": f"Bearer {token}"},
            timeout=timeout,
            verify=verify,
        )

    def __repr__(self) -> str:
        return f"Client({self._page!r})"  # without the token

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    @property
    def who(self) -> str:
        """The name on the link."""
        return _as(_About, self._get("/about")).who or ""

    @property
    def role(self) -> str:
        """The role of the link: "answer", "review" or "own"."""
        return _as(_About, self._get("/about")).role

    def status(self) -> p.Status:
        """Return where the work stands."""
        return _as(p.Status, self._get("/status"))

    def next(self, *, lineup: bool = True, most: int = 1) -> list[p.Question]:
        """Return the next questions for you, kept for a while; none when all is done or others have them."""
        found = self._get("/next", lineup=str(lineup).lower(), most=most)["questions"]
        return _as(list[p.Question], found)

    def answer(self, question_id: str, answer: p.Said) -> None:
        """Answer a question, as `Project.answer` does; the answer is on the server's disk then."""
        said: object = answer
        if isinstance(answer, p.NewCluster):
            said = {"new": answer.name}
        elif isinstance(answer, p.SheetAnswer):
            said = {"different": [*answer.different], "unsure": [*answer.unsure]}
        self._change("POST", "/answers", {"id": question_id, "answer": said})

    def undo(self, count: int = 1) -> list[str]:
        """Take back your last acts; return them in words."""
        return _as(list[str], self._change("POST", "/undo", {"count": count})["undone"])

    def skipped(self, most: int = 3) -> list[p.PairQuestion]:
        """Return questions that were skipped; `answer` them by their ids."""
        return _as(list[p.PairQuestion], self._get("/skipped", most=most)["questions"])

    def item(self, row: int) -> p.ItemView:
        """Return what is shown of a row."""
        return _as(p.ItemView, self._get(f"/items/{row}"))

    def clusters(self, members: int = 8) -> p.Overview:
        """Return all clusters found so far, with some members of each."""
        return _as(p.Overview, self._get("/clusters", members=members))

    def cluster(self, cluster: int, *, offset: int = 0, limit: int = 24) -> p.ClusterPage:
        """Return some members of a cluster, the known ones first."""
        return _as(p.ClusterPage, self._get(f"/clusters/{cluster}", offset=offset, limit=limit))

    def rename(self, cluster: int, name: str, *, definition: str | None = None) -> None:
        """Rename a cluster; "" takes the name away. So for a definition; None leaves it as it is."""
        self._change("PUT", f"/clusters/{cluster}/name", {"name": name, "definition": definition})

    def suggest(self, cluster: int) -> p.Suggestion:
        """Return a name and a definition of a cluster, from the model that answers; it is paid each time."""
        return _as(p.Suggestion, self._change("POST", f"/clusters/{cluster}/suggestion", {}))

    def merge(self, clusters: list[int]) -> None:
        """Merge clusters."""
        self._change("POST", "/clusters/merge", {"clusters": clusters})

    def place(self, rows: list[int], cluster: int) -> None:
        """Put rows into a cluster."""
        self._change("POST", "/rows/place", {"rows": rows, "cluster": cluster})

    def correct(self, a: int, b: int, answer: str) -> None:
        """Change the answer to a pair: "same", "different" or "unsure"."""
        self._change("PUT", "/answers", {"a": a, "b": b, "answer": answer})

    def answers(self, *, offset: int = 0, limit: int = 50) -> p.AnswerPage:
        """Return the answers that stand, newest first."""
        return _as(p.AnswerPage, self._get("/answers", offset=offset, limit=limit))

    def reviews(self, *, offset: int = 0, limit: int = 20) -> p.ReviewPage:
        """Return pairs that people disagree about, and what each of them said."""
        return _as(p.ReviewPage, self._get("/reviews", offset=offset, limit=limit))

    def settle(self, a: int, b: int, answer: str) -> None:
        """Settle what people disagree about: "same", "different" or "unsure"."""
        self._change("POST", "/reviews", {"a": a, "b": b, "answer": answer})

    def export(self, name: str, path: str | Path | None = None) -> bytes:
        """Return what was found as a file, such as ``"clusters.csv"``; also write it to a path."""
        found = self._send("GET", f"/export/{quote(name, safe='')}").content
        if path is not None:
            Path(path).write_bytes(found)
        return found

    def import_answers(self, text: str) -> int:
        """Import answers from a CSV with the columns a, b and answer; return how many are new."""
        found = self._send("POST", "/answers/import", content=text.encode(), type="text/csv")
        return int(found.json()["imported"])

    def finish(self) -> None:
        """Stop asking, for everybody, until `resume`."""
        self._change("POST", "/finish", {})

    def resume(self) -> None:
        """Ask again after `finish`."""
        self._change("POST", "/resume", {})

    def links(self) -> list[Link]:
        """Return all links, also those that no longer hold."""
        return _as(list[Link], self._get("/links")["links"])

    def invite(
        self, who: str, role: str = "answer", *, expires: float | None = None
    ) -> tuple[Link, str]:
        """Make a link that ends at `expires`; return it and its address, which cannot be had again."""
        made = self._change("POST", "/links", {"who": who, "role": role, "expires": expires})
        return _as(Link, made["link"]), f"{self._page}#token={made['token']}"

    def revoke(self, number: int) -> Link:
        """Revoke a link, at once; return it."""
        return _as(Link, self._change("POST", f"/links/{number}/revoke", {}))

    def _get(self, path: str, **query: str | int) -> Any:
        return self._send("GET", path, params=query).json()

    def _change(self, method: str, path: str, body: object) -> Any:
        return self._send(method, path, json=body).json()

    def _send(
        self, method: str, path: str, type: str | None = None, **content: Any
    ) -> httpx.Response:
        """Send a request until it is answered; return the reply, or raise `ServerError`."""
        headers = {} if type is None else {"Content-Type": type}
        if method != "GET":
            headers["Idempotency-Key"] = secrets.token_hex(16)
        last, wait = time.monotonic() + self._patience, FIRST_WAIT
        while True:
            pause = wait
            try:
                reply = self._http.request(method, path, headers=headers, **content)
            except httpx.TransportError as error:
                trouble = ServerError(f"{self._page} cannot be reached: {error}.")
            else:
                if reply.is_success:
                    return reply
                trouble = ServerError(_words(reply), reply.status_code)
                if reply.status_code not in AGAIN:
                    raise trouble
                after = reply.headers.get("Retry-After", "")
                pause = min(float(after), LONGEST_WAIT) if after.isdecimal() else wait
            if time.monotonic() + pause > last:
                raise trouble
            time.sleep(pause)
            wait = min(2 * wait, LONGEST_WAIT)


def _as(form: type[Record], found: object) -> Record:
    """Return a record; fields that it does not know, of a newer server, are left out."""
    return TypeAdapter(form).validate_python(found)


def _words(reply: httpx.Response) -> str:
    try:
        return str(reply.json()["error"])
    except (ValueError, KeyError, TypeError):
        return f"the server answered with the status {reply.status_code}."
