"""GraphQL in Jupyter: client, server, engine, DataFrames, magics and widgets.

``import gqlnb`` loads only this file; the names below import their modules on first use. All of
them share one pipeline::

    cell text -> Document -> transport -> Result -> DataFrame -> display
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gqlnb import engine, github
    from gqlnb.auth import Token
    from gqlnb.client.client import Client, connect
    from gqlnb.client.recording.scrubber import scrub
    from gqlnb.client.recording.session import recorded
    from gqlnb.document.limits import Limits
    from gqlnb.document.scalars import scalar
    from gqlnb.document.upload import Upload
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
    from gqlnb.github.star_results import stars
    from gqlnb.http.server_rules import Access
    from gqlnb.notebook.extension import load_ipython_extension, unload_ipython_extension
    from gqlnb.notebook.widgets.explorer import Explorer
    from gqlnb.notebook.widgets.live_frame import LiveFrame
    from gqlnb.notebook.widgets.result_view import ResultView
    from gqlnb.notebook.widgets.schema_view import SchemaView
    from gqlnb.notebook.widgets.star_search import StarSearch
    from gqlnb.notebook.widgets.token_box import TokenBox
    from gqlnb.result.result import Result
    from gqlnb.server.background_server import Server, serve

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

_EXPORTS = {
    "gqlnb.client.client": ("Client", "connect"),
    "gqlnb.client.recording.session": ("recorded",),
    "gqlnb.client.recording.scrubber": ("scrub",),
    "gqlnb.engine.schema": ("Schema", "reference_schema"),
    "gqlnb.errors": tuple(n for n in __all__ if n.endswith("Error") or n == "RateLimited"),
    "gqlnb.github.star_results": ("stars",),
    "gqlnb.document.limits": ("Limits",),
    "gqlnb.result.result": ("Result",),
    "gqlnb.document.scalars": ("scalar",),
    "gqlnb.document.upload": ("Upload",),
    "gqlnb.notebook.extension": ("load_ipython_extension", "unload_ipython_extension"),
    "gqlnb.notebook.widgets.explorer": ("Explorer",),
    "gqlnb.notebook.widgets.result_view": ("ResultView",),
    "gqlnb.notebook.widgets.live_frame": ("LiveFrame",),
    "gqlnb.notebook.widgets.schema_view": ("SchemaView",),
    "gqlnb.notebook.widgets.star_search": ("StarSearch",),
    "gqlnb.notebook.widgets.token_box": ("TokenBox",),
    "gqlnb.server.background_server": ("Server", "serve"),
    "gqlnb.auth": ("Token",),
    "gqlnb.http.server_rules": ("Access",),
}
_MODULE_OF_NAME = {name: module for module, names in _EXPORTS.items() for name in names}
_LAZY_PACKAGES = frozenset({"engine", "github"})
# These accept the names of connections, and `github` and `demo` are registered by gqlnb.github,
# which the client package must not import.
_NEED_GITHUB_CONNECTIONS = frozenset({"Client", "connect", "Explorer", "stars", "StarSearch"})


def __getattr__(name: str) -> Any:
    if name in _LAZY_PACKAGES:
        return import_module(f"gqlnb.{name}")
    if name not in _MODULE_OF_NAME:
        msg = f"module 'gqlnb' has no attribute {name!r}"
        raise AttributeError(msg)
    if name in _NEED_GITHUB_CONNECTIONS:
        import_module("gqlnb.github.builtin_connections").register_connections()
    found = getattr(import_module(_MODULE_OF_NAME[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
