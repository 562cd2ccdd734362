"""Values, and names that have them: arguments, lists, input objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from graphql import (
    get_named_type,
    get_nullable_type,
    is_input_object_type,
    is_list_type,
    is_required_argument,
)

from gqlnb.notebook.completion.proposal import Proposal, members, values
from gqlnb.notebook.completion.walk import Level, Walk

if TYPE_CHECKING:
    from gqlnb.notebook.completion.tokens import Token

__all__ = ["Arguments", "Valued"]

_OPENING = ("(", "[", "{")
_CLOSING = (")", "]", "}")


class Valued(Level):
    """A level in which values stand."""

    def value(self, text: str, expected: Any) -> bool:
        """Read the beginning of a list or object; tell whether it was one."""
        if text == "[":
            self.walk.enter(ListOf(self.walk, _item(expected)))
        elif text == "{":
            self.walk.enter(ObjectOf(self.walk, *_object(expected)))
        else:
            return False
        return True

    def offered(self, expected: Any, *, defaulted: bool = False) -> Iterator[Proposal]:
        """Yield the values of a type by name; variables with their ``$``, unless it stands.

        Where a default value would take its place, a variable may be null.
        """
        wanted = get_nullable_type(expected) if defaulted and expected is not None else expected
        usable = self.walk.usable(wanted)
        if self.after == "$":
            yield from usable
            return
        yield from values(expected)
        for found in usable:
            yield Proposal(f"${found.name}", found.kind, found.detail)


class Members(Valued):
    """Names with values: arguments, or the fields of an input object.

    Parameters
    ----------
    types
        The definitions of the members by name.
    owner
        What they belong to.
    """

    kind = "argument"
    closing = ")"

    def __init__(self, walk: Walk, types: Mapping[str, Any], owner: str) -> None:
        super().__init__(walk)
        self.types = types
        self.owner = owner
        self.given: list[str] = []
        self.last = ""  # the last name, of which a colon makes a member

    def take(self, kind: str, text: str) -> None:
        """Read a token of the members."""
        if text == self.closing:
            self.walk.leave(type(self))
        elif text == ":":
            self.given.append(self.last)
            self.after = ":"
        elif text == "$":
            self.after = "$"
        elif self.after == ":" and self.value(text, self.expected):
            self.after = ""
        elif text in ("{", "}"):  # the bracket was never closed
            self.walk.leave(type(self))
            self.walk.open[-1].take(kind, text)
        elif kind != "mark":
            self.after, self.last = "", text

    @property
    def member(self) -> Any:
        """The definition of the member that was named last."""
        return self.types.get(self.given[-1]) if self.given else None

    @property
    def expected(self) -> Any:
        """The type of its value."""
        return getattr(self.member, "type", None)

    def proposals(self) -> Iterator[Proposal]:
        """Yield members that are not given yet; after a colon values."""
        if self.after in (":", "$"):
            member = self.member
            must = member is not None and is_required_argument(member)
            yield from self.offered(self.expected, defaulted=not must)
        else:
            given = {*self.given, *_named_next(self.walk.ahead)}
            yield from members(self.types, self.kind, self.owner, given)


class Arguments(Members):
    """The arguments of a field or directive."""


class ObjectOf(Members):
    """A value of an input object type."""

    kind = "input field"
    closing = "}"

    def take(self, kind: str, text: str) -> None:
        """Read a token of the object."""
        if text in (")", "]"):  # the brace was never closed
            self.walk.leave(ObjectOf)
            self.walk.open[-1].take(kind, text)
        else:
            super().take(kind, text)


class ListOf(Valued):
    """A list of values of one type."""

    def __init__(self, walk: Walk, item: Any) -> None:
        super().__init__(walk)
        self.item = item

    def take(self, kind: str, text: str) -> None:
        """Read a token of the list."""
        self.after = ""
        if text == "]":
            self.walk.leave(ListOf)
        elif text == "$":
            self.after = "$"
        elif text in (")", "}"):  # the bracket was never closed
            self.walk.leave(ListOf)
            self.walk.open[-1].take(kind, text)
        else:
            self.value(text, self.item)

    def proposals(self) -> Iterator[Proposal]:
        """Yield values of the item's type."""
        return self.offered(self.item)


def _item(expected: Any) -> Any:
    """Return the type of a list's items; of a type that is none itself, as GraphQL coerces."""
    inner = get_nullable_type(expected) if expected is not None else None
    return inner.of_type if is_list_type(inner) else inner


def _object(expected: Any) -> tuple[Mapping[str, Any], str]:
    named = get_named_type(expected) if expected is not None else None
    return (named.fields, named.name) if is_input_object_type(named) else ({}, "")


def _named_next(ahead: Sequence[Token]) -> Iterator[str]:
    """Yield the names of the members that follow, up to the bracket that closes them."""
    depth, last = 0, ""
    for token in ahead:
        if token.text in _OPENING:
            if token.text != "[" and last != ":" and not depth:
                return  # the bracket was never closed: this is a selection set
            depth += 1
        elif token.text in _CLOSING:
            depth -= 1
            if depth < 0:
                return
        elif token.text == ":" and not depth:
            yield last
        last = token.text
