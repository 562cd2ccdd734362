"""The GraphiQL bundle, where this installation has it: built with the package, from npm."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

__all__ = ["MISSING", "NAMES", "Bundle", "bundle", "checksum"]

NAMES = (
    "graphiql.js",
    "graphiql.css",
    "editor.worker.js",
    "graphql.worker.js",
    "json.worker.js",
)
HERE = files("gqlnb.server") / "static" / "graphiql"
STAMP = "made-from"  # written last by the build: the checksum of what it was built from
MISSING = (
    "GraphiQL is not in this installation of gqlnb: its packages could not be had from npm when it "
    "was installed. Where npm's registry can be reached, install gqlnb again: "
    "pip install --force-reinstall --no-cache-dir --no-deps gqlnb, or the path of its checkout."
)


class Bundle(NamedTuple):
    """The files of the bundle.

    Attributes
    ----------
    checksum
        Of what it was built from; another one is another bundle.
    files
        The bytes of each of :data:`NAMES`, compressed with gzip.
    """

    checksum: str
    files: dict[str, bytes]


def checksum(folder: Traversable | None = None) -> str | None:
    """Return the checksum of the bundle; None if there is none."""
    try:
        return ((folder or HERE) / STAMP).read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return None


def bundle(folder: Traversable | None = None) -> Bundle | None:
    """Read the bundle, some 2 MB; None if there is none."""
    folder = folder or HERE
    found = checksum(folder)
    if found is None:
        return None
    return Bundle(found, {name: (folder / f"{name}.gz").read_bytes() for name in NAMES})
