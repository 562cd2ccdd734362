"""The text of one generated function: its lines, its constants, and the values it waits for."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from keyword import iskeyword
from typing import TYPE_CHECKING, Any

from graphql import get_nullable_type, is_abstract_type

from gqlnb.engine.compiler.python_types import FIRST_COMPUTED
from gqlnb.engine.schema_watch import SMALL_INT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gqlnb.engine.compiler.plans import FieldPlan, OperationPlan

MAX_LITERAL = 200  # characters of a string that is written into the source


def is_identifier(name: object) -> bool:
    """Return whether a name can be written after a dot: Python normalizes other than ASCII."""
    if type(name) is not str or len(name) > MAX_LITERAL:
        return False
    return name.isascii() and name.isidentifier() and not iskeyword(name)


def is_keyword_name(name: object) -> bool:
    """Return whether a name can be that of an argument in a call."""
    return is_identifier(name) and name != "__debug__"


# Characters of source of one plan, some 4,000 fields. The rest is executed like graphql-core: it
# would take seconds to compile, and many megabytes.
MAX_PLAN_SOURCE = 1_000_000
CLOCK_CHECK = "if b.clock() > b.deadline: b.renew_credit()"


class SourceTooLongError(Exception):
    """The source of a plan has reached its bound."""


@dataclass(frozen=True, slots=True)
class ValueSlot:
    """A value being completed.

    Attributes
    ----------
    field
        The field it belongs to.
    kind
        The GraphQL type declared for it: the field's, or that of an item of its list.
    v, path
        The source of its name and of its path.
    slow
        The source of the call that completes it like graphql-core.
    key, waiting
        The source of its key in its parent, and of the list of values to be awaited; None if the
        caller awaits.
    item
        Whether it is an item of a list.
    above
        The source of the path of its field; None if it is `path` itself.
    single
        The name of a future that its object may wait for (see SingleLeaf); None for others.
    parent
        The source of the path of its parent, if it is a field whose own path has no name.
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
    single: str | None = None
    parent: str | None = None

    @property
    def nullable(self) -> bool:
        """Whether it may be null."""
        return get_nullable_type(self.kind) is self.kind


