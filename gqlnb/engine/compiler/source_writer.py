"""Lines of Python being written, the values they name, and the value that is being completed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from inspect import iscoroutinefunction
from itertools import count
from keyword import iskeyword
from time import perf_counter
from typing import TYPE_CHECKING, Any

from graphql import (
    GraphQLBoolean,
    GraphQLEnumType,
    GraphQLError,
    GraphQLFloat,
    GraphQLID,
    GraphQLInt,
    GraphQLScalarType,
    GraphQLString,
    get_nullable_type,
    is_abstract_type,
    is_leaf_type,
    is_list_type,
    is_non_null_type,
)

from gqlnb.engine.compiler.type_resolution import OBJECT, UNUSUAL, AbstractTypeResolver
from gqlnb.engine.graphql_compat import (
    IS_GRAPHQL_33,
    SERIALIZERS,
    get_serializer,
    is_serialized_by_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from gqlnb.engine.compiler.plans import FieldPlan, OperationPlan, SelectionPlan


__all__ = [
    "CodeLines",
    "FieldCountWriter",
    "SingleLeaf",
    "SourceWriter",
    "ValueSlot",
    "ValueWriter",
]


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
class SingleLeaf:
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


class CodeLines:
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
        self._name_numbers = count(1)

    def bind_constant(self, letter: str, value: Any) -> str:
        """Return the name under which the function finds a value."""
        name = self._names.get(id(value))
        if name is None:
            name = self._names[id(value)] = self.new_name(letter)
            self.constants[name] = value
        return name

    def new_name(self, letter: str) -> str:
        """Return a name that nothing else has."""
        return f"{letter}{next(self._name_numbers)}"

    def add_line(self, line: str) -> None:
        """Write a line."""
        self.lines.append(f"{' ' * self.depth}{line}")

    def open_block(self, head: str, when: bool = True) -> CodeBlock:
        """Return a context whose lines stand below `head`."""
        return CodeBlock(self, head, when)


class CodeBlock:
    """Lines one level deeper; nothing but the lines where `when` is false."""

    __slots__ = ("head", "when", "writer")

    def __init__(self, writer: CodeLines, head: str, when: bool) -> None:
        self.writer, self.head, self.when = writer, head, when

    def __enter__(self) -> None:
        if self.when:
            self.writer.add_line(self.head)
            self.writer.depth += 1

    def __exit__(self, *_: object) -> None:
        if self.when:
            self.writer.depth -= 1


MAX_INLINE_DEPTH = 3  # levels of objects in one function
MAX_INLINE_FIELDS = 40  # fields of an object that is written into the function of its parent
CLOCK_CHECK = "if b.clock() > b.deadline: b.renew_credit()"


class FieldCountWriter(CodeLines):
    """The part of a writer that counts, in a plan with a budget; else it writes nothing.

    Parameters
    ----------
    plan
        The plan it is part of.
    dicts
        Whether to write for sources that are dicts, rather than for other objects.

    Attributes
    ----------
    fields_per_row
        The fields of a row, in a function whose list is counted as a whole; else 0.
    """

    def __init__(self, plan: OperationPlan, *, dicts: bool) -> None:
        super().__init__()
        self.plan = plan
        self.dicts = dicts
        self.fields_per_row = 0
        self._first_row_line: int | None = None  # the first line of the loop over rows
        self._calls_function = False

    def find_selection_below(self, kind: Any, field: FieldPlan) -> SelectionPlan | None:
        """Return the selection below a field; a writer of values says how."""
        raise NotImplementedError

    def write_prologue(self) -> None:
        """Write what a function begins with."""
        if self.plan.metered:
            self.add_line("b = x.budget")

    def write_count(self, selection: SelectionPlan) -> None:
        """Write that an object is begun."""
        if self.plan.metered and not self.fields_per_row:
            self.add_line(f"b.left -= {len(selection.fields)}")
            self.add_line("if b.left < 0: b.renew_credit()")

    def write_refund(self, kind: Any, field: FieldPlan, level: int) -> None:
        """Write that an object which was counted is not begun here."""
        if self.fields_per_row and (fields := self.compute_field_count(kind, field, level)):
            self.add_line(f"b.left += {fields}")

    def write_clock_check(self) -> None:
        """Write that a function is called next."""
        if not self.plan.metered:
            return
        if self._first_row_line is None:
            self.add_line(CLOCK_CHECK)
        self._calls_function = True

    def write_row_count(self, field: FieldPlan, item: Any) -> str:
        """Write that a list is begun; return the text of what to iterate over."""
        self.fields_per_row = (
            self.compute_field_count(item, field, 0) or 0 if self.plan.metered else 0
        )
        if not self.fields_per_row:
            return "s"
        self.add_line(f"b.left -= len(s) * {self.fields_per_row}")
        self.add_line(
            f"r = s if b.left >= 0 else b.count_rows(s, {self.fields_per_row}, {self.dicts})"
        )
        return "r"

    def begin_row(self) -> None:
        """Note where the lines of a row begin."""
        self._first_row_line = len(self.lines)

    def end_row(self) -> None:
        """Write a look at the clock where the row began, if it calls functions."""
        if self._calls_function and self._first_row_line is not None:
            self.lines.insert(self._first_row_line, f"{' ' * self.depth}{CLOCK_CHECK}")
        self._first_row_line = None

    def compute_field_count(self, kind: Any, field: FieldPlan, level: int) -> int | None:
        """Return how many fields a value of a field takes; None where that is not known yet."""
        inner = get_nullable_type(kind)
        if is_leaf_type(inner):
            return 0
        if is_list_type(inner) or is_abstract_type(inner):
            return None
        selection = self.find_inlined_selection(inner, field, level)
        if selection is None:
            return None
        total = len(selection.fields)
        for each in selection.fields:
            found = self.compute_field_count(each.type, each, level + 1)
            # What a function returns may be an error instead of an object.
            if found is None or (found and not each.direct):
                return None
            total += found
        return total

    def find_inlined_selection(
        self, kind: Any, field: FieldPlan, level: int
    ) -> SelectionPlan | None:
        """Return the selection of an object, if it is written into the function of its parent."""
        selection = None if kind.is_type_of is not None else self.find_selection_below(kind, field)
        if (
            selection is None
            or level >= MAX_INLINE_DEPTH
            or len(selection.fields) > MAX_INLINE_FIELDS
        ):
            return None
        return selection


MAX_INLINE_TYPE_TESTS = 6  # possible types with a predicate that are asked in the function itself
SMALL_INT = (1 << 30) - 1  # integers up to it are one digit to CPython, which compares them fast
LARGEST_FLOAT = (
    "1.7976931348623157e308"  # the largest float: what is not within its signs is not finite
)

LEAF_TESTS = {
    GraphQLString: "type({0}) is not str",
    GraphQLID: "type({0}) is not str",
    GraphQLInt: f"type({{0}}) is not int or {{0}} > {SMALL_INT} or {{0}} < {-SMALL_INT}",
    GraphQLFloat: f"type({{0}}) is not float or not -{LARGEST_FLOAT} <= {{0}} <= {LARGEST_FLOAT}",
    GraphQLBoolean: "{0} is not True and {0} is not False",
}


class ValueWriter(FieldCountWriter):
    """The part of a writer that completes values; :class:`gqlnb.engine.compiler.source_writer.SourceWriter` is whole.

    Parameters
    ----------
    plan
        The plan it is part of.
    rows
        Returns the function that completes the lists of a field.
    dicts
        Whether to write for sources that are dicts, rather than for other objects.
    """

    def __init__(
        self, plan: OperationPlan, rows: Callable[[FieldPlan, Any], Any], *, dicts: bool
    ) -> None:
        super().__init__(plan, dicts=dicts)
        self.get_rows_function = rows
        # Names of lists of what must be awaited: None at the top of the function, and again after
        # each use, so that a loop need not set them for every row.
        self.waiting_names: list[str] = []
        self.class_names: list[str] = []

    def write_fields(
        self, selection: SelectionPlan, s: str, p: str, level: int
    ) -> tuple[str, str, SingleLeaf | None]:
        """Write the fields of a selection; a writer of functions says how."""
        raise NotImplementedError

    def write_queued_leaf(self, waiting: str, single: SingleLeaf) -> None:
        """Write that a leaf is awaited beside other fields; a writer of functions says how."""
        raise NotImplementedError

    # -- values

    def write_completion(self, spot: ValueSlot, level: int) -> None:
        """Write how a value becomes its answer."""
        inner = get_nullable_type(spot.kind)
        if is_leaf_type(inner):
            self.write_leaf(inner, spot)
        elif is_list_type(inner):
            self.write_list(inner, spot)
        elif is_abstract_type(inner):
            chooser = AbstractTypeResolver(self.plan, spot.field, inner)
            self.watch_members(
                inner,
                "resolve_type",
                *((k, "is_type_of") for k in self.plan.list_possible_types(inner)),
            )
            self.write_abstract(spot, chooser)
        else:
            self.watch_members(inner, "is_type_of")
            self.write_object(inner, spot, level)

    def write_leaf(self, kind: Any, spot: ValueSlot) -> None:
        """Write the test that a leaf is of its usual type, and what happens if it is not."""
        if isinstance(kind, GraphQLEnumType):
            self.write_enum(kind, spot)
            return
        test = self.find_leaf_test(kind)
        if test is None:
            self.write_clock_check()
        with self.open_block(f"if {test.format(spot.v)}:" if test else "", when=test is not None):
            head = f"if {spot.v} is not None:" if spot.nullable else ""
            if kind is GraphQLID and test:
                with self.open_block(
                    f"if type({spot.v}) is int and {-SMALL_INT} < {spot.v} < {SMALL_INT}:"
                ):
                    self.add_line(f"{spot.v} = str({spot.v})")
                head = f"elif {spot.v} is not None:" if spot.nullable else "else:"
            with self.open_block(head, when=bool(head)):
                self.write_uncompiled(spot)

    def find_leaf_test(self, kind: Any) -> str | None:
        """Return the test that a value is not of a leaf's usual type; None if it has none."""
        now = get_serializer(kind)
        if kind in SERIALIZERS:
            return LEAF_TESTS[kind] if now is SERIALIZERS[kind] else None
        plain = isinstance(kind, GraphQLScalarType) and now is GraphQLScalarType.serialize
        return "type({0}) not in PLAIN" if plain else None

    def write_enum(self, kind: GraphQLEnumType, spot: ValueSlot) -> None:
        """Write the look-up of an enum member's name."""
        # What it serializes by.
        known = kind._value_lookup if is_serialized_by_name(kind) else {}  # noqa: SLF001
        names = {value: name for value, name in known.items() if is_safe_lookup_key(value)}
        self.add_line(f"try: {spot.v} = {self.bind_constant('n', names)}[{spot.v}]")
        with self.open_block("except Exception:"):
            head = f"if {spot.v} is not None:" if spot.nullable else ""
            with self.open_block(head, when=bool(head)):
                self.write_uncompiled(spot)

    def write_list(self, kind: Any, spot: ValueSlot) -> None:
        """Write how a list is completed: by a function of its own, if it is a list or a tuple."""
        made = self.bind_constant("l", self.get_rows_function(spot.field, kind))
        with self.open_block(f"if type({spot.v}) is list or type({spot.v}) is tuple:"):
            self.add_line(f"{spot.v} = {made}({spot.v}, {spot.path}, x)")
            self.write_wait(spot, guarded=True)
        with self.open_block(f"elif type({spot.v}) in VIEWS:"):
            self.add_line(f"{spot.v} = {made}(list({spot.v}), {spot.path}, x)")
            self.write_wait(spot, guarded=True)
        with self.open_block(f"elif {spot.v} is not None:" if spot.nullable else "else:"):
            self.write_uncompiled(spot)

    def write_abstract(self, spot: ValueSlot, chooser: AbstractTypeResolver) -> None:
        """Write how the object type of a value is found, and its selection executed."""
        v, choose = spot.v, self.bind_constant("u", chooser)
        if chooser.types_with_test or not chooser.default:
            self.write_clock_check()
        word = "if"
        if self.dicts:
            word = "elif"
            with self.open_block(f"if type({v}) is dict:"):
                self.write_dict_type_choice(spot, chooser, choose)
                self.write_wait(spot, guarded=True)
        self.write_other_object(spot, choose, first=word == "if")

    def write_dict_type_choice(
        self, spot: ValueSlot, chooser: AbstractTypeResolver, choose: str
    ) -> None:
        """Write how the type of a dict is found where that takes one call."""
        v, name, enter = spot.v, self.new_name("n"), self.new_name("e")
        info = f"new(Info, ({self.bind_constant('f', spot.field)}, {spot.above or spot.path}, x))"
        if chooser.default:
            self.add_line(f"{name} = {v}.get('__typename')")
        elif chooser.native is not None:
            self.add_line(
                f"{name} = {self.bind_constant('g', chooser.native)}({v}, x.context_value)"
            )
        else:
            resolve, kind = (
                self.bind_constant("r", chooser.resolve),
                self.bind_constant("k", chooser.kind),
            )
            self.add_line(f"{name} = {resolve}({v}, {info}, {kind})")
        entered = self.bind_constant("m", chooser.dict_functions)
        self.add_line(f"{enter} = {entered}.get({name}) if type({name}) is str else None")
        with self.open_block(f"if {enter} is not None:"):
            self.add_line(f"{v} = {enter}({v}, {spot.path}, x)")
        if chooser.default and 0 < len(chooser.types_with_test) <= MAX_INLINE_TYPE_TESTS:
            with self.open_block(f"elif {name} is None:"):
                self.write_type_tests(spot, chooser, info)
        with self.open_block("else:"):
            self.add_line(f"{v} = {choose}.enter_named_type({name}, {v}, {spot.path}, x)")

    def write_type_tests(self, spot: ValueSlot, chooser: AbstractTypeResolver, info: str) -> None:
        """Write how each possible type is asked whether a value is of it."""
        v, given, answer = spot.v, self.new_name("i"), self.new_name("q")
        self.add_line(f"{given} = {info}")
        depth = self.depth
        for kind in chooser.types_with_test:
            self.add_line(f"{answer} = {self.bind_constant('q', kind.is_type_of)}({v}, {given})")
            with self.open_block(f"if {answer} is True:"):
                below = self.find_selection_below(kind, spot.field)
                enter = chooser if below is None else self.get_entry_function(below)
                self.add_line(f"{v} = {self.bind_constant('t', enter)}({v}, {spot.path}, x)")
            self.add_line(
                f"elif {answer} is not False: {v} = {self.bind_constant('u', chooser)}.retry_type_tests("
                f"{answer}, {v}, {spot.path}, x)"
            )
            self.add_line("else:")
            self.depth += 1
        self.add_line(
            f"{v} = {self.bind_constant('u', chooser)}.resolve_first(None, {v}, {spot.path}, x)"
        )
        self.depth = depth

    def write_object(self, kind: Any, spot: ValueSlot, level: int) -> None:
        """Write how an object is completed: here if it is as expected, else by a call."""
        selection = self.find_selection_below(kind, spot.field)
        if selection is None or kind.is_type_of is not None:
            self.write_clock_check()
            with self.open_block(
                f"if {spot.v} is not None:" if spot.nullable else "", spot.nullable
            ):
                self.write_uncompiled(spot)
            return
        function = self.bind_constant("t", self.get_entry_function(selection))
        if self.find_inlined_selection(kind, spot.field, level) is None:
            self.write_other_object(spot, function)
            return
        with self.open_block(f"if {self.build_object_test(spot)}:"):
            self.write_count(selection)
            path = self.write_path(spot, selection)
            made, waiting, single = self.write_fields(selection, spot.v, path, level + 1)
            self.add_line(f"{spot.v} = {made}")
            if single is not None:
                self.write_single_leaf(spot, waiting, single)
            with self.open_block(f"if {waiting} is not None:"):
                self.add_line(f"{spot.v} = {self.build_join_call(spot, waiting)}")
                self.add_line(f"{waiting} = None")
                self.write_wait(spot, sure=True)
        with self.open_block("else:", when=self.fields_per_row > 0):
            self.write_refund(kind, spot.field, level)
            self.write_other_object(spot, function, first=self.fields_per_row > 0)

    def write_single_leaf(self, spot: ValueSlot, waiting: str, single: SingleLeaf) -> None:
        """Write how an object waits for one leaf: in one coroutine, if for nothing else."""
        field, name = single.field, single.name
        with self.open_block(f"if {name} is not None:"):
            with self.open_block(f"if {waiting} is None:"):
                leaf = f"{field.name!r}, {name}, {self.bind_constant('f', field)}, {single.path}"
                taker = f", {self.build_error_position(spot)}" if spot.nullable else ""
                self.add_line(f"{spot.v} = x.await_single_leaf({spot.v}, {leaf}{taker})")
                self.write_wait(spot, sure=True)
            with self.open_block("else:"):
                self.write_queued_leaf(waiting, single)
            self.add_line(f"{name} = None")

    def write_path(self, spot: ValueSlot, selection: SelectionPlan) -> str:
        """Return the text of a path: a name, where several resolvers will need it."""
        asked = [f for f in selection.fields if not f.default and f.native is None]
        if not asked or spot.path.isidentifier():
            return spot.path
        name = self.new_name("p")
        self.add_line(f"{name} = {spot.path}")
        return name

    def build_object_test(self, spot: ValueSlot) -> str:
        """Return the test that an object is of the kind this function is written for."""
        v = spot.v
        if self.dicts:
            return f"type({v}) is dict"
        if spot.item:
            return f"type({v}) is c"
        last = self.new_name("c")  # the class of the last such object, most often of the next too
        self.class_names.append(last)
        usual = f"(kinds.get(type({v})) or kind_of(type({v}))) == {OBJECT}"
        return f"type({v}) is {last} or {usual} and ({last} := type({v}))"

    def write_other_object(self, spot: ValueSlot, function: str, first: bool = True) -> None:
        """Write the call of a function on a dict or object, and what happens to anything else."""
        v = spot.v
        word = "if" if first else "elif"
        if spot.nullable:
            self.add_line(f"{word} {v} is None: pass")
            word = "elif"
        with self.open_block(f"{word} (kinds.get(type({v})) or kind_of(type({v}))) != {UNUSUAL}:"):
            self.add_line(f"{v} = {function}({v}, {spot.path}, x)")
            self.write_wait(spot, guarded=True)
        with self.open_block("else:"):
            self.write_uncompiled(spot)

    # -- what must be awaited

    def write_uncompiled(self, spot: ValueSlot) -> None:
        """Write the call that completes a value as graphql-core does."""
        self.add_line(f"{spot.v} = {spot.slow}")
        self.write_wait(spot)

    def write_wait(self, spot: ValueSlot, *, guarded: bool = False, sure: bool = False) -> None:
        """Write what happens where a value must be awaited.

        With `guarded`, a nullable position takes the error of what it waits for.
        """
        # What finds the type of an abstract value may raise errors without a place.
        guarded = guarded and (spot.nullable or is_abstract_type(get_nullable_type(spot.kind)))
        if spot.waiting is None and not guarded:
            return
        with self.open_block(f"if type({spot.v}) is CORO:", when=not sure):
            if guarded:
                self.add_line(f"{spot.v} = x.guard({spot.v}, {self.build_error_position(spot)})")
            if spot.waiting is not None:
                self.add_line(f"if {spot.waiting} is None: {spot.waiting} = []")
                self.add_line(f"{spot.waiting}.append(({spot.key}, {spot.v}))")

    def build_join_call(self, spot: ValueSlot, waiting: str) -> str:
        """Return the coroutine of an object that waits for some of its fields."""
        if not spot.nullable:
            return f"x.join({spot.v}, {waiting})"
        return f"x.join_guarded({spot.v}, {waiting}, {self.build_error_position(spot)})"

    def build_error_position(self, spot: ValueSlot) -> str:
        """Return the arguments that say which position takes an error."""
        kind = self.bind_constant("k", spot.kind) if spot.item else "None"
        return f"{self.bind_constant('f', spot.field)}, {spot.path}, {kind}"

    def write_reset(self, start: int) -> None:
        """Write that nothing is waited for below a position that has failed."""
        if names := self.waiting_names[start:]:
            self.add_line(f"{' = '.join(names)} = None")

    # -- lines and names

    def get_entry_function(self, selection: SelectionPlan) -> Any:
        """Return the function that executes a selection which compiled code has come to."""
        return selection.get_function()

    def find_selection_below(self, kind: Any, field: FieldPlan) -> SelectionPlan | None:
        """Return the selection below a field; None if collecting it fails, as each run will say."""
        try:
            return self.plan.get_selection_below(self.plan.sample, kind, field.group)
        except (GraphQLError, RecursionError):
            return None

    def watch_members(self, kind: Any, name: str, *more: tuple[Any, str]) -> None:
        """Note what this function takes as constant, so that a change of it is noticed."""
        for owner, member in ((kind, name), *more):
            self.plan.assumed_members.append((owner, member, getattr(owner, member)))


