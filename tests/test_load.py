"""Reading a user's file: what becomes a feature, what is said about it, and what is refused."""

from __future__ import annotations

import datetime
import gzip
import io
import json
import os
import sys
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from samekind import load
from samekind.data import Items, readers
from samekind.errors import DataError


@pytest.fixture
def write(tmp_path):
    def write(text: str, name: str = "points.csv", encoding: str = "utf-8") -> Path:
        path = tmp_path / name
        path.write_bytes(text.encode(encoding))
        return path

    return write


FLOWERS = """name,height,colour,fresh,kind
Ann,1.5,red,True,rose
Bob,2.5,red,False,rose
Cyd,3.5,blue,True,iris
Dan,4.5,white,False,iris
"""


def flowers() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "name": ["Ann", "Bob", "Cyd", "Dan"],
            "height": [1.5, 2.5, 3.5, 4.5],
            "colour": ["red", "red", "blue", "white"],
            "fresh": [True, False, True, False],
            "kind": ["rose", "rose", "iris", "iris"],
        }
    )


class TestFormats:
    """The same table comes out of every format."""

    @pytest.fixture(params=["csv", "semicolon", "gz", "bom", "jsonl", "parquet"])
    def path(self, request, tmp_path):
        frame = flowers()
        form = request.param
        if form == "jsonl":
            path = tmp_path / f"flowers.{form}"
            rows = (json.dumps(row) for row in frame.to_dict("records"))
            path.write_text("\n".join(rows) + "\n\n")
        elif form == "parquet":
            path = tmp_path / "flowers.parquet"
            frame.to_parquet(path)
        else:
            suffix = "csv.gz" if form == "gz" else "csv"
            path = tmp_path / f"flowers.{suffix}"
            separator = ";" if form == "semicolon" else ","
            encoding = "utf-8-sig" if form == "bom" else "utf-8"
            frame.to_csv(path, index=False, sep=separator, encoding=encoding)
        return path

    def test_features_labels_and_notes(self, path):
        table = load(path, labels="kind", standardize=False)
        assert isinstance(table, Items)
        assert table.feature_names == [
            "height",
            "colour=blue",
            "colour=red",
            "colour=white",
            "fresh",
        ]
        assert table.X.tolist() == [
            [1.5, 0, 1, 0, 1],
            [2.5, 0, 1, 0, 0],
            [3.5, 1, 0, 0, 1],
            [4.5, 0, 0, 1, 0],
        ]
        assert table.X.dtype == np.float64
        assert table.X.flags.c_contiguous
        assert table.labels.tolist() == ["rose", "rose", "iris", "iris"]
        assert table.frame.columns.tolist() == flowers().columns.tolist()
        assert table.frame["name"].tolist() == ["Ann", "Bob", "Cyd", "Dan"]
        assert "2 numeric columns kept" in table.notes
        assert "column 'colour' one-hot encoded into 3 columns" in table.notes
        assert "column 'name' left out: 4 different texts in 4 rows" in table.notes
        assert "kind" not in " ".join(table.feature_names)
        assert "standardised" not in " ".join(table.notes)


