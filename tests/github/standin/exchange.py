"""Requests to an application of the stand-in, without a socket."""

import asyncio
import json

__all__ = ["VIEWER", "post"]

VIEWER = {"query": "{ viewer { login } }"}


class Exchange:
    """One answer of an application."""

    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        """The body as JSON."""
        return json.loads(self.body)


def post(
    app, body=VIEWER, *, token="open-sesame", path="/graphql", parts=1, method="POST", **headers
):
    """Return what an application answers to a body, which is sent in several parts."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    size = -(-len(data) // parts) or 1
    pieces = [data[k : k + size] for k in range(0, len(data), size)] or [b""]
    incoming = [
        {"type": "http.request", "body": piece, "more_body": k < len(pieces) - 1}
        for k, piece in enumerate(pieces)
    ]
    sent = []

    async def receive():
        return incoming.pop(0)

    async def send(message):
        sent.append(message)

    pairs = {"host": "localhost", "user-agent": "tests", "content-type": "application/json"}
    if token:
        pairs["authorization"] = f"bearer {token}"
    pairs |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [(n.encode(), v.encode()) for n, v in pairs.items() if v is not None]
    path, _, query = path.partition("?")
    scope = {"type": "http", "method": method, "path": path, "headers": lines}
    scope["query_string"] = query.encode()
    asyncio.run(app(scope, receive, send))
    answered = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return Exchange(sent[0]["status"], answered, b"".join(m["body"] for m in sent[1:]))
