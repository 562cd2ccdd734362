"""A tolerant GraphQL parser that reads up to the cursor and proposes the next name.

graphql-core's lexer and parser refuse incomplete text, so this module has its own: a tokenizer that
accepts any text, and a stack of states, one for each open bracket. A proposal is a name of the
schema with its definition.
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
    from graphql import GraphQLField

    Expected: TypeAlias = GraphQLType | None  # the type of a value at the cursor
    Members: TypeAlias = Mapping[str, GraphQLArgument | GraphQLInputField]


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
) -> list[Proposal]:
    """Return the possible type conditions in a selection set on `parent`."""
    kinds = propose_types(schema, is_composite_type)
    if schema is None or not is_composite_type(parent):
        return kinds
    return [kind for kind in kinds if do_types_overlap(schema, parent, kind.thing)]


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


# A cell that is being written is not a valid document, so completion does not parse it. Tokens up
# to the cursor open and close levels, each of which knows what may follow. Nothing is rejected; a
# missing bracket is closed where a token cannot belong to the open level.
# The parser accepts all tokens: one that fits nowhere is skipped, and a missing closing bracket is
# assumed before a token that cannot be inside the bracket.
@dataclass(eq=False)
class CursorParser:
    """Reads tokens one by one and proposes the next name.

    Parameters
    ----------
    schema
        The schema, None if it is unknown.
    fragments
        The type conditions of the fragments of the whole text, by name.
    all_variables
        The variables of all operations.
    ahead
        The tokens behind the cursor.
    """

    schema: GraphQLSchema | None
    fragments: Mapping[str, str]
    all_variables: Mapping[str, DeclaredVariable]
    ahead: Sequence[SourceToken]

    def __post_init__(self) -> None:
        self.variables: dict[str, DeclaredVariable] = {}  # of the current operation
        self.fragment = ""  # the name of the fragment around the cursor
        self.stack: list[ParserState] = [DocumentState(self)]  # the open levels

    def enter(self, level: ParserState) -> None:
        """Open a level."""
        self.stack.append(level)

    def leave(self, *kinds: type[ParserState]) -> None:
        """Close the innermost level of one of these kinds, and all levels inside it."""
        for depth in range(len(self.stack) - 1, 0, -1):
            if isinstance(self.stack[depth], kinds):
                del self.stack[depth:]
                return

    def restart(self, word: str) -> None:
        """Close all levels and start a new definition."""
        # The document itself stays open.
        del self.stack[1:]
        self.stack[0].read_token("name", word)

    def find_type(self, name: str) -> GraphQLNamedType | None:
        """Return a type of the schema, None if it is unknown."""
        return self.schema.type_map.get(name) if self.schema is not None else None

    def propose_variables(self, expected: Expected) -> Iterator[Proposal]:
        """Yield the variables that fit a type."""
        # A fragment may use the variables of all operations that spread it.
        if any(level.constant for level in self.stack):
            return
        usable = self.all_variables if self.fragment else self.variables
        for name, variable in usable.items():
            if expected is None or self._can_use(variable, expected):
                yield Proposal(name, "variable", variable.type)

    def _can_use(self, variable: DeclaredVariable, expected: Expected) -> bool:
        declared = self.parse_type_text(variable.type)
        required = _get_nullable(expected) if variable.defaulted else expected
        if self.schema is None or declared is None or required is None:
            return False
        return is_type_sub_type_of(self.schema, declared, required)

    def parse_type_text(self, text: str) -> Expected:
        """Parse a type such as ``[Int!]``; None if it is not valid."""
        try:
            return type_from_ast(self.schema, parse_type(text)) if self.schema and text else None
        except GraphQLError:
            return None


class ParserState:
    """The state of an open level: it reads tokens until it is closed."""

    constant = False  # whether variables are not allowed

    def __init__(self, parser: CursorParser) -> None:
        self.parser = parser
        self.after = ""  # the last token that determines the next one

    def read_token(self, kind: str, text: str) -> None:
        """Read a token."""
        raise NotImplementedError

    def propose(self) -> Iterator[Proposal]:
        """Yield the names that may come next."""
        raise NotImplementedError


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


def _is_type_token(word: str) -> bool:
    return word in ("[", "]", "!") or word[0].isalpha() or word[0] == "_"


_OPENING = ("(", "[", "{")
_CLOSING = (")", "]", "}")


class ValueState(ParserState):
    """A level that contains values."""

    def read_value_start(self, text: str, expected: Expected) -> bool:
        """Read the start of a list or object; return False for another token."""
        if text == "[":
            inner = _get_nullable(expected)
            # A value of another type is coerced to a list of one item.
            item = inner.of_type if is_list_type(inner) else inner
            self.parser.enter(_ListState(self.parser, item))
        elif text == "{":
            types, owner, one = _get_input_fields(expected)
            self.parser.enter(_InputObjectState(self.parser, types, owner, one=one))
        else:
            return False
        return True

    def propose_for_type(
        self, expected: Expected, *, defaulted: bool = False
    ) -> Iterator[Proposal]:
        """Yield the named values of a type, and variables, with ``$`` unless it is typed."""
        # If there is a default value to replace null, a nullable variable fits too.
        accepted = _get_nullable(expected) if defaulted else expected
        usable = self.parser.propose_variables(accepted)
        if self.after == "$":
            yield from usable
            return
        yield from propose_values(expected)
        for variable in usable:
            yield Proposal(f"${variable.name}", variable.kind, variable.detail)


class _MembersState(ValueState):
    """Names with values: arguments, or the fields of an input object.

    Parameters
    ----------
    types
        The definitions of the members by name.
    owner
        The name of the field, directive or type that they belong to.
    """

    kind = "argument"
    closing = ")"
    outer: tuple[str, ...] = ("{", "}")  # come where the closing bracket is missing
    is_one_of = False

    def __init__(self, parser: CursorParser, types: Members, owner: str) -> None:
        super().__init__(parser)
        self.types = types
        self.owner = owner
        self.given: list[str] = []
        self.last = ""  # the last name, which is a member if a colon follows

    def read_token(self, kind: str, text: str) -> None:
        if text == self.closing:
            self.parser.leave(type(self))
        elif text == ":":
            self.given.append(self.last)
            self.after = ":"
        elif text == "$":
            self.after = "$"
        elif self.after == ":" and self.read_value_start(text, self.expected):
            self.after = ""
        elif text in self.outer:
            self.parser.leave(type(self))
            self.parser.stack[-1].read_token(kind, text)
        elif kind != "mark":
            self.after, self.last = "", text

    @property
    def member(self) -> GraphQLArgument | GraphQLInputField | None:
        return self.types.get(self.given[-1]) if self.given else None

    @property
    def expected(self) -> Expected:
        """The type of its value."""
        return getattr(self.member, "type", None)

    def propose(self) -> Iterator[Proposal]:
        """Yield missing members; after a colon values."""
        if self.after in (":", "$"):
            member = self.member
            # An input field has the attributes of an argument that graphql-core reads here.
            required = member is not None and (
                self.is_one_of or is_required_argument(member)  # type: ignore[arg-type]
            )
            yield from self.propose_for_type(self.expected, defaulted=not required)
        else:
            given = {*self.given, *_find_following_names(self.parser.ahead)}
            yield from propose_members(self.types, self.kind, self.owner, given)


class ArgumentsState(_MembersState):
    """The arguments of a field or directive."""


class _InputObjectState(_MembersState):
    """A value of an input object type."""

    kind = "input field"
    closing, outer = "}", ("{", ")", "]")

    def __init__(
        self, parser: CursorParser, types: Members, owner: str, *, one: bool = False
    ) -> None:
        super().__init__(parser, types, owner)
        self.is_one_of = one  # a oneOf object has exactly one field, which is not null

    @property
    def expected(self) -> Expected:
        """The type of the value of the last field."""
        declared = super().expected
        if not self.is_one_of or declared is None or isinstance(declared, GraphQLNonNull):
            return declared
        return GraphQLNonNull(declared)  # type: ignore[type-var] # a nullable type

    def propose(self) -> Iterator[Proposal]:
        """Yield fields or values; no second field of a oneOf object."""
        valued = self.after in (":", "$")
        if valued or not (
            self.is_one_of and (self.given or any(_find_following_names(self.parser.ahead)))
        ):
            yield from super().propose()


class _ListState(ValueState):
    """A list of values of one type."""

    def __init__(self, parser: CursorParser, item: Expected) -> None:
        super().__init__(parser)
        self.item = item

    def read_token(self, kind: str, text: str) -> None:
        self.after = ""
        if text == "]":
            self.parser.leave(_ListState)
        elif text == "$":
            self.after = "$"
        elif text in (")", "}"):  # the closing bracket is missing
            self.parser.leave(_ListState)
            self.parser.stack[-1].read_token(kind, text)
        else:
            self.read_value_start(text, self.item)

    def propose(self) -> Iterator[Proposal]:
        return self.propose_for_type(self.item)


def _get_nullable(expected: Expected) -> Expected:
    return expected.of_type if isinstance(expected, GraphQLNonNull) else expected


def _get_input_fields(expected: Expected) -> tuple[Members, str, bool]:
    """Return fields and name of an input object, and whether it is a oneOf."""
    named = get_named_type(expected)
    if not is_input_object_type(named):
        return {}, "", False
    return named.fields, named.name, bool(getattr(named, "is_one_of", False))


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


KEYWORDS = ("query", "mutation", "subscription", "fragment")
INLINE = DirectiveLocation.INLINE_FRAGMENT


class DirectiveState(ParserState):
    """A level that may contain directives."""

    location = DirectiveLocation.QUERY

    def read_directive_token(self, kind: str, text: str) -> bool:
        """Read a token of a directive; return False for another token."""
        if text == "@":
            self.after = "@"
        elif self.after == "@" and kind == "name":
            self.after = f"@{text}"
        elif self.after.startswith("@") and text == "(":
            schema = self.parser.schema
            directive = schema.get_directive(self.after[1:]) if schema is not None else None
            arguments = directive.args if directive else {}
            self.parser.enter(ArgumentsState(self.parser, arguments, self.after))
        else:
            return False
        return True


class DocumentState(DirectiveState):
    """The document with its definitions."""

    def __init__(self, parser: CursorParser) -> None:
        super().__init__(parser)
        self.word = ""  # query, mutation, subscription or fragment
        self.type: GraphQLNamedType | None = None
        self._reset()

    def _reset(self) -> None:
        self.word = self.after = ""
        schema = self.parser.schema
        self.type = schema.query_type if schema is not None else None

    def read_token(self, kind: str, text: str) -> None:
        """Read a token between definitions, or before a selection set."""
        if text == "{":
            if not self.word:
                self._begin_definition("query")
            level = SelectionSetState(self.parser, self.type)
            self._reset()
            self.parser.enter(level)
        elif self.read_directive_token(kind, text):
            return
        elif text == "(":
            self.parser.enter(_VariableDefinitionsState(self.parser))
        elif kind == "name":
            self._read_name(text)

    def _read_name(self, text: str) -> None:
        if text in KEYWORDS and not (self.word and self.after == "word"):
            self._begin_definition(text)
        elif self.word == "fragment" and self.after == "on":
            self.type, self.after = self.parser.find_type(text), "type"
        elif self.word == "fragment" and text == "on":
            self.after = "on"
        elif self.word:
            self.after = "name"
            self.parser.fragment = text if self.word == "fragment" else ""

    def _begin_definition(self, text: str) -> None:
        self.word, self.after = text, "word"
        self.parser.variables, self.parser.fragment = {}, ""
        schema = self.parser.schema
        self.type = getattr(schema, f"{text}_type", None)
        self.location = DirectiveLocation[
            "FRAGMENT_DEFINITION" if text == "fragment" else text.upper()
        ]

    def propose(self) -> Iterator[Proposal]:
        """Yield keywords; after ``on`` types, after ``@`` directives."""
        if self.after == "@":
            yield from propose_directives(self.parser.schema, self.location)
        elif self.after == "on":
            yield from propose_type_conditions(self.parser.schema, None)
        elif self.word == "fragment" and self.after == "name":
            yield Proposal("on", "keyword")
        elif not self.word:
            schema = self.parser.schema
            for word in KEYWORDS:
                if schema is None or getattr(schema, f"{word}_type", self) is not None:
                    yield Proposal(word, "keyword")


class SelectionSetState(DirectiveState):
    """A selection set with fields and spreads."""

    location = DirectiveLocation.FIELD

    def __init__(self, parser: CursorParser, parent: GraphQLNamedType | None) -> None:
        super().__init__(parser)
        self.parent = parent
        self.known = collect_fields(parser.schema, parent) if parser.schema and parent else {}
        self.field: GraphQLField | None = None
        self.name = ""
        self.inner: GraphQLNamedType | None = None  # the parent type of a nested selection set

    def read_token(self, kind: str, text: str) -> None:
        """Read one token of a field, its alias or a spread."""
        if text == "}":
            self.parser.leave(SelectionSetState)
        elif text == "{":
            inner, self.after = self.inner, ""
            self.inner = None
            self.parser.enter(SelectionSetState(self.parser, inner))
        elif self.read_directive_token(kind, text):
            return
        elif text == "(":
            owner = f"{self.parent}.{self.name}" if self.parent else self.name
            arguments = self.field.args if self.field else {}
            self.parser.enter(ArgumentsState(self.parser, arguments, owner))
        elif text == "...":
            self.after, self.inner, self.location = text, self.parent, INLINE
        elif text == ":":
            self.after = ":"
        elif kind == "name":
            self._read_name(text)

    def _read_name(self, text: str) -> None:
        if self.after == "...":
            self.after = "on" if text == "on" else "spread"
            self.location = INLINE if text == "on" else DirectiveLocation.FRAGMENT_SPREAD
        elif self.after == "on":
            self.inner, self.after = self.parser.find_type(text), "type"
        elif text in KEYWORDS and text not in self.known and self.known:
            self.parser.restart(text)  # the closing brace of the definition before is missing
        else:
            self.after, self.name = "field", text
            self.field = self.known.get(text)
            self.inner = get_named_type(self.field.type) if self.field else None
            self.location = DirectiveLocation.FIELD

    def propose(self) -> Iterator[Proposal]:
        """Yield fields; after ``...`` fragments, after ``on`` types, after ``@`` directives."""
        if self.after == "@":
            yield from propose_directives(self.parser.schema, self.location)
        elif self.after == "on":
            yield from propose_type_conditions(self.parser.schema, self.parent)
        elif self.after == "...":
            yield from self._propose_fragments()
        else:
            for name, field in self.known.items():
                yield Proposal(name, "field", str(field.type), str(self.parent), field)

    def _propose_fragments(self) -> Iterator[Proposal]:
        for name, condition in self.parser.fragments.items():
            if name != self.parser.fragment and self._can_spread(self.parser.find_type(condition)):
                yield Proposal(name, "fragment", f"on {condition}")
        yield Proposal("on", "keyword")

    def _can_spread(self, condition: GraphQLNamedType | None) -> bool:
        schema = self.parser.schema
        if schema is None or self.parent is None or condition is None:
            return True
        return do_types_overlap(schema, self.parent, condition)  # type: ignore[arg-type]


class _VariableDefinitionsState(ValueState, DirectiveState):
    """The definitions of an operation's variables."""

    location = DirectiveLocation.VARIABLE_DEFINITION
    constant = True

    def __init__(self, parser: CursorParser) -> None:
        super().__init__(parser)
        self.words: list[str] = []  # of the last definition
        parser.variables = {}

    def read_token(self, kind: str, text: str) -> None:
        """Read one token of a definition."""
        if text == ")":
            self.parser.leave(_VariableDefinitionsState)
        elif text == "{" and self.after != "=":  # the closing bracket is missing
            self.parser.leave(_VariableDefinitionsState)
            self.parser.stack[-1].read_token(kind, text)
        else:
            self.words = ["$"] if text == "$" else [*self.words, text]
            self.parser.variables |= find_variables(self.words)
            if text in ("$", ":", "="):
                self.after = text
            elif self.after == "=" and text != "@":
                self.read_value_start(text, self._get_type())
                self.after = "value"
            elif not self.read_directive_token(kind, text) and self.after == "$":
                self.after = "name"

    def _read_type(self) -> str:
        """Return the type of the last variable as far as it is written."""
        return _read_variable(self.words[3:]).type if self.words[:1] == ["$"] else ""

    def _get_type(self) -> Expected:
        return self.parser.parse_type_text(self._read_type())

    def propose(self) -> Iterator[Proposal]:
        """Yield types after a colon, values after ``=``, directives after ``@``."""
        if self.after == "@":
            yield from propose_directives(self.parser.schema, self.location)
        elif self.after == ":" and not self._read_type().strip("["):
            yield from propose_types(self.parser.schema, is_input_type)
        elif self.after == "=":
            yield from propose_values(self._get_type())
