"""Features kept beside a project, so that it opens at once; whatever is damaged is not used.

One JSON file names the others with their sizes and checksums. It is removed before they are written, and
written last: a writer that is killed, or two at once, leave nothing that could be mistaken. Nothing is
pickled: files hold JSON and arrays.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np

from samekind.data.readers import Array

__all__ = ["About", "Cache", "State", "digest", "write_whole"]

About: TypeAlias = dict[str, Any]
"""What JSON can hold."""

FORMAT = 4
_ABOUT = "features.json"
_TRANSFORM = "transform.npz"
_PROJECTS = (".db", ".sqlite", ".sqlite3")
_BLOCK = 1 << 20


@dataclass
class State:
    """What something is made again from: JSON, and arrays."""

    about: About = field(default_factory=dict)
    arrays: dict[str, Array] = field(default_factory=dict)

    def put(self, name: str, part: State) -> None:
        """Keep the state of a part."""
        self.about[name] = part.about
        self.arrays |= {f"{name}.{key}": array for key, array in part.arrays.items()}

    def part(self, name: str) -> State:
        """Return the state of a part."""
        start = f"{name}."
        arrays = {k.removeprefix(start): a for k, a in self.arrays.items() if k.startswith(start)}
        return State(self.about[name], arrays)


def digest(**parts: object) -> str:
    """Return a key of all that something depends on."""
    text = json.dumps({"format": FORMAT} | parts, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=20).hexdigest()


class Cache:
    """What is kept beside a project; with None nothing is."""

    def __init__(self, project: Path | None) -> None:
        self.prefix = project
        if project is not None and project.suffix.lower() in _PROJECTS:
            self.prefix = project.with_suffix("")
        self.about: About = {}
        if self.prefix is not None:
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                kept = json.loads(self.path(_ABOUT).read_text("utf-8"))
                if kept["checksum"] == digest(about=kept["about"]):
                    self.about = kept["about"]

    def path(self, name: str) -> Path:
        """Return where a file is kept."""
        assert self.prefix is not None
        return self.prefix.with_name(f"{self.prefix.name}.{name}")

    def has(self, key: str) -> bool:
        """Whether features are kept under a key, undamaged."""
        files = self.about.get("files")
        fits = self.about.get("key") == key
        return fits and isinstance(files, dict) and all(map(self._intact, files))

    def texts(self, name: str) -> list[str]:
        """Return a list of texts that is kept; a KeyError or TypeError says that it is not."""
        return [str(text) for text in self.about[name]]

    def array(self, name: str) -> Array | None:
        """Return an array, mapped into memory."""
        if f"{name}.npy" not in self.about["files"]:
            return None
        loaded: Array = np.load(self.path(f"{name}.npy"), mmap_mode="r", allow_pickle=False)
        return loaded

    def state(self) -> State | None:
        """Return how features are made; None if that is not kept, or was written anew."""
        about = self.about.get("transform")
        if not about or not self._intact(_TRANSFORM):
            return None
        with np.load(self.path(_TRANSFORM), allow_pickle=False) as archive:
            return State(about, {name: archive[name] for name in archive.files})

    def keep(
        self,
        about: About,
        arrays: dict[str, Array],
        state: State | None,
    ) -> None:
        """Write everything; an OSError says why that is not possible."""
        if self.prefix is None:
            return
        self.path(_ABOUT).unlink(missing_ok=True)
        files: dict[str, list[int]] = {}

        def write(name: str, how: Callable[[IO[bytes]], object]) -> None:
            write_whole(self.path(name), how)
            files[name] = _checksum(self.path(name))

        for name, array in arrays.items():
            file, where = f"{name}.npy", getattr(array, "filename", None)
            if where is not None and Path(where) == self.path(file):  # was written there at once
                files[file] = _checksum(self.path(file))
            else:
                write(file, partial(np.save, arr=array, allow_pickle=False))
        if state is not None:
            write(_TRANSFORM, lambda file: np.savez(file, **state.arrays))  # type: ignore[arg-type]
        made = {} if state is None else state.about
        self.about = {**about, "transform": made, "files": files}
        text = json.dumps({"checksum": digest(about=self.about), "about": self.about})
        write_whole(self.path(_ABOUT), lambda file: file.write(text.encode()))

    def _intact(self, name: str) -> bool:
        try:
            return bool(self.about["files"][name] == _checksum(self.path(name)))
        except (OSError, KeyError, TypeError):
            return False


def _checksum(path: Path) -> list[int]:
    size = value = 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            value = zlib.crc32(block, value)
            size += len(block)
    return [size, value]


def _private(path: str, flags: int) -> int:
    """Open a file that only its owner may read: it holds the user's data."""
    return os.open(path, flags, 0o600)


def write_whole(path: Path, how: Callable[[IO[bytes]], object]) -> None:
    """Write a file beside its place, then put it there: one that is not complete is never found."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with open(beside, "xb", opener=_private) as file:
            how(file)
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
