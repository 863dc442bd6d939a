"""Features by a model of the user's choice: small models that are made here, saved and loaded again."""

import shutil
import socket

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import samekind
from samekind.data import load, model_features
from samekind.errors import DataError

TEXTS = ["where is my card", "my card is lost", "change my pin", "a new pin please", "card", "pin"]


def test_without_the_library_it_is_said_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "sentence_transformers", None)
    model_features.load_model.cache_clear()
    with pytest.raises(DataError, match=r"Install it: pip install 'samekind\[models\]'"):
        samekind.embed(TEXTS, f"sentence-transformers:{tmp_path}")


def messages(folder, name="messages.csv", texts=TEXTS):
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
        X = samekind.embed(TEXTS, f"sentence-transformers:{model}")
        assert X.shape == (6, 16)
        assert X.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1, rtol=1e-5)
        items = load(messages(tmp_path), text="message", features=f"sentence-transformers:{model}")
        np.testing.assert_array_equal(items.X, X)
        assert items.notes == ["texts of 'message' compared by the model model"]
        assert items.feature_names[15] == "model 16"

    def test_what_is_kept_needs_no_model_and_new_texts_do(self, model, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        given = {"text": "message", "features": "sentence-transformers:model", "cache": "mine.db"}
        told = []
        items = load(messages(tmp_path), **given, progress=lambda *done: told.append(done))
        assert ("features", 6, 6) in told
        assert items.recipe()["features"] == f"sentence-transformers:{model}"  # absolute
        new = items.load_new(messages(tmp_path, "new.csv", ["card", "unknown words"]))
        np.testing.assert_allclose(new.X[0], items.X[4], atol=1e-6)
        shutil.move(model, tmp_path / "elsewhere")
        again = load(**items.recipe() | {"cache": "mine.db"})
        np.testing.assert_array_equal(again.X, items.X)
        with pytest.raises(DataError, match="which is not there any more"):
            again.load_new(tmp_path / "new.csv")

    def test_another_model_in_the_same_folder(self, model, tmp_path):
        given = {"data": messages(tmp_path), "text": "message", "cache": tmp_path / "mine.db"}
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
            samekind.embed(TEXTS, f"sentence-transformers:{tmp_path}")
        with pytest.raises(DataError, match="no-such/model is not on this machine"):
            samekind.embed(TEXTS, "sentence-transformers:no-such/model")

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

    words = sorted({word for text in TEXTS for word in text.split()})
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
