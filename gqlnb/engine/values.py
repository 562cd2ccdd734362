"""Writing how a value becomes its answer: leaves, lists, objects, and what must be awaited."""

from __future__ import annotations

from enum import Enum
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
)

from gqlnb.engine.abstract import Chooser
from gqlnb.engine.counting import Counting
from gqlnb.engine.kinds import OBJECT, UNUSUAL
from gqlnb.engine.lines import Single, Spot
from gqlnb.engine.version import SERIALIZERS, serializer, serializes_by_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from gqlnb.engine.plan import FieldPlan, Plan, Selection

__all__ = ["Values"]

TESTED = 6  # possible types with a predicate that are asked in the function itself
SMALL = (1 << 30) - 1  # integers up to it are one digit to CPython, which compares them fast
BIG = "1.7976931348623157e308"  # the largest float: what is not within its signs is not finite

TESTS = {
    GraphQLString: "type({0}) is not str",
    GraphQLID: "type({0}) is not str",
    GraphQLInt: f"type({{0}}) is not int or {{0}} > {SMALL} or {{0}} < {-SMALL}",
    GraphQLFloat: f"type({{0}}) is not float or not -{BIG} <= {{0}} <= {BIG}",
    GraphQLBoolean: "{0} is not True and {0} is not False",
}


class Values(Counting):
    """The part of a writer that completes values; :class:`gqlnb.engine.codegen.Writer` is whole.

    Parameters
    ----------
    plan
        The plan it is part of.
    rows
        Returns the function that completes the lists of a field.
    dicts
        Whether to write for sources that are dicts, rather than for other objects.
    """

    def __init__(self, plan: Plan, rows: Callable[[FieldPlan, Any], Any], *, dicts: bool) -> None:
        super().__init__(plan, dicts=dicts)
        self.rows_of = rows
        # Names of lists of what must be awaited: None at the top of the function, and again after
        # each use, so that a loop need not set them for every row.
        self.waitings: list[str] = []
        self.classes: list[str] = []

    def body(
        self, selection: Selection, s: str, p: str, level: int
    ) -> tuple[str, str, Single | None]:
        """Write the fields of a selection; a writer of functions says how."""
        raise NotImplementedError

    def queue(self, waiting: str, single: Single) -> None:
        """Write that a leaf is awaited beside other fields; a writer of functions says how."""
        raise NotImplementedError

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
        if test is None:
            self.look()
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
        # What it serializes by.
        known = kind._value_lookup if serializes_by_name(kind) else {}  # noqa: SLF001
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
        if chooser.tested or not chooser.default:
            self.look()
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
            self.look()
            with self.block(f"if {spot.v} is not None:" if spot.nullable else "", spot.nullable):
                self.slowly(spot)
            return
        function = self.constant("t", self.entry(selection))
        if self.inlined(kind, spot.field, level) is None:
            self.other(spot, function)
            return
        with self.block(f"if {self.expected(spot)}:"):
            self.count(selection)
            path = self.kept(spot, selection)
            made, waiting, single = self.body(selection, spot.v, path, level + 1)
            self.add(f"{spot.v} = {made}")
            if single is not None:
                self.single(spot, waiting, single)
            with self.block(f"if {waiting} is not None:"):
                self.add(f"{spot.v} = {self.joined(spot, waiting)}")
                self.add(f"{waiting} = None")
                self.wait(spot, sure=True)
        with self.block("else:", when=self.each > 0):
            self.give_back(kind, spot.field, level)
            self.other(spot, function, first=self.each > 0)

    def single(self, spot: Spot, waiting: str, single: Single) -> None:
        """Write how an object waits for one leaf: in one coroutine, if for nothing else."""
        field, name = single.field, single.name
        with self.block(f"if {name} is not None:"):
            with self.block(f"if {waiting} is None:"):
                leaf = f"{field.name!r}, {name}, {self.constant('f', field)}, {single.path}"
                taker = f", {self.taker(spot)}" if spot.nullable else ""
                self.add(f"{spot.v} = x.leaf_of({spot.v}, {leaf}{taker})")
                self.wait(spot, sure=True)
            with self.block("else:"):
                self.queue(waiting, single)
            self.add(f"{name} = None")

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
        v = spot.v
        if self.dicts:
            return f"type({v}) is dict"
        if spot.item:
            return f"type({v}) is c"
        last = self.fresh("c")  # the class of the last such object, most often of the next too
        self.classes.append(last)
        usual = f"(kinds.get(type({v})) or kind_of(type({v}))) == {OBJECT}"
        return f"type({v}) is {last} or {usual} and ({last} := type({v}))"

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
        # What finds the type of an abstract value may raise errors without a place.
        guarded = guarded and (spot.nullable or is_abstract_type(get_nullable_type(spot.kind)))
        if spot.waiting is None and not guarded:
            return
        with self.block(f"if type({spot.v}) is CORO:", when=not sure):
            if guarded:
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


def safe(value: Any) -> bool:
    """Tell whether an enum's internal value can be looked up without its own code running."""
    return type(value) in (str, int) or (isinstance(value, Enum) and not callable(value))
