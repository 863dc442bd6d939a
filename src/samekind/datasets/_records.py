"""Made-up records of people, some of them twice or more with mistakes, to try out what is for duplicates."""

from __future__ import annotations

import json
import random
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from samekind._validation import RandomState, check_positive_int, check_seed

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["make_records"]

_COLUMNS = ("given_name", "surname", "number", "street", "town", "postcode", "birth", "phone")
_MOST_COPIES = 5
_MISTAKES = (1, 1, 1, 2, 2, 2, 3, 3, 4, 5)  # of a copy, each as likely
_KEYS = {a: b for row in ("qwertyuiop", "asdfghjkl", "zxcvbnm") for a, b in pairwise(row)}
_SOUNDS = [("ph", "f"), ("f", "ph"), ("ck", "k"), ("k", "c"), ("c", "k"), ("ie", "y"), ("y", "i")]
_SOUNDS += [
    ("mm", "m"),
    ("m", "mm"),
    ("n", "nn"),
    ("tt", "t"),
    ("s", "z"),
    ("ei", "ai"),
    ("w", "v"),
]


def make_records(
    n: int = 1_000, duplicates: float = 0.2, *, random_state: RandomState = None
) -> tuple[pd.DataFrame, NDArray[np.int64]]:
    """Make up records of people, some of whom are there more than once.

    Names, streets and towns are as unevenly frequent as in real files. A copy has one to five mistakes: slips
    of the pen, sounds written otherwise, swapped digits, day and month swapped, first name and surname
    swapped, nicknames, abbreviations, values left out, and people who moved or changed their name.

    Parameters
    ----------
    n : int, default=1000
        The number of records.
    duplicates : float, default=0.2
        The share of records that are copies of others; one person has at most five copies.
    random_state : int, Generator or None
        Fixes the draws.

    Returns
    -------
    frame : DataFrame of shape (n, 8)
        given_name, surname, number, street, town, postcode, birth (as 1980-12-31) and phone; texts, some
        missing.
    entity : ndarray of shape (n,)
        The number of the person that each record is about.

    Examples
    --------
    >>> import samekind
    >>> frame, entity = samekind.datasets.make_records(500, random_state=0)
    >>> frame.shape, len(set(entity.tolist()))
    ((500, 8), 400)
    """
    import pandas as pd

    size = check_positive_int("n", n)
    if not 0 <= duplicates <= 0.8:
        raise ValueError(f"duplicates must be a share between 0 and 0.8, got {duplicates!r}.")
    rng = np.random.default_rng(check_seed(random_state))
    n_copies = round(size * duplicates)
    originals = _people(size - n_copies, rng)
    owners = _owners(size - n_copies, n_copies, rng)
    dice = random.Random(int(rng.integers(2**63)))
    copies = [_copied([column[who] for column in originals], originals, dice) for who in owners]
    entity = np.concatenate([np.arange(size - n_copies), owners])
    order = rng.permutation(size)
    columns = {}
    for place, name in enumerate(_COLUMNS):
        values = np.array([*originals[place], *(copy[place] for copy in copies)], dtype=object)
        blank = rng.random(size) < (0.03 if name != "surname" else 0.005)
        values[blank] = None
        columns[name] = pd.array(values[order].tolist(), dtype="str")
    return pd.DataFrame(columns), entity[order]


@cache
def _words() -> dict[str, Any]:
    """Return the words of which people, streets and towns are made up, the frequent ones first."""
    found: dict[str, Any] = json.loads((files(__package__) / "people.json").read_text("utf-8"))
    return found


