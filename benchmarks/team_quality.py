"""What several people at once cost in quality: the clusters after as many answers of 1, 10 and 50 people.

    python -m benchmarks.team_quality digits --people 1 10 50 --answers 300 500 1000

People think for 2 seconds on average, in simulated time; nothing is served. Prints a line for each run.
"""

from __future__ import annotations

import argparse
import heapq
import json
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from samekind.project import Question

THINK = 2.0  # seconds


def load(name: str) -> tuple[Any, Any]:
    """Return rows and what they are."""
    if name == "digits":
        from sklearn.datasets import load_digits

        X, y = load_digits(return_X_y=True)
        return X, y
    if name != "banking77":
        raise SystemExit(f"there is no {name!r}: choose digits or banking77.")
    from experiments.small_data import load_banking77_embedded

    X, names = load_banking77_embedded()
    return np.asarray(X), np.unique(np.asarray(names), return_inverse=True)[1]


def said(question: Question, y: Any) -> Any:
    """Return what somebody who knows the matter answers."""
    if question.type == "pair":
        return "same" if y[question.a.row] == y[question.b.row] else "different"
    assert question.type == "lineup"
    own = y[question.item.row]
    return next((o.cluster for o in question.options if y[o.members[0].row] == own), "none")


def answer_together(X: Any, y: Any, people: int, marks: list[int], seed: int) -> dict[str, Any]:
    """Let people answer; return the adjusted Rand index after so many answers, and what was refused."""
    from samekind.data import Items
    from samekind.measures import adjusted_rand_index
    from samekind.project import Project, QuestionClosed

    items = Items.of_array(X, "rows", [f"x{k}" for k in range(X.shape[1])])
    now = [0.0]
    project = Project(items, random_state=seed, sheet=0)
    project.clock = lambda: now[0]
    rng = np.random.default_rng(seed)
    waiting = [(float(rng.random()), number) for number in range(people)]
    heapq.heapify(waiting)
    held: dict[int, Question] = {}
    n_answers = n_refused = 0
    found: dict[int, float] = {}
    while n_answers < max(marks) and waiting:
        now[0], number = heapq.heappop(waiting)
        if number in held:
            question = held.pop(number)
            try:
                project.answer(question.id, said(question, y), who=f"person {number}")
            except QuestionClosed:
                n_refused += 1
            else:
                n_answers += 1
            if n_answers in marks and n_answers not in found:
                found[n_answers] = round(adjusted_rand_index(y, project.clusters().labels_), 4)
        questions = project.next(f"person {number}")
        if questions:
            held[number] = questions[0]
        if not project.session.done:
            heapq.heappush(waiting, (now[0] + THINK * rng.gamma(4, 0.25), number))
    clusters = project.status().clusters
    return {
        "people": people,
        "seed": seed,
        "ari": found,
        "refused": n_refused,
        "clusters": clusters,
    }


def main(arguments: list[str] | None = None) -> int:
    """Print what comes of it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.team_quality", description=__doc__)
    parser.add_argument("data", choices=["digits", "banking77"])
    parser.add_argument("--people", type=int, nargs="+", default=[1, 10, 50])
    parser.add_argument("--answers", type=int, nargs="+", default=[300, 500, 1000])
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args(arguments)
    X, y = load(options.data)
    for people in options.people:
        for seed in range(options.seeds):
            result = answer_together(X, y, people, options.answers, seed)
            print(json.dumps({"data": options.data, **result}), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
