"""Lines of Python being written, the values they name, and the value that is being completed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

from graphql import get_nullable_type

if TYPE_CHECKING:
    from gqlnb.engine.plan import FieldPlan

__all__ = ["Lines", "Single", "Spot"]


@dataclass(frozen=True, slots=True)
class Spot:
    """A value being completed.

    Attributes
    ----------
    field
        The field it belongs to.
    kind
        The GraphQL type declared for it: the field's, or that of an item of its list.
    v, path
        The text of its name and of its path.
    slow
        The text of the call that completes it as graphql-core does.
    key, waiting
        The texts of its place in what is made, and of the list of what must be awaited; None
        where the caller awaits.
    item
        Whether it is an item of a list.
    above
        The text of the path of its field; None for `path` itself.
    """

    field: FieldPlan
    kind: Any
    v: str
    path: str
    slow: str
    key: str | None
    waiting: str | None
    item: bool = False
    above: str | None = None

    @property
    def nullable(self) -> bool:
        """Whether null may stand here."""
        return get_nullable_type(self.kind) is self.kind


@dataclass(slots=True)
class Single:
    """The one leaf that an object waits for.

    Attributes
    ----------
    field
        The field.
    name
        The text of the name of what must be awaited.
    path
        The text of its path, once it is written.
    """

    field: FieldPlan
    name: str
    path: str = ""


class Lines:
    """The body of a function being written.

    Attributes
    ----------
    lines
        The body.
    constants
        The values it names.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 1
        self.constants: dict[str, Any] = {}
        self._names: dict[int, str] = {}
        self._fresh = count(1)

    def constant(self, letter: str, value: Any) -> str:
        """Return the name under which the function finds a value."""
        name = self._names.get(id(value))
        if name is None:
            name = self._names[id(value)] = self.fresh(letter)
            self.constants[name] = value
        return name

    def fresh(self, letter: str) -> str:
        """Return a name that nothing else has."""
        return f"{letter}{next(self._fresh)}"

    def add(self, line: str) -> None:
        """Write a line."""
        self.lines.append(f"{' ' * self.depth}{line}")

    def block(self, head: str, when: bool = True) -> Block:
        """Return a context whose lines stand below `head`."""
        return Block(self, head, when)


class Block:
    """Lines one level deeper; nothing but the lines where `when` is false."""

    __slots__ = ("head", "when", "writer")

    def __init__(self, writer: Lines, head: str, when: bool) -> None:
        self.writer, self.head, self.when = writer, head, when

    def __enter__(self) -> None:
        if self.when:
            self.writer.add(self.head)
            self.writer.depth += 1

    def __exit__(self, *_: object) -> None:
        if self.when:
            self.writer.depth -= 1
