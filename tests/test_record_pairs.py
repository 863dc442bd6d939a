"""Candidate pairs of records: what columns hold, which pairs are compared, how alike their fields are."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import samekind
from samekind.data.records import records_of
from samekind.data.records.dates import parse_dates
from samekind.data.records.recognition import looks_like_records
from samekind.datasets import load_digits, make_records
from samekind.errors import DataError


def blocking(found, entity):
    """Return recall, and pairs a record."""
    pairs = found.points.candidates.pairs
    counts = np.bincount(entity)
    matches = int((counts * (counts - 1) // 2).sum())
    same = entity[pairs[:, 0]] == entity[pairs[:, 1]]
    return same.sum() / matches, len(pairs) / len(entity)


def alike(one, other, kind):
    """Return how alike two values are."""
    frame = pd.DataFrame({"value": [one, other, "xyzzy"], "key": ["k", "k", "k"]})
    found = records_of(frame, compare={"value": kind, "key": "category"}, block="key")
    candidates = found.points.candidates
    place = candidates.pairs.tolist().index([0, 1])
    return float(candidates.comparisons[place, 0])


@pytest.fixture(scope="module")
def people():
    return make_records(2_000, 0.25, random_state=0)


def test_blocking_loses_next_to_nothing(people):
    frame, entity = people
    recall, pairs = blocking(records_of(frame), entity)
    assert recall >= 0.995
    assert pairs <= 20


def test_pairs_are_sorted_each_once_and_the_smaller_row_first(people):
    pairs = records_of(people[0]).points.candidates.pairs.astype(np.int64)
    keys = pairs[:, 0] * 10_000 + pairs[:, 1]
    assert (pairs[:, 0] < pairs[:, 1]).all()
    assert (np.diff(keys) > 0).all()


def test_telephones_are_codes_however_they_are_written():
    phones = [f"+49 (30) 1234-{i}" if i % 2 else f"0301234{i}" for i in range(1000, 1040)]
    frame = pd.DataFrame({"contact": phones, "name": [f"n{i}" for i in range(40)]})
    assert records_of(frame, compare="contact").kinds == {"contact": "code"}


def test_two_files_are_compared_across_only(people):
    frame, entity = people
    first = ~pd.Series(entity).duplicated().to_numpy()
    second = pd.Series(entity)[~first].drop_duplicates().index.to_numpy()
    a, b = frame[first], frame.iloc[second]
    found = records_of(a, other=b)
    pairs, files = found.points.candidates.pairs, found.points.files
    assert (files[pairs[:, 0]] != files[pairs[:, 1]]).all()
    both = np.concatenate([entity[first], entity[second]])
    assert (both[pairs[:, 0]] == both[pairs[:, 1]]).sum() >= 0.995 * len(b)


@pytest.mark.parametrize(
    ("kind", "near", "far"),
    [
        ("name", ("Catherine", "Katherine"), ("Catherine", "Bob")),
        ("name", ("Lee, Ann", "Ann Lee"), ("Lee, Ann", "Tom Ray")),
        ("address", ("12 Main Street, Flat 3", "12 Main Street"), ("12 Main Street", "7 Oak Road")),
        ("code", ("1234567", "1243567"), ("1234567", "7651432")),
        ("date", ("1980-03-04", "1980-04-03"), ("1980-03-04", "1951-11-27")),
        ("date", ("1980-03-04", "1980-03-05"), ("1980-03-04", "1951-11-27")),
        ("number", ("100", "101"), ("100", "900")),
        ("set", ("red;green;blue", "blue; red;green"), ("red;green", "black")),
        (
            "text",
            ("the cat sat on the mat", "the cat sat on a mat"),
            ("the cat sat", "stock prices"),
        ),
    ],
)
def test_slips_are_more_alike_than_other_values(kind, near, far):
    assert alike(*near, kind) >= alike(*far, kind) + 0.25


def test_case_accents_and_signs_do_not_count():
    assert alike("Müller-Lüdenscheidt", "MULLER LUDENSCHEIDT", "name") == 1.0


def test_a_missing_value_is_not_equal_to_another_one():
    assert np.isnan(alike(None, None, "name"))
    assert np.isnan(alike("Ann", "", "name"))
    assert np.isnan(alike("n/a", "Ann", "name"))


def test_dates_in_the_usual_forms_are_read():
    forms = [
        "1980-12-31",
        "31.12.1980",
        "12/31/1980",
        "19801231",
        "31 Dec 1980",
        "1980-12-31 10:20",
    ]
    dates = parse_dates(forms)
    assert set(zip(dates.year, dates.month, dates.day, strict=True)) == {(1980, 12, 31)}
    assert parse_dates(["12345678", "hello", "", "99"]).share == 0.0


def test_what_columns_hold_is_found_out(people):
    kinds = records_of(people[0]).kinds
    assert kinds["surname"] == "name"
    assert kinds["street"] == "address"
    assert {kinds["postcode"], kinds["phone"], kinds["number"]} == {"code"}
    assert kinds["birth"] == "date"


def test_a_column_that_only_tells_rows_apart_is_not_compared(people):
    frame = people[0].assign(id=np.arange(len(people[0])))
    found = records_of(frame)
    assert "id" not in found.kinds
    assert any("'id' is not compared" in note for note in found.notes)


def test_records_must_agree_in_what_block_names(people):
    frame = people[0]
    pairs = records_of(frame, block="postcode").points.candidates.pairs
    postcode = frame["postcode"].to_numpy(dtype=object)
    assert len(pairs)
    assert (postcode[pairs[:, 0]] == postcode[pairs[:, 1]]).all()
    either = records_of(frame, block="postcode,surname+birth").points.candidates.pairs
    assert len(either) > len(pairs)


# Hostile data


def test_all_rows_identical_are_a_bounded_run():
    n = 50_000
    frame = pd.DataFrame({"name": ["Ann Lee"] * n, "town": ["Ulm"] * n})
    candidates = records_of(frame, compare="name:name,town:name").points.candidates
    assert len(candidates.pairs) == n - 1  # each is tied to the one before
    assert (candidates.comparisons == 1).all()


def test_a_key_that_all_rows_have_is_a_bounded_run():
    n = 20_000
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"country": "x", "code": rng.integers(10**8, 10**9, n).astype(str)})
    found = records_of(frame, compare="country:name,code:code", block="country")
    assert len(found.points.candidates.pairs) <= 20 * n


MILLION = """
import json, resource, sys, time
import numpy as np, pandas as pd
from samekind.data.records import records_of

