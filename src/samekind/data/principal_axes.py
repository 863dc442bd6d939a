"""Principal axes of rows (PCA), as scikit-learn's ``PCA`` finds them and to the same bit.

scikit-learn takes a second to load, which is a third of what somebody waits for a first question about
pictures; this is all that is needed of it there. `tests/test_features.py` holds the two beside each other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from samekind.data.fitted import FORMAT, FittedState

__all__ = ["PrincipalAxes"]

Floats = NDArray[np.float32]
_CLASS = "PCA"  # what is kept is what scikit-learn's is made from


class PrincipalAxes:
    """In which directions rows differ most.

    Parameters
    ----------
    components : array, (k, d)
        The directions, each of length 1, those of most variance first.
    mean : array, (d,)
        Of the rows.
    variances : array, (k,)
        Of the rows in each direction.
    """

    def __init__(self, components: Floats, mean: Floats, variances: Floats) -> None:
        self.components_ = components
        self.mean_ = mean
        self.variances_ = variances

    @classmethod
    def fit(cls, X: Floats, size: int) -> PrincipalAxes:
        """Return the first axes of some rows: by the covariance, or of few rows by their own SVD."""
        n, d = X.shape
        mean = X.mean(axis=0)
        if n >= d:
            covariance = X.T @ X
            covariance -= n * mean[:, None] * mean
            covariance /= n - 1
            values, vectors = np.linalg.eigh(covariance)
            variances, axes = np.maximum(values[::-1], 0), vectors[:, ::-1].T
        else:
            from scipy.linalg import svd

            _, lengths, axes = svd(X - mean, full_matrices=False)
            variances = lengths**2 / (n - 1)
        largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=1)[:, None], axis=1)
        axes = axes * np.sign(largest)  # an axis has two directions: the largest part is positive
        # copied in the order in memory that it has, on which the last bit of products depends
        return cls(np.array(axes[:size]), mean, variances[:size].copy())

    def transform(self, X: Floats) -> Floats:
        """Return the coordinates of rows along the axes."""
        found: Floats = X @ self.components_.T
        found -= self.mean_[None, :] @ self.components_.T
        return found

    def state(self) -> FittedState:
        """Return what `from_state` makes it from."""
        about = {"class": _CLASS, "format": FORMAT}
        arrays = {
            "components_": self.components_,
            "mean_": self.mean_,
            "explained_variance_": self.variances_,
        }
        size = len(self.components_)
        return FittedState(about | {"parameters": {"n_components": size}}, arrays)

    @classmethod
    def from_state(cls, state: FittedState) -> PrincipalAxes:
        """Make it again."""
        state.check_class(_CLASS)
        arrays = state.arrays
        return cls(arrays["components_"], arrays["mean_"], arrays["explained_variance_"])