def is_safe_lookup_key(value: Any) -> bool:
    """Tell whether an enum's internal value can be looked up without its own code running."""
    return type(value) in (str, int) or (isinstance(value, Enum) and not callable(value))


class SourceWriter(ValueWriter):
    """Writes the body of one function; the parameters are those of its base."""

    # -- whole functions

    def write_selection(self, selection: SelectionPlan) -> None:
        """Write a function that returns the dict of a selection, or a coroutine of it."""
        self.write_prologue()
        self.write_count(selection)
        made, waiting, single = self.write_fields(selection, "s", "p", 0)
        self.add_line(f"d = {made}")
        if single is not None:
            with self.open_block(f"if {single.name} is not None:"):
                self.write_queued_leaf(waiting, single)
        self.add_line(f"return d if {waiting} is None else x.join(d, {waiting})")

    def write_completer(self, field: FieldPlan) -> None:
        """Write a function that completes a value; its errors are the caller's to handle."""
        self.write_prologue()
        slow = f"x.complete_uncompiled(s, {self.bind_constant('f', field)}, {self.bind_constant('k', field.type)}, p)"
        self.write_completion(ValueSlot(field, field.type, "s", "p", slow, None, None), 0)
        self.add_line("return s")

    def write_rows(self, field: FieldPlan, kind: Any) -> None:
        """Write a function that completes a list or tuple."""
        item, path = kind.of_type, "(p, len(out), None)"
        above = "p" if kind is get_nullable_type(field.type) else "above(p)"
        names = f"{self.bind_constant('f', field)}, {self.bind_constant('k', item)}"
        spot = ValueSlot(
            field,
            item,
            "v",
            path,
            f"x.complete_unusual_item(v, {names}, {path})",
            "len(out)",
            "w",
            True,
            above,
        )
        leaves = is_leaf_type(get_nullable_type(item))
        self.write_prologue()
        self.add_line("out = []")
        self.add_line("add = out.append")
        self.add_line("w = None")
        if not leaves and not self.dicts:
            self.add_line("c = type(s[0])")
            self.add_line(f"if (kinds.get(c) or kind_of(c)) != {OBJECT}: c = None")
        rows = self.write_row_count(field, item)
        with self.open_block("try:", when=IS_GRAPHQL_33), self.open_block(f"for v in {rows}:"):
            self.begin_row()
            with self.open_block("try:", when=not leaves):
                self.write_completion(spot, 0)
            if not leaves:
                with self.open_block("except Exception as e:"):
                    self.add_line(f"v = x.fail(e, {names.replace(',', f', {path},', 1)})")
                    self.write_reset(0)
            self.add_line("add(v)")
            self.end_row()
        if IS_GRAPHQL_33:
            with self.open_block("except Exception:"):
                self.add_line("x.settle(w, s[len(out) + 1:])")
                self.add_line("raise")
        self.add_line("return out if w is None else x.join(out, w)")

    # -- selections and fields

    def write_fields(
        self, selection: SelectionPlan, s: str, p: str, level: int
    ) -> tuple[str, str, SingleLeaf | None]:
        """Write the fields of a selection.

        Returns
        -------
        (str, str, Single or None)
            Its dict, the name of the list of what it waits for, and the one leaf it waits for
            besides, if its functions say that there is one.
        """
        waiting = self.new_name("w")
        self.waiting_names.append(waiting)
        single = self.find_single_leaf(selection)
        settled = IS_GRAPHQL_33 and any(
            is_non_null_type(field.type) and field.head[0] != "__typename"
            for field in selection.fields
        )
        with self.open_block("try:", when=settled):
            members = [
                self.write_field(field, s, p, waiting, level, single=single)
                for field in selection.fields
            ]
        if settled:
            with self.open_block("except Exception:"):
                if single is not None:
                    self.add_line(
                        f"if {single.name} is not None: x.settle([(None, {single.name})])"
                    )
                self.add_line(f"if {waiting} is not None: x.settle({waiting})")
                self.add_line("raise")
        return "{" + ", ".join(members) + "}", waiting, single

    def find_single_leaf(self, selection: SelectionPlan) -> SingleLeaf | None:
        """Return the only field that is an ``async`` function, if it is a leaf."""
        if self.plan.is_awaitable is not None or self.plan.timed:
            return None
        found = [f for f in selection.fields if iscoroutinefunction(f.native or f.resolve)]
        if len(found) != 1 or not is_leaf_type(get_nullable_type(found[0].type)):
            return None
        name = self.new_name("y")
        self.waiting_names.append(name)
        return SingleLeaf(found[0], name)

    def write_queued_leaf(self, waiting: str, single: SingleLeaf) -> None:
        """Write that a leaf is awaited beside other fields."""
        field = single.field
        self.add_line(f"if {waiting} is None: {waiting} = []")
        leaf = f"x.await_leaf({single.name}, {self.bind_constant('f', field)}, {single.path})"
        self.add_line(f"{waiting}.append(({field.name!r}, {leaf}))")

    def write_field(
        self,
        field: FieldPlan,
        s: str,
        p: str,
        waiting: str,
        level: int,
        *,
        single: SingleLeaf | None,
    ) -> str:
        """Write one field; return its name and value as text."""
        if field.nodes[0].name.value == "__typename":
            return f"{field.name!r}: {field.parent.name!r}"
        clock = self.write_clock_start()
        v = self.new_name("v")
        name, path = self.bind_constant("f", field), f"({p}, {field.name!r}, {field.parent.name!r})"
        if not field.default and field.native is None:  # its info object needs the path anyway
            self.add_line(f"{v}p = {path}")
            path = f"{v}p"
        method = "complete_unusual" if field.default else "complete_field"
        slow = f"x.{method}({v}, {name}, {path})"
        spot = ValueSlot(field, field.type, v, path, slow, repr(field.name), waiting)
        if field.default and not field.direct:
            # Arguments are coerced before the value is looked up, and may fail to be or to be
            # passed.
            self.add_line(f"{v} = x.execute_planned_field({name}, {s}, {path})")
            self.write_wait(spot)
        else:
            self.write_field_value(spot, s, level, single)
        self.write_tally(clock, name)
        return f"{field.name!r}: {v}"

    def write_field_value(
        self, spot: ValueSlot, s: str, level: int, single: SingleLeaf | None
    ) -> None:
        """Write how a field is looked up or resolved, and completed."""
        field, v = spot.field, spot.v
        if field.default:
            self.write_lookup(spot, s)
        # What x.late runs into it handles itself, and tests of leaves raise nothing.
        guarded = not field.default or not is_leaf_type(get_nullable_type(field.type))
        before = len(self.waiting_names)
        with self.open_block("try:", when=guarded):
            if not field.default:
                self.write_call(spot, s)
            mine = single is not None and single.field is field
            if single is not None and mine:
                single.path = spot.path
                self.add_line(f"if type({v}) is CORO: {single.name} = {v}; {v} = None")
            with self.open_block("else:", when=mine):
                self.write_completion(spot, level)
        if guarded:
            with self.open_block("except Exception as e:"):
                self.add_line(f"{v} = x.fail(e, {self.bind_constant('f', field)}, {spot.path})")
                self.write_reset(before)

    def write_clock_start(self) -> str:
        """Write that a clock starts, if this plan is being profiled; return its name."""
        name = self.new_name("t")
        if self.plan.timed:
            self.add_line(f"{name} = {self.bind_constant('c', perf_counter)}()")
        return name

    def write_tally(self, clock: str, field: str) -> None:
        """Write that a field is done, if this plan is being profiled."""
        if self.plan.timed:
            self.add_line(f"x.tally({field}, {self.bind_constant('c', perf_counter)}() - {clock})")

    def write_lookup(self, spot: ValueSlot, s: str) -> None:
        """Write how a field is found in its parent."""
        name = spot.field.nodes[0].name.value
        if self.dicts:
            self.add_line(f"try: {spot.v} = {s}[{name!r}]")
            self.add_line(f"except KeyError: {spot.v} = None")
            return
        read = f"getattr({s}, {name!r}, None)" if iskeyword(name) else f"{s}.{name}"
        self.add_line(f"try: {spot.v} = {read}")
        self.add_line(f"except AttributeError: {spot.v} = None")
        fail = f"x.fail(e, {self.bind_constant('f', spot.field)}, {spot.path})"
        self.add_line(f"except Exception as e: {spot.v} = {fail}")

    def write_call(self, spot: ValueSlot, s: str) -> None:
        """Write the call of a resolver."""
        field = spot.field
        given = self.build_arguments(field)
        self.write_clock_check()
        if field.native is not None:
            function = self.bind_constant("g", field.native)
            self.add_line(f"{spot.v} = {function}({s}, {given}, x.context_value)")
            return
        info = f"new(Info, ({self.bind_constant('f', field)}, {spot.path}, x))"
        if is_info_unused(field.resolve):
            info = "None"
        more = "" if given == "{}" else f", **{given}"
        self.add_line(f"{spot.v} = {self.bind_constant('r', field.resolve)}({s}, {info}{more})")

    def build_arguments(self, field: FieldPlan) -> str:
        """Return the arguments of a call as text: a dict that is new each time."""
        if field.constants is None:
            return f"x.coerce_arguments({self.bind_constant('f', field)})"
        members = [f"{name!r}: {self.build_literal(v)}" for name, v in field.constants.items()]
        return "{" + ", ".join(members) + "}"

    def build_literal(self, value: Any) -> str:
        """Return a constant argument as text."""
        return self.bind_constant("a", value) if type(value) is float else repr(value)


def is_info_unused(resolve: Any) -> bool:
    """Tell whether a resolver is one of graphql-core's own for introspection that needs no info."""
    code = getattr(resolve, "__code__", None)
    ours = getattr(resolve, "__module__", None) == "graphql.type.introspection"
    return ours and code is not None and code.co_varnames[1:2] == ("_info",)
