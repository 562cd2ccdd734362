#!/usr/bin/env bash
# Undine: a duration loses its fraction of a second, and its filter does not find what was shown.
#
# One would expect: a duration of 1.9 seconds is shown with its fraction, as times are, and the value of
# an answer, given back to the filter of its field, finds the row.
# What happens: `Duration` is a whole number of seconds, cut towards zero: 1.9 is 1, and -0.5 is 0. The
# sum of the shown values is not that of the table; `span: 1` finds no row, and `spanGt: 1` the row
# that is shown with 1. A fraction is refused as a value of the filter.
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


class Lap(models.Model):
    span = models.DurationField()
PYTHON
cat >"$folder/run.py" <<'PYTHON'
import json
from datetime import timedelta

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

from app.models import Lap
from undine import Entrypoint, FilterSet, QueryType, RootType, create_schema


class LapFilter(FilterSet[Lap], auto=True):
    pass


@LapFilter
class LapType(QueryType[Lap], schema_name="Lap", auto=True):
    pass


class Query(RootType):
    laps = Entrypoint(LapType, many=True)


schema = create_schema(query=Query)
with connection.schema_editor() as editor:
    editor.create_model(Lap)
for seconds in (1.9, -0.5, 3):
    Lap.objects.create(span=timedelta(seconds=seconds))

for arguments, expected in {
    "": [1, 0, 3],
    "(filter: {span: 1})": [],
    "(filter: {span: 3})": [3],
    "(filter: {spanGt: 1})": [1, 3],
    "(filter: {span: 1.9})": None,
}.items():
    body = json.dumps({"query": "{ laps%s { span } }" % arguments})
    answer = Client().post("/graphql/", body, content_type="application/json").json()
    found = answer.get("data") and [lap["span"] for lap in answer["data"]["laps"]]
    print(arguments, found)
    assert found == expected, (arguments, answer)
PYTHON
cd "$folder"
"$folder/venv/bin/python" "$folder/run.py"
