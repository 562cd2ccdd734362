"""A proxy in front of a server that keeps the bodies of the requests it passes on."""

from __future__ import annotations

import json
import threading
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

__all__ = ["Proxy"]

HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "date", "server"}


class Proxy:
    """Passes POST requests on to a port of this machine, and their answers back.

    Attributes
    ----------
    bodies
        The JSON bodies of the requests, in the order in which they came.
    statuses
        The statuses of the answers, in the order in which those came.
    url
        Its address.
    """

    def __init__(self, port: int, path: str = "/graphql") -> None:
        self.bodies: list[Any] = []
        self.statuses: list[int] = []
        bodies, statuses = self.bodies, self.statuses

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # or each answer waits 40 ms for the client's receipt

            def do_POST(self) -> None:
                """Pass one request on."""
                body = self.rfile.read(int(self.headers["content-length"]))
                bodies.append(json.loads(body))
                connection = HTTPConnection("127.0.0.1", port, timeout=60)
                headers = {k: v for k, v in self.headers.items() if k.lower() not in HOP_BY_HOP}
                connection.request("POST", self.path, body, headers)
                response = connection.getresponse()
                content = response.read()
                statuses.append(response.status)
                self.send_response(response.status, response.reason)
                for key, value in response.getheaders():
                    if key.lower() not in HOP_BY_HOP:
                        self.send_header(key, value)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
                connection.close()

            def log_message(self, *_: object) -> None:
                """Write nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}{path}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def queries(self) -> list[Any]:
        """Return the requests that are no introspection, in the order in which they came."""
        return [
            it
            for it in self.bodies
            if "__schema" not in it["query"] and "__type(" not in it["query"]
        ]
