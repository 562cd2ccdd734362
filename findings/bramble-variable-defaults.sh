#!/usr/bin/env bash
# bramble-graphql: the default of a variable is ignored, and its schema has no directives.
#
# Guessed before: an engine whose validation is written in Rust answers some thirty queries as
# graphql-core does.
# What happens: `query ($name: String = "bob")` without a value is the default of the argument, not
# "bob": a filter is gone. In an input object or for `@include` it is an undefined variable. The
# schema's `directives` are an empty list, although `@skip` and `@include` work, so that clients
# that validate refuse them; `__schema` and `__type` are among the fields of `Query`. In a block
# string the backslash of \""" stays.
# Versions: bramble-graphql 0.3.1, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet bramble-graphql==0.3.1 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import bramble


@bramble.type
class Query:
    @bramble.field
    def names(only: str | None = None) -> list[str]:
        return [name for name in ("ann", "bob") if only in (None, name)]

    @bramble.field
    def echo(text: str) -> str:
        return text


schema = bramble.Schema(query=Query)


def ask(query: str, **values: str) -> dict:
    answer = schema.execute(query, variable_values=values)
    assert not answer.get("errors"), answer
    return answer["data"]


text = 'query ($n: String = "bob") { names(only: $n) }'
names = ask(text)["names"], ask(text, n="bob")["names"]
print(names)
assert names == (["ann", "bob"], ["bob"]), names
block = ask(r'{ echo(text: """a\"""b""") }')["echo"]
print(block)
assert block == r'a\"""b', block
meta = "__schema { directives { name } queryType { fields { name } } }"
asked = ask("{ names @skip(if: true) %s }" % meta)
print(asked)
fields = [field["name"] for field in asked["__schema"]["queryType"]["fields"]]
assert "names" not in asked and asked["__schema"]["directives"] == [], asked
assert fields == ["names", "echo", "__schema", "__type"], fields
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
