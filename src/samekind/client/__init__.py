"""Answering or driving a project of `samekind serve` from any program, over HTTP."""

from __future__ import annotations

from samekind.client.client import Client
from samekind.client.connection import ServerError
from samekind.client.remote import RemoteSession

__all__ = ["Client", "RemoteSession", "ServerError"]
