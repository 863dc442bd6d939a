"""``samekind invite``, ``samekind links`` and ``samekind revoke``."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from samekind.cli import _options as options
from samekind.cli import _team_options as team
from samekind.cli._errors import UserError, explained
from samekind.cli._words import chat

INVITE = """[bold]Examples[/bold]

samekind invite messages.samekind.db ann --url https://kinds.example

samekind invite messages.samekind.db bob --role review --expires 30d --url https://kinds.example
"""
LINKS = """[bold]Examples[/bold]

samekind links messages.samekind.db
"""
REVOKE = """[bold]Examples[/bold]

samekind revoke messages.samekind.db ann

samekind revoke messages.samekind.db --link 3
"""
DURATION = re.compile(r"(\d{1,5})([dh])")
UNITS = {"d": "days", "h": "hours"}


@explained
def invite(
    project: options.ProjectFile,
    who: team.LinkWho,
    role: team.Role = team.LinkRole.answer,
    expires: team.Expires = None,
    url: team.ServerUrl = "",
    served_as: team.ServedAs = None,
) -> int:
    """Make somebody's personal link to a project that samekind serve serves.

    It is shown once, and only a digest of it is kept: send it to them by a way that nobody else reads.
    """
    from rich.console import Console

    from samekind.ledger import Links
    from samekind.web.names import served_name

    until = None if expires is None else _time(expires)
    with Links(project) as links:
        try:
            made, token = links.invite(who, role.value, expires=until)
        except ValueError as error:
            raise UserError(str(error)) from error
    name = served_as or served_name(project)
    ends = "" if until is None else f", until {_shown(until)}"
    chat(Console(stderr=True), f"Link {made.id}, for {made.who!r} to {role.value}{ends}:")
    chat(Console(), f"{url.rstrip('/')}/p/{name}/#token={token}")
    if not url:
        chat(Console(stderr=True), "Put the server's address before it, or say it here: --url URL")
    return 0


@explained
def links(project: options.ProjectFile) -> int:
    """List the personal links of a project: whose they are, what they may do, and whether they hold."""
    import time

    from rich.console import Console
    from rich.table import Table

    from samekind.ledger import Links
    from samekind.terminal import printable

    with Links(project) as kept:
        found = kept.all()
    if not found:
        chat(Console(), "There are no links. samekind invite makes one.")
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
def revoke(
    project: options.ProjectFile, who: team.RevokeWho = None, link: team.LinkNumber = None
) -> int:
    """Let somebody's links to a project open nothing from now on, also on servers that run."""
    from rich.console import Console

    from samekind.cli._projects import plural
    from samekind.ledger import Links

    if (who is None) == (link is None):
        raise UserError("say whose links, or which one: samekind revoke PROJECT NAME, or --link N.")
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
