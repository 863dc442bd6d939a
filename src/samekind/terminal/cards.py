"""How items look in a terminal: two side by side, or one above the clusters that it may be in."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from rich.console import Group, RenderableType
from rich.constrain import Constrain
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from samekind.project import ClusterOption, ClusterRef, ItemView, counted, name_in_table
from samekind.terminal.pictures import TextPicture, pictures
from samekind.terminal.text import brief, differing, differing_letters, printable

__all__ = ["Cards", "ImageOf", "in_one_line", "short_title"]

WIDEST = 100  # columns of the screen over which an eye still compares two texts
LONGEST = 300  # characters of a text, unless all is wanted
MOST_FIELDS = 24
LINE = 70  # characters of an item on one line
PAIR_SIZE = 36, 12  # columns and lines of a picture
SMALL_SIZE = 16, 8
LARGE_SIZE = 72, 36
NARROW = 80  # columns of a terminal that is not wide
NUMBER = re.compile(r"-?\d+\.\d{6,}(e[+-]?\d+)?")

ImageOf = Callable[[int], NDArray[np.generic] | None]
"""Returns the small grey picture of a row, if there is one."""


class Cards:
    """Shows items."""

    def __init__(self, image_of: ImageOf) -> None:
        self._image_of = image_of

    def pair(
        self,
        a: ItemView,
        b: ItemView,
        *,
        ref: ClusterRef | None = None,
        more: Sequence[ItemView] = (),
        full: bool = False,
    ) -> RenderableType:
        """Show two items side by side, b with the name and further members of its cluster."""
        titles = _title(a), _title(b, ref)
        parts: list[RenderableType] = []
        if self._image_of(a.row) is not None:
            parts.append(self._pictures_beside(a, b, titles, [] if full else more, full))
            if a.text is not None or a.fields:
                parts.append(_compared(a, b, full=full))
            more = more if full else ()
        else:
            parts.append(_compared(a, b, headings=titles, full=full))
        if more:
            parts.append(Text("also of the kind on the right:", style="dim"))
            parts += [Text.assemble(("  · ", "dim"), in_one_line(item)) for item in more]
        return Group(*parts)

    def lineup(
        self, item: ItemView, options: Sequence[ClusterOption], *, full: bool = False
    ) -> RenderableType:
        """Show an item above the clusters that it may be in, with numbers."""
        if self._image_of(item.row) is not None:
            return self._pictures_in_rows(item, options)
        whole = Padding(Constrain(_whole(item, full), WIDEST), (0, 0, 0, 3))
        lines: list[RenderableType] = [whole, ""]
        for number, option in enumerate(options, 1):
            members = option.members if full else option.members[:2]
            shown = [_beside(item, member, full) for member in members]
            shown.insert(0, _name(option, LINE))
            grid = Table.grid(padding=(0, 1, 0, 0))
            grid.add_column(width=2, style="bold cyan")
            grid.add_column()
            for place, line in enumerate(shown):
                grid.add_row("" if place else str(number), line)
            lines.append(Constrain(grid, WIDEST))
        return Group(*lines)

    def sheet(
        self, items: Sequence[ItemView], cluster: ClusterOption, *, full: bool = False
    ) -> RenderableType:
        """Show items that may all be in one cluster, with numbers, below examples of it."""
        name = f" “{brief(name_in_table(cluster), 40)}”"
        heading = Text.assemble((f"Are these all of the kind{name}?", "bold"))
        if self._image_of(items[0].row) is None:
            lines: list[RenderableType] = [heading]
            lines += [Text.assemble(("  · ", "dim"), in_one_line(m)) for m in cluster.members]
            grid = Table.grid(padding=(0, 1, 0, 0))
            grid.add_column(width=2, style="bold cyan")
            grid.add_column()
            for number, item in enumerate(items, 1):
                shown = item.text if full and item.text is not None else in_one_line(item)
                grid.add_row(str(number), printable(shown, lines=True))
            return Group(*lines, "", Constrain(grid, WIDEST))
        drawn = self._pictures([*cluster.members, *items], *SMALL_SIZE)
        examples = Table.grid(padding=(0, 1, 0, 0))
        examples.add_row(*drawn[: len(cluster.members)])
        rows = Table.grid(padding=(0, 3, 0, 0))
        cells = [
            Group(Text(str(number), style="bold cyan"), picture)
            for number, picture in enumerate(drawn[len(cluster.members) :], 1)
        ]
        for start in range(0, len(cells), 4):
            rows.add_row(*cells[start : start + 4])
        return Group(heading, examples, "", rows)

    def _pictures_beside(
        self,
        a: ItemView,
        b: ItemView,
        titles: tuple[Text, Text],
        more: Sequence[ItemView],
        full: bool,
    ) -> RenderableType:
        if full:  # one above the other, as large as they go
            one, other = self._pictures([a, b], *LARGE_SIZE)
            return Group(titles[0], one, "", titles[1], other)
        drawn = self._pictures([a, b, *more], *PAIR_SIZE)
        width = drawn[0].width
        several = len(drawn) > 2 and 3 * (width + 3) <= NARROW
        table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
        for title in (*titles, Text("also of this kind", style="dim"))[: 3 if several else 2]:
            table.add_column(title, no_wrap=True, min_width=width)
        beside = Table.grid(padding=(0, 3, 0, 0))
        if several:
            beside.add_row(*drawn[2 : NARROW // (width + 3)])
        table.add_row(*drawn[:2], *[beside] * several)
        return table

    def _pictures_in_rows(self, item: ItemView, options: Sequence[ClusterOption]) -> RenderableType:
        a_row = 4
        each = 2 if 2 * len(options) <= a_row else 1
        items = [item, *(member for option in options for member in option.members[:each])]
        own, *drawn = self._pictures(items, *SMALL_SIZE)
        grid = Table.grid(padding=(0, 3, 0, 0))
        cells: list[RenderableType] = []
        for number, option in enumerate(options, 1):
            members = len(option.members[:each])
            shown, drawn = drawn[:members], drawn[members:]
            heading = Text(str(number), style="bold cyan")
            heading.append("  ").append_text(_name(option, SMALL_SIZE[0] * members - 4))
            beside = Table.grid(padding=(0, 1, 0, 0))
            beside.add_row(*shown)
            cells.append(Group(heading, beside))
        for start in range(0, len(cells), a_row // each):
            grid.add_row(*cells[start : start + a_row // each])
        return Group(_question(item), own, grid)

    def _pictures(self, items: list[ItemView], columns: int, lines: int) -> list[TextPicture]:
        found = [self._image_of(item.row) for item in items]
        return pictures([image for image in found if image is not None], columns, lines)


def _beside(item: ItemView, member: ItemView, full: bool) -> Text:
    """Return a member of a cluster in a line or two; fields that are as those of the item are dim."""
    if member.text is not None or not member.fields:
        if full:
            return printable(member.text or member.title, lines=True)
        return Text(in_one_line(member))
    own = dict(item.fields)
    text = Text()
    for place, (name, value) in enumerate(member.fields if full else member.fields[:8]):
        style = "dim" if own.get(name) == value else ""
        text.append(" · " if place else "", style="dim")
        text.append(brief(name, 24) + " ", style="cyan")
        text.append(brief(_tidy(value), 1000 if full else 30), style=style)
    return text


def _compared(
    left: ItemView, right: ItemView, *, headings: tuple[Text, Text] | None = None, full: bool
) -> RenderableType:
    """Return a table with a line for each field; those that differ are marked."""
    most = None if full else LONGEST
    names = list(dict.fromkeys(name for name, _ in (*left.fields, *right.fields)))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), expand=True)
    table.show_header = headings is not None
    if names:
        table.add_column("", width=1, style="yellow")
        table.add_column("", style="cyan", max_width=24, overflow="fold")
    for heading in headings or (Text(), Text()):
        table.add_column(heading, overflow="fold", ratio=1)
    margin = ("", "") if names else ()
    if left.text is not None or right.text is not None:
        table.add_row(*margin, *differing(left.text or "", right.text or "", most))
    ours, theirs = dict(left.fields), dict(right.fields)
    for place, name in enumerate(names):
        if place == MOST_FIELDS and not full:
            return Group(Constrain(table, WIDEST), _more_fields(len(names) - place))
        one, other = ours.get(name, ""), theirs.get(name, "")
        cells = differing_letters(_tidy(one), _tidy(other)) or differing(
            _tidy(one), _tidy(other), most
        )
        mark = "≠" if one and other and one != other else ""  # what is missing says nothing
        style = "dim" if one == other else ""
        table.add_row(mark, printable(name, 80), *cells, style=style)
    return Constrain(table, WIDEST)


def _whole(item: ItemView, full: bool) -> RenderableType:
    """Return an item by itself."""
    most = None if full else LONGEST
    parts: list[RenderableType] = [_question(item)]
    if item.text is not None:
        parts.append(printable(item.text, most, lines=True))
    if item.fields:
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(style="cyan", max_width=24, overflow="fold")
        grid.add_column(overflow="fold")
        for name, value in item.fields if full else item.fields[:8]:
            grid.add_row(printable(name, 80), printable(_tidy(value), most, lines=True))
        parts.append(grid)
        if len(item.fields) > 8 and not full:
            parts.append(_more_fields(len(item.fields) - 8))
    return Group(*parts)


def _more_fields(count: int) -> Text:
    return Text(f"… {count:,} more fields: M shows them", style="italic")


def _title(item: ItemView, ref: ClusterRef | None = None) -> Text:
    title = Text(brief(item.title, 40), style="bold")
    if item.copies:
        title.append(f" and {counted(item.copies, 'copy', 'copies')}", style="not bold")
    return title if ref is None else title.append("  ").append_text(_name(ref, 40))


def _name(ref: ClusterRef, most: int) -> Text:
    """Return a cluster's name, in italics if it is only proposed."""
    style = "bold cyan" if ref.name else "not bold italic dim"
    return Text(brief(name_in_table(ref), most), style=style)


def short_title(item: ItemView) -> str:
    """Return what an item is called, on one line."""
    return brief(item.title, LINE)


def _question(item: ItemView) -> Text:
    return _title(item).append("  of which kind is it?", style="not bold")


def in_one_line(item: ItemView) -> str:
    """Return an item on one line: its text, its fields or what it is called."""
    if item.text is not None:
        return brief(item.text, LINE)
    if item.fields:
        return brief(" · ".join(f"{name} {_tidy(value)}" for name, value in item.fields[:8]), LINE)
    return brief(item.title, LINE)


def _tidy(value: str) -> str:
    """Return a number without digits that nobody reads."""
    return f"{float(value):.6g}" if NUMBER.fullmatch(value) else value
