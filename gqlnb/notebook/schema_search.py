"""Index of a schema: ranked search by words, and the types that use a type.

The index is built once per schema in one walk and searched by loops over case-folded texts. A
search over 30,000 entries takes a few milliseconds, fast enough to run at each key stroke.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from heapq import nsmallest
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

from graphql import (
    GraphQLArgument,
    GraphQLDirective,
    GraphQLEnumType,
    GraphQLEnumValue,
    GraphQLField,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLUnionType,
    get_named_type,
    is_composite_type,
    is_specified_scalar_type,
)

from gqlnb.engine.schema_builder import pause_collector
from gqlnb.errors import sanitize_text
from gqlnb.notebook.display import Listing

if TYPE_CHECKING:
    from graphql import GraphQLSchema

Definition: TypeAlias = (
    GraphQLNamedType
    | GraphQLField
    | GraphQLInputField
    | GraphQLArgument
    | GraphQLEnumValue
    | GraphQLDirective
)

TYPE_KINDS: tuple[tuple[type[GraphQLNamedType], str, str], ...] = (
    (GraphQLObjectType, "type", "Types"),
    (GraphQLInterfaceType, "interface", "Interfaces"),
    (GraphQLUnionType, "union", "Unions"),
    (GraphQLEnumType, "enum", "Enums"),
    (GraphQLInputObjectType, "input", "Inputs"),
    (GraphQLScalarType, "scalar", "Scalars"),
)
# The parts of a name: stargazerCount consists of stargazer and Count.
NAME_PART = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
WORD_SEPARATOR = re.compile(r"[\s.():,!\[\]]+")  # Repository.stars searches for both words
PART_SEPARATOR = "\x1f"  # cannot occur in a name
# Scores of a match. They are multiplied by 4, so that the weights below only break ties.
EXACT, BEGINS, OWNER, PARTLY, WITHIN, WORD, MENTIONED, ABOVE = 100, 60, 50, 50, 30, 15, 8, 4
TYPE, FIELD, ARGUMENT = 3, 2, 1  # break ties between equally good matches
MEMBER = "is one of"  # the link from an interface or a union to its types
MAX_LENGTH_DIFFERENCE = 3  # characters between a mistyped name and a suggestion
DESCRIPTION_LENGTH = 400  # characters beside a name
HIT_DESCRIPTION_LENGTH = 200  # characters beside a hit


class SearchHit(NamedTuple):
    """One match of a search.

    Attributes
    ----------
    place
        ``Type``, ``Type.field``, ``Type.field(argument)`` or ``@directive``.
    type
        The type of a field or argument, otherwise the kind of definition.
    description
        The description on one line.
    deprecated
        Whether the schema marks it as deprecated.
    opens
        Whether it has fields, or its type has.
    """

    place: str
    type: str
    description: str
    deprecated: bool
    opens: bool


class TypeLink(NamedTuple):
    """A type that uses another one, or is used by it.

    Attributes
    ----------
    name
        The type.
    via
        The fields and arguments that make the link.
    """

    name: str
    via: tuple[str, ...]


class _IndexEntry(NamedTuple):
    """A definition of a schema and its place."""

    owner: str
    field: str
    argument: str
    definition: Definition

    @property
    def place(self) -> str:
        place = f"{self.owner}.{self.field}" if self.field else self.owner
        return f"{place}({self.argument})" if self.argument else place


# The index is built once per schema, in the kernel; views hold one page of results each.
class SchemaIndex:
    """The index of a schema.

    Parameters
    ----------
    schema
        The schema; the index keeps references to its types.
    """

    def __init__(self, schema: GraphQLSchema) -> None:
        # Parallel lists instead of objects: a search reads one attribute of all entries.
        self._entries: list[_IndexEntry] = []
        self._names: list[str] = []  # all texts are case-folded
        self._parts: list[str] = []  # the parts of each name between PART_SEPARATORs
        self._descriptions: list[str] = []
        self._owners: list[str] = []
        self._weights = bytearray()
        self._users: dict[str, dict[str, list[str]]] = {}
        for name, kind in schema.type_map.items():
            if name[:2] != "__":
                self._add_type(name, kind)
                if isinstance(kind, (GraphQLInterfaceType, GraphQLUnionType)):
                    for member in schema.get_possible_types(kind):
                        self._add_link(member.name, name, MEMBER)
        for directive in schema.directives:
            owner = f"@{directive.name}"
            self._add(_IndexEntry(owner, "", "", directive), directive.name, "", TYPE)
            for name, argument in directive.args.items():
                entry = _IndexEntry(owner, "", name, argument)
                self._add(entry, name, directive.name.casefold(), ARGUMENT)
                self._add_link(get_named_type(argument.type).name, owner, f"({name})")

    def __len__(self) -> int:
        return len(self._entries)

    def _add_type(self, name: str, kind: GraphQLNamedType) -> None:
        self._add(_IndexEntry(name, "", "", kind), name, "", TYPE)
        owner = name.casefold()
        if isinstance(kind, GraphQLEnumType):
            for value_name, value in kind.values.items():
                self._add(_IndexEntry(name, value_name, "", value), value_name, owner, ARGUMENT)
            return
        for field_name, field in get_members(kind).items():
            self._add(_IndexEntry(name, field_name, "", field), field_name, owner, FIELD)
            self._add_link(get_named_type(field.type).name, name, field_name)  # type: ignore[union-attr]
            arguments = getattr(field, "args", None)
            if arguments:
                owners = f"{owner}{PART_SEPARATOR}{field_name.casefold()}"
                for argument_name, argument in arguments.items():
                    entry = _IndexEntry(name, field_name, argument_name, argument)
                    self._add(entry, argument_name, owners, ARGUMENT)
                    via = f"{field_name}({argument_name})"
                    self._add_link(get_named_type(argument.type).name, name, via)

    def _add(self, entry: _IndexEntry, name: str, owners: str, weight: int) -> None:
        self._entries.append(entry)
        self._names.append(name.casefold())
        parts = [PART_SEPARATOR, PART_SEPARATOR.join(NAME_PART.findall(name)), PART_SEPARATOR]
        self._parts.append("".join(parts).casefold())
        text = entry.definition.description or ""
        reason = getattr(entry.definition, "deprecation_reason", None)
        text = text if reason is None else f"{text} Deprecated: {reason}"
        self._descriptions.append(text.casefold())
        self._owners.append(owners)
        self._weights.append(weight)

    def _add_link(self, used: str, user: str, via: str) -> None:
        self._users.setdefault(used, {}).setdefault(user, []).append(via)

    def find_users(self, name: str) -> list[TypeLink]:
        """Return the types that use a type, in the order of the schema."""
        return [TypeLink(user, tuple(via)) for user, via in self._users.get(name, {}).items()]

    def search(
        self, words: Sequence[str], limit: int, start: int = 0
    ) -> tuple[list[SearchHit], int]:
        """Find definitions that have all words in their name, description or owner.

        Parameters
        ----------
        words
            The words, in any case.
        limit
            The number of hits to return.
        start
            The number of best hits to skip.

        Returns
        -------
        (list of SearchHit, int)
            The best hits first, and the number of all hits.
        """
        # The longest word first: it is in the fewest entries, which keeps the first test selective.
        folded = sorted({word.casefold() for word in words if word}, key=len, reverse=True)
        if not folded:
            return [], 0
        if len(folded) == 1:
            scores, more = self._score_word(folded[0], start + limit)
        else:
            scores, more = self._score_words(folded), 0
        first = nsmallest(start + limit, self._rank(scores, start + limit))
        hits = [build_hit(place, self._entries[at].definition) for *_, place, at in first[start:]]
        return hits, len(scores) + more

    def search_text(
        self, text: str, limit: int, start: int = 0
    ) -> tuple[list[SearchHit], int, list[str]]:
        """Search the words of a text as :meth:`search`; without hits, return similar names too."""
        words = split_search_words(text)
        hits, total = self.search(words, limit, start)
        return hits, total, [] if hits or not words else self.suggest_names(words[-1])

    def _score_word(self, word: str, enough: int) -> tuple[dict[int, int], int]:
        """Return scores by entry, and the number of further entries that score lower."""
        named = [at for at, name in enumerate(self._names) if word in name]
        mentioned = [at for at, text in enumerate(self._descriptions) if word in text]
        scores = {at: 4 * self._score_name(at, word) + self._weights[at] for at in named}
        others = [at for at in mentioned if at not in scores]
        # A match in a name outranks any in a description, so those need no score here.
        if len(scores) >= enough:
            return scores, len(others)
        whole = re.compile(rf"\b{re.escape(word)}\b")
        for at in others:
            found = WORD if whole.search(self._descriptions[at]) else MENTIONED
            scores[at] = 4 * found + self._weights[at]
        return scores, 0

    def _score_words(self, words: Sequence[str]) -> dict[int, int]:
        first, *rest = words
        scores = {}
        patterns = [re.compile(rf"\b{re.escape(word)}\b") for word in words]
        texts = zip(self._names, self._descriptions, self._owners, strict=True)
        for at, (name, description, owners) in enumerate(texts):
            if not (first in name or first in description or first in owners):
                continue
            found = [self._score_fit(at, first, patterns[0])]
            found += [
                self._score_fit(at, word, pattern)
                for word, pattern in zip(rest, patterns[1:], strict=True)
            ]
            # An owner's name alone is not a match: it would find every field of that type.
            if all(found) and max(found) > ABOVE:
                owned = OWNER if owners in words else 0  # Repository.name: that field first
                scores[at] = 4 * (sum(found) + owned) + self._weights[at]
        return scores

    def _score_fit(self, at: int, word: str, whole: re.Pattern[str]) -> int:
        """Return a score for one word; 0 if it does not occur."""
        if word in self._names[at]:
            return self._score_name(at, word)
        description = self._descriptions[at]
        if word in description:
            return WORD if whole.search(description) else MENTIONED
        return ABOVE if word in self._owners[at] else 0

    def _score_name(self, at: int, word: str) -> int:
        name = self._names[at]
        if name.startswith(word):
            return EXACT if name == word else BEGINS
        return PARTLY if f"{PART_SEPARATOR}{word}{PART_SEPARATOR}" in self._parts[at] else WITHIN

    def _rank(self, scores: dict[int, int], most: int) -> Iterator[tuple[int, int, str, int]]:
        """Yield sort keys of the entries that can be among the first `most`."""
        low = sorted(scores.values(), reverse=True)[: most + 1][-1:] or [0]
        for at, score in scores.items():
            if score >= low[0]:
                place = self._entries[at].place
                yield -score, len(place), place, at

    def suggest_names(self, word: str) -> list[str]:
        """Return the names that are most similar to a mistyped word."""
        folded = word.casefold()
        likely = {
            entry.argument or entry.field or entry.owner
            for entry, name in zip(self._entries, self._names, strict=True)
            if name[:1] == folded[:1] and abs(len(name) - len(folded)) <= MAX_LENGTH_DIFFERENCE
        }
        by_fold = {name.casefold(): name for name in sorted(likely)}
        return [by_fold[name] for name in difflib.get_close_matches(folded, by_fold, 3, 0.7)]


_INDICES: WeakKeyDictionary[GraphQLSchema, SchemaIndex] = WeakKeyDictionary()
_INDEX_LOCK = Lock()


def get_index(schema: GraphQLSchema) -> SchemaIndex:
    """Return the index of a schema, built on first use."""
    with _INDEX_LOCK:
        index = _INDICES.get(schema)
        if index is None:
            # A collection in the middle would traverse all new entries and free none of them.
            with pause_collector():
                index = _INDICES[schema] = SchemaIndex(schema)
    return index


def is_indexed(schema: GraphQLSchema) -> bool:
    """Return whether the index of a schema is already built."""
    return schema in _INDICES


def split_search_words(text: str) -> list[str]:
    """Split typed text into words; ``Repository.stars`` gives two."""
    return [word.lstrip("@$") for word in WORD_SEPARATOR.split(text) if word.lstrip("@$")]


def search_schema(
    schema: GraphQLSchema, words: Sequence[str], limit: int, option: str = "--limit "
) -> Listing:
    """Search a schema for types, fields, arguments, values and directives.

    Parameters
    ----------
    schema
        The schema.
    words
        All of them must occur, in any case. ``Repository.stars`` counts as two words.
    limit
        The number of rows to return.
    option
        The caller's spelling of `limit`, for the note that there are more.
    """
    index, text = get_index(schema), " ".join(words)
    rows, total, near = index.search_text(text, limit)
    more = total - len(rows)
    note = f"and {more:,} more: {option}{total}" if more > 0 else ""
    if not rows:
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        note = f"Nothing in the schema matches {sanitize_text(text, 60)!r}.{hint}"
    return Listing(["place", "type", "description"], [row[:3] for row in rows], note)


def build_hit(place: str, definition: Definition) -> SearchHit:
    """Describe a definition at its place."""
    description = sanitize_text(describe_element(definition), HIT_DESCRIPTION_LENGTH)
    is_deprecated = getattr(definition, "deprecation_reason", None) is not None
    kind: Any = getattr(definition, "type", definition)
    opens = is_composite_type(get_named_type(kind))
    return SearchHit(place, describe_kind(definition), description, is_deprecated, opens)


def list_own_types(schema: GraphQLSchema) -> list[GraphQLNamedType]:
    """Return the types of a schema without introspection types and built-in scalars."""
    kinds = schema.type_map.values()
    return [kind for kind in kinds if kind.name[:2] != "__" and not is_specified_scalar_type(kind)]


def get_members(kind: GraphQLNamedType) -> Mapping[str, Definition]:
    """Return the fields of a type or the values of an enum, by name."""
    members: Mapping[str, Definition] = getattr(kind, "fields", {})
    return kind.values if isinstance(kind, GraphQLEnumType) else members


def describe_kind(definition: Definition) -> str:
    """Return the type of a field or argument, else the kind of definition, such as ``enum``."""
    own_type = getattr(definition, "type", None)
    if own_type is not None:
        return str(own_type)
    if isinstance(definition, GraphQLDirective):
        return "directive"
    return next((word for sort, word, _ in TYPE_KINDS if isinstance(definition, sort)), "value")


def describe_element(definition: Definition, limit: int = DESCRIPTION_LENGTH) -> str:
    """Return the description and the deprecation of a definition on one line."""
    text = sanitize_text(definition.description or "", limit)
    reason = getattr(definition, "deprecation_reason", None)
    return text if reason is None else f"{text} Deprecated: {sanitize_text(reason, 200)}".strip()
