"""What texts and pictures are compared by: its names, what it is worth, and what is said without it."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from PIL import Image, ImageDraw

import samekind
from samekind.data import load, word_vectors
from samekind.data.feature_names import resolve_features
from samekind.datasets import make_messages
from samekind.errors import DataError
from samekind.project import features_of, make_project, open_project

TEXTS = [
    "I want my money back",
    "Could I have a refund?",
    "My bicycle is broken",
    "The bike does not work any more",
    "I cannot sign in to my account",
    "Logging in fails",
]
TOPIC = np.repeat(np.arange(3), 2)


@pytest.fixture
def no_vectors(monkeypatch):
    """Nobody installed the word vectors."""
    monkeypatch.setattr(word_vectors, "_PACKAGE", "no_such_package_of_word_vectors")
    word_vectors.word_vectors.cache_clear()


def messages(folder, texts=TEXTS):
    path = folder / "messages.csv"
    pd.DataFrame({"message": texts}).to_csv(path, index=False)
    return path


def right_neighbours(X, y):
    """Return the share of rows whose nearest neighbour is of their kind."""
    distance = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    np.fill_diagonal(distance, np.inf)
    return (y[distance.argmin(axis=1)] == y).mean()


class TestEmbed:
    def test_meaning_counts(self):
        X = samekind.embed(TEXTS)
        assert X.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1, rtol=1e-5)
        assert right_neighbours(X, TOPIC) == 1
        assert right_neighbours(samekind.embed(TEXTS, "plain"), TOPIC) < 1

    def test_spelling_counts(self):
        codes = [
            f"{code}{i} {word}" for code in ("QX-71", "ZB/40") for i, word in enumerate("abcd")
        ]
        assert right_neighbours(samekind.embed(codes), np.repeat([0, 1], 4)) == 1

    def test_real_messages(self, data_folder):
        frame = pd.read_csv(data_folder / "banking77.csv.gz").iloc[::8]
        intent = pd.factorize(frame["category"])[0]
        close = {}
        for features in ("words", "plain"):
            S = (X := samekind.embed(frame["text"], features)) @ X.T
            np.fill_diagonal(S, -1)
            close[features] = (intent[S.argmax(axis=1)] == intent).mean()
        assert close["words"] > close["plain"] + 0.05  # 0.79 and 0.69

    def test_long_texts_are_compared_by_words_alone(self, tmp_path):
        rng = np.random.default_rng(0)
        words = [f"word{i}" for i in range(500)]
        texts = [" ".join(rng.choice(words[50 * (i % 4) :], 200)) for i in range(40)]
        items = load(messages(tmp_path, texts), text="message", features="plain")
        assert items.notes == ["texts of 'message' compared by their words"]
        short = load(
            messages(tmp_path, [text[:400] for text in texts]), text="message", features="plain"
        )
        assert short.notes == ["texts of 'message' compared by their words and parts of words"]
        np.testing.assert_allclose(
            samekind.embed(texts[:3], "plain", fit_on=texts), items.X[:3], atol=1e-5
        )

    def test_new_texts_beside_the_first(self):
        X = samekind.embed(TEXTS)
        new = samekind.embed(["I smashed my bike", ""], fit_on=TEXTS)
        assert TOPIC[(X @ new[0]).argmax()] == 1
        assert not new[1].any()
        np.testing.assert_allclose(samekind.embed(TEXTS, fit_on=TEXTS), X, atol=1e-5)

    def test_progress_grows_to_one(self):
        told = []
        samekind.embed(make_messages(2500, random_state=0)[0], progress=told.append)
        assert told == sorted(told)
        assert told[-1] == 1
        assert len(told) > 6

    @pytest.mark.parametrize("features", ["auto", "plain"])
    def test_what_load_uses(self, tmp_path, features):
        items = load(messages(tmp_path), text="message", features=features)
        np.testing.assert_array_equal(items.X, samekind.embed(TEXTS, features))

    def test_nothing_reaches_for_the_network_nor_sets_up_logging(self):
        """P31."""
        program = (
            "import logging, socket, sys\n"
            "def refuse(*args, **kwargs): raise AssertionError('the network was asked')\n"
            "socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse\n"
            "import samekind\n"
            "assert samekind.embed(['a card', 'a refund'], 'words').shape[1] > 256\n"
            "assert not logging.getLogger().handlers\n"
            "assert not {'wordllama', 'requests'} & set(sys.modules)\n"
        )
        subprocess.run([sys.executable, "-c", program], check=True, env=os.environ)

    @pytest.mark.parametrize(
        ("texts", "features", "says"),
        [
            ("one text", "auto", "a list of texts, got one text, 'one text'"),
            (["a", None], "auto", "all be str, got NoneType in row 1"),
            ([], "auto", "at least one text"),
            (["a", "b"], "bert", "features must be auto, words or plain .* got 'bert'"),
            (["a", "b"], "hog", "features must be for texts here, and 'hog' is for pictures"),
            (["a", "b"], "sentence-transformers:", "must name a model"),
            (
                ["a", "b"],
                "sentence-transformers:./nowhere",
                "there is no folder .*nowhere with a model",
            ),
            (["", " "], "auto", "hold no words"),
        ],
    )
    def test_what_cannot_be(self, texts, features, says):
        with pytest.raises(DataError, match=says):
            samekind.embed(texts, features)


def colours(folder):
    """Write two red and two blue pictures, and return their paths."""
    folder.mkdir()
    for row, colour in enumerate(["red", "#ee0000", "blue", "#0000ee"]):
        Image.new("RGB", (40, 30), colour).save(folder / f"my picture {row}.png")
    return sorted(folder.iterdir())


class TestEmbedPictures:
    def test_paths_images_and_arrays_give_the_same_points(self, tmp_path):
        paths = colours(tmp_path / "p")
        X = samekind.embed(paths)
        assert X.dtype == np.float32
        assert right_neighbours(X, np.array([0, 0, 1, 1])) == 1
        np.testing.assert_array_equal(X, load(tmp_path / "p").X)
        images = [Image.open(path) for path in paths]
        arrays = [np.asarray(image) for image in images]
        for given in (list(map(str, paths)), pd.Series(map(str, paths)), images, arrays):
            np.testing.assert_array_equal(samekind.embed(given), X)
        np.testing.assert_array_equal(samekind.embed(np.stack(arrays)), X)
        np.testing.assert_allclose(samekind.embed(paths[:2], fit_on=paths), X[:2], atol=1e-6)

    def test_a_path_is_never_embedded_as_a_text(self, tmp_path, monkeypatch):
        paths = colours(tmp_path / "p")
        note = tmp_path / "note.txt"
        note.write_text("a text")
        monkeypatch.chdir(tmp_path / "p")
        np.testing.assert_array_equal(
            samekind.embed([path.name for path in paths]), samekind.embed(paths)
        )
        points = samekind.Session([path.name for path in paths]).points
        assert points.d == samekind.embed(paths).shape[1]
        for given, says in (
            ([str(note), "a text"], "path of a file in row 0"),
            (["a text", str(paths[0])], "path of a file in row 1"),
            (["a text", paths[0]], "all be str, got .*Path in row 1"),
            (tmp_path, "got one path"),
            (["gone.png", "away.jpg"], "2 of 2 pictures cannot be used"),
        ):
            with pytest.raises(DataError, match=says):
                samekind.embed(given)
        with pytest.raises(DataError, match="path of a file in row 0"):
            samekind.embed(["a text"], fit_on=[str(note)])
        assert samekind.embed(["it is in photo.png", "see note 3.5"]).shape[0] == 2

    @pytest.mark.parametrize(
        "pictures", [np.zeros((3, 4, 4)), np.zeros((3, 4, 4, 2), np.uint8), np.zeros((3, 4))]
    )
    def test_arrays_that_are_no_pictures(self, pictures):
        for given in (pictures, list(pictures)):
            with pytest.raises(DataError, match="Pictures must be uint8"):
                samekind.embed(given)


class TestTextsAsX:
    def test_solve_session_and_estimator(self):
        texts, topics = make_messages(60, random_state=0)
        y = np.unique(topics, return_inverse=True)[1]
        given = {"budget": 40, "random_state": 0}
        found = samekind.solve(texts, samekind.LabelOracle(y), **given)
        X = samekind.embed(texts)
        np.testing.assert_array_equal(
            found.labels_, samekind.solve(X, samekind.LabelOracle(y), **given).labels_
        )
        for form in (tuple(texts), np.array(texts), pd.Series(texts)):
            np.testing.assert_array_equal(samekind.Session(form).points.rows([5]), X[[5]])
        model = samekind.SameKindClustering(**given).fit(texts, y)
        np.testing.assert_array_equal(model.labels_, found.labels_)
        assert (model.predict(texts[:20]) == model.predict(X[:20])).all()
        with pytest.raises(ValueError, match=r"samekind\.embed"):
            found.predict(texts)
        with pytest.raises(DataError, match="must all be str, got float in row 1"):
            samekind.solve(["a", 1.5], samekind.LabelOracle([0, 1]))


class TestNames:
    def test_what_auto_is(self, no_vectors):
        assert resolve_features("auto", "text") == "plain"
        assert resolve_features("auto", "image") == "hog"
        assert resolve_features("auto", "row") == "auto"

    def test_with_the_extra(self):
        assert resolve_features("auto", "text") == "words"

    def test_without_the_extra_it_is_said_what_it_would_bring(self, tmp_path, no_vectors):
        items = load(messages(tmp_path), text="message")
        assert items.recipe()["features"] == "plain"
        assert "pip install 'samekind[text]'" in items.notes[0]
        assert "what their words mean" in items.notes[0]
        with pytest.raises(DataError, match=r"Install them: pip install 'samekind\[text\]'"):
            load(messages(tmp_path), text="message", features="words")

    @pytest.mark.parametrize(
        ("given", "says"),
        [
            ({"text": "message", "features": "hog"}, "'hog' is for pictures"),
            ({"text": "message", "features": "x"}, "features must be auto, words"),
            ({"features": "words"}, "features must be auto where rows of numbers"),
            ({"columns": ["n"], "features": "words"}, "features and columns must not both"),
            ({"embeddings": "E.npy", "features": "plain"}, "features and embeddings must not both"),
        ],
    )
    def test_what_does_not_fit(self, tmp_path, given, says):
        path = tmp_path / "t.csv"
        pd.DataFrame({"message": TEXTS, "n": np.arange(6) * 1.5}).to_csv(path, index=False)
        with pytest.raises(DataError, match=says):
            load(path, **given)


class TestProjects:
    def make(self, folder, **given):
        path = folder / "mine.db"
        items = load(messages(folder), text="message", cache=folder / "mine", **given)
        make_project(items, path, random_state=0).close()
        return path

    def test_a_project_remembers(self, tmp_path):
        path = self.make(tmp_path)
        assert features_of(path) == "words"
        assert features_of(tmp_path / "none.db") is None
        project = open_project(path)
        assert project.items.recipe()["features"] == "words"
        project.close()

    def test_it_opens_without_the_extra_but_cannot_take_new_texts(self, tmp_path, request):
        path = self.make(tmp_path)
        request.getfixturevalue("no_vectors")
        project = open_project(path)
        np.testing.assert_allclose(np.linalg.norm(project.items.X, axis=1), 1, rtol=1e-5)
        assert not project.items.is_standardized  # what exports ask
        with pytest.raises(DataError, match=r"pip install 'samekind\[text\]'"):
            project.items.load_new(tmp_path / "messages.csv")
        project.close()
        for kept in tmp_path.glob("mine.*[!b]"):
            kept.unlink()
        with pytest.raises(DataError, match=r"pip install 'samekind\[text\]'"):
            open_project(path)


class TestEmbeddingFiles:
    E = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)

    def written(self, folder, frame):
        frame.to_parquet(folder / "E.parquet", index=False)
        return load(messages(folder), text="message", embeddings=folder / "E.parquet")

    def test_parquet(self, tmp_path):
        lists = pd.DataFrame({"id": range(6), "vector": list(self.E)})
        columns = pd.DataFrame(self.E, columns=["a", "b", "c"])
        for frame, names in (
            (lists, ["vector 1", "vector 2", "vector 3"]),
            (columns, ["a", "b", "c"]),
        ):
            items = self.written(tmp_path, frame)
            np.testing.assert_array_equal(items.X, self.E)
            assert items.feature_names == names
            assert items.X.flags.c_contiguous

    @pytest.mark.parametrize(
        ("frame", "says"),
        [
            (pd.DataFrame({"v": [[1.0, 2.0]] * 5 + [[1.0]]}), "lists of different lengths"),
            (pd.DataFrame({"v": [[1.0, 2.0]] * 5 + [None]}), "lists of different lengths"),
            (pd.DataFrame({"v": [[1.0, np.nan]] * 6}), "row 0 that is no finite number"),
            (pd.DataFrame({"v": [[1.0, 2.0]] * 4}), "4 rows, but there are 6 items"),
            (pd.DataFrame({"v": list("abcdef")}), "one column of lists of numbers"),
        ],
    )
    def test_what_cannot_be(self, tmp_path, frame, says):
        with pytest.raises(DataError, match=says):
            self.written(tmp_path, frame)


def drawn(folder, n=60):
    """Draw discs, squares and bars of all colours and places."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    for row in range(n):
        back, fore = (tuple(map(int, rng.integers(0, 255, size=3))) for _ in range(2))
        image = Image.new("RGB", (80, 60), back)
        x, y = map(int, rng.integers(20, 32, size=2))
        shape = [x, y - 12, x + 28, y + 16] if row % 3 < 2 else [x - 10, y - 3, x + 34, y + 5]
        pen = ImageDraw.Draw(image)
        (pen.ellipse if row % 3 == 0 else pen.rectangle)(shape, fill=fore)
        image.save(folder / f"{row:03}.png")
    return folder, np.arange(n) % 3


