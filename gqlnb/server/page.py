"""The page for browsers at the endpoint: GraphiQL, or a small page if GraphiQL was not built.

All files belong to the package; nothing is loaded from other hosts.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from gqlnb.http.messages import Response
from gqlnb.http.server_rules import ENDPOINT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.resources.abc import Traversable

# Scripts, styles and requests from our origin only, and no frames, against clickjacking.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# GraphiQL's editor runs its language services in workers from our origin, uses no eval, and has its
# icons inside its style sheet. It positions lines and colours by style elements and attributes
# created at run time, for which a nonce is not possible: hence 'unsafe-inline' for styles. An
# injected style could load files from our origin only.
_GRAPHIQL_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
    "img-src 'self' data:; font-src data:; worker-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",  # after an upgrade the page and its script must fit together
}
_MEDIA_TYPES = {
    "html": "text/html",
    "css": "text/css",
    "js": "text/javascript",
    "svg": "image/svg+xml",
}
_SMALL_PAGE_ASSETS = ("icon.svg", "page.css", "page.js")
_GRAPHIQL_ASSETS = ("icon.svg", "explore.css", "explore.js")


@lru_cache(maxsize=4)  # 2 MB for each path
def build_pages(path: str = ENDPOINT) -> Mapping[str, Response]:
    """Return the responses to GET by path: the page at the endpoint, and its assets below."""
    assets = f"{path.rstrip('/')}/assets"
    pages = {path: _load_page("page.html", _POLICY, path)}
    for name in _SMALL_PAGE_ASSETS:
        pages[f"{assets}/{name}"] = _load_asset(name, _POLICY)
    bundle = load_bundle()
    if bundle is not None:
        pages[path] = _load_page("graphiql.html", _GRAPHIQL_POLICY, path)
        for name in _GRAPHIQL_ASSETS:
            pages[f"{assets}/{name}"] = _load_asset(name, _GRAPHIQL_POLICY)
        for name, data in bundle.files.items():  # every browser accepts gzip
            headers = _build_headers(name, _GRAPHIQL_POLICY) | {"content-encoding": "gzip"}
            pages[f"{assets}/{name}"] = Response(200, headers, data)
    return MappingProxyType(pages)


def _load_page(name: str, policy: str, path: str) -> Response:
    """Return a page with links relative to its own path, which a proxy may show below another."""
    page = _load_asset(name, policy)
    last = path.rpartition("/")[2]  # server.deployment has checked its characters
    link = f"{last}/assets/" if last else "assets/"
    return replace(page, body=page.body.replace(b"graphql/assets/", link.encode()))


def _load_asset(name: str, policy: str) -> Response:
    data = (files("gqlnb.server") / "static" / name).read_bytes()
    return Response(200, _build_headers(name, policy), data)


def _build_headers(name: str, policy: str) -> dict[str, str]:
    media = _MEDIA_TYPES[name.rpartition(".")[2]]
    return {
        **_HEADERS,
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
CHECKSUM_FILE = "made-from"  # the build writes it last: the checksum of its sources
MISSING_BUNDLE = (
    "GraphiQL is not in this installation of gqlnb: its packages could not be had from npm when it "
    "was installed. Where npm's registry can be reached, install gqlnb again: "
    "pip install --force-reinstall --no-cache-dir --no-deps PATH, with the path of its checkout."
)


class GraphiqlBundle(NamedTuple):
    """The files of the bundle.

    Attributes
    ----------
    checksum
        The checksum of its sources.
    files
        The bytes of each of :data:`BUNDLE_FILES`, compressed with gzip.
    """

    checksum: str
    files: dict[str, bytes]


def read_checksum(folder: Traversable | None = None) -> str | None:
    """Return the checksum of the bundle; None if it was not built."""
    try:
        return ((folder or BUNDLE_FOLDER) / CHECKSUM_FILE).read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return None


def load_bundle(folder: Traversable | None = None) -> GraphiqlBundle | None:
    """Read the bundle, some 2 MB; None if it was not built."""
    folder = folder or BUNDLE_FOLDER
    checksum = read_checksum(folder)
    if checksum is None:
        return None
    return GraphiqlBundle(
        checksum, {name: (folder / f"{name}.gz").read_bytes() for name in BUNDLE_FILES}
    )
