"""How a typed program uses gqlnb. Checked by mypy, never run.

A line that mypy has to refuse carries an ignore with its code; `--strict` complains of an ignore
that is not needed.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, assert_type

import pandas as pd

import gqlnb
from gqlnb import Client, Result, Schema, Server, Token

document = "{ hello }"
assert_type(document, str)

schema = gqlnb.reference_schema()
assert_type(schema, Schema)
assert_type(schema.execute(document), Result)
schema.execute(42)  # type: ignore[arg-type]


@schema.resolver("Query.hello")
def hello(root: Any, args: dict[str, Any], context: Any) -> str:
    """Return the greeting."""
    return "Hello world!"


assert_type(hello(None, {}, None), str)


def ask(token: Token) -> None:
    """Serve, connect, ask, and read."""
    with gqlnb.serve(schema, port=0, token=token) as server:
        assert_type(server, Server)
        assert_type(server.url, str)
        with gqlnb.connect(server.url, token=token) as client:
            assert_type(client, Client)
            result = client.execute(document, {"n": 1}, operation="Op")
            assert_type(result, Result)
            assert_type(result.frame(), pd.DataFrame)
            assert_type(result.tables(strict=False)["rows"], pd.DataFrame)
            assert_type(result.to_csv(), str | None)
            result.to_parquet("rows.parquet", "rows", compression="zstd")
            assert_type(client.frame(document), pd.DataFrame)
            assert_type(client.local, Schema | None)
            assert_type(result.in_cell(1), Result)
            assert_type(result.selections, tuple[str, ...])
            assert_type(client.frame(document, pages="all", max_results=10), pd.DataFrame)
            assert_type(client.execute_all(document, page_size=50, path="items"), Result)
            client.execute_all(document, page_sise=50)  # type: ignore[call-arg]
            client.pages(document, max_results="all")  # type: ignore[arg-type]
            assert_type([len(page) for page in client.pages(document)], list[int])
            assert_type(client.resume(progress=False), Result)
            assert_type(client.budget.remaining, float | None)
            assert_type(client.budget.reset, datetime | None)
            result.data = {}  # type: ignore[misc]


async def ask_later(client: Client) -> Result:
    """Ask without blocking."""
    async for page in client.apages(document):
        assert_type(page, Result)
    assert_type(await client.aexecute_all(document), Result)
    return await client.aexecute(document)


assert_type(gqlnb.stars(">100000", limit=10), pd.DataFrame)
assert_type(gqlnb.stars(1000, limit=None, client="demo"), pd.DataFrame)
stand_in: Schema = gqlnb.github.service()
assert_type(Token.from_env("NAME"), Token)

try:
    gqlnb.connect("nowhere")
except gqlnb.QueryError as error:
    assert_type(str(error), str)
except gqlnb.GqlnbError as error:
    assert_type(error, gqlnb.GqlnbError)
    if error.result is not None:
        assert_type(error.result.data, Any)


def keep_a_secret(box: gqlnb.TokenBox) -> None:
    """Type it, read it from elsewhere, send it, and look for it."""
    assert_type(box.token, Token)
    gqlnb.connect("github", token=box, headers={"X-Key": box, "X-Other": "env:NAME"})
    gqlnb.connect("github", token=Token(lambda: "abc", lifetime=60.0).unbound())
    gqlnb.connect("github", token=5)  # type: ignore[arg-type]
    assert_type([finding.where for finding in gqlnb.scrub("a.ipynb", dry_run=True)], list[str])
