"""Where a server listens, and who may reach it; nothing but the standard library, so that it is quick."""

from __future__ import annotations

import contextlib
import ipaddress
import re
import socket

__all__ = [
    "ANY_ADDRESS",
    "LOCAL",
    "WILDCARDS",
    "ServeError",
    "address_of",
    "bracketed",
    "check_reach",
    "is_loopback",
    "listen",
    "names_of",
    "reachable",
]

LOCAL = ("127.0.0.1", "localhost", "[::1]")
ANY_ADDRESS = "*"  # any numeric one, but no name
WILDCARDS = ("0.0.0.0", "::", "")
USUAL_PORT = 8720
SHORTEST_TOKEN = 22  # as long as those that samekind makes: 128 random bits, which nobody guesses


class ServeError(ValueError):
    """The server cannot be started like this."""


def address_of(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return a numeric address, or None for a name."""
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None


def check_reach(host: str, token: str | None) -> None:
    """Refuse to be reached by others without a token, or with one that is easily guessed."""
    if token is not None and not re.fullmatch(rf"[!-~]{{{SHORTEST_TOKEN},200}}", token):
        raise ServeError(
            f"a token has {SHORTEST_TOKEN} to 200 letters, digits or signs and no space, "
            f"this one {len(token)}. Choose another one."
        )
    if token is None and not is_loopback(host):
        raise ServeError(
            f"{host or 'every address'} can be reached by others, who could read your data and "
            "answer. Give a token that only those know who may, or listen on 127.0.0.1."
        )


def listen(host: str, port: int | None) -> socket.socket:
    """Return a socket that listens; without a port at the usual one, or a free one if that is taken."""
    if port is None:
        with contextlib.suppress(ServeError):
            return listen(host, USUAL_PORT)
        port = 0
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host.strip("[]"), port), family=family, backlog=100)
    except (OSError, OverflowError) as error:
        words = getattr(error, "strerror", None) or str(error)
        raise ServeError(
            f"cannot listen on {host}, port {port}: {words}. Choose another port, or 0 for a free one."
        ) from error


def is_loopback(host: str) -> bool:
    """Return whether an address can be reached from this machine only."""
    address = address_of(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def names_of(host: str) -> list[str]:
    """Return the names that a server at an address goes by."""
    if is_loopback(host):
        return [*LOCAL, bracketed(host)]
    own = socket.gethostname().lower()
    return [*LOCAL, bracketed(host), own, f"{own}.local", socket.getfqdn().lower()]


def bracketed(host: str) -> str:
    """Return an address as it stands in a URL."""
    return f"[{host.strip('[]')}]" if ":" in host else host


def reachable(host: str) -> str:
    """Return the address by which other machines reach this one, if it listens to them."""
    if host not in WILDCARDS:
        return bracketed(host)
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # sends nothing; it only finds the way out
        return str(probe.getsockname()[0])
    return "127.0.0.1"
