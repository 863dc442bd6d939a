"""A pile to look at: rows in two dimensions, of kinds of very different sizes."""

import numpy as np

CENTERS = np.array([[0, 0], [4, 1], [1.5, 4], [6, 5], [-3, 5], [8, 0]])
SIZES = (500, 300, 200, 60, 25, 8)
COLORS = ("#3b6ea8", "#d98c2b", "#4d9a63", "#b5485d", "#7d5ba6", "#3aa6a6", "#8a6d3b", "#888888")


def make_pile(random_state=0):
    """Return rows and their kinds."""
    rng = np.random.default_rng(random_state)
    y = np.repeat(np.arange(len(SIZES)), SIZES)
    return CENTERS[y] + rng.normal(scale=0.9, size=(len(y), 2)), y


def colors_of(labels):
    """Return a colour for each label, light grey for none."""
    return [COLORS[label % len(COLORS)] if label >= 0 else "#dddddd" for label in labels]
