"""Features of many texts, and the second start with them."""

from __future__ import annotations

from collections.abc import Iterator
from tempfile import TemporaryDirectory

from benchmarks.ratios import Ratio, Setting

__all__ = ["features_of_texts"]

TEXTS = 60_000


def features_of_texts(setting: Setting) -> Iterator[Ratio]:
    """Load texts, against counting the parts of their words alone; and load them again."""
    import pandas as pd
    from sklearn.feature_extraction.text import TfidfVectorizer

    from benchmarks.ratios.clock import in_turns, seconds
    from samekind.data import load
    from samekind.datasets import make_messages

    texts, _ = make_messages(setting.rows(TEXTS), random_state=0)

    def count() -> None:
        TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4)).fit_transform(texts)

    with TemporaryDirectory(dir=setting.scratch) as folder:
        path = f"{folder}/messages.csv"
        pd.DataFrame({"message": texts}).to_csv(path, index=False)
        caches = iter(range(100))

        def make() -> None:
            load(path, text="message", cache=f"{folder}/{next(caches)}.db")

        make()  # everything is imported
        counting, making = in_turns(3, count, make)
        again = seconds(lambda: load(path, text="message", cache=f"{folder}/0.db"))
    what = f"features of {len(texts):,} texts"
    took = f"{making:.2f} s, counting parts of words {counting:.2f} s"
    yield Ratio(f"{what}, against counting parts of words", took, making / counting, 3.0)
    yield Ratio(f"{what} the second time", f"{again:.2f} s", again / making, 1 / 6)
