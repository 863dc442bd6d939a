"""Features by a model of the user's choice, which the library sentence-transformers loads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from samekind.data.cache import About, State, digest
from samekind.data.picture_paths import file_hash
from samekind.data.text_features import CHARACTERS, Done, unit_rows
from samekind.errors import DataError, Parameter

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from samekind.data.pictures import Drawing, Pictures

__all__ = ["PREFIX", "ModelFeatures", "is_of_other_model", "model_place"]

PREFIX = "sentence-transformers:"
INSTALL = "pip install 'samekind[models]'"
_AT_ONCE = 256  # texts or pictures between two signs of life
_NEAR = 512  # pixels: about this size a picture is opened at; models take 224 or 384


class ModelFeatures:
    """What a model says about texts or pictures, as points of length 1.

    Parameters
    ----------
    place : str
        The folder of the model, or its name.
    checksum : str
        Of the files in the folder; empty for a name.
    size : int
        The length of its vectors; 0 before any were made.
    """

    def __init__(self, place: str, checksum: str, size: int = 0) -> None:
        self.place = place
        self.checksum = checksum
        self.size = size

    @property
    def described(self) -> str:
        """What items are compared by, in words."""
        return f"the model {Path(self.place).name}"

    @property
    def names(self) -> list[str]:
        """A name for each feature."""
        return [f"{Path(self.place).name} {i + 1}" for i in range(self.size)]

    @classmethod
    def at(cls, place: str) -> ModelFeatures:
        """Return the features of a model, which is loaded when it is first needed."""
        return cls(place, folder_checksum(place))

    def transform(self, texts: Sequence[str], done: Done) -> NDArray[np.float32]:
        """Return the points of texts."""
        return self._encode(
            len(texts), lambda rows: [text[:CHARACTERS] for text in texts[rows]], "texts", done
        )

    def of_pictures(self, pictures: Pictures, done: Done) -> NDArray[np.float32]:
        """Return the points of pictures."""

        def some(rows: slice) -> list[Drawing]:
            opened = (pictures.open(row, _NEAR)[0] for row in range(rows.start, rows.stop))
            return [picture.convert("RGB") for picture in opened]

        return self._encode(len(pictures), some, "pictures", done)

    def _encode(
        self, n: int, inputs: Callable[[slice], Sequence[object]], what: str, done: Done
    ) -> NDArray[np.float32]:
        """Return the points of all, of which `inputs` returns some at a time."""
        model = load_model(self.place, self.checksum)
        X = np.empty((n, self.size), dtype=np.float32)
        done(0.0)
        for first in range(0, n, _AT_ONCE):
            rows = slice(first, min(first + _AT_ONCE, n))
            some = inputs(rows)
            try:
                found = np.asarray(model.encode(some, show_progress_bar=False), dtype=np.float32)
            except (
                Exception
            ) as error:  # what models raise for what they cannot take is of every kind
                raise DataError(
                    f"the model {self.place} cannot take {what} ({_first_line(error)}). Name another "
                    "one in features."
                ) from error
            if not self.size:
                self.size = found.shape[1]
                X = np.empty((n, self.size), dtype=np.float32)
            if found.shape != (len(some), self.size) or not np.isfinite(found).all():
                raise DataError(
                    f"the model {self.place} does not return {self.size:,} finite numbers for each "
                    "item. Name another one in features."
                )
            X[rows] = unit_rows(found)
            done(rows.stop / n)
        return X

    def state(self) -> State:
        """Return what `from_state` makes it from."""
        return State({"model": self.place, "size": self.size, "checksum": self.checksum})

    @classmethod
    def from_state(cls, state: State) -> ModelFeatures:
        """Make it again, if the model is the same."""
        place, known = state.about["model"], state.about["checksum"]
        if folder_checksum(place) != known:
            what = "has changed since" if Path(place).is_dir() else "is not there any more"
            raise DataError(
                f"these items were compared by the model in {place}, which {what}. Put it back there."
            )
        return cls(place, known, state.about["size"])


def model_place(features: str) -> str:
    """Return the folder or name of the model that ``sentence-transformers:…`` asks for."""
    name = features.removeprefix(PREFIX).strip()
    if not name:
        raise DataError(
            Parameter("features"),
            f" must name a model, such as {PREFIX}all-MiniLM-L6-v2, or its folder, got {features!r}.",
        )
    folder = Path(name).expanduser()
    is_path = folder.is_dir() or folder.is_absolute() or name.startswith(".")
    return str(folder.absolute()) if is_path else name


@lru_cache(maxsize=1)
def load_model(place: str, checksum: str) -> SentenceTransformer:
    """Load a model from its folder, or from what the user downloaded before; never from the network."""
    if Path(place).is_absolute() and not Path(place).is_dir():
        raise DataError(
            f"there is no folder {place} with a model. Check what ",
            Parameter("features"),
            " names.",
        )
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise DataError(
            f"the model {place} needs sentence-transformers, which is not installed. Install it: "
            f"{INSTALL}"
        ) from error
    try:
        return SentenceTransformer(place, local_files_only=True)
    except Exception as error:  # of the library or of torch
        if checksum:
            raise DataError(
                f"the folder {place} holds no model that sentence-transformers can load "
                f"({_first_line(error)}). Name another one in features."
            ) from error
        published = place if "/" in place else f"sentence-transformers/{place}"
        raise DataError(
            f"the model {place} is not on this machine ({_first_line(error)}), and samekind loads nothing "
            f"from the network. Download it once (hf download {published}), or name the folder that it is in."
        ) from error


def folder_checksum(place: str) -> str:
    """Return a checksum of the model in a folder; nothing for a name, or where there is none any more."""
    folder = Path(place)
    if not folder.is_absolute() or not folder.is_dir():
        return ""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return digest(files=[(path.relative_to(folder).as_posix(), file_hash(path)) for path in files])


def is_of_other_model(state: About) -> bool:
    """Whether features were made by a model whose folder now holds another one."""
    found = folder_checksum(str(state.get("model", "")))
    return found != "" and found != state.get("checksum")


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