def _people(n: int, rng: np.random.Generator) -> list[list[str]]:
    """Return a list of values for each column."""
    words = _words()
    given = np.array(words["given"].split(), dtype=object)
    towns = rng.permutation(_joined(words["town_stems"], words["town_ends"]))
    rarer = rng.permutation(_joined(words["surname_stems"], words["surname_ends"]))
    surnames = np.array([*words["surnames"].split(), *rarer], dtype=object)
    town = _zipf(towns.size, n, rng)
    kinds = np.array(list(words["street_types"]), dtype=object)
    streets = np.array(words["streets"].split(), dtype=object)
    street = streets[rng.integers(streets.size, size=n)] + " " + kinds[_zipf(kinds.size, n, rng)]
    # A postcode is that of the town; large towns have several.
    postcode = 1000 + 8 * town + np.minimum(rng.geometric(0.5, size=n) - 1, 7)
    days = np.datetime64("1930-01-01") + rng.integers(27_759, size=n)  # until 2005
    return [
        given[_zipf(given.size, n, rng)].tolist(),
        surnames[_zipf(surnames.size, n, rng)].tolist(),
        np.minimum(rng.geometric(0.02, size=n), 400).astype(str).tolist(),
        street.tolist(),
        towns[town].tolist(),
        postcode.astype(str).tolist(),
        days.astype(str).tolist(),
        ("0" + rng.integers(10**8, 10**9, size=n).astype(str).astype(object)).tolist(),
    ]


def _joined(stems: str, ends: str) -> NDArray[np.object_]:
    """Return every stem with every end."""
    return np.array([stem + end for stem in stems.split() for end in ends.split()], dtype=object)


def _zipf(size: int, n: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw n numbers below a size, the first more often."""
    weights = 1 / (np.arange(size) + 8.0) ** 0.8
    return np.searchsorted(np.cumsum(weights / weights.sum()), rng.random(n)).clip(0, size - 1)


def _owners(n: int, n_copies: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return of whom each copy is: nobody has more than a few."""
    slots = np.repeat(rng.permutation(n), np.minimum(rng.geometric(0.6, size=n), _MOST_COPIES))
    if slots.size < n_copies:
        slots = np.repeat(np.arange(n), _MOST_COPIES)
        rng.shuffle(slots)
    return slots[:n_copies].astype(np.int64)


def _copied(values: list[str], originals: list[list[str]], dice: random.Random) -> list[str | None]:
    """Return a record with mistakes."""
    copy: list[str | None] = list(values)
    for _ in range(dice.choice(_MISTAKES)):
        chance = dice.random()
        if chance < 0.06:  # first name and surname swapped
            copy[0], copy[1] = copy[1], copy[0]
        elif chance < 0.10:  # moved
            other = dice.randrange(len(originals[0]))
            copy[2:6] = [column[other] for column in originals[2:6]]
        elif chance < 0.13:  # another surname, or another telephone
            place = dice.choice((1, 7))
            copy[place] = originals[place][dice.randrange(len(originals[0]))]
        elif chance < 0.23:
            copy[dice.randrange(len(copy))] = None
        else:
            place = dice.randrange(len(copy))
            value = copy[place]
            if value:
                copy[place] = _mistaken(value, _COLUMNS[place], dice)
    return copy


def _mistaken(value: str, column: str, dice: random.Random) -> str:
    if column == "birth" and dice.random() < 0.4:
        year, _, rest = value.partition("-")
        month, _, day = rest.partition("-")
        return f"{year}-{day}-{month}" if day and int(day) <= 12 else value
    if column == "given_name" and dice.random() < 0.4:
        otherwise = value[0] if dice.random() < 0.3 else _slip(value, dice)
        return str(_words()["nicknames"].get(value, otherwise))
    if column == "street" and dice.random() < 0.4:
        first, _, kind = value.rpartition(" ")
        return f"{first} {_words()['street_types'].get(kind, kind)}".strip()
    if column in ("given_name", "surname", "town") and dice.random() < 0.4:
        sounds = [(old, new) for old, new in _SOUNDS if old in value]
        if sounds:
            return value.replace(*dice.choice(sounds), 1)
    return _slip(value, dice)


def _slip(value: str, dice: random.Random) -> str:
    """Return a text with one character changed, left out, doubled or swapped with the next."""
    at = dice.randrange(len(value))
    letter = value[at]
    how = dice.randrange(4)
    if letter == "-" or len(value) == 1:
        return value
    if how == 0 and at + 1 < len(value) and value[at + 1] != "-":
        return value[:at] + value[at + 1] + letter + value[at + 2 :]
    if how == 1 and not letter.isdigit():
        return value[:at] + value[at + 1 :]
    if how == 2 and not letter.isdigit():
        return value[:at] + letter + value[at:]
    new = str(dice.randrange(10)) if letter.isdigit() else _KEYS.get(letter, "e")
    return value[:at] + new + value[at + 1 :]
