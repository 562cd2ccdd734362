"""GraphQL in Jupyter: query any endpoint and get DataFrames; design, execute and serve schemas.

Examples
--------
>>> import gqlnb
>>> demo = gqlnb.connect("demo")  # GitHub's API on embedded data; "github" with GITHUB_TOKEN
>>> text = '{ search(query: "stars:>300000", type: REPOSITORY, first: 2) { nodes { __typename } } }'
>>> demo.execute(text).df
   __typename
0  Repository
1  Repository

In a notebook, ``%load_ext gqlnb`` adds cells that begin with ``%%graphql demo``.

Five names to know, each with its own ``help()``:

* :func:`connect` returns a client of an endpoint: ``execute``, and ``execute_all`` for all pages.
* :class:`Result` is an answer: ``.df``, ``.data``, ``.errors``, ``.report``.
* :class:`Schema` is a schema with resolvers, executed in this process; :func:`serve` serves it.
* :func:`stars` searches repositories by stars; :mod:`gqlnb.github` harvests more.
* :class:`Explorer` shows GraphiQL under a cell.

The others:

* Requests: ``Client``, ``Token``, ``Limits``, ``Upload``; ``cached`` remembers answers,
  ``recorded`` replays them, ``concat`` joins their frames, ``scalar`` converts a custom scalar.
* Lists beyond an endpoint's cap: ``Slice``, ``RangeEstimate``, ``RangeHarvest``.
* Schemas: ``reference_schema``; ``diff`` compares two, ``unused_fields`` one with operations;
  ``Server`` and ``Access`` of :func:`serve`; ``gqlnb.engine``.
* Widgets: ``ResultView``, ``SchemaView``, ``StarSearch``, ``LiveFrame``, ``TokenBox``.
* Notebooks: ``scrub`` removes tokens from files; ``load_ipython_extension`` and
  ``unload_ipython_extension`` are called by IPython.
* Errors, all of them a ``GqlnbError``: ``QueryError`` and ``SchemaError`` in a text;
  ``TransportError``, ``AuthError``, ``RateLimited`` and ``AnswerError`` of an endpoint;
  ``PartialError``, ``FrameError``, ``BatchError`` and ``ReplayError`` of answers;
  ``TargetError``, ``OptionError`` and ``MissingExtraError`` in a call; ``ServerError`` and
  ``PortInUseError`` of a server.

``import gqlnb`` loads only this module; the others are imported when they are first used.
"""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # as `typing` has it; importing that takes as long as starting Python
if TYPE_CHECKING:
    from typing import Any

    from gqlnb import engine, github
    from gqlnb.client.batches import BatchError
    from gqlnb.client.client import Client, connect
    from gqlnb.client.recording.scrubber import scrub
    from gqlnb.client.recording.session import recorded
    from gqlnb.client.response_cache import cached
    from gqlnb.client.schema_comparison import diff, unused_fields
    from gqlnb.document.scalars import scalar
    from gqlnb.document.upload import Upload
    from gqlnb.engine.schema import Schema, reference_schema
    from gqlnb.errors import (
        AnswerError,
        AuthError,
        FrameError,
        GqlnbError,
        MissingExtraError,
        OptionError,
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
    from gqlnb.limits import Limits
    from gqlnb.lists.columns import Slice
    from gqlnb.lists.list_harvest import RangeEstimate, RangeHarvest
    from gqlnb.notebook.extension import load_ipython_extension, unload_ipython_extension
    from gqlnb.notebook.widgets.explorer import Explorer
    from gqlnb.notebook.widgets.live_frame import LiveFrame
    from gqlnb.notebook.widgets.result_view import ResultView
    from gqlnb.notebook.widgets.schema_view import SchemaView
    from gqlnb.notebook.widgets.star_search import StarSearch
    from gqlnb.notebook.widgets.token_box import TokenBox
    from gqlnb.result.concatenation import concat
    from gqlnb.result.result import PartialError, Result
    from gqlnb.server.background_server import Server, serve
    from gqlnb.tokens import Token

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
    "RangeEstimate",
    "RangeHarvest",
    "RateLimited",
    "ReplayError",
    "Result",
    "ResultView",
    "Schema",
    "SchemaError",
    "SchemaView",
    "Server",
    "ServerError",
    "Slice",
    "StarSearch",
    "TargetError",
    "Token",
    "TokenBox",
    "TransportError",
    "Upload",
    "cached",
    "concat",
    "connect",
    "diff",
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
    "unused_fields",
]

__version__ = "0.1.0"

_EXPORTS = {
    # The errors that hold results are defined beside these: modules further down replace them.
    "gqlnb.errors": tuple(n for n in __all__ if n.endswith("Error") or n == "RateLimited"),
    "gqlnb.client.batches": ("BatchError",),
    "gqlnb.client.client": ("Client", "connect"),
    "gqlnb.lists.list_harvest": ("RangeEstimate", "RangeHarvest"),
    "gqlnb.lists.columns": ("Slice",),
    "gqlnb.client.recording.session": ("recorded",),
    "gqlnb.client.recording.scrubber": ("scrub",),
    "gqlnb.client.response_cache": ("cached",),
    "gqlnb.client.schema_comparison": ("diff", "unused_fields"),
    "gqlnb.engine.schema": ("Schema", "reference_schema"),
    "gqlnb.github.star_results": ("stars",),
    "gqlnb.limits": ("Limits",),
    "gqlnb.result.concatenation": ("concat",),
    "gqlnb.result.result": ("PartialError", "Result"),
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
    "gqlnb.tokens": ("Token",),
    "gqlnb.http.server_rules": ("Access",),
}
_MODULE_OF_NAME = {name: module for module, names in _EXPORTS.items() for name in names}
_LAZY_PACKAGES = frozenset({"engine", "github"})
# These accept the names of connections, and `github` and `demo` are registered by gqlnb.github,
# which the client package must not import.
_NEED_GITHUB_CONNECTIONS = frozenset(
    {"Client", "connect", "diff", "Explorer", "stars", "StarSearch", "unused_fields"}
)
# Names that readers of other libraries try first.
_HINTS = {
    "execute query run request post gql read_graphql": "connect(target).execute(text)",
    "open session Session client GraphQLClient Transport": "connect(target)",
    "read_frame frame to_dataframe DataFrame": "connect(target).frame(text)",
    "from_frame mock adopt": "Schema.from_frame, Schema.mock or Schema.adopt",
    "harvest": "gqlnb.github.harvest",
    "compare compare_schemas schema_diff": "diff(old, new)",
    "subscribe pages execute_all execute_many": "the method of a client, connect(target)",
    "record replay cassette": "recorded",
    "cache": "cached",
    "explore graphiql": "Explorer",
    "GraphQLError Error": "GqlnbError, or one of its subclasses",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public name
    if name in _LAZY_PACKAGES:
        return import_module(f"gqlnb.{name}")
    if name not in _MODULE_OF_NAME:
        from gqlnb.interactive import raise_attribute_error, split_hints

        raise_attribute_error(sys.modules[__name__], name, split_hints(_HINTS))
    if name in _NEED_GITHUB_CONNECTIONS:
        import_module("gqlnb.github.builtin_connections").register_connections()
    found = getattr(import_module(_MODULE_OF_NAME[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    from gqlnb.interactive import is_called_by_pydoc

    return [] if is_called_by_pydoc() else [*__all__, "__version__"]
