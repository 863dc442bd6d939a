"""Firms with branches in other towns, which are not the same, and with sister firms at one address."""

from __future__ import annotations

import numpy as np
import pandas as pd

from experiments.made_records.clerk import Clerk, shuffled
from samekind.datasets import make_records

__all__ = ["make_firms"]

TRADES = {
    "bakery": ["bakery", "bakers", "bread and cakes"],
    "logistics": ["logistics", "transport", "freight", "shipping"],
    "consulting": ["consulting", "consultants", "advisory"],
    "construction": ["construction", "builders", "building"],
    "software": ["software", "systems", "digital", "technologies"],
    "dental": ["dental clinic", "dental practice", "dentistry"],
    "garage": ["motors", "car repair", "garage"],
    "pharmacy": ["pharmacy", "chemist"],
    "insurance": ["insurance", "assurance"],
    "furniture": ["furniture", "interiors", "home"],
    "travel": ["travel", "tours", "holidays"],
    "engineering": ["engineering", "industries", "machines"],
}
FORMS = {
    "limited": ["ltd", "ltd.", "limited", ""],
    "incorporated": ["inc", "inc.", "incorporated", ""],
    "gmbh": ["gmbh", "g.m.b.h.", ""],
    "company": ["co", "co.", "& co", "company", ""],
    "llc": ["llc", "l.l.c.", ""],
}
SISTERS = ["holding", "services", "international", "real estate", "north", "group"]
FIRST = [
    "alpha",
    "blue",
    "bright",
    "central",
    "delta",
    "eagle",
    "east",
    "first",
    "global",
    "green",
    "harbour",
    "ideal",
    "key",
    "lake",
    "metro",
    "noble",
]
FIRST += [
    "oak",
    "pacific",
    "prime",
    "quest",
    "royal",
    "silver",
    "summit",
    "tri",
    "union",
    "vista",
    "west",
    "zenith",
    "north",
    "star",
    "sun",
]


def make_firms(
    n_firms: int = 2_000, seed: int = 0, slips: float = 1.0
) -> tuple[pd.DataFrame, np.ndarray]:
    """Return entries of firms in several registers, and the branch that each is about."""
    clerk = Clerk(seed, slips)
    base, _ = make_records(2 * n_firms, 0.0, random_state=seed + 1)
    base = base.dropna()
    owners = base["surname"].tolist()
    homes = base[["number", "street", "town", "postcode"]].to_numpy().tolist()
    records, entities = [], []
    firm = 0
    while firm < n_firms:
        trade, form = clerk.one(list(TRADES)), clerk.one(list(FORMS))
        called = clerk.one(owners)
        if clerk.happens(0.4):
            called = clerk.one(FIRST) + clerk.one([" ", ""]) + clerk.one(FIRST)
        elif clerk.happens(0.3):
            called = f"{called} & {clerk.one(['sons', clerk.one(owners)])}"
        name, home = f"{called} {clerk.one(TRADES[trade])}", clerk.one(homes)
        site, size = (
            called.replace(" & ", "-").replace(" ", ""),
            int(np.exp(clerk.rng.normal(3, 1))),
        )
        n_branches = clerk.number(2, 12) if clerk.happens(0.12) else 1
        branches = [(name, clerk.one(homes) if b else home) for b in range(n_branches)]
        if clerk.happens(0.1):
            branches.append((f"{name} {clerk.one(SISTERS)}", home))
        for own_name, place in branches:
            phone, tax = clerk.digits(9), clerk.digits(9)
            for _ in range(min(6, clerk.rng.geometric(0.55))):
                about = (own_name, form, place, phone, tax, site, trade, size)
                records.append(_entry(clerk, *about))
                entities.append(firm)
            firm += 1
    return shuffled(records, entities, clerk)


def _entry(
    clerk: Clerk,
    name: str,
    form: str,
    place: list[str],
    phone: str,
    tax: str,
    site: str,
    trade: str,
    size: int,
) -> dict[str, str | None]:
    """Return what a register says of a branch."""
    if clerk.happens(0.3):
        name = name.replace("&", "and")
    words = clerk.written(name, 0.04).split()
    if len(words) > 2 and clerk.errs(0.05):
        words = words[:-1]
    written = " ".join([*words, clerk.one(FORMS[form])]).strip()
    if clerk.errs(0.05):
        written = f"the {written}"
    number, street, town, postcode = place
    if clerk.happens(0.1):
        written = f"{written} ({town})"
    street = street.replace("street", "st").replace("road", "rd") if clerk.happens(0.3) else street
    sign = clerk.one(["", "0", "+49 "])
    shown = round(size * float(np.exp(clerk.rng.normal(0, 0.1))))
    return {
        "company": written.title() if clerk.happens(0.7) else written.upper(),
        "street": clerk.left_out(f"{clerk.written(street, 0.05)} {number}", 0.06),
        "city": clerk.left_out(clerk.written(town, 0.04), 0.05),
        "postcode": clerk.left_out(clerk.written(postcode, 0.03), 0.08),
        "phone": clerk.left_out(sign + clerk.written(phone, 0.04), 0.35),
        "website": clerk.left_out(f"www.{site}.example", 0.4),
        "vat": clerk.left_out(clerk.written(tax, 0.05), 0.65),
        "industry": clerk.left_out(trade, 0.1),
        "employees": clerk.left_out(str(max(1, shown)), 0.3),
    }
