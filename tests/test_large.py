"""Data larger than memory: one array file, written once; the same results as in memory; hostile files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import samekind
from conftest import assert_same_clusters, blobs
from samekind.data import as_points, load, sources, tables
from samekind.data.row_features import RowFeatures
from samekind.errors import DataError
from samekind.points import array as array_module

X, Y = blobs((160, 90, 60), seed=1)


def write(path, X, *, row_group_size=None, **columns):
    table = {f"x{j}": column for j, column in enumerate(np.asarray(X).T)} | columns
    path.parent.mkdir(exist_ok=True, parents=True)
    pq.write_table(pa.table(table), path, row_group_size=row_group_size)
    return path


@pytest.fixture
def parts(tmp_path):
    """A folder of three files, with a column of labels."""
    for k, rows in enumerate(np.array_split(np.arange(len(X)), 3)):
        kinds = np.array(["rose", "iris", "fern"])[Y[rows]]
        write(tmp_path / "parts" / f"{k}.parquet", X[rows], row_group_size=50, kind=kinds)
    return tmp_path / "parts"


class TestAsInMemory:
    """P27: the same questions as on the array."""

    @pytest.mark.parametrize("algorithm", ["focused", "batched", "uniform"])
    @pytest.mark.parametrize("joined", [7, 10**6])
    def test_whole_runs(self, tmp_path, monkeypatch, algorithm, joined):
        monkeypatch.setattr(tables, "BATCH_ROWS", joined)
        monkeypatch.setattr(array_module, "IN_MEMORY", 0)  # however small the data are
        monkeypatch.setattr(sources, "LARGE", 0)
        path = write(tmp_path / "X.parquet", X, row_group_size=100)
        options = {"algorithm": algorithm, "budget": 150, "random_state": 3}
        oracle = samekind.LabelOracle(Y)
        points = as_points(path)
        assert isinstance(points.X.base, np.memmap)
        found, expected = (samekind.solve(data, oracle, **options) for data in (path, X))
        assert_same_clusters(found, expected)
        assert found.labels_.tolist() == expected.labels_.tolist()

    @pytest.mark.parametrize("dtype", [np.int64, np.float16, np.float32, ">f8"])
    def test_arrays_in_files(self, tmp_path, dtype, monkeypatch):
        monkeypatch.setattr(sources, "LARGE", 0)
        path = tmp_path / "X.npy"
        np.save(path, np.asfortranarray((X * 100).astype(dtype)))
        mapped = np.load(path, mmap_mode="r")
        points = load(path, columns=["x1"], standardize=False).points
        assert points.rows(np.arange(len(X)))[:, 0].tolist() == mapped[:, 1].tolist()
        assert as_points(path).n == len(X)

    def test_an_array_that_needs_no_change_is_mapped_as_it_is(self, tmp_path, monkeypatch):
        monkeypatch.setattr(sources, "LARGE", 0)
        np.save(tmp_path / "X.npy", X)
        project = tmp_path / "a.db"
        items = load(tmp_path / "X.npy", standardize=False, cache=project)
        assert Path(items.X.filename) == tmp_path / "X.npy"
        assert not list(tmp_path.glob("a.*"))


class TestArrayFile:
    def test_is_written_once_with_progress(self, parts, tmp_path, monkeypatch):
        told = []
        given = {"labels": "kind", "cache": tmp_path / "mine.db"}
        first = load(parts, **given, progress=lambda stage, done, total: told.append((stage, done)))
        assert ("features", len(X)) in told
        assert Path(first.X.filename) == tmp_path / "mine.features.npy"
        expected = load(parts, labels="kind").X
        monkeypatch.setattr(RowFeatures, "transform", None)  # cannot be written again
        again = load(parts, **given)
        assert again.is_streamed
        np.testing.assert_array_equal(again.X, first.X)
        np.testing.assert_array_equal(again.X, expected)
        assert again.labels.tolist() == first.labels.tolist()
        assert again.notes == first.notes

    def test_is_written_anew_when_the_data_changed_or_it_is_damaged(self, parts, tmp_path):
        given = {"exclude": "kind", "standardize": False, "cache": tmp_path / "mine.db"}
        load(parts, **given)
        write(parts / "2.parquet", X[-5:] + 1, kind=["rose"] * 5)
        items = load(parts, **given)
        np.testing.assert_array_equal(items.X[-5:], X[-5:] + 1)
        expected = np.array(items.X)
        del items
        file = tmp_path / "mine.features.npy"
        file.write_bytes(file.read_bytes()[:-8] + bytes(8))
        np.testing.assert_array_equal(load(parts, **given).X, expected)

    def test_what_fails_leaves_no_file(self, parts, tmp_path):
        def stop(stage, done, total):
            if stage == "features" and done:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            load(parts, labels="kind", cache=tmp_path / "mine.db", progress=stop)
        assert [path.name for path in tmp_path.iterdir()] == ["parts"]

    def test_what_a_killed_process_left_is_deleted(self, parts, tmp_path):
        (tmp_path / ".mine.features.npy.0123").write_bytes(bytes(99))
        load(parts, labels="kind", cache=tmp_path / "mine.db")
        assert not list(tmp_path.glob(".mine*"))

    def test_a_session_goes_on_with_it(self, parts, tmp_path):
        ledger, oracle = tmp_path / "mine.db", samekind.LabelOracle(Y)
        for budget in (20, 60):
            items = load(parts, labels="kind", cache=ledger)
            with samekind.Session(items, ledger=ledger, budget=budget, random_state=0) as session:
                while not session.done:
                    session.tell(session.pending(), oracle(session.pending()))
        assert session.n_questions > 20


class TestColumns:
    def test_missing_values_are_filled_and_texts_left_out(self, tmp_path):
        values = [1.0, None, 3.0, 4.0]
        write(tmp_path / "X.parquet", X[:4, :1], gaps=values, name=["a", "b", "c", "d"])
        items = load(tmp_path, standardize=False)
        assert items.feature_names == ["x0", "gaps"]
        assert items.X[:, 1].tolist() == [1.0, 3.0, 3.0, 4.0]
        assert any("'name' left out" in note for note in items.notes)

    def test_what_is_used_and_what_not(self, tmp_path):
        kinds = np.array(["rose", "iris", "fern"])[Y % 3]
        names = [f"flower {k}" for k in range(len(X))]
        write(tmp_path / "X.parquet", X, id=np.arange(len(X)), name=names, kind=kinds)
        table = load(tmp_path, labels="kind")
        assert table.feature_names == [f"x{j}" for j in range(X.shape[1])]
        assert table.labels.tolist() == kinds.tolist()
        assert table.labels.codes.itemsize < 8
        assert any("'name' left out: 310 different texts" in note for note in table.notes)
        assert any("'id' left out: it only numbers the rows" in note for note in table.notes)

    @pytest.mark.parametrize("labels", [["a", None, "b"], [1.0, float("nan"), 2.0], [1, None, 2]])
    def test_labels_that_are_missing(self, tmp_path, labels, monkeypatch):
        monkeypatch.setattr(sources, "LARGE", 0)
        write(tmp_path / "0.parquet", np.arange(3.0)[:, None], y=pa.array(labels))
        with pytest.raises(DataError, match=r"'y' has no value in row 2\. Fill it in"):
            load(tmp_path / "0.parquet", labels="y")

    def test_labels_of_an_array(self, tmp_path, monkeypatch):
        monkeypatch.setattr(sources, "LARGE", 0)
        np.save(tmp_path / "X.npy", np.column_stack([X, Y]))
        table = load(tmp_path / "X.npy", labels=f"x{X.shape[1]}")
        assert table.labels.tolist() == Y.tolist()
        assert table.points.d == X.shape[1]


class TestFiles:
    def test_a_folder_is_read_in_the_order_of_numbers(self, tmp_path):
        for k in (10, 2, 1):
            write(tmp_path / "year=2024" / f"part.{k}.parquet", [[float(k)]])
        write(tmp_path / "_temporary" / "part.0.parquet", [[99.0]])
        write(tmp_path / ".hidden.parquet", [[99.0]])
        (tmp_path / "_SUCCESS").touch()
        (tmp_path / "readme.txt").write_text("no points", encoding="utf-8")
        for source in (tmp_path, str(tmp_path), str(tmp_path / "**" / "part*.parquet")):
            if "*" in str(source):
                (tmp_path / "_temporary" / "part.0.parquet").unlink()
            points = as_points(source)
            assert points.rows(np.arange(3)).ravel().tolist() == [1, 2, 10]

    def test_empty_files_and_row_groups_among_others(self, tmp_path):
        write(tmp_path / "0.parquet", np.empty((0, 1)))
        write(tmp_path / "1.parquet", [[5.0]])
        schema = pa.schema([("x0", pa.float64())])
        with pq.ParquetWriter(tmp_path / "2.parquet", schema) as writer:
            for values in ([], [2.0], [], [3.0, 4.0], []):
                writer.write_table(pa.table({"x0": values}, schema=schema))
        assert as_points(tmp_path).rows(np.arange(4)).ravel().tolist() == [5, 2, 3, 4]

    @pytest.mark.parametrize(
        ("source", "message"),
        [
            ("reading.parquet", r"reading\.parquet does not exist"),
            ("readings/*.parquet", "no file matches"),
        ],
    )
    def test_nothing_found(self, tmp_path, monkeypatch, source, message):
        monkeypatch.chdir(tmp_path)
        Path("readings").mkdir()
        with pytest.raises(FileNotFoundError, match=message):
            as_points(source)


class TestHostileFiles:
    """P29: files that are cut off, damaged or changed meanwhile."""

    @pytest.mark.parametrize("keep", [0, 3, 200, -1, -9])
    def test_cut_off(self, tmp_path, keep):
        write(tmp_path / "0.parquet", X)
        path = write(tmp_path / "1.parquet", X)
        path.write_bytes(path.read_bytes()[:keep])
        with pytest.raises(DataError, match=r"1\.parquet is not a Parquet file that can be read"):
            as_points(tmp_path)

    def test_damaged_in_the_middle(self, tmp_path):
        path = write(tmp_path / "X.parquet", np.random.default_rng(0).normal(size=(5000, 2)))
        body = bytearray(path.read_bytes())
        body[4:400] = bytes(396)
        path.write_bytes(body)
        with pytest.raises(DataError, match=r"X\.parquet is not a Parquet file that can be read"):
            as_points(path)

    def test_not_parquet_at_all(self, tmp_path):
        (tmp_path / "X.parquet").write_text("x0,x1\n1,2\n", encoding="utf-8")
        with pytest.raises(DataError, match="not a Parquet file"):
            as_points(tmp_path / "X.parquet")

    def test_changed_while_in_use(self, parts):
        items = load(parts, labels="kind")
        write(parts / "0.parquet", X[:9], kind=["rose"] * 9)
        assert items.points.rows(np.array([0])).shape == (1, 2)  # the array file stays as it was
        with pytest.raises(DataError, match="was changed while it was in use"):
            items.show(0)

    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            ({"x0": [1.0]}, "has no column 'x1', unlike"),
            ({"x0": [1.0], "x1": [1.0], "more": [1.0]}, "has also a column 'more', unlike"),
        ],
    )
    def test_files_that_do_not_fit_together(self, tmp_path, columns, message):
        write(tmp_path / "0.parquet", X[:, :2])
        pq.write_table(pa.table(columns), tmp_path / "1.parquet")
        with pytest.raises(DataError, match=rf"1\.parquet {message} .*0\.parquet"):
            as_points(tmp_path)


MEMORY = """
import sys
import numpy as np
import samekind

