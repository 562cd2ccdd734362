#!/usr/bin/env bash
# strawberry-django: the default limit of pages holds for a list only where `pagination` is given.
#
# Guessed before: with PAGINATION_DEFAULT_LIMIT = 20 a list has at most 20 rows unless the query
# asks for more, as `offset_paginated` fields of the same type have.
# What happens: `books` without arguments gives all 60 rows, and `books(pagination: {offset: 5})`
# gives 20. Skipping five rows takes 40 rows away, and a client that compares both answers learns
# nothing about the size of a page.
# Versions: strawberry-graphql-django 0.93.0, strawberry-graphql 0.341.2, Django 5.2.19,
# graphql-core 3.3.2, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet strawberry-graphql-django==0.93.0 \
  strawberry-graphql==0.341.2 django==5.2.19 graphql-core==3.3.2 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import django
from django.conf import settings

settings.configure(
    INSTALLED_APPS=["strawberry_django"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    STRAWBERRY_DJANGO={"PAGINATION_DEFAULT_LIMIT": 20},
)
django.setup()

import strawberry
import strawberry_django
from django.db import connection, models
from strawberry_django.pagination import OffsetPaginated


class Book(models.Model):
    title = models.TextField()

    class Meta:
        app_label = "shop"
        ordering = ("id",)


@strawberry_django.type(Book, name="Book", pagination=True)
class BookType:
    title: strawberry.auto


@strawberry.type
class Query:
    books: list[BookType] = strawberry_django.field()
    pages: OffsetPaginated[BookType] = strawberry_django.offset_paginated()


with connection.schema_editor() as editor:
    editor.create_model(Book)
Book.objects.bulk_create(Book(title=f"title {number}") for number in range(60))
schema = strawberry.Schema(Query)


def count(selection):
    value = schema.execute_sync(f"{{ rows: {selection} }}").data["rows"]
    return len(value["results"] if isinstance(value, dict) else value)


found = {
    text: count(text)
    for text in (
        "books { title }",
        "books(pagination: {offset: 5}) { title }",
        "pages { results { title } }",
    )
}
print(found)
raise SystemExit(list(found.values()) != [60, 20, 20])
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
