"""Every benchmark still runs, on hardly any data."""

import json
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))


LONG = ("pass", "centres", "growth", "answers")


@pytest.mark.parametrize(
    "name",
    ["texts", "session", "sqlite", *(pytest.param(name, marks=pytest.mark.slow) for name in LONG)],
)
def test_measures_can_be_taken(name):
    from benchmarks.ratios import MEASURES, Setting

    ratios = list(MEASURES[name].take(Setting(shrink=1000)))
    assert ratios
    assert all(ratio.ratio > 0 for ratio in ratios)


def test_a_missed_promise_is_named_and_written_down(monkeypatch, capsys, tmp_path):
    main = import_module("benchmarks.__main__").main
    from benchmarks import ratios

    class Fake(ratios.Measure):
        def take(self, setting):
            yield ratios.Ratio("kept", "1 s / 2 s", 0.5, 1.0)
            yield ratios.Ratio("too slow", "2 s / 1 s", 2.0, 1.0)
            raise ratios.SkippedError("no more today")

    monkeypatch.setitem(ratios.MEASURES, "fake", Fake("", "", "a fake"))
    file = tmp_path / "found.json"
    assert main(["fake", "--json", str(file)]) == 1
    out = capsys.readouterr().out
    assert "Missed: fake (too slow)" in out
    assert "no more today" in out
    found = json.loads(file.read_text(encoding="utf-8"))["ratios"]
    assert [each["what"] for each in found] == ["kept", "too slow"]
    assert main(["fake", "--shrink", "10"]) == 0
    assert main(["unheard-of"]) == 2


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_cluster_gives_the_same_as_an_array():
    pytest.importorskip("distributed")
    from benchmarks.ratios import MEASURES, Setting

    _, differing = MEASURES["dask"].take(Setting(shrink=100))
    assert differing.is_kept
