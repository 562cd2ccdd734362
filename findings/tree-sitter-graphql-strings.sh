#!/usr/bin/env bash
# tree-sitter-graphql: a text with an escaped quote, and two directives on one field, are errors.
#
# Guessed before: the grammar on PyPI reads all queries that graphql-core reads; both forms are in
# the specification of 2018 and in most queries of applications.
# What happens: the tree has error nodes for both, and for a schema that is extended, while the same
# queries without the backslash, or with one directive, are read. Tools that colour, fold or look
# for names by this tree lose the rest of the line.
# Versions: tree-sitter-graphql 0.1.0, tree-sitter 0.26.1, graphql-core 3.2.14, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet tree-sitter-graphql==0.1.0 tree-sitter==0.26.1 \
  graphql-core==3.2.14 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import graphql
import tree_sitter
import tree_sitter_graphql

parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_graphql.language()))
texts = {
    "plain text": '{ find(text: "say hi") }',
    "escaped quote": r'{ find(text: "say \"hi\"") }',
    "one directive": "{ a @include(if: true) }",
    "two directives": "{ a @include(if: true) @skip(if: false) }",
    "extended schema": "extend schema @a",
}
found = {}
for name, text in texts.items():
    graphql.parse(text)  # raises an error for what is no GraphQL
    found[name] = parser.parse(text.encode()).root_node.has_error
print(found)
assert list(found.values()) == [False, True, False, True, True], found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
