"""Where a model is, and the key to it, which is read from the environment and shown nowhere."""

from __future__ import annotations

import ipaddress
import os
from typing import NamedTuple
from urllib.parse import urlsplit

__all__ = ["KEY", "Endpoint"]

KEY = "SAMEKIND_CHAT_KEY"
KEY_OF_HOST = {"api.openai.com": "OPENAI_API_KEY"}
"""Keys that other programs know are sent to those only whose they are."""


class Endpoint(NamedTuple):
    """The address of the calls, without secrets, and the name of the variable that holds the key."""

    url: str
    variable: str
    is_loopback: bool

    @classmethod
    def at(cls, url: str, key_variable: str | None = None) -> Endpoint:
        """Return an endpoint by the address of its API, such as http://127.0.0.1:8000/v1."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(
                f"url must be the address of an API, such as http://127.0.0.1:8000/v1, got {_shown(url)!r}."
            )
        if (
            parts.username is not None
            or parts.password is not None
            or parts.query
            or parts.fragment
        ):
            raise ValueError(
                "url must hold no user, password or query: it is shown and kept. Put the key into the "
                f"environment, as {KEY}."
            )
        path = parts.path.rstrip("/").removesuffix("/chat/completions")
        whole = f"{parts.scheme}://{parts.netloc}{path}/chat/completions"
        variable = key_variable or KEY_OF_HOST.get(parts.hostname, KEY)
        if key_variable is None and not os.environ.get(variable):
            variable = KEY
        found = cls(whole, variable, _is_loopback(parts.hostname))
        if parts.scheme == "http" and not found.is_loopback and found.key:
            raise ValueError(
                f"the key in {variable} would be sent over http, readable by all on the way to "
                f"{parts.hostname}. Use https, or take {variable} out of the environment."
            )
        return found

    @property
    def key(self) -> str:
        """The key, as it is in the environment now; "" if there is none."""
        return os.environ.get(self.variable, "").strip()

    def without_key(self, text: str) -> str:
        """Return a text that others wrote without the key, should it be in it."""
        return text.replace(self.key, "…") if self.key else text


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _shown(url: str) -> str:
    """Return an address without what may be a secret."""
    return url.rpartition("@")[2].partition("?")[0]
