"""What a model said, read strictly: one of the answers that were offered, or nothing."""

from __future__ import annotations

import json
import re

from samekind.flow import DIFFERENT, SAME, UNSURE
from samekind.oracles.chat.errors import UnreadableError
from samekind.oracles.chat.prompt import Definition
from samekind.oracles.chat.questions import ModelQuestion

__all__ = ["Said", "read_content", "read_definition", "read_reply"]

ANSWERS = {"same": SAME, "different": DIFFERENT, "unsure": UNSURE}
SHOWN = 200  # characters of a reply in errors
LONGEST_NAME, LONGEST_DEFINITION = 60, 200  # characters

Said = list[tuple[tuple[int, int], int]]
"""Pairs, each with what was said of it."""


def read_content(body: object) -> str:
    """Return the words of a reply as the protocol has them; of one that was cut off none count."""
    try:
        choice = body["choices"][0]  # type: ignore[index]
        content, reason = choice["message"]["content"], choice.get("finish_reason")
    except (KeyError, IndexError, TypeError, AttributeError):
        raise UnreadableError("the reply has no message") from None
    if reason not in (None, "stop", "eos"):
        raise UnreadableError(f"the reply ended early ({str(reason)[:40]})")
    if not isinstance(content, str):
        raise UnreadableError("the message has no text")
    return content


def read_reply(content: str, question: ModelQuestion) -> Said:
    """Return what a model said of each pair; an error if it is not just what was asked for.

    Nothing is looked for within other words: they may be those of an item.

    Examples
    --------
    >>> asked = ModelQuestion("sheet", 7, (3, 4), ((7, 3), (7, 4)))
    >>> read_reply('{"answers": ["different", "same"]}', asked)
    [((7, 3), 0), ((7, 4), 1)]
    """
    found = _object(content)
    n = len(question.pairs)
    words = found.get("answers") if len(found) == 1 else None
    if not isinstance(words, list) or len(words) != n:
        raise UnreadableError(f"the reply does not have {n} answers: {content[:SHOWN]!r}")
    if not all(isinstance(word, str) and word in ANSWERS for word in words):
        raise UnreadableError(f"the reply has other words than were asked for: {content[:SHOWN]!r}")
    return [(pair, ANSWERS[word]) for pair, word in zip(question.pairs, words, strict=True)]


def read_definition(content: str) -> Definition:
    """Return the name and the definition in a reply; an error if it is not just these, each on one line.

    Examples
    --------
    >>> read_definition('{"name": "lost card", "definition": "The customer has lost a card."}').name
    'lost card'
    """
    found = _object(content)
    limits = {"name": LONGEST_NAME, "definition": LONGEST_DEFINITION}
    texts = [" ".join(text.split()) for text in found.values() if isinstance(text, str)]
    if found.keys() != limits.keys() or len(texts) != len(limits):
        raise UnreadableError(f"the reply is no name and definition: {content[:SHOWN]!r}")
    said = dict(zip(found, texts, strict=True))
    for what, most in limits.items():
        if not 0 < len(said[what]) <= most or not said[what].isprintable():
            raise UnreadableError(
                f"the {what} has {len(said[what])} characters, or some that cannot be seen; it may have 1 to "
                f"{most}: {said[what][:SHOWN]!r}"
            )
    return Definition(said["name"], said["definition"])


def _object(content: str) -> dict[str, object]:
    try:
        found = json.loads(_bare(content))
    except ValueError:
        raise UnreadableError(f"the reply is no JSON: {content[:SHOWN]!r}") from None
    if not isinstance(found, dict):
        raise UnreadableError(f"the reply is no JSON object: {content[:SHOWN]!r}")
    return found


def _bare(content: str) -> str:
    """Return a reply without the thoughts before it and the marks of a block of code around it."""
    text = re.sub(r"\A\s*<think>.*?</think>", "", content, count=1, flags=re.DOTALL).strip()
    block = re.fullmatch(r"```(?:json)?\s*\n(.*?)\n?```", text, flags=re.DOTALL)
    return block[1] if block else text
