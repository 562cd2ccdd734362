"""Interfaces and unions: finding the object type of a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphql import default_type_resolver

from gqlnb.engine.info import above

if TYPE_CHECKING:
    from collections.abc import Callable

    from gqlnb.engine.core import Run
    from gqlnb.engine.plan import FieldPlan, Plan

__all__ = ["Chooser"]


class Chooser:
    """Finds the object type of an abstract type's value, and executes its selection.

    Called as ``(value, path, run)`` with a value that is neither null nor unusual. The default
    resolution is graphql-core's, in its order: ``__typename`` of the value, then ``is_type_of`` of
    each possible type; a predicate that has said yes is not asked a second time.
    """

    def __init__(self, plan: Plan, field: FieldPlan, kind: Any) -> None:
        self.plan, self.field, self.kind = plan, field, kind
        self.resolve: Any = kind.resolve_type or plan.type_resolver
        self.default = self.resolve is default_type_resolver
        self.native = getattr(self.resolve, "gqlnb_native", None)
        self.tested: list[Any] = [k for k in plan.possible(kind) if k.is_type_of is not None]
        # By name: the function for dicts, and the one for every source.
        self.dicts: dict[str, Callable[[Any, Any, Run], Any]] = {}
        self.entered: dict[str, Callable[[Any, Any, Run], Any]] = {}
        self.asked: dict[str, Callable[[Any, Any, Run], Any]] = {}
        self.names: dict[type, tuple[str, ...]] = {}

    def __call__(self, value: Any, path: Any, run: Run) -> Any:
        """Return the completed value, or a coroutine of it."""
        if self.native is not None:
            name = self.native(value, run.context_value)
            enter = self.entered.get(name) if type(name) is str else None
            if enter is not None:
                return enter(value, path, run)
        elif not self.default:
            name = self.resolve(value, run.info(self.field, above(path)), self.kind)
        elif type(value) is dict:
            name = value.get("__typename")
        else:
            name = self.typename(value)
        return self.named(name, value, path, run)

    def named(self, name: Any, value: Any, path: Any, run: Run) -> Any:
        """Return the completed value, given what its type was said to be."""
        if type(name) is str:
            enter = self.entered.get(name)
            if enter is not None:
                return enter(value, path, run)
        elif self.default and not isinstance(name, str):
            return self.ask(value, path, run)
        return self.first(name, value, path, run)

    def typename(self, value: Any) -> Any:
        """Return the attribute ``__typename``, under the name Python gives it in a class."""
        cls = value.__class__
        names = self.names.get(cls)
        if names is None:
            names = self.names[cls] = tuple(f"_{c.__name__}__typename" for c in cls.__mro__)
        for name in names:
            found = getattr(value, name, None)
            if found:
                return found
        return None

    def ask(self, value: Any, path: Any, run: Run) -> Any:
        """Ask each possible type whether the value is of it."""
        info = run.info(self.field, above(path))
        for kind in self.tested:
            answer = kind.is_type_of(value, info)
            if answer is True or (answer and not run.is_awaitable(answer)):
                enter = self.asked.get(kind.name)
                if enter is None:
                    enter = self.plan.below(run, kind, self.field.group).compiled()
                    self.asked[kind.name] = enter
                return enter(value, path, run)
            if answer is not False and run.is_awaitable(answer):
                if hasattr(answer, "close"):
                    answer.close()  # asked again by graphql-core, which waits for all of them
                return self.first(self.resolve(value, info, self.kind), value, path, run)
        return self.first(None, value, path, run)

    def unsure(self, answer: Any, value: Any, path: Any, run: Run) -> Any:
        """Go on where a predicate answered neither True nor False."""
        if hasattr(answer, "close"):
            answer.close()  # asked again below, where it is awaited if it must be
        return self.ask(value, path, run)

    def first(self, name: Any, value: Any, path: Any, run: Run) -> Any:
        """Check the name of a type as graphql-core does, and remember a good one."""
        if run.is_awaitable(name):
            return self.later(name, value, path, run)
        info = run.info(self.field, above(path))
        kind = run.ensure_valid_runtime_type(name, self.kind, self.field.group, info, value)
        selection = self.plan.below(run, kind, self.field.group)
        if kind.is_type_of is not None:
            return run.typed(value, self.field, selection, path)
        if type(name) is str:
            self.entered[name] = selection.compiled()
            self.dicts[name] = self.plan.maker.variant(selection, dicts=True)
        return selection.enter(value, path, run)

    async def later(self, name: Any, value: Any, path: Any, run: Run) -> Any:
        """Await the name of the type."""
        made = self.first(await name, value, path, run)
        return await made if run.is_awaitable(made) else made