class TestColumns:
    def test_columns_and_their_order(self, write):
        table = load(write(FLOWERS), columns=["fresh", "height"], standardize=False)
        assert table.feature_names == ["fresh", "height"]
        assert table.X[0].tolist() == [1.0, 1.5]
        assert load(write(FLOWERS), columns="height").feature_names == ["height"]

    def test_exclude(self, write):
        table = load(write(FLOWERS), exclude=["colour", "kind", "name"])
        assert table.feature_names == ["height", "fresh"]
        assert load(write(FLOWERS), exclude="colour").feature_names[0] == "height"

    def test_blanks_are_medians(self, write):
        path = write("x,y\n1,2\n,4\n1e308,5\n1.5e308,6\n")
        table = load(path, standardize=False)
        assert table.X[:, 0].tolist() == [1, 1e308, 1e308, 1.5e308]
        assert "1 blank in 'x' was taken to be its median, 1e+308" in table.notes
        path = write("x,y\n1,2\n,4\n2,5\n")
        assert load(path, standardize=False).X[1, 0] == 1.5
        assert load(path).X[:, 0].mean() == pytest.approx(0)
        assert load(path).X[:, 0].var() == pytest.approx(1)

    def test_missing_texts_are_a_category_of_their_own(self, write):
        table = load(write("x,colour\n1,red\n2,\n3,red\n4,NA\n"), standardize=False)
        assert table.feature_names == ["x", "colour=(missing)", "colour=red"]
        assert table.X[:, 1].tolist() == [0, 1, 0, 1]
        assert "one of them for the 2 missing values" in " ".join(table.notes)

    def test_a_column_that_numbers_the_rows(self, write):
        text = "id,x\n" + "".join(f"{i},{i % 5}\n" for i in range(1, 31))
        table = load(write(text))
        assert table.feature_names == ["x"]
        assert "column 'id' left out: it only numbers the rows" in " ".join(table.notes)
        assert load(write(text), columns=["id", "x"]).feature_names == ["id", "x"]

    def test_dates_lists_and_objects(self, tmp_path):
        frame = pd.DataFrame(
            {
                "x": [1, 2],
                "when": pd.to_datetime(["2020-01-01", "2021-01-01"]),
                "y": [1, 2],
                "z": [1, 2],
                "u": [1, 2],
                "took": pd.to_timedelta([1, 2], unit="s"),
                "day": [datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)],
                "path": [[1, 2], [3]],
            }
        )
        frame.to_parquet(tmp_path / "points.parquet")
        table = load(tmp_path / "points.parquet")
        assert table.feature_names == ["x", "y", "z", "u"]
        notes = "\n".join(table.notes)
        assert "column 'when' left out: dates and times" in notes
        assert "column 'took' left out: dates and times" in notes
        assert "column 'path' left out: its values are lists" in notes

    def test_types_of_pandas(self, tmp_path):
        frame = pd.DataFrame(
            {
                "nullable": pd.array([1, 2, 3], dtype="Int64"),
                "small": np.array([1, 2, 3], dtype=np.uint8),
                "flag": pd.array([True, False, True], dtype="boolean"),
                "kind": pd.Categorical(["10", "20", "10"]),
                "written": ["1", " 2", "3e0"],
            }
        )
        frame.to_parquet(tmp_path / "points.parquet")
        table = load(tmp_path / "points.parquet", standardize=False)
        assert table.feature_names == ["nullable", "small", "flag", "kind=10", "kind=20", "written"]
        assert table.X[1].tolist() == [2, 2, 0, 0, 1, 2]
        labels = load(tmp_path / "points.parquet", labels="nullable").labels
        assert labels.dtype == np.int64

    def test_the_index_of_a_parquet_file_is_a_column(self, tmp_path):
        frame = pd.DataFrame({"x": [1.0, 2.0], "kind": ["a", "b"]}).set_index("kind")
        frame.to_parquet(tmp_path / "points.parquet")
        assert load(tmp_path / "points.parquet", labels="kind").labels.tolist() == ["a", "b"]

    def test_quotes_unicode_and_spaces(self, write):
        text = 'größe, "Farbe, außen"\n1, "rot, hell"\n2, "rot, hell"\n3, blau\n'
        table = load(write(text), standardize=False)
        assert table.feature_names == ["größe", "Farbe, außen=blau", "Farbe, außen=rot, hell"]

    def test_without_header(self, write):
        path = write("5.1,3.5,a\n4.9,3.0,b\n4.7,3.2,a\n")
        table = load(path, header=False, labels="x2", standardize=False)
        assert table.X.tolist() == [[5.1, 3.5], [4.9, 3.0], [4.7, 3.2]]
        assert table.labels.tolist() == ["a", "b", "a"]

    def test_labels_that_look_missing_are_labels(self, write):
        table = load(write("x,land\n1,NA\n2,DE\n3,None\n"), labels="land")
        assert table.labels.tolist() == ["NA", "DE", "None"]

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
    @given(
        hnp.arrays(
            np.float64,
            st.tuples(st.integers(2, 12), st.integers(1, 4)),
            elements=st.floats(allow_nan=False, allow_infinity=False),
        )
    )
    def test_any_numbers_come_through(self, tmp_path, X):
        path = tmp_path / "numbers.csv"
        pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])]).to_csv(path, index=False)
        assert np.array_equal(load(path, standardize=False).X, X)
        Z = load(path).X
        assert np.isfinite(Z).all()
        assert np.abs(Z.mean(axis=0)).max() < 1e-6


