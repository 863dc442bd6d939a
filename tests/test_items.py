"""Items to look at: what is shown, what they are compared by, what is kept, what is refused."""

from __future__ import annotations

import datetime
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from samekind import Session
from samekind.data import Items, ItemView, Role, demo_items, load
from samekind.data import pictures as pictures_module
from samekind.errors import DataError

SENTENCES = [
    "Where is my card? It has not arrived yet",
    "My card still has not arrived, where is it?",
    "The card I ordered has not arrived",
    "How do I change my PIN?",
    "I would like to change my PIN please",
    "Can the PIN be changed?",
    "What is the exchange rate for euros?",
    "Which exchange rate do I get for euros?",
    "Do you have a good exchange rate?",
    "Please close my account",
    "I want my account to be closed",
    "Closing an account: how?",
]
TOPIC = np.repeat(np.arange(4), 3)


def messages(folder: Path, name: str = "messages.csv") -> Path:
    path = folder / name
    frame = pd.DataFrame({"who": [f"p{i % 4}" for i in range(12)], "message": SENTENCES})
    frame.to_csv(path, index=False)
    return path


def pictures(folder: Path, n: int = 12, suffix: str = "png") -> Path:
    """Write pictures of two kinds, dark below or dark at the left, with some noise."""
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(0)
    for i in range(n):
        pixels = rng.integers(180, 255, size=(60, 90, 3), dtype=np.uint8)
        if i % 2:
            pixels[30:] = 30
        else:
            pixels[:, :45] = 30
        Image.fromarray(pixels).save(folder / f"photo {i + 1}.{suffix}")
    return folder


def numbers(folder: Path, name: str = "rows.csv") -> Path:
    path = folder / name
    path.write_text(
        "name,height,colour\n"
        + "".join(f"n{i},{i % 7},{'red' if i % 3 else 'blue'}\n" for i in range(30))
    )
    return path


class Calls(list):
    """Remembers what progress was told."""

    def __call__(self, stage, done, total):
        assert 0 <= done <= total
        self.append((stage, done, total))

    @property
    def stages(self):
        return {stage for stage, _, _ in self}


def opened(picture):
    image = Image.open(io.BytesIO(picture.body))
    image.load()
    return image


class TestTexts:
    def test_what_is_shown(self, tmp_path):
        items = load(messages(tmp_path), text="message")
        assert items.show(3) == ItemView(3, "row 3", SENTENCES[3], [("who", "p3")], False)
        assert (items.medium, items.source, items.n) == ("text", "messages.csv", 12)
        assert items.X.shape == (12, len(items.feature_names))
        assert items.images is None
        assert list(items.frame.columns) == ["who", "message"]
        with pytest.raises(DataError, match="no picture"):
            items.picture(0, "small")

    def test_texts_on_one_topic_are_nearer_than_others(self, tmp_path):
        X = load(messages(tmp_path), text="message").X
        close = X @ X.T
        np.testing.assert_allclose(np.diag(close), 1, rtol=1e-5)
        np.fill_diagonal(close, -1)
        assert (TOPIC[close.argmax(axis=1)] == TOPIC).all()

    def test_real_messages_have_neighbours_of_their_intent(self, data_folder, tmp_path):
        frame = pd.read_csv(data_folder / "banking77.csv.gz")
        frame = frame[frame["category"].isin(frame["category"].unique()[:20])].iloc[::4]
        frame.to_csv(tmp_path / "some.csv", index=False)
        X = load(tmp_path / "some.csv", text="text").X
        close = X @ X.T
        np.fill_diagonal(close, -1)
        intent = frame["category"].to_numpy()
        assert (intent[close.argmax(axis=1)] == intent).mean() > 0.85  # 0.83 with words alone

    def test_the_only_long_texts_are_found_and_said(self, tmp_path):
        items = load(messages(tmp_path))
        assert items.medium == "text"
        assert "the texts in 'message' are compared" in items.notes[0]
        assert items.recipe()["text"] == "message"
        frame = pd.read_csv(messages(tmp_path)).assign(length=[len(s) / 7 for s in SENTENCES])
        frame.to_csv(tmp_path / "more.csv", index=False)
        rows = load(tmp_path / "more.csv")
        assert rows.medium == "row"
        assert any("text='message'" in note for note in rows.notes)

    def test_texts_are_shown_as_they_are(self, tmp_path):
        texts = [
            '<b>bold</b> & "quotes"',
            "NA",
            "",
            "None",
            "two\nlines",
            "ünï 漢字 🙂",
            "x" * 10**6,
        ]
        pd.DataFrame({"t": texts}).to_csv(tmp_path / "t.csv", index=False)
        items = load(tmp_path / "t.csv", text="t")
        shown = [items.show(row).text for row in range(items.n)]
        assert shown[:6] == texts[:6]
        assert shown[6].startswith("x" * 100_000)
        assert "1,000,000 characters" in shown[6]
        assert len(shown[6]) < 100_100
        assert "1 text is empty" in items.notes

    def test_half_a_character(self, tmp_path):
        (tmp_path / "t.jsonl").write_text('{"t": "half \\ud83d of it"}\n{"t": "whole"}\n')
        given = {"data": tmp_path / "t.jsonl", "text": "t", "cache": tmp_path / "mine.db"}
        if int(pd.__version__.partition(".")[0]) >= 3:  # there it cannot be in a table
            with pytest.raises(DataError, match="only half of a character"):
                load(**given)
        else:
            assert load(**given).show(0).text == "half ? of it"


