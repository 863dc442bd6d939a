"""Fitted transformers of scikit-learn, made from what they have learnt and kept without pickle.

A transformer is kept as the name of its class, its parameters as JSON, and its fitted attributes as
arrays. Exactly the classes named here are made again; no code is ever loaded.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from samekind.data.files import Array
from samekind.errors import DataError

if TYPE_CHECKING:
    from sklearn.base import TransformerMixin
    from sklearn.compose import ColumnTransformer

    from samekind.data.columns import ColumnUse

__all__ = ["FORMAT", "About", "FittedState", "column_encoder", "restore", "state_of", "with_learnt"]

FORMAT = 1
About: TypeAlias = dict[str, Any]
"""What JSON can hold."""

_DECOMPOSITION, _PREPROCESSING = "sklearn.decomposition", "sklearn.preprocessing"
# Of each class: its home, the parameters that its work depends on, and its fitted attributes.
_KNOWN: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "PCA": (_DECOMPOSITION, ("n_components",), ("components_", "mean_", "explained_variance_")),
    "TruncatedSVD": (_DECOMPOSITION, ("n_components",), ("components_",)),
    "RobustScaler": (_PREPROCESSING, ("copy",), ("center_", "scale_")),
    "StandardScaler": (_PREPROCESSING, ("copy",), ("mean_", "var_", "scale_")),
    "TfidfVectorizer": (
        "sklearn.feature_extraction.text",
        ("analyzer", "ngram_range", "sublinear_tf"),
        ("idf_",),
    ),
}


@dataclass
class FittedState:
    """What something is made again from: JSON, and arrays."""

    about: About = field(default_factory=dict)
    arrays: dict[str, Array] = field(default_factory=dict)

    def put(self, name: str, part: FittedState) -> None:
        """Keep the state of a part."""
        self.about[name] = part.about
        self.arrays |= {f"{name}.{key}": array for key, array in part.arrays.items()}

    def part(self, name: str) -> FittedState:
        """Return the state of a part."""
        start = f"{name}."
        arrays = {k.removeprefix(start): a for k, a in self.arrays.items() if k.startswith(start)}
        return FittedState(self.about[name], arrays)

    def check_class(self, *known: str) -> str:
        """Return the class that it is the state of, if that is a known one and was kept as we keep it."""
        name, version = self.about.get("class"), self.about.get("format")
        if name not in known or version != FORMAT:
            raise DataError(
                f"the features were made by another version of samekind ({name}, format {version}). "
                "Load the data anew, without what is kept beside the project."
            )
        return str(name)


def state_of(transformer: TransformerMixin) -> FittedState:
    """Return what `restore` makes a fitted transformer from."""
    name = type(transformer).__name__
    _, parameters, attributes = _KNOWN[name]
    given = {parameter: getattr(transformer, parameter) for parameter in parameters}
    about = {"class": name, "format": FORMAT, "parameters": given}
    arrays = {attribute: np.asarray(getattr(transformer, attribute)) for attribute in attributes}
    if name == "TfidfVectorizer":  # as bytes: an array of texts would be as wide as the longest
        terms = sorted(transformer.vocabulary_, key=transformer.vocabulary_.__getitem__)
        arrays["terms"] = np.frombuffer(json.dumps(terms).encode(), dtype=np.uint8)
    return FittedState(about, arrays)


def restore(state: FittedState) -> TransformerMixin:
    """Make a fitted transformer again."""
    name = state.check_class(*_KNOWN)
    parameters = dict(state.about["parameters"])
    learnt = dict(state.arrays)
    if name == "TfidfVectorizer":
        parameters["ngram_range"] = tuple(parameters["ngram_range"])
        parameters["vocabulary"] = json.loads(learnt.pop("terms").tobytes())
        parameters["dtype"] = np.float32
    return with_learnt(name, parameters, learnt)


def with_learnt(
    name: str, parameters: Mapping[str, object], learnt: Mapping[str, Array]
) -> TransformerMixin:
    """Return a transformer that is fitted by giving it what it would have learnt."""
    home, _, attributes = _KNOWN[name]
    transformer = getattr(import_module(home), name)(**parameters)
    for attribute in attributes:
        setattr(transformer, attribute, learnt[attribute])
    if name != "TfidfVectorizer":
        transformer.n_features_in_ = np.shape(learnt[attributes[0]])[-1]
    return transformer


def column_encoder(columns: Sequence[ColumnUse]) -> ColumnTransformer:
    """Return a fitted encoder of columns: numbers with blanks filled, categories one-hot.

    It learns from a table of one row, which holds every column's median or first category: medians and
    categories were found before, by a pass over rows that may lie anywhere.
    """
    import pandas as pd
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import OneHotEncoder

    steps = []
    # Columns of one role that follow each other share a step, so that features keep the table's order.
    for _, group in groupby(columns, lambda column: column.role):
        run = list(group)
        names = [column.name for column in run]
        if run[0].categories:
            texts = [np.array(column.categories, dtype=object) for column in run]
            encoder = OneHotEncoder(categories=texts, handle_unknown="ignore", sparse_output=False)
        else:
            encoder = SimpleImputer(strategy="median")
        steps.append((f"columns from {names[0]!r} on", encoder, names))
    row = {
        column.name: [column.categories[0] if column.categories else float(column.median or 0.0)]
        for column in columns
    }
    whole = ColumnTransformer(steps, sparse_threshold=0.0, verbose_feature_names_out=False)
    with np.errstate(over="ignore"):
        fitted: ColumnTransformer = whole.fit(pd.DataFrame(row))
    for _, encoder, names in fitted.transformers_:
        if isinstance(encoder, SimpleImputer):  # not the mean of two halves of a huge number
            encoder.statistics_ = np.array([row[name][0] for name in names])
    return fitted


def standardizer(
    middle: NDArray[np.float64],
    half: NDArray[np.float64],
    mean: NDArray[np.float64],
    scale: NDArray[np.float64],
) -> list[TransformerMixin]:
    """Return scalers: onto [-1, 1], which no huge offset or range harms; then to mean 0, variance 1."""
    unit = with_learnt("RobustScaler", {"copy": False}, {"center_": middle, "scale_": half})
    learnt = {"mean_": mean, "var_": scale**2, "scale_": scale}
    return [unit, with_learnt("StandardScaler", {"copy": False}, learnt)]
