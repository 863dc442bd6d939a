"""The options of the commands for a team: serve, invite, links, revoke, backup."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from samekind.cli._options import _option, _plain


class LinkRole(StrEnum):
    """What somebody may do: each may do what those before it may."""

    answer = "answer"
    review = "review"
    own = "own"


_network, _proxy = (partial(_option, panel) for panel in ("Where it listens", "Behind a proxy"))
_served = typer.Argument(
    metavar="PROJECT…",
    help="Projects that samekind label made: files, or databases' URLs. NAME=PROJECT says what one is called "
    "in addresses.",
)
Served = Annotated[list[str], _served]
ServeHost = Annotated[str, _network("ADDRESS", "The address to listen at; 0.0.0.0 is every one.")]
_port = _network(
    "N", "The port; by default 8720, or a free one if that is taken.", min=0, max=65535
)
ServePort = Annotated[int | None, _port]
_name = _network(
    "NAME",
    "A name that the server goes by in browsers, such as kinds.example; may be repeated.",
    "--name",
)
ServerNames = Annotated[list[str] | None, _name]
_certificate = _network(
    "FILE", "A certificate, and those that vouch for it, in PEM: then https is spoken."
)
Certificate = Annotated[Path | None, _certificate]
Key = Annotated[Path | None, _network("FILE", "The key of the certificate, in PEM.")]
_root_path = _proxy("PATH", "Under which address the proxy has it, such as /kinds.", "--root-path")
RootPath = Annotated[str, _root_path]
_behind = _proxy(
    "ADDRESS",
    "The proxy's own address, from which forwarded headers are believed; may be repeated.",
    "--behind-proxy",
)
BehindProxy = Annotated[list[str] | None, _behind]

_who = typer.Argument(metavar="NAME", help="Whose link it is: answers that come by it are theirs.")
LinkWho = Annotated[str, _who]
_role = _plain(
    "ROLE",
    "answer: questions and one's own answers. review: also names, merges, corrections. own: everything, "
    "also settings, exports and links.",
    "--role",
)
Role = Annotated[LinkRole, _role]
_expires = _plain(
    "WHEN", "When it ends: in 30d (days), 12h (hours), or on 2030-01-31.", "--expires"
)
Expires = Annotated[str | None, _expires]
_url = _plain(
    "URL",
    "Where the server is, https://kinds.example say: it is part of the link.",
    "--url",
    envvar="SAMEKIND_URL",
)
ServerUrl = Annotated[str, _url]
_served_as = _plain("NAME", "What the project is called in addresses, if not as its file.", "--as")
ServedAs = Annotated[str | None, _served_as]
_revoked = typer.Argument(metavar="[NAME]", help="Whose links to revoke.", show_default=False)
RevokeWho = Annotated[str | None, _revoked]
LinkNumber = Annotated[
    int | None,
    _plain("N", "Only the link with this number; samekind links lists them.", "--link", min=1),
]
_copy = typer.Argument(metavar="FILE", help="Where to put the copy: a file that is not there yet.")
BackupFile = Annotated[Path, _copy]

NAMED = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)=(?P<place>.+)")


def split_name(given: str) -> tuple[str, str]:
    """Return the name that somebody gave a project, or "", and where it is.

    Examples
    --------
    >>> split_name("mine=a/b.db"), split_name("a/b.db"), split_name("postgresql://ann@db/x?project=y")
    (('mine', 'a/b.db'), ('', 'a/b.db'), ('', 'postgresql://ann@db/x?project=y'))
    """
    found = NAMED.fullmatch(given)
    return (found["name"], found["place"]) if found else ("", given)