n, case = int(sys.argv[1]), sys.argv[2]
codes = np.random.default_rng(0).integers(10**8, 10**9, n).astype(str)
frame = pd.DataFrame({"country": ["x"] * n, "code": "7" if case == "rows" else codes})
block = "country" if case == "block" else None
started = time.process_time()
found = records_of(frame, compare="country:name,code:code", block=block)
print(json.dumps([len(found.points.candidates.pairs), time.process_time() - started,
                  resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("case", ["key", "block", "rows"])
def test_a_million_identical_keys_are_a_bounded_run(case):
    """One value in all rows: as a key, as the user's own block, and of whole rows."""
    n = 1_000_000
    command = [sys.executable, "-c", MILLION, str(n), case]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=True)
    pairs, seconds, gigabytes = json.loads(done.stdout)
    assert pairs <= 20 * n
    assert seconds <= 300  # of CPU
    assert gigabytes <= 6


@pytest.mark.parametrize(
    ("frame", "arguments", "words"),
    [
        ({"a": [None, None], "b": ["", " "]}, {}, "no column by which records could be compared"),
        ({"id": [1, 2, 3]}, {}, "'id': it has another value in every row"),
        ({}, {}, "no column by which records could be compared"),
        ({"a": ["x", "y"]}, {"compare": "b"}, "no column 'b', which compare names"),
        ({"a": ["x", "y"]}, {"compare": "a:nmae"}, "Did you mean 'name'?"),
        ({"a": ["x", "y"]}, {"block": "b"}, "no column 'b', which block names"),
        ({"a": ["x", "y"]}, {"compare": ""}, "compare must name columns"),
    ],
)
def test_what_cannot_be_compared_is_said(frame, arguments, words):
    with pytest.raises(DataError, match=words.replace("?", r"\?")):
        records_of(pd.DataFrame(frame), **arguments)


def test_columns_of_one_name_are_refused_and_other_names_are_taken():
    table = pd.DataFrame([["Ann Lee", "x"], ["Ann Leo", "y"], ["Bob", "z"]], columns=["n", "n"])
    with pytest.raises(DataError, match="several columns named 'n'"):
        records_of(table)
    table.columns = pd.MultiIndex.from_tuples([("a", "b"), ("c", "d")])
    assert [0, 1] in records_of(table).points.candidates.pairs.tolist()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "column",
    [
        [np.inf, -np.inf, 1.5, np.nan, 2.5, 2.5],
        [["x", "y"], ["x"], None, [], ["y"], ["z"]],
        [1, "x", 2.5, None, b"q", True],
        ["- - - - - - - - - -", "… … … … … … … … …", ". . . . . . . . .", "a " * 99_999, None, "x"],
    ],
)
def test_odd_values_are_compared_without_a_word(column):
    names = ["Ann Lee", "Ann Leo", "Bob Ray", "Rob Ray", "Cid", "Sid"]
    found = records_of(pd.DataFrame({"name": names, "odd": column})).points.candidates
    assert [0, 1] in found.pairs.tolist()
    assert (np.isnan(found.comparisons) | (found.comparisons >= 0)).all()


def test_nothing_in_common_is_said():
    found = records_of(pd.DataFrame({"name": ["Ann", "Bob"], "city": ["Ulm", "Rom"]}))
    assert "no two records have anything in common: there is nothing to ask" in found.notes


def test_files_with_other_columns_are_refused_with_what_to_do():
    a = pd.DataFrame({"surname": ["Lee", "Ray"]})
    b = pd.DataFrame({"last_name": ["Lee", "Roy"]})
    with pytest.raises(DataError, match=r"columns=\['surname=last_name'\]"):
        records_of(a, other=b)
    found = records_of(a, other=b, columns={"surname": "last_name"}, compare="surname:name")
    assert [0, 2] in found.points.candidates.pairs.tolist()


# Files


@pytest.fixture(scope="module")
def files(tmp_path_factory, people):
    folder = tmp_path_factory.mktemp("records")
    frame, entity = people
    frame.assign(postcode="0" + frame["postcode"], person=entity).to_csv(
        folder / "people.csv", index=False
    )
    return folder


def test_records_of_a_file_keep_their_zeros_and_are_kept_beside_the_project(files):
    path, cache = files / "people.csv", files / "mine.db"
    found = samekind.load(path, records=True, labels="person", cache=cache)
    again = samekind.load(path, records=True, labels="person", cache=cache)
    assert found.is_records
    assert found.show(0).fields[5][1].startswith("0") or found.show(0).fields[5][1] == ""
    first, second = found.points.candidates, again.points.candidates
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)
    assert found.points.fingerprint() == again.points.fingerprint()
    assert samekind.load(**found.recipe()).points.fingerprint() == found.points.fingerprint()