class TestBadValues:
    """The message names the file, the row, the line, the column and the value."""

    @pytest.mark.parametrize(
        ("value", "message"),
        [
            ("abc", "column 'height' has 'abc', which is no number, in row 3 (line 4)"),
            ("inf", "column 'height' has inf, which is not finite, in row 3 (line 4)"),
            ("1e999", "column 'height' has inf, which is not finite"),
        ],
    )
    def test_one_bad_value(self, write, value, message):
        path = write(f'height,width\n1,1\n2,2\n"{value}",3\n4,4\n')
        with pytest.raises(DataError) as error:
            load(path)
        assert f"{path}: {message}" in str(error.value)
        assert "exclude=['height']" in str(error.value)
        assert load(path, exclude=["height"]).feature_names == ["width"]

    def test_decimal_commas(self, write):
        path = write("a;b\n1,5;1\n2,5;2\n3,5;3\n")
        with pytest.raises(DataError, match=r"'1,5', .*Write numbers with a decimal point"):
            load(path)

    def test_lines_are_counted_through_quotes_and_blank_lines(self, write):
        path = write('text,x\n"a\nb\nc",1\n\n"d\ne",2\nf,bad\ng,3\n')
        with pytest.raises(DataError, match=r"in row 3 \(line 8\)"):
            load(path)

    def test_json_lines(self, write):
        path = write('{"x": 1}\n\n{"x": 2}\n{"y": 3, "x": "a"}\n{"x": 4}\n', "points.jsonl")
        with pytest.raises(DataError, match=r"column 'x' has 'a', .* in row 3 \(line 4\)"):
            load(path)

    def test_missing_labels(self, write):
        with pytest.raises(DataError, match=r"label column 'y' has no value in row 2 \(line 3\)"):
            load(write("x,y\n1,a\n2,\n3,b\n"), labels="y")


class TestBadFiles:
    def test_missing(self, write, tmp_path):
        write(FLOWERS, "flowers.csv")
        with pytest.raises(FileNotFoundError, match=r"does not exist. Did you mean 'flowers.csv'"):
            load(tmp_path / "flower.csv")
        with pytest.raises(FileNotFoundError, match="does not exist"):
            load(tmp_path / "nowhere" / "flower.csv")

    @pytest.mark.parametrize("name", ["points.doc", "points.npy.gz"])
    def test_unknown_suffix(self, write, name):
        with pytest.raises(DataError, match=r"Known are \.csv, \.tsv.*\.npz"):
            load(write("x\n1\n", name))

    @pytest.mark.parametrize(
        ("name", "text"), [("a.csv", ""), ("a.tsv", "\n\n"), ("a.jsonl", "  \n")]
    )
    def test_empty(self, write, name, text):
        with pytest.raises(DataError, match="is empty"):
            load(write(text, name))

    @pytest.mark.parametrize(
        ("name", "text"),
        [("a.parquet", ""), ("a.npy", "something else"), ("a.npz", "something else")],
    )
    def test_not_what_the_suffix_says(self, write, name, text):
        with pytest.raises(DataError, match="that can be read"):
            load(write(text, name))

    def test_no_header(self, write):
        with pytest.raises(DataError, match=r"first line is '5.1,3.5'.*header=False"):
            load(write("5.1,3.5\n4.9,3.0\n"))

    def test_names_that_come_twice(self, write):
        with pytest.raises(DataError, match="several columns named 'a'"):
            load(write("a,b,a\n1,2,3\n"))

    @pytest.mark.parametrize(
        ("text", "line"),
        [
            ("a,b\n1,2\n3,4,5\n", 3),
            ("a,b\n1,2,9\n3,4,9\n", 2),
            ("a,b\n1,2\n\n3,4\n5,6,7,8\n", 5),
        ],
    )
    def test_lines_that_are_too_long(self, write, text, line):
        with pytest.raises(DataError, match=rf"line {line}: \d fields where the first line has 2"):
            load(write(text))

    def test_a_quote_that_never_ends(self, write):
        with pytest.raises(DataError, match="cannot be split into columns"):
            load(write('a,b\n1,"x\n3,4\n'))

    def test_wrong_encoding(self, write):
        for name in ("points.csv", "points.jsonl"):
            with pytest.raises(DataError, match=r"not UTF-8 .*0xe9.*Save it as UTF-8"):
                load(write('{"é": 1}', name, encoding="latin-1"))
        late = "x\n" + "1\n" * 300_000 + "é\n"
        with pytest.raises(DataError, match="not UTF-8"):
            load(write(late, encoding="latin-1"))

    def test_damaged_archive(self, tmp_path):
        """P29: and those that are cut off."""
        path = tmp_path / "points.csv.gz"
        path.write_bytes(gzip.compress(FLOWERS.encode() * 100)[:-20])
        with pytest.raises(DataError, match="is damaged"):
            load(path)
        for name in ("a.csv.gz", "a.csv.bz2", "a.csv.xz", "a.jsonl.gz", "a.jsonl.bz2"):
            (tmp_path / name).write_bytes(b"x\n1\n")
            with pytest.raises(DataError, match="is damaged"):
                load(tmp_path / name)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ('{"x": 1}\n{"x": \n', "line 2: not JSON"),
            ('{"x": 1}\n[1, 2]\n', "line 2: expected an object"),
            ("{}\n{}\n", "has no columns"),
        ],
    )
    def test_broken_json_lines(self, write, text, message):
        with pytest.raises(DataError, match=message):
            load(write(text, "points.jsonl"))

    def test_no_usable_column(self, write):
        with pytest.raises(DataError, match=r"no column that can be used.*'name' left out: 3"):
            load(write("name\nAnn\nBob\nCyd\n"))
        with pytest.raises(DataError, match="no column that can be used"):
            load(write("y\n1\n2\n"), labels="y")


