"""``%graphql search``: what there is in a schema about some words, the likeliest first."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from graphql import GraphQLEnumType

from gqlnb.errors import plain
from gqlnb.notebook.schemadocs import KINDS, noted
from gqlnb.notebook.shown import Listing

if TYPE_CHECKING:
    from graphql import GraphQLSchema

__all__ = ["Found", "found", "search"]

ABOUT = 200  # characters of a description
# The parts of a name: stargazerCount is about a stargazer and a count.
PART = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
EXACT, BEGINS, PARTLY, WITHIN, WORD, MENTIONED, ABOVE = 100, 60, 50, 30, 15, 8, 4


class Found(NamedTuple):
    """Something in a schema.

    Attributes
    ----------
    place
        Where it is: ``Type``, ``Type.field``, ``Type.field(argument)``.
    type
        Its type, or what kind of type it is.
    about
        Its description.
    name
        Its own name.
    above
        The names of what it belongs to.
    weight
        What goes before what, of things that fit alike: types, then fields, then arguments.
    """

    place: str
    type: str
    about: str
    name: str
    above: tuple[str, ...]
    weight: int


def search(schema: GraphQLSchema, words: Sequence[str], limit: int) -> Listing:
    """Return the types, fields, arguments and values whose names or descriptions have the words.

    Parameters
    ----------
    schema
        Where to look.
    words
        All of them must be found; case does not count.
    limit
        How many to return.
    """
    wanted = [word.casefold() for word in words]
    ranked = sorted(
        (-score, len(it.place), it.place, it)
        for it in found(schema)
        if (score := scored(it, wanted)) > 0
    )
    rows = [(it.place, it.type, plain(it.about, ABOUT)) for *_, it in ranked[:limit]]
    more = len(ranked) - len(rows)
    said = " ".join(words)
    note = f"and {more:,} more: --limit {len(ranked)}" if more > 0 else ""
    if not rows:
        names = {it.name for it in found(schema)}
        near = difflib.get_close_matches(said, names, 3)
        meant = f" Did you mean {' or '.join(near)}?" if near else ""
        note = f"The schema has nothing about {plain(said, 60)!r}.{meant}"
    return Listing(["place", "type", "description"], rows, note)


def found(schema: GraphQLSchema) -> Iterator[Found]:
    """Yield all that a schema names, but what describes the schema itself."""
    for name, kind in schema.type_map.items():
        if name[:2] == "__":
            continue
        word = next((word for sort, word, _ in KINDS if isinstance(kind, sort)), "type")
        yield Found(name, word, kind.description or "", name, (), 3)
        if isinstance(kind, GraphQLEnumType):
            for value_name, value in kind.values.items():
                place = f"{name}.{value_name}"
                yield Found(place, "value", noted(value), value_name, (name,), 1)
        for field_name, field in getattr(kind, "fields", {}).items():
            yield from field_found(name, field_name, field)


def field_found(name: str, field_name: str, field: Any) -> Iterator[Found]:
    """Yield a field and its arguments."""
    place = f"{name}.{field_name}"
    yield Found(place, str(field.type), noted(field), field_name, (name,), 2)
    for argument_name, argument in getattr(field, "args", {}).items():
        yield Found(
            f"{place}({argument_name})",
            str(argument.type),
            noted(argument),
            argument_name,
            (name, field_name),
            1,
        )


def scored(it: Found, words: Sequence[str]) -> int:
    """Return how well something fits; 0 if a word is not found."""
    scores = [fit(it, word) for word in words]
    # A name of what it belongs to alone is no fit: all fields of a type would be found with it.
    if not all(scores) or max(scores) <= ABOVE:
        return 0
    return 4 * sum(scores) + it.weight


def fit(it: Found, word: str) -> int:
    """Return how well a word fits."""
    name, about = it.name.casefold(), it.about.casefold()
    if name == word:
        return EXACT
    if name.startswith(word):
        return BEGINS
    if word in name:
        return PARTLY if word in [part.casefold() for part in PART.findall(it.name)] else WITHIN
    if word in about:
        return WORD if re.search(rf"\b{re.escape(word)}\b", about) else MENTIONED
    return ABOVE if any(word in above.casefold() for above in it.above) else 0
