"""
In a scikit-learn pipeline
==========================

``SameKindClustering`` is an estimator: scale, reduce, cluster by questions, and predict new rows.
"""

from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from samekind import SameKindClustering

X, y = load_wine(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0)

pipeline = make_pipeline(StandardScaler(), PCA(5), SameKindClustering(budget=60, random_state=0))
pipeline.fit(X_train, y_train)  # y answers the questions; it is not looked at otherwise
model = pipeline[-1]
print(model.n_questions_, "questions,", model.clusters_.n_discovered_, "kinds of wine")
print("adjusted Rand index, asked:", round(adjusted_rand_score(y_train, model.labels_), 2))
print("adjusted Rand index, new:", round(adjusted_rand_score(y_test, pipeline.predict(X_test)), 2))

# %%
# Without labels, a function answers. Here it knows them; yours would ask somebody.
asked = []


def same(a: int, b: int) -> bool:
    asked.append((a, b))
    return bool(y_train[a] == y_train[b])


pipeline.set_params(samekindclustering__oracle=same, samekindclustering__budget=25)
pipeline.fit(X_train)
print(len(asked), "calls; the first asked about rows", asked[0])
print("adjusted Rand index:", round(adjusted_rand_score(y_train, pipeline[-1].labels_), 2))
