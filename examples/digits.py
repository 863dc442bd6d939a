"""
Handwritten digits
==================

Find the ten digits among 1,797 pictures, with a label column in the expert's place.
"""

import rich

import samekind

X, y = samekind.datasets.load_digits(return_X_y=True)
clusters = samekind.solve(X, samekind.LabelOracle(y), budget=2_000, random_state=0)

rich.print(clusters)
print("adjusted Rand index:", round(samekind.measures.adjusted_rand_index(y, clusters.labels_), 3))

asked = clusters.classify(X[:200], samekind.LabelOracle(y), rows=range(200)).n_asked
print("questions to classify 200 pictures for certain:", asked.sum())