class TestRows:
    def test_what_is_compared_and_shown(self, tmp_path):
        items = load(numbers(tmp_path))
        assert items.medium == "row"
        assert items.feature_names == ["height", "colour=blue", "colour=red"]
        assert {column.name: column.role for column in items.columns} == {
            "name": Role.NAMES, "height": Role.NUMBER, "colour": Role.CATEGORY,
        }  # fmt: skip
        assert items.show(1).fields == [("name", "n1"), ("height", "1"), ("colour", "red")]

    def test_cells_are_readable(self, tmp_path):
        frame = pd.DataFrame(
            {
                "x": [1.5, 2.0],
                "yes": [True, False],
                "day": [datetime.datetime(2024, 3, 1), datetime.datetime(2024, 3, 1, 12, 30)],
                "count": [3.0, None],
                "list": [["1", "ä"], None],
            }
        )
        frame.to_parquet(tmp_path / "t.parquet")
        items = load(tmp_path / "t.parquet", exclude=["count"])
        assert dict(items.show(0).fields) == {
            "x": "1.5", "yes": "yes", "day": "2024-03-01", "count": "3", "list": '["1", "ä"]',
        }  # fmt: skip
        assert dict(items.show(1).fields) == {
            "x": "2", "yes": "no", "day": "2024-03-01 12:30", "count": "", "list": "",
        }  # fmt: skip

    def test_array_beside_a_table(self, tmp_path):
        np.save(tmp_path / "X.npy", np.random.default_rng(0).normal(size=(30, 4)))
        items = load(tmp_path / "X.npy", show=[str(numbers(tmp_path))])
        assert items.X.shape == (30, 4)
        assert items.show(2).fields[0] == ("name", "n2")
        assert load(**items.recipe()).show(2) == items.show(2)
        plain = load(tmp_path / "X.npy")
        assert plain.frame is None
        assert [name for name, _ in plain.show(7).fields] == ["x0", "x1", "x2", "x3"]

    def test_embeddings_replace_features_as_they_are(self, tmp_path):
        E = np.random.default_rng(0).normal(5, 9, size=(12, 3)).astype(np.float32)
        np.save(tmp_path / "E.npy", E)
        items = load(messages(tmp_path), text="message", embeddings=tmp_path / "E.npy")
        np.testing.assert_array_equal(items.X, E)
        assert items.show(0).text == SENTENCES[0]
        with pytest.raises(DataError, match="pass embeddings"):
            items.load_new(tmp_path / "messages.csv")
        np.save(tmp_path / "F.npy", E[:, :2])
        with pytest.raises(DataError, match="2 columns, but the first had 3"):
            items.load_new(tmp_path / "messages.csv", embeddings=tmp_path / "F.npy")
        new = items.load_new(tmp_path / "messages.csv", embeddings=tmp_path / "E.npy")
        np.testing.assert_array_equal(new.X, E)

    def test_many_numbers_of_embeddings_are_compared_by_direction(self, tmp_path):
        E = np.random.default_rng(0).normal(5, 9, size=(12, 80)).astype(np.float32)
        np.save(tmp_path / "E.npy", E)
        options = {"text": "message", "embeddings": tmp_path / "E.npy"}
        items = load(messages(tmp_path), **options)
        assert items.metric == "cosine"
        for metric, unit in (("auto", True), ("euclidean", False)):
            with Session(items, metric=metric, random_state=0) as session:
                assert session.space.unit == unit
        np.save(tmp_path / "E.npy", E[:, :64])
        assert load(messages(tmp_path), **options).metric == "auto"


