"""Offers of products by many shops: titles in any order of words, and descriptions in words of their own.

Products come in families that differ in a single word of the title, or in one or two of their features. In
`make_described` the title says little, and every shop describes the features in other words: what two
descriptions have in common is what they mean.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from experiments.made_records.clerk import Clerk, shuffled
from experiments.made_records.features import FEATURES, LINKS

__all__ = ["make_described", "make_offers"]

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


def make_described(
    n_products: int = 1_200, seed: int = 0, slips: float = 1.0
) -> tuple[pd.DataFrame, np.ndarray]:
    """Return offers with descriptions in the words of each shop, and the product of each.

    A family is of one brand and thing. Its products share two features, and have four to seven of their own.
    Two of five phrases are the maker's; the rest is what the shop makes of them.
    """
    clerk = Clerk(seed, slips)
    records, entities = [], []
    names = list(FEATURES)
    product = 0
    while product < n_products:
        brand, thing, price = (
            clerk.one(BRANDS),
            clerk.one(THINGS),
            float(np.exp(clerk.rng.normal(5, 0.8))),
        )
        drawn = clerk.rng.permutation(names).tolist()
        shared, left = drawn[:2], drawn[2:]
        for _ in range(min(5, clerk.rng.geometric(0.4))):
            count = clerk.number(4, 8)
            own, left = left[:count], left[count:]
            cost = price * float(np.exp(clerk.rng.normal(0, 0.1)))
            for _ in range(min(10, clerk.rng.geometric(0.45))):
                shown = cost * float(np.exp(clerk.rng.normal(0, 0.04)))
                described = _description(clerk, shared + own)
                record = {
                    "title": clerk.written(f"{brand} {thing}", 0.03),
                    "description": clerk.left_out(described, 0.02),
                    "price": clerk.left_out(f"{shown:.2f}", 0.1),
                }
                records.append(record)
                entities.append(product)
            product += 1
    return shuffled(records, entities, clerk)


def _description(clerk: Clerk, features: list[str]) -> str:
    """Return most features, each in one of several phrases, in any order."""
    told = [name for name in clerk.rng.permutation(features) if not clerk.happens(0.1)]
    ways = [FEATURES[name][:1] if clerk.happens(0.4) else FEATURES[name] for name in told]
    phrases = [clerk.written(clerk.one(some), 0.02) for some in ways]
    return " ".join(f"{clerk.one(LINKS)} {phrase}.".strip().capitalize() for phrase in phrases)
