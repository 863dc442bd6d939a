"""One question to a model: what it may cost, tries, and what was said."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from math import ceil
from typing import TypeVar

from samekind.oracles.chat.client import LONGEST_LIMIT, ChatClient, Lost, Refused, pause_before
from samekind.oracles.chat.errors import ChatError, SpentError, UnreadableError
from samekind.oracles.chat.prompt import (
    DEFINITION_SCHEMA,
    Definition,
    Example,
    Prompt,
    reply_schema,
)
from samekind.oracles.chat.questions import ModelQuestion
from samekind.oracles.chat.reply import Said, read_content, read_definition, read_reply
from samekind.oracles.chat.spending import Purse

__all__ = ["Asker", "tokens_of"]

Reply = TypeVar("Reply")
Messages = list[dict[str, object]]

PICTURE_TOKENS = 4_000  # that a small picture may count as, until a server says how many
REPLY_TOKENS = 64  # and 8 for each answer
DEFINITION_TOKENS = 256  # of a name and a definition, in any script
READINGS = 3  # times that a question is asked whose replies cannot be read
UNREADABLE_RUN = 5  # questions in a row without a reply that can be read: it is not worth going on
PER_TOKEN = 4  # characters, in estimates
OVERHEAD = 32  # tokens of a message that are not its words


class Asker:
    """Asks one question after the other, several at a time, in the loop of the calls."""

    def __init__(
        self,
        client: ChatClient,
        prompt: Prompt,
        purse: Purse,
        *,
        model: str,
        retries: int,
        max_tokens: int | None,
    ) -> None:
        self.examples: list[Example] = []
        self.definitions: list[Definition] = []
        self._client = client
        self._prompt = prompt
        self._purse = purse
        self.model = model
        self._retries = retries
        self._max_tokens = max_tokens
        self._picture_tokens = PICTURE_TOKENS
        self._unreadable = 0  # questions in a row
        self._settled = asyncio.Event()

    async def open(self) -> None:
        """Connect, in the loop in which questions are asked."""
        self._settled = asyncio.Event()
        await self._client.open()

    async def ask(self, question: ModelQuestion) -> tuple[Said, list[tuple[int, int]]]:
        """Return what was said, or which pairs are put aside as no reply could be read."""
        try:
            said = await self._hear(
                lambda: self._prompt.messages(question, self.examples, self.definitions),
                REPLY_TOKENS + 8 * len(question.pairs),
                reply_schema(question),
                lambda content: read_reply(content, question),
            )
        except UnreadableError as error:
            self._unreadable += 1
            if self._unreadable < UNREADABLE_RUN:
                return [], list(question.pairs)
            raise ChatError(
                f"the replies of {self.model} to {self._unreadable} questions in a row cannot be read. Of "
                f"the last one: {error}. None is kept as an answer. Try another model, or more max_tokens."
            ) from None
        self._unreadable = 0
        self._purse.spent.questions += len(said)
        return said, []

    async def describe(
        self, rows: Sequence[int], others: Sequence[int], taken: Sequence[str]
    ) -> Definition:
        """Return a name and a definition for the kind of some rows; see `Prompt.naming`."""
        try:
            return await self._hear(
                lambda: self._prompt.naming(rows, others, taken),
                DEFINITION_TOKENS,
                DEFINITION_SCHEMA,
                read_definition,
            )
        except UnreadableError as error:
            raise ChatError(
                f"{READINGS} replies of {self.model} cannot be read. Of the last one: {error}. Try again, or "
                "write the name yourself."
            ) from None

    async def _hear(
        self,
        messages: Callable[[], Messages],
        room: int,
        schema: dict[str, object],
        read: Callable[[str], Reply],
    ) -> Reply:
        """Return what the model says; the last `UnreadableError` if no reply can be read."""
        why = ""
        for _ in range(READINGS):
            body: dict[str, object] = {
                "model": self.model,
                "messages": messages(),
                "temperature": 0,
                "max_tokens": self._max_tokens or room,
            }
            try:
                return read(read_content(await self._call(body, schema)))
            except UnreadableError as error:
                self._purse.spent.failed += 1
                why = self._client.endpoint.without_key(str(error))
        raise UnreadableError(why)

    async def _call(self, body: dict[str, object], schema: dict[str, object]) -> object:
        """Send a call until there is a reply, as often as is reasonable; return that."""
        attempt, waited = 0, 0.0
        while True:
            amount = await self._reserve(body)
            try:
                reply = await self._client.post(body, schema)
            except (Refused, Lost) as error:
                wait = self._give_back(error, amount)
                self._purse.spent.failed += 1
                told = isinstance(error, Refused) and error.wait is not None
                pause = pause_before(attempt, wait)
                waited += pause
                attempt += not told
                if attempt > self._retries or waited > LONGEST_LIMIT:
                    raise ChatError(
                        f"{self._client.endpoint.url} does not answer: {error}, after {attempt} tries. "
                        "What was answered is kept; run it again later."
                    ) from None
                await asyncio.sleep(pause)
                continue
            except ChatError:
                self._purse.release(amount)
                self._settled.set()
                raise
            except BaseException:  # also if it is called off
                self._purse.lose(amount)
                self._settled.set()
                raise
            self._settle(amount, reply, body)
            return reply

    # Money

    async def _reserve(self, body: dict[str, object]) -> float:
        """Set aside the most that a call may cost; wait for those in flight if there is too little."""
        words, pictures = _size(body["messages"])
        read = words + pictures * self._picture_tokens + OVERHEAD  # no token is shorter than a byte
        written = body["max_tokens"]
        assert isinstance(written, int)
        while (amount := self._purse.reserve(read, written)) is None:
            if not self._purse.n_open:
                raise SpentError(
                    f"{self.model} has cost {self._purse.spent.cost:.4f} of {self._purse.cap}; the next "
                    "call might cost more than what is left. Raise the cap to go on."
                )
            self._settled.clear()
            await self._settled.wait()
        return amount

    def _give_back(self, error: Refused | Lost, amount: float) -> float | None:
        self._settled.set()
        if isinstance(error, Refused):
            self._purse.release(amount)
            return error.wait
        self._purse.lose(amount)
        return None

    def _settle(self, amount: float, reply: object, body: dict[str, object]) -> None:
        words, pictures = _size(body["messages"])
        usage = reply.get("usage") if isinstance(reply, dict) else None
        read, written = (_count(usage, name) for name in ("prompt_tokens", "completion_tokens"))
        if read is None:
            read = ceil(words / PER_TOKEN) + pictures * self._picture_tokens + OVERHEAD
        elif pictures:
            most = ceil((read - words / (2 * PER_TOKEN)) / pictures)
            self._picture_tokens = max(self._picture_tokens, most)
        if written is None:
            content = json.dumps(reply) if reply is not None else ""
            written = ceil(len(content) / PER_TOKEN)
        self._purse.settle(amount, read, written)
        self._settled.set()


def tokens_of(messages: object, picture_tokens: int = PICTURE_TOKENS) -> float:
    """Return about how many tokens messages are."""
    words, pictures = _size(messages)
    return words / PER_TOKEN + pictures * picture_tokens + OVERHEAD


def _size(messages: object) -> tuple[int, int]:
    """Return the bytes of all words in messages, and the number of pictures."""
    assert isinstance(messages, list)
    words = pictures = 0
    for message in messages:
        content = message["content"]
        for part in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            if part["type"] == "text":
                words += len(part["text"].encode("utf-8", "replace"))
            else:
                pictures += 1
    return words, pictures


def _count(usage: object, name: str) -> int | None:
    found = usage.get(name) if isinstance(usage, dict) else None
    return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else None
