"""The simulated person at the page."""

from __future__ import annotations

import os

import pytest

if os.environ.get("CI") != "true":
    for package in ("fastapi", "uvicorn", "httpx", "PIL"):
        pytest.importorskip(package)

from experiments import person
from experiments.drawings import SHAPES, write_drawings
from samekind.data import load


@pytest.mark.slow
def test_drawings_are_sorted_by_one_who_reads_only_the_page(tmp_path, monkeypatch):
    monkeypatch.setitem(person.MARKS, "pictures", (20, 70))
    kinds = write_drawings(tmp_path / "drawings", n=120, random_state=1)
    items = load(tmp_path / "drawings", cache=tmp_path / "cache")
    sitting = person.sit_down("pictures", items, kinds, seed=0)
    early, late = sitting.looks
    assert late["clusters"] == len(SHAPES)
    assert early["right"] < late["right"]
    assert late["right"] > 0.85
    assert late["known"] >= 60
    assert 70 <= sitting.presses < 90


@pytest.mark.slow
def test_the_same_person_reads_the_screen_of_a_real_browser(tmp_path, monkeypatch):
    pytest.importorskip("playwright")
    from experiments.person_browser import chromium

    monkeypatch.setitem(person.MARKS, "pictures", (20, 70))
    kinds = write_drawings(tmp_path / "drawings", n=120, random_state=1)
    items = load(tmp_path / "drawings", cache=tmp_path / "cache")
    with chromium() as browser:
        sitting = person.sit_down("pictures", items, kinds, 0, browser)  # raises if a reply is 5xx
    early, late = sitting.looks
    assert early["right"] < late["right"]
    assert late["right"] > 0.85
    assert {"lineup", "new kind"} <= set(sitting.types)
