"""Parts of ASGI applications that tests write, and uvicorn to run them."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import uvicorn

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

PATIENCE = 20.0  # seconds until a test gives up


class Exchange:
    """One answer of an application.

    Attributes
    ----------
    status, headers, body
        Of the answer.
    """

    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self) -> Any:
        """The body as JSON; None for an empty one."""
        return json.loads(self.body) if self.body else None


def ask_app(
    app: Any,
    method: str,
    path: str,
    headers: dict[str, str | None],
    body: bytes = b"",
    *,
    parts: int = 1,
) -> Exchange:
    """Return what an application answers to a body, which is sent in several parts."""
    size = -(-len(body) // parts) or 1
    pieces = [body[at : at + size] for at in range(0, len(body), size)] or [b""]
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

    async def send(message: Any) -> None:
        sent.append(message)

    path, _, query = path.partition("?")
    lines = [
        (name.encode(), value.encode()) for name, value in headers.items() if value is not None
    ]
    scope = {"type": "http", "method": method, "path": path, "headers": lines}
    asyncio.run(app({**scope, "query_string": query.encode()}, receive, send))
    answered = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return Exchange(sent[0]["status"], answered, b"".join(each["body"] for each in sent[1:]))


async def send_answer(
    send: Any, content: Any, status: int = 200, headers: dict[str, str] | None = None
) -> None:
    """Send bytes, or another value as JSON."""
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    named = {"content-type": "application/json"} | (headers or {})
    pairs = [(name.encode(), value.encode()) for name, value in named.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})


async def read_body(receive: Any) -> bytes:
    """Return the whole body of a request."""
    body = b""
    while (message := await receive())["type"] == "http.request":
        body += message["body"]
        if not message.get("more_body"):
            break
    return body


def receive_again(body: bytes) -> Callable[[], Awaitable[dict[str, Any]]]:
    """Return a function from which another application receives a body that was read."""

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


@contextmanager
def run_app(app: Any) -> Iterator[str]:
    """Run an application on uvicorn, and yield its address."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="critical", lifespan="off", ws="websockets-sansio")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/graphql"
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        listener.close()
