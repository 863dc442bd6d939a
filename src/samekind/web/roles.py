"""What each role may do, route by route.

Where a route is not listed it is for owners: whoever adds one has to say that others may use it.
"""

from __future__ import annotations

from samekind.ledger import ROLES

__all__ = ["ROLES", "ROLE_OF", "may", "needed_for"]

ANSWER, REVIEW, OWN = "answer", "review", "own"
ROLE_OF = {
    # questions and one's own answers to them
    "about": ANSWER,
    "status": ANSWER,
    "next_questions": ANSWER,
    "answer": ANSWER,
    "undo": ANSWER,
    "skipped": ANSWER,
    "find": ANSWER,
    "item": ANSWER,
    "picture": ANSWER,
    # what was found, what others answered, and changes of both
    "clusters": REVIEW,
    "cluster": REVIEW,
    "map_of_rows": REVIEW,
    "history": REVIEW,
    "rename": REVIEW,
    "remove": REVIEW,
    "merge": REVIEW,
    "place": REVIEW,
    "place_in_new": REVIEW,
    "answers": REVIEW,
    "presses": REVIEW,
    "correct": REVIEW,
    "contradictions": REVIEW,
    "annotators": REVIEW,
    "reviews": REVIEW,
    "settle": REVIEW,
    "threshold": REVIEW,
    # the project as a whole
    "export": OWN,
    "import_answers": OWN,
    "finish": OWN,
    "resume": OWN,
    "sheets": OWN,
    "criterion": OWN,
    "keep_threshold": OWN,
    "links": OWN,
    "invite": OWN,
    "revoke": OWN,
}


def needed_for(route: str) -> str:
    """Return the least role that may use a route."""
    return ROLE_OF.get(route, OWN)


def may(role: str, route: str) -> bool:
    """Return whether a role may use a route.

    Examples
    --------
    >>> may("review", "merge"), may("answer", "merge"), may("review", "a route of tomorrow")
    (True, False, False)
    """
    return ROLES.index(role) >= ROLES.index(needed_for(route))
