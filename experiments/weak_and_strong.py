"""A cheap model that errs and a dear person who does not, together and alone, on Banking77 by MiniLM.

``python -m experiments.weak_and_strong --runs 3`` prints a line for each run: who answered, the adjusted Rand
index, the share of right rows, the clusters found and those of at least three rows, and the questions.
"""

from __future__ import annotations

import argparse
import json
from time import perf_counter
from typing import Any

import numpy as np

import samekind
from experiments.small_data import load_banking77_embedded
from experiments.truth import Instance
from samekind.measures import adjusted_rand_index

FALSE_SAME, FALSE_DIFFERENT = 0.04, 0.12
MODEL, PERSON = 3_000, 150  # answers
WHO = ("person", "model", "both", "random model and person")


def run(
    who: str, seed: int, model_budget: int = MODEL, person_budget: int = PERSON
) -> dict[str, object]:
    """Let some answer, and return what was found."""
    X, y = load_banking77_embedded()
    person = samekind.LabelOracle(y)
    rates = 0.5 if who.startswith("random") else (FALSE_SAME, FALSE_DIFFERENT)
    model = samekind.NoisyOracle(y, error=rates, seed=seed)
    common: dict[str, Any] = {"goal": "labels", "random_state": seed}
    began = perf_counter()
    if who == "person":
        found = samekind.solve(X, person, budget=person_budget, **common)
    elif who == "model":
        found = samekind.solve(X, model, budget=model_budget, error_rate="estimate", **common)
    else:
        budget = [model_budget, person_budget]
        found = samekind.solve(X, [model, person], budget=budget, **common)
    sizes = np.bincount(found.labels_[found.labels_ >= 0])
    return {
        "who": who,
        "seed": seed,
        "ari": round(adjusted_rand_index(y, found.labels_), 4),
        "rows right": Instance(X, y).matched_accuracy(found.labels_),
        "clusters": found.n_discovered_,
        "of at least 3 rows": int((sizes >= 3).sum()),
        "questions": found.n_questions_,
        "seconds": round(perf_counter() - began, 1),
    }


def main() -> None:
    """Run all, and print a line of JSON for each run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--who", nargs="*", choices=WHO, default=list(WHO))
    given = parser.parse_args()
    for seed in range(given.first_seed, given.first_seed + given.runs):
        for who in given.who:
            print(json.dumps(run(who, seed)), flush=True)


if __name__ == "__main__":
    main()
