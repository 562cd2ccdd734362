"""Requests to an application of the stand-in, without a socket."""

import json

from tests.asgi import ask_app

__all__ = ["VIEWER", "post"]

VIEWER = {"query": "{ viewer { login } }"}


def post(
    app, body=VIEWER, *, token="open-sesame", path="/graphql", parts=1, method="POST", **headers
):
    """Return what an application answers to a body, which is sent in several parts."""
    named = {"host": "localhost", "user-agent": "tests", "content-type": "application/json"}
    named |= {"authorization": f"bearer {token}"} if token else {}
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return ask_app(app, method, path, named, data, parts=parts)
