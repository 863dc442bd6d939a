"""Every benchmark still runs, on hardly any data."""

import inspect
import itertools
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SUITES = sorted(path.stem for path in ROOT.glob("benchmarks/bench_*.py"))
KINDS = ("time_", "peakmem_", "track_")


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    monkeypatch.setenv("SAMEKIND_BENCH_SHRINK", "1000")


def combinations(cls):
    """Return all combinations of the parameters of a class of benchmarks, as asv makes them."""
    params = getattr(cls, "params", [])
    lists = params if params and isinstance(params[0], list) else [params] if params else []
    return list(itertools.product(*lists))


@pytest.mark.parametrize("name", SUITES)
def test_benchmarks_of_asv_run(name):
    suite = import_module(f"benchmarks.{name}")
    classes = [
        cls
        for _, cls in inspect.getmembers(suite, inspect.isclass)
        if cls.__module__ == suite.__name__
    ]
    assert classes
    for cls in classes:
        methods = [method for method in dir(cls) if method.startswith(KINDS)]
        assert methods, cls
        assert len(getattr(cls, "param_names", [])) == len(combinations(cls)[0])
        for arguments in combinations(cls):
            bench = cls()
            bench.setup(*arguments)
            for method in methods:
                found = getattr(bench, method)(*arguments)
                if method.startswith("track_"):
                    assert found >= 0
                    assert getattr(cls, method).unit
            getattr(bench, "teardown", lambda *_: None)(*arguments)


def test_asv_is_told_nothing_of_this_machine():
    told = json.loads((ROOT / "asv.conf.json").read_text(encoding="utf-8"))
    assert told["benchmark_dir"] == "benchmarks"
    assert not [value for value in told.values() if str(value).startswith(("/", "~"))]
    assert ".asv/" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()


def test_importing_all_benchmarks_is_light():
    """The server of asv imports them all, and every benchmark's process has what it has."""
    code = (
        "import sys, asv_runner.discovery as d\n"
        "found = [b.name for b in d.disc_benchmarks('benchmarks')]\n"
        "assert all(name.startswith('bench_') for name in found), found\n"
        "heavy = {'sklearn', 'dask', 'distributed', 'rich', 'pandas', 'sqlalchemy'}\n"
        "print(len(found), *heavy & set(sys.modules))"
    )
    pytest.importorskip("asv_runner")
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    count, *heavy = done.stdout.split()
    assert int(count) > 0
    assert not heavy


def test_every_measure_is_there():
    from benchmarks.ratios import MEASURES

    for measure in MEASURES.values():
        assert callable(
            getattr(import_module(f"benchmarks.ratios.{measure.module}"), measure.function)
        )


@pytest.mark.parametrize(
    "name", ["pass", "centres", "growth", "answers", "texts", "session", "sqlite"]
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


def test_all_measures_are_listed(capsys):
    from benchmarks.ratios import MEASURES

    assert import_module("benchmarks.__main__").main(["--list"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in MEASURES)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_cluster_gives_the_same_as_an_array():
    pytest.importorskip("distributed")
    from benchmarks.ratios import MEASURES, Setting

    _, differing = MEASURES["dask"].take(Setting(shrink=100))
    assert differing.is_kept
