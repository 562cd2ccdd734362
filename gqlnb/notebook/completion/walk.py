"""The way from the beginning of a text to the cursor, as the things that are open there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from graphql import (
    GraphQLError,
    get_nullable_type,
    is_type_sub_type_of,
    parse_type,
    type_from_ast,
)

from gqlnb.notebook.completion.proposal import Proposal

if TYPE_CHECKING:
    from graphql import GraphQLNamedType, GraphQLSchema

    from gqlnb.notebook.completion.tokens import Token

__all__ = ["Level", "Walk", "defined"]


class Walk:
    """Reads tokens one by one and knows what may come next.

    Nothing is refused: a token that fits nowhere is passed over, a bracket that was never closed
    is closed where something begins that can't stand inside it.

    Parameters
    ----------
    schema
        The schema, None where it is not known.
    document
        What the whole text defines.
    ahead
        The tokens behind the cursor.
    """

    def __init__(
        self, schema: GraphQLSchema | None, document: Defined, ahead: Sequence[Token] = ()
    ) -> None:
        self.schema = schema
        self.fragments = document.fragments
        self.ahead = ahead
        self._all = document.variables
        self.variables: dict[str, Variable] = {}  # of the operation that is being read
        self.fragment = ""  # the name of the fragment that is being defined
        self.open: list[Level] = []  # from the document to what the cursor is in

    def read(self, found: Iterable[Token]) -> None:
        """Read the tokens before the cursor."""
        for token in found:
            if token.kind != "comment":
                self.open[-1].take(token.kind, token.text)

    def proposals(self) -> Iterator[Proposal]:
        """Yield what may stand after the tokens that were read."""
        return self.open[-1].proposals()

    def enter(self, level: Level) -> None:
        """Go into something that was opened."""
        self.open.append(level)

    def leave(self, *kinds: type[Level]) -> None:
        """Close the innermost open thing of one of these kinds, and all inside it."""
        for depth in range(len(self.open) - 1, 0, -1):
            if isinstance(self.open[depth], kinds):
                del self.open[depth:]
                return

    def restart(self, word: str) -> None:
        """Begin a new definition, whatever is open."""
        del self.open[1:]
        self.open[0].take("name", word)

    def type_named(self, name: str) -> GraphQLNamedType | None:
        """Return a type of the schema."""
        return self.schema.type_map.get(name) if self.schema is not None else None

    def usable(self, expected: Any) -> Iterator[Proposal]:
        """Yield the variables that fit a type."""
        # A fragment may use what the operations define that spread it, wherever they stand.
        if any(level.constant for level in self.open):
            return
        known = self._all if self.fragment else self.variables
        for name, variable in known.items():
            if expected is None or self._fits(variable, expected):
                yield Proposal(name, "variable", variable.type)

    def _fits(self, variable: Variable, expected: Any) -> bool:
        found = self.type_written(variable.type)
        wanted = get_nullable_type(expected) if variable.defaulted else expected
        known = self.schema is not None and found is not None
        return known and is_type_sub_type_of(self.schema, found, wanted)  # type: ignore[arg-type]

    def type_written(self, text: str) -> Any:
        """Return the type that a text such as ``[Int!]`` means; None if it means none."""
        try:
            return type_from_ast(self.schema, parse_type(text)) if self.schema and text else None
        except GraphQLError:
            return None


class Level:
    """Something that is open: it takes tokens until it is closed."""

    constant = False  # whether no variable may stand in it

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self.after = ""  # the last thing that says what comes next

    def take(self, kind: str, text: str) -> None:
        """Read a token."""
        raise NotImplementedError

    def proposals(self) -> Iterator[Proposal]:
        """Yield what may come next."""
        raise NotImplementedError


class Variable(NamedTuple):
    """A variable: its type as it is written, and whether it has a default value."""

    type: str = ""
    defaulted: bool = False


class Defined(NamedTuple):
    """What a text defines, however broken it is.

    Attributes
    ----------
    fragments
        The type conditions of fragments, by name.
    variables
        The variables of all operations, by name.
    """

    fragments: dict[str, str]
    variables: dict[str, Variable]


def defined(found: list[Token]) -> Defined:
    """Return what tokens define."""
    words = [token.text for token in found if token.kind != "comment"]
    fragments = {
        words[place + 1]: words[place + 3]
        for place, word in enumerate(words[:-3])
        if word == "fragment" and words[place + 2] == "on"
    }
    variables = {
        words[place + 1]: _variable(words[place + 3 :])
        for place, word in enumerate(words[:-3])
        if word == "$" and words[place + 2] == ":"
    }
    return Defined(fragments, variables)


def _variable(words: list[str]) -> Variable:
    of_type = [*takewhile(_of_a_type, words)]
    default = words[len(of_type) : len(of_type) + 2]
    return Variable("".join(of_type), default[:1] == ["="] and default[1:] != ["null"])


def _of_a_type(word: str) -> bool:
    return word in ("[", "]", "!") or word[0].isalpha() or word[0] == "_"
