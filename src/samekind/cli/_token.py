"""Where the page's token comes from: a file, the environment, the command line, or samekind itself."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path
from typing import NamedTuple

from samekind.cli._errors import UserError

VARIABLE = "SAMEKIND_TOKEN"
LONGEST_LINE = 1000


class PageToken(NamedTuple):
    """What browsers must know, and what to tell the user about it."""

    text: str | None
    is_made: bool = False
    """Whether nobody else knows it yet, so that it has to be shown."""
    notes: tuple[str, ...] = ()


def find_token(
    file: Path | None, given: str | None, *, in_command: bool, is_local: bool
) -> PageToken:
    """Return the token from wherever the user has it; where others could reach the page, make one.

    `in_command` says that `given` is from the command line and not from the environment.
    """
    if file is not None:
        if given is not None and in_command:
            raise UserError("give either --token-file or --token, not both.")
        return _from_file(file)
    if given is None:
        return PageToken(None) if is_local else PageToken(_new(), is_made=True)
    seen = (
        "Everybody on this machine can read the token in the list of processes. Give it by "
        f"--token-file FILE, or in the variable {VARIABLE}."
    )
    return PageToken(given, notes=(seen,) if in_command else ())


def _from_file(file: Path) -> PageToken:
    """Return the first line of a file; if there is no such file, make it with a new token."""
    try:
        with file.open(encoding="utf-8") as lines:
            token = lines.readline(LONGEST_LINE).strip()
            mode = os.fstat(lines.fileno()).st_mode
    except FileNotFoundError:
        token = _new()
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as made:
            made.write(token + "\n")
        return PageToken(token, notes=(f"A new token is in {file}.",))
    except UnicodeDecodeError:
        raise UserError(f"{file} is not a text. Its first line should be the token.") from None
    if not token:
        raise UserError(f"the first line of {file} is empty. It should be the token.")
    others = os.name == "posix" and stat.S_IMODE(mode) & 0o077
    note = f"Others on this machine can read {file}. Mend that: chmod 600 {file}"
    return PageToken(token, notes=(note,) if others else ())


def _new() -> str:
    return secrets.token_urlsafe(16)
