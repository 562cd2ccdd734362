"""A tolerant GraphQL parser that reads up to the cursor and proposes the next name.

graphql-core's lexer and parser refuse incomplete text, so this module has its own: a tokenizer that
accepts any text, and a parser that stops at the cursor. A proposal is a name of the schema with its
definition.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from graphql import (
    DirectiveLocation,
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLError,
    GraphQLInputField,
    GraphQLNamedType,
    GraphQLNonNull,
    GraphQLScalarType,
    GraphQLSchema,
    GraphQLType,
    get_named_type,
    is_composite_type,
    is_input_object_type,
    is_input_type,
    is_interface_type,
    is_list_type,
    is_object_type,
    is_required_argument,
    is_type_sub_type_of,
    parse_type,
    type_from_ast,
)
from graphql.utilities.print_schema import print_input_value
from graphql.utilities.type_comparators import do_types_overlap

from gqlnb.document.validation import META_FIELDS

if TYPE_CHECKING:
    Expected: TypeAlias = GraphQLType | None  # the type of a value at the cursor


# Of a mistyped name: a shorter word resembles too many.
SHORTEST_TYPO, NEAR_MATCHES, TYPO_CUTOFF = 2, 5, 0.66
TYPE_LENGTH = 16  # characters of a label beside a name of the notebook
BOOLEAN = ("true", "false")


@dataclass(frozen=True, slots=True)
class Proposal:
    """A name for completion.

    Attributes
    ----------
    name
        The text to insert.
    kind
        ``"field"``, ``"argument"``, ``"input field"``, ``"enum value"``, ``"type"``,
        ``"directive"``, ``"variable"``, ``"fragment"``, ``"keyword"`` or ``"value"``. On the line
        of a magic: ``"option"``, ``"value"``, ``"name"``, or ``"keyword"`` for a subcommand.
    detail
        Its type; on a magic line its description, or "".
    owner
        The name of the type, field or directive that it belongs to.
    thing
        Its definition in graphql-core; None if it has none. Typed as Any because many definition
        classes share attributes without a common base class.
    """

    name: str
    kind: str
    detail: str = ""
    owner: str = ""
    thing: Any = None

    @property
    def deprecated(self) -> bool:
        """Whether the schema marks it as deprecated."""
        return getattr(self.thing, "deprecation_reason", None) is not None

    @property
    def type_label(self) -> str:
        """The label beside the name in a list: its type, or its kind."""
        # The detail of an option, and of a connection, is a whole sentence.
        is_sentence = self.kind in ("option", "keyword") or (
            self.kind == "name" and len(self.detail) > TYPE_LENGTH
        )
        return self.kind if is_sentence or not self.detail else self.detail


def find_similar_names(proposals: Iterable[Proposal], word: str) -> list[Proposal]:
    """Return the proposals with names like a word in any case: containing it, else similar."""
    if len(word) < SHORTEST_TYPO:
        return []
    by_name = {proposal.name.lower(): proposal for proposal in proposals}
    folded = word.lower()
    within = sorted((name for name in by_name if folded in name), key=len)
    near = difflib.get_close_matches(folded, by_name, NEAR_MATCHES, TYPO_CUTOFF)
    return [by_name[name] for name in dict.fromkeys([*within[:NEAR_MATCHES], *near])]


def collect_fields(schema: GraphQLSchema, parent: GraphQLNamedType) -> Mapping[str, Any]:
    """Return the fields of a type by name, including introspection fields."""
    own = parent.fields if is_object_type(parent) or is_interface_type(parent) else {}
    is_root = parent is schema.query_type
    meta = {name: it for name, it in META_FIELDS.items() if is_root or name == "__typename"}
    return {**own, **meta} if is_composite_type(parent) else own


def propose_type_conditions(
    schema: GraphQLSchema | None, parent: GraphQLNamedType | None
) -> Iterator[Proposal]:
    """Yield the possible type conditions in a selection set on `parent`."""
    for kind in propose_types(schema, is_composite_type):
        if (
            schema is None
            or not is_composite_type(parent)
            or do_types_overlap(schema, parent, kind.thing)
        ):
            yield kind


def propose_types(
    schema: GraphQLSchema | None, is_wanted: Callable[[object], bool]
) -> list[Proposal]:
    """Return the types of a schema that are wanted; a thousand take less than a millisecond."""
    kinds = () if schema is None else schema.type_map.values()
    return [build_type_proposal(kind) for kind in kinds if is_wanted(kind)]


def build_type_proposal(kind: GraphQLType) -> Proposal:
    """Build the proposal of a type; its detail is the kind, such as ``union``."""
    word = type(kind).__name__.removeprefix("GraphQL").removesuffix("Type")
    return Proposal(str(kind), "type", word.lower().replace("inputobject", "input"), "", kind)


def propose_members(
    types: Mapping[str, Any], kind: str, owner: str, given: Container[str]
) -> Iterator[Proposal]:
    """Yield missing arguments or input fields, required ones first."""
    left = [name for name in types if name not in given]
    for name in sorted(left, key=lambda name: not is_required_argument(types[name])):
        yield Proposal(name, kind, str(types[name].type), owner, types[name])


def propose_values(expected: GraphQLType | None) -> Iterator[Proposal]:
    """Yield the named values of an input type: enum values, true, false, null."""
    if expected is None:
        return
    named = get_named_type(expected)
    if isinstance(named, GraphQLEnumType):
        for name, value in named.values.items():
            yield Proposal(name, "enum value", named.name, named.name, value)
    elif isinstance(named, GraphQLScalarType) and named.name == "Boolean":
        yield from (Proposal(name, "value", "Boolean") for name in BOOLEAN)
    if not isinstance(expected, GraphQLNonNull):
        yield Proposal("null", "value", str(expected))


def propose_directives(
    schema: GraphQLSchema | None, location: DirectiveLocation
) -> Iterator[Proposal]:
    """Yield the directives that are allowed at a location."""
    for directive in schema.directives if schema is not None else ():
        if location in directive.locations:
            yield Proposal(directive.name, "directive", "", "", directive)


def format_input_value(name: str, definition: GraphQLArgument | GraphQLInputField) -> str:
    """Return an argument or input field as SDL."""
    try:
        # Both classes have the attributes that graphql-core reads here.
        return print_input_value(name, definition)  # type: ignore[arg-type]
    except (GraphQLError, TypeError, ValueError):  # a scalar's default value without a literal
        return f"{name}: {definition.type} = …"


# Possessive quantifiers (++) keep the time linear, whatever the text.
_TOKEN = re.compile(
    r"""
      (?P<skip>[\s,\ufeff]++)
    | (?P<comment>\#[^\n\r]*+)
    | (?P<name>[A-Za-z_][A-Za-z0-9_]*+)
    | (?P<string>"{3}(?:[^"\\]|\\"{3}|\\|"(?!""))*+(?:"{3})?+ | "(?:\\.|[^"\\\n\r])*+"?+)
    | (?P<number>-?\d[\w.+-]*+)
    | (?P<mark>\.\.\.|[!$&()|:=@\[\]{}])
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)


class SourceToken(NamedTuple):
    """A token of a text.

    Attributes
    ----------
    kind
        ``"name"``, ``"mark"`` (punctuation), ``"string"``, ``"number"``, ``"comment"`` or
        ``"other"`` (characters that are not GraphQL).
    text
        The characters of the token.
    start, end
        Its range in the text, in characters.
    """

    kind: str
    text: str
    start: int
    end: int

    def has_cursor_inside(self, offset: int) -> bool:
        """Return whether the cursor at `offset` is inside a comment or string."""
        if self.kind == "comment":
            return self.start < offset <= self.end
        if self.kind != "string":
            return False
        quote = self.text[:3] if self.text.startswith('"""') else '"'
        closed = len(self.text) >= 2 * len(quote) and self.text.endswith(quote)
        return self.start < offset < self.end + (not closed)


def tokenize(text: str) -> list[SourceToken]:
    """Split any text into tokens, without white space and commas."""
    return [
        SourceToken(str(match.lastgroup), match[0], *match.span())
        for match in _TOKEN.finditer(text)
        if match.lastgroup != "skip"
    ]


class DeclaredVariable(NamedTuple):
    """The type of a variable as text, and whether it has a default value."""

    type: str
    defaulted: bool


def find_definitions(
    tokens: list[SourceToken],
) -> tuple[dict[str, str], dict[str, DeclaredVariable]]:
    """Return the type conditions of fragments, and the variables of all operations, by name."""
    words = [token.text for token in tokens if token.kind != "comment"]
    fragments = {
        words[place + 1]: words[place + 3]
        for place, word in enumerate(words[:-3])
        if word == "fragment" and words[place + 2] == "on"
    }
    return fragments, find_variables(words)


def find_variables(words: list[str]) -> dict[str, DeclaredVariable]:
    """Return the variables that are defined in a list of words, by name."""
    return {
        words[place + 1]: _read_variable(words[place + 3 :])
        for place, word in enumerate(words[:-3])
        if word == "$" and words[place + 2] == ":"
    }


def _read_variable(words: list[str]) -> DeclaredVariable:
    of_type = [*takewhile(_is_type_token, words)]
    default = words[len(of_type) : len(of_type) + 2]
    return DeclaredVariable("".join(of_type), default[:1] == ["="] and default[1:] != ["null"])


def _read_type(words: list[str]) -> str:
    """Return the type of a variable as far as its definition is written."""
    return _read_variable(words[3:]).type if words[:1] == ["$"] else ""


def _is_type_token(word: str) -> bool:
    return word in ("[", "]", "!") or word[0].isalpha() or word[0] == "_"


KEYWORDS = ("query", "mutation", "subscription", "fragment")
_OPENING = ("(", "[", "{")
_CLOSING = (")", "]", "}")


class CursorPlace(NamedTuple):
    """The place of the cursor in a document.

    Attributes
    ----------
    proposals
        The names that may come next.
    in_fields
        Whether it is between the fields of a selection set.
    parent
        The type of that selection set, None if it is unknown.
    """

    proposals: Iterator[Proposal]
    in_fields: bool = False
    parent: GraphQLNamedType | None = None


class _CursorReachedError(Exception):
    """The tokens before the cursor are read."""

    def __init__(self, place: CursorPlace) -> None:
        self.place = place


class _Members(NamedTuple):
    """What a list of arguments or an input object may contain.

    Attributes
    ----------
    kind
        ``"argument"`` or ``"input field"``.
    types
        The definitions of the members by name.
    owner
        The name of the field, directive or type that they belong to.
    is_one_of
        Whether it is an object with exactly one field, which is not null.
    """

    kind: str
    types: Mapping[str, Any]
    owner: str
    is_one_of: bool = False

    def get_type(self, name: str) -> Expected:
        """Return the type of the value of a member."""
        declared: Expected = getattr(self.types.get(name), "type", None)
        if not self.is_one_of or declared is None:
            return declared
        return GraphQLNonNull(_get_nullable(declared))  # type: ignore[type-var] # it is nullable


# A cell that is being written is not a valid document, so completion does not parse it. The methods
# read the tokens up to the cursor as the grammar nests them. Nothing is rejected: a token that fits
# nowhere is skipped, and a missing closing bracket is assumed before a token that cannot be inside
# the bracket, which is then read again outside of it.
class CursorParser:
    """Reads the tokens before a cursor, and proposes the next name.

    Parameters
    ----------
    schema
        The schema, None if it is unknown.
    fragments
        The type conditions of the fragments of the whole text, by name.
    all_variables
        The variables of all operations.
    tokens
        The tokens of the whole text.
    start
        The position of the cursor, in characters.
    """

    def __init__(
        self,
        schema: GraphQLSchema | None,
        fragments: Mapping[str, str],
        all_variables: Mapping[str, DeclaredVariable],
        tokens: Iterable[SourceToken],
        start: int,
    ) -> None:
        self._schema, self._fragments, self._all_variables = schema, fragments, all_variables
        self._tokens = [it for it in tokens if it.end <= start and it.kind != "comment"]
        self._ahead = [it for it in tokens if it.start > start]
        self._at = 0
        self._variables: dict[str, DeclaredVariable] = {}  # of the current operation
        self._fragment = ""  # the name of the fragment around the cursor
        self._is_constant = False  # whether variables are not allowed

    def find_place(self) -> CursorPlace:
        """Return the place of the cursor."""
        try:
            while True:
                self._read_definition()
        except _CursorReachedError as reached:
            return reached.place
        except RecursionError:  # hundreds of brackets are open
            return CursorPlace(iter(()))

    def _read(
        self,
        proposals: Iterator[Proposal],
        parent: GraphQLNamedType | None = None,
        *,
        in_fields: bool = False,
    ) -> tuple[str, str]:
        """Return the kind and the text of the next token, before which names may be proposed."""
        if self._at == len(self._tokens):
            raise _CursorReachedError(CursorPlace(proposals, in_fields, parent))
        self._at += 1
        return self._tokens[self._at - 1][:2]

    def _read_name(self, proposals: Iterator[Proposal]) -> str:
        """Read the next name, which may be one of these; "" before a token that ends its place."""
        kind = text = ""
        while kind != "name" and text not in ("{", "}", "(", ")", "@", "...", ":", "$", "="):
            kind, text = self._read(proposals)
        if kind == "name":
            return text
        self._at -= 1
        return ""

    # -- definitions

    def _read_definition(self) -> None:
        _, text = self._read(self._propose_keywords())
        if text == "@":
            self._read_directive(DirectiveLocation.QUERY)
        elif text == "(":
            self._read_variable_definitions()
        elif text == "{":
            self._at -= 1
            self._read_head("query")
        elif text in KEYWORDS:
            self._read_head(text)

    def _propose_keywords(self) -> Iterator[Proposal]:
        schema = self._schema
        for word in KEYWORDS:
            if schema is None or getattr(schema, f"{word}_type", self) is not None:
                yield Proposal(word, "keyword")

    def _read_head(self, word: str) -> None:
        """Read a definition behind its keyword, up to its end or the next keyword."""
        self._variables, self._fragment = {}, ""
        parent, before = getattr(self._schema, f"{word}_type", None), ""
        place = "FRAGMENT_DEFINITION" if word == "fragment" else word.upper()
        while True:
            proposals = iter([Proposal("on", "keyword")] if before == "fragment" else ())
            kind, text = self._read(proposals)
            if text == "{":
                self._read_selection_set(parent)
                return
            if text in KEYWORDS and before:
                self._at -= 1
                return
            if text == "@":
                self._read_directive(DirectiveLocation[place])
                before = text
            elif text == "(":
                self._read_variable_definitions()
            elif text == "on" and word == "fragment":
                parent, before = self._read_condition(None), text
            elif kind == "name":
                before, self._fragment = word, text if word == "fragment" else ""

    def _read_condition(self, parent: GraphQLNamedType | None) -> GraphQLNamedType | None:
        """Read the type behind ``on``; without one return the type around it."""
        name = self._read_name(propose_type_conditions(self._schema, parent))
        if name in KEYWORDS:
            self._at -= 1
            return parent
        return self._find_type(name) if name else parent

    def _read_variable_definitions(self) -> None:
        self._variables, self._is_constant = {}, True
        words: list[str] = []  # of the last definition
        before = ""
        while True:
            _, text = self._read(self._propose_in_definitions(words, before))
            if text == ")" or (text == "{" and before != "="):
                self._at -= int(text == "{")
                self._is_constant = False
                return
            words = ["$"] if text == "$" else [*words, text]
            self._variables |= find_variables(words)
            if text in ("$", ":", "="):
                before = text
            elif text == "@":
                self._read_directive(DirectiveLocation.VARIABLE_DEFINITION)
                before = text
            elif before == "=":
                self._read_value(text, self._parse_type(_read_type(words)))
                before = ""

    def _propose_in_definitions(self, words: list[str], before: str) -> Iterator[Proposal]:
        of_type = _read_type(words)
        if before == ":" and not of_type.strip("["):
            yield from propose_types(self._schema, is_input_type)
        elif before == "=":
            yield from propose_values(self._parse_type(of_type))

    # -- selection sets

    def _read_selection_set(self, parent: GraphQLNamedType | None) -> bool:
        """Read a selection set; return whether the keyword of a definition comes in its place."""
        schema = self._schema
        known = collect_fields(schema, parent) if schema and parent else {}
        name, field, location = "", None, DirectiveLocation.FIELD
        inner: GraphQLNamedType | None = None  # the parent type of a nested selection set
        while True:
            proposals = (
                Proposal(each, "field", str(it.type), str(parent), it) for each, it in known.items()
            )
            kind, text = self._read(proposals, parent, in_fields=True)
            if text == "}":
                return False
            if text == "{":
                below, inner = inner, None
                if self._read_selection_set(below):
                    return True
            elif text == "@":
                self._read_directive(location)
            elif text == "(":
                owner = f"{parent}.{name}" if parent else name
                self._read_members(_Members("argument", field.args if field else {}, owner))
            elif text == "...":
                inner, location = self._read_spread(parent)
            elif text in KEYWORDS and text not in known and known:
                self._at -= 1  # the closing brace of the definition before is missing
                return True
            elif kind == "name":
                name, field, location = text, known.get(text), DirectiveLocation.FIELD
                inner = get_named_type(field.type) if field else None

    def _read_spread(
        self, parent: GraphQLNamedType | None
    ) -> tuple[GraphQLNamedType | None, DirectiveLocation]:
        """Read a spread behind its dots; return the type of a selection set, and its place."""
        name = self._read_name(self._propose_fragments(parent))
        if name not in ("", "on"):
            return parent, DirectiveLocation.FRAGMENT_SPREAD
        inner = self._read_condition(parent) if name else parent
        return inner, DirectiveLocation.INLINE_FRAGMENT

    def _propose_fragments(self, parent: GraphQLNamedType | None) -> Iterator[Proposal]:
        for name, condition in self._fragments.items():
            if name != self._fragment and self._can_spread(parent, self._find_type(condition)):
                yield Proposal(name, "fragment", f"on {condition}")
        yield Proposal("on", "keyword")

    def _can_spread(
        self, parent: GraphQLNamedType | None, condition: GraphQLNamedType | None
    ) -> bool:
        if self._schema is None or parent is None or condition is None:
            return True
        return do_types_overlap(self._schema, parent, condition)  # type: ignore[arg-type]

    def _read_directive(self, location: DirectiveLocation) -> None:
        """Read a directive behind its ``@``."""
        name = self._read_name(propose_directives(self._schema, location))
        if name and [token.text for token in self._tokens[self._at : self._at + 1]] == ["("]:
            self._at += 1
            directive = self._schema.get_directive(name) if self._schema is not None else None
            arguments = directive.args if directive else {}
            self._read_members(_Members("argument", arguments, f"@{name}"))

    # -- values

    def _read_members(self, members: _Members) -> None:
        """Read arguments, or the fields of an input object."""
        is_object = members.kind == "input field"
        closing, outer = ("}", ("{", ")", "]")) if is_object else (")", ("{", "}"))
        given: list[str] = []
        last = before = ""  # the last name is a member if a colon follows
        while True:
            kind, text = self._read(self._propose_members(members, given, before))
            if text == closing:
                return
            if text in (":", "$"):
                given += [last] if text == ":" else []
                before = text
            elif before == ":" and text in ("[", "{"):
                self._read_value(text, members.get_type(given[-1]))
                before = ""
            elif text in outer:
                self._at -= 1
                return
            elif kind != "mark":
                before, last = "", text

    def _propose_members(
        self, members: _Members, given: list[str], before: str
    ) -> Iterator[Proposal]:
        """Yield missing members; after a colon values; no second field of a oneOf object."""
        behind = list(_find_following_names(self._ahead))
        if before:
            name = given[-1] if given else ""
            member = members.types.get(name)
            required = member is not None and (members.is_one_of or is_required_argument(member))
            expected = members.get_type(name)
            yield from self._propose_values(expected, before, defaulted=not required)
        elif not (members.is_one_of and (given or any(behind))):
            yield from propose_members(
                members.types, members.kind, members.owner, {*given, *behind}
            )

    def _read_value(self, text: str, expected: Expected) -> None:
        """Read a list or an object, of which `text` is the opening bracket; nothing otherwise."""
        if text == "{":
            self._read_members(_find_input_fields(expected))
        elif text == "[":
            inner = _get_nullable(expected)
            # A value of another type is coerced to a list of one item.
            self._read_list(inner.of_type if is_list_type(inner) else inner)

    def _read_list(self, item: Expected) -> None:
        text = ""
        while True:
            _, text = self._read(self._propose_values(item, text))
            if text == "]":
                return
            if text in (")", "}"):
                self._at -= 1
                return
            self._read_value(text, item)

    def _propose_values(
        self, expected: Expected, before: str, *, defaulted: bool = False
    ) -> Iterator[Proposal]:
        """Yield the named values of a type, and variables, with ``$`` unless it is typed."""
        # If there is a default value to replace null, a nullable variable fits too.
        usable = self._propose_variables(_get_nullable(expected) if defaulted else expected)
        if before == "$":
            yield from usable
            return
        yield from propose_values(expected)
        for variable in usable:
            yield Proposal(f"${variable.name}", variable.kind, variable.detail)

    def _propose_variables(self, expected: Expected) -> Iterator[Proposal]:
        # A fragment may use the variables of all operations that spread it.
        if not self._is_constant:
            for name, variable in (
                self._all_variables if self._fragment else self._variables
            ).items():
                if expected is None or self._can_use(variable, expected):
                    yield Proposal(name, "variable", variable.type)

    def _can_use(self, variable: DeclaredVariable, expected: Expected) -> bool:
        declared = self._parse_type(variable.type)
        required = _get_nullable(expected) if variable.defaulted else expected
        if self._schema is None or declared is None or required is None:
            return False
        return is_type_sub_type_of(self._schema, declared, required)

    def _parse_type(self, text: str) -> Expected:
        """Parse a type such as ``[Int!]``; None if it is not valid."""
        try:
            return type_from_ast(self._schema, parse_type(text)) if self._schema and text else None
        except GraphQLError:
            return None

    def _find_type(self, name: str) -> GraphQLNamedType | None:
        return self._schema.type_map.get(name) if self._schema is not None else None


def _get_nullable(expected: Expected) -> Expected:
    return expected.of_type if isinstance(expected, GraphQLNonNull) else expected


def _find_input_fields(expected: Expected) -> _Members:
    """Return the fields of an input object type."""
    named = get_named_type(expected)
    if not is_input_object_type(named):
        return _Members("input field", {}, "")
    is_one_of = bool(getattr(named, "is_one_of", False))
    return _Members("input field", named.fields, named.name, is_one_of)


def _find_following_names(ahead: Sequence[SourceToken]) -> Iterator[str]:
    """Yield the members behind the cursor, up to the closing bracket."""
    depth, last = 0, ""
    for token in ahead:
        if token.text in _OPENING:
            if token.text != "[" and last != ":" and not depth:
                return  # the closing bracket is missing: this is a selection set
            depth += 1
        elif token.text in _CLOSING:
            depth -= 1
            if depth < 0:
                return
        elif token.text == ":" and not depth:
            yield last
        last = token.text
