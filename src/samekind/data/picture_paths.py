"""Pictures in a folder: their names, and that none of them lies outside of it."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath, PureWindowsPath

from samekind.errors import DataError

__all__ = [
    "HEIC",
    "SUFFIXES",
    "UnusablePicturesError",
    "check_name",
    "file_hash",
    "find_pictures",
    "has_pictures",
    "inside",
    "natural",
    "unusable",
]

HEIC = (".heic", ".heif")  # of phones; they need a package of their own
SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", *HEIC)
_KNOWN = ", ".join(suffix[1:] for suffix in SUFFIXES)
_SVG = (".svg", ".svgz")


class UnusablePicturesError(DataError):
    """Some pictures are broken or too large; `broken` has their names, and why."""

    def __init__(self, message: str, broken: list[tuple[str, str]]) -> None:
        super().__init__(message)
        self.broken = broken


def check_name(name: str) -> None:
    """Refuse names of pictures that lead out of the folder, or are of no known format."""
    for pure in (PurePosixPath(name), PureWindowsPath(name)):
        if pure.is_absolute() or pure.drive or ".." in pure.parts or "\0" in name:
            raise DataError(
                "it leads outside of the folder of the pictures. Name pictures relative to that folder, "
                "without '..'"
            )
    suffix = Path(name).suffix.lower()
    if suffix not in SUFFIXES:
        why = "SVG is not opened, because it can hold scripts" if suffix in _SVG else repr(suffix)
        raise DataError(f"its format is not read ({why}). Save it as PNG; read are {_KNOWN}")


def inside(folder: Path, name: str) -> Path:
    """Return the real path of a picture of the folder, after all links."""
    check_name(name)
    try:
        real = (folder / name).resolve()
    except (OSError, RuntimeError):  # RuntimeError: before Python 3.13
        raise DataError("it is a link that leads back to itself. Remove it") from None
    if not real.is_relative_to(folder.resolve()):
        raise DataError(
            "it is a link that leads outside of the folder of the pictures. Copy the picture itself into it"
        )
    return real


def unusable(name: str, reason: DataError) -> DataError:
    """Say which picture cannot be used, and why."""
    return DataError(f"the picture {name!r} cannot be used: {reason}.")


def find_pictures(folder: Path) -> tuple[list[str], list[str]]:
    """Return the names of all pictures in the folder and below, and notes for a person."""
    names: list[str] = []
    others = svgs = links = 0
    for base, linked, files in _walk(folder):
        links += linked
        for file in files:
            suffix = os.path.splitext(file)[1].lower()
            if suffix not in SUFFIXES:
                svgs += suffix in _SVG
                others += suffix not in _SVG
                continue
            name = (base.relative_to(folder) / file).as_posix()
            if (base / file).is_symlink():
                try:
                    inside(folder, name)
                except DataError as error:
                    raise unusable(name, error) from None
            try:
                name.encode("utf-8")
            except UnicodeEncodeError:
                raise DataError(f"the name of the file {name!r} is not UTF-8. Rename it.") from None
            names.append(name)
    if not names:
        svg = " SVG is not opened, because it can hold scripts: save those as PNG." * (svgs > 0)
        raise DataError(f"{folder} is a folder that holds no pictures ({_KNOWN}).{svg}")
    told = (
        (svgs, "SVG file", "not opened: save as PNG"),
        (others, "other file", "in the folder not used"),
        (links, "link", "to folders not followed"),
    )
    notes = [f"{n:,} {what}{'s' * (n != 1)} {how}" for n, what, how in told if n]
    return sorted(names, key=natural), notes


def has_pictures(folder: Path) -> bool:
    """Return whether there is any picture in a folder or below."""
    return any(name.lower().endswith(SUFFIXES) for _, _, files in _walk(folder) for name in files)


def _walk(folder: Path) -> Iterator[tuple[Path, int, list[str]]]:
    """Yield each folder with its number of linked folders, and its files; nothing that is hidden.

    macOS puts hidden shadow files beside pictures.
    """

    def refuse(error: OSError) -> None:
        raise DataError(
            f"the folder {error.filename} cannot be read ({error.strerror}). Change its "
            "permissions, or move it elsewhere."
        ) from error

    for base, folders, files in os.walk(folder, onerror=refuse):
        linked = sum(os.path.islink(os.path.join(base, name)) for name in folders)
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield Path(base), linked, [name for name in files if not name.startswith(".")]


def natural(name: str) -> tuple[list[str | int], str]:
    """Order names as people do: photo 9 before photo 10."""
    parts = re.split(r"(\d+)", name.casefold())
    return [int(part) if i % 2 else part for i, part in enumerate(parts)], name


def file_hash(path: Path) -> str:
    """Return a hash of all that a file holds."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=20)).hexdigest()
