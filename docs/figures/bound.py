"""The promised and the true share of wrong labels, over the questions."""

import matplotlib.pyplot as plt
import numpy as np

import samekind

X, y = samekind.datasets.load_digits(return_X_y=True)
asked, promised, wrong = [], [], []
for budget in (50, 100, 200, 300, 450, 600, 900):
    clusters = samekind.solve(
        X, samekind.LabelOracle(y), budget=budget, goal="labels", random_state=0
    )
    kinds = np.array([y[rows[0]] for rows in clusters.members_] + [-1])
    asked.append(budget)
    promised.append(clusters.certificate_.wrong)
    wrong.append((kinds[clusters.labels_] != y).mean())

figure, axis = plt.subplots(layout="constrained")
axis.plot(asked, promised, marker="o", color="#b5485d", label="promised: at most")
axis.plot(asked, wrong, marker="o", color="#3b6ea8", label="in truth")
axis.set(xlabel="questions (handwritten digits)", ylabel="share of wrong labels", ylim=(0, 1))
axis.legend()
