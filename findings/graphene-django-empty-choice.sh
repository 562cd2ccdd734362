#!/usr/bin/env bash
# graphene-django: rows with a choice that is the empty text are null as a whole.
#
# One would expect: a field with choices is an enum with a value for each of them, and a row with
# the empty choice ("", "not said") has that value.
# What happens: the enum has a value for it, `A_`, and is non-null. The resolver gives null for the
# empty text, so the row is null and an error stands beside it; the other rows are right.
# Versions: graphene-django 3.2.3, Django 5.2.19, graphene 3.4.3, graphql-core 3.2.14, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet graphene-django==3.2.3 Django==5.2.19 graphene==3.4.3 \
  graphql-core==3.2.14 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import django
from django.conf import settings

database = {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}
settings.configure(INSTALLED_APPS=["graphene_django"], DATABASES={"default": database})
django.setup()

import graphene
from django.db import connection, models
from graphene_django import DjangoObjectType


class Book(models.Model):
    kind = models.CharField(max_length=5, choices=[("novel", "Novel"), ("", "Not said")])

    class Meta:
        app_label = "books"


with connection.schema_editor() as editor:
    editor.create_model(Book)
for kind in ("novel", ""):
    Book.objects.create(kind=kind)


class BookType(DjangoObjectType):
    class Meta:
        model = Book
        fields = ["kind"]


class Query(graphene.ObjectType):
    books = graphene.List(BookType)

    def resolve_books(root, info):
        return Book.objects.order_by("id")


schema = graphene.Schema(query=Query)
answer = schema.execute("{ books { kind } }")
names = list(schema.graphql_schema.type_map["BooksBookKindChoices"].values)
print(names, answer)
assert names == ["NOVEL", "A_"], names
assert answer.data == {"books": [{"kind": "NOVEL"}, None]}, answer.data
assert len(answer.errors) == 1, answer.errors
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
