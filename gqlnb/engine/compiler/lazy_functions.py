"""The functions of a plan, compiled when they are first called; lists of plain rows as columns.

Reading rows into columns runs no code of the user, and no value is collected that graphql-core
would refuse: if a row or a value is of another kind, the list is executed row by row, as if nothing
was read.
"""

from __future__ import annotations

import linecache
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from inspect import getattr_static
from itertools import chain, count
from math import isfinite
from operator import itemgetter
from threading import RLock
from types import CodeType, MemberDescriptorType
from typing import TYPE_CHECKING, Any, cast
from weakref import finalize

from graphql import (
    GRAPHQL_MAX_INT,
    GraphQLEnumType,
    GraphQLFloat,
    GraphQLID,
    GraphQLInt,
    GraphQLObjectType,
    GraphQLResolveInfo,
    GraphQLScalarType,
    get_nullable_type,
    is_leaf_type,
)
from graphql.pyutils import Path

from gqlnb.document.sized_cache import SizedCache
from gqlnb.engine.compiler.function_writer import SourceTooLongError, is_identifier
from gqlnb.engine.compiler.gathering import FUTURE, queue_awaitable
from gqlnb.engine.compiler.python_types import (
    COMPUTED_OBJECT,
    DICT,
    ITEM_MAPPING,
    MAPPING,
    OBJECT,
    UNUSUAL,
    VARIANTS,
    copy_small_ints,
    find_attribute_function,
    read_own_attributes,
)
from gqlnb.engine.compiler.resolve_info import LazyPath, strip_list_indices, to_path
from gqlnb.engine.compiler.source_writer import SourceWriter, list_enum_names
from gqlnb.engine.graphql_compat import (
    CORO,
    PLAIN_TYPES,
    SERIALIZERS,
    AnyGraphQLType,
    Value,
    get_serializer,
)
from gqlnb.result.column_batch import MIN_BATCH_ROWS, ColumnBatch

if TYPE_CHECKING:
    from gqlnb.engine.compiler.executor import CompiledFunction, PlanExecutor
    from gqlnb.engine.compiler.plans import FieldPlan, OperationPlan, SelectionPlan


# Listed before their items are completed: iterating over them runs no user code.
VIEWS = frozenset(
    {type({}.keys()), type({}.values()), type({}.items()), set, frozenset, range, deque}
)
# The names that the generated text uses, beside `kinds` and the info classes of the plan.
GLOBALS: dict[str, object] = {
    "CORO": CORO,
    "FUTURE": FUTURE,
    "JSON": PLAIN_TYPES | {dict, list},
    "Path": Path,
    "VIEWS": VIEWS,
    "chain": chain,
    "above": strip_list_indices,
    "copy_small_ints": copy_small_ints,
    "find_attribute_function": find_attribute_function,
    "new": tuple.__new__,
    "queue": queue_awaitable,
    "read_own_attributes": read_own_attributes,
    "to_path": to_path,
}
# Names that the text tests with; as default arguments they are locals, which Python finds fastest.
LOCAL_NAMES = ("CORO", "type", "str", "int", "float", "dict", "list", "tuple")
MAX_LABEL = 100  # characters
MAX_CODES = 512  # functions whose code is kept for others, of 150,000 characters in all
SOURCE_NAMES = {
    DICT: "dicts",
    OBJECT: "objects",
    MAPPING: "mappings",
    ITEM_MAPPING: "mappings by item",
    COMPUTED_OBJECT: "objects with __getattr__",
}
_serial = count(1)
# Code by its text: plans of an edited document, or of a document on another schema, share it, since
# Python takes most of the time of building a function for compiling it.
_codes: SizedCache[str, CodeType] = SizedCache(MAX_CODES)
_place_users: Counter[str] = Counter()  # the number of functions of a place in linecache
_forgotten: deque[str] = deque()  # places in linecache
_lock = RLock()


