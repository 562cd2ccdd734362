#!/usr/bin/env bash
# Undine: a relation under another name ignores its filter, its order and its size.
#
# One would expect: `allBooks = Field(Book, many=True, field_name="books")` takes the arguments of
# `books`, which its schema declares.
# What happens: `books(filter: {pk: 2})` is one book, and `allBooks(filter: {pk: 2})` all books of the
# author, in the order of their ids whatever `orderBy` says. A list with `limit` and `offset` has all
# rows on each page, also above its page size. No error, as long as the field has no alias.
# Versions: undine 0.5.0, Django 5.2.19, graphql-core 3.3.2, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet undine==0.5.0 django==5.2.19 graphql-core==3.3.2 2>/dev/null
mkdir "$folder/app"
touch "$folder/app/__init__.py"
cat >"$folder/app/models.py" <<'PYTHON'
from django.db import models


class Author(models.Model):
    name = models.CharField(max_length=9)


class Book(models.Model):
    title = models.CharField(max_length=9)
    author = models.ForeignKey(Author, models.CASCADE, related_name="books")
PYTHON
cat >"$folder/run.py" <<'PYTHON'
import json

import django
from django.conf import settings
from django.db import connection
from django.test import Client

settings.configure(
    ALLOWED_HOSTS=["*"],
    SECRET_KEY="none",
    ROOT_URLCONF="undine.http.urls",
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "undine", "app"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    UNDINE={"SCHEMA": "__main__.schema", "ASYNC": False},
)
django.setup()

from app import models
from undine import Entrypoint, Field, FilterSet, OrderSet, QueryType, RootType, create_schema
from undine.pagination import OffsetPagination


class BookFilter(FilterSet[models.Book], auto=True):
    pass


class BookOrder(OrderSet[models.Book], auto=True):
    pass


@BookFilter
@BookOrder
class Book(QueryType[models.Book], auto=True):
    pass


class Author(QueryType[models.Author]):
    pk = Field()
    books = Field(Book, many=True)
    all_books = Field(Book, many=True, field_name="books")
    pages = Field(OffsetPagination(Book, page_size=2), field_name="books")


class Query(RootType):
    authors = Entrypoint(Author, many=True)


schema = create_schema(query=Query)
with connection.schema_editor() as editor:
    editor.create_model(models.Author)
    editor.create_model(models.Book)
author = models.Author.objects.create(name="Ann")
for number in range(1, 5):
    models.Book.objects.create(title=f"t{number}", author=author)


def ask(field: str) -> list[int]:
    body = json.dumps({"query": "{ authors { %s { pk } } }" % field})
    answer = Client().post("/graphql/", body, content_type="application/json").json()
    assert "errors" not in answer, answer
    return [book["pk"] for book in answer["data"]["authors"][0][field.split("(")[0]]]


for field, expected in {
    "books(filter: {pk: 2})": [2],
    "allBooks(filter: {pk: 2})": [1, 2, 3, 4],
    "books(orderBy: [pkDesc])": [4, 3, 2, 1],
    "allBooks(orderBy: [pkDesc])": [1, 2, 3, 4],
    "pages(limit: 1, offset: 2)": [1, 2, 3, 4],
    "pages": [1, 2, 3, 4],
}.items():
    found = ask(field)
    print(field, found)
    assert found == expected, (field, found)
PYTHON
cd "$folder"
"$folder/venv/bin/python" "$folder/run.py"
