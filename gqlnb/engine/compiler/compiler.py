"""Making the functions of a plan when they are first called, and compiling their source."""

from __future__ import annotations

import linecache
import re
from collections import deque
from itertools import count
from threading import RLock
from typing import TYPE_CHECKING, Any
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
from gqlnb.engine.graphql_compat import CORO, PLAIN_TYPES

if TYPE_CHECKING:
    from collections.abc import Callable

    from gqlnb.engine.compiler.plans import FieldPlan, OperationPlan, SelectionPlan

__all__ = ["PlanCompiler"]

# What is listed before its items are completed: iterating over it runs no code of a user.
VIEWS = frozenset(
    {type({}.keys()), type({}.values()), type({}.items()), set, frozenset, range, deque}
)
GLOBALS: dict[str, Any] = {
    "CORO": CORO,
    "Info": Info,
    "PLAIN": PLAIN_TYPES,
    "kinds": type_kinds,
    "kind_of": classify_type,
    "VIEWS": VIEWS,
    "above": strip_list_indices,
    "new": tuple.__new__,
}
_serial = count(1)
_lock = RLock()


# Built-in names that the text tests with: as parameters they are found at once.
LOCAL_BUILTINS = ("CORO", "type", "str", "int", "float", "dict", "list", "tuple")


def format_source(name: str, writer: SourceWriter) -> str:
    """Return the text of a function."""
    body = "\n".join(writer.lines)
    used = [f", {word}={word}" for word in LOCAL_BUILTINS if re.search(rf"\b{word}\b", body)]
    names = [*writer.waiting_names, *writer.class_names]
    tops = [f" {' = '.join(names)} = None"] if names else []
    return "\n".join([f"def {name}(s, p, x{''.join(used)}):", *tops, body, ""])


def forget_sources(places: list[str]) -> None:
    """Drop the source of functions that are gone."""
    for place in places:
        linecache.cache.pop(place, None)


class PlanCompiler:
    """Makes the functions of one plan.

    Attributes
    ----------
    sources
        The source text of each function made so far, in the order they were made.
    """

    def __init__(self, plan: OperationPlan) -> None:
        self.plan = plan
        self.sources: list[str] = []
        self._rows: dict[tuple[Any, ...], Callable[..., Any]] = {}
        self._variants: dict[tuple[SelectionPlan, bool], Callable[..., Any]] = {}

    def compile_selection(self, selection: SelectionPlan) -> Callable[[Any, Any, Any], Any]:
        """Return a function that executes a selection, whatever its source is."""
        functions: dict[type, Callable[[Any, Any, Any], Any]] = {}

        def enter(source: Any, path: Any, run: Any) -> Any:
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

    def get_variant(
        self, selection: SelectionPlan, *, dicts: bool
    ) -> Callable[[Any, Any, Any], Any]:
        """Return the function that executes a selection on dicts, or on other objects."""
        key = (selection, dicts)
        if key not in self._variants:
            label = f"{selection.kind.name}_{selection.where}"
            made = self.build_function(
                label, lambda writer: writer.write_selection(selection), dicts=dicts
            )
            self._variants[key] = made
        return self._variants[key]

    def compile_rows(self, field: FieldPlan, kind: Any) -> Callable[[Any, Any, Any], Any]:
        """Return a function ``(compile_rows, path, run)`` that completes a list or tuple of a field."""
        # The nodes live as long as the plan; a field may be planned twice.
        key = (field.parent.name, *map(id, field.nodes), id(kind))
        if key not in self._rows:
            self._rows[key] = self._compile_rows(field, kind)
        return self._rows[key]

    def _compile_rows(self, field: FieldPlan, kind: Any) -> Callable[[Any, Any, Any], Any]:
        label = f"{field.parent.name}_{field.name}_rows"
        leaves = is_leaf_type(get_nullable_type(kind.of_type))
        variants: dict[bool, Callable[[Any, Any, Any], Any]] = {}

        def enter(rows: Any, path: Any, run: Any) -> Any:
            if not rows:
                return []
            dicts = leaves or type(rows[0]) is dict
            made = variants.get(dicts)
            if made is None:
                made = self.build_function(
                    label, lambda writer: writer.write_rows(field, kind), dicts=dicts
                )
                variants[dicts] = made
            return made(rows, path, run)

        return enter

    def compile_completer(self, field: FieldPlan) -> Callable[[Any, Any, Any], Any]:
        """Return a function ``(value, path, run)`` that completes the value of a field."""
        label = f"{field.parent.name}_{field.name}_value"
        return self.build_function(label, lambda writer: writer.write_completer(field), dicts=True)

    def write_selection_source(self, selection: SelectionPlan) -> str:
        """Return the source that a selection has for dicts, without compiling it."""
        writer = SourceWriter(self.plan, self.compile_rows, dicts=True)
        writer.write_selection(selection)
        return format_source(f"{selection.kind.name}_{selection.where}_dict", writer)

    def write_rows_source(self, field: FieldPlan, kind: Any) -> str:
        """Return the source that a list of a field has for dicts, without compiling it."""
        writer = SourceWriter(self.plan, self.compile_rows, dicts=True)
        writer.write_rows(field, kind)
        return format_source(f"{field.parent.name}_{field.name}_rows_dict", writer)

    def build_function(
        self, label: str, write: Callable[[SourceWriter], None], *, dicts: bool
    ) -> Callable[[Any, Any, Any], Any]:
        """Write and compile a function; its source can be read in tracebacks."""
        with _lock:  # compiling works on the plan, which threads share
            writer = SourceWriter(self.plan, self.compile_rows, dicts=dicts)
            write(writer)
        name = f"{label}_{'dict' if dicts else 'object'}"
        text = format_source(name, writer)
        place = f"<gqlnb {next(_serial)}: {name}>"
        space = {**GLOBALS, **writer.constants}
        exec(compile(text, place, "exec"), space)  # noqa: S102 - our own text, names of a schema
        linecache.cache[place] = (len(text), None, text.splitlines(keepends=True), place)
        if not self.plan.source_names:
            finalize(self.plan, forget_sources, self.plan.source_names)
        self.plan.source_names.append(place)
        self.sources.append(text)
        return space[name]  # type: ignore[no-any-return]
