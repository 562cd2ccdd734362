"""What the servers in Python share: the data, the token, and uvicorn in a process of its own."""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.responses import JSONResponse

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["OPTIONS", "TOKEN", "is_trusted", "load_data", "run_apps"]

OPTIONS: dict[str, Any] = json.loads(sys.argv[1])
TOKEN = "open-sesame"


def load_data() -> dict[str, Any]:
    """Return what :func:`tests.servers.data.make_library` made."""
    return json.loads(Path(OPTIONS["data"]).read_text(encoding="utf-8"))


def is_trusted(headers: Any) -> bool:
    """Return whether a request carries the token."""
    return headers.get("authorization") == f"Bearer {TOKEN}"


class Site:
    """Applications by path; HTTP requests with ``X-Private`` need the token, else they get 401."""

    def __init__(self, apps: Mapping[str, Any]) -> None:
        self._apps = apps

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Refuse the request, or pass it on."""
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        app = self._apps.get(scope["path"]) or JSONResponse({"detail": "Not Found"}, 404)
        if scope["type"] == "http" and "x-private" in headers and not is_trusted(headers):
            app = JSONResponse({"detail": "This endpoint needs a token."}, 401)
        await app(scope, receive, send)


def run_apps(apps: Mapping[str, Any]) -> None:
    """Serve applications by path until the process that started this one ends."""
    listener = socket.create_server(("127.0.0.1", OPTIONS["port"]))
    config = uvicorn.Config(Site(apps), log_level="warning", lifespan="off")
    server = uvicorn.Server(config)

    def end_with_parent() -> None:
        sys.stdin.read()
        server.should_exit = True

    Thread(target=end_with_parent, daemon=True).start()
    print(f"listening on port {listener.getsockname()[1]}", flush=True)  # noqa: T201
    server.run(sockets=[listener])
