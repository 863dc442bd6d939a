"""Things to try samekind on."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from samekind.things._calls import ignore
from samekind.things._options import DEMO, Options
from samekind.things._source import Source, pictures_of
from samekind.things._things import Things
from samekind.things._transforms import make_features


def demo_things() -> Things:
    """Return scikit-learn's digits, 1,797 pictures of 8 × 8 pixels.

    Examples
    --------
    >>> from samekind.things import demo_things
    >>> demo_things()
    Things('digits': 1,797 × image, 64 features)
    """
    from samekind.datasets import load_digits

    pixels = np.rint(load_digits().images * (255 / 16)).astype(np.uint8)
    source = Source(Options(Path("digits")), "image", len(pixels), "", pictures=pictures_of(pixels))
    made = make_features(source, None, ignore, only_pictures=False)
    assert made.transform is not None
    made.notes.insert(0, "handwritten digits of 43 people, from scikit-learn")
    return Things(
        source,
        made,
        made.transform.names,
        transform=lambda: made.transform,
        recipe={"data": DEMO},
    )
