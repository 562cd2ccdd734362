"""The page a browser gets at the endpoint: GraphiQL, or where that is missing a small page of ours.

All files are the package's own, and nothing is from elsewhere.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING

from gqlnb.server.bundle import bundle
from gqlnb.wire.response import Response
from gqlnb.wire.rules import ENDPOINT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gqlnb.server.bundle import Bundle

__all__ = ["pages"]

# Nothing but our own files, and requests to where they came from; no frame around it, so that no
# other page can make a person click in it.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# GraphiQL's editor runs its language services in workers of ours, evaluates nothing, and brings its
# icons inside its style sheet. It places lines and colours by style elements and attributes that it
# makes as it runs, for which there is no nonce; without them nothing can be read. A style that
# somebody smuggled in could load from nowhere but here.
GRAPHIQL_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
    "img-src 'self' data:; font-src data:; worker-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",  # after an upgrade the page and its script must fit together
}
ASSETS = f"{ENDPOINT}/assets"
MEDIA = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
SMALL = ("icon.svg", "page.css", "page.js")
LARGE = ("icon.svg", "explore.css", "explore.js")


@cache
def pages() -> Mapping[str, Response]:
    """Return the page and its assets as ready-made responses by path."""
    found = bundle()
    return MappingProxyType(small() if found is None else {**small(), **large(found)})


def small() -> dict[str, Response]:
    """Return our own page."""
    found = {f"{ASSETS}/{name}": asset(name, POLICY) for name in SMALL}
    return {ENDPOINT: asset("page.html", POLICY), **found}


def large(found: Bundle) -> dict[str, Response]:
    """Return GraphiQL's page, its files as they are kept: compressed, which browsers all read."""
    own = {f"{ASSETS}/{name}": asset(name, GRAPHIQL_POLICY) for name in LARGE}
    parts = {
        f"{ASSETS}/{name}": Response(200, headers(name) | {"content-encoding": "gzip"}, data)
        for name, data in found.files.items()
    }
    return {ENDPOINT: asset("graphiql.html", GRAPHIQL_POLICY), **own, **parts}


def asset(name: str, policy: str) -> Response:
    """Return a file of ours as a response."""
    data = (files("gqlnb.server") / "static" / name).read_bytes()
    return Response(200, headers(name, policy), data)


def headers(name: str, policy: str = GRAPHIQL_POLICY) -> dict[str, str]:
    """Return the headers of a file."""
    media = MEDIA[name.rpartition(".")[2]]
    return {
        **HEADERS,
        "content-security-policy": policy,
        "content-type": f"{media}; charset=utf-8",
    }
