"""People in households: who live at one address, with one name and one telephone, and are not the same.

Twins share a birthday, and fathers and sons a name. One person is written down by several offices: names in
either order, nicknames and initials, dates and telephones as each office writes them, old addresses, a name
of before the wedding, values left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from experiments.made_records.clerk import Clerk, shuffled
from samekind.datasets import make_records

__all__ = ["make_households"]

NICKNAMES = {
    "william": "bill",
    "robert": "bob",
    "richard": "dick",
    "margaret": "peggy",
    "elizabeth": "liz",
    "katherine": "kate",
    "michael": "mike",
    "thomas": "tom",
    "james": "jim",
    "edward": "ted",
    "alexander": "alex",
    "christopher": "chris",
    "susan": "sue",
    "patricia": "pat",
    "jennifer": "jen",
    "daniel": "dan",
    "matthew": "matt",
}
MAIL = ["mail.example", "post.example", "web.example", "inbox.example"]


def make_households(
    n_people: int = 2_500, seed: int = 0, slips: float = 1.0
) -> tuple[pd.DataFrame, np.ndarray]:
    """Return records of people by several offices, and the person of each."""
    clerk = Clerk(seed, slips)
    base, _ = make_records(2 * n_people, 0.0, random_state=seed + 1)
    base = base.dropna()
    given, surnames = base["given_name"].tolist(), base["surname"].tolist()
    homes = base[["number", "street", "town", "postcode"]].to_numpy().tolist()
    records, entities = [], []
    person = 0
    while person < n_people:
        surname, home, phone = clerk.one(surnames), clerk.one(homes), clerk.digits(8)
        for member in _household(clerk, given, surname):
            member |= {"home": home, "phone": phone if clerk.happens(0.6) else clerk.digits(8)}
            office = clerk.number(0, 3)
            for _ in range(min(6, clerk.rng.geometric(0.62))):
                if clerk.errs(0.06):
                    member = member | {"home": clerk.one(homes), "phone": clerk.digits(8)}
                if clerk.errs(0.02):
                    member = member | {"surname": clerk.one(surnames)}
                records.append(_record(clerk, member, office))
                entities.append(person)
                office = (office + 1) % 3
            person += 1
    return shuffled(records, entities, clerk)


def _household(clerk: Clerk, given: list[str], surname: str) -> list[dict[str, Any]]:
    """Return the people of one household."""
    born = clerk.number(1940, 1985)
    people: list[dict[str, Any]] = []
    for place in range(min(6, clerk.rng.geometric(0.45))):
        year = born + (0 if place < 2 else clerk.number(22, 36))
        date = (year + clerk.number(-4, 5), clerk.number(1, 13), clerk.number(1, 29))
        name = clerk.often_first(given)
        if place > 2 and clerk.happens(0.12):
            date = people[-1]["born"]  # twins
        if place == 2 and clerk.happens(0.06):
            name = people[0]["given"]  # named after the father
        middle = clerk.one("abcdefghjklmnprst")
        own = {"given": name, "middle": middle, "surname": surname, "born": date}
        people.append(own | {"mail": f"{name}.{surname}{clerk.number(1, 99)}@{clerk.one(MAIL)}"})
    return people


def _record(clerk: Clerk, person: dict[str, Any], office: int) -> dict[str, str | None]:
    """Return what an office notes of a person."""
    given = clerk.written(person["given"], 0.07)
    if clerk.errs(0.08):
        given = NICKNAMES.get(person["given"], given)
    elif clerk.errs(0.04):
        given = f"{given[0]}."
    if clerk.happens(0.3):
        given = f"{given} {person['middle']}."
    surname = clerk.written(person["surname"], 0.07)
    year, month, day = person["born"]
    if clerk.errs(0.03):
        month, day = (day, month) if day <= 12 else (month, clerk.number(1, 29))
    if clerk.errs(0.02):
        year += clerk.one([-10, -1, 1, 10])
    number, street, town, postcode = person["home"]
    street = street.replace("street", "st").replace("road", "rd") if clerk.happens(0.3) else street
    flat = f", flat {clerk.number(1, 9)}" if clerk.happens(0.08) else ""
    phone = clerk.written(person["phone"], 0.06)
    date = [f"{year}-{month:02d}-{day:02d}", f"{day:02d}.{month:02d}.{year}"][office % 2]
    first = office == 1 or clerk.errs(0.03)
    return {
        "name": f"{surname}, {given}" if first else f"{given} {surname}",
        "birth_date": clerk.left_out(date, 0.08),
        "address": clerk.left_out(f"{number} {clerk.written(street, 0.05)}{flat}", 0.08),
        "city": clerk.left_out(clerk.written(town, 0.05), 0.06),
        "postcode": clerk.left_out(clerk.written(postcode, 0.04), 0.08),
        "phone": clerk.left_out(f"{phone[:3]} {phone[3:]}" if office == 2 else phone, 0.25),
        "email": clerk.left_out(clerk.written(person["mail"], 0.04), 0.5),
    }
