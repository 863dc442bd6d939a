"""What a user asks for when data are loaded, checked and tidied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TypeAlias

from samekind._validation import check_positive_int
from samekind.data.files import ARRAY_SUFFIXES
from samekind.errors import DataError

__all__ = ["DEMO", "LoadOptions", "Names", "absolute"]

DEMO = "demo:digits"
Names: TypeAlias = "str | Sequence[str] | None"
"""One name of a column, or several."""


@dataclass(frozen=True)
class LoadOptions:
    """Where data are, and which of their columns are used for what. See `samekind.load`."""

    data: Path
    text: str | None = None
    image: str | None = None  # a column or a folder
    labels: str | None = None
    columns: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
    show: tuple[str, ...] | None = None
    show_table: Path | None = None  # beside an array
    embeddings: Path | None = None
    header: bool = True
    sheet: str | None = None
    standardize: bool = True
    max_categories: int = 20
    image_shape: tuple[int, int] | None = None
    stream: bool | None = None

    @classmethod
    def make(
        cls,
        data: str | Path,
        *,
        text: str | None = None,
        image: str | Path | None = None,
        labels: str | None = None,
        columns: Names = None,
        exclude: Names = None,
        show: str | Path | Sequence[str] | None = None,
        embeddings: str | Path | None = None,
        header: bool = True,
        sheet: str | None = None,
        standardize: bool = True,
        max_categories: int = 20,
        image_shape: Sequence[int] | None = None,
        stream: bool | None = None,
    ) -> LoadOptions:
        """Check and tidy what a caller gives."""
        if text is not None and image is not None:
            raise DataError(
                f"text ({text!r}) and image ({str(image)!r}) must not both be given: things are "
                "compared by the one or the other. Name a further column with show."
            )
        if labels is not None and not isinstance(labels, str):
            raise DataError(f"labels must be the name of a column or None, got {labels!r}.")
        if columns is not None and (text or image or embeddings):
            other = "text" if text else "image" if image else "embeddings"
            raise DataError(
                f"columns and {other} must not both be given: things are compared by the one or the "
                "other."
            )
        path = absolute(data)
        shown = [str(show)] if isinstance(show, str | Path) else list(show or ())
        table = None
        if path.suffix.lower() in ARRAY_SUFFIXES and shown:
            if len(shown) > 1:
                raise DataError(
                    f"show must be one table, because {path} is an array, got {', '.join(shown)}."
                )
            table, shown = absolute(shown[0]), []
        return cls(
            data=path,
            text=text,
            image=None if image is None else str(image),
            labels=labels,
            columns=None if columns is None else _names("columns", columns),
            exclude=_names("exclude", exclude),
            show=tuple(shown) or None,
            show_table=table,
            embeddings=None if embeddings is None else absolute(embeddings),
            header=header,
            sheet=sheet,
            standardize=standardize,
            max_categories=check_positive_int("max_categories", max_categories, minimum=0),
            image_shape=None if image_shape is None else _shape(image_shape),
            stream=stream,
        )

    def recipe(self) -> dict[str, object]:
        """Return the arguments of `samekind.load` that load the same again, as JSON can hold them."""
        given: dict[str, object] = {}
        for option in fields(self):
            value = getattr(self, option.name)
            if option.name == "show_table" or value == option.default:
                continue
            plain = str(value) if isinstance(value, Path) else value
            given[option.name] = list(plain) if isinstance(plain, tuple) else plain
        if self.show_table is not None:
            given["show"] = str(self.show_table)
        return given


def absolute(path: str | Path) -> Path:
    """Return a path that stays right when the program is started elsewhere."""
    return Path(path).expanduser().absolute()


def _names(parameter: str, given: Names) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else tuple(given or ())
    for name in names:
        if not isinstance(name, str):
            raise DataError(f"{parameter} must hold names of columns, got {name!r}.")
    return names


def _shape(given: Sequence[int]) -> tuple[int, int]:
    sizes = [check_positive_int("image_shape", size) for size in given]
    if len(sizes) != 2:
        raise DataError(f"image_shape must be (height, width), got {tuple(given)!r}.")
    return sizes[0], sizes[1]
