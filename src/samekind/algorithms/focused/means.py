"""Means of groups, in coordinates whitened by the spread inside groups."""

from __future__ import annotations

import numpy as np

from samekind.flow import FloatArray, IntArray

__all__ = ["spread_inside", "whitened"]


def spread_inside(
    Z: FloatArray, groups: IntArray, spread: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return a map that whitens the spread inside groups, and the groups' means, drawn to that of all rows.

    It is shrunk to half of the spread of all rows, as if there were as many more rows as there
    are columns; a mean, as if one more row lay at the centre of all.
    """
    d, n = Z.shape[1], int(groups.max(initial=-1)) + 1
    sums = np.zeros((n, d))
    np.add.at(sums, groups, Z)
    means = sums / (np.bincount(groups, minlength=n)[:, None] + 1)
    within = Z - means[groups]
    values, vectors = np.linalg.eigh((within.T @ within + 0.5 * d * spread) / (len(Z) + d))
    to_white: FloatArray = vectors * np.maximum(values, max(values.max() * 1e-6, 1e-12)) ** -0.5
    return to_white, means


def whitened(Z: FloatArray, groups: IntArray, spread: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return rows and the means of their groups in whitened coordinates."""
    to_white, means = spread_inside(Z, groups, spread)
    return Z @ to_white, means @ to_white
