"""Calls to a model: bounded in time and size, sent again where that helps, never faster than allowed."""

from __future__ import annotations

import asyncio
import json
import random
import time
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Literal

from samekind.oracles.chat.endpoint import Endpoint
from samekind.oracles.chat.errors import ChatError, UnreadableError

if TYPE_CHECKING:
    import httpx

__all__ = ["ChatClient", "Lost", "Refused"]

LARGEST = 4 << 20  # bytes of a reply
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0  # seconds between tries
LONGEST_LIMIT = 600.0  # seconds that a server may tell us to wait, in one question
SHOWN = 300  # characters of a server's words in errors
AGAIN = (408, 409, 425, 429, 500, 502, 503, 504, 529)
FORMATS: tuple[Literal["json_schema", "json_object", "none"], ...] = (
    "json_schema",
    "json_object",
    "none",
)


class Refused(Exception):  # noqa: N818
    """The server did not do it, and charged nothing; it may be tried again after a while."""

    def __init__(self, why: str, wait: float | None = None) -> None:
        super().__init__(why)
        self.wait = wait


class Lost(Exception):  # noqa: N818
    """No reply came, or not all of it: whether the call was charged is not known."""


@dataclass
class ChatClient:
    """One server, and what it told us about how to call it."""

    endpoint: Endpoint
    timeout: float
    per_minute: float | None
    in_flight: int
    form: int = 0
    """Which of `FORMATS` is used: the first one that the server takes."""
    _free_at: float = 0.0
    _paused_until: float = 0.0
    _idle: asyncio.LifoQueue[httpx.AsyncClient] = field(
        default_factory=asyncio.LifoQueue, repr=False
    )
    """One connection for each call in flight: a pool would look through all of them at every step."""

    async def open(self) -> None:
        """Connect, in the loop in which calls are made."""
        import httpx

        is_plain = self.endpoint.is_loopback and self.endpoint.url.startswith("http://")
        verify = False if is_plain else httpx.create_ssl_context()  # there is no TLS to verify
        self._idle = asyncio.LifoQueue()  # of this loop
        for _ in range(self.in_flight):
            client = httpx.AsyncClient(
                timeout=httpx.Timeout(self.timeout, connect=min(self.timeout, 10.0)),
                limits=httpx.Limits(max_connections=1),
                trust_env=not self.endpoint.is_loopback,  # proxies
                verify=verify,
            )
            self._idle.put_nowait(client)

    async def close(self) -> None:
        """Let go of the connections."""
        while not self._idle.empty():
            await self._idle.get_nowait().aclose()

    async def post(self, body: dict[str, object], schema: dict[str, object]) -> object:
        """Send a call once, when it is our turn; return the reply."""
        form = self.form
        match FORMATS[form]:
            case "json_schema":
                named = {"name": "answers", "strict": True, "schema": schema}
                body = body | {"response_format": {"type": "json_schema", "json_schema": named}}
            case "json_object":
                body = body | {"response_format": {"type": "json_object"}}
        await self._turn()
        status, headers, content = await self._send(body)
        if status in AGAIN:
            wait = _seconds(headers.get("retry-after"))
            if status == 429 and wait is not None:  # is meant for all calls
                self._paused_until = max(self._paused_until, time.monotonic() + wait)
            raise Refused(f"status {status}", wait)
        words = self.endpoint.without_key(content[:4096].decode("utf-8", "replace"))
        if status in (400, 415, 422) and form + 1 < len(FORMATS) and _is_about_format(words):
            self.form = max(self.form, form + 1)
            raise Refused("the server takes no such response_format", 0.0)
        if status != 200:
            advice = ""
            if status in (401, 403):
                held = "is not the right one" if self.endpoint.key else "is not set"
                advice = f" The key in the environment variable {self.endpoint.variable} {held}."
            raise ChatError(
                f"{self.endpoint.url} refuses: status {status}, {words[:SHOWN]!r}.{advice}"
            )
        try:
            return json.loads(content)
        except ValueError:
            raise UnreadableError("the body of the reply is no JSON") from None

    async def _send(self, body: dict[str, object]) -> tuple[int, httpx.Headers, bytes]:
        import httpx

        key = self.endpoint.key
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        client = await self._idle.get()
        try:
            async with (
                asyncio.timeout(self.timeout),
                client.stream("POST", self.endpoint.url, json=body, headers=headers) as reply,
            ):
                content = b""
                async for chunk in reply.aiter_bytes():
                    content += chunk
                    if len(content) > LARGEST:
                        raise Lost(f"the reply is longer than {LARGEST:,} bytes")
                return reply.status_code, reply.headers, content
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise Refused(f"no connection ({type(error).__name__})") from None
        except TimeoutError:
            raise Lost(f"no reply within {self.timeout:g} s") from None
        except httpx.HTTPError as error:
            raise Lost(f"the connection broke ({type(error).__name__})") from None
        finally:
            self._idle.put_nowait(client)

    async def _turn(self) -> None:
        """Wait while the server wants no calls, and until the next one is allowed."""
        while (wait := self._paused_until - time.monotonic()) > 0:
            await asyncio.sleep(wait)
        if self.per_minute is not None:
            now = time.monotonic()
            at = max(now, self._free_at)
            self._free_at = at + 60.0 / self.per_minute
            if at > now:
                await asyncio.sleep(at - now)


def pause_before(attempt: int, wait: float | None) -> float:
    """Return how many seconds to wait before the next try: what the server said, or longer each time."""
    own = random.uniform(0.5, 1.0) * min(FIRST_PAUSE * 2.0**attempt, LONGEST_PAUSE)
    return own if wait is None else wait + random.uniform(0.0, 0.1) * wait


def _is_about_format(words: str) -> bool:
    return any(
        word in words for word in ("response_format", "json_schema", "json_object", "schema")
    )


def _seconds(header: str | None) -> float | None:
    """Return how long a Retry-After header says to wait: in seconds, or until a date."""
    if header is None:
        return None
    try:
        wait = float(header)
    except ValueError:
        try:
            wait = parsedate_to_datetime(header).timestamp() - time.time()
        except (ValueError, TypeError):
            return None
    return min(max(wait, 0.0), LONGEST_LIMIT) if wait == wait else None
