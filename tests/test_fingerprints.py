"""The same seed asks the same questions and finds the same, on every sort of data."""

from __future__ import annotations

import json

import pytest

import fingerprints

CASES = {case.title: case for case in fingerprints.CASES}
KEPT = json.loads(fingerprints.KEPT.read_text())


def test_every_case_is_kept_for_every_backend():
    assert KEPT.keys() == CASES.keys()
    assert all(tuple(prints) == CASES[title].backends for title, prints in KEPT.items())
    assert all(len(set(map(tuple, prints.values()))) == 1 for prints in KEPT.values())


@pytest.mark.parametrize(
    ("title", "backend"), [(title, b) for title, case in CASES.items() for b in case.backends]
)
def test_the_same_seed_asks_the_same_questions(title, backend, tmp_path, request):
    case = CASES[title]
    X, y = fingerprints.make_data(case.data)
    dask = request.getfixturevalue("client") if backend == "dask" else None
    data = fingerprints.open_backend(backend, X, tmp_path, dask)
    assert fingerprints.fingerprint(case, data, y) == KEPT[title][backend]
