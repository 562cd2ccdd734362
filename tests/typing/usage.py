"""How a typed program uses gqlnb. Checked by mypy, never run.

A line that mypy has to refuse carries an ignore with its code; `--strict` complains of an ignore
that is not needed.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, assert_type

import pandas as pd
from graphql import GraphQLSchema

import gqlnb
from gqlnb import Client, Result, Schema, Token

document: str = "{ hello }"

schema = gqlnb.reference_schema()
assert_type(schema, Schema)
schema.execute(42)  # type: ignore[arg-type]


@schema.resolver("Query.hello")
def hello(root: Any, args: dict[str, Any], context: Any) -> str:
    """Return the greeting."""
    return "Hello world!"


assert_type(hello(None, {}, None), str)


def ask(token: Token) -> None:
    """Serve, connect, ask, and read."""
    with gqlnb.serve(schema, port=0, token=token) as server:
        assert_type(server.url, str)
        with gqlnb.connect(server.url, token=token) as client:
            result = client.execute(document, {"n": 1}, operation="Op")
            assert_type(result, Result)
            assert_type(result.tables(strict=False)["rows"], pd.DataFrame)
            result.to_parquet("rows.parquet", "rows", compression="zstd")
            assert_type(result.selections, tuple[str, ...])
            assert_type(client.frame(document, pages="all", max_results=10), pd.DataFrame)
            assert_type(client.execute_all(document, page_size=50, path="items"), Result)
            client.pages(document, max_results="all")  # type: ignore[arg-type]
            assert_type(client.resume(progress=False), Result)
            assert_type(client.budget.remaining, float | None)
            assert_type(client.budget.reset, datetime | None)
            result.data = {}  # type: ignore[misc]


async def ask_later(client: Client) -> None:
    """Ask without blocking."""
    assert_type(await client.aexecute_many([document]), list[Result])


def ask_much(client: Client, token: Token) -> None:
    """Subscribe, and ask several documents at a time."""
    assert_type(client.execute_many([document, (document, {"n": 1})]), list[Result])
    client.execute_many(iter([document]), concurrency=8)
    client.execute_many([5])  # type: ignore[list-item]
    events = client.subscribe("subscription { a }", {"n": 1}, transport="ws", init={"t": token})
    assert_type(next(events), Result)
    assert_type(events.reconnects, int)
    client.subscribe("subscription { a }", transport="smoke")  # type: ignore[arg-type]


assert_type(gqlnb.stars(">100000", limit=10), pd.DataFrame)
assert_type(gqlnb.stars(1000, limit=None, client="demo"), pd.DataFrame)
gqlnb.github.harvest(">1000", out="stars", width=4, progress=False)
gqlnb.github.harvest(">1000", parts=4)  # type: ignore[call-arg]
view = gqlnb.ResultView(schema.execute(document))
assert_type(view.result, Result | None)
search = gqlnb.StarSearch(">1000 language:python", limit=None, client=Client("demo"))
assert_type(search.run(), pd.DataFrame)
assert_type(search.error, str | None)


@search.on_result
def plot(frame: pd.DataFrame) -> None:
    """Draw each result."""


assert_type(search.wait(1.5), bool)
stand_in: Schema = gqlnb.github.service()

with gqlnb.recorded("it.jsonl", mode="replay") as recording:
    Client("github", recording=recording)
    assert_type(gqlnb.connect(schema, recording="it.jsonl", mode="record"), Client)
    Client(schema, recording=5)  # type: ignore[arg-type]
    Client(schema, rekording="it.jsonl")  # type: ignore[call-arg]


def explore(explorer: gqlnb.Explorer) -> None:
    """Read in the notebook what was typed and clicked."""
    assert_type(explorer.variables, dict[str, Any])
    assert_type(explorer.frame, pd.DataFrame | None)
    assert_type(explorer.error, str | None)
    assert_type(explorer.cell_text, str)
    assert_type(explorer.run(), Result)
    assert_type(explorer.client, Client)


def keep_a_secret(box: gqlnb.TokenBox) -> None:
    """Type it, read it from elsewhere, send it, and look for it."""
    assert_type(box.token, Token)
    gqlnb.connect("github", token=box, headers={"X-Key": box, "X-Other": "env:NAME"})
    gqlnb.connect("github", token=Token(lambda: "abc", lifetime=60.0).unbound())
    gqlnb.connect("github", token=5)  # type: ignore[arg-type]
    assert_type([finding.where for finding in gqlnb.scrub("a.ipynb", dry_run=True)], list[str])


mocked = Schema.mock("type Query { hello: String }", seed=7, scalars={"Money": "Decimal"})
assert_type(mocked.notes, tuple[str, ...])
Schema.mock(mocked, scalars={"Money": lambda number: number % 10}, nulls=0, sizes=(0, 100))
Schema.mock(mocked, seed="x")  # type: ignore[arg-type]
uploaded = gqlnb.Upload("table.csv", content_type="text/csv")
assert_type(uploaded.read(), bytes)


def know_a_schema(client: Client) -> None:
    """Read it, peek at it, ask anew, and see what has changed."""
    assert_type(client.peek_schema(), GraphQLSchema | None)
    assert_type(client.refresh_schema(), GraphQLSchema)
    assert_type(client.schema_notes, tuple[str, ...])
    assert_type([change.place for change in client.schema_changes(since="old.graphql")], list[str])
    assert_type(len(client.schema_changes(documents=[document])), int)
    client.as_gql(asynchronous=True)
    changes = gqlnb.diff(client, "new.graphql", documents=["{ hello }"])
    assert_type([change.severity for change in changes.safe], list[str])


async def give_options_to_a_call(url: str) -> None:
    """Headers, extensions and a timeout of one call; other names are errors."""
    async with Client(url) as client:
        headers = {"X-Trace": "7"}
        await client.aexecute("{ hello }", headers=headers, extensions={"trace": 1}, timeout=5)
        client.execute_all("{ hello }", page_size=5, headers=headers, timeout=5.5)
        assert_type(client.frame("{ hello }", timeout=5), pd.DataFrame)
        client.execute("{ hello }", header=headers)  # type: ignore[call-arg]
        client.execute("{ hello }", timeout="5")  # type: ignore[arg-type]


def look_at_a_schema_and_follow_events(client: Client) -> None:
    """Browse it, search it; keep the last rows of a subscription."""
    view = gqlnb.SchemaView(client, "Repository")
    assert_type(view.schema, GraphQLSchema)
    assert_type(view.search("stars", limit=5).frame(), pd.DataFrame)
    assert_type(len(view.links("Repository")), int)
    assert_type(view.page("Repository.name").sdl, str)
    with gqlnb.LiveFrame(client.subscribe("subscription { tick }"), rows=10) as live:
        assert_type(live.wait(1.5), bool)
        assert_type(live.results, list[Result])
        assert_type(live.error, str | None)
        assert_type(live.status, str)
    gqlnb.LiveFrame([{"a": 1}], max_results=3).raise_for_error().show()
    gqlnb.LiveFrame(client)  # type: ignore[arg-type]
    gqlnb.LiveFrame([], rows="many")  # type: ignore[arg-type]
