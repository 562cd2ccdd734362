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

from inspect import iscoroutinefunction
from keyword import iskeyword
from time import perf_counter
from typing import TYPE_CHECKING, Any

from graphql import get_nullable_type, is_leaf_type, is_non_null_type

from gqlnb.engine.kinds import OBJECT
from gqlnb.engine.lines import Single, Spot
from gqlnb.engine.values import Values
from gqlnb.engine.version import NEW

if TYPE_CHECKING:
    from gqlnb.engine.plan import FieldPlan, Selection

__all__ = ["Writer"]


class Writer(Values):
    """Writes the body of one function; the parameters are those of its base."""

    # -- whole functions

    def selection(self, selection: Selection) -> None:
        """Write a function that returns the dict of a selection, or a coroutine of it."""
        self.opened()
        self.count(selection)
        made, waiting, single = self.body(selection, "s", "p", 0)
        self.add(f"d = {made}")
        if single is not None:
            with self.block(f"if {single.name} is not None:"):
                self.queue(waiting, single)
        self.add(f"return d if {waiting} is None else x.join(d, {waiting})")

    def completer(self, field: FieldPlan) -> None:
        """Write a function that completes a value; its errors are the caller's to handle."""
        self.opened()
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
        self.opened()
        self.add("out = []")
        self.add("add = out.append")
        self.add("w = None")
        if not leaves and not self.dicts:
            self.add("c = type(s[0])")
            self.add(f"if (kinds.get(c) or kind_of(c)) != {OBJECT}: c = None")
        rows = self.rows_counted(field, item)
        with self.block("try:", when=NEW), self.block(f"for v in {rows}:"):
            self.row_begins()
            with self.block("try:", when=not leaves):
                self.complete(spot, 0)
            if not leaves:
                with self.block("except Exception as e:"):
                    self.add(f"v = x.fail(e, {names.replace(',', f', {path},', 1)})")
                    self.reset(0)
            self.add("add(v)")
            self.row_ends()
        if NEW:
            with self.block("except Exception:"):
                self.add("x.settle(w, s[len(out) + 1:])")
                self.add("raise")
        self.add("return out if w is None else x.join(out, w)")

    # -- selections and fields

    def body(
        self, selection: Selection, s: str, p: str, level: int
    ) -> tuple[str, str, Single | None]:
        """Write the fields of a selection.

        Returns
        -------
        (str, str, Single or None)
            Its dict, the name of the list of what it waits for, and the one leaf it waits for
            besides, if its functions say that there is one.
        """
        waiting = self.fresh("w")
        self.waitings.append(waiting)
        single = self.single_of(selection)
        settled = NEW and any(
            is_non_null_type(field.type) and field.head[0] != "__typename"
            for field in selection.fields
        )
        with self.block("try:", when=settled):
            members = [
                self.field(field, s, p, waiting, level, single=single) for field in selection.fields
            ]
        if settled:
            with self.block("except Exception:"):
                if single is not None:
                    self.add(f"if {single.name} is not None: x.settle([(None, {single.name})])")
                self.add(f"if {waiting} is not None: x.settle({waiting})")
                self.add("raise")
        return "{" + ", ".join(members) + "}", waiting, single

    def single_of(self, selection: Selection) -> Single | None:
        """Return the only field that is an ``async`` function, if it is a leaf."""
        if self.plan.is_awaitable is not None or self.plan.timed:
            return None
        found = [f for f in selection.fields if iscoroutinefunction(f.native or f.resolve)]
        if len(found) != 1 or not is_leaf_type(get_nullable_type(found[0].type)):
            return None
        name = self.fresh("y")
        self.waitings.append(name)
        return Single(found[0], name)

    def queue(self, waiting: str, single: Single) -> None:
        """Write that a leaf is awaited beside other fields."""
        field = single.field
        self.add(f"if {waiting} is None: {waiting} = []")
        leaf = f"x.await_leaf({single.name}, {self.constant('f', field)}, {single.path})"
        self.add(f"{waiting}.append(({field.name!r}, {leaf}))")

    def field(
        self, field: FieldPlan, s: str, p: str, waiting: str, level: int, *, single: Single | None
    ) -> str:
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
        if field.default and not field.direct:
            # Arguments are coerced before the value is looked up, and may fail to be or to be
            # passed.
            self.add(f"{v} = x.field({name}, {s}, {path})")
            self.wait(spot)
        else:
            self.answered(spot, s, level, single)
        self.tally(clock, name)
        return f"{field.name!r}: {v}"

    def answered(self, spot: Spot, s: str, level: int, single: Single | None) -> None:
        """Write how a field is looked up or resolved, and completed."""
        field, v = spot.field, spot.v
        if field.default:
            self.lookup(spot, s)
        # What x.late runs into it handles itself, and tests of leaves raise nothing.
        guarded = not field.default or not is_leaf_type(get_nullable_type(field.type))
        before = len(self.waitings)
        with self.block("try:", when=guarded):
            if not field.default:
                self.call(spot, s)
            mine = single is not None and single.field is field
            if single is not None and mine:
                single.path = spot.path
                self.add(f"if type({v}) is CORO: {single.name} = {v}; {v} = None")
            with self.block("else:", when=mine):
                self.complete(spot, level)
        if guarded:
            with self.block("except Exception as e:"):
                self.add(f"{v} = x.fail(e, {self.constant('f', field)}, {spot.path})")
                self.reset(before)

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
        self.look()
        if field.native is not None:
            function = self.constant("g", field.native)
            self.add(f"{spot.v} = {function}({s}, {given}, x.context_value)")
            return
        info = f"new(Info, ({self.constant('f', field)}, {spot.path}, x))"
        if ignores_info(field.resolve):
            info = "None"
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


def ignores_info(resolve: Any) -> bool:
    """Tell whether a resolver is one of graphql-core's own for introspection that needs no info."""
    code = getattr(resolve, "__code__", None)
    ours = getattr(resolve, "__module__", None) == "graphql.type.introspection"
    return ours and code is not None and code.co_varnames[1:2] == ("_info",)
