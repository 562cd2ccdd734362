"""The contrast: a conventional REST service over the rows that the stand-in serves as GraphQL.

Paths name things, the method names the action, the status reports the outcome, and every body is
JSON::

    GET    /repositories              names and identifiers, by pages: 200
    POST   /repositories              create a repository of the caller's: 201
    GET    /repository/<id>           one repository: 200
    PUT    /repository/<id>           replace its name and language: 200
    DELETE /repository/<id>           delete it: 200
    POST   /repository/<id>/star      star it; DELETE takes the star back: 200
    POST   /login                     a token for an hour: 200

    400 malformed request             403 not the owner, over the rate limit,
    401 unknown API key, or a             or a foreign Host or Origin
        missing or expired token      404 unknown path or id
    405 method not allowed            500 internal error, identified by an id in the log

``X-API-Key`` identifies the calling program, whose requests are counted and limited. Writing takes
``Authorization: Bearer <token>``. The login is signed into the token, so that the service stores
no sessions.

Importing this package loads nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gqlnb.optional_imports import import_optional

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
    import_optional("starlette", "lab", "serve the REST service")
    value = getattr(import_module(_MODULE_BY_NAME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