def format_source(label: str, writer: SourceWriter) -> str:
    """Return the text of a function; its name is fixed, and its docstring is the label."""
    body = "\n".join(writer.lines)
    # Also a word within another: a pattern would take a tenth of the time of compiling.
    used = [f", {word}={word}" for word in LOCAL_NAMES if word in body]
    names = [*writer.waiting_names, *writer.class_names]
    first = [f" {' = '.join(names)} = None"] if names else []
    docstring = f" {label[:MAX_LABEL]!r}"
    return "\n".join([f"def execute(s, p, x{''.join(used)}):", docstring, *first, body, ""])


def _forget_sources(places: list[str]) -> None:
    # A collection may end a plan while `linecache.checkcache` walks over the entries, so they are
    # removed with the next one that is added.
    _forgotten.extend(places)


def add_source(place: str, text: str) -> None:
    """Show a generated text in tracebacks."""
    with _lock, suppress(IndexError):  # other threads take from it, too
        _place_users[place] += 1
        while _forgotten:
            unused = _forgotten.popleft()
            _place_users[unused] -= 1
            if not _place_users[unused]:
                del _place_users[unused]
                linecache.cache.pop(unused, None)
    linecache.cache[place] = (len(text), None, text.splitlines(keepends=True), place)


def build_lazily(build: Callable[[int], CompiledFunction]) -> list[CompiledFunction]:
    """Return functions by the kind of the source object; each is built when it is first called.

    `build` returns the function for one of VARIANTS.
    """
    variants: dict[int, CompiledFunction] = {}
    functions: list[CompiledFunction] = []

    def prepare(kind: int) -> CompiledFunction:
        def build_and_call(source: Value, path: LazyPath, run: PlanExecutor) -> Value:
            variant = VARIANTS[kind]
            if variant not in variants:
                variants[variant] = build(variant)
            if functions[kind] is build_and_call:
                functions[kind] = variants[variant]
            return variants[variant](source, path, run)

        return build_and_call

    functions += map(prepare, range(len(VARIANTS)))
    return functions


