"""The contrast: a conventional REST service over the rows that the stand-in serves as GraphQL.

Nouns stand in the paths, the method carries the action, the status says how it went, and every
body is JSON::

    GET    /repositories              names and identifiers, by pages: 200
    POST   /repositories              a new repository of the caller's: 201
    GET    /repository/<id>           all of one repository: 200
    PUT    /repository/<id>           what it shall be from now on: 200
    DELETE /repository/<id>           gone: 200
    POST   /repository/<id>/star      starred by the caller; DELETE takes the star back: 200
    POST   /login                     a token for an hour: 200

    400 the request makes no sense    403 known, and not allowed: another's repository, too many
    401 no key or token, or a wrong       requests, a foreign Host or Origin
        or an expired one             404 nothing of that path or id
    405 not by this method; Allow     500 a fault of ours, named by an id; what it was stays here
        names those that are

``X-API-Key`` says which program asks: its requests are counted and limited. ``Authorization``
carries the token of who has logged in, which writing takes. What a login means is written in the
token and signed, so that nothing of it is kept here.

Importing this folder loads nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gqlnb.github.rest.rest_app import app
    from gqlnb.github.rest.rest_server import RestServer, serve

__all__ = ["RestServer", "app", "serve"]

_MODULE_BY_NAME = {
    "RestServer": "gqlnb.github.rest.rest_server",
    "app": "gqlnb.github.rest.rest_app",
    "serve": "gqlnb.github.rest.rest_server",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_BY_NAME:
        message = f"module 'gqlnb.github.rest' has no attribute {name!r}"
        raise AttributeError(message)
    found = getattr(import_module(_MODULE_BY_NAME[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return list(__all__)