PRODUCTS = "id,name,description,price,sku\n" + "".join(
    f"{7 * i},Thing {i},A thing of the number {i} and nothing else,{i % 4},A{i}\n"
    for i in range(30)
)


class TestWhatHappensToColumns:
    """P28: it is said for every column, and most columns are never left out without being asked."""

    def test_every_column_is_in_the_notes(self, write):
        text = "id,height,gaps,colour,when,name,kind,more\n" + "".join(
            f"{i},{i % 7},{i % 9 if i % 3 else ''},{'ab'[i % 2]},2024-01-{i % 28 + 1:02},n{i},x,{i % 5}\n"
            for i in range(30)
        )
        items = load(write(text), labels="kind", exclude="more")
        said = "\n".join(items.notes)
        for name in ("id", "gaps", "colour", "when", "name", "more"):
            assert repr(name) in said
        assert "2 numeric columns kept" in said
        roles = {column.name: str(column.role) for column in items.columns}
        assert roles == {
            "id": "id", "height": "number", "gaps": "number", "colour": "category", "when": "date",
            "name": "names", "kind": "label", "more": "shown",
        }  # fmt: skip

    def test_where_most_would_be_left_out_it_asks_which_to_use(self, write):
        path = write(PRODUCTS)
        with pytest.raises(DataError) as error:
            load(path)
        said = str(error.value)
        for part in ("'name'", "'description'", "'sku'", "text='description'", "records=True"):
            assert part in said
        with pytest.raises(DataError, match="most columns"):  # an id is hardly a number
            load(path, exclude="name")

    @pytest.mark.parametrize(
        ("given", "medium"),
        [
            ({"columns": ["price"]}, "row"),
            ({"exclude": ["name", "sku", "description"]}, "row"),
            ({"text": "description"}, "text"),
            ({"records": True}, "row"),
        ],
    )
    def test_each_of_its_ways_out_works(self, write, given, medium):
        items = load(write(PRODUCTS), **given)
        assert items.medium == medium
        said = "\n".join(items.notes)
        compared = {column.name for column in items.columns if str(column.role) != "shown"}
        assert all(name in said for name in {"name", "sku", "description"} - compared)