class TestPictures:
    def test_a_folder(self, tmp_path):
        folder = pictures(tmp_path / "photos")
        (folder / "below").mkdir()
        (folder / "photo 2.png").rename(folder / "below" / "b.JPEG")  # a PNG by another name
        (folder / "notes.txt").write_text("no picture")
        (folder / "drawing.svg").write_text("<svg onload='alert(1)'/>")
        (folder / "._photo 1.png").write_bytes(b"shadow of macOS")
        calls = Calls()
        items = load(folder, progress=calls)
        titles = [items.show(row).title for row in range(items.n)]
        assert titles == ["below/b.JPEG", "photo 1.png", *(f"photo {i}.png" for i in range(3, 13))]
        assert items.frame["file"].tolist() == titles
        assert items.show(1) == ItemView(1, "photo 1.png", None, [], True)
        assert (items.medium, items.source) == ("image", "photos")
        assert items.images.shape == (12, 32, 32)
        assert items.images.dtype == np.uint8
        assert any("SVG" in note for note in items.notes)
        assert ("reading", 12, 12) in calls
        assert ("features", 12, 12) in calls

    def test_like_pictures_are_near(self, tmp_path):
        X = load(pictures(tmp_path / "photos")).X
        distance = np.linalg.norm(X[:, None] - X[None], axis=2)
        same = np.equal.outer(np.arange(12) % 2, np.arange(12) % 2)
        assert distance[same].max() < distance[~same].min() / 3

    @pytest.mark.parametrize("mode", ["1", "LA", "P", "CMYK", "I;16", "F"])
    def test_every_mode_can_be_shown(self, tmp_path, mode):
        ramp = np.tile(np.linspace(0, 255, 80), (50, 1))
        base = Image.fromarray(ramp.astype(np.uint8))
        if mode == "I;16":
            image = Image.fromarray((ramp * 200).astype(np.uint16))
        else:
            image = base.convert(mode) if mode != "LA" else Image.merge("LA", [base, base])
        for name in "ab":
            image.save(tmp_path / f"{name}.{'png' if mode not in ('CMYK', 'F', 'I') else 'tif'}")
        items = load(tmp_path)
        assert opened(items.picture(0, "small")).size == (80, 50)
        assert np.ptp(items.images[0]) > 60

    @pytest.mark.parametrize("suffix", ["jpg", "gif", "webp"])
    def test_every_format(self, tmp_path, suffix):
        items = load(pictures(tmp_path / "p", 3, suffix))
        picture = items.picture(1, "large")
        assert picture.media_type in ("image/png", "image/jpeg")
        assert opened(picture).size == (90, 60)

    def test_sent_pictures_are_upright_small_and_bare(self, tmp_path):
        exif = Image.Exif()
        exif[0x0112] = 6  # turned by a quarter
        exif[0x8298] = "secret place"
        image = Image.fromarray(
            np.tile(np.arange(240, dtype=np.uint8), (900, 10, 1)).reshape(900, 2400)
        )
        for i in range(2):
            image.save(tmp_path / f"{i}.jpg", exif=exif, comment=b"secret", dpi=(31, 31))
        items = load(tmp_path)
        small, large = items.picture(0, "small"), items.picture(0, "large")
        assert opened(small).size == (96, 256)
        assert opened(large).size == (768, 2048)
        for picture in (small, large):
            assert b"secret" not in picture.body
            assert not dict(opened(picture).getexif())
        assert items.picture(0, "small") is small  # from memory

    def test_a_table_with_names(self, tmp_path):
        pictures(tmp_path / "photos", 3)
        frame = pd.DataFrame(
            {"id": [7, 8, 9], "file": [f"photos/photo {i}.png" for i in (3, 1, 2)]}
        )
        frame.to_csv(tmp_path / "t.csv", index=False)
        items = load(tmp_path / "t.csv", image="file")
        assert items.show(0) == ItemView(0, "photos/photo 3.png", None, [("id", "7")], True)
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        frame.to_csv(elsewhere / "t.csv", index=False)
        moved = load(elsewhere / "t.csv", image=tmp_path)
        np.testing.assert_array_equal(moved.X, items.X)
        assert load(**moved.recipe()).show(0) == items.show(0)

    def test_an_array_of_pictures(self, tmp_path):
        array = np.random.default_rng(0).integers(0, 255, size=(5, 28, 20), dtype=np.uint8)
        np.save(tmp_path / "p.npy", array)
        items = load(tmp_path / "p.npy")
        np.testing.assert_array_equal(items.images, array)
        assert items.show(4) == ItemView(4, "row 4", None, [], True)

    def test_the_demo_is_shown_enlarged_without_blur(self):
        items = demo_items()
        assert (items.medium, items.n, items.images.shape) == ("image", 1797, (1797, 8, 8))
        image = opened(items.picture(3, "small"))
        assert image.size == (256, 256)
        np.testing.assert_array_equal(np.asarray(image)[::32, ::32], items.images[3])
        assert len(np.unique(np.asarray(image))) <= 17
        again = load(**json.loads(json.dumps(items.recipe())))
        np.testing.assert_array_equal(again.X, items.X)

    def test_rows_that_are_pictures(self, tmp_path):
        X = np.arange(60.0).reshape(5, 12)
        np.save(tmp_path / "X.npy", X)
        items = load(tmp_path / "X.npy", image_shape=(3, 4))
        np.testing.assert_array_equal(items.X, X)  # not standardised
        assert items.show(1) == ItemView(1, "row 1", None, [], True)
        assert items.images.shape == (5, 3, 4)
        assert opened(items.picture(4)).getpixel((255, 191)) == 255
        with pytest.raises(DataError, match="pictures of 5 x 5 have 25 columns"):
            load(tmp_path / "X.npy", image_shape=(5, 5))


