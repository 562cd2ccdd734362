#!/usr/bin/env bash
# mygenx-fastql: a variable without a value takes the default from the member it stands for.
#
# Guessed before: its own engine answers as graphql-core does, as in some thirty queries: repeated
# fields, fragments, `@include`, a value for a list, null for a default, defaults in introspection.
# What happens: where `$name` is not given, `{name: $name}` is null, not the default of `name`, so
# that a filter lets every row through; without the member, or for an argument, the default holds.
# A list in a query, `[1, 2]` for [Int!], is an invalid value of Int; as a variable it is taken. The
# two escapes of one emoji, a surrogate pair, are two characters. A block string has a line break at
# U+2028.
# Versions: mygenx-fastql 1.0.0, graphql-core 3.2.14, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet mygenx-fastql==1.0.0 graphql-core==3.2.14 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import asyncio

from fastql import Field, Input, Query, Schema, execute
from graphql import build_schema, graphql_sync


@Input
class Filter:
    name: str | None = "bob"


@Query
class Queries:
    @Field
    def echo(self, where: Filter | None = None, text: str = "bob") -> str:
        return repr(where.name if where else text)

    @Field
    def many(self, numbers: list[int]) -> str:
        return repr(numbers)


SDL = """
  type Query { echo(where: Filter, text: String! = "bob"): String! many(numbers: [Int!]!): String! }
  input Filter { name: String = "bob" }
"""


class Root:
    def echo(self, _info, where=None, text="bob"):
        return repr(where["name"] if where else text)


QUERIES = {
    "member": "query ($n: String) { echo(where: {name: $n}) }",
    "absent": "{ echo(where: {}) }",
    "argument": 'query ($t: String = "bob") { echo(text: $t) }',
    "emoji": r'{ echo(text: "\ud83d\ude00") }',
    "block": '{ echo(text: """a\u2028b""") }',
}
fastql, reference = Schema(query=Queries), build_schema(SDL)


async def ask() -> dict:
    found = {}
    for name, query in QUERIES.items():
        answers = await execute(fastql, query), graphql_sync(reference, query, Root())
        assert not any(answer.errors for answer in answers), answers
        found[name] = [answer.data["echo"] for answer in answers]
    literal = await execute(fastql, "{ many(numbers: [1, 2]) }")
    text = "query ($n: [Int!]!) { many(numbers: $n) }"
    variable = await execute(fastql, text, {"n": [1, 2]})
    found["list"] = [literal.errors[0].message, variable.data["many"]]
    return found


found = asyncio.run(ask())
print(found)
assert found == {
    "member": ["None", "'bob'"],
    "absent": ["'bob'", "'bob'"],
    "argument": ["'bob'", "'bob'"],
    "emoji": [repr("\ud83d\ude00"), repr("\U0001f600")],
    "block": [repr("a\nb"), repr("a\u2028b")],
    "list": ["Invalid value for argument 'numbers' of type 'Int'.", "[1, 2]"],
}, found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
