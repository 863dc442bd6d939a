"""What a model sees of a row: its text, the cells of its row, its picture."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias, runtime_checkable

__all__ = ["ItemParts", "Part", "ShowsItems"]

Part: TypeAlias = dict[str, object]
"""A part of a message as the protocol has it."""


class _View(Protocol):
    @property
    def text(self) -> str | None: ...
    @property
    def fields(self) -> list[tuple[str, str]]: ...
    @property
    def has_picture(self) -> bool: ...


class _Picture(Protocol):
    @property
    def body(self) -> bytes: ...
    @property
    def media_type(self) -> str: ...


@runtime_checkable
class ShowsItems(Protocol):
    """Items that can be looked at, as `samekind.load` returns them."""

    def __len__(self) -> int: ...

    def show(self, row: int) -> _View:
        """Return what is seen of a row."""
        ...

    def picture(self, row: int, size: str = "small") -> _Picture:
        """Return the picture of a row."""
        ...


class ItemParts:
    """The rows as parts of messages.

    Parameters
    ----------
    items : Items, or sequence of texts or of mappings
        What the rows are; a mapping has the cells of a row by the names of their columns.
    most_characters : int
        Where a text is cut: a call must not grow without bound.
    """

    def __init__(
        self,
        items: ShowsItems | Sequence[str] | Sequence[Mapping[str, object]],
        most_characters: int,
    ) -> None:
        if not isinstance(items, ShowsItems) and (
            isinstance(items, str | bytes | Mapping) or not hasattr(items, "__getitem__")
        ):
            raise TypeError(
                "items must be what samekind.load returns, or a list of texts or of dicts, one for each "
                f"row; got {type(items).__name__}."
            )
        self._items = items
        self._most = most_characters

    def __len__(self) -> int:
        return len(self._items)

    def text(self, row: int) -> str:
        """Return the words of a row; "" if it is a picture and nothing else."""
        items = self._items
        if isinstance(items, ShowsItems):
            view = items.show(row)
            lines = [] if view.text is None else [view.text]
            lines += [f"{name}: {cell}" for name, cell in view.fields]
        else:
            item = items[row]
            if isinstance(item, Mapping):
                lines = [f"{name}: {cell}" for name, cell in item.items()]
            else:
                lines = [str(item)]
        whole = "\n".join(lines)
        return whole if len(whole) <= self._most else f"{whole[: self._most]}… (cut)"

    def picture(self, row: int) -> Part | None:
        """Return the picture of a row, written into the message itself; None if it has none."""
        items = self._items
        if not isinstance(items, ShowsItems) or not items.show(row).has_picture:
            return None
        found = items.picture(row, "small")
        coded = base64.b64encode(found.body).decode("ascii")
        return {
            "type": "image_url",
            "image_url": {"url": f"data:{found.media_type};base64,{coded}"},
        }
