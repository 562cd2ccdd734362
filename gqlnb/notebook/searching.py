"""``%graphql search``: what there is in a schema about some words, the likeliest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gqlnb.errors import plain
from gqlnb.notebook.schemaindex import index_of, words_of
from gqlnb.notebook.shown import Listing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphql import GraphQLSchema

__all__ = ["search"]

ABOUT = 200  # characters of a description


def search(
    schema: GraphQLSchema, words: Sequence[str], limit: int, option: str = "--limit "
) -> Listing:
    """Return the types, fields, arguments and values whose names or descriptions have the words.

    Parameters
    ----------
    schema
        Where to look.
    words
        All of them must be found; case does not count. ``Repository.stars`` is two words.
    limit
        How many to return.
    option
        How whoever asks writes that number, for the hint that there are more.
    """
    index, said = index_of(schema), " ".join(words)
    found, total = index.search(words_of(said), limit)
    rows = [(it.place, it.type, plain(it.about, ABOUT)) for it in found]
    more = total - len(rows)
    note = f"and {more:,} more: {option}{total}" if more > 0 else ""
    if not rows:
        near = index.near(said)
        meant = f" Did you mean {' or '.join(near)}?" if near else ""
        note = f"The schema has nothing about {plain(said, 60)!r}.{meant}"
    return Listing(["place", "type", "description"], rows, note)
