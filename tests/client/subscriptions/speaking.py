"""WebSocket servers that say what a test tells them to."""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from websockets.sync.server import serve as ws_serve

from tests.client.subscriptions.tickers import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def speaking(talk: Callable[[Any], None], **options: Any) -> Iterator[str]:
    """Yield the address of a WebSocket server that talks as a test tells it to."""
    options = {"subprotocols": ["graphql-transport-ws"], "compression": None} | options

    def handle(link: Any) -> None:
        with suppress(Exception):
            talk(link)

    with ws_serve(handle, "127.0.0.1", 0, **options) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        scheme = "https" if "ssl" in options else "http"
        yield f"{scheme}://127.0.0.1:{server.socket.getsockname()[1]}/graphql"
        server.shutdown()
        thread.join(PATIENCE)


def greeted(*messages: str | bytes) -> Callable[[Any], None]:
    """Return a talk that lets a client in, and then sends messages."""

    def talk(link: Any) -> None:
        link.recv()
        link.send('{"type":"connection_ack"}')
        link.recv()
        for message in messages:
            link.send(message)
        link.recv(timeout=PATIENCE)

    return talk


NEXT = '{"id":"1","type":"next","payload":{"data":{"ticks":1}}}'
