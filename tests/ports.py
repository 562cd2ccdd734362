"""Ports for programs that cannot choose one themselves, or do not say when they listen."""

from __future__ import annotations

import socket
import time

__all__ = ["find_free_port", "wait_for_port"]


def find_free_port() -> int:
    """Return a port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def wait_for_port(port: int, seconds: float = 30) -> None:
    """Return when a program listens on a port; raise TimeoutError if none does in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with socket.socket() as probe:
            if not probe.connect_ex(("127.0.0.1", port)):
                return
        time.sleep(0.02)
    raise TimeoutError
