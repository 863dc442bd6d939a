"""A language model that plays the expert."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from threading import Lock
from typing import Self

import numpy as np

from samekind._validation import check_positive_int
from samekind.flow import DIFFERENT, SAME, UNSURE, Answers, Heard, Pairs, answer_by_stream
from samekind.oracles.chat.asker import Asker, tokens_of
from samekind.oracles.chat.calls import CallLoop, call_all
from samekind.oracles.chat.client import ChatClient
from samekind.oracles.chat.endpoint import Endpoint
from samekind.oracles.chat.item_parts import ItemParts, ShowsItems
from samekind.oracles.chat.prompt import (
    DEFAULT_CRITERION,
    Definition,
    Example,
    Prompt,
    prompt_version,
)
from samekind.oracles.chat.questions import ModelQuestion, group_pairs
from samekind.oracles.chat.reply import Said
from samekind.oracles.chat.spending import Estimate, Price, Purse, Spending

__all__ = ["ChatOracle"]

MOST_EXAMPLES = 3  # of each answer
MOST_CHARACTERS = 8_000  # of one item
WRITTEN = 12  # tokens of a reply, in estimates


class ChatOracle:
    """Answers from a language model, by any endpoint that speaks OpenAI's chat completions protocol.

    Parameters
    ----------
    items : Items, or sequence of n texts or of n dicts
        What the rows are: what `samekind.load` returns, texts, or the cells of rows by column.
    model : str
        The model's name, as the server knows it.
    url : str
        The address of the API, such as ``http://127.0.0.1:8000/v1`` or ``https://api.openai.com/v1``.
    criterion : str
        When two items are of one kind, in a sentence.
    price : (float, float)
        Money for a million tokens read and for a million tokens written.
    cap : float or None
        The most money to spend, calls in flight included.
    in_flight : int
        The most calls at once.
    per_minute : float or None
        The most calls in a minute; a server that says when to come again is obeyed in any case.
    timeout : float
        Seconds within which a reply must be there.
    retries : int
        How often a call that failed is sent again, with longer and longer pauses.
    per_call : int
        The most pairs that are asked about in one call.
    max_tokens : int or None
        The most tokens that a reply may have; None is enough for a model that does not think aloud.
    key_variable : str or None
        The environment variable that holds the key: SAMEKIND_CHAT_KEY, and OPENAI_API_KEY for api.openai.com.

    Attributes
    ----------
    name : str
        Under which answers are kept: the model's name, and the version of the prompt with its criterion.
    spent : Spending
        Calls, tokens and money so far.

    Notes
    -----
    The key is read from the environment when a call is sent, and kept nowhere. Items are sent to the server
    as they are: choose one that may see them.

    Examples
    --------
    >>> oracle = ChatOracle(
    ...     ["red", "blue", "crimson"], model="any", url="http://127.0.0.1:8000/v1",
    ...     criterion="Two words are of one kind if they name shades of one colour.", price=(0.2, 0.8),
    ... )
    >>> oracle.name
    'any, prompt 1-a8a608'
    >>> oracle.estimate(1_000).calls
    1000
    """

    batch = 32
    """Rows that a run asks about at once, unless told otherwise: enough for the calls in flight."""

    errs = True
    """Answers are evidence, not proof: a run estimates how often they are wrong, unless told otherwise."""

    def __init__(
        self,
        items: ShowsItems | Sequence[str] | Sequence[Mapping[str, object]],
        *,
        model: str,
        url: str,
        criterion: str = DEFAULT_CRITERION,
        price: tuple[float, float] | None = None,
        cap: float | None = None,
        in_flight: int = 8,
        per_minute: float | None = None,
        timeout: float = 60.0,
        retries: int = 6,
        per_call: int = 9,
        max_tokens: int | None = None,
        key_variable: str | None = None,
    ) -> None:
        if not isinstance(model, str) or not model.strip():
            raise ValueError(f"model must be the name of a model, got {model!r}.")
        if not isinstance(criterion, str) or not criterion.strip():
            raise ValueError("criterion must say in a sentence when two items are of one kind.")
        if cap is not None and price is None:
            raise ValueError("a cap needs a price: pass price=(read, written), per million tokens.")
        for name, value in (("timeout", timeout), ("cap", cap), ("per_minute", per_minute)):
            if value is not None and not value > 0:
                raise ValueError(f"{name} must be a number above 0, got {value!r}.")
        self.model = model.strip()
        self.criterion = criterion.strip()
        self.name = f"{self.model}, prompt {prompt_version(self.criterion)}"
        self._items = ItemParts(items, MOST_CHARACTERS)
        self._prompt = Prompt(self._items, self.criterion)
        self._purse = Purse(Price(*price) if price is not None else Price(), cap)
        self._in_flight = check_positive_int("in_flight", in_flight)
        self._client = ChatClient(
            Endpoint.at(url, key_variable), timeout, per_minute, self._in_flight
        )
        self._per_call = check_positive_int("per_call", per_call)
        self._asker = Asker(
            self._client,
            self._prompt,
            self._purse,
            model=self.model,
            retries=check_positive_int("retries", retries, minimum=0),
            max_tokens=max_tokens,
        )
        self._loop = CallLoop()
        self._held = Lock()  # while the loop is started or ended, or must not end

    def __repr__(self) -> str:
        return (
            f"ChatOracle({self.model!r}, {self._client.endpoint.url}, {self.spent.calls:,} calls)"
        )

    def __len__(self) -> int:
        return len(self._items)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def spent(self) -> Spending:
        """Calls, tokens and money so far."""
        return self._purse.spent

    @property
    def cap(self) -> float | None:
        """The most money to spend; None is no limit."""
        return self._purse.cap

    @property
    def url(self) -> str:
        """Where calls are sent."""
        return self._client.endpoint.url

    def __call__(self, pairs: Pairs) -> Answers:
        """Answer all pairs; an error says that not all could be asked about.

        Where the model's replies could not be read the answer is UNSURE. `stream` tells these apart.
        """
        try:
            return answer_by_stream(self, pairs)
        finally:
            self.close()

    def stream(self, pairs: Pairs) -> Iterator[Heard]:
        """Yield answers as they come, so that each can be kept before the next call is paid.

        What could not be read after some tries is `skipped`. `SpentError` says that the cap is reached,
        `ChatError` that the model cannot be asked; both after all that was paid has been yielded.
        """
        if not len(pairs):
            return
        questions = group_pairs(pairs, self._per_call)
        with self._held:
            self._open()
        for some in call_all(self._loop, questions, self._asker.ask, self._in_flight):
            said = [one for answered, _ in some for one in answered]
            if said:
                yield _heard(said)
            aside = [pair for _, unread in some for pair in unread]
            if aside:
                yield Heard(_pairs(aside), np.full(len(aside), UNSURE, dtype=np.int8), True)

    def use_examples(self, pairs: Pairs, answers: Answers) -> None:
        """Show the model some of these answers, the last ones of either sort, in the calls to come."""
        chosen: list[Example] = []
        for answer in (SAME, DIFFERENT):
            own = pairs[answers == answer][-MOST_EXAMPLES:]
            chosen += [Example(a, b, answer) for a, b in own.tolist()]
        self._asker.examples = chosen

    def use_definitions(self, definitions: Sequence[Definition]) -> None:
        """Tell the model in the calls to come how people defined some kinds."""
        self._asker.definitions = list(definitions)

    def describe(
        self, rows: Sequence[int], others: Sequence[int] = (), taken: Sequence[str] = ()
    ) -> Definition:
        """Return a name and a one-sentence definition for the cluster of some rows, also while it answers.

        `others` are rows of clusters that are like it, `taken` the names of other clusters. Errors are those
        of `stream`.
        """
        with self._held:
            self._open()
            return self._loop.run(self._asker.describe(rows, others, taken))

    def estimate(self, questions: int, *, sample: int = 200) -> Estimate:
        """Return about what so many questions cost, one in a call; nothing is sent."""
        rng = np.random.default_rng(0)
        n = len(self._items)
        rows = rng.integers(0, n, size=(max(1, min(sample, questions)), 2)).tolist()
        sizes = []
        for a, b in rows:
            messages = self._prompt.messages(ModelQuestion("pair", a, (b,), ((a, b),)))
            sizes.append(tokens_of(messages))
        read, written = ceil(float(np.mean(sizes)) * questions), questions * WRITTEN
        cost = self._purse.price.of(read, written)
        return Estimate(questions, questions, read, written, cost)

    def spending_text(self) -> str:
        """Return what was spent as text, to be kept with the answers."""
        return self._purse.to_text()

    def resume_spending(self, text: str) -> None:
        """Count what earlier runs spent, too: the cap holds for all of them together."""
        self._purse.add_text(text)

    def close(self) -> None:
        """Let go of the connections; they are opened again when needed."""
        with self._held:
            if self._loop.is_open:
                self._loop.run(self._client.close())
                self._loop.close()

    def _open(self) -> None:
        if not self._loop.is_open:
            self._loop.open()
            self._loop.run(self._asker.open())


def _heard(said: Said) -> Heard:
    answers = np.array([answer for _, answer in said], dtype=np.int8)
    return Heard(_pairs([pair for pair, _ in said]), answers, False)


def _pairs(pairs: list[tuple[int, int]]) -> Pairs:
    return np.array(pairs, dtype=np.intp).reshape(-1, 2)
