"""Plans belong to their schema: what was executed on a schema is collected with it."""

from __future__ import annotations

import copy
import gc
import linecache
import pickle
import tracemalloc
from itertools import pairwise
from pathlib import Path
from statistics import median
from weakref import WeakSet, ref

import graphql
import pandas as pd
import pyarrow as pa
import pytest
from graphql import build_schema, parse

import gqlnb
from gqlnb import Client, Limits, Schema, engine
from gqlnb.document.sized_cache import SizedCache
from gqlnb.engine.compiler import lazy_functions, plans
from gqlnb.engine.compiler.plans import get_operation_cache
from gqlnb.engine.compiler.python_types import MAX_TYPES

SIZE = 50_000
SDL = """
type Query { rows: [Row!]! node: Node size: Int }
interface Node { id: ID }
type Row implements Node { id: ID name: String }
type Subscription { tick: Int }
"""
TEXT = "query ($yes: Boolean = true) { rows { id name @include(if: $yes) } node { id } size }"


class Large:
    """An object of 50 MB."""

    def __init__(self) -> None:
        self.data = bytearray(SIZE)


def make_schema(large: Large) -> Schema:
    """Return a schema with a function that holds an object, and rows of a class of its own."""

    class Row:
        id, name = "1", "n"
        held = large

    members = {
        "Query": {
            "rows": lambda *_: [Row()] * 70,
            "node": lambda *_: Row(),
            "size": lambda *_: len(large.data),
        },
        "Node": {"__resolveType": lambda value, context: "Row" if large else None},
        "Subscription": {"tick": lambda *_: iter((large and 1,))},
    }
    return Schema(SDL, members)


def execute_text(schema: Schema) -> None:
    """Execute a text, until it is compiled."""
    for yes in (True, False, True):
        assert schema.execute(TEXT, {"yes": yes}).data["size"] == SIZE


def execute_core(schema: Schema) -> None:
    """Execute a document by the function that takes graphql-core's arguments."""
    document = parse(TEXT)
    for _ in range(3):
        assert engine.execute(schema.graphql, document).data["size"] == SIZE


def execute_limited(schema: Schema) -> None:
    """Execute within limits."""
    for _ in range(3):
        assert schema.execute(TEXT, limits=Limits()).data["size"] == SIZE


def execute_client(schema: Schema) -> None:
    """Execute by a client."""
    with Client(schema) as client:
        for _ in range(3):
            assert client.execute(TEXT).data["size"] == SIZE


def inspect(schema: Schema) -> None:
    """Explain and profile an operation."""
    assert schema.explain(TEXT).compiled
    assert schema.profile(TEXT).result.data["size"] == SIZE


def subscribe(schema: Schema) -> None:
    """Take the events of a subscription."""
    assert [result.data for result in schema.subscribe("subscription { tick }")] == [{"tick": 1}]


USES = [execute_text, execute_core, execute_limited, execute_client, inspect, subscribe]


@pytest.mark.parametrize("use", USES, ids=lambda use: use.__name__)
def test_a_dropped_schema_frees_its_plans_and_generated_source(use):
    """The schema, objects referenced by its resolvers and the generated source are collected."""
    lines = len(linecache.cache)
    held = []
    for _ in range(6):
        large = Large()
        schema = make_schema(large)
        use(schema)
        held += [ref(large), ref(schema), ref(schema.graphql)]
        del large, schema
    gc.collect()
    assert [found() for found in held] == [None] * len(held)
    assert len([name for name in linecache.cache if name.startswith("<gqlnb")]) <= lines


def test_a_plan_retains_no_execution_values():
    """The root value, the context and the rows are released although the schema lives on."""
    schema = build_schema(SDL)
    document = parse("{ rows { id name } size }")
    held = []
    for _ in range(4):
        root, context, row = Large(), Large(), Large()
        root.rows, root.size, row.id, row.name = [row] * 70, 7, "1", "n"
        assert engine.execute(schema, document, root, context).data["size"] == 7
        held += [ref(root), ref(context), ref(row)]
        del root, context, row
    gc.collect()
    assert [found() for found in held] == [None] * len(held)
    assert get_operation_cache(schema)


def test_recreating_a_frame_schema_leaks_no_memory():
    """Re-running a cell with from_frame takes the memory of one frame."""
    before, held = pa.total_allocated_bytes(), []
    for _ in range(6):
        frame = pd.DataFrame({"n": range(200_000), "text": pd.Series(["x" * 16] * 200_000)})
        schema = Schema.from_frame(rows=frame)
        for _ in range(3):
            found = schema.execute("{ rows(where: {n: {gt: 10}}, first: 90) { nodes { n text } } }")
            assert len(found.data["rows"]["nodes"]) == 90
        held += [ref(schema), ref(schema.graphql)]
        del frame, schema, found
    gc.collect()
    assert [found() for found in held] == [None] * len(held)
    assert pa.total_allocated_bytes() - before < 1_000_000


