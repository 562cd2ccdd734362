#!/usr/bin/env bash
# cacheql: queries that differ in the blanks of a text, or in a commented line, share an answer.
#
# Guessed before: the key of a remembered answer is made of the parsed query, or of its text; two
# queries with different texts in an argument have different keys.
# What happens: all white space of the query is one blank in the key. Behind `name: "Ann  Lee"` the
# query for "Ann Lee" has no row, though there is one. A field on a line of its own that follows a
# comment is part of the comment in the key: after `id # name` alone, `id #` with `name` on the next
# line has rows without `name`.
# Versions: cacheql 0.0.1a3, Ariadne 1.1.1, graphql-core 3.3.2, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet cacheql==0.0.1a3 ariadne==1.1.1 graphql-core==3.3.2 \
  2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import asyncio
from types import SimpleNamespace

from ariadne import QueryType, make_executable_schema
from cacheql import (
    CacheConfig,
    CacheService,
    DefaultKeyBuilder,
    InMemoryCacheBackend,
    JsonSerializer,
    get_cache_control_directive_sdl,
)
from cacheql.adapters.ariadne import CachingGraphQL

SDL = """
  type Query { people(name: String): [Person!]! @cacheControl(maxAge: 60) }
  type Person @cacheControl(maxAge: 60) { id: ID! name: String! }
"""
query = QueryType()


@query.field("people")
def resolve_people(_root, _info, name=None):
    return [{"id": "1", "name": "Ann Lee"}] if name in (None, "Ann Lee") else []


schema = make_executable_schema(get_cache_control_directive_sdl() + SDL, query)


async def ask(*queries: str) -> list:
    config = CacheConfig(use_cache_control=True, default_max_age=0)
    service = CacheService(
        backend=InMemoryCacheBackend(maxsize=10),
        key_builder=DefaultKeyBuilder(),
        serializer=JsonSerializer(),
        config=config,
    )
    app = CachingGraphQL(schema, cache_service=service)
    found = []
    for text in queries:
        request = SimpleNamespace(state=SimpleNamespace(), scope={})
        _, answer = await app.http_handler.execute_graphql_query(
            request, {"query": text}, context_value={"request": request}
        )
        assert not answer.get("errors"), answer
        found.append(answer["data"]["people"])
    return found


one, two = '{ people(name: "Ann  Lee") { id } }', '{ people(name: "Ann Lee") { id } }'
texts = asyncio.run(ask(one, two)), asyncio.run(ask(two, one))
print(texts)
assert texts == ([[], []], [[{"id": "1"}], [{"id": "1"}]]), texts
lines = asyncio.run(ask("{ people { id # name\n} }", "{ people { id #\nname } }"))
print(lines)
assert lines == [[{"id": "1"}], [{"id": "1"}]], lines
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
