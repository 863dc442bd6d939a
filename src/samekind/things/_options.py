"""What was asked for when things were loaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from samekind.datasets import DataError

DEMO = "demo:digits"
ARRAYS = (".npy", ".npz")


@dataclass(frozen=True)
class Options:
    """Where things are, and which of their columns are used for what."""

    data: Path
    text: str | None = None
    image: str | None = None  # a column or a folder
    show: tuple[str, ...] | None = None
    show_table: Path | None = None  # beside an array
    exclude: tuple[str, ...] = ()
    embeddings: Path | None = None
    header: bool = True

    @classmethod
    def make(
        cls,
        data: str | Path,
        *,
        text: str | None,
        image: str | Path | None,
        show: str | Path | Sequence[str] | None,
        exclude: str | Sequence[str] | None,
        embeddings: str | Path | None,
        header: bool,
    ) -> Options:
        """Check and tidy what a caller gives."""
        if text is not None and image is not None:
            raise DataError(
                f"text ({text!r}) and image ({str(image)!r}) must not both be given: things are "
                "compared by the one or the other. Name a further column with show."
            )
        path = absolute(data)
        shown = [str(show)] if isinstance(show, str | Path) else list(show or ())
        table = None
        if path.suffix.lower() in ARRAYS and shown:
            if len(shown) > 1:
                raise DataError(
                    f"show must be one table, because {path} is an array, got {', '.join(shown)}."
                )
            table, shown = absolute(shown[0]), []
        return cls(
            data=path,
            text=text,
            image=None if image is None else str(image),
            show=tuple(shown) or None,
            show_table=table,
            exclude=(exclude,) if isinstance(exclude, str) else tuple(exclude or ()),
            embeddings=None if embeddings is None else absolute(embeddings),
            header=header,
        )

    def recipe(self) -> dict[str, Any]:
        """Return the arguments of `load_things` that load the same things again."""
        show: Any = list(self.show) if self.show else None
        return {
            "data": str(self.data),
            "text": self.text,
            "image": self.image,
            "show": str(self.show_table) if self.show_table else show,
            "exclude": list(self.exclude) or None,
            "embeddings": str(self.embeddings) if self.embeddings else None,
            "header": self.header,
        }


def absolute(path: str | Path) -> Path:
    """Return a path that stays right when the program is started elsewhere."""
    return Path(path).expanduser().absolute()
