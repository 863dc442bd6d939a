"""A server for a team, as a program sees it."""

from __future__ import annotations

import ssl
from typing import Any, Self

from samekind.client.connection import Connection
from samekind.client.remote import RemoteSession

__all__ = ["Client"]

API = "/api/v1"


class Client:
    """A server that `samekind serve` started, by somebody's personal link.

    Whatever changes something is sent with a key of its own: it is sent again while the server cannot be
    reached, and done once all the same.

    Parameters
    ----------
    url : str
        Where the server is, ``https://kinds.example`` say; or a whole link, with its token.
    token : str or None
        The token of the link, if `url` is not the link itself. Who answers, and what they may do, is what
        the link says.
    timeout : float
        Seconds for which an answer is waited for.
    patience : float
        Seconds for which a request is sent again while the server cannot be reached, or is busy.
    context : SSLContext or None
        Which certificates are trusted; None trusts those that this machine does.

    Examples
    --------
    >>> client = Client("https://kinds.example/p/messages/#token=mLfN2Sg")
    >>> client
    Client('https://kinds.example')

    With a server there::

        with client.session("messages") as session:
            while len(pairs := session.pending()):
                session.tell(pairs, [same(a, b) for a, b in pairs])
            print(session.status().clusters)
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout: float = 30.0,
        patience: float = 60.0,
        context: ssl.SSLContext | None = None,
    ) -> None:
        address, _, fragment = url.partition("#")
        if token is None:
            token = fragment.removeprefix("token=")
            address = address.partition("/p/")[0]
        self._connection = Connection(
            address, token, timeout=timeout, patience=patience, context=context
        )

    def __repr__(self) -> str:
        return f"Client({self._connection.url!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def projects(self) -> list[str]:
        """Return the names of the projects that the token opens."""
        found: Any = self._connection.get(f"{API}/projects")
        return [entry["name"] for entry in found["projects"]]

    def session(self, project: str) -> RemoteSession:
        """Return what can be asked of a project, and told to it."""
        return RemoteSession(self._connection, f"{API}/projects/{project}")

    def close(self) -> None:
        """Hang up."""
        self._connection.close()
