"""Turning a plan into Python source, and source into functions.

A selection becomes one function ``(s, p, x)``: source, path, run. Values of the usual kind are
told by their exact type and taken as they are; everything else is handed to a method of the run
(``x.late``, ``x.item``, ...), which goes on as graphql-core does. A path is made only where one is
needed, as a nested tuple; a list of what must be awaited only where something must.

A function is written for sources that are dicts or for other objects, since a plan seldom meets
both. CPython nests at most 20 blocks, so a function holds `DEEP` levels of objects and calls
another function below that.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
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

from gqlnb.engine.abstract import Chooser
from gqlnb.engine.kinds import OBJECT, UNUSUAL
from gqlnb.engine.version import NEW, SERIALIZERS, serializer

if TYPE_CHECKING:
    from collections.abc import Callable

    from gqlnb.engine.plan import FieldPlan, Plan, Selection

__all__ = ["Writer"]

DEEP = 3  # levels of objects in one function
TESTED = 6  # possible types with a predicate that are asked in the function itself
WIDE = 40  # fields of an object that is written into the function of its parent
SMALL = (1 << 30) - 1  # integers up to it are one digit to CPython, which compares them fast
BIG = "1.7976931348623157e308"  # the largest float: what is not within its signs is not finite

TESTS = {
    GraphQLString: "type({0}) is not str",
    GraphQLID: "type({0}) is not str",
    GraphQLInt: f"type({{0}}) is not int or {{0}} > {SMALL} or {{0}} < {-SMALL}",
    GraphQLFloat: f"type({{0}}) is not float or not -{BIG} <= {{0}} <= {BIG}",
    GraphQLBoolean: "{0} is not True and {0} is not False",
}


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


class Writer:
    """Writes the body of one function.

    Parameters
    ----------
    plan
        The plan it is part of.
    rows
        Returns the function that completes the lists of a field.
    dicts
        Whether to write for sources that are dicts, rather than for other objects.

    Attributes
    ----------
    lines
        The body.
    constants
        The values it names.
    """

    def __init__(self, plan: Plan, rows: Callable[[FieldPlan, Any], Any], *, dicts: bool) -> None:
        self.plan = plan
        self.rows_of = rows
        self.dicts = dicts
        self.lines: list[str] = []
        self.depth = 1
        self.constants: dict[str, Any] = {}
        # Names of lists of what must be awaited: None at the top of the function, and again after
        # each use, so that a loop need not set them for every row.
        self.waitings: list[str] = []
        self._names: dict[int, str] = {}
        self._fresh = count(1)

    # -- whole functions

    def selection(self, selection: Selection) -> None:
        """Write a function that returns the dict of a selection, or a coroutine of it."""
        made, waiting = self.body(selection, "s", "p", 0)
        self.add(f"d = {made}")
        self.add(f"return d if {waiting} is None else x.join(d, {waiting})")

    def completer(self, field: FieldPlan) -> None:
        """Write a function that completes a value; its errors are the caller's to handle."""
        slow = f"x.complete(s, {self.constant('f', field)}, {self.constant('k', field.type)}, p)"
        self.complete(Spot(field, field.type, "s", "p", slow, None, None), 0)
        self.add("return s")

    def rows(self, field: FieldPlan, kind: Any) -> None:
        """Write a function that completes a list or tuple."""
        item, path = kind.of_type, "(p, len(out), None)"
        above = "p" if kind is get_nullable_type(field.type) else "above(p)"
        names = f"{self.constant('f', field)}, {self.constant('k', item)}"
        spot = Spot(
            field, item, "v", path, f"x.item(v, {names}, {path})", "len(out)", "w", True, above
        )
        leaves = is_leaf_type(get_nullable_type(item))
        self.add("out = []")
        self.add("add = out.append")
        self.add("w = None")
        if not leaves and not self.dicts:
            self.add("c = type(s[0])")
            self.add(f"if (kinds.get(c) or kind_of(c)) != {OBJECT}: c = None")
        with self.block("try:", when=NEW), self.block("for v in s:"):
            with self.block("try:", when=not leaves):
                self.complete(spot, 0)
            if not leaves:
                with self.block("except Exception as e:"):
                    self.add(f"v = x.fail(e, {names.replace(',', f', {path},', 1)})")
                    self.reset(0)
            self.add("add(v)")
        if NEW:
            with self.block("except Exception:"):
                self.add("x.settle(w, s[len(out) + 1:])")
                self.add("raise")
        self.add("return out if w is None else x.join(out, w)")

    # -- selections and fields

    def body(self, selection: Selection, s: str, p: str, level: int) -> tuple[str, str]:
        """Write the fields of a selection; return its dict as text, and what it waits for."""
        waiting = self.fresh("w")
        self.waitings.append(waiting)
        settled = NEW and any(is_non_null_type(field.type) for field in selection.fields)
        with self.block("try:", when=settled):
            members = [self.field(field, s, p, waiting, level) for field in selection.fields]
        if settled:
            with self.block("except Exception:"):
                self.add(f"if {waiting} is not None: x.settle({waiting})")
                self.add("raise")
        return "{" + ", ".join(members) + "}", waiting

    def field(self, field: FieldPlan, s: str, p: str, waiting: str, level: int) -> str:
        """Write one field; return its name and value as text."""
        if field.nodes[0].name.value == "__typename":
            return f"{field.name!r}: {field.parent.name!r}"
        clock = self.clock()
        v = self.fresh("v")
        name, path = self.constant("f", field), f"({p}, {field.name!r}, {field.parent.name!r})"
        if not field.default and field.native is None:  # its info object needs the path anyway
            self.add(f"{v}p = {path}")
            path = f"{v}p"
        method = "late" if field.default else "finish"
        slow = f"x.{method}({v}, {name}, {path})"
        spot = Spot(field, field.type, v, path, slow, repr(field.name), waiting)
        if field.default and field.constants is None:
            # Arguments are coerced before the value is looked up, and may fail.
            self.add(f"{v} = x.field({name}, {s}, {path})")
            self.wait(spot)
            self.tally(clock, name)
            return f"{field.name!r}: {v}"
        if field.default:
            self.lookup(spot, s)
        # What x.late runs into it handles itself, and tests of leaves raise nothing.
        guarded = not field.default or not is_leaf_type(get_nullable_type(field.type))
        before = len(self.waitings)
        with self.block("try:", when=guarded):
            if not field.default:
                self.call(spot, s)
            self.complete(spot, level)
        if guarded:
            with self.block("except Exception as e:"):
                self.add(f"{v} = x.fail(e, {name}, {path})")
                self.reset(before)
        self.tally(clock, name)
        return f"{field.name!r}: {v}"

    def clock(self) -> str:
        """Write that a clock starts, if this plan is being profiled; return its name."""
        name = self.fresh("t")
        if self.plan.timed:
            self.add(f"{name} = {self.constant('c', perf_counter)}()")
        return name

    def tally(self, clock: str, field: str) -> None:
        """Write that a field is done, if this plan is being profiled."""
        if self.plan.timed:
            self.add(f"x.tally({field}, {self.constant('c', perf_counter)}() - {clock})")

    def lookup(self, spot: Spot, s: str) -> None:
        """Write how a field is found in its parent."""
        name = spot.field.nodes[0].name.value
        if self.dicts:
            self.add(f"try: {spot.v} = {s}[{name!r}]")
            self.add(f"except KeyError: {spot.v} = None")
            return
        read = f"getattr({s}, {name!r}, None)" if iskeyword(name) else f"{s}.{name}"
        self.add(f"try: {spot.v} = {read}")
        self.add(f"except AttributeError: {spot.v} = None")
        fail = f"x.fail(e, {self.constant('f', spot.field)}, {spot.path})"
        self.add(f"except Exception as e: {spot.v} = {fail}")

    def call(self, spot: Spot, s: str) -> None:
        """Write the call of a resolver."""
        field = spot.field
        given = self.arguments(field)
        if field.native is not None:
            function = self.constant("g", field.native)
            self.add(f"{spot.v} = {function}({s}, {given}, x.context_value)")
            return
        info = f"new(Info, ({self.constant('f', field)}, {spot.path}, x))"
        more = "" if given == "{}" else f", **{given}"
        self.add(f"{spot.v} = {self.constant('r', field.resolve)}({s}, {info}{more})")

    def arguments(self, field: FieldPlan) -> str:
        """Return the arguments of a call as text: a dict that is new each time."""
        if field.constants is None:
            return f"x.args({self.constant('f', field)})"
        members = [f"{name!r}: {self.literal(v)}" for name, v in field.constants.items()]
        return "{" + ", ".join(members) + "}"

    def literal(self, value: Any) -> str:
        """Return a constant argument as text."""
        return self.constant("a", value) if type(value) is float else repr(value)

    # -- values

    def complete(self, spot: Spot, level: int) -> None:
        """Write how a value becomes its answer."""
        inner = get_nullable_type(spot.kind)
        if is_leaf_type(inner):
            self.leaf(inner, spot)
        elif is_list_type(inner):
            self.list(inner, spot)
        elif is_abstract_type(inner):
            chooser = Chooser(self.plan, spot.field, inner)
            self.bind(
                inner, "resolve_type", *((k, "is_type_of") for k in self.plan.possible(inner))
            )
            self.abstract(spot, chooser)
        else:
            self.bind(inner, "is_type_of")
            self.object(inner, spot, level)

    def leaf(self, kind: Any, spot: Spot) -> None:
        """Write the test that a leaf is of its usual type, and what happens if it is not."""
        if isinstance(kind, GraphQLEnumType):
            self.enum(kind, spot)
            return
        test = self.test(kind)
        with self.block(f"if {test.format(spot.v)}:" if test else "", when=test is not None):
            head = f"if {spot.v} is not None:" if spot.nullable else ""
            if kind is GraphQLID and test:
                with self.block(f"if type({spot.v}) is int and {-SMALL} < {spot.v} < {SMALL}:"):
                    self.add(f"{spot.v} = str({spot.v})")
                head = f"elif {spot.v} is not None:" if spot.nullable else "else:"
            with self.block(head, when=bool(head)):
                self.slowly(spot)

    def test(self, kind: Any) -> str | None:
        """Return the test that a value is not of a leaf's usual type; None if it has none."""
        now = serializer(kind)
        if kind in SERIALIZERS:
            return TESTS[kind] if now is SERIALIZERS[kind] else None
        plain = isinstance(kind, GraphQLScalarType) and now is GraphQLScalarType.serialize
        return "type({0}) not in PLAIN" if plain else None

    def enum(self, kind: GraphQLEnumType, spot: Spot) -> None:
        """Write the look-up of an enum member's name."""
        usual = getattr(serializer(kind), "__func__", None) is serializer(GraphQLEnumType)
        known = kind._value_lookup if usual else {}  # noqa: SLF001 - what it serializes by
        names = {value: name for value, name in known.items() if safe(value)}
        self.add(f"try: {spot.v} = {self.constant('n', names)}[{spot.v}]")
        with self.block("except Exception:"):
            head = f"if {spot.v} is not None:" if spot.nullable else ""
            with self.block(head, when=bool(head)):
                self.slowly(spot)

    def list(self, kind: Any, spot: Spot) -> None:
        """Write how a list is completed: by a function of its own, if it is a list or a tuple."""
        made = self.constant("l", self.rows_of(spot.field, kind))
        with self.block(f"if type({spot.v}) is list or type({spot.v}) is tuple:"):
            self.add(f"{spot.v} = {made}({spot.v}, {spot.path}, x)")
            self.wait(spot, guarded=True)
        with self.block(f"elif type({spot.v}) in VIEWS:"):
            self.add(f"{spot.v} = {made}(list({spot.v}), {spot.path}, x)")
            self.wait(spot, guarded=True)
        with self.block(f"elif {spot.v} is not None:" if spot.nullable else "else:"):
            self.slowly(spot)

    def abstract(self, spot: Spot, chooser: Chooser) -> None:
        """Write how the object type of a value is found, and its selection executed."""
        v, choose = spot.v, self.constant("u", chooser)
        word = "if"
        if self.dicts:
            word = "elif"
            with self.block(f"if type({v}) is dict:"):
                self.chosen(spot, chooser, choose)
                self.wait(spot, guarded=True)
        self.other(spot, choose, first=word == "if")

    def chosen(self, spot: Spot, chooser: Chooser, choose: str) -> None:
        """Write how the type of a dict is found where that takes one call."""
        v, name, enter = spot.v, self.fresh("n"), self.fresh("e")
        info = f"new(Info, ({self.constant('f', spot.field)}, {spot.above or spot.path}, x))"
        if chooser.default:
            self.add(f"{name} = {v}.get('__typename')")
        elif chooser.native is not None:
            self.add(f"{name} = {self.constant('g', chooser.native)}({v}, x.context_value)")
        else:
            resolve, kind = self.constant("r", chooser.resolve), self.constant("k", chooser.kind)
            self.add(f"{name} = {resolve}({v}, {info}, {kind})")
        entered = self.constant("m", chooser.dicts)
        self.add(f"{enter} = {entered}.get({name}) if type({name}) is str else None")
        with self.block(f"if {enter} is not None:"):
            self.add(f"{v} = {enter}({v}, {spot.path}, x)")
        if chooser.default and 0 < len(chooser.tested) <= TESTED:
            with self.block(f"elif {name} is None:"):
                self.asked(spot, chooser, info)
        with self.block("else:"):
            self.add(f"{v} = {choose}.named({name}, {v}, {spot.path}, x)")

    def asked(self, spot: Spot, chooser: Chooser, info: str) -> None:
        """Write how each possible type is asked whether a value is of it."""
        v, given, answer = spot.v, self.fresh("i"), self.fresh("q")
        self.add(f"{given} = {info}")
        depth = self.depth
        for kind in chooser.tested:
            self.add(f"{answer} = {self.constant('q', kind.is_type_of)}({v}, {given})")
            with self.block(f"if {answer} is True:"):
                below = self.below(kind, spot.field)
                enter = chooser if below is None else self.entry(below)
                self.add(f"{v} = {self.constant('t', enter)}({v}, {spot.path}, x)")
            self.add(
                f"elif {answer} is not False: {v} = {self.constant('u', chooser)}.unsure("
                f"{answer}, {v}, {spot.path}, x)"
            )
            self.add("else:")
            self.depth += 1
        self.add(f"{v} = {self.constant('u', chooser)}.first(None, {v}, {spot.path}, x)")
        self.depth = depth

    def object(self, kind: Any, spot: Spot, level: int) -> None:
        """Write how an object is completed: here if it is as expected, else by a call."""
        selection = self.below(kind, spot.field)
        if selection is None or kind.is_type_of is not None:
            with self.block(f"if {spot.v} is not None:" if spot.nullable else "", spot.nullable):
                self.slowly(spot)
            return
        head = None
        if level < DEEP and len(selection.fields) <= WIDE:
            head = self.expected(spot)
            with self.block(f"if {head}:"):
                made, waiting = self.body(selection, spot.v, self.kept(spot, selection), level + 1)
                self.add(f"{spot.v} = {made}")
                with self.block(f"if {waiting} is not None:"):
                    self.add(f"{spot.v} = {self.joined(spot, waiting)}")
                    self.add(f"{waiting} = None")
                    self.wait(spot, sure=True)
        self.other(spot, self.constant("t", self.entry(selection)), first=head is None)

    def kept(self, spot: Spot, selection: Selection) -> str:
        """Return the text of a path: a name, where several resolvers will need it."""
        asked = [f for f in selection.fields if not f.default and f.native is None]
        if not asked or spot.path.isidentifier():
            return spot.path
        name = self.fresh("p")
        self.add(f"{name} = {spot.path}")
        return name

    def expected(self, spot: Spot) -> str:
        """Return the test that an object is of the kind this function is written for."""
        if self.dicts:
            return f"type({spot.v}) is dict"
        if spot.item:
            return f"type({spot.v}) is c"
        return f"(kinds.get(type({spot.v})) or kind_of(type({spot.v}))) == {OBJECT}"

    def other(self, spot: Spot, function: str, first: bool = True) -> None:
        """Write the call of a function on a dict or object, and what happens to anything else."""
        v = spot.v
        word = "if" if first else "elif"
        if spot.nullable:
            self.add(f"{word} {v} is None: pass")
            word = "elif"
        with self.block(f"{word} (kinds.get(type({v})) or kind_of(type({v}))) != {UNUSUAL}:"):
            self.add(f"{v} = {function}({v}, {spot.path}, x)")
            self.wait(spot, guarded=True)
        with self.block("else:"):
            self.slowly(spot)

    # -- what must be awaited

    def slowly(self, spot: Spot) -> None:
        """Write the call that completes a value as graphql-core does."""
        self.add(f"{spot.v} = {spot.slow}")
        self.wait(spot)

    def wait(self, spot: Spot, *, guarded: bool = False, sure: bool = False) -> None:
        """Write what happens where a value must be awaited.

        With `guarded`, a nullable position takes the error of what it waits for.
        """
        if spot.waiting is None and not (guarded and spot.nullable):
            return
        with self.block(f"if type({spot.v}) is CORO:", when=not sure):
            if guarded and spot.nullable:
                self.add(f"{spot.v} = x.guard({spot.v}, {self.taker(spot)})")
            if spot.waiting is not None:
                self.add(f"if {spot.waiting} is None: {spot.waiting} = []")
                self.add(f"{spot.waiting}.append(({spot.key}, {spot.v}))")

    def joined(self, spot: Spot, waiting: str) -> str:
        """Return the coroutine of an object that waits for some of its fields."""
        if not spot.nullable:
            return f"x.join({spot.v}, {waiting})"
        return f"x.join_guarded({spot.v}, {waiting}, {self.taker(spot)})"

    def taker(self, spot: Spot) -> str:
        """Return the arguments that say which position takes an error."""
        kind = self.constant("k", spot.kind) if spot.item else "None"
        return f"{self.constant('f', spot.field)}, {spot.path}, {kind}"

    def reset(self, start: int) -> None:
        """Write that nothing is waited for below a position that has failed."""
        if names := self.waitings[start:]:
            self.add(f"{' = '.join(names)} = None")

    # -- lines and names

    def entry(self, selection: Selection) -> Any:
        """Return the function that executes a selection which compiled code has come to."""
        return selection.compiled()

    def below(self, kind: Any, field: FieldPlan) -> Selection | None:
        """Return the selection below a field; None if collecting it fails, as each run will say."""
        try:
            return self.plan.below(self.plan.sample, kind, field.group)
        except (GraphQLError, RecursionError):
            return None

    def bind(self, kind: Any, name: str, *more: tuple[Any, str]) -> None:
        """Note what this function takes as constant, so that a change of it is noticed."""
        for owner, member in ((kind, name), *more):
            self.plan.bound.append((owner, member, getattr(owner, member)))

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


def safe(value: Any) -> bool:
    """Tell whether an enum's internal value can be looked up without its own code running."""
    return type(value) in (str, int) or (isinstance(value, Enum) and not callable(value))


class Block:
    """Lines one level deeper; nothing but the lines where `when` is false."""

    __slots__ = ("head", "when", "writer")

    def __init__(self, writer: Writer, head: str, when: bool) -> None:
        self.writer, self.head, self.when = writer, head, when

    def __enter__(self) -> None:
        if self.when:
            self.writer.add(self.head)
            self.writer.depth += 1

    def __exit__(self, *_: object) -> None:
        if self.when:
            self.writer.depth -= 1
