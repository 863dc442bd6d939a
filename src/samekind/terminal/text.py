"""Texts that are shown, never obeyed: neither Rich's markup nor escape sequences get through."""

from __future__ import annotations

import difflib
import re
from itertools import islice
from numbers import Integral, Real

from rich.text import Text

__all__ = ["brief", "differing", "differing_letters", "printable"]

UNPRINTABLE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
WORD = re.compile(r"\w+|[^\w\s]+")
DIFFERENT = "bold underline yellow"
ALIKE = 0.3  # share of common words below which nothing is marked: all would be
MOST_WORDS = 400  # compared
ALIKE_LETTERS = 0.6  # share of common letters below which two values are others, not one with slips
MOST_LETTERS = 200
QUANTITY = re.compile(r"-?\d*\.\d+(e[+-]?\d+)?")  # in which digits that differ say little


def printable(value: object, most: int | None = None, *, lines: bool = False) -> Text:
    r"""Return a value as a text that cannot steer the terminal, cut to `most` characters.

    With `lines`, a text may have several.

    Examples
    --------
    >>> printable("\x1b[2J[red]gone[/red]").plain
    '␛[2J[red]gone[/red]'
    """
    if isinstance(value, Real) and not isinstance(value, Integral):
        return Text(f"{value:.6g}")
    text = str(value)
    left = 0 if most is None else len(text) - most
    if left > 0:
        text = text[:most]
    shown = Text(_visible(text, lines))
    return shown.append(f" … {left:,} more characters", style="italic") if left > 0 else shown


def brief(text: str, most: int) -> str:
    """Return a text on one line of at most so many characters."""
    line = _visible(" ".join(text[: most * 4].split()), lines=False)
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def differing(left: str, right: str, most: int | None = None) -> tuple[Text, Text]:
    """Return two texts in which the words that differ are marked, unless nearly all do.

    Examples
    --------
    >>> one, other = differing("the red car", "the blue car")
    >>> [span.start for span in one.spans], [span.end for span in other.spans]
    ([4], [8])
    """
    texts = printable(left, most, lines=True), printable(right, most, lines=True)
    words = [list(islice(WORD.finditer(text.plain), MOST_WORDS)) for text in texts]
    ours, theirs = ([word.group() for word in side] for side in words)
    common = difflib.SequenceMatcher(None, ours, theirs, autojunk=False)
    shared = sum(block.size for block in common.get_matching_blocks())
    if 2 * shared < ALIKE * (len(ours) + len(theirs)):
        return texts
    for change, a, z, b, y in common.get_opcodes():
        if change != "equal":
            for text, side, first, last in ((texts[0], words[0], a, z), (texts[1], words[1], b, y)):
                if first < last:
                    text.stylize(DIFFERENT, side[first].start(), side[last - 1].end())
    return texts


def differing_letters(left: str, right: str) -> tuple[Text, Text] | None:
    """Return two short values in which the letters that differ are marked; None if they are too unlike.

    Examples
    --------
    >>> one, other = differing_letters("Smith", "Smyth")
    >>> [(span.start, span.end) for span in one.spans], differing_letters("Smith", "Jones")
    ([(2, 3)], None)
    """
    if left == right or not left or not right or max(len(left), len(right)) > MOST_LETTERS:
        return None
    if QUANTITY.fullmatch(left) or QUANTITY.fullmatch(right):
        return None
    texts = printable(left), printable(right)
    plain = [text.plain.casefold() for text in texts]
    if any(len(text.plain) != len(folded) for text, folded in zip(texts, plain, strict=True)):
        return None  # a letter that is two in lower case: places would not fit
    common = difflib.SequenceMatcher(None, plain[0], plain[1], autojunk=False)
    if common.ratio() < ALIKE_LETTERS:
        return None
    for change, a, z, b, y in common.get_opcodes():
        if change != "equal":
            texts[0].stylize(DIFFERENT, a, z)
            texts[1].stylize(DIFFERENT, b, y)
    return texts


def _visible(text: str, lines: bool) -> str:
    if not lines:
        return UNPRINTABLE.sub(_symbol, text)
    return "\n".join(UNPRINTABLE.sub(_symbol, line) for line in re.split(r"\r\n|\n", text))


def _symbol(match: re.Match[str]) -> str:
    code = ord(match.group())
    return chr(0x2400 + code) if code < 0x20 else "\N{REPLACEMENT CHARACTER}"  # ␛ for Escape