class TestHostileSizes:
    """P29: a file that declares far more than its own size is refused before it is read."""

    SIZE = 300 << 20  # bytes

    def zeros(self, path, member, head=b""):
        archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        with archive, archive.open(member, "w") as file:
            file.write(head)
            for _ in range(self.SIZE >> 20):
                file.write(bytes(1 << 20))
        return path

    def refused(self, path, **given):
        tracemalloc.start()
        try:
            with pytest.raises(DataError, match=r"declares 3\d\d,\d{3},\d{3} bytes of data"):
                load(path, **given)
            assert tracemalloc.get_traced_memory()[1] < 20 << 20
        finally:
            tracemalloc.stop()

    def test_npz(self, tmp_path):
        head = io.BytesIO()
        np.lib.format.write_array_header_1_0(
            head, {"descr": "<f8", "fortran_order": False, "shape": (self.SIZE // 80, 10)}
        )
        path = self.zeros(tmp_path / "X.npz", "X.npy", head.getvalue())
        assert path.stat().st_size < 1 << 20
        self.refused(path)
        (tmp_path / "t.csv").write_text("t\nsome text\nanother\n")
        self.refused(tmp_path / "t.csv", text="t", embeddings=path)

    def test_excel(self, tmp_path):
        pytest.importorskip("openpyxl")
        self.refused(self.zeros(tmp_path / "t.xlsx", "xl/worksheets/sheet1.xml"))

    def test_excel_of_too_many_cells(self, tmp_path, monkeypatch):
        pytest.importorskip("openpyxl")
        flowers().to_excel(tmp_path / "t.xlsx", index=False)
        monkeypatch.setattr(readers, "MOST_CELLS", 20)
        with pytest.raises(DataError, match="more than 20 cells"):
            load(tmp_path / "t.xlsx")

    def test_parquet(self, tmp_path):
        ones = pa.table({"x": np.ones(1 << 20)})
        path = tmp_path / "t.parquet"
        with pq.ParquetWriter(path, ones.schema) as writer:
            for _ in range(self.SIZE >> 23):
                writer.write_table(ones)
            writer.write_table(ones.slice(0, 1 << 19))
        assert path.stat().st_size < 1 << 20
        self.refused(path)
        self.refused(path, text="x")
        (tmp_path / "parts").mkdir()
        os.link(path, tmp_path / "parts" / "1.parquet")
        self.refused(tmp_path / "parts")
        (tmp_path / "t.csv").write_text("t\nsome text\nanother\n")
        self.refused(tmp_path / "t.csv", text="t", embeddings=path)

    def test_gzip(self, tmp_path):
        for name in ("t.csv.gz", "t.jsonl.gz"):
            body = gzip.compress(b"a,b\n1,2\n" * 100)
            (tmp_path / name).write_bytes(body[:-4] + (333_333_333).to_bytes(4, "little"))
            self.refused(tmp_path / name)

    def test_a_header_that_promises_more_than_there_is(self, tmp_path):
        head = io.BytesIO()
        np.lib.format.write_array_header_1_0(
            head, {"descr": "<f8", "fortran_order": False, "shape": (2**50, 10)}
        )
        (tmp_path / "X.npy").write_bytes(head.getvalue() + bytes(800))
        with zipfile.ZipFile(tmp_path / "X.npz", "w") as archive:
            archive.write(tmp_path / "X.npy", "X.npy")
        for name in ("X.npy", "X.npz"):
            with pytest.raises(DataError, match="not a NumPy file that can be read"):
                load(tmp_path / name)

    def test_what_compresses_well_is_read(self, tmp_path):
        X = np.zeros((20_000, 20))
        X[:, 0] = np.arange(20_000) % 7
        np.savez_compressed(tmp_path / "X.npz", X=X)
        pd.DataFrame(X, columns=[f"x{j}" for j in range(20)]).to_parquet(tmp_path / "X.parquet")
        for name in ("X.npz", "X.parquet"):
            assert load(tmp_path / name).n == 20_000


class TestBadParameters:
    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"labels": "Kind"}, "no column 'Kind', which labels names. Did you mean 'kind'"),
            ({"columns": ["hight"]}, "which columns names. Did you mean 'height'"),
            ({"columns": ["kind"], "labels": "kind"}, "columns must not name the labels"),
            ({"columns": ["height"], "exclude": ["height"]}, "must not both name"),
            ({"columns": ["name"]}, "'name' cannot be used: 4 different texts in 4 rows"),
            ({"labels": 3}, "labels must be the name of a column"),
        ],
    )
    def test_messages(self, write, parameters, message):
        with pytest.raises(ValueError, match=message):
            load(write(FLOWERS), **parameters)


