"""GraphQL at home in a notebook.

The names below load what they need when they are first used; ``import gqlnb`` itself loads
nothing but this file. The road that every one of them travels::

    cell text -> Document -> transport -> Result -> frame -> view
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gqlnb import engine, github
    from gqlnb.client.client import Client
    from gqlnb.client.factory import connect
    from gqlnb.client.recordings import recorded
    from gqlnb.client.scrubbing import scrub
    from gqlnb.engine.schema import Schema, reference_schema
    from gqlnb.errors import (
        AnswerError,
        AuthError,
        BatchError,
        FrameError,
        GqlnbError,
        MissingExtraError,
        OptionError,
        PartialError,
        PortInUseError,
        QueryError,
        RateLimited,
        ReplayError,
        SchemaError,
        ServerError,
        TargetError,
        TransportError,
    )
    from gqlnb.github.starsearch import stars
    from gqlnb.model.limits import Limits
    from gqlnb.model.result import Result
    from gqlnb.model.scalars import scalar
    from gqlnb.model.upload import Upload
    from gqlnb.notebook.extension import load_ipython_extension, unload_ipython_extension
    from gqlnb.notebook.widgets.explorer import Explorer
    from gqlnb.notebook.widgets.live_frame import LiveFrame
    from gqlnb.notebook.widgets.result_view import ResultView
    from gqlnb.notebook.widgets.schema_view import SchemaView
    from gqlnb.notebook.widgets.star_search import StarSearch
    from gqlnb.notebook.widgets.token_box import TokenBox
    from gqlnb.server.thread import Server, serve
    from gqlnb.token import Token
    from gqlnb.wire.access import Access

__all__ = [
    "Access",
    "AnswerError",
    "AuthError",
    "BatchError",
    "Client",
    "Explorer",
    "FrameError",
    "GqlnbError",
    "Limits",
    "LiveFrame",
    "MissingExtraError",
    "OptionError",
    "PartialError",
    "PortInUseError",
    "QueryError",
    "RateLimited",
    "ReplayError",
    "Result",
    "ResultView",
    "Schema",
    "SchemaError",
    "SchemaView",
    "Server",
    "ServerError",
    "StarSearch",
    "TargetError",
    "Token",
    "TokenBox",
    "TransportError",
    "Upload",
    "connect",
    "engine",
    "github",
    "load_ipython_extension",
    "recorded",
    "reference_schema",
    "scalar",
    "scrub",
    "serve",
    "stars",
    "unload_ipython_extension",
]

__version__ = "0.1.0"

_HOMES = {
    "gqlnb.client.client": ("Client",),
    "gqlnb.client.factory": ("connect",),
    "gqlnb.client.recordings": ("recorded",),
    "gqlnb.client.scrubbing": ("scrub",),
    "gqlnb.engine.schema": ("Schema", "reference_schema"),
    "gqlnb.errors": tuple(n for n in __all__ if n.endswith("Error") or n == "RateLimited"),
    "gqlnb.github.starsearch": ("stars",),
    "gqlnb.model.limits": ("Limits",),
    "gqlnb.model.result": ("Result",),
    "gqlnb.model.scalars": ("scalar",),
    "gqlnb.model.upload": ("Upload",),
    "gqlnb.notebook.extension": ("load_ipython_extension", "unload_ipython_extension"),
    "gqlnb.notebook.widgets.explorer": ("Explorer",),
    "gqlnb.notebook.widgets.result_view": ("ResultView",),
    "gqlnb.notebook.widgets.live_frame": ("LiveFrame",),
    "gqlnb.notebook.widgets.schema_view": ("SchemaView",),
    "gqlnb.notebook.widgets.star_search": ("StarSearch",),
    "gqlnb.notebook.widgets.token_box": ("TokenBox",),
    "gqlnb.server.thread": ("Server", "serve"),
    "gqlnb.token": ("Token",),
    "gqlnb.wire.access": ("Access",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_ROOMS = frozenset({"engine", "github"})
# Whoever asks may ask by name, and the room of GitHub enters the names `github` and `demo`.
_ASKING = frozenset({"Client", "connect", "Explorer", "stars", "StarSearch"})


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"gqlnb.{name}")
    if name not in _HOME_OF:
        msg = f"module 'gqlnb' has no attribute {name!r}"
        raise AttributeError(msg)
    if name in _ASKING:
        import_module("gqlnb.github.entry").enter()
    found = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
