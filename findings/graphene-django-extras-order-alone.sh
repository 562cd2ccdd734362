#!/usr/bin/env bash
# graphene-django-extras: `ordering` and `offset` are ignored unless `limit` is given.
#
# Guessed before: each of the three arguments of a list has its effect whether the others are there
# or not, as `limit` has no default in the schema.
# What happens: without `limit` the list is returned as it is: `ordering: "-id"` gives the rows in the
# order of their ids, so that the first one is the oldest and not the newest, and `offset: 3` gives
# all five rows. With `limit: 5` both are heeded. It is so where no page size is configured, which is
# the default.
# Versions: graphene-django-extras 1.0.1, graphene-django 3.2.3, graphene 3.4.3, Django 5.2.19,
# graphql-core 3.2.14, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet graphene-django-extras==1.0.1 graphene-django==3.2.3 \
  graphene==3.4.3 django==5.2.19 graphql-core==3.2.14 2>/dev/null
mkdir "$folder/app"
touch "$folder/app/__init__.py"
cat >"$folder/app/models.py" <<'PYTHON'
from django.db import models


class Book(models.Model):
    title = models.CharField(max_length=9)
PYTHON
cat >"$folder/run.py" <<'PYTHON'
import django
from django.conf import settings
from django.db import connection

settings.configure(
    INSTALLED_APPS=["django.contrib.contenttypes", "graphene_django", "app"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
)
django.setup()

import graphene
from app import models
from graphene_django_extras import (
    DjangoListObjectField,
    DjangoListObjectType,
    DjangoObjectType,
    LimitOffsetGraphqlPagination,
)


class BookType(DjangoObjectType):
    class Meta:
        model = models.Book
        filter_fields = ("id",)


class BookList(DjangoListObjectType):
    class Meta:
        model = models.Book
        pagination = LimitOffsetGraphqlPagination()


class Query(graphene.ObjectType):
    books = DjangoListObjectField(BookList)


schema = graphene.Schema(query=Query)
with connection.schema_editor() as editor:
    editor.create_model(models.Book)
for number in range(5):
    models.Book.objects.create(title=f"t{number}")

for arguments, expected in {
    'ordering: "-id", limit: 5': [5, 4, 3, 2, 1],
    'ordering: "-id"': [1, 2, 3, 4, 5],
    "offset: 3, limit: 5": [4, 5],
    "offset: 3": [1, 2, 3, 4, 5],
}.items():
    answer = schema.execute("{ books { results(%s) { id } } }" % arguments)
    assert not answer.errors, answer.errors
    found = [int(row["id"]) for row in answer.data["books"]["results"]]
    print(arguments, found)
    assert found == expected, (arguments, found)
PYTHON
cd "$folder"
"$folder/venv/bin/python" "$folder/run.py"