def test_a_table_of_people_is_recognised_and_others_are_not(files, people):
    found = samekind.load(files / "people.csv", records="auto", labels="person")
    assert found.is_records
    assert any("pass records=False" in note for note in found.notes)
    digits = pd.DataFrame(load_digits().data[:200])
    assert not looks_like_records(digits)
    flowers = pd.DataFrame(
        {"height": [1.5, 2.5] * 50, "colour": ["red", "blue"] * 50, "n": [1, 2] * 50}
    )
    assert not looks_like_records(flowers)


def test_records_and_texts_are_not_both(files):
    with pytest.raises(DataError, match="records and text must not both be given"):
        samekind.load(files / "people.csv", records=True, text="surname")


def test_a_frame_of_records_is_solved(people):
    frame, entity = people
    oracle = samekind.LabelOracle(entity)
    found = samekind.solve(frame, oracle, algorithm="records", budget=60, random_state=0)
    assert found.n_questions_ <= 60
    assert len(found.labels_) == len(frame)


def test_made_up_records_are_the_same_for_the_same_seed():
    frame, entity = make_records(300, 0.3, random_state=5)
    again, same = make_records(300, 0.3, random_state=5)
    pd.testing.assert_frame_equal(frame, again)
    np.testing.assert_array_equal(entity, same)
    assert len(np.unique(entity)) == 210
    with pytest.raises(ValueError, match=r"duplicates must be a share between 0 and 0\.8"):
        make_records(10, 0.9)
