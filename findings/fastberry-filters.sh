#!/usr/bin/env bash
# fastberry: on the fast path, lists ignore their filters and pages, and a renamed field is null.
#
# Guessed before: `@fast_path` skips costs for each field of a type of strawberry-django, and the
# rows are those that the same query brings without it.
# What happens: a field is the attribute of its own name. `short`, declared with
# `field_name="name"`, is null for Ann, since a missing attribute is no error. A list is all rows of
# its relation: `books(pagination: {limit: 2})`, a filter and an order each bring all four books as
# they are stored. With strawberry-django's optimizer they are right, and `short` is still null.
# Versions: fastberry 0.5.0, strawberry-graphql-django 0.93.0, strawberry-graphql 0.341.2,
# Django 5.2.19, graphql-core 3.3.2, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet fastberry==0.5.0 strawberry-graphql-django==0.93.0 \
  strawberry-graphql==0.341.2 Django==5.2.19 graphql-core==3.3.2 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import django
from django.conf import settings

database = {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}
settings.configure(DATABASES={"default": database}, INSTALLED_APPS=["__main__"])
django.setup()

import strawberry
import strawberry_django
from django.db import connection, models
from fastberry import FastPathExtension, fast_path
from strawberry import auto
from strawberry_django.optimizer import DjangoOptimizerExtension


class Author(models.Model):
    name = models.CharField(max_length=9)

    class Meta:
        app_label = "__main__"


class Book(models.Model):
    title = models.CharField(max_length=9)
    author = models.ForeignKey(Author, models.CASCADE, related_name="books")

    class Meta:
        app_label = "__main__"


@strawberry_django.filter_type(Book, lookups=True)
class BookFilter:
    title: auto


@strawberry_django.order_type(Book)
class BookOrder:
    title: auto


@strawberry_django.type(Book, filters=BookFilter, ordering=BookOrder, pagination=True)
class BookType:
    title: auto


@fast_path
@strawberry_django.type(Author)
class AuthorType:
    short: str | None = strawberry_django.field(field_name="name")
    books: list[BookType]


@strawberry.type
class Query:
    authors: list[AuthorType] = strawberry_django.field()


with connection.schema_editor() as editor:
    editor.create_model(Author)
    editor.create_model(Book)
ann = Author.objects.create(name="Ann")
for title in "CADB":
    Book.objects.create(title=title, author=ann)


def ask(*extensions: type) -> list:
    schema = strawberry.Schema(query=Query, extensions=extensions)
    values = []
    for arguments in (
        "pagination: {limit: 2}",
        'filters: {title: {exact: "A"}}',
        "ordering: [{title: ASC}]",
    ):
        answer = schema.execute_sync("{ authors { short books(%s) { title } } }" % arguments)
        assert not answer.errors, answer.errors
        (author,) = answer.data["authors"]
        values.append("".join(book["title"] for book in author["books"]))
    return [author["short"], *values]


slow = ask()
fast = ask(FastPathExtension)
optimized = ask(DjangoOptimizerExtension, FastPathExtension)
print(slow, fast, optimized)
assert slow == ["Ann", "CA", "A", "ABCD"], slow
assert fast == [None, "CADB", "CADB", "CADB"], fast
assert optimized == [None, "CA", "A", "ABCD"], optimized
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
