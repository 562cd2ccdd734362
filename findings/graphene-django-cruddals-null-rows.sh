#!/usr/bin/env bash
# graphene-django-cruddals: a row is null where a column is, unless a form may leave it empty.
#
# One would expect: `DateField(null=True)` is `day: Date`, as in graphene-django.
# What happens: the type is taken from `blank`, which is for forms, and not from `null`: `Date!`. Of
# each row without a day only `null` and an error remain in `searchBooks`, whose `total` counts the
# row; `listBooks`, of type `[BookType!]`, has no row at all.
# Versions: graphene-django-cruddals 0.1.29, graphene-cruddals 0.2.16, graphene-django 3.2.3,
# graphene 3.4.3, Django 5.2.19, graphql-core 3.2.14, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet graphene-django-cruddals==0.1.29 graphene-cruddals==0.2.16 \
  graphene-django==3.2.3 graphene==3.4.3 Django==5.2.19 graphql-core==3.2.14 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import datetime as dt

import django
from django.conf import settings
from django.db import connection, models

settings.configure(
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "graphene_django"],
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
)
django.setup()

from django.http import HttpRequest
from graphene_django_cruddals import DjangoModelCruddals


class Book(models.Model):
    day = models.DateField(null=True)
    night = models.DateField(null=True, blank=True)

    class Meta:
        app_label = "books"


with connection.schema_editor() as editor:
    editor.create_model(Book)
Book.objects.create(day=dt.date(2026, 1, 2), night=None)
Book.objects.create(day=None, night=dt.date(2026, 1, 2))


class CruddalsBook(DjangoModelCruddals):
    class Meta:
        model = Book


schema = CruddalsBook.schema


def ask(text: str) -> object:
    return schema.execute(text, context_value=HttpRequest()).data


types = schema.graphql_schema.type_map["BookType"].fields
found = (
    [str(types[name].type) for name in ("day", "night")],
    ask("{ searchBooks { total objects { day } } }"),
    ask("{ searchBooks { total objects { night } } }"),
    ask("{ listBooks { day } }"),
)
print(*found, sep="\n")
assert found == (
    ["Date!", "Date"],
    {"searchBooks": {"total": 2, "objects": [{"day": "2026-01-02"}, None]}},
    {"searchBooks": {"total": 2, "objects": [{"night": None}, {"night": "2026-01-02"}]}},
    {"listBooks": None},
), found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
