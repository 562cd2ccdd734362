"""The page a browser gets at the endpoint: GraphiQL, or where that is missing a small page of ours.

All files are the package's own, and nothing is from elsewhere.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from gqlnb.http.messages import Response
from gqlnb.http.server_rules import ENDPOINT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.resources.abc import Traversable

__all__ = [
    "BUNDLE_FILES",
    "MISSING_BUNDLE",
    "GraphiqlBundle",
    "build_pages",
    "load_bundle",
    "read_checksum",
]

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
PAGE_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",  # after an upgrade the page and its script must fit together
}
ASSETS_PATH = f"{ENDPOINT}/assets"
MEDIA_TYPES = {
    "html": "text/html",
    "css": "text/css",
    "js": "text/javascript",
    "svg": "image/svg+xml",
}
SMALL_PAGE_ASSETS = ("icon.svg", "page.css", "page.js")
GRAPHIQL_ASSETS = ("icon.svg", "explore.css", "explore.js")


@cache
def build_pages() -> Mapping[str, Response]:
    """Return the page and its assets as ready-made responses by path."""
    found = load_bundle()
    return MappingProxyType(
        build_small_page()
        if found is None
        else {**build_small_page(), **build_graphiql_page(found)}
    )


def build_small_page() -> dict[str, Response]:
    """Return our own page."""
    found = {f"{ASSETS_PATH}/{name}": load_asset(name, POLICY) for name in SMALL_PAGE_ASSETS}
    return {ENDPOINT: load_asset("page.html", POLICY), **found}


def build_graphiql_page(found: GraphiqlBundle) -> dict[str, Response]:
    """Return GraphiQL's page, its files as they are kept: compressed, which browsers all read."""
    own = {f"{ASSETS_PATH}/{name}": load_asset(name, GRAPHIQL_POLICY) for name in GRAPHIQL_ASSETS}
    parts = {
        f"{ASSETS_PATH}/{name}": Response(
            200, build_asset_headers(name) | {"content-encoding": "gzip"}, data
        )
        for name, data in found.files.items()
    }
    return {ENDPOINT: load_asset("graphiql.html", GRAPHIQL_POLICY), **own, **parts}


def load_asset(name: str, policy: str) -> Response:
    """Return a file of ours as a response."""
    data = (files("gqlnb.server") / "static" / name).read_bytes()
    return Response(200, build_asset_headers(name, policy), data)


def build_asset_headers(name: str, policy: str = GRAPHIQL_POLICY) -> dict[str, str]:
    """Return the headers of a file."""
    media = MEDIA_TYPES[name.rpartition(".")[2]]
    return {
        **PAGE_HEADERS,
        "content-security-policy": policy,
        "content-type": f"{media}; charset=utf-8",
    }


BUNDLE_FILES = (
    "graphiql.js",
    "graphiql.css",
    "editor.worker.js",
    "graphql.worker.js",
    "json.worker.js",
)
BUNDLE_FOLDER = files("gqlnb.server") / "static" / "graphiql"
CHECKSUM_FILE = "made-from"  # written last by the build: the checksum of what it was built from
MISSING_BUNDLE = (
    "GraphiQL is not in this installation of gqlnb: its packages could not be had from npm when it "
    "was installed. Where npm's registry can be reached, install gqlnb again: "
    "pip install --force-reinstall --no-cache-dir --no-deps gqlnb, or the path of its checkout."
)


class GraphiqlBundle(NamedTuple):
    """The files of the bundle.

    Attributes
    ----------
    checksum
        Of what it was built from; another one is another bundle.
    files
        The bytes of each of :data:`BUNDLE_FILES`, compressed with gzip.
    """

    checksum: str
    files: dict[str, bytes]


def read_checksum(folder: Traversable | None = None) -> str | None:
    """Return the checksum of the bundle; None if there is none."""
    try:
        return ((folder or BUNDLE_FOLDER) / CHECKSUM_FILE).read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return None


def load_bundle(folder: Traversable | None = None) -> GraphiqlBundle | None:
    """Read the bundle, some 2 MB; None if there is none."""
    folder = folder or BUNDLE_FOLDER
    found = read_checksum(folder)
    if found is None:
        return None
    return GraphiqlBundle(
        found, {name: (folder / f"{name}.gz").read_bytes() for name in BUNDLE_FILES}
    )