class TestOutside:
    """P33: nothing outside of the folder is read, whatever a table or a link says."""

    @pytest.mark.parametrize(
        "name", ["../secret.png", "photos/../../secret.png", "{}/secret.png", "C:\\secret.png",
                 "..\\secret.png", "link.png", "linked/secret.png", "\\\\host\\share\\x.png"],
    )  # fmt: skip
    def test_names_that_lead_outside(self, tmp_path, name):
        Image.new("RGB", (9, 9)).save(tmp_path / "secret.png")
        inner = tmp_path / "inner"
        pictures(inner, 2)
        (inner / "link.png").symlink_to(tmp_path / "secret.png")
        (inner / "linked").symlink_to(tmp_path)
        table = pd.DataFrame({"f": ["photo 1.png", name.replace("{}", str(tmp_path))]})
        table.to_csv(inner / "t.csv", index=False)
        with pytest.raises(DataError, match="outside"):
            load(inner / "t.csv", image="f")

    def test_links_in_a_folder(self, tmp_path):
        folder = pictures(tmp_path / "p", 3)
        (folder / "again.png").symlink_to(folder / "photo 1.png")
        (folder / "up").symlink_to(tmp_path)
        items = load(folder)
        assert items.n == 4
        assert any("not followed" in note for note in items.notes)
        Image.new("RGB", (9, 9)).save(tmp_path / "secret.png")
        (folder / "photo 2.png").unlink()
        (folder / "photo 2.png").symlink_to(tmp_path / "secret.png")
        with pytest.raises(DataError, match=r"photo 2\.png.*outside"):  # exchanged after loading
            items.picture(2, "small")
        with pytest.raises(DataError, match=r"photo 2\.png.*outside"):
            load(folder)


def _csv(text, encoding="utf-8", name="t.csv"):
    def make(folder):
        (folder / name).write_bytes(text.encode(encoding))
        return {"data": folder / name}

    return make


def _npy(array, name="t.npy", **more):
    def make(folder):
        np.save(folder / name, array, allow_pickle=True)
        return {"data": folder / name, **more}

    return make


def _embedded(array):
    def make(folder):
        np.save(folder / "E.npy", array, allow_pickle=True)
        return {"data": messages(folder), "text": "message", "embeddings": folder / "E.npy"}

    return make


