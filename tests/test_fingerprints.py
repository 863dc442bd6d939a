"""The same seed asks the same questions and finds the same, on every sort of data (P27)."""

from __future__ import annotations

import json
from functools import cache

import pytest

import fingerprints

CASES = {case.title: case for case in fingerprints.CASES}
KEPT = json.loads(fingerprints.KEPT.read_text())


def test_the_kept_cases_are_the_papers():
    assert KEPT.keys() == {title for title, case in CASES.items() if case.is_kept}


@cache
def of_arrays(title):
    case = CASES[title]
    return fingerprints.fingerprint(case, *fingerprints.make_data(case.data))


@pytest.mark.parametrize("title", KEPT)
def test_the_papers_algorithms_ask_what_they_always_asked(title):
    assert of_arrays(title) == KEPT[title]


@pytest.mark.parametrize("title", [title for title in CASES if title not in KEPT])
def test_a_second_run_is_the_first_again(title):
    case = CASES[title]
    assert of_arrays(title) == fingerprints.fingerprint(case, *fingerprints.make_data(case.data))


@pytest.mark.parametrize(
    ("title", "backend"),
    [(title, b) for title, case in CASES.items() for b in case.backends if b != "array"],
)
def test_every_sort_of_data_asks_the_same_questions(title, backend, tmp_path, request):
    case = CASES[title]
    X, y = fingerprints.make_data(case.data)
    dask = request.getfixturevalue("client") if backend == "dask" else None
    data = fingerprints.open_backend(backend, X, tmp_path, dask)
    assert fingerprints.fingerprint(case, data, y) == of_arrays(title)