class TestArrays:
    @pytest.fixture
    def save(self, tmp_path):
        def save(X, name="points.npy"):
            np.save(tmp_path / name, X)
            return tmp_path / name

        return save

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_npy_is_mapped_and_not_copied(self, save, dtype):
        X = np.arange(12, dtype=dtype).reshape(4, 3)
        table = load(save(X), standardize=False)
        assert table.X.dtype == dtype
        assert np.array_equal(table.X, X)
        assert table.frame is None
        assert table.feature_names == ["x0", "x1", "x2"]
        base = table.X
        while base is not None and not isinstance(base, np.memmap):
            base = base.base
        assert isinstance(base, np.memmap)

    def test_npy_standardised(self, save):
        X = np.random.default_rng(0).normal(5, 3, (50, 2)).astype(np.float32)
        table = load(save(X))
        assert table.X.dtype == np.float32
        assert table.X.mean(axis=0, dtype=np.float64) == pytest.approx([0, 0], abs=1e-6)
        assert table.X.std(axis=0, dtype=np.float64) == pytest.approx([1, 1], abs=1e-6)

    @pytest.mark.parametrize("dtype", ["i4", "u1", "?", "f2", ">f8", ">f4"])
    def test_other_numbers(self, save, dtype):
        X = np.array([[0, 1], [1, 1], [1, 0]], dtype=dtype)
        table = load(save(X), standardize=False)
        assert table.X.dtype == (np.float32 if dtype in (">f4", "f2") else np.float64)
        assert np.array_equal(table.X, X)

    def test_columns_and_labels(self, save):
        path = save(np.array([[1.0, 5.0, 0.0], [2.0, 6.0, 1.0]]))
        table = load(path, labels="x2", exclude=["x0"], standardize=False)
        assert table.X.tolist() == [[5.0], [6.0]]
        assert table.labels.tolist() == [0.0, 1.0]

    @pytest.mark.parametrize("keys", [("X", "y"), ("data", "target"), ("X", "labels")])
    def test_npz(self, tmp_path, keys):
        path = tmp_path / "points.npz"
        np.savez(path, **{keys[0]: np.eye(3), keys[1]: ["a", "b", "a"]})
        table = load(path, labels=keys[1], standardize=False)
        assert np.array_equal(table.X, np.eye(3))
        assert table.labels.tolist() == ["a", "b", "a"]
        assert f"not used: '{keys[1]}'" in load(path).notes

    def test_npz_without_points(self, tmp_path):
        np.savez(tmp_path / "points.npz", a=np.eye(2), b=np.eye(2))
        with pytest.raises(DataError, match="no array named 'X' or 'data'; it holds 'a', 'b'"):
            load(tmp_path / "points.npz")

    def test_npz_labels(self, tmp_path):
        np.savez(tmp_path / "points.npz", X=np.eye(2), y=[1, 2, 3])
        with pytest.raises(DataError, match=r"'y' has shape \(3,\); labels must be one for each"):
            load(tmp_path / "points.npz", labels="y")
        with pytest.raises(DataError, match=r"no column 'Y', which labels names. Did you mean 'y'"):
            load(tmp_path / "points.npz", labels="Y")

    @pytest.mark.parametrize("name", ["points.npy", "points.npz"])
    def test_objects_are_refused(self, tmp_path, name):
        """P31: nothing is unpickled."""
        X = np.array([[{}, 1]], dtype=object)
        (np.save if name.endswith("npy") else np.savez)(tmp_path / name, X)
        with pytest.raises(DataError, match="holds Python objects"):
            load(tmp_path / name)

    @pytest.mark.parametrize(
        ("X", "message"),
        [
            (np.arange(3.0), r"shape \(3,\).*X.reshape\(-1, 1\)"),
            (np.zeros((0, 3)), "no points"),
            (np.array([["a"]]), "Points must be numbers"),
            (np.array([[1.0, 2.0], [3.0, np.nan]]), "column 'x1' has nan.* in row 2"),
        ],
    )
    def test_hostile_arrays(self, save, X, message):
        with pytest.raises(DataError, match=message):
            load(save(X))

    def test_cut_off(self, save):
        path = save(np.arange(600.0).reshape(100, 6))
        path.write_bytes(path.read_bytes()[:-50])
        with pytest.raises(DataError, match="not a NumPy file that can be read"):
            load(path)


def test_a_text_path_and_the_home_folder(write, monkeypatch):
    path = write(FLOWERS, "flowers.csv")
    assert load(str(path)).X.shape[0] == 4
    monkeypatch.setenv("HOME", str(path.parent))
    monkeypatch.setenv("USERPROFILE", str(path.parent))
    assert load("~/flowers.csv").X.shape[0] == 4


def test_centres_go_back_to_the_units_of_the_file(tmp_path):
    path = tmp_path / "mixed.csv"
    path.write_text("size,colour,flat\n10,red,7\n20,red,7\n60,blue,7\n1e6,blue,7\n")
    table = load(path)
    raw = load(path, standardize=False)
    assert table.feature_names == raw.feature_names
    np.testing.assert_allclose(table.in_file_units(table.X), raw.X, rtol=1e-9)
    np.testing.assert_allclose(
        table.in_file_units(table.X.mean(axis=0)), raw.X.mean(axis=0), atol=1e-6
    )
    assert raw.in_file_units([[1.0, 2.0, 3.0, 4.0]]).tolist() == [[1.0, 2.0, 3.0, 4.0]]


