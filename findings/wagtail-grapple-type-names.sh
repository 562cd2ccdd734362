#!/usr/bin/env bash
# wagtail-grapple: the type of a page of speakers is called `peakerPaginatedType`.
#
# One would expect: `SpeakerPaginatedType`, and a name of its own for each model.
# What happens: `lstrip("Stub")`, meant for a prefix "Stub", takes away every leading S, t, u and b.
# `Speaker` loses its first letter, and the pages of `SubTask` have the name of those of `Task`.
# Versions: wagtail-grapple 0.31.0, wagtail 8.0.1, graphene-django 3.2.3, graphene 3.4.3,
# Django 5.2.19, graphql-core 3.2.14, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet wagtail-grapple==0.31.0 wagtail==8.0.1 \
  graphene-django==3.2.3 graphene==3.4.3 Django==5.2.19 graphql-core==3.2.14 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import django
from django.conf import settings

apps = ["grapple", "wagtail.users", "wagtail.sites", "wagtail.documents", "wagtail.images"]
apps += ["wagtail.contrib.redirects", "wagtail.search", "wagtail.admin", "wagtail", "taggit"]
apps += [f"django.contrib.{name}" for name in ("auth", "contenttypes", "sessions", "messages")]
settings.configure(
    INSTALLED_APPS=apps,
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    WAGTAILADMIN_BASE_URL="http://localhost",
    STATIC_URL="/static/",
)
django.setup()

from django.db import models
from grapple.types.structures import PaginatedQuerySet
from graphene_django import DjangoObjectType


def name_page(name: str) -> str:
    meta = type("Meta", (), {"app_label": "demo"})
    model = type(name, (models.Model,), {"__module__": __name__, "Meta": meta})
    meta = type("Meta", (), {"model": model, "fields": ["id"]})
    kind = type(name, (DjangoObjectType,), {"Meta": meta})
    return PaginatedQuerySet(kind, kind).type._meta.name


found = [name_page(name) for name in ("Book", "Speaker", "Task", "SubTask")]
print(found)
assert found == [
    "BookPaginatedType",
    "peakerPaginatedType",
    "TaskPaginatedType",
    "TaskPaginatedType",
], found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
