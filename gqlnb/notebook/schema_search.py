"""What a schema names, indexed: found by words, the likeliest first, and by what leads to it.

An index is made once for a schema, in one walk over it, and searched by plain loops over folded
texts: 30,000 entries take some milliseconds, so that it can be asked at each key stroke.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from heapq import nsmallest
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from graphql import GraphQLEnumType, GraphQLInterfaceType, GraphQLUnionType, get_named_type

from gqlnb.engine.schema_builder import pause_collector
from gqlnb.errors import sanitize_text
from gqlnb.notebook.display import Listing
from gqlnb.notebook.schema_docs import TYPE_KINDS, describe_element

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphql import GraphQLSchema


__all__ = [
    "SchemaIndex",
    "SearchHit",
    "TypeLink",
    "get_index",
    "is_indexed",
    "search_schema",
    "split_search_words",
]

# The parts of a name: stargazerCount is about a stargazer and a count.
NAME_PART = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
WORD_SEPARATOR = re.compile(r"[\s.():,!\[\]]+")  # words; who writes Repository.stars means both
PART_SEPARATOR = "\x1f"  # in no name
EXACT, BEGINS, OWNER, PARTLY, WITHIN, WORD, MENTIONED, ABOVE = 100, 60, 50, 50, 30, 15, 8, 4
TYPE, FIELD, ARGUMENT = 3, 2, 1  # what goes before what, of things that fit alike
MEMBER = "is one of"  # how an interface or a union leads to a type
ALIKE = 3  # characters that a name may be shorter or longer than what was meant


class SearchHit(NamedTuple):
    """Something in a schema.

    Attributes
    ----------
    place
        Where it is: ``Type``, ``Type.field``, ``Type.field(argument)``, ``@directive``.
    type
        Its type, or what kind of type it is.
    about
        Its description.
    """

    place: str
    type: str
    about: str


class TypeLink(NamedTuple):
    """A type that leads to another, or that another leads to.

    Attributes
    ----------
    name
        The type.
    via
        The fields that lead from one to the other.
    """

    name: str
    via: tuple[str, ...]


class SchemaElement(NamedTuple):
    """A thing of a schema, and where it is."""

    owner: str
    field: str
    argument: str
    thing: Any

    @property
    def place(self) -> str:
        """Where it is."""
        place = f"{self.owner}.{self.field}" if self.field else self.owner
        return f"{place}({self.argument})" if self.argument else place

    def to_hit(self) -> SearchHit:
        """Return what people see of it."""
        word = describe_kind(self.thing)
        return SearchHit(self.place, word, describe_element(self.thing))


class SchemaIndex:
    """The index of a schema.

    Parameters
    ----------
    schema
        The schema; the index goes on holding its types.
    """

    def __init__(self, schema: GraphQLSchema) -> None:
        self._entries: list[SchemaElement] = []
        self._names: list[str] = []  # folded, as all texts here
        self._parts: list[str] = []  # of the names, with APART around each
        self._abouts: list[str] = []
        self._above: list[str] = []
        self._weights = bytearray()
        self._users: dict[str, dict[str, list[str]]] = {}
        for name, kind in schema.type_map.items():
            if name[:2] != "__":
                self._add_type(name, kind)
                if isinstance(kind, (GraphQLInterfaceType, GraphQLUnionType)):
                    for member in schema.get_possible_types(kind):
                        self._add_link(member.name, name, MEMBER)
        for directive in schema.directives:
            self._add_directive(directive)

    def __len__(self) -> int:
        return len(self._entries)

    # -- making it

    def _add_type(self, name: str, kind: Any) -> None:
        self._add(SchemaElement(name, "", "", kind), name, "", TYPE)
        above = name.casefold()
        if isinstance(kind, GraphQLEnumType):
            for value_name, value in kind.values.items():
                self._add(SchemaElement(name, value_name, "", value), value_name, above, ARGUMENT)
            return
        for field_name, field in getattr(kind, "fields", {}).items():
            self._add(SchemaElement(name, field_name, "", field), field_name, above, FIELD)
            self._add_link(get_named_type(field.type).name, name, field_name)
            arguments = getattr(field, "args", None)
            if arguments:
                both = f"{above}{PART_SEPARATOR}{field_name.casefold()}"
                for each, argument in arguments.items():
                    self._add(SchemaElement(name, field_name, each, argument), each, both, ARGUMENT)
                    via = f"{field_name}({each})"
                    self._add_link(get_named_type(argument.type).name, name, via)

    def _add_directive(self, directive: Any) -> None:
        owner = f"@{directive.name}"
        self._add(SchemaElement(owner, "", "", directive), directive.name, "", TYPE)
        for name, argument in directive.args.items():
            self._add(
                SchemaElement(owner, "", name, argument), name, directive.name.casefold(), ARGUMENT
            )
            self._add_link(get_named_type(argument.type).name, owner, f"({name})")

    def _add(self, entry: SchemaElement, name: str, above: str, weight: int) -> None:
        self._entries.append(entry)
        self._names.append(name.casefold())
        self._parts.append(
            f"{PART_SEPARATOR}{PART_SEPARATOR.join(NAME_PART.findall(name))}{PART_SEPARATOR}".casefold()
        )
        about = entry.thing.description or ""
        reason = getattr(entry.thing, "deprecation_reason", None)
        said = about if reason is None else f"{about} Deprecated: {reason}"
        self._abouts.append(said.casefold())
        self._above.append(above)
        self._weights.append(weight)

    def _add_link(self, used: str, user: str, via: str) -> None:
        self._users.setdefault(used, {}).setdefault(user, []).append(via)

    # -- asking it

    def find_users(self, name: str) -> list[TypeLink]:
        """Return the types that lead to a type, in the order of the schema."""
        return [TypeLink(user, tuple(via)) for user, via in self._users.get(name, {}).items()]

    def search(
        self, words: Sequence[str], limit: int, start: int = 0
    ) -> tuple[list[SearchHit], int]:
        """Return what has all of the words in its name, its description or what it belongs to.

        Parameters
        ----------
        words
            The words; case does not count.
        limit
            How many to return.
        start
            How many of the likeliest to leave out.

        Returns
        -------
        (list of Found, int)
            The likeliest first, and how many there are in all.
        """
        folded = sorted({word.casefold() for word in words if word}, key=len, reverse=True)
        if not folded:
            return [], 0
        if len(folded) == 1:
            scores, more = self._score_word(folded[0], start + limit)
        else:
            scores, more = self._score_words(folded), 0
        first = nsmallest(start + limit, self._rank(scores, start + limit))
        return [self._entries[at].to_hit() for *_, at in first[start:]], len(scores) + more

    def _score_word(self, word: str, enough: int) -> tuple[dict[int, int], int]:
        """Return scores by place in the index, and how many more there are below them.

        A name says more than a description, so that these need not be ranked if names are enough.
        """
        named = [at for at, name in enumerate(self._names) if word in name]
        told = [at for at, about in enumerate(self._abouts) if word in about]
        scores = {at: 4 * self._score_name(at, word) + self._weights[at] for at in named}
        others = [at for at in told if at not in scores]
        if len(scores) >= enough:
            return scores, len(others)
        whole = re.compile(rf"\b{re.escape(word)}\b")
        for at in others:
            found = WORD if whole.search(self._abouts[at]) else MENTIONED
            scores[at] = 4 * found + self._weights[at]
        return scores, 0

    def _score_words(self, words: Sequence[str]) -> dict[int, int]:
        first, *rest = words
        scores = {}
        whole = [re.compile(rf"\b{re.escape(word)}\b") for word in rest]
        begin = re.compile(rf"\b{re.escape(first)}\b")
        texts = zip(self._names, self._abouts, self._above, strict=True)
        for at, (name, about, above) in enumerate(texts):
            if not (first in name or first in about or first in above):
                continue
            fits = [self._score_fit(at, first, begin)]
            fits += [
                self._score_fit(at, word, text) for word, text in zip(rest, whole, strict=True)
            ]
            # A name of what it belongs to alone is no fit: all fields of a type would be found.
            if all(fits) and max(fits) > ABOVE:
                owned = OWNER if above in words else 0  # Repository.name means that one
                scores[at] = 4 * (sum(fits) + owned) + self._weights[at]
        return scores

    def _score_fit(self, at: int, word: str, whole: re.Pattern[str]) -> int:
        """Return how well a word fits; 0 if it is not found."""
        if word in self._names[at]:
            return self._score_name(at, word)
        about = self._abouts[at]
        if word in about:
            return WORD if whole.search(about) else MENTIONED
        return ABOVE if word in self._above[at] else 0

    def _score_name(self, at: int, word: str) -> int:
        name = self._names[at]
        if name.startswith(word):
            return EXACT if name == word else BEGINS
        return PARTLY if f"{PART_SEPARATOR}{word}{PART_SEPARATOR}" in self._parts[at] else WITHIN

    def _rank(self, scores: dict[int, int], most: int) -> Iterator[tuple[int, int, str, int]]:
        """Yield what to sort by: places are made only of what can be among the first."""
        low = sorted(scores.values(), reverse=True)[: most + 1][-1:] or [0]
        for at, score in scores.items():
            if score >= low[0]:
                place = self._entries[at].place
                yield -score, len(place), place, at

    def suggest_names(self, word: str, most: int = 3) -> list[str]:
        """Return the names that are most like a word, which may be mistyped."""
        folded = word.casefold()
        likely = {
            entry.argument or entry.field or entry.owner
            for entry, name in zip(self._entries, self._names, strict=True)
            if name[:1] == folded[:1] and abs(len(name) - len(folded)) <= ALIKE
        }
        by_fold = {name.casefold(): name for name in sorted(likely)}
        return [by_fold[it] for it in difflib.get_close_matches(folded, by_fold, most, 0.7)]


_INDICES: WeakKeyDictionary[GraphQLSchema, SchemaIndex] = WeakKeyDictionary()
_MAKING = Lock()


def get_index(schema: GraphQLSchema) -> SchemaIndex:
    """Return the index of a schema, made once."""
    with _MAKING:
        found = _INDICES.get(schema)
        if found is None:
            with pause_collector():  # what is made here is no garbage
                found = _INDICES[schema] = SchemaIndex(schema)
    return found


def is_indexed(schema: GraphQLSchema) -> bool:
    """Tell whether the index of a schema is made already."""
    return schema in _INDICES


def split_search_words(text: str) -> list[str]:
    """Return the words of what a person typed: ``Repository.stars`` is two."""
    return [word.lstrip("@$") for word in WORD_SEPARATOR.split(text) if word.lstrip("@$")]


def describe_kind(thing: Any) -> str:
    """Return the type of a field, or what kind of thing it is: ``enum``, ``value``."""
    found = getattr(thing, "type", None)
    if found is not None:
        return str(found)
    if hasattr(thing, "locations"):
        return "directive"
    return next((word for sort, word, _ in TYPE_KINDS if isinstance(thing, sort)), "value")


DESCRIPTION_LENGTH = 200  # characters of a description


def search_schema(
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
    index, said = get_index(schema), " ".join(words)
    found, total = index.search(split_search_words(said), limit)
    rows = [(it.place, it.type, sanitize_text(it.about, DESCRIPTION_LENGTH)) for it in found]
    more = total - len(rows)
    note = f"and {more:,} more: {option}{total}" if more > 0 else ""
    if not rows:
        near = index.suggest_names(said)
        meant = f" Did you mean {' or '.join(near)}?" if near else ""
        note = f"The schema has nothing about {sanitize_text(said, 60)!r}.{meant}"
    return Listing(["place", "type", "description"], rows, note)
