"""Read an answer as objects of classes of one's own."""

from __future__ import annotations

from typing import assert_type

import msgspec

from gqlnb import Client


class Repository(msgspec.Struct):
    """A row."""

    name: str
    stars: int | None = None


class Top(msgspec.Struct):
    """The answer."""

    nodes: list[Repository]


def list_names(client: Client, text: str) -> list[str]:
    """Return the names of the rows."""
    top = client.execute(text, {"n": 5}).models(Top)
    assert_type(top.nodes[0].stars, int | None)
    top.nodes[0].star.bit_length()  # type: ignore[attr-defined]
    return [row.name for row in top.nodes]
