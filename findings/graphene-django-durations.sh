#!/usr/bin/env bash
# graphene-django: a DurationField becomes a Float, which no duration fits.
#
# One would expect: a number of seconds, as the type Float suggests, or a text.
# What happens: each duration is null beside an error, "Float cannot represent non numeric value",
# as the field gives a timedelta and nothing converts it. The schema is built without a complaint.
# Versions: graphene-django 3.2.3, graphene 3.4.3, Django 5.2.19, graphql-core 3.2.14, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet graphene-django==3.2.3 graphene==3.4.3 django==5.2.19 \
  graphql-core==3.2.14 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
from datetime import timedelta

import django
from django.conf import settings

settings.configure(
    INSTALLED_APPS=["graphene_django"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
)
django.setup()

import graphene
from django.db import connection, models
from graphene_django import DjangoObjectType


class Film(models.Model):
    length = models.DurationField(null=True)

    class Meta:
        app_label = "shop"


class FilmType(DjangoObjectType):
    class Meta:
        model = Film
        fields = "__all__"


class Query(graphene.ObjectType):
    films = graphene.List(FilmType)

    def resolve_films(self, info):
        return Film.objects.all()


with connection.schema_editor() as editor:
    editor.create_model(Film)
Film.objects.create(length=timedelta(minutes=95))
schema = graphene.Schema(query=Query)
answer = schema.execute("{ films { id length } }")
found = [
    answer.data["films"][0]["length"],
    answer.errors[0].message.partition(":")[0],
    str(schema.graphql_schema.type_map["FilmType"].fields["length"].type),
]
print(found)
assert found == [None, "Float cannot represent non numeric value", "Float"], found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
