"""What texts and pictures are compared by: its names, what it is worth, and what is said without it."""

import os
import shutil
import socket
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from PIL import Image, ImageDraw

import samekind
from samekind.data import load, model_features, word_vectors
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
        """P31: word vectors come with the package."""
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
            (["a", "b"], "bert", "features must be auto, words or plain .* got 'bert'"),
            (["a", "b"], "hog", "features must be for texts here, and 'hog' is for pictures"),
            (
                ["a", "b"],
                "sentence-transformers:./nowhere",
                "there is no folder .*nowhere with a model",
            ),
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


CARDS = ["where is my card", "my card is lost", "change my pin", "a new pin please", "card", "pin"]


def test_without_the_library_it_is_said_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "sentence_transformers", None)
    model_features.load_model.cache_clear()
    with pytest.raises(DataError, match=r"Install it: pip install 'samekind\[models\]'"):
        samekind.embed(CARDS, f"sentence-transformers:{tmp_path}")


def card_messages(folder, name="messages.csv", texts=CARDS):
    path = folder / name
    pd.DataFrame({"message": texts}).to_csv(path, index=False)
    return path


class TestWithTheLibrary:
    @pytest.fixture(autouse=True)
    def library(self, monkeypatch):
        pytest.importorskip(
            "sentence_transformers", reason="sentence-transformers is not installed (extra models)"
        )
        model_features.load_model.cache_clear()

        def refuse(*args, **kwargs):
            raise OSError("there is no network in tests")

        monkeypatch.setattr(socket.socket, "connect", refuse)
        monkeypatch.setattr(socket, "getaddrinfo", refuse)

    @pytest.fixture
    def model(self, tmp_path):
        """A folder with a model of 16 numbers for each word that it knows."""
        return write_model(tmp_path / "model", seed=0)

    def test_texts(self, model, tmp_path):
        X = samekind.embed(CARDS, f"sentence-transformers:{model}")
        assert X.shape == (6, 16)
        assert X.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1, rtol=1e-5)
        items = load(
            card_messages(tmp_path), text="message", features=f"sentence-transformers:{model}"
        )
        np.testing.assert_array_equal(items.X, X)
        assert items.notes == ["texts of 'message' compared by the model model"]
        assert items.feature_names[15] == "model 16"

    def test_what_is_kept_needs_no_model_and_new_texts_do(self, model, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        given = {"text": "message", "features": "sentence-transformers:model", "cache": "mine.db"}
        told = []
        items = load(card_messages(tmp_path), **given, progress=lambda *done: told.append(done))
        assert ("features", 6, 6) in told
        assert items.recipe()["features"] == f"sentence-transformers:{model}"  # absolute
        new = items.load_new(card_messages(tmp_path, "new.csv", ["card", "unknown words"]))
        np.testing.assert_allclose(new.X[0], items.X[4], atol=1e-6)
        shutil.move(model, tmp_path / "elsewhere")
        again = load(**items.recipe() | {"cache": "mine.db"})
        np.testing.assert_array_equal(again.X, items.X)
        with pytest.raises(DataError, match="which is not there any more"):
            again.load_new(tmp_path / "new.csv")

    def test_another_model_in_the_same_folder(self, model, tmp_path):
        given = {"data": card_messages(tmp_path), "text": "message", "cache": tmp_path / "mine.db"}
        given["features"] = f"sentence-transformers:{model}"
        first = load(**given)
        shutil.rmtree(model)
        write_model(model, seed=1)
        kept = first.features.state()
        with pytest.raises(DataError, match="which has changed since"):
            model_features.ModelFeatures.from_state(kept)
        assert not np.allclose(load(**given).X, first.X)

    def test_models_that_are_none(self, tmp_path):
        (tmp_path / "config.json").write_text("{}")
        with pytest.raises(DataError, match="holds no model that sentence-transformers can load"):
            samekind.embed(CARDS, f"sentence-transformers:{tmp_path}")
        with pytest.raises(DataError, match="no-such/model is not on this machine"):
            samekind.embed(CARDS, "sentence-transformers:no-such/model")

    def test_pictures(self, tmp_path):
        model = write_clip(tmp_path / "clip")
        folder = tmp_path / "pictures"
        folder.mkdir()
        for row, colour in enumerate(["red", "#ee0000", "blue", "#0000ee"]):
            Image.new("RGB", (40, 30), colour).save(folder / f"{row}.png")
        items = load(folder, features=f"sentence-transformers:{model}")
        assert items.X.shape == (4, 8)
        assert items.images.shape == (4, 32, 32)
        assert items.X[0] @ items.X[1] > items.X[0] @ items.X[2]
        assert pytest.approx(items.X, abs=1e-5) == items.load_new(folder).X

    def test_pictures_for_a_model_of_texts(self, model, tmp_path):
        np.save(tmp_path / "p.npy", np.zeros((3, 40, 40), dtype=np.uint8))
        with pytest.raises(DataError, match="cannot take pictures"):
            load(tmp_path / "p.npy", features=f"sentence-transformers:{model}")


def write_model(folder, seed):
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = sorted({word for text in CARDS for word in text.split()})
    vocabulary = {word: number for number, word in enumerate(["[UNK]", *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    torch.manual_seed(seed)
    part = StaticEmbedding(tokenizer, embedding_dim=16)
    SentenceTransformer(modules=[part], device="cpu").save(str(folder))
    return folder


def write_clip(folder):
    """Write a CLIP of few numbers; it has learnt nothing, but like pictures get like vectors."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import CLIPModel
    from transformers import CLIPConfig, CLIPImageProcessor, CLIPProcessor, CLIPTokenizer
    from transformers import CLIPModel as Weights

    torch.manual_seed(0)
    inner = folder / "inner"
    inner.mkdir(parents=True)
    small = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1}
    small |= {"num_attention_heads": 2, "projection_dim": 8}
    letters = {chr(97 + i): i for i in range(26)} | {
        f"{chr(97 + i)}</w>": 26 + i for i in range(26)
    }
    letters |= {"<|startoftext|>": 52, "<|endoftext|>": 53}
    text = small | {"vocab_size": 54, "bos_token_id": 52, "eos_token_id": 53, "pad_token_id": 53}
    vision = small | {"image_size": 32, "patch_size": 16}
    config = CLIPConfig(text_config=text, vision_config=vision, projection_dim=8)
    Weights(config).save_pretrained(inner)
    pd.Series(letters).to_json(inner / "vocab.json")
    (inner / "merges.txt").write_text("#version: 0.2\n")
    tokenizer = CLIPTokenizer(str(inner / "vocab.json"), str(inner / "merges.txt"))
    size = {"shortest_edge": 32}
    pictures = CLIPImageProcessor(size=size, crop_size={"height": 32, "width": 32})
    CLIPProcessor(pictures, tokenizer).save_pretrained(inner)
    SentenceTransformer(modules=[CLIPModel(str(inner))], device="cpu").save(str(folder / "whole"))
    return folder / "whole"