class TestPictures:
    def test_shapes_count_more_than_light(self, tmp_path):
        folder, shape = drawn(tmp_path / "drawn")
        assert right_neighbours(load(folder).X, shape) > 0.7

    def test_texture_counts(self, tmp_path):
        rng = np.random.default_rng(0)
        noise = rng.normal(128, 40, size=(20, 48, 48))
        smooth = noise.copy()
        smooth[1::2] = np.repeat(np.repeat(noise[1::2, ::6, ::6], 6, axis=1), 6, axis=2)
        np.save(tmp_path / "p.npy", smooth.clip(0, 255).astype(np.uint8))
        items = load(tmp_path / "p.npy")
        assert right_neighbours(items.X, np.arange(20) % 2) == 1
        np.testing.assert_array_equal(items.images, np.load(tmp_path / "p.npy"))

    def test_digits(self):
        y = samekind.datasets.load_digits(return_X_y=True)[1]
        assert right_neighbours(load("demo:digits").X[:500], y[:500]) > 0.95

    def test_pictures_without_anything_in_them(self, tmp_path):
        np.save(tmp_path / "p.npy", np.zeros((4, 20, 20), dtype=np.uint8))
        assert not load(tmp_path / "p.npy").X.any()
        np.save(tmp_path / "p.npy", np.full((1, 3, 5, 3), 7, dtype=np.uint8).repeat(3, axis=0))
        assert np.isfinite(load(tmp_path / "p.npy").X).all()


class TestMessages:
    def test_the_same_seed_makes_the_same(self):
        texts, topics = make_messages(300, random_state=1)
        again, _ = make_messages(300, random_state=1)
        assert texts == again != make_messages(300, random_state=2)[0]
        assert len(set(topics)) == 16
        assert not any(set("[]{}|") & set(text) for text in texts)
        assert all(texts)
