"""``samekind links``: who may come in to a project that `samekind serve` serves."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated

import typer

from samekind.cli import _options as options
from samekind.cli._console import chat, plural
from samekind.cli._errors import UserError, explained
from samekind.cli._help import Command, Group
from samekind.cli._places import served_name

ADD = """[bold]Examples[/bold]

samekind links add messages.samekind.db ann --url https://kinds.example

samekind links add messages.samekind.db bob --role review --expires 30d --url https://kinds.example
"""
SHOW = """[bold]Examples[/bold]

samekind links list messages.samekind.db
"""
REVOKE = """[bold]Examples[/bold]

samekind links revoke messages.samekind.db ann

samekind links revoke messages.samekind.db --link 3
"""
DURATION = re.compile(r"(\d{1,5})([dh])")
UNITS = {"d": "days", "h": "hours"}


class LinkRole(StrEnum):
    """What somebody may do: each may do what those before it may."""

    answer = "answer"
    review = "review"
    own = "own"


LinkWho = Annotated[
    str, typer.Argument(metavar="NAME", help="The person: answers by this link are theirs.")
]
Role = Annotated[
    LinkRole,
    options.plain(
        "ROLE",
        "answer: questions and one's own answers. review: also names, merges, corrections. own: everything, "
        "also settings, exports and links.",
    ),
]
Expires = Annotated[
    str | None,
    options.plain("WHEN", "When it ends: in 30d (days), 12h (hours), or on 2030-01-31."),
]
ServerUrl = Annotated[
    str,
    options.plain(
        "URL",
        "The server's address, such as https://kinds.example.",
        "--url",
        envvar="SAMEKIND_URL",
    ),
]
ServedAs = Annotated[
    str | None,
    options.plain(
        "NAME", "The project's name in addresses, if it is not that of its file.", "--as"
    ),
]
RevokeWho = Annotated[
    str | None,
    typer.Argument(metavar="[NAME]", help="Whose links to revoke.", show_default=False),
]
LinkNumber = Annotated[
    int | None,
    options.plain(
        "N", "Only the link with this number; samekind links list has them.", "--link", min=1
    ),
]


@explained
def add(
    project: options.ProjectFile,
    who: LinkWho,
    role: Role = LinkRole.answer,
    expires: Expires = None,
    url: ServerUrl = "",
    served_as: ServedAs = None,
) -> int:
    """Make a personal link to a project.

    The link is shown once and only a digest of it is kept. Send it where nobody else reads it.
    """
    from rich.console import Console

    from samekind.ledger import Links

    until = None if expires is None else _time(expires)
    with Links(project) as links:
        try:
            made, token = links.invite(who, role.value, expires=until)
        except ValueError as error:
            raise UserError(str(error)) from error
    ends = "" if until is None else f", until {_shown(until)}"
    chat(Console(stderr=True), f"Link {made.id}, for {made.who!r} to {role.value}{ends}:")
    name = served_as or served_name(project)
    chat(Console(), f"{url.rstrip('/')}/p/{name}/#token={token}")
    if not url:
        chat(Console(stderr=True), "Put the server's address before it, or give it here: --url URL")
    return 0


@explained
def show(project: options.ProjectFile) -> int:
    """List the links of a project: names, roles, and which of them hold."""
    import time

    from rich.console import Console
    from rich.table import Table

    from samekind.ledger import Links
    from samekind.terminal import printable

    with Links(project) as kept:
        found = kept.all()
    if not found:
        chat(Console(), "There are no links. samekind links add makes one.")
        return 0
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("link", "name", "role", "made", "ends", "state"):
        table.add_column(heading, justify="right" if heading == "link" else "left")
    now = time.time()
    for link in found:
        state = "holds" if link.holds(now) else "expired" if link.revoked is None else "revoked"
        ends = "never" if link.expires is None else _shown(link.expires)
        who = printable(link.who, 40)
        table.add_row(str(link.id), who, link.role, _shown(link.at), ends, state)
    Console().print(table)
    return 0


@explained
def revoke(project: options.ProjectFile, who: RevokeWho = None, link: LinkNumber = None) -> int:
    """Revoke somebody's links, or one link, at once and also on servers that run."""
    from rich.console import Console

    from samekind.ledger import Links

    if (who is None) == (link is None):
        raise UserError("name the person or the link: links revoke PROJECT NAME, or --link N.")
    with Links(project) as kept:
        gone = kept.revoke(who=who, number=link)
        held = sorted({repr(other.who) for other in kept.all() if other.revoked is None})
    if not gone:
        whose = repr(who) if link is None else f"number {link}"
        raise UserError(
            f"no link of {whose} holds. Those who have one: {', '.join(held) or 'nobody'}."
        )
    chat(Console(), f"{plural(len(gone), 'link')} of {gone[0].who!r} revoked.")
    return 0


links = typer.Typer(
    cls=Group,
    help="Manage the personal links by which people open a project of samekind serve.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
links.command("list", cls=Command, epilog=SHOW)(show)
links.command(cls=Command, epilog=ADD)(add)
links.command(cls=Command, epilog=REVOKE)(revoke)


def _time(given: str) -> float:
    """Return a moment in seconds since 1970."""
    if found := DURATION.fullmatch(given.strip()):
        return (datetime.now() + timedelta(**{UNITS[found[2]]: int(found[1])})).timestamp()
    try:
        return datetime.fromisoformat(given.strip()).timestamp()
    except ValueError:
        raise UserError(
            f"--expires is a number of days (30d) or hours (12h), or a date (2030-01-31), got {given!r}."
        ) from None


def _shown(when: float) -> str:
    return datetime.fromtimestamp(when).strftime("%Y-%m-%d %H:%M")
