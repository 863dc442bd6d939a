"""Made-up messages to the service of a shop, to try out what is for texts."""

from __future__ import annotations

import json
import random
import re
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind._validation import RandomState, check_positive_int, check_seed

_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_SLOT = re.compile(r"\{(\w+)\}")
_TYPOS = 0.04  # of the words
_SKEW = 0.6  # topic i has a share proportional to i^-0.6


def make_messages(
    n: int = 1000, *, random_state: RandomState = None
) -> tuple[list[str], NDArray[np.str_]]:
    """Make short messages to the service of a shop, about 16 topics of different sizes.

    They hold names of products, numbers, polite words and some misspelt words, which say nothing about
    the topic.

    Parameters
    ----------
    n : int, default=1000
        Number of messages.
    random_state : int, Generator or None, default=None
        Fixes them.

    Returns
    -------
    texts : list of str
    topics : ndarray of n str

    Examples
    --------
    >>> from samekind.datasets import make_messages
    >>> texts, topics = make_messages(500, random_state=0)
    >>> len(texts), len(set(topics))
    (500, 16)
    """
    count = check_positive_int("n", n)
    rng = random.Random(check_seed(random_state))
    words = _words()
    names = list(words["topics"])
    shares = [(place + 1) ** -_SKEW for place in range(len(names))]
    topics = rng.choices(names, shares, k=count)
    texts = [_message(rng.choice(words["topics"][topic]), rng) for topic in topics]
    return texts, np.array(topics)


@cache
def _words() -> dict[str, Any]:
    """Return what messages are made of.

    `topics` come from the most frequent on. In their templates brackets hold alternatives, and a name in
    braces is one of `slots`.
    """
    found: dict[str, Any] = json.loads((files(__package__) / "messages.json").read_text("utf-8"))
    return found


def _message(template: str, rng: random.Random) -> str:
    """Return one message: greeting, what it is about, and an end; now and then a word is misspelt."""
    words = _words()

    def choice(match: re.Match[str]) -> str:
        return rng.choice(str(match[1]).split("|"))

    def slot(match: re.Match[str]) -> str:
        if match[1] == "number":
            return str(rng.randrange(10_000, 99_999))
        return str(rng.choice(words["names"] if match[1] == "name" else words["slots"][match[1]]))

    body = _CHOICE.sub(choice, template)
    whole = rng.choice(words["before"]) + body + rng.choice(words["after"])
    text = " ".join(_misspelt(word, rng) for word in _SLOT.sub(slot, whole).split(" "))
    return text[0].upper() + text[1:] if rng.random() < 0.6 else text


def _misspelt(word: str, rng: random.Random) -> str:
    """Return a word with two letters swapped, or one left out, or more often as it is."""
    if len(word) < 4 or not word.isalpha() or rng.random() > _TYPOS:
        return word
    at = rng.randrange(1, len(word) - 1)
    swapped = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return rng.choice([swapped, word[:at] + word[at + 1 :]])
