"""Features of texts by word vectors: the meaning of their words, and beside it their spelling."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.data.cache import State
from samekind.data.text_features import CHARACTERS, Done, TfidfFeatures, told_chunks, unit_rows
from samekind.errors import DataError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["WordFeatures", "has_word_vectors"]

INSTALL = "pip install 'samekind[text]'"
# Measured on customer questions, the same misspelt, titles of questions, product titles with codes, log
# lines and made-up messages: between 0.5 and 0.85 nearest neighbours and k-means are equally good on the
# whole; below, codes and misspelt words lose, above, meaning does.
SPELLING_WEIGHT = 0.6
_SHARE = 0.25  # of the time that word vectors take
_PACKAGE = "wordllama"
_WEIGHTS = ("weights", "l2_supercat_256.safetensors")
_TOKENS = ("tokenizers", "l2_supercat_tokenizer_config.json")


class WordVectors(NamedTuple):
    """A vector for each token of a vocabulary."""

    tokenizer: Tokenizer
    vectors: NDArray[np.float32]
    checksum: int

    def mean(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the mean vector of the tokens of each text, of length 1; 0 for texts without any."""
        from scipy import sparse

        # One by one: batches are no faster, and warn in every process that is forked later.
        encode = self.tokenizer.encode
        tokens = [encode(text[:CHARACTERS], add_special_tokens=False).ids for text in texts]
        starts = np.cumsum([0, *map(len, tokens)])
        columns = np.fromiter((t for ids in tokens for t in ids), dtype=np.int32, count=starts[-1])
        ones = np.ones(len(columns), dtype=np.float32)
        counts = sparse.csr_array((ones, columns, starts), shape=(len(texts), len(self.vectors)))
        return unit_rows(counts @ self.vectors)


def _files() -> tuple[Path, Path] | None:
    """Return where the vectors and the tokenizer are, without importing the package that holds them.

    The package sets up logging, and its loader looks for the tokenizer where it is not and then on the
    internet; the two files are all that is needed.
    """
    package = find_spec(_PACKAGE)
    if package is None or find_spec("tokenizers") is None or find_spec("safetensors") is None:
        return None
    for folder in map(Path, package.submodule_search_locations or ()):
        weights, tokens = folder.joinpath(*_WEIGHTS), folder.joinpath(*_TOKENS)
        if weights.is_file() and tokens.is_file():
            return weights, tokens
    return None


def has_word_vectors() -> bool:
    """Whether the word vectors are installed."""
    return _files() is not None


@cache
def word_vectors() -> WordVectors:
    """Return the word vectors; an error says how to install them."""
    files = _files()
    if files is None:
        raise DataError(
            f"texts are compared by word vectors here, which are not installed. Install them: {INSTALL}"
        )
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    weights, tokens = files
    vectors = load_file(weights)["embedding.weight"].astype(np.float32)
    return WordVectors(Tokenizer.from_file(str(tokens)), vectors, zlib.crc32(vectors.tobytes()))


class WordFeatures:
    """Mean word vectors beside weighted words and parts of words, together of length 1.

    Word vectors know that a refund is money back; parts of words know product names, codes and what is
    misspelt.

    Parameters
    ----------
    words : WordVectors
        What words mean.
    spelling : TfidfFeatures
        What was learnt about the spelling of the first texts.
    """

    described = "the meaning and the spelling of their words"

    def __init__(self, words: WordVectors, spelling: TfidfFeatures) -> None:
        self.words = words
        self.spelling = spelling

    @property
    def names(self) -> list[str]:
        """A name for each feature."""
        meaning = [f"meaning {i + 1}" for i in range(self.words.vectors.shape[1])]
        return meaning + [f"spelling {i + 1}" for i in range(len(self.spelling.names))]

    @classmethod
    def fit(cls, texts: Sequence[str], done: Done) -> tuple[WordFeatures, NDArray[np.float32]]:
        """Learn how the texts are spelt; what their words mean is known."""
        words = word_vectors()
        spelling, S = TfidfFeatures.fit(texts, lambda share: done((1 - _SHARE) * share))
        made = cls(words, spelling)
        return made, made._beside(texts, S, done)

    def transform(self, texts: Sequence[str], done: Done) -> NDArray[np.float32]:
        """Return the points of texts."""
        S = self.spelling.transform(texts, lambda share: done((1 - _SHARE) * share))
        return self._beside(texts, S, done)

    def _beside(
        self, texts: Sequence[str], S: NDArray[np.float32], done: Done
    ) -> NDArray[np.float32]:
        d = self.words.vectors.shape[1]
        X = np.empty((len(texts), d + S.shape[1]), dtype=np.float32)
        X[:, d:] = np.float32(SPELLING_WEIGHT) * S
        for rows in told_chunks(len(texts), done, 1 - _SHARE, _SHARE):
            X[rows, :d] = self.words.mean(texts[rows])
            X[rows] = unit_rows(X[rows])
        return X

    def state(self) -> State:
        """Return what `from_state` makes it from."""
        state = State({"vectors": self.words.checksum})
        state.put("spelling", self.spelling.state())
        return state

    @classmethod
    def from_state(cls, state: State) -> WordFeatures:
        """Make it again."""
        words = word_vectors()
        if words.checksum != state.about["vectors"]:
            raise DataError(
                "the word vectors that are installed are not those of this project. Install the version "
                f"of {_PACKAGE} that it was made with."
            )
        return cls(words, TfidfFeatures.from_state(state.part("spelling")))
