#!/usr/bin/env bash
# gql-dynamic-query-builder: conditions are left out, and the query filters less or nothing.
#
# Guessed before: each condition that was given is in the query. The README says that an optional one
# is left out "if the provided value is 'None'", and that queries with arguments of their own work.
# What happens: of two conditions on one column the last alone is there, so that a range has no lower
# end. In `_or` an optional condition is left out for 0 and False, too. Where the table has an
# argument that is an object, such as `order_by`, or its rows have a nested selection, the query
# comes back as it was, without any condition and without an error: all rows would be read.
# Versions: gql-dynamic-query-builder 1.2.0, pyparsing 3.3.3, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet gql-dynamic-query-builder==1.2.0 pyparsing==3.3.3 2>/dev/null
cat >run.py <<'PYTHON'
from gql_dynamic_query_builder.api.dsl.query import dynamic_query, where


def build(query, *conditions):
    table = dynamic_query(query).table("product")
    for column, operator, value in conditions:
        table = getattr(table.where(column), operator)(value)
    either = [where("brand")._eq("a"), where("stock", is_optional=True)._eq(0)]
    return "".join(table._or(either).build().split())


flat = "query Q { product { name } }"
ordered = "query Q { product(order_by: {name: asc}) { name } }"
nested = "query Q { product { name brand { name } } }"
found = [
    build(flat, ("price", "_gte", 5), ("price", "_lte", 9)),
    build(flat, ("price", "_gte", 5), ("size", "_lte", 9)),
    build(ordered, ("price", "_gte", 5)),
    build(nested, ("price", "_gte", 5)),
]
print(*found, sep="\n")
assert found == [
    'queryQ{product(where:{price:{_lte:9}_or:[{brand:{_eq:"a"}}]}){name}}',
    'queryQ{product(where:{price:{_gte:5}size:{_lte:9}_or:[{brand:{_eq:"a"}}]}){name}}',
    "queryQ{product(order_by:{name:asc}){name}}",
    "queryQ{product{namebrand{name}}}",
], found
PYTHON
venv/bin/python run.py
