"""The document, its operations and fragments, and what is selected in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from graphql import DirectiveLocation, get_named_type
from graphql.utilities.type_comparators import do_types_overlap

from gqlnb.notebook.completion.inputs import Arguments, Valued
from gqlnb.notebook.completion.proposal import (
    Proposal,
    conditions,
    directives,
    fields,
    fields_of,
    inputs,
    values,
)
from gqlnb.notebook.completion.walk import Level, Variable, Walk

if TYPE_CHECKING:
    from graphql import GraphQLNamedType

__all__ = ["Top"]

KEYWORDS = ("query", "mutation", "subscription", "fragment")
INLINE = DirectiveLocation.INLINE_FRAGMENT


class Directed(Level):
    """A level in which directives may stand, and what they belong to."""

    location = DirectiveLocation.QUERY

    def directed(self, kind: str, text: str) -> bool:
        """Read a token of a directive; tell whether it was one."""
        if text == "@":
            self.after = "@"
        elif self.after == "@" and kind == "name":
            self.after = f"@{text}"
        elif self.after.startswith("@") and text == "(":
            self.walk.enter(Arguments(self.walk, *self._directive()))
        else:
            return False
        return True

    def _directive(self) -> tuple[Mapping[str, Any], str]:
        schema, name = self.walk.schema, self.after[1:]
        found = schema.get_directive(name) if schema is not None else None
        return (found.args if found else {}), self.after


class Top(Directed):
    """The document: definitions stand in it."""

    def __init__(self, walk: Walk) -> None:
        super().__init__(walk)
        self.word = ""  # query, mutation, subscription or fragment
        self.type: GraphQLNamedType | None = None
        self._reset()

    def _reset(self) -> None:
        self.word = self.after = ""
        schema = self.walk.schema
        self.type = schema.query_type if schema is not None else None

    def take(self, kind: str, text: str) -> None:
        """Read a token between definitions, or before a selection set."""
        if text == "{":
            if not self.word:
                self._begin("query")
            level = Selection(self.walk, self.type)
            self._reset()
            self.walk.enter(level)
        elif self.directed(kind, text):
            return
        elif text == "(":
            self.walk.enter(Definitions(self.walk))
        elif kind == "name":
            self._name(text)

    def _name(self, text: str) -> None:
        if text in KEYWORDS and not (self.word and self.after == "word"):
            self._begin(text)
        elif self.word == "fragment" and self.after == "on":
            self.type, self.after = self.walk.type_named(text), "type"
        elif self.word == "fragment" and text == "on":
            self.after = "on"
        elif self.word:
            self.after = "name"
            self.walk.fragment = text if self.word == "fragment" else ""

    def _begin(self, text: str) -> None:
        self.word, self.after = text, "word"
        self.walk.variables, self.walk.fragment = {}, ""
        schema = self.walk.schema
        self.type = getattr(schema, f"{text}_type", None)
        self.location = DirectiveLocation[
            "FRAGMENT_DEFINITION" if text == "fragment" else text.upper()
        ]

    def proposals(self) -> Iterator[Proposal]:
        """Yield keywords; after ``on`` types, after ``@`` directives."""
        if self.after == "@":
            yield from directives(self.walk.schema, self.location)
        elif self.after == "on":
            yield from conditions(self.walk.schema, None)
        elif self.word == "fragment" and self.after == "name":
            yield Proposal("on", "keyword")
        elif not self.word:
            yield from (Proposal(word, "keyword") for word in KEYWORDS if self._exists(word))

    def _exists(self, word: str) -> bool:
        schema = self.walk.schema
        return schema is None or getattr(schema, f"{word}_type", self) is not None


class Selection(Directed):
    """A selection set: fields and spreads stand in it."""

    location = DirectiveLocation.FIELD

    def __init__(self, walk: Walk, parent: GraphQLNamedType | None) -> None:
        super().__init__(walk)
        self.parent = parent
        self.known = fields_of(walk.schema, parent) if walk.schema and parent else {}
        self.field: Any = None
        self.name = ""
        self.inner: GraphQLNamedType | None = None  # what a selection set here selects from

    def take(self, kind: str, text: str) -> None:
        """Read a token of the selection set."""
        if text == "}":
            self.walk.leave(Selection)
        elif text == "{":
            inner, self.after = self.inner, ""
            self.inner = None
            self.walk.enter(Selection(self.walk, inner))
        elif self.directed(kind, text):
            return
        elif text == "(":
            self._arguments()
        elif text == "...":
            self.after, self.inner, self.location = text, self.parent, INLINE
        elif text == ":":
            self.after = ":"
        elif kind == "name":
            self._name(text)

    def _arguments(self) -> None:
        owner = f"{self.parent}.{self.name}" if self.parent else self.name
        self.walk.enter(Arguments(self.walk, self.field.args if self.field else {}, owner))

    def _name(self, text: str) -> None:
        if self.after == "...":
            self.after = "on" if text == "on" else "spread"
            self.location = INLINE if text == "on" else DirectiveLocation.FRAGMENT_SPREAD
        elif self.after == "on":
            self.inner, self.after = self.walk.type_named(text), "type"
        elif text in KEYWORDS and text not in self.known and self.known:
            self.walk.restart(text)  # the brace of the definition before was never closed
        else:
            self.after, self.name = "field", text
            self.field = self.known.get(text)
            self.inner = get_named_type(self.field.type) if self.field else None
            self.location = DirectiveLocation.FIELD

    def proposals(self) -> Iterator[Proposal]:
        """Yield fields; after ``...`` fragments, after ``on`` types, after ``@`` directives."""
        if self.after == "@":
            yield from directives(self.walk.schema, self.location)
        elif self.after == "on":
            yield from conditions(self.walk.schema, self.parent)
        elif self.after == "...":
            yield from self._fragments()
        else:
            yield from fields(self.walk.schema, self.parent)

    def _fragments(self) -> Iterator[Proposal]:
        for name, condition in self.walk.fragments.items():
            if name != self.walk.fragment and self._overlaps(self.walk.type_named(condition)):
                yield Proposal(name, "fragment", f"on {condition}")
        yield Proposal("on", "keyword")

    def _overlaps(self, condition: Any) -> bool:
        schema = self.walk.schema
        if schema is None or self.parent is None or condition is None:
            return True
        return do_types_overlap(schema, self.parent, condition)  # type: ignore[arg-type]


class Definitions(Valued, Directed):
    """The definitions of an operation's variables."""

    location = DirectiveLocation.VARIABLE_DEFINITION
    constant = True

    def __init__(self, walk: Walk) -> None:
        super().__init__(walk)
        self.name = ""

    @property
    def variable(self) -> Variable:
        """The variable that is being defined."""
        return self.walk.variables.get(self.name, Variable())

    def take(self, kind: str, text: str) -> None:
        """Read a token of the definitions."""
        if text == ")":
            self.walk.leave(Definitions)
        elif text in ("$", ":", "="):
            self._mark(text)
        elif self.after == "=" and self.value(text, self._type()):
            self.after = "value"
        elif self.directed(kind, text):
            return
        elif text == "{":  # the bracket was never closed
            self.walk.leave(Definitions)
            self.walk.open[-1].take(kind, text)
        else:
            self._word(kind, text)

    def _mark(self, text: str) -> None:
        self.after = text
        if text == "$":
            self.name = ""
        elif text == "=" and self.name:
            self.walk.variables[self.name] = self.variable._replace(defaulted=True)

    def _word(self, kind: str, text: str) -> None:
        if self.after == ":" and self.name and (kind == "name" or text in ("[", "]", "!")):
            self.walk.variables[self.name] = Variable(self.variable.type + text)
        elif kind == "name" and self.after == "$":
            self.name, self.after = text, "name"
            self.walk.variables[text] = Variable()
        elif self.after == "=":
            self.after = "value"
            if text == "null" and self.name:  # which is as good as none where null is refused
                self.walk.variables[self.name] = self.variable._replace(defaulted=False)

    def _type(self) -> Any:
        return self.walk.type_written(self.variable.type)

    def proposals(self) -> Iterator[Proposal]:
        """Yield types after a colon, values after ``=``, directives after ``@``."""
        if self.after == "@":
            yield from directives(self.walk.schema, self.location)
        elif self.after == ":" and not self.variable.type.strip("["):
            yield from inputs(self.walk.schema)
        elif self.after == "=":
            yield from values(self._type())
