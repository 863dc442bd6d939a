"""From a file to items: reading, columns, features, and what a person sees."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from samekind.data.columns import ColumnUse, Role
    from samekind.data.contents import Contents, match_contents, read_contents
    from samekind.data.conversion import are_texts, as_points
    from samekind.data.copies import Copies, packed_rows, unpacked_rows
    from samekind.data.embedding import embed, fit_texts, transform_texts
    from samekind.data.items import Items
    from samekind.data.loader import demo_items, load
    from samekind.data.options import DEMO
    from samekind.data.views import ItemView, PictureFile, cell_text

__all__ = [
    "DEMO",
    "ColumnUse",
    "Contents",
    "Copies",
    "ItemView",
    "Items",
    "PictureFile",
    "Role",
    "are_texts",
    "as_points",
    "cell_text",
    "demo_items",
    "embed",
    "fit_texts",
    "load",
    "match_contents",
    "packed_rows",
    "read_contents",
    "transform_texts",
    "unpacked_rows",
]

# pandas takes as long to import as all else together: who passes an array does not wait for it.
_HOMES = {
    "as_points": "conversion",
    "ColumnUse": "columns",
    "Contents": "contents",
    "Copies": "copies",
    "packed_rows": "copies",
    "unpacked_rows": "copies",
    "match_contents": "contents",
    "read_contents": "contents",
    "Role": "columns",
    "Items": "items",
    "DEMO": "options",
    "demo_items": "loader",
    "are_texts": "conversion",
    "embed": "embedding",
    "fit_texts": "embedding",
    "transform_texts": "embedding",
    "load": "loader",
    "ItemView": "views",
    "PictureFile": "views",
    "cell_text": "views",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'samekind.data' has no attribute {name!r}")
    return getattr(import_module(f"samekind.data.{_HOMES[name]}"), name)