class PlanCompiler:
    """Compiles the functions of one plan."""

    def __init__(self, plan: OperationPlan) -> None:
        self.plan = plan
        self._rows: dict[tuple[object, ...], CompiledFunction] = {}

    def compile_selection(self, selection: SelectionPlan) -> list[CompiledFunction]:
        """Return the functions that execute a selection, by the kind of their source object."""

        def execute_uncompiled(source: Value, path: LazyPath, run: PlanExecutor) -> Value:
            return run.execute_uncompiled(selection, source, path)

        label = f"{selection.kind.name} of {selection.where}"
        write = partial(SourceWriter.write_selection, selection=selection)
        functions = build_lazily(partial(self.build_function, label, write, execute_uncompiled))
        enter_object = functions[UNUSUAL]

        def enter_unusual(source: Value, path: LazyPath, run: PlanExecutor) -> Value:
            mapping = isinstance(source, Mapping)
            return (execute_uncompiled if mapping else enter_object)(source, path, run)

        functions[UNUSUAL] = enter_unusual
        return functions

    def compile_rows(
        self, field: FieldPlan, kind: AnyGraphQLType, *, iterator: bool = False
    ) -> CompiledFunction:
        """Return a function that completes a list or tuple of a field.

        With `iterator`, it completes any iterable, each item before the next one is taken.
        """
        # The nodes live as long as the plan; a field may have two plans.
        key = (field.parent.name, *map(id, field.nodes), id(kind), iterator)
        if key in self._rows:
            return self._rows[key]

        def complete_uncompiled(rows: Value, path: LazyPath, run: PlanExecutor) -> Value:
            rows = chain((rows[0],), rows[1]) if iterator else rows
            return run.complete_rows_uncompiled(rows, field, kind, path)

        label = f"list of {field.parent.name}.{field.name}"
        write = partial(SourceWriter.write_rows, field=field, kind=kind, iterator=iterator)
        functions = build_lazily(partial(self.build_function, label, write, complete_uncompiled))
        kinds = self.plan.cache.type_kinds
        item = get_nullable_type(kind.of_type)
        leaves = is_leaf_type(item)

        def enter(rows: Value, path: LazyPath, run: PlanExecutor) -> Value:
            return functions[kinds[type(rows[0])]](rows, path, run) if rows else []

        def enter_leaves(rows: Value, path: LazyPath, run: PlanExecutor) -> Value:
            return functions[DICT](rows, path, run)

        def enter_iterator(rows: Value, path: LazyPath, run: PlanExecutor) -> Value:
            items = iter(rows)
            for first in items:
                function = functions[DICT if leaves else kinds[type(first)]]
                return function((first, items), path, run)
            return []

        self._rows[key] = enter_iterator if iterator else enter_leaves if leaves else enter
        if self.plan.columnar and isinstance(item, GraphQLObjectType) and not iterator:
            self._rows[key] = self.build_column_collector(field, item, enter)
        return self._rows[key]

    def build_column_collector(
        self, field: FieldPlan, item: GraphQLObjectType, enter: CompiledFunction
    ) -> CompiledFunction:
        """Return a function that completes a list as columns, if it can, or else by `enter`."""
        plan = self.plan

        def collect(rows: Value, path: LazyPath, run: PlanExecutor) -> Value:
            if plan.columnar and is_batch(rows, path):
                selection = field.find_selection_below(item) if item.is_type_of is None else None
                batch = None if selection is None else collect_columns(rows, selection)
                if batch is not None:
                    return batch
                plan.columnar = False  # the next rows are probably of the same kind
            return enter(rows, path, run)

        return collect

    def compile_completer(self, field: FieldPlan) -> CompiledFunction:
        """Return a function that completes the value of a field."""
        return self.build_function(
            f"value of {field.parent.name}.{field.name}",
            partial(SourceWriter.write_completer, field=field),
            lambda value, path, run: run.complete_uncompiled(value, field, field.type, path),
            DICT,
        )

    def build_function(
        self,
        label: str,
        write: Callable[[SourceWriter], None],
        uncompiled: CompiledFunction,
        source_kind: int,
    ) -> CompiledFunction:
        """Write and compile a function; tracebacks show its source.

        Parameters
        ----------
        label
            The name of its subject.
        write
            Writes the body.
        uncompiled
            The function to use instead if the plan's source would become too long.
        source_kind
            The kind of the source objects it is written for.
        """
        plan = self.plan
        writer = SourceWriter(plan, self.compile_rows, source_kind)
        try:
            with _lock:  # writing changes the plan, which threads share
                write(writer)
        except SourceTooLongError:
            return uncompiled
        label = f"{label}, from {SOURCE_NAMES[source_kind]}"
        text = format_source(label, writer)
        namespace = {
            **GLOBALS,
            **plan.info_classes,
            "kinds": plan.cache.type_kinds,
            **writer.constants,
        }
        # Of the document and the schema, the text holds string literals only (write_text), and
        # names of attributes and arguments that are identifiers.
        code = _codes.get(text)
        if code is None:
            code = compile(text, f"<gqlnb {next(_serial)}: {label[:MAX_LABEL]}>", "exec")
            _codes.add(text, code, len(text))
        exec(code, namespace)  # noqa: S102
        place = code.co_filename
        add_source(place, text)
        if not plan.source_names:
            finalize(plan, _forget_sources, plan.source_names)
        plan.source_names.append(place)
        plan.source_size += len(text)
        plan.cache.count_source(len(text))
        return cast("CompiledFunction", namespace["execute"])


CHUNK_ROWS = 4_000  # read column by column: they fit into the processor's cache
NUMBERS = {GraphQLInt: int, GraphQLFloat: float}
NULL = type(None)
ENUM_TYPES = frozenset({str, int, NULL})  # of values whose hash runs no code
# The descriptors of slots and of the members of named tuples.
SLOT_TYPES = frozenset({MemberDescriptorType, type(GraphQLResolveInfo.path)})


class NotPlainError(Exception):
    """A row or a value that is not plain."""


def is_batch(rows: Sequence[Any], path: LazyPath) -> bool:
    """Return whether a list is long enough for columns, and not in an item of another list."""
    if len(rows) < MIN_BATCH_ROWS:
        return False
    while path is not None and type(path[1]) is str:
        path = path[0]
    return path is None


