"""Workloads of the engine on schemas and rows as libraries make them.

They are part of the table of ``python tests/benchmarks/engine.py``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from types import SimpleNamespace
from typing import Any

from graphql import build_schema

from tests.benchmarks.engine_cliffs import both, field, row
from tests.benchmarks.measure import Sides

ROWS = 500
SDL = """
scalar JSON
scalar DateTime
type Query { rows: [Row!]! nodes: [Node!]! }
interface Node { id: ID! }
type Row implements Node { id: ID! name: String sized(size: Int = 3): Int
  posts(first: Int = 2): [Post!]! data: JSON at: DateTime count: Int sure: Sure }
type Post { id: ID! title: String }
type Sure { value: Int! }
"""


def posts_of(n: int) -> list[dict[str, Any]]:
    """Return the posts of a row."""
    return [{"id": f"P_{n}_{m}", "title": f"post-{m}"} for m in range(2)]


def rows_of(size: int, **members: Callable[[int], Any]) -> list[dict[str, Any]]:
    """Return rows with an id, and further members by the number of the row."""
    return [
        {"id": f"R_{n}"} | {name: make(n) for name, make in members.items()} for n in range(size)
    ]


def leaf_by_variable(size: int) -> Sides:
    """Look up a leaf whose field has an argument by a variable."""
    query = "query ($size: Int) { rows { id sized(size: $size) } }"
    root = {"rows": rows_of(size, sized=int)}
    return both(build_schema(SDL), query, root, variable_values={"size": 3})


def objects_by_variable(size: int) -> Sides:
    """Look up objects whose field has an argument by a variable."""
    query = "query ($first: Int) { rows { id posts(first: $first) { id title } } }"
    root = {"rows": rows_of(size, posts=posts_of)}
    return both(build_schema(SDL), query, root, variable_values={"first": 2})


def json_objects(size: int) -> Sides:
    """Answer a scalar of any JSON, which has graphql-core's own serializer."""
    root = {"rows": rows_of(size, data=lambda n: {"a": n, "b": ["x", None], "c": {"d": 1.5}})}
    return both(build_schema(SDL), "{ rows { id data } }", root)


def typed_objects(size: int) -> Sides:
    """Answer rows of an object type with a predicate, as Graphene's have."""
    schema = build_schema(SDL)
    schema.type_map["Row"].is_type_of = lambda value, _info: isinstance(value, SimpleNamespace)  # type: ignore[union-attr]
    rows = [SimpleNamespace(id=f"R_{n}", name=f"row-{n}", count=n) for n in range(size)]
    return both(schema, "{ rows { id name count } }", {"rows": rows})


def typed_interface(size: int) -> Sides:
    """Answer an interface whose type has an ``async`` predicate."""
    schema = build_schema(SDL)

    async def is_row(_value: Any, _info: Any) -> bool:
        return True

    schema.type_map["Row"].is_type_of = is_row  # type: ignore[union-attr]
    sides = both(schema, "{ nodes { id ... on Row { name } } }", {"nodes": rows_of(size, name=str)})
    return {side: partial(run_in_loop, call) for side, call in sides.items()}


def run_in_loop(call: Callable[[], Any]) -> Any:
    """Await what an executor returns."""

    async def awaited() -> Any:
        return await call()

    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(awaited())
    finally:
        loop.close()


def strawberry_objects(size: int) -> Sides:
    """Answer rows of a Strawberry type that has an interface."""
    import strawberry

    named = strawberry.interface(type("Named", (), {"__annotations__": {"id": str, "name": str}}))
    members = {"__annotations__": {"count": int}, "__module__": __name__}
    item: Any = strawberry.type(type("Item", (named,), members))
    found = [item(id=f"R_{n}", name=f"row-{n}", count=n) for n in range(size)]

    def items() -> Any:
        return found

    items.__annotations__["return"] = list[item]
    query = strawberry.type(type("Query", (), {"items": strawberry.field(resolver=items)}))
    return both(strawberry.Schema(query)._schema, "{ items { id name count } }", None)


def sqlalchemy_rows(size: int, *, mappings: bool) -> Sides:
    """Answer rows that SQLAlchemy has read."""
    import sqlalchemy

    engine = sqlalchemy.create_engine("sqlite://")
    values = ", ".join(f"('R_{n}', 'row-{n}', {n})" for n in range(size))
    with engine.connect() as connection:
        text = f"SELECT column1 AS id, column2 AS name, column3 AS sized FROM (VALUES {values})"
        answer = connection.execute(sqlalchemy.text(text))
        rows = list(answer.mappings() if mappings else answer)
    return both(build_schema(SDL), "{ rows { id name sized } }", {"rows": rows})


def serialized(size: int) -> Sides:
    """Serialize a time in each row."""
    schema = build_schema(SDL)
    scalar: Any = schema.type_map["DateTime"]
    name = "coerce_output_value" if hasattr(scalar, "coerce_output_value") else "serialize"
    setattr(scalar, name, datetime.isoformat)
    start = datetime(2026, 1, 1, tzinfo=UTC)
    root = {"rows": rows_of(size, at=lambda n: start + timedelta(seconds=n))}
    return both(schema, "{ rows { id at } }", root)


def resolver_and_alias(size: int) -> Sides:
    """Resolve one field, and look one up under another name, as Ariadne's resolvers do."""
    schema = build_schema(SDL)

    def read_label(source: Any, _info: Any, **_arguments: Any) -> Any:
        return source.get("label") if isinstance(source, dict) else getattr(source, "label", None)

    field(schema, "Row", "name", read_label)
    field(schema, "Row", "count", lambda source, _info: source["sized"] + 1)
    root = {"rows": rows_of(size, label=lambda n: f"row-{n}", sized=int)}
    return both(schema, "{ rows { id name count } }", root)


def failing_rows(size: int) -> Sides:
    """Answer rows in each of which a resolver raises an error."""
    schema = build_schema(SDL)

    def fail(_source: Any, _info: Any) -> Any:
        msg = "not found"
        raise LookupError(msg)

    field(schema, "Row", "name", fail)
    return both(schema, "{ rows { id name } }", {"rows": rows_of(size)})


def unserializable_rows(size: int) -> Sides:
    """Answer rows in each of which a value cannot be serialized."""
    root = {"rows": rows_of(size, count=lambda _: "many")}
    return both(build_schema(SDL), "{ rows { id count } }", root)


def null_rows(size: int) -> Sides:
    """Answer rows in each of which a field that must not be null is null."""
    root = {"rows": rows_of(size, sure=lambda _: {"value": None})}
    return both(build_schema(SDL), "{ rows { id sure { value } } }", root)


ADOPTED = [
    row("variable-leaf", leaf_by_variable, ROWS, core=20),
    row("variable-objects", objects_by_variable, ROWS, core=15),
    row("json-objects", json_objects, ROWS, core=20),
    row("object-is-type-of", typed_objects, ROWS, core=12),
    row("interface-async-is-type-of", typed_interface, ROWS, core=3),
    row("strawberry-interface", strawberry_objects, ROWS, core=8),
    row("sqlalchemy-rows", partial(sqlalchemy_rows, mappings=False), ROWS),
    row("sqlalchemy-mappings", partial(sqlalchemy_rows, mappings=True), ROWS),
    row("serialized-times", serialized, ROWS, core=8),
    row("resolver-and-alias", resolver_and_alias, ROWS),
    row("failing-rows", failing_rows, ROWS, core=4),
    row("unserializable-rows", unserializable_rows, ROWS, core=4),
    row("null-rows", null_rows, ROWS, core=4),
]
