"""The page a browser gets at the endpoint: four small files of our own, nothing from elsewhere."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING

from gqlnb.wire.response import Response
from gqlnb.wire.rules import ENDPOINT

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["pages"]

# Nothing but our own files, and requests to where they came from; no frame around it, so that no
# other page can make a person click in it.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",  # after an upgrade the page and its script must fit together
}
FILES = (
    (ENDPOINT, "page.html", "text/html"),
    (f"{ENDPOINT}/assets/icon.svg", "icon.svg", "image/svg+xml"),
    (f"{ENDPOINT}/assets/page.css", "page.css", "text/css"),
    (f"{ENDPOINT}/assets/page.js", "page.js", "text/javascript"),
)


@cache
def pages() -> Mapping[str, Response]:
    """Return the page and its assets as ready-made responses by path."""
    folder = files("gqlnb.server") / "static"
    return MappingProxyType(
        {
            path: Response(
                200,
                HEADERS | {"content-type": f"{media}; charset=utf-8"},
                (folder / name).read_bytes(),
            )
            for path, name, media in FILES
        }
    )
