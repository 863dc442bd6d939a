"""Points that stay in their files: the same results as in memory, hostile files, little memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from samekind.points.sources import parquet
from samekind.points.sources.caches import ByteLRU

import samekind
from conftest import assert_same_clusters, blobs
from samekind.data import as_points, load
from samekind.errors import DataError
from samekind.points import ArrayPoints, ParquetPoints

X, Y = blobs((160, 90, 60), seed=1)


def write(path, X, *, row_group_size=None, **columns):
    table = {f"x{j}": column for j, column in enumerate(np.asarray(X).T)} | columns
    path.parent.mkdir(exist_ok=True, parents=True)
    pq.write_table(pa.table(table), path, row_group_size=row_group_size)
    return path


@pytest.fixture
def small_partitions(monkeypatch):
    """Parts of a hundred rows."""
    monkeypatch.setattr(parquet, "JOINED_ROWS", 100)


class TestAsInMemory:
    """However rows are cut into files, row groups and parts, and whatever is cached."""

    @given(
        X=hnp.arrays(
            st.sampled_from([np.float32, np.float64]),
            st.tuples(st.integers(2, 80), st.integers(1, 4)),
            elements=st.integers(-50, 50).map(lambda value: value / 8),
        ),
        group=st.integers(1, 30),
        files=st.integers(1, 4),
        joined=st.sampled_from([1, 20, 10**6]),
        cache=st.sampled_from([0, 500, 10**6]),
        threads=st.integers(1, 3),
        seed=st.integers(0, 99),
    )
    @settings(max_examples=40, deadline=None)
    def test_draws_and_cells(self, X, group, files, joined, cache, threads, seed):
        with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
            patch.setattr(parquet, "JOINED_ROWS", joined)
            for k, rows in enumerate(np.array_split(X, files)):
                write(Path(folder, f"{k}.parquet"), rows, row_group_size=group)
            streamed = ParquetPoints(folder, cache=cache, threads=threads)
            plain = ArrayPoints(X)
            assert (streamed.n, streamed.d) == X.shape
            rng = np.random.default_rng(seed)
            index = rng.integers(0, len(X), 10)
            assert streamed.rows(index).tolist() == plain.rows(index).tolist()
            centers = plain.rows(index[:3])
            drawn = []
            for points in (streamed, plain):
                sampler = points.sampler()
                sampler.add(centers[:1])
                sampler.add(centers[1:])
                uniforms = np.random.default_rng(seed).random(20)
                some = sampler.draw(uniforms) if sampler.total else np.empty(0)
                tried = points.sampler()
                tried.add_lazily(centers)
                by_trying = tried.draw_by_rejection(np.random.default_rng(seed), 20)
                cells = points.voronoi()
                for row in index[:6].tolist():
                    cells.add(row, deferred=row % 3 == 0)
                own_rng = np.random.default_rng(seed)
                far = [cells.draw(own_rng) for _ in range(5)]
                names = samekind.points.LabelMap.identity(6)
                called = cells.labeler()(names)
                cells.flush()
                chosen = np.arange(cells.n_sites) % 2 == 0
                drawn.append(
                    [
                        *(sampler.total, some.tolist(), sampler.cost(index).tolist(), far),
                        by_trying,
                        *(called.tolist(), cells.counts.tolist(), cells.owners(index).tolist()),
                        cells.sample(chosen, own_rng, 5).tolist(),
                        cells.nearest_rows(centers[0], 7).tolist(),
                        [some.tolist() for some in cells.moments(np.arange(cells.n_sites) % 2, 2)],
                        points.label_by_nearest(centers).tolist(),
                    ]
                )
            assert drawn[0] == drawn[1]

    @pytest.mark.parametrize("algorithm", ["focused", "batched", "uniform"])
    @pytest.mark.parametrize("group", [7, 100, 1000])
    def test_whole_runs(self, tmp_path, small_partitions, algorithm, group):
        path = write(tmp_path / "X.parquet", X, row_group_size=group)
        options = {"algorithm": algorithm, "budget": 150, "random_state": 3}
        oracle = samekind.LabelOracle(Y)
        found = samekind.solve(path, oracle, **options)
        assert_same_clusters(found, samekind.solve(X, oracle, **options))
        assert found.labels_.tolist() == samekind.solve(X, oracle, **options).labels_.tolist()

    def test_standardised_as_it_is_read(self, tmp_path, small_partitions):
        Z = X * [3.0, 1e-3] + [1e6, -7.0] if X.shape[1] == 2 else X * 3.0 + 1e6
        flat = np.full((len(Z), 1), 5.0)
        path = write(tmp_path / "X.parquet", np.hstack([Z, flat]), row_group_size=50)
        items = load(path, stream=True)
        points = items.points
        read = points.rows(np.arange(points.n))
        np.testing.assert_array_equal(read, load(path, stream=False).X)
        assert (read[:, -1] == 0).all()
        assert items.in_file_units(read[:5]) == pytest.approx(np.hstack([Z, flat])[:5])
        # Bit for bit, however it is cut.
        other = load(write(tmp_path / "Z.parquet", np.hstack([Z, flat])), stream=True).points
        assert read.tolist() == other.rows(np.arange(points.n)).tolist()
        run = {"budget": 60, "random_state": 1}
        found = samekind.solve(points, samekind.LabelOracle(Y), **run)
        assert_same_clusters(found, samekind.solve(read, samekind.LabelOracle(Y), **run))

    @pytest.mark.parametrize("dtype", [np.int64, np.float16, np.float32, ">f8"])
    def test_arrays_in_files(self, tmp_path, dtype):
        path = tmp_path / "X.npy"
        np.save(path, np.asfortranarray((X * 100).astype(dtype)))
        mapped = np.load(path, mmap_mode="r")
        points = load(path, columns=["x1"], standardize=False, stream=True).points
        assert points.rows(np.arange(len(X)))[:, 0].tolist() == mapped[:, 1].tolist()
        assert as_points(path).n == len(X)


class TestColumns:
    @pytest.mark.parametrize(
        ("kinds", "dtype"),
        [
            (["float32", "float16", "int16", "uint8", "bool"], np.float32),
            (["float32", "int32"], np.float64),
            (["float64"], np.float64),
            (["uint64"], np.float64),
        ],
    )
    def test_the_smallest_type_that_holds_all(self, tmp_path, kinds, dtype):
        columns = {kind: np.array([0, 1, 1]).astype(kind) for kind in kinds}
        pq.write_table(pa.table(columns), tmp_path / "X.parquet")
        points = ParquetPoints(tmp_path / "X.parquet")
        assert points._reader.dtype == dtype
        assert points.rows(np.array([1])).tolist() == [[1.0] * len(kinds)]

    def test_decimals_and_names_in_any_script(self, tmp_path):
        values = pa.array(["1.5", "2.25"]).cast(pa.decimal128(10, 3))
        table = pa.table(
            {"größe": values, "身高": [1, 2], "a.b": [3, 4], "a": [5, 6], "🙂 x": [0, 1]}
        )
        pq.write_table(table, tmp_path / "X.parquet")
        points = ParquetPoints(tmp_path / "X.parquet")
        assert points.rows(np.array([1])).tolist() == [[2.25, 2, 4, 6, 1]]
        chosen = ParquetPoints(tmp_path / "X.parquet", ["a", "größe"])
        assert chosen.rows(np.array([0])).tolist() == [[5, 1.5]]

    def test_the_names_of_rows_are_no_column(self, tmp_path):
        pd.DataFrame({"x": [1.0, 2.0]}, index=[7, 9]).to_parquet(tmp_path / "X.parquet")
        assert ParquetPoints(tmp_path / "X.parquet").feature_names == ["x"]

    def test_texts_are_named_with_what_to_do(self, tmp_path):
        path = write(
            tmp_path / "X.parquet", X, kind=["a"] * len(X), when=[pd.Timestamp(0)] * len(X)
        )
        with pytest.raises(DataError) as error:
            ParquetPoints(path)
        assert "'kind' (texts), 'when' (dates and times)" in str(error.value)
        assert "columns=['x0', 'x1'" in str(error.value)

    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            (["x0", "X1"], "no column 'X1'.*Did you mean 'x1'"),
            ([], "at least one column"),
            (["x0", "x0"], "each once"),
        ],
    )
    def test_columns_that_cannot_be(self, tmp_path, columns, message):
        with pytest.raises(DataError, match=message):
            ParquetPoints(write(tmp_path / "X.parquet", X), columns)

    def test_a_text_is_no_list_of_columns(self, tmp_path):
        with pytest.raises(TypeError, match="list of names"):
            ParquetPoints(write(tmp_path / "X.parquet", X), "x0")


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

    def test_a_list_keeps_its_order(self, tmp_path):
        paths = [write(tmp_path / f"{k}.parquet", [[float(k)]]) for k in (3, 1, 2)]
        assert ParquetPoints(paths).rows(np.arange(3)).ravel().tolist() == [3, 1, 2]

    def test_empty_files_and_row_groups_among_others(self, tmp_path):
        write(tmp_path / "0.parquet", np.empty((0, 1)))
        write(tmp_path / "1.parquet", [[1.0]])
        schema = pa.schema([("x0", pa.float64())])
        with pq.ParquetWriter(tmp_path / "2.parquet", schema) as writer:
            for values in ([], [2.0], [], [3.0, 4.0], []):
                writer.write_table(pa.table({"x0": values}, schema=schema))
        points = ParquetPoints(tmp_path)
        assert points.rows(np.arange(4)).ravel().tolist() == [1, 2, 3, 4]

    def test_one_row(self, tmp_path):
        points = ParquetPoints(write(tmp_path / "X.parquet", [[1.0, 2.0]]))
        assert points.voronoi().draw(np.random.default_rng(0)) == 0
        assert points.label_by_nearest(np.zeros((1, 2))).tolist() == [0]

    def test_row_groups_larger_than_the_cache(self, tmp_path):
        Z = np.random.default_rng(0).normal(size=(300_000, 2))
        points = ParquetPoints(write(tmp_path / "X.parquet", Z), cache=1000)
        assert len(points.executor.first_rows) == 2
        assert points.rows(np.array([299_999])).tolist() == [Z[-1].tolist()]

    def test_no_rows(self, tmp_path):
        with pytest.raises(DataError, match=r"X\.parquet has no rows"):
            ParquetPoints(write(tmp_path / "X.parquet", np.empty((0, 2))))

    @pytest.mark.parametrize(
        ("source", "message"),
        [
            ("reading", r"reading does not exist\. Did you mean 'readings'"),
            ("readings", "no Parquet file in the folder .*readings"),
            ("readings/*.parquet", "no file matches"),
        ],
    )
    def test_nothing_found(self, tmp_path, monkeypatch, source, message):
        monkeypatch.chdir(tmp_path)
        Path("readings").mkdir()
        with pytest.raises(FileNotFoundError, match=message):
            ParquetPoints(source)

    @pytest.mark.parametrize("source", ["X.csv", "no such thing"])
    def test_names_of_files_that_are_no_points(self, tmp_path, monkeypatch, source):
        monkeypatch.chdir(tmp_path)
        Path("X.csv").write_text("a\n1\n", encoding="utf-8")
        with pytest.raises((ValueError, OSError)) as error:
            samekind.solve(source, samekind.LabelOracle(Y))
        assert source in str(error.value)
        if source == "X.csv":
            assert "only one row" in str(error.value)


class TestHostileFiles:
    @pytest.mark.parametrize("keep", [0, 3, 200, -1, -9])
    def test_cut_off(self, tmp_path, keep):
        write(tmp_path / "0.parquet", X)
        path = write(tmp_path / "1.parquet", X)
        path.write_bytes(path.read_bytes()[:keep])
        with pytest.raises(DataError, match=r"1\.parquet is not a Parquet file that can be read"):
            ParquetPoints(tmp_path)

    def test_damaged_in_the_middle(self, tmp_path):
        path = write(tmp_path / "X.parquet", np.random.default_rng(0).normal(size=(5000, 2)))
        body = bytearray(path.read_bytes())
        body[4:400] = bytes(396)
        path.write_bytes(body)
        with pytest.raises(DataError, match=r"X\.parquet is not a Parquet file that can be read"):
            ParquetPoints(path)

    def test_not_parquet_at_all(self, tmp_path):
        (tmp_path / "X.parquet").write_text("x0,x1\n1,2\n", encoding="utf-8")
        with pytest.raises(DataError, match="not a Parquet file"):
            as_points(tmp_path / "X.parquet")

    def test_changed_while_in_use(self, tmp_path, small_partitions):
        path = write(tmp_path / "X.parquet", X, row_group_size=50)
        points = ParquetPoints(path, cache=0)
        write(path, X[:-1], row_group_size=40)
        with pytest.raises(DataError, match="was changed while it was in use"):
            points.rows(np.arange(len(X)))

    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            ({"x0": [1.0]}, "has no column 'x1', unlike"),
            ({"x0": [1.0], "x1": [1.0], "more": [1.0]}, "has also a column 'more', unlike"),
            ({"x0": [1.0], "x1": ["a"]}, "has texts in column 'x1', not numbers, unlike"),
        ],
    )
    def test_files_that_do_not_fit_together(self, tmp_path, columns, message):
        write(tmp_path / "0.parquet", X[:, :2])
        pq.write_table(pa.table(columns), tmp_path / "1.parquet")
        with pytest.raises(DataError, match=rf"1\.parquet {message} .*0\.parquet"):
            ParquetPoints(tmp_path)

    def test_columns_in_another_order_and_of_other_numbers_fit(self, tmp_path):
        pq.write_table(pa.table({"a": [1.5], "b": [2.5]}), tmp_path / "0.parquet")
        pq.write_table(pa.table({"b": [4], "a": [3]}), tmp_path / "1.parquet")
        assert ParquetPoints(tmp_path).rows(np.arange(2)).tolist() == [[1.5, 2.5], [3, 4]]

    @pytest.mark.parametrize(
        ("values", "what"),
        [
            (pa.array([1, 2, None]), "NaN"),
            (pa.array([1.0, 2.0, float("nan")]), "NaN"),
            (pa.array([True, False, None]), "NaN"),
            (pa.array([1.0, 2.0, float("-inf")]), "infinity"),
            (pa.array([1.0, 2.0, 1e200]), "1e\\+200"),
        ],
    )
    def test_unusable_values_have_a_place_and_a_name(self, tmp_path, values, what):
        pq.write_table(
            pa.table({"größe": pa.nulls(3, values.type).fill_null(values[0])}),
            tmp_path / "0.parquet",
        )
        pq.write_table(pa.table({"größe": values}), tmp_path / "1.parquet")
        message = rf"X has {what} in row 5 \(row 2 of .*1\.parquet\), column 'größe'.* first"
        with pytest.raises(ValueError, match=message):
            ParquetPoints(tmp_path)


class TestCache:
    def test_a_part_that_no_centre_reaches_is_not_decoded(self, tmp_path):
        Z = np.repeat(np.arange(20.0) * 100, 200)[:, None]
        Z += np.random.default_rng(0).normal(size=Z.shape)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(parquet, "JOINED_ROWS", 200)
            points = ParquetPoints(write(tmp_path / "X.parquet", Z, row_group_size=200), cache=0)
        sampler = points.sampler()
        sampler.add(np.arange(20.0)[:, None] * 100)
        before = points._loaded.n_loads
        sampler.add([[900.0], [901.0]])
        assert points._loaded.n_loads - before <= 2

    def test_single_rows_are_read_once(self, tmp_path, small_partitions):
        points = ParquetPoints(write(tmp_path / "X.parquet", X, row_group_size=50), cache=0)
        before = points._loaded.n_loads
        for _ in range(5):
            for row in (3, 150, 250):
                assert points.rows(np.array([row])).tolist() == [X[row].tolist()]
        assert points._loaded.n_loads - before <= 3

    def test_what_is_kept_is_bounded(self):
        cache = ByteLRU(100)
        for key in [1, 2, 1, 3, 1, 4]:
            cache.get(key, 40, lambda key: np.full(5, float(key)))
            assert sum(40 for key in range(10) if key in cache) <= 100
        assert cache.n_loads == 4  # 1 was always used lately
        assert cache.get(9, 1000, lambda key: np.full(125, float(key)))[0] == 9
        assert [key for key in range(10) if key in cache] == [9]

    def test_what_failed_is_tried_again(self):
        cache = ByteLRU(100)
        with pytest.raises(OSError, match="gone"):
            cache.get(1, 8, _fail)
        assert cache.get(1, 8, lambda key: np.array([key])).tolist() == [1]


def _fail(key):
    raise OSError("gone")


class TestFingerprint:
    def test_is_of_the_rows_not_of_the_files(self, tmp_path):
        one = ParquetPoints(write(tmp_path / "X.parquet", X))
        for k, rows in enumerate(np.array_split(X, 3)):
            write(tmp_path / "parts" / f"{k}.parquet", rows, row_group_size=11)
        assert ParquetPoints(tmp_path / "parts").fingerprint() == one.fingerprint()

    def test_changes_with_values_order_names_and_scale(self, tmp_path):
        found = {ParquetPoints(write(tmp_path / "X.parquet", X)).fingerprint()}
        other = X.copy()
        other[7, 1] = np.nextafter(other[7, 1], 0)
        found.add(ParquetPoints(write(tmp_path / "X.parquet", other)).fingerprint())
        found.add(ParquetPoints(write(tmp_path / "X.parquet", X[::-1])).fingerprint())
        path = write(tmp_path / "X.parquet", X)
        found.add(load(path, stream=True).points.fingerprint())
        found.add(ParquetPoints(path, ["x1", "x0"]).fingerprint())
        assert len(found) == 5


class TestTables:
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
        assert "id" in load(tmp_path, columns=["x0", "id"]).feature_names

    @pytest.mark.parametrize("labels", [["a", None, "b"], [1.0, float("nan"), 2.0], [1, None, 2]])
    def test_labels_that_are_missing(self, tmp_path, labels):
        write(tmp_path / "0.parquet", np.ones((3, 1)), y=pa.array(labels))
        with pytest.raises(DataError, match=r"'y' has no value in row 2\. Fill it in"):
            load(tmp_path / "0.parquet", labels="y", stream=True)

    def test_labels_of_an_array(self, tmp_path):
        np.save(tmp_path / "X.npy", np.column_stack([X, Y]))
        table = load(tmp_path / "X.npy", stream=True, labels=f"x{X.shape[1]}")
        assert table.labels.tolist() == Y.tolist()
        assert table.points.d == X.shape[1]

    def test_labels_in_dictionaries(self, tmp_path):
        for k in range(2):
            labels = pa.array(["a", "b"] if k else ["b", "c"]).dictionary_encode()
            write(tmp_path / f"{k}.parquet", np.ones((2, 1)), y=labels)
        assert load(tmp_path, labels="y").labels.tolist() == ["b", "c", "a", "b"]


MEMORY = """
import sys
import numpy as np
import samekind
from samekind.points import ParquetPoints

