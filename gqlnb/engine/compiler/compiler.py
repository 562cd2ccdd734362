"""Compilation of the functions of a plan, each when it is first called."""

from __future__ import annotations

import linecache
import re
from collections import deque
from itertools import count
from threading import RLock
from typing import TYPE_CHECKING, Any, cast
from weakref import finalize

from graphql import get_nullable_type, is_leaf_type

from gqlnb.engine.compiler.executor import Info, strip_list_indices
from gqlnb.engine.compiler.source_writer import SourceWriter
from gqlnb.engine.compiler.type_resolution import (
    MAX_TYPES,
    classify_type,
    is_mapping,
    mapping_types,
    type_kinds,
)
from gqlnb.engine.graphql_compat import CORO, PLAIN_TYPES, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from gqlnb.engine.compiler.executor import CompiledFunction, LazyPath, PlanExecutor
    from gqlnb.engine.compiler.plans import FieldPlan, OperationPlan, SelectionPlan

__all__ = ["PlanCompiler"]

# Listed before their items are completed: iterating over them runs no user code.
VIEWS = frozenset(
    {type({}.keys()), type({}.values()), type({}.items()), set, frozenset, range, deque}
)
# The names that source_writer uses in its text.
GLOBALS: dict[str, object] = {
    "CORO": CORO,
    "Info": Info,
    "PLAIN": PLAIN_TYPES,
    "kinds": type_kinds,
    "kind_of": classify_type,
    "VIEWS": VIEWS,
    "above": strip_list_indices,
    "new": tuple.__new__,
}
# Names that the text tests with; as default arguments they are locals, which Python finds fastest.
LOCAL_NAMES = ("CORO", "type", "str", "int", "float", "dict", "list", "tuple")
_serial = count(1)
_lock = RLock()


def format_source(name: str, writer: SourceWriter) -> str:
    """Return the text of a function."""
    body = "\n".join(writer.lines)
    used = [f", {word}={word}" for word in LOCAL_NAMES if re.search(rf"\b{word}\b", body)]
    names = [*writer.waiting_names, *writer.class_names]
    first = [f" {' = '.join(names)} = None"] if names else []
    return "\n".join([f"def {name}(s, p, x{''.join(used)}):", *first, body, ""])


def forget_sources(places: list[str]) -> None:
    for place in places:
        linecache.cache.pop(place, None)


class PlanCompiler:
    """Compiles the functions of one plan.

    Attributes
    ----------
    sources
        The source text of each function, in the order of compilation.
    """

    def __init__(self, plan: OperationPlan) -> None:
        self.plan = plan
        self.sources: list[str] = []
        self._rows: dict[tuple[object, ...], CompiledFunction] = {}
        self._variants: dict[tuple[SelectionPlan, bool], CompiledFunction] = {}

    def compile_selection(self, selection: SelectionPlan) -> CompiledFunction:
        """Return a function that executes a selection on a source of any type."""
        functions: dict[type, CompiledFunction] = {}

        def enter(source: Value, path: LazyPath, run: PlanExecutor) -> Value:
            cls = type(source)
            function = functions.get(cls)
            if function is None:
                if cls is not dict and (mapping_types.get(cls) or is_mapping(cls)):
                    return run.execute_uncompiled(selection, source, path)
                if len(functions) > MAX_TYPES:
                    functions.clear()
                function = functions[cls] = self.get_variant(selection, dicts=cls is dict)
            return function(source, path, run)

        return enter

    def get_variant(self, selection: SelectionPlan, *, dicts: bool) -> CompiledFunction:
        """Return the function that executes a selection on dicts, or on other objects."""
        key = (selection, dicts)
        if key not in self._variants:
            label = f"{selection.kind.name}_{selection.where}"
            self._variants[key] = self.build_function(
                label, lambda writer: writer.write_selection(selection), dicts=dicts
            )
        return self._variants[key]

    def compile_rows(self, field: FieldPlan, kind: Any) -> CompiledFunction:
        """Return a function that completes a list or tuple of a field."""
        # The nodes live as long as the plan; a field may have two plans.
        key = (field.parent.name, *map(id, field.nodes), id(kind))
        if key in self._rows:
            return self._rows[key]
        label = f"{field.parent.name}_{field.name}_rows"
        leaves = is_leaf_type(get_nullable_type(kind.of_type))
        variants: dict[bool, CompiledFunction] = {}

        def enter(rows: Value, path: LazyPath, run: PlanExecutor) -> Value:
            if not rows:
                return []
            dicts = leaves or type(rows[0]) is dict
            function = variants.get(dicts)
            if function is None:
                function = variants[dicts] = self.build_function(
                    label, lambda writer: writer.write_rows(field, kind), dicts=dicts
                )
            return function(rows, path, run)

        self._rows[key] = enter
        return enter

    def compile_completer(self, field: FieldPlan) -> CompiledFunction:
        """Return a function that completes the value of a field."""
        label = f"{field.parent.name}_{field.name}_value"
        return self.build_function(label, lambda writer: writer.write_completer(field), dicts=True)

    def write_selection_source(self, selection: SelectionPlan) -> str:
        """Return the source of a selection for dicts, without compiling it."""
        writer = SourceWriter(self.plan, self.compile_rows, dicts=True)
        writer.write_selection(selection)
        return format_source(f"{selection.kind.name}_{selection.where}_dict", writer)

    def write_rows_source(self, field: FieldPlan, kind: Any) -> str:
        """Return the source of a list of dicts, without compiling it."""
        writer = SourceWriter(self.plan, self.compile_rows, dicts=True)
        writer.write_rows(field, kind)
        return format_source(f"{field.parent.name}_{field.name}_rows_dict", writer)

    def build_function(
        self, label: str, write: Callable[[SourceWriter], None], *, dicts: bool
    ) -> CompiledFunction:
        """Write and compile a function; tracebacks show its source."""
        with _lock:  # writing changes the plan, which threads share
            writer = SourceWriter(self.plan, self.compile_rows, dicts=dicts)
            write(writer)
        name = f"{label}_{'dict' if dicts else 'object'}"
        text = format_source(name, writer)
        place = f"<gqlnb {next(_serial)}: {name}>"
        namespace = {**GLOBALS, **writer.constants}
        # The text is our own; of the request it contains names only, which are identifiers.
        exec(compile(text, place, "exec"), namespace)  # noqa: S102
        linecache.cache[place] = (len(text), None, text.splitlines(keepends=True), place)
        if not self.plan.source_names:
            finalize(self.plan, forget_sources, self.plan.source_names)
        self.plan.source_names.append(place)
        self.sources.append(text)
        return cast("CompiledFunction", namespace[name])