class TestExcel:
    @pytest.fixture
    def book(self, tmp_path):
        pytest.importorskip("openpyxl")
        path = tmp_path / "book.xlsx"
        with pd.ExcelWriter(path) as writer:
            flowers().to_excel(writer, sheet_name="flowers", index=False)
            pd.DataFrame({"a": [1, 2, None], "land": ["NA", "DE", "DE"]}).to_excel(
                writer, sheet_name="more", index=False
            )
        return path

    def test_the_first_sheet(self, book):
        items = load(book, labels="kind", standardize=False)
        assert items.feature_names[:2] == ["height", "colour=blue"]
        assert items.X[:, 0].tolist() == [1.5, 2.5, 3.5, 4.5]
        assert items.labels.tolist() == ["rose", "rose", "iris", "iris"]
        assert "read is the sheet 'flowers', the first of 2" in items.notes
        assert items.show(0).fields[:2] == [("name", "Ann"), ("height", "1.5")]

    def test_a_sheet_by_name(self, book):
        items = load(book, sheet="more", standardize=False)
        assert items.feature_names == ["a", "land=(missing)", "land=DE"]
        assert items.X[:, 0].tolist() == [1, 2, 1.5]
        with pytest.raises(DataError, match=r"no sheet 'mor'. Did you mean 'more'"):
            load(book, sheet="mor")
        assert load(book, sheet="more", labels="land").labels.tolist() == ["NA", "DE", "DE"]

    def test_without_openpyxl(self, book, monkeypatch):
        monkeypatch.setitem(sys.modules, "openpyxl", None)
        with pytest.raises(DataError, match=r"pip install 'samekind\[excel\]'"):
            load(book)

    def test_without_names(self, tmp_path):
        pytest.importorskip("openpyxl")
        path = tmp_path / "bare.xlsx"
        pd.DataFrame([[1, 2], [3, 5]]).to_excel(path, index=False, header=False)
        assert load(path, header=False).feature_names == ["x0", "x1"]
        pd.DataFrame([[1, 2], [7, 3], [3, 5]]).to_excel(path, index=False, header=False)
        assert load(path).feature_names == ["1", "2"]


def test_json(write):
    rows = flowers().to_dict("records")
    for text in (json.dumps(rows), json.dumps(flowers().to_dict("list"))):
        items = load(write(text, "flowers.json"), labels="kind", standardize=False)
        assert items.X[:, 0].tolist() == [1.5, 2.5, 3.5, 4.5]
        assert items.labels.tolist() == ["rose", "rose", "iris", "iris"]
    for text, message in (
        ("{", "line 1: not JSON"),
        ("[1, 2]", "a list of objects"),
        ("", "empty"),
    ):
        with pytest.raises(DataError, match=message):
            load(write(text, "bad.json"))


def test_separators_are_found(write):
    for separator in ",;\t|":
        items = load(write(f"a{separator}b\n1{separator}2\n3{separator}5\n"), standardize=False)
        assert items.X.tolist() == [[1, 2], [3, 5]]


HOSTILE = np.array(
    [
        [1e308, 0.1, 1e15, 1e-300, 5e-324],
        [-1e308, 0.1, 1e15 + 1, 3e-300, 0.0],
        [1e308, 0.1, 1e15, 1e-300, 0.0],
        [-1e308, 0.1, 1e15 + 1, 3e-300, 0.0],
    ]
)


class TestStandardize:
    def test_hostile_columns(self, tmp_path):
        np.save(tmp_path / "X.npy", HOSTILE)
        items = load(tmp_path / "X.npy")
        Z = items.X
        assert np.isfinite(Z).all()
        assert Z[:, 0].tolist() == [1, -1, 1, -1]
        assert Z[:, 1].tolist() == [0, 0, 0, 0]
        assert Z[:, 2].tolist() == [-1, 1, -1, 1]
        assert Z[:, 3] == pytest.approx([-1, 1, -1, 1])
        np.testing.assert_array_equal(items.load_new(tmp_path / "X.npy").X, Z)

    def test_blocks_agree_with_numpy(self, tmp_path, monkeypatch):
        from samekind.data import tables

        monkeypatch.setattr(tables, "BLOCK_VALUES", 100)
        X = np.random.default_rng(0).normal(3, 7, (1001, 4)).astype(np.float32)
        np.save(tmp_path / "X.npy", X)
        exact = X.astype(np.float64)
        exact = (exact - exact.mean(axis=0)) / exact.std(axis=0)
        items = load(tmp_path / "X.npy")
        assert items.X.dtype == np.float32
        assert np.abs(items.X - exact).max() < 1e-6


