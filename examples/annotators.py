"""
Annotators who err
==================

Three people answer, one of them mostly wrong. Who that is comes out, and the clusters are found all the same.
"""

import samekind

X, y = samekind.datasets.load_digits(return_X_y=True)
X, y = X[:600], y[:600]

rates = {"ann": 0.02, "ben": 0.1, "mal": 0.7}  # how often each is wrong
oracle = samekind.NoisyOracle(y, per_annotator=rates, seed=0)
clusters = samekind.solve(X, oracle, error_rate="estimate", budget=600, random_state=0)

# %%
# Nobody told samekind the rates. It estimates them from where answers contradict each other; as the clusters
# are made of the same answers, somebody who is nearly always right looks a little worse than he is.
for one in clusters.annotators_:
    error = f"{one.error:.0%} wrong (between {one.low:.0%} and {one.high:.0%})"
    print(f"{one.name}: {one.n_answers} answers, {error}; in truth {rates[one.name]:.0%}")
for note in clusters.notes_[:2]:
    print("-", note)

# %%
# The same answers, taken for the truth, are of little use.
trusting = samekind.solve(X, oracle, budget=600, random_state=0)
for name, found in (("taken for evidence", clusters), ("taken for the truth", trusting)):
    index = samekind.measures.adjusted_rand_index(y, found.labels_)
    print(f"{name}: adjusted Rand index {index:.2f}, {found.n_discovered_} kinds")
