#!/usr/bin/env bash
# django-auto-graphql: of two lists of related rows only the last one filters, and rows come twice.
#
# Guessed before: `filterIssue(labels: [1, 2], reviewers: [1])` has the issues that have one of the
# labels and the reviewer, each once, as several arguments of a field without relations do.
# What happens: for each many-to-many field the query begins anew, so that the condition of the field
# that the model declares last is the only one: issues without any of the labels are in the answer.
# An issue with both labels of `labels: [1, 2]` is in it twice, and an empty list gives no issue.
# Versions: django-auto-graphql 0.1.0, Django 5.2.8, graphene-django 3.2.3, Python 3.11, SQLite.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-deps django-auto-graphql==0.1.0 2>/dev/null
"$folder/venv/bin/pip" install --quiet Django==5.2.8 graphene-django==3.2.3 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import django
from django.conf import settings

settings.configure(
    INSTALLED_APPS=["graphene_django"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
)
django.setup()

from auto_graphql.views import FlyingGraphQLView
from django.db import connection, models


class Label(models.Model):
    name = models.CharField(max_length=20)

    class Meta:
        app_label = "graphene_django"


class Person(models.Model):
    name = models.CharField(max_length=20)

    class Meta:
        app_label = "graphene_django"


class Issue(models.Model):
    title = models.CharField(max_length=20)
    open = models.BooleanField(default=True)
    labels = models.ManyToManyField(Label)
    reviewers = models.ManyToManyField(Person)

    class Meta:
        app_label = "graphene_django"


with connection.schema_editor() as editor:
    for model in (Label, Person, Issue):
        editor.create_model(model)
labels = [Label.objects.create(name=name) for name in ("bug", "api", "docs")]
people = [Person.objects.create(name=name) for name in ("ada", "bob")]
for number in range(1, 138):
    issue = Issue.objects.create(title=f"issue {number}", open=number % 2 == 1)
    issue.labels.set(labels[:2] if number <= 10 else labels[2:])
    issue.reviewers.set(people[:1] if number % 5 == 0 else people[1:])
schema = FlyingGraphQLView().schema


def ask(arguments: str) -> list:
    answer = schema.execute("{ filterIssue(%s) { id } }" % arguments)
    assert not answer.errors, answer.errors
    return [int(row["id"]) for row in answer.data["filterIssue"]]


of_labels = ask("labels: [1, 2]")
of_both = ask("labels: [1, 2], reviewers: [1]")
of_open = ask("labels: [1], open: true")
print(len(of_labels), len(set(of_labels)), of_both, of_open, ask("labels: []"))
assert len(of_labels) == 20 and set(of_labels) == set(range(1, 11)), of_labels
assert of_both == list(range(5, 138, 5)), of_both
assert of_open == [1, 3, 5, 7, 9], of_open
assert ask("labels: []") == []
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
