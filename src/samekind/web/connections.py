"""Who may stay connected, and for how long.

A connection costs its holder nothing, so one who holds many must not shut out the others:

- The first line and the headers must arrive within seconds, a body within a minute (`guard`), and whoever
  does not take what is sent is hung up on. A connection without a request is closed soon.
- There are bounds for all connections and for those of one address. Where a bound is reached, the
  connection that has kept the server waiting longest is closed for the new one. A connection whose request
  is being answered is never closed for another; only where all are, the new one is refused.
"""

from __future__ import annotations

import asyncio
import ipaddress

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["MOST", "MOST_OF_ONE_ADDRESS", "BoundedConnection", "ProxiedConnection", "network_of"]

MOST = 200
MOST_OF_ONE_ADDRESS = 100
HEAD, CLOSING, SENDING = "head", "closing", "sending"
IDLE, BODY, ANSWERING = "idle", "body", "answering"
PATIENCE = {HEAD: 10.0, CLOSING: 10.0, SENDING: 60.0}
"""Seconds that a connection may be in a phase; the others end by themselves or are guarded elsewhere."""
BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 5\r\n"
    b"Content-Type: application/json\r\nContent-Length: 52\r\n\r\n"
    b'{"error": "The server is busy. Try again in a bit."}'
)


def network_of(address: str) -> str:
    """Return what counts as one address: an IPv4 address, or the /64 network that one IPv6 user has.

    Examples
    --------
    >>> network_of("192.0.2.7"), network_of("::ffff:192.0.2.7")
    ('192.0.2.7', '192.0.2.7')
    >>> network_of("2001:db8::1:2:3:4")
    '2001:db8::/64'
    """
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.ip_network((parsed, 64), strict=False))
    return str(parsed)


class BoundedConnection(H11Protocol):
    """A connection that is closed when its client keeps the server waiting too long."""

    most_of_one_address = MOST_OF_ONE_ADDRESS
    network = ""
    phase = ""
    since = 0.0
    _timer: asyncio.TimerHandle | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether the server has nothing to do for it, but waits for the client."""
        return self.phase != ANSWERING

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Let a new client in, in the place of one that only waits if there are too many."""
        super().connection_made(transport)
        self.network = network_of(self.client[0]) if self.client else ""
        others = [other for other in self.connections if isinstance(other, BoundedConnection)]
        others.remove(self)
        own = [other for other in others if other.network == self.network]
        for crowd, most in ((own, self.most_of_one_address), (others, MOST)):
            crowd = [
                other for other in crowd if other.phase
            ]  # not those that have just been closed
            if len(crowd) < most:
                continue
            waiting = [other for other in crowd if other.is_waiting]
            if not waiting:
                transport.write(BUSY)
                transport.close()
                break
            min(waiting, key=lambda other: other.since).hang_up()
        self._look()

    def hang_up(self) -> None:
        """Close the connection at once, whatever it still had to send."""
        self.phase = ""
        self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self.phase = ""
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what the client sends."""
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._look()

    def pause_writing(self) -> None:
        """Wait for the client to take what is sent."""
        super().pause_writing()
        self._look()

    def resume_writing(self) -> None:
        """Go on sending."""
        super().resume_writing()
        self._look()

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection without a request."""
        super().timeout_keep_alive_handler()
        self._look()

    def _look(self) -> None:
        """Note in which phase the connection is; if that is another one, its time begins."""
        phase = self._find_phase()
        if phase == self.phase:
            return
        self._stop_timer()
        self.phase, self.since = phase, self.loop.time()
        if phase in PATIENCE:
            self._timer = self.loop.call_later(PATIENCE[phase], self.hang_up)

    def _find_phase(self) -> str:
        if self.transport.is_closing():
            return CLOSING
        if self.flow.write_paused:
            return SENDING
        if self.conn.their_state is h11.IDLE:
            begun = bool(self.conn.trailing_data[0]) or self.cycle is None
            return HEAD if begun else IDLE
        return BODY if self.conn.their_state is h11.SEND_BODY else ANSWERING

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class ProxiedConnection(BoundedConnection):
    """A connection where everybody comes by a proxy, which is one address."""

    most_of_one_address = MOST
