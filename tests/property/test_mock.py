"""A mock answers any document on any schema: without errors, right by type and by format.

Each case is made from a number, so that a failure can be seen again; `MOCK_CASES=5000` asks for
more of them, `MOCK_SEED=123` for one.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from datetime import date, datetime, time
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import UUID

import graphql
import pytest
from graphql.type import is_abstract_type

from gqlnb import Result, Schema, SchemaError
from gqlnb.engine.schema import get_adapter
from tests.examples import make_blocks
from tests.property.differential import schemas
from tests.property.differential.chance import Chance
from tests.property.differential.requests import DOCUMENTS, make_request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gqlnb.document.document import Document

SHOPS = 40  # schemas with connections

# -- any schema, any document


@lru_cache(maxsize=4)
def mock(number: int) -> Schema | None:
    """Return the mock of a schema by its number; None where the schema can't be written as SDL."""
    try:
        return Schema.mock(schemas.made(number, False).schema, seed=number)
    except SchemaError as error:
        assert "can't be written as SDL" in str(error)  # noqa: PT017 - any other is a failure
        return None


def right(number: int) -> Iterator[tuple[Schema, Document, dict[str, Any]]]:
    """Yield a mock, a document and variables that fit it; nothing where one of them is wrong."""
    schema = mock(number // DOCUMENTS)
    if schema is None:
        return
    made = schemas.made(number // DOCUMENTS, False)
    request = make_request(schema, made, Chance("mock", number))
    if request is not None and request[0].kind != "subscription":
        yield schema, *request


def excused(error: Any, schema: Schema) -> bool:
    """Tell whether an error is one that a mock has to give."""
    if "is 0 or more; got" in error.message or "is not a cursor of" in error.message:
        return True  # asked for -3 rows, or behind a cursor of nobody
    if error.message.startswith("Argument "):
        return True  # a variable that holds null where none may stand
    empty = [
        kind.name
        for kind in schema.graphql.type_map.values()
        if is_abstract_type(kind) and not schema.graphql.get_possible_types(kind)
    ]
    return "non-nullable field" in error.message and bool(empty)


@pytest.mark.parametrize("block", make_blocks("MOCK", 400, 100), ids=lambda block: str(block[0]))
def test_every_document_is_answered_without_errors(block):
    """The engine and graphql-core, which completes each value by its type, answer the same."""
    answered = 0
    for number in block:
        for schema, document, given in right(number):
            name = document.operation.name
            want = graphql.execute(
                schema.graphql,
                document.ast,
                variable_values=given,
                operation_name=name and name.value,
            )
            if any(error.path is None for error in want.errors or ()):
                continue  # a condition that is null, or no mutations: nothing was executed
            answered += 1
            errors = [error for error in want.errors or () if not excused(error, schema)]
            assert not errors, f"{number}: {errors}\n{document.text}"
            found = get_adapter(schema).execute_document(document, given)
            assert isinstance(found, Result)
            assert found.data == want.data, f"{number}\n{document.text}"
    assert answered >= len(block) * 2 // 3


# -- schemas as they are in life

FORMATS: dict[str, Callable[[Any], Any]] = {
    "DateTime": lambda v: datetime.fromisoformat(v).utcoffset() is not None,
    "Date": date.fromisoformat,
    "Time": time.fromisoformat,
    "Decimal": lambda v: Decimal(v).is_finite(),
    "BigInt": lambda v: type(v) is int,
    "JSON": json.dumps,
    "UUID": lambda v: UUID(v).version == 4,
    "URI": lambda v: urlsplit(v).scheme == "https" and urlsplit(v).hostname == "example.org",
    "EmailAddress": lambda v: re.fullmatch(r"[a-z.]+[0-9]+@example\.org", v),
    "GitObjectID": lambda v: re.fullmatch("[0-9a-f]{40}", v),
    "Latitude": lambda v: -90 <= v <= 90,
    "IPv4": lambda v: re.fullmatch(r"192\.0\.2\.[0-9]+", v),
    "Money": lambda v: Decimal(v).is_finite(),
    "String": lambda v: type(v) is str and v,
    "Int": lambda v: type(v) is int,
    "Float": lambda v: type(v) is float,
    "Boolean": lambda v: type(v) is bool,
    "Level": lambda v: v in {"LOW", "MID", "HIGH"},
}
NAMES: dict[str, Callable[[Any], Any]] = {
    "latitude: Float": lambda v: -90 <= v <= 90,
    "email: String": lambda v: re.fullmatch(r"[a-z.]+[0-9]+@example\.org", v),
    "homepageUrl: String": lambda v: urlsplit(v).scheme == "https",
    "createdAt: String": lambda v: datetime.fromisoformat(v).tzinfo,
    "age: Int": lambda v: 18 <= v <= 90,
    "rating: Float": lambda v: 1 <= v <= 5,
    "countryCode: String": lambda v: re.fullmatch("[A-Z]{2}", v),
    "starCount: Int": lambda v: v >= 0,
}
PAGED = "first: Int, after: String, last: Int, before: String"
IDS = ("ID!", "ID!", "String!", "Int!", "UUID!")


def shop(number: int) -> tuple[str, dict[str, Callable[[Any], Any]], str]:
    """Return SDL with objects, connections and pages, the checks of an item, and its id's type."""
    chance = Chance("shop", number)
    chosen = chance.some(list(FORMATS), 3, len(FORMATS))
    checks = {f"f{at}": FORMATS[kind] for at, kind in enumerate(chosen)}
    fields = [f"f{at}: {kind}{chance.pick(('', '!'))}" for at, kind in enumerate(chosen)]
    for spelt in chance.some(list(NAMES), 2, len(NAMES)):
        fields.append(f"{spelt}{chance.pick(('', '!'))}")
        checks[spelt.partition(":")[0]] = NAMES[spelt]
    scalars = "".join(
        f"scalar {kind} "
        for kind in FORMATS
        if kind not in {"String", "Int", "Float", "Boolean", "Level"}
    )
    identity = chance.pick(IDS)
    edges, nodes = chance.pick(((1, 1), (1, 0), (0, 1)))
    parts = [f"edges: [Edge{chance.pick(('', '!'))}]"] * edges + ["nodes: [Item!]!"] * nodes
    sdl = f"""{scalars} enum Level {{ LOW MID HIGH }}
    interface Node {{ id: {identity} }}
    type PageInfo {{ hasNextPage: Boolean! hasPreviousPage: Boolean!
                     startCursor: String endCursor: String }}
    type Edge {{ cursor: String! node: Item }}
    type Many {{ {" ".join(parts)} pageInfo: PageInfo! totalCount: Int! }}
    type Item implements Node {{ id: {identity} {" ".join(fields)}
                                 items({PAGED}): Many! one: Item }}
    type Other implements Node {{ id: {identity} label: String! }}
    type Query {{ item(id: {identity}): Item node(id: {identity}): Node
                  nodes(ids: [{identity}]!): [Node]! items({PAGED}, orderBy: String): Many!
                  listed(limit: Int, offset: Int): [Item!]! }}"""
    return sdl, checks, identity


def in_pages(schema: Schema, size: int, *, forward: bool) -> tuple[list[Any], int]:
    """Return the ids of all items, read page by page, and what the first page says of their number.

    What a page says of itself is checked on the way.
    """
    step, behind = ("first", "after") if forward else ("last", "before")
    more, place = ("hasNextPage", "endCursor") if forward else ("hasPreviousPage", "startCursor")
    has_edges = "edges" in schema.graphql.type_map["Many"].fields
    body = "edges { cursor node { id } }" if has_edges else "nodes { id }"
    text = f"""query ($n: Int, $c: String) {{ items({step}: $n, {behind}: $c, orderBy: "x") {{
        totalCount pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }} {body} }} }}"""
    found: list[Any] = []
    cursor = None
    while True:
        page = schema.execute(text, {"n": size, "c": cursor}).data["items"]
        rows = [e["node"] for e in page["edges"]] if has_edges else page["nodes"]
        assert len(rows) <= size
        if has_edges and rows:
            ends = [page["edges"][0]["cursor"], page["edges"][-1]["cursor"]]
            assert ends == [page["pageInfo"]["startCursor"], page["pageInfo"]["endCursor"]]
        ids = [row["id"] for row in rows]
        found = [*found, *ids] if forward else [*ids, *found]
        if not page["pageInfo"][more]:
            return found, page["totalCount"]
        cursor = page["pageInfo"][place]


@pytest.mark.parametrize("number", range(SHOPS))
def test_all_page_sizes_return_the_same_list(number):
    """Forward or backward, with distinct items."""
    sdl, _, _ = shop(number)
    schema = Schema.mock(sdl, seed=number, sizes=(0, 30))
    whole, total = in_pages(schema, 100, forward=True)
    assert len(whole) == total == len(set(whole))
    size = 1 + number % 7
    assert in_pages(schema, size, forward=True) == (whole, total)
    assert in_pages(schema, size, forward=False) == (whole, total)
    listed = schema.execute("{ listed { id } }").data["listed"]
    parts = [
        schema.execute(f"{{ listed(limit: {size}, offset: {at}) {{ id }} }}").data["listed"]
        for at in range(0, len(listed) + size, size)
    ]
    assert [row for part in parts for row in part] == listed


@pytest.mark.parametrize("number", range(SHOPS))
def test_values_have_valid_formats(number):
    """By the name of the scalar or of the field; nulls only for nullable fields."""
    sdl, checks, _ = shop(number)
    schema = Schema.mock(sdl, seed=number, sizes=(20, 40))
    rows = schema.execute(f"{{ listed {{ {' '.join(checks)} }} }}").data["listed"]
    for name, valid in checks.items():
        for row in rows:
            assert row[name] is None or valid(row[name]) not in {False, None, ""}, (name, row)
    never = Schema.mock(sdl, seed=number, nulls=0, sizes=(20, 40))
    rows = never.execute(f"{{ listed {{ {' '.join(checks)} }} }}").data["listed"]
    assert None not in [value for row in rows for value in row.values()]
    always = Schema.mock(sdl, seed=number, nulls=1).execute("{ listed { one { id } } }")
    assert {row["one"] for row in always.data["listed"]} == {None}


@pytest.mark.parametrize("number", range(SHOPS))
def test_an_object_has_the_same_values_by_its_id(number):
    """For an item of a page, through every field that takes an id."""
    sdl, checks, identity = shop(number)
    schema = Schema.mock(sdl, seed=number)
    fields = f"id {' '.join(checks)} one {{ id }} items {{ totalCount }}"
    listed = schema.execute(f"{{ listed(limit: 4) {{ {fields} }} }}").data["listed"]
    kind = identity
    for row in listed:
        text = f"query ($i: {kind}) {{ item(id: $i) {{ {fields} }} }}"
        assert schema.execute(text, {"i": row["id"]}).data["item"] == row
        if kind in {"ID!", "String!"}:
            text = f"query ($i: {kind}) {{ node(id: $i) {{ ... on Item {{ {fields} }} }} }}"
            assert schema.execute(text, {"i": row["id"]}).data["node"] == row
    if kind in {"ID!", "String!"}:
        text = f"query ($i: [{kind}]!) {{ nodes(ids: $i) {{ ... on Item {{ {fields} }} }} }}"
        ids = [row["id"] for row in listed]
        assert schema.execute(text, {"i": ids}).data["nodes"] == listed
    own = {"Int!": 7, "UUID!": "12345678-1234-4234-8234-123456789abc"}.get(kind, "mine")
    found = schema.execute(
        f"query ($i: {kind}) {{ item(id: $i) {{ id one {{ id }} }} }}", {"i": own}
    )
    assert found.data["item"]["id"] == own


# -- same seed, same bytes


def digest() -> str:
    """Return a digest of many answers, which no process may change."""
    made = hashlib.sha256()
    for number in range(0, 160, 4):
        for schema, document, given in right(number):
            made.update(
                json.dumps(get_adapter(schema).execute_document(document, given).data).encode()
            )
    for number in range(10):
        sdl, checks, _ = shop(number)
        schema = Schema.mock(sdl, seed=number)
        made.update(
            json.dumps(schema.execute(f"{{ listed {{ {' '.join(checks)} }} }}").data).encode()
        )
    return made.hexdigest()


@pytest.mark.parametrize("hash_seed", ["0", "4711"])
def test_the_same_seed_gives_the_same_bytes_in_another_process(hash_seed):
    """Under another hash seed, and without earlier queries."""
    program = "from tests.property.test_mock import digest; print(digest())"
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.strip() == digest()


def test_another_seed_gives_other_data():
    """Names differ between seeds."""
    sdl = "type Query { names: [String!]! }"
    rows = [
        tuple(Schema.mock(sdl, seed=seed, lengths=(5, 5)).execute("{ names }").data["names"])
        for seed in range(20)
    ]
    assert len(set(rows)) == 20


def test_values_do_not_depend_on_other_fields():
    """Each field alone equals the same field in the document, in any order."""
    sdl, checks, _ = shop(3)
    names = list(checks)
    together = Schema.mock(sdl, seed=3).execute(f"{{ listed {{ {' '.join(names)} }} }}").data
    for name in reversed(names):
        alone = Schema.mock(sdl, seed=3).execute(f"{{ listed {{ {name} }} }}").data["listed"]
        assert [row[name] for row in together["listed"]] == [row[name] for row in alone]
