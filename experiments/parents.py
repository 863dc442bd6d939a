"""Kinds of kinds: Banking77's 77 categories in ten groups, two of which are split by a few questions each.

A simulated person sorts the texts of two groups into their categories, each group as a part of a project in
which the ten groups are known. What counts is how many rows of the two groups get the right category.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.small_data import load_table
from samekind.data import ItemView, load
from samekind.project import Project, make_project

GROUPS = {
    "getting a card": "card_arrival card_delivery_estimate order_physical_card get_physical_card "
    "getting_spare_card card_about_to_expire activate_my_card card_linking",
    "virtual cards": "getting_virtual_card get_disposable_virtual_card disposable_card_limits "
    "virtual_card_not_working",
    "lost and blocked": "lost_or_stolen_card lost_or_stolen_phone compromised_card pin_blocked change_pin "
    "passcode_forgotten card_swallowed",
    "identity and account": "verify_my_identity why_verify_identity unable_to_verify_identity "
    "verify_source_of_funds age_limit edit_personal_details terminate_account country_support",
    "where it works": "card_acceptance visa_or_mastercard supported_cards_and_currencies atm_support "
    "apple_pay_or_google_pay card_not_working contactless_not_working",
    "card payments": "card_payment_fee_charged card_payment_not_recognised card_payment_wrong_exchange_rate "
    "declined_card_payment pending_card_payment reverted_card_payment? transaction_charged_twice "
    "extra_charge_on_statement direct_debit_payment_not_recognised request_refund Refund_not_showing_up",
    "cash": "cash_withdrawal_charge cash_withdrawal_not_recognised declined_cash_withdrawal "
    "pending_cash_withdrawal wrong_amount_of_cash_received wrong_exchange_rate_for_cash_withdrawal",
    "top-ups": "automatic_top_up pending_top_up top_up_by_bank_transfer_charge top_up_by_card_charge "
    "top_up_by_cash_or_cheque top_up_failed top_up_limits top_up_reverted topping_up_by_card verify_top_up",
    "transfers": "balance_not_updated_after_bank_transfer balance_not_updated_after_cheque_or_cash_deposit "
    "beneficiary_not_allowed cancel_transfer declined_transfer failed_transfer pending_transfer "
    "receiving_money transfer_fee_charged transfer_into_account transfer_not_received_by_recipient "
    "transfer_timing",
    "currencies": "exchange_charge exchange_rate exchange_via_app fiat_currency_support",
}
SPLIT = "lost and blocked", "virtual cards"
QUESTIONS = 60
REQUIRED = 0.9


def group_of() -> dict[str, str]:
    """Return the group of each category."""
    return {kind: group for group, kinds in GROUPS.items() for kind in kinds.split()}


def _says(kinds: NDArray[np.str_]) -> Callable[[ItemView], str]:
    return lambda item: str(kinds[item.row])


def sort_by(project: Project, kind_of: Callable[[ItemView], str], questions: int) -> None:
    """Let an honest person answer so many pairs and line-ups."""
    for _ in range(questions):
        if not (open_now := project.next("ann")):
            return
        question = open_now[0]
        if question.type == "pair":
            is_same = kind_of(question.a) == kind_of(question.b)
            project.answer(question.id, "same" if is_same else "different", who="ann")
        elif question.type == "lineup":
            own = kind_of(question.item)
            fits = [one.cluster for one in question.options if kind_of(one.members[0]) == own]
            project.answer(question.id, fits[0] if fits else "none", who="ann")


def split_groups(folder: Path, seed: int, names: Sequence[str]) -> list[float]:
    """Return which share of the rows of each group is right after it was split."""
    table = load_table("banking77.csv.gz").sample(3_000, random_state=seed)
    table.to_csv(folder / "texts.csv", index=False)
    items = load(folder / "texts.csv", text="text", labels="category", cache=folder / "texts")
    project = make_project(items, folder / "texts.db", random_state=seed)
    kinds, groups = np.array(project.items.labels), group_of()
    of_groups = np.array([groups[kind] for kind in kinds])
    for group in GROUPS:
        rows = np.flatnonzero(of_groups == group)
        project.kinds.place_in_new(rows.tolist(), group)
    shares = []
    for name in names:
        [match] = [ref for ref in project.kinds.refs() if ref.name == name]
        part = project.parts.open(
            project.parts.split(match.cluster, "Does the customer want the same?")
        )
        part.questions.use_sheets(False)  # a press is one question, about one item
        sort_by(part, _says(np.array(part.items.labels)), QUESTIONS)
    project.export("csv", folder / "clusters.csv")
    project.close()
    found = pd.read_csv(folder / "clusters.csv")
    for name in names:
        own = found[found["level_1"] == name]
        of_part = own.groupby("part")["label"]
        best = of_part.transform(lambda labels: labels.value_counts().index[0])
        shares.append(float((best == own["label"]).mean()))
    return shares


def main(names: Sequence[str] | None = None, runs: int = 5) -> None:
    """Print how many rows of each group are right."""
    names, every = names or SPLIT, []
    for seed in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            shares = split_groups(Path(folder), seed, names)
        every.append(shares)
        told = ", ".join(
            f"{name}: {100 * share:.1f} %" for name, share in zip(names, shares, strict=True)
        )
        print(f"seed {seed}, {QUESTIONS} questions each: {told}", flush=True)
    for name, mean in zip(names, np.mean(every, axis=0), strict=True):
        print(
            f"{name}: {100 * mean:.1f} % right on average; {'met' if mean >= REQUIRED else 'NOT MET'}"
        )