def anonymous():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("RssAnon")) / 1024

highest = 0.0

def watch(*_):
    global highest
    highest = max(highest, anonymous())

def solve(folder, project):
    items = samekind.load(folder, cache=project, progress=watch)
    y = np.arange(items.n) % 5
    found = samekind.solve(
        items, samekind.LabelOracle(y), budget=40, random_state=0, on_progress=watch
    )
    found.labels_
    watch()
    return items

solve(sys.argv[2], sys.argv[2] + "/few.db")  # compiles what is to be compiled
before, highest = anonymous(), 0.0
items = solve(sys.argv[1], sys.argv[1] + "/many.db")
print(items.X.nbytes / 2**20, highest - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux for its memory")
@pytest.mark.slow
def test_memory_stays_far_below_the_size_of_the_data(tmp_path):
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(5, 50)) * 10
    for k in range(8):
        rows = centers[np.arange(131_072) % 5] + rng.normal(size=(131_072, 50))
        write(tmp_path / "many" / f"{k}.parquet", rows, row_group_size=16_384)
    write(tmp_path / "few" / "few.parquet", rows[:40_000])
    folders = [str(tmp_path / name) for name in ("many", "few")]
    run = [sys.executable, "-c", MEMORY, *folders]
    out = subprocess.run(run, check=True, capture_output=True, text=True).stdout
    size, used = map(float, out.split())
    assert size == 400
    assert used < 240, f"{used:.0f} MiB for {size:.0f} MiB of data"
