#!/usr/bin/env bash
# GeneralManager: a column for times is a `Date`, and its time of day is cut off.
#
# One would expect: `DateTimeField` is `DateTime`, with the time that the database has.
# What happens: Django derives `DateTimeField` from `DateField`, and the first type that fits is
# taken. The schema says `Date`, and 2026-01-02 18:30 UTC is "2026-01-02". A `DecimalField` is
# `Float`.
# Versions: GeneralManager 0.87.1, Django 6.1.3, graphene-django 3.2.3, graphene 3.4.3,
# graphql-core 3.2.14, Python 3.13.
set -euo pipefail
for python in python3.13 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.13.*/bin/python; do
  if "$python" --version >/dev/null 2>&1; then break; fi
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet generalmanager==0.87.1 Django==6.1.3 graphene-django==3.2.3 \
  graphene==3.4.3 graphql-core==3.2.14 2>/dev/null
mkdir -p "$folder/library/migrations"
touch "$folder/library/__init__.py" "$folder/library/migrations/__init__.py"
echo "urlpatterns = []" >"$folder/urls.py"
cat >"$folder/library/managers.py" <<'PYTHON'
from django.db import models
from general_manager import GeneralManager
from general_manager.interface import DatabaseInterface
from general_manager.permission import AdditiveManagerPermission


class Book(GeneralManager):
    class Interface(DatabaseInterface):
        moment = models.DateTimeField()
        price = models.DecimalField(max_digits=10, decimal_places=2)

    class Permission(AdditiveManagerPermission):
        __read__ = ["public"]
PYTHON
cat >"$folder/run.py" <<'PYTHON'
import datetime as dt
from decimal import Decimal

import django
from django.conf import settings

apps = [f"django.contrib.{name}" for name in ("contenttypes", "auth", "sessions")]
middleware = ["sessions.middleware.SessionMiddleware", "auth.middleware.AuthenticationMiddleware"]
settings.configure(
    ALLOWED_HOSTS=["*"],
    AUTOCREATE_GRAPHQL=True,
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    GRAPHQL_URL="graphql/",
    INSTALLED_APPS=[*apps, "simple_history", "graphene_django", "general_manager", "library"],
    MIDDLEWARE=[f"django.contrib.{name}" for name in middleware],
    ROOT_URLCONF="urls",
    SECRET_KEY="x" * 50,
    USE_TZ=True,
)
django.setup()

from django.apps import apps as registry
from django.core.management import call_command
from django.test import Client

call_command("makemigrations", "library", verbosity=0)
call_command("migrate", verbosity=0)
moment = dt.datetime(2026, 1, 2, 18, 30, tzinfo=dt.UTC)
registry.get_model("library", "Book").objects.create(moment=moment, price=Decimal("12.50"))
kind = '__type(name: "BookType") { fields { name type { name } } }'
text = "{ bookList { items { moment price } } %s }" % kind
answer = Client().post("/graphql/", {"query": text}, content_type="application/json").json()
assert "errors" not in answer, answer
types = {field["name"]: field["type"]["name"] for field in answer["data"]["__type"]["fields"]}
found = answer["data"]["bookList"]["items"], types["moment"], types["price"]
print(found)
assert found == ([{"moment": "2026-01-02", "price": 12.5}], "Date", "Float"), found
PYTHON
cd "$folder"
"$folder/venv/bin/python" "$folder/run.py"
