#!/usr/bin/env bash
# strawberry-django: a cursor connection ends at its first nulls, or has no limit at all.
#
# Guessed before: `DjangoCursorConnection` pages through rows in any order, as the comments in its
# code think of nulls first and nulls last; and without `first` it has a page of 100, its limit.
# What happens on SQLite, which puts nulls first: in ascending order of a field with 30 nulls, the
# page after `first: 20` has the other 10 nulls and says that none follow, beside a totalCount of
# 150. The order of the database is not asked for: what is not `nulls first` in the query is taken
# for nulls last. Without `first` all 150 rows come, while `first: 101` is refused as too many.
# Versions: strawberry-graphql-django 0.93.0, strawberry-graphql 0.341.2, Django 5.2.19,
# graphql-core 3.3.2, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet strawberry-graphql-django==0.93.0 \
  strawberry-graphql==0.341.2 django==5.2.19 graphql-core==3.3.2 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import logging

import django
from django.conf import settings

settings.configure(
    INSTALLED_APPS=["strawberry_django"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
)
django.setup()
logging.disable()

import strawberry
import strawberry_django
from django.db import connection, models
from strawberry import relay
from strawberry_django.relay import DjangoCursorConnection


class Book(models.Model):
    price = models.IntegerField(null=True)

    class Meta:
        app_label = "shop"


@strawberry_django.order_type(Book)
class BookOrder:
    price: strawberry.auto


@strawberry_django.type(Book, name="Book", ordering=BookOrder)
class BookType(relay.Node):
    price: strawberry.auto


@strawberry.type
class Query:
    books: DjangoCursorConnection[BookType] = strawberry_django.connection()


with connection.schema_editor() as editor:
    editor.create_model(Book)
Book.objects.bulk_create(Book(price=n if n > 30 else None) for n in range(1, 151))
schema = strawberry.Schema(Query)
PAGE = "{ books%s { totalCount pageInfo { hasNextPage endCursor } edges { node { id } } } }"


def ask(arguments):
    answer = schema.execute_sync(PAGE % arguments)
    if answer.errors:
        return answer.errors[0].message, None
    books = answer.data["books"]
    info = books["pageInfo"]
    return (len(books["edges"]), info["hasNextPage"], books["totalCount"]), info["endCursor"]


first, cursor = ask("(first: 20, ordering: [{price: ASC}])")
second, _ = ask(f'(first: 20, after: "{cursor}", ordering: [{{price: ASC}}])')
unlimited, _ = ask("")
refused, _ = ask("(first: 101)")
found = [first, second, unlimited, refused]
print(found)
assert found == [
    (20, True, 150),
    (10, False, 150),
    (150, False, 150),
    "Argument 'first' cannot be higher than 100.",
], found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
