"""Values, and names that have them: arguments, lists, input objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from graphql import (
    GraphQLNonNull,
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
            types, owner, one = _object(expected)
            self.walk.enter(ObjectOf(self.walk, types, owner, one=one))
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
    one = False

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
            must = member is not None and (self.one or is_required_argument(member))
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

    def __init__(
        self, walk: Walk, types: Mapping[str, Any], owner: str, *, one: bool = False
    ) -> None:
        super().__init__(walk, types, owner)
        self.one = one  # whether exactly one field is given, and that not null

    @property
    def expected(self) -> Any:
        """The type of the value of the field that was named last."""
        found = super().expected
        return GraphQLNonNull(get_nullable_type(found)) if self.one and found else found

    def proposals(self) -> Iterator[Proposal]:
        """Yield fields, or values; where one field is all there may be, no second one."""
        valued = self.after in (":", "$")
        if valued or not (self.one and (self.given or any(_named_next(self.walk.ahead)))):
            yield from super().proposals()

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


def _object(expected: Any) -> tuple[Mapping[str, Any], str, bool]:
    """Return the fields of an input object, its name, and whether it is a oneOf."""
    named = get_named_type(expected) if expected is not None else None
    if not is_input_object_type(named):
        return {}, "", False
    return named.fields, named.name, bool(getattr(named, "is_one_of", False))


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