def anonymous():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("RssAnon")) / 1024

small = ParquetPoints(sys.argv[2])  # compiles what is to be compiled
found = samekind.solve(
    small, samekind.LabelOracle(np.arange(small.n) % 5), budget=40, random_state=0
)
found.labels_
before, highest = anonymous(), 0.0

def watch(*_):
    global highest
    highest = max(highest, anonymous())

points = ParquetPoints(sys.argv[1], cache=2**24, report=watch)
y = np.arange(points.n) % 5
found = samekind.solve(
    points, samekind.LabelOracle(y), budget=40, random_state=0, on_progress=watch
)
found.labels_
watch()
print(points.n * points.d * 8 / 2**20, highest - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux for its memory")
@pytest.mark.slow
def test_memory_stays_far_below_the_size_of_the_data(tmp_path):
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(5, 50)) * 10
    for k in range(8):
        rows = centers[np.arange(131_072) % 5] + rng.normal(size=(131_072, 50))
        write(tmp_path / f"{k}.parquet", rows, row_group_size=16_384)
    few = write(tmp_path / "_few" / "few.parquet", rows[:40_000])
    out = subprocess.run(
        [sys.executable, "-c", MEMORY, str(tmp_path), str(few)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    size, used = map(float, out.split())
    assert size == 400
    assert used < 240, f"{used:.0f} MiB for {size:.0f} MiB of data"
