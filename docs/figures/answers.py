"""How many rows are right after so many answers, on two piles of the package."""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment

import samekind


def rows_right(y, labels):
    """Return the share of rows in the cluster that their kind claims, one each, by the best assignment."""
    kinds, codes = np.unique(y, return_inverse=True)
    counts = np.zeros((kinds.size, labels.max() + 2))
    np.add.at(counts, (codes, labels), 1)  # -1, no cluster, is the last column
    own, claimed = linear_sum_assignment(counts[:, :-1], maximize=True)
    return counts[own, claimed].sum() / len(y)


digits = samekind.datasets.load_digits(return_X_y=True)
messages = samekind.datasets.make_messages(600, random_state=0)
figure, axis = plt.subplots(layout="constrained")
for (X, y), name, color in (
    (digits, "digits: 1,797 pictures, 10 kinds", "#3b6ea8"),
    (messages, "messages: 600 texts, 16 kinds", "#b5485d"),
):
    asked = (15, 30, 60, 100, 150, 200, 300)
    right = [
        rows_right(
            np.asarray(y),
            samekind.solve(
                X, samekind.LabelOracle(y), budget=budget, goal="labels", random_state=0
            ).labels_,
        )
        for budget in asked
    ]
    axis.plot(asked, right, marker="o", color=color, label=name)
axis.set(xlabel="answers", ylabel="share of rows right", ylim=(0, 1.02))
axis.legend(loc="lower right")
