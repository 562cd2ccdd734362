#!/usr/bin/env bash
# django-graphql: a time loses its microseconds as `DateTime`, and keeps them as `String`.
#
# Guessed before: a scalar that the SDL declares alone has no rule of its own, so that a time is an
# error or the text that Python gives, as `String` is.
# What happens: the value is left to the JSON of Django, which cuts times to milliseconds, also
# times of day. 12:00:01.123456 is "2026-01-01T12:00:01.123Z" as `DateTime`, and
# "2026-01-01 12:00:01.123456+00:00" as `String`. The database compares all six digits, so that
# rows at the time that was shown cannot be found by it.
# Versions: django-graphql 0.1.0, Django 5.2.19, graphql-core 3.2.14, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet django-graphql==0.1.0 Django==5.2.19 graphql-core==3.2.14 \
  2>/dev/null
mkdir "$folder/library"
touch "$folder/library/__init__.py"
cat >"$folder/library/models.py" <<'PYTHON'
from django.db import models


class Event(models.Model):
    moment = models.DateTimeField()
    clock = models.TimeField()
PYTHON
cat >"$folder/urls.py" <<'PYTHON'
from django.urls import path
from django_graphql import Schema

schema = Schema("""
scalar DateTime
scalar Time
type Event @model(name: "library.Event") { moment: DateTime! clock: Time! text: String! }
type Query { events(moment: DateTime, limit: Int): [Event!]! @queryset }
""")


@schema.resolver("Event.text")
def resolve_text(event, info):
    return event.moment


urlpatterns = [path("graphql/", schema.as_view())]
PYTHON
cat >"$folder/run.py" <<'PYTHON'
import datetime as dt

import django
from django.conf import settings

settings.configure(
    ALLOWED_HOSTS=["*"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    INSTALLED_APPS=["library"],
    ROOT_URLCONF="urls",
    SECRET_KEY="x" * 50,
    USE_TZ=True,
)
django.setup()

from django.core.management import call_command
from django.test import Client
from library.models import Event

call_command("migrate", run_syncdb=True, verbosity=0)
moment = dt.datetime(2026, 1, 1, 12, 0, 1, 123456, tzinfo=dt.UTC)
Event.objects.create(moment=moment, clock=moment.time())


def ask(arguments: str) -> list:
    body = {"query": "{ events%s { moment clock text } }" % arguments}
    answer = Client().post("/graphql/", body, content_type="application/json").json()
    assert "errors" not in answer, answer
    return answer["data"]["events"]


found = ask("")
print(found)
assert found == [
    {
        "moment": "2026-01-01T12:00:01.123Z",
        "clock": "12:00:01.123",
        "text": "2026-01-01 12:00:01.123456+00:00",
    }
], found
same = ask('(moment: "%s")' % found[0]["moment"])
print(same)
assert same == [], same
assert ask('(moment: "2026-01-01T12:00:01.123456Z")') == found
PYTHON
cd "$folder"
"$folder/venv/bin/python" "$folder/run.py"
