"""Made-up records of four kinds whose entities are known, each with what makes its kind hard.

People live in households, firms have branches, papers have siblings, and shops describe one product in words
of their own. Seed 0 of them had a part in choosing: twenty neighbours, digits with signs as codes, the
meaning of texts beside their letters. Figures are of other seeds.
"""

from __future__ import annotations

from experiments.made_records.firms import make_firms
from experiments.made_records.households import make_households
from experiments.made_records.offers import make_described, make_offers
from experiments.made_records.papers import make_papers

__all__ = ["make_described", "make_firms", "make_households", "make_offers", "make_papers"]