def collect_columns(rows: Sequence[Any], selection: SelectionPlan) -> ColumnBatch | None:
    """Return the completed rows of a list as columns; None if one is not plain."""
    first, *others = range(0, len(rows), CHUNK_ROWS)
    try:
        batch = collect_chunk(rows[first : first + CHUNK_ROWS], selection)
        for start in others:
            batch.append(collect_chunk(rows[start : start + CHUNK_ROWS], selection))
    except (NotPlainError, AttributeError, KeyError, ValueError):  # missing members, long numbers
        return None
    return batch


def collect_chunk(rows: Sequence[Any], selection: SelectionPlan) -> ColumnBatch:
    """Return the columns of some rows."""
    classes = set(map(type, rows))
    cls = classes.pop()
    # Null and exceptions are no objects, even if nothing is read from them.
    usual = selection.plan.cache.type_kinds[cls] in (DICT, OBJECT)
    if classes or selection.conditions or not usual:
        raise NotPlainError
    members = {field.name: collect_member(rows, cls, field) for field in selection.fields}
    return ColumnBatch(len(rows), members)


def collect_member(rows: Sequence[Any], cls: type, field: FieldPlan) -> list[Any] | ColumnBatch:
    """Return a completed field of some rows, which are of one class."""
    if field.field_name == "__typename":
        return [field.parent.name] * len(rows)
    kind: Any = get_nullable_type(field.type)
    if not field.direct and field.attribute is None:
        raise NotPlainError
    if is_leaf_type(kind):
        return complete_leaves(read_member(rows, cls, field), kind, field)
    selection = None
    if isinstance(kind, GraphQLObjectType) and kind.is_type_of is None:
        selection = field.find_selection_below(kind)
    if selection is None:
        raise NotPlainError
    return collect_chunk(read_member(rows, cls, field), selection)


def read_member(rows: Sequence[Any], cls: type, field: FieldPlan) -> list[Any]:
    """Return an attribute or a key of all rows, if reading it runs no code."""
    name = field.attribute or field.field_name
    if cls is dict and field.attribute is None:
        return [*map(itemgetter(name), rows)]
    found = getattr_static(cls, name, None)  # a property, or a method, which would be called
    computed = hasattr(type(found), "__get__") and type(found) not in SLOT_TYPES
    if computed or not is_identifier(name):
        raise NotPlainError
    return compile_reader(name)(rows)


@lru_cache(1_000)
def compile_reader(name: str) -> Callable[[Sequence[Any]], list[Any]]:
    """Return a function that reads an attribute of all rows; the name must be an identifier."""
    # Python remembers where it found an attribute in a comprehension, and not for `attrgetter`.
    space: dict[str, Any] = {}
    exec(f"def read(rows): return [row.{name} for row in rows]", space)  # noqa: S102
    return space["read"]  # type: ignore[no-any-return]


def complete_leaves(
    values: list[Any], kind: GraphQLScalarType | GraphQLEnumType, field: FieldPlan
) -> list[Any]:
    """Return serialized values."""
    types = set(map(type, values))
    has_null = NULL in types
    if has_null and kind is not field.type:
        raise NotPlainError
    types.discard(NULL)
    serializer = get_serializer(kind)
    if isinstance(kind, GraphQLEnumType):
        if types <= ENUM_TYPES:
            names: dict[Any, str | None] = {**list_enum_names(kind), None: None}
            return [names[value] for value in values]
    elif kind in NUMBERS:
        present = [value for value in values if value is not None] if has_null else values
        same = serializer is SERIALIZERS[kind] and types <= {NUMBERS[kind]}
        if same and is_in_range(present, kind):
            return values
    elif kind is GraphQLID and field.exact is not None and types == {int}:
        return [None if value is None else str(value) for value in values]
    elif types <= (PLAIN_TYPES if serializer is GraphQLScalarType.serialize else {field.exact}):
        return values
    raise NotPlainError


def is_in_range(numbers: list[Any], kind: GraphQLScalarType) -> bool:
    """Return whether numbers are valid for Int or Float."""
    if kind is GraphQLFloat:
        return isfinite(sum(numbers))
    least, most = min(numbers, default=0), max(numbers, default=0)
    return bool(-GRAPHQL_MAX_INT <= least <= most <= GRAPHQL_MAX_INT)
