#!/usr/bin/env bash
# Pygments: its GraphQL lexer takes type definitions and block strings for errors.
#
# Guessed before: the lexer reads what GraphQL is, queries and schemas, as lexers for JavaScript
# front ends do.
# What happens: it knows queries only. In a type definition names, descriptions and directives are
# error tokens, which most styles draw in a red box and Sphinx warns about; so are block strings and
# directives of variables in queries.
# Versions: Pygments 2.21.0, graphql-core 3.2.14, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet Pygments==2.21.0 graphql-core==3.2.14 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
from graphql import parse
from pygments.lexers import get_lexer_by_name
from pygments.token import Error

lexer = get_lexer_by_name("graphql")
texts = {
    "query": 'query ($n: Int = 1) { rows(first: $n, name: "a") { id } }',
    "block string": '{ add(text: """a""") }',
    "directive of a variable": "query ($n: Int @note) { rows(first: $n) }",
    "type": "type Row { id: ID! }",
    "enum": "enum Kind { SMALL }",
}
found = {}
for name, text in texts.items():
    parse(text)  # raises an error for what is no GraphQL
    found[name] = any(kind is Error for kind, _ in lexer.get_tokens(text))
print(found)
assert list(found.values()) == [False, True, True, True, True], found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