class FunctionWriter:
    """Writes the lines of a function ``(s, p, x)``: source object, path and executor.

    Parameters
    ----------
    plan
        The plan it is part of.

    Attributes
    ----------
    lines
        The body.
    constants
        The values that it refers to, by name.
    waiting_names, class_names
        Local names that must be None at the top of the function.
    """

    def __init__(self, plan: OperationPlan) -> None:
        self.plan = plan
        self.lines: list[str] = []
        self.constants: dict[str, object] = {}
        # Lists of awaitables: None at the top of the function, and again after each use, so that a
        # loop need not reset them for every row.
        self.waiting_names: list[str] = []
        self.class_names: list[str] = []
        self._characters_left = MAX_PLAN_SOURCE - plan.source_size
        self._depth = 1
        self._names: dict[int, str] = {}
        self._name_numbers = count(1)
        self._first_row_line: int | None = None  # the first line of the loop over rows
        self._calls_function = False

    # -- lines and names

    def bind_constant(self, letter: str, value: object) -> str:
        """Return the name by which the function refers to a value."""
        name = self._names.get(id(value))
        if name is None:
            name = self._names[id(value)] = self.new_name(letter)
            self.constants[name] = value
        return name

    def new_name(self, letter: str) -> str:
        """Return an unused name."""
        return f"{letter}{next(self._name_numbers)}"

    def add_line(self, line: str) -> None:
        """Write a line at the current depth."""
        self._characters_left -= len(line)
        if self._characters_left < 0:
            raise SourceTooLongError
        self.lines.append(f"{' ' * self._depth}{line}")

    @contextmanager
    def open_block(self, head: str, *, when: bool = True) -> Iterator[None]:
        """Indent lines below `head`; if not `when`, write them without head and indentation."""
        if when:
            self.add_line(head)
        self._depth += when
        yield
        self._depth -= when

    def write_text(self, text: object) -> str:
        """Return the source of a name of the document or the schema."""
        if type(text) is str and len(text) <= MAX_LITERAL:
            return repr(text)
        return self.bind_constant("a", text)

    def write_value(self, value: object) -> str:
        """Return the source of a constant argument."""
        # The repr of an infinite float is not source, and that of a long integer an error.
        if value is None or type(value) is bool or (type(value) is int and abs(value) <= SMALL_INT):
            return repr(value)
        return self.write_text(value)

    # -- other code than that of usual values

    def write_clock_check(self) -> None:
        """Write a look at the clock before the call of a function, which may be slow."""
        if not self.plan.metered:
            return
        if self._first_row_line is None:
            self.add_line(CLOCK_CHECK)
        self._calls_function = True

    @contextmanager
    def open_other_block(self, slot: ValueSlot, *, first: bool) -> Iterator[None]:
        """Write the handling of values beside those of the expected kind.

        Lines within the block are for dicts, mappings and objects, whose kind is `k`.
        """
        v, word = slot.v, "if" if first else "elif"
        if slot.nullable:
            self.add_line(f"{word} {v} is None: pass")
            word = "elif"
        # What has a __getattr__ may be awaitable by it.
        usual = f"(k < {FIRST_COMPUTED} or not hasattr({v}, '__await__'))"
        with self.open_block(f"{word} (k := kinds[type({v})]) and {usual}:"):
            yield
            self.write_wait(slot, guarded=True)
        with self.open_block("else:"):
            self.write_uncompiled(slot)

    def write_uncompiled(self, slot: ValueSlot) -> None:
        """Write the call that completes a value like graphql-core."""
        if slot.single is not None:
            self.add_line(f"if type({slot.v}) is FUTURE: {slot.single} = {slot.v}; {slot.v} = None")
        # One line, since Python takes most of the time of compiling, and each leaf has such a call.
        with self.open_block("else:", when=slot.single is not None):
            if slot.waiting is None:
                self.add_line(f"{slot.v} = {slot.slow}")
                return
            queued = f"queue({slot.slow}, {slot.key}, {slot.waiting})"
            if slot.parent is not None:
                field = self.bind_constant("f", slot.field)
                queued = f"x.queue_field({slot.v}, {field}, {slot.parent}, {slot.waiting})"
            self.add_line(f"{slot.v}, {slot.waiting} = {queued}")

    # -- values that must be awaited

    def write_wait(self, slot: ValueSlot, *, guarded: bool = False, sure: bool = False) -> None:
        """Write that a value is noted if it must be awaited.

        With `guarded`, a nullable position takes the errors of the awaited value. With `sure`, it
        must be awaited in any case.
        """
        # The resolution of an abstract type, and a predicate, may raise errors without a path.
        inner: Any = get_nullable_type(slot.kind)
        tested = getattr(inner, "is_type_of", None) is not None
        guarded = guarded and (slot.nullable or tested or is_abstract_type(inner))
        if slot.waiting is None and not guarded:
            return
        with self.open_block(f"if type({slot.v}) is CORO:", when=not sure):
            if guarded:
                self.add_line(f"{slot.v} = x.guard({slot.v}, {self.build_error_position(slot)})")
            if slot.waiting is not None:
                self.write_append(slot, slot.v)

    def write_append(self, slot: ValueSlot, value: str) -> None:
        """Write that the parent of a value waits for `value`."""
        self.add_line(f"if {slot.waiting} is None: {slot.waiting} = []")
        self.add_line(f"{slot.waiting}.append(({slot.key}, {value}))")

    def build_error_position(self, slot: ValueSlot) -> str:
        """Return the arguments for the position that takes an error: field, path and type."""
        kind = self.bind_constant("k", slot.kind) if slot.item else "None"
        return f"{self.bind_constant('f', slot.field)}, {slot.path}, {kind}"

    def write_reset(self, start: int) -> None:
        """Write that a failed position waits for nothing."""
        if names := self.waiting_names[start:]:
            self.add_line(f"{' = '.join(names)} = None")