def _pictures(change, **more):
    def make(folder):
        change(pictures(folder / "p", 4))
        return {"data": folder / "p", **more}

    return make


def _with(make, **more):
    return lambda folder: make(folder) | more


def _folder(name):
    def make(folder):
        (folder / name).mkdir()
        return {"data": folder / name}

    return make


def _damage(folder):
    (folder / "photo 2.png").write_bytes(b"no picture")
    body = (folder / "photo 3.png").read_bytes()
    (folder / "photo 3.png").write_bytes(body[: len(body) // 2])


def _bomb(folder):
    pictures_module.Image.new("1", (20_000, 20_000)).save(folder / "photo 2.png")


HOSTILE = {
    "one row": (_csv("a,b\n1,2\n"), "at least two"),
    "no such text": (_with(_csv("a,b\nx,1\ny,2\n"), text="B"), r"no column 'B'.*'b'.*are 'a', 'b'"),
    "no such image": (_with(_csv("a,b\nx,1\ny,2\n"), image="c"), "no column 'c'.*no folder"),
    "no texts": (_with(_csv("t,u\n,1\n ,2\n"), text="t"), "'t' is empty"),
    "text and image": (_with(_csv("a,b\n1,2\n3,4\n"), text="a", image="b"), "not both"),
    "several texts": (_csv("a,b\n" + "a text that is very long,another text that is long\n" +
                           "one more text of it,and one more of them\n"), "text='a'"),
    "no pictures named": (_with(_csv("a,b\n1,2\n3,4\n"), image="."), "no column that names"),
    "a name is missing": (_with(_csv("f,b\nx.png,2\n,4\n"), image="f"), r"no picture in row 2 \(line 3\)"),
    "picture not there": (_with(_csv("f,b\nx.png,2\ny.png,4\n"), image="f"), "2 of 2.*x.png.*no such.*y.png"),
    "SVG named": (_with(_csv("f,b\nx.svg,2\ny.svg,4\n"), image="f"), "SVG"),
    "folder without pictures": (_folder("p"), "holds no pictures"),
    "text of a folder": (_pictures(lambda folder: None, text="t"), "folder of pictures"),
    "no Excel file": (_csv("a\n1\n2\n", name="t.xlsx"), "not an Excel file"),
    "array of floats (n, h, w)": (_npy(np.zeros((3, 4, 4))), "must be uint8"),
    "text of an array": (_npy(np.eye(3), text="t"), "needs a table"),
    "embeddings of other items": (_embedded(np.eye(5)), "5 rows, but there are 12"),
    "embeddings with NaN": (_embedded(np.full((12, 2), np.nan)), "row 0.*no finite"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("spoil", "names"), [(_damage, ["photo 2.png", "photo 3.png"]), (_bomb, ["photo 2.png"])]
)
def test_pictures_that_cannot_be_read_are_left_out(tmp_path, spoil, names):
    items = load(**_pictures(spoil)(tmp_path))
    assert [name for name, _ in items.left_out] == names
    assert items.n == len(items.frame) == len(items.X)


@pytest.mark.parametrize("case", HOSTILE)
def test_what_cannot_be_used_is_refused_in_plain_words(tmp_path, case, monkeypatch):
    make, says = HOSTILE[case]
    monkeypatch.chdir(tmp_path)
    given = make(tmp_path)
    with pytest.raises(DataError, match=f"(?s){says}"):
        load(**given, cache=tmp_path / "mine.db")
    assert not list(tmp_path.glob("mine.*"))


def test_what_the_system_refuses_is_said(tmp_path, monkeypatch):
    path = numbers(tmp_path)

    def refuse(self, *args, **kwargs):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(DataError, match=r"rows\.csv cannot be read \(Permission denied\)"):
        load(path, cache=tmp_path / "mine.db")


def test_a_picture_file_too_big(tmp_path, monkeypatch):
    """P29: by its declared size."""
    monkeypatch.setattr(pictures_module, "MAX_BYTES", 100)
    with pytest.raises(DataError, match=r"(?s)4 of 4 pictures.*exceed"):
        load(pictures(tmp_path / "p", 4))


def test_rows_and_sizes_that_do_not_exist():
    items = demo_items()
    for row in (-1, 1797):
        with pytest.raises(DataError, match="rows are 0 to 1,796"):
            items.show(row)
    with pytest.raises(DataError, match="small, large"):
        items.picture(0, "huge")


PILES = {
    "texts": lambda folder: {"data": messages(folder), "text": "message"},
    "rows": lambda folder: {"data": numbers(folder), "exclude": ["name"]},
    "pictures": lambda folder: {"data": pictures(folder / "photos")},
}


@pytest.fixture(params=PILES)
def pile(request, tmp_path):
    return PILES[request.param](tmp_path)


class TestCache:
    def test_features_are_computed_once(self, tmp_path, pile):
        calls = Calls()
        first = load(**pile, cache=tmp_path / "mine.db", progress=calls)
        assert "features" in calls.stages
        calls.clear()
        again = load(**pile, cache=tmp_path / "mine.db", progress=calls)
        assert "features" not in calls.stages
        assert_same(first, again)
        assert isinstance(again.X, np.memmap)
        assert again.recipe() == first.recipe()

    def test_other_data_or_options_are_computed_anew(self, tmp_path):
        path = numbers(tmp_path)
        load(path, cache=tmp_path / "mine.db")
        calls = Calls()
        assert (
            load(path, exclude="colour", cache=tmp_path / "mine.db", progress=calls).X.shape[1] == 1
        )
        assert "features" in calls.stages
        path.write_text(path.read_text().replace("n3,3", "n3,99"))
        calls.clear()
        changed = load(path, exclude="colour", cache=tmp_path / "mine.db", progress=calls)
        assert calls.stages == {"reading", "features"}
        assert changed.X.argmax() == 3

    def test_a_changed_picture_is_read_anew(self, tmp_path):
        folder = pictures(tmp_path / "p", 4)
        before = load(folder, cache=tmp_path / "mine.db")
        Image.new("RGB", (40, 40), "green").save(folder / "photo 1.png")
        after = load(folder, cache=tmp_path / "mine.db")
        assert not np.array_equal(before.images[0], after.images[0])

    @pytest.mark.parametrize("how", ["cut", "changed", "emptied", "gone"])
    def test_a_damaged_cache_is_computed_anew(self, tmp_path, pile, how):
        first = load(**pile, cache=tmp_path / "mine.db")
        kept = sorted(tmp_path.glob("mine.*"))
        assert {"mine.features.json", "mine.features.npy", "mine.transform.npz"} <= {
            p.name for p in kept
        }
        for path in kept:
            body = path.read_bytes()
            middle = len(body) // 2
            damaged = {"cut": body[:middle], "emptied": b"", "gone": None}
            damaged["changed"] = body[:middle] + b"#" + body[middle + 1 :]
            if damaged[how] is None:
                path.unlink()
            else:
                path.write_bytes(damaged[how])
            assert_same(first, load(**pile, cache=tmp_path / "mine.db"))
            assert sorted(tmp_path.glob("*mine.*")) == kept  # nothing temporary is left

    def test_a_cache_that_cannot_be_written_is_a_note(self, tmp_path):
        items = load(numbers(tmp_path), cache=tmp_path / "nowhere" / "mine.db")
        assert "not kept" in items.notes[-1]


def assert_same(one: Items, other: Items):
    np.testing.assert_array_equal(one.X, other.X)
    assert one.feature_names == other.feature_names
    assert one.notes == other.notes
    assert one.columns == other.columns
    assert (one.n, one.medium, one.source) == (other.n, other.medium, other.source)
    assert (one.images is None) == (other.images is None)
    if one.images is not None:
        np.testing.assert_array_equal(one.images, other.images)
    assert [one.show(row) for row in range(one.n)] == [other.show(row) for row in range(one.n)]


class TestLike:
    def test_the_same_things_get_the_same_features(self, tmp_path, pile):
        items = load(**pile)
        new = items.load_new(pile["data"])
        np.testing.assert_allclose(new.X, items.X, atol=1e-5)
        assert new.feature_names == items.feature_names
        assert new.show(2) == items.show(2)
        with pytest.raises(DataError, match="load_new"):
            new.recipe()
        np.testing.assert_array_equal(new.load_new(pile["data"]).X, new.X)

    def test_in_another_process_from_the_cache(self, tmp_path, pile):
        """P31: without unpickling anything."""
        items = load(**pile, cache=tmp_path / "mine.db")
        (tmp_path / "recipe.json").write_text(json.dumps(items.recipe()))
        program = (
            "import json, pickle, sys, numpy as np\n"
            "def refuse(*args, **kwargs): raise AssertionError('something was unpickled')\n"
            "pickle.load = pickle.loads = refuse\n"
            "from samekind.data import load\n"
            "told = []\n"
            "recipe = json.load(open('recipe.json'))\n"
            "items = load(**recipe, cache='mine.db', progress=lambda *a: told.append(a))\n"
            "assert 'features' not in [stage for stage, _, _ in told]\n"
            "np.save('old.npy', items.X)\n"
            "np.save('new.npy', items.load_new(recipe['data']).X)\n"
        )
        subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True, env=os.environ)
        np.testing.assert_array_equal(np.load(tmp_path / "old.npy"), items.X)
        np.testing.assert_array_equal(np.load(tmp_path / "new.npy"), items.load_new(pile["data"]).X)

    def test_one_new_text_with_unknown_words(self, tmp_path):
        items = load(messages(tmp_path), text="message", show=["who"])
        (tmp_path / "new.csv").write_text("message\nWhere is that card of mine\nxyzzy\n")
        new = items.load_new(tmp_path / "new.csv")
        assert TOPIC[(items.X @ new.X[0]).argmax()] == 0
        assert new.show(0).fields == []
        (tmp_path / "new.csv").write_text("message\nonly one\n")
        assert items.load_new(tmp_path / "new.csv").n == 1
        (tmp_path / "new.csv").write_text("text\nonly one\n")
        with pytest.raises(DataError, match="no column 'message'"):
            items.load_new(tmp_path / "new.csv")

    def test_new_rows(self, tmp_path):
        items = load(numbers(tmp_path))
        (tmp_path / "new.csv").write_text("colour,height\nred,1\ngreen,2\n")
        new = items.load_new(tmp_path / "new.csv")
        np.testing.assert_allclose(new.X[0], items.X[1])
        assert "column 'colour': 1 value that was not there before" in new.notes
        (tmp_path / "new.csv").write_text("colour\nred\n")
        with pytest.raises(DataError, match="no column 'height'"):
            items.load_new(tmp_path / "new.csv")
        (tmp_path / "new.csv").write_text("colour,height\nred,tall\n")
        with pytest.raises(DataError, match="'height'"):
            items.load_new(tmp_path / "new.csv")
        with pytest.raises(DataError, match="another sort"):
            items.load_new(pictures(tmp_path / "p"))

    def test_blanks_are_medians_and_new_ones_too(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text("height,width,void\n1,5,\n,6,\n3,,\n8,8,\n,8,\n")
        items = load(path, cache=tmp_path / "mine.db")
        assert items.feature_names == ["height", "width"]
        assert "2 blanks in 'height' were taken to be its median, 3" in items.notes
        assert "1 blank in 'width' was taken to be its median, 7" in items.notes
        assert "column 'void' left out: it is empty" in items.notes
        np.testing.assert_allclose(items.X[[1, 4], 0], items.X[2, 0])
        assert np.isfinite(items.X).all()
        assert items.show(1).fields[0] == ("height", "")  # shown as it is
        (tmp_path / "new.csv").write_text("height,width\n,8\n")
        for first in (items, load(path, cache=tmp_path / "mine.db")):
            new = first.load_new(tmp_path / "new.csv")
            np.testing.assert_allclose(new.X, items.X[4:])
            assert (
                "1 blank in 'height' was taken to be the median of the first table, 3" in new.notes
            )
        path.write_text("height,x\n1,1\n,2\n3,1\ntall,2\n5,1\n")
        with pytest.raises(DataError, match="'tall', which is no number, in row 4"):
            load(path)

    def test_new_pictures_may_come_in_another_form(self, tmp_path):
        folder = pictures(tmp_path / "p", 6)
        items = load(folder)
        pd.DataFrame({"f": ["p/photo 3.png"]}).to_csv(tmp_path / "t.csv", index=False)
        np.testing.assert_allclose(items.load_new(tmp_path / "t.csv").X[0], items.X[2], atol=1e-5)
        arrays = np.stack([np.asarray(Image.open(folder / "photo 3.png"))])
        np.save(tmp_path / "a.npy", arrays)
        np.testing.assert_allclose(items.load_new(tmp_path / "a.npy").X[0], items.X[2], atol=1e-5)
