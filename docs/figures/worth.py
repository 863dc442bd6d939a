"""Which rows were asked about, and how many questions each of them took."""

import matplotlib.pyplot as plt
import numpy as np
from piles import colors_of, make_pile

import samekind

X, y = make_pile()
asked = []


def answer(a, b):
    """Answer, and note the question."""
    asked.append((a, b))
    return y[a] == y[b]


samekind.solve(X, answer, budget=150, goal="labels", random_state=0)
first = {}
for number, (a, _) in enumerate(asked):
    first.setdefault(a, number)
rows = sorted(first, key=first.get)
questions = [sum(a == row for a, _ in asked) for row in rows]

figure, (left, right) = plt.subplots(1, 2, layout="constrained")
left.scatter(*X.T, s=3, c="#cccccc")
left.scatter(*X[rows].T, s=18, c=colors_of(y[rows]), edgecolors="black", linewidths=0.4)
left.set(title=f"{len(rows)} of {len(X):,} rows were asked about", xticks=[], yticks=[])
smooth = np.convolve(questions, np.ones(9) / 9, mode="valid")
right.bar(range(len(rows)), questions, width=1, color="#cfd9e6")
right.plot(np.arange(len(smooth)) + 4, smooth, color="#3b6ea8")
right.set(title="questions each of them took", xlabel="rows, in the order of drawing")
