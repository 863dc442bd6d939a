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
    """P27: the same seed, the same questions."""
    assert of_arrays(title) == KEPT[title]


LONG = ("focused, many rows", "records", "records, wrong answers")


@pytest.mark.parametrize(
    "title",
    [
        pytest.param(title, marks=[pytest.mark.slow] * (title in LONG))
        for title in CASES
        if title not in KEPT
    ],
)
def test_a_second_run_is_the_first_again(title):
    """P27: also where the questions may change from version to version."""
    case = CASES[title]
    assert of_arrays(title) == fingerprints.fingerprint(case, *fingerprints.make_data(case.data))


def on_backends():
    """Return one case of every sort of data but arrays; the others are run with the slow tests."""
    seen = {"array"}
    for title, case in CASES.items():
        for backend in case.backends:
            if backend != "array":
                marks = [pytest.mark.slow] if backend in seen else []
                yield pytest.param(title, backend, marks=marks)
            seen.add(backend)


@pytest.mark.parametrize(("title", "backend"), list(on_backends()))
def test_every_sort_of_data_asks_the_same_questions(title, backend, tmp_path, request):
    """P27: in memory, in files and on Dask."""
    case = CASES[title]
    X, y = fingerprints.make_data(case.data)
    dask = request.getfixturevalue("client") if backend == "dask" else None
    data = fingerprints.open_backend(backend, X, tmp_path, dask)
    assert fingerprints.fingerprint(case, data, y) == of_arrays(title)
