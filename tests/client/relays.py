"""A relay in front of a real server whose connections a test can cut or freeze."""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import suppress
from urllib.parse import urlsplit

__all__ = ["Relay"]


class Relay:
    """Carries bytes between clients and a server, until it is told otherwise.

    Attributes
    ----------
    taken
        How many connections it has taken.
    flowing
        Cleared to hold back what the server sends.
    """

    def __init__(self, url: str) -> None:
        self._to = ("127.0.0.1", urlsplit(url).port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/graphql"
        self.taken = 0
        self.flowing = threading.Event()
        self.flowing.set()
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._threads: list[threading.Thread] = []
        self._start(self._listen)

    def __enter__(self) -> Relay:
        return self

    def __exit__(self, *_: object) -> None:
        self.flowing.set()
        self.deafen()
        self.cut()
        for thread in self._threads:
            thread.join(10)

    def deafen(self) -> None:
        """Take no connection any more."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def cut(self) -> None:
        """Reset the connections there are."""
        pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for end in pair:
                linger = struct.pack("ii", 1, 0)
                with end, suppress(OSError):
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                    end.shutdown(socket.SHUT_RDWR)

    def _start(self, work, *given) -> None:
        thread = threading.Thread(target=work, args=given)
        self._threads.append(thread)
        thread.start()

    def _listen(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = self._reach(near)
            if far is None:
                near.close()
                continue
            self._pairs.append((near, far))
            self.taken += 1
            self._start(self._pump, near, far, None)
            self._start(self._pump, far, near, self.flowing)

    def _reach(self, _near: socket.socket) -> socket.socket | None:
        """Return the connection to the server for one of a client, or None to refuse it."""
        return socket.create_connection(self._to)

    def _pump(self, source, sink, flowing) -> None:
        with suppress(OSError):
            while part := source.recv(65536):
                if flowing is not None:
                    flowing.wait()
                sink.sendall(part)
        with suppress(OSError):
            sink.shutdown(socket.SHUT_RDWR)
