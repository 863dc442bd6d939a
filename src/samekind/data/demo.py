"""Items to try samekind on."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from samekind.data.feature_names import AUTO, resolve_features
from samekind.data.features import make_features
from samekind.data.items import Items
from samekind.data.options import DEMO, LoadOptions
from samekind.data.picture_sources import Source, pictures_of
from samekind.data.tables import silent

__all__ = ["demo_items"]


def demo_items(features: str = AUTO) -> Items:
    """Return scikit-learn's digits, 1,797 pictures of 8 × 8 pixels.

    Examples
    --------
    >>> from samekind.data import demo_items
    >>> demo_items()
    Items('digits': 1,797 × image, 64 features)
    """
    from samekind.datasets import load_digits

    X, _ = load_digits(return_X_y=True)
    pixels = np.rint(X.reshape(-1, 8, 8) * (255 / 16)).astype(np.uint8)
    chosen = resolve_features(features, "image")
    source = Source(
        LoadOptions(Path("digits"), features=chosen), "image", len(pixels), lambda: DEMO
    )
    source.pictures = pictures_of(pixels)
    source.notes = ["handwritten digits of 43 people, from scikit-learn"]
    made = make_features(source, None, silent)
    items = Items(source, made, labels=None, features=lambda: made.features, has_recipe=True)
    items.recipe = lambda: {"data": DEMO, "features": chosen}  # type: ignore[method-assign]
    return items
