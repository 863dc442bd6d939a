"""What is known after 12, 40 and 120 questions."""

import matplotlib.pyplot as plt
from piles import colors_of, make_pile

import samekind

X, y = make_pile()
figure, axes = plt.subplots(1, 3, layout="constrained")
for axis, budget in zip(axes, (12, 40, 120), strict=True):
    clusters = samekind.solve(
        X, samekind.LabelOracle(y), budget=budget, batch=1, goal="labels", random_state=0
    )
    kinds = [y[rows[0]] for rows in clusters.members_]  # one colour for a kind in all three
    labels = [kinds[label] if label >= 0 else -1 for label in clusters.labels_]
    axis.scatter(*X.T, s=2, c=colors_of(labels), alpha=0.5)
    known = [row for rows in clusters.members_ for row in rows]
    axis.scatter(*X[known].T, s=16, c=colors_of(y[known]), edgecolors="black", linewidths=0.5)
    right = samekind.measures.adjusted_rand_index(y, clusters.labels_)
    axis.set(title=f"{budget} questions: ARI {right:.2f}", xticks=[], yticks=[])
