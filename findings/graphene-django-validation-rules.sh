#!/usr/bin/env bash
# graphene-django: a view that forbids introspection checks nothing else of a query.
#
# Guessed before: `validation_rules` adds DisableIntrospection to the rules of the specification, so
# that a field that does not exist is an error with status 400.
# What happens: it replaces them. Introspection is refused, but an unknown field vanishes from the
# answer, an unknown argument is ignored, and an undefined variable is null, each with status 200
# and no error. Without the setting, the same queries are errors.
# Met in Caluma 11.3.0, which sets it in production.
# Versions: graphene-django 3.2.3, graphene 3.4.3, graphql-core 3.2.14, Django 5.2.19, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet graphene-django==3.2.3 graphene==3.4.3 \
  graphql-core==3.2.14 Django==5.2.19 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import json

import django
from django.conf import settings

settings.configure(ALLOWED_HOSTS=["*"], INSTALLED_APPS=["graphene_django"])
django.setup()

import graphene
from django.test import RequestFactory
from graphene.validation import DisableIntrospection
from graphene_django.views import GraphQLView


class Query(graphene.ObjectType):
    rows = graphene.List(graphene.Int, first=graphene.Int())

    def resolve_rows(self, info, first=None):
        return [1, 2, 3][:first]


def ask(query: str, **options: object) -> tuple[int, object]:
    view = GraphQLView.as_view(schema=graphene.Schema(query=Query), **options)
    request = RequestFactory().post("/", {"query": query}, content_type="application/json")
    response = view(request)
    answer = json.loads(response.content)
    return response.status_code, answer.get("data", "errors")


queries = ["{ __schema { __typename } }", "{ rows rowz }", "{ rows(first_: 1) }"]
queries += ["query ($n: Int) { rows(first: $m) }"]
usual = [ask(query) for query in queries]
secret = [ask(query, validation_rules=[DisableIntrospection]) for query in queries]
for query, before, after in zip(queries, usual, secret, strict=True):
    print(query, before, after, sep="  ")
error, rows = (400, "errors"), {"rows": [1, 2, 3]}
assert usual == [(200, {"__schema": {"__typename": "__Schema"}}), error, error, error], usual
assert secret == [error, (200, rows), (200, rows), (200, rows)], secret
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
