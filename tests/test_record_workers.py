"""Records compared on a real Dask cluster: the same pairs, and the same numbers, bit for bit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("distributed")

import samekind
from conftest import Expert, dask_client
from samekind.data.records import comparisons, records_of
from samekind.datasets import make_records

pytestmark = pytest.mark.filterwarnings(
    "ignore::UserWarning:distributed", "ignore::ResourceWarning"
)


@pytest.fixture(scope="module")
def client():
    with dask_client() as client:
        yield client


def test_workers_compare_as_this_process_does(client, monkeypatch):
    frame, entity = make_records(400, 0.3, random_state=0)
    rng = np.random.default_rng(0)
    words = np.array(
        ["red", "green", "blue", "small", "large", "round", "of", "the", "with", "wheel", "box"]
    )
    frame["notes"] = [" ".join(rng.choice(words, 9)) for _ in range(len(frame))]
    frame["tags"] = pd.Series([";".join(rng.choice(words, 3)) for _ in range(len(frame))])
    frame["price"] = rng.random(len(frame)).round(3)
    here = records_of(frame)
    assert {"name", "address", "code", "date", "number", "set", "text"} <= set(here.kinds.values())
    monkeypatch.setattr(comparisons, "_CHUNK", 200)  # many pieces for each worker
    done = []
    there = records_of(frame, client=client, progress=lambda *state: done.append(state))
    for one, other in zip(here.points.candidates, there.points.candidates, strict=True):
        if isinstance(one, np.ndarray):
            assert one.tobytes() == other.tobytes()
    m = len(here.points.candidates.pairs)
    assert [at for stage, at, _ in done if stage == "comparing"][-1] == m
    assert len(done) > m // 200
    found = [
        samekind.solve(points, Expert(entity), algorithm="records", budget=30, random_state=0)
        for points in (here.points, there.points)
    ]
    np.testing.assert_array_equal(found[0].labels_, found[1].labels_)
