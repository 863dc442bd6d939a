"""
A model first, then a person
============================

A cheap model that errs answers first; a person checks a sample, and what is doubtful.

Both are simulated here. For a real model, put ``samekind.ChatOracle(texts, url=…, model=…, criterion=…)`` in
the place of the first: the rest stays as it is.
"""

import samekind

X, y = samekind.datasets.load_digits(return_X_y=True)
X, y = X[:800], y[:800]

model = samekind.NoisyOracle(y, error=(0.04, 0.12), seed=0)  # false "same", false "different"
model.name = "model"
person = samekind.LabelOracle(y)
person.name = "person"

clusters = samekind.solve(
    X,
    [model, person],
    budget={"model": 300, "person": 40},
    price={"model": 1, "person": 100},
    random_state=0,
)
print(clusters.n_discovered_, "kinds")
for note in clusters.notes_[:2]:
    print("-", note)
print("adjusted Rand index:", round(samekind.measures.adjusted_rand_index(y, clusters.labels_), 3))

# what asking a real model would cost, without asking it
messages, _ = samekind.datasets.make_messages(200, random_state=0)
oracle = samekind.ChatOracle(
    messages,
    url="http://127.0.0.1:8000/v1",
    model="qwen2.5-7b-instruct",
    criterion="Two messages are of one kind if the customer wants the same thing.",
    price=(0.15, 0.60),
)
print(oracle.estimate(3_000))
