"""Who answered, in words."""

from __future__ import annotations

from collections.abc import Sequence

from samekind.measures import Reliability

__all__ = ["is_told", "percent", "shown_name", "warnings_about"]

TOO_OFTEN = 0.4  # an error rate that nobody has who knows the matter and means well

VAGUE = 0.6  # width of an interval that tells nothing


def is_told(one: Reliability) -> bool:
    """Return whether there is more to say about somebody's errors than that there may be some."""
    return one.high - one.low <= VAGUE


def percent(share: float) -> str:
    """Return a share as a percentage, with a decimal where it is below ten."""
    return f"{share:.1%}" if share < 0.0995 else f"{share:.0%}"


def shown_name(name: str) -> str:
    """Return a name to show; answers may have none."""
    return name.strip() or "(no name)"


def warnings_about(annotators: Sequence[Reliability]) -> list[str]:
    """Return a sentence on everyone who is wrong too often beyond doubt."""
    return [
        f"{shown_name(one.name)} seems to be wrong at least {percent(one.low)} of the time. Look at some of "
        "these answers together, or take them back: "
        f"session.undo({one.n_answers}, who={one.name!r})."
        for one in annotators
        if one.low > TOO_OFTEN
    ]