class TestStreamed:
    """Rows in files become the same points as rows in memory, bit for bit, however they are cut."""

    @pytest.fixture
    def folder(self, tmp_path):
        rng = np.random.default_rng(0)
        n = 700
        frame = pd.DataFrame(
            {
                "id": np.arange(n),
                "height": rng.normal(1e6, 3, n),
                "width": rng.normal(size=n).astype(np.float32),
                "whole": rng.integers(0, 9, n),
                "gaps": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
                "yes": rng.random(n) < 0.5,
                "colour": rng.choice(["red", "blue", None], n),
                "code": pd.Categorical(rng.choice(["10", "20"], n)),
                "name": [f"n{i}" for i in range(n)],
                "day": pd.Timestamp("2024-01-01"),
                "flat": 7,
                "kind": rng.choice(["rose", "iris"], n),
            }
        )
        frame.to_parquet(tmp_path / "all.parquet")
        (tmp_path / "parts").mkdir()
        for number, rows in enumerate(np.array_split(np.arange(n), 4)):
            part = frame.iloc[rows]
            part.to_parquet(tmp_path / "parts" / f"part.{number}.parquet", row_group_size=60)
        return tmp_path

    @pytest.mark.parametrize("standardize", [True, False])
    def test_the_same_columns_notes_and_numbers(self, folder, standardize, monkeypatch):
        from samekind.data import tables

        monkeypatch.setattr(tables, "BLOCK_VALUES", 900)
        monkeypatch.setattr(tables, "BATCH_ROWS", 70)
        given = {"labels": "kind", "standardize": standardize}
        memory = load(folder / "all.parquet", **given)
        streamed = load(folder / "parts", **given)
        assert streamed.is_streamed
        assert not memory.is_streamed
        assert streamed.feature_names == memory.feature_names
        assert streamed.notes == ["4 files are read as one table", *memory.notes]
        rows = streamed.points.rows(np.arange(700))
        np.testing.assert_array_equal(rows, memory.X)
        assert streamed.labels.tolist() == memory.labels.tolist()
        assert streamed.show(333) == memory.show(333)
        np.testing.assert_array_equal(
            streamed.in_file_units(rows[:9]), memory.in_file_units(memory.X[:9])
        )
        np.testing.assert_array_equal(streamed.X, memory.X)
        again = load(**streamed.recipe())
        np.testing.assert_array_equal(again.points.rows(np.array([5])), rows[5:6])

    def test_new_rows(self, folder):
        memory = load(folder / "all.parquet", exclude=["kind"])
        streamed = load(folder / "parts", exclude=["kind"])
        pd.read_parquet(folder / "all.parquet").head(9).to_csv(folder / "new.csv", index=False)
        for items in (memory, streamed):
            np.testing.assert_allclose(items.load_new(folder / "new.csv").X, memory.X[:9])
        frame = pd.read_csv(folder / "new.csv")
        frame.loc[3, "height"] = np.nan
        frame.to_csv(folder / "new.csv", index=False)
        with pytest.raises(
            DataError, match=r"'height' has no value in row 4.*had one in every row"
        ):
            streamed.load_new(folder / "new.csv")

    def test_an_array(self, folder, monkeypatch):
        from samekind.data import sources

        X = np.random.default_rng(0).normal(5, 2, (300, 4))
        np.save(folder / "X.npy", X)
        for how in ({}, {"standardize": False}, {"exclude": ["x1"]}):
            memory = load(folder / "X.npy", **how)
            monkeypatch.setattr(sources, "LARGE", 0)
            streamed = load(folder / "X.npy", **how)
            monkeypatch.undo()
            assert streamed.is_streamed
            np.testing.assert_array_equal(streamed.points.rows(np.arange(300)), memory.X)

    def test_mistakes(self, folder):
        pd.DataFrame({"height": [1.0]}).to_parquet(folder / "parts" / "part.9.parquet")
        with pytest.raises(DataError, match=r"part.9.parquet has no column 'id'"):
            load(folder / "parts")

    def test_texts_of_a_folder_are_compared_in_memory(self, folder):
        items = load(folder / "parts", text="name")
        assert items.medium == "text"
        assert items.show(600).text == "n600"

    def test_pictures_and_parquet_in_one_folder(self, folder):
        (folder / "parts" / "a.png").write_bytes(b"")
        with pytest.raises(DataError, match="both pictures and Parquet files"):
            load(folder / "parts")