def test_a_copy_of_a_schema_has_its_own_plans():
    """Also a copy that shares the attributes of the schema."""
    schema = build_schema("type Query { a: Int }")
    document = parse("{ a }")
    twin = object.__new__(type(schema))
    for resolve in (lambda *_: 1, lambda *_: 2):
        schema.query_type.fields["a"].resolve = resolve
        assert engine.execute(schema, document) == engine.execute(schema, document)
    vars(twin).update(vars(schema))
    twin.query_type = copy.copy(schema.query_type)
    twin.query_type.fields = {"a": copy.copy(schema.query_type.fields["a"])}
    twin.query_type.fields["a"].resolve = lambda *_: 3
    for _ in range(3):
        assert engine.execute(twin, document).data == {"a": 3}
        assert engine.execute(schema, document).data == {"a": 2}
    assert pickle.loads(pickle.dumps(get_operation_cache(schema))) == {}
    assert copy.deepcopy(get_operation_cache(schema)) == {}


def _measure_own_memory() -> int:
    """Return the bytes that code of gqlnb and of graphql-core allocated and still uses."""
    # Others are not counted: a warning of an earlier test that is shown now loads source files.
    packages = (Path(module.__file__ or "").parent for module in (gqlnb, graphql))
    filters = [tracemalloc.Filter(inclusive=True, filename_pattern=f"{p}/*") for p in packages]
    snapshot = tracemalloc.take_snapshot().filter_traces(filters)
    return sum(statistic.size for statistic in snapshot.statistics("filename"))


def test_many_documents_take_bounded_memory(monkeypatch):
    """The number of operations and the length of their source are bounded for each schema."""
    monkeypatch.setattr(plans, "HOT", 0)
    monkeypatch.setattr(plans, "MAX_OPERATIONS", 20)
    monkeypatch.setattr(plans, "MAX_SCHEMA_SOURCE", 30_000)
    monkeypatch.setattr(lazy_functions, "_codes", SizedCache(20, 30_000))
    names = [f"f{n}" for n in range(20)]
    schema = build_schema(f"type Query {{ {' '.join(f'{name}: String' for name in names)} }}")
    sizes = []
    tracemalloc.start()
    for number in range(120):
        text = " ".join(f"a{number}_{name}: {name}" for name in names)
        document = parse(f"{{ {text if number % 2 else f'a{number}: f0'} }}")
        assert len(engine.execute(schema, document).data) == (20 if number % 2 else 1)
        if number % 30 == 29:
            gc.collect()
            # The next plan removes the source of those that were collected.
            engine.execute(schema, parse(f"{{ next{number}: f0 }}"))
            sizes.append(_measure_own_memory())
    tracemalloc.stop()
    cache = get_operation_cache(schema)
    assert 2 <= len(cache) <= 20
    assert sum(operation.source_size for operation in cache.values()) <= 30_000
    # Without the bounds each of the three steps adds about as much as the first 30 documents. What
    # a thread of an earlier test allocates meanwhile, such as a schema, adds to one step only.
    growth = [after - before for before, after in pairwise(sizes)]
    assert median(growth) < 0.1 * sizes[0]


def test_source_is_bounded_without_new_documents(monkeypatch):
    """Documents that are executed once are compiled later, when none is added."""
    monkeypatch.setattr(plans, "MAX_SCHEMA_SOURCE", 30_000)
    names = [f"f{n}" for n in range(20)]
    schema = build_schema(f"type Query {{ {' '.join(f'{name}: String' for name in names)} }}")
    documents = [parse(f"query Q{n} {{ {' '.join(names)} }}") for n in range(40)]
    cache = get_operation_cache(schema)
    for _ in range(5):
        for document in documents:
            assert engine.execute(schema, document).data == dict.fromkeys(names)
            assert sum(operation.source_size for operation in cache.values()) <= 30_000
    assert cache


def test_classes_made_for_each_value_take_bounded_memory():
    """A program may create a class for each object of an abstract type."""
    schema = build_schema(SDL)
    document, classes = parse("{ node { id } }"), WeakSet()
    for number in range(3 * MAX_TYPES):
        made = type("Row", (), {"id": str(number), "_Row__typename": "Row"})
        classes.add(made)
        outcome = engine.execute(schema, document, {"node": made()})
        assert outcome.data == {"node": {"id": str(number)}}
    del made, outcome
    gc.collect()
    assert len(classes) <= MAX_TYPES + 2
