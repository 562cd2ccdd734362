#!/usr/bin/env bash
# easy-graphql-server: authors of long books come once for each such book, and push others out.
#
# Guessed before: `authors(books__pages__gt: 100)` are the authors with such a book, each once.
# What happens: the filter joins the tables and keeps each row of the join. An author with three such
# books comes three times with the same id. With `limit=3` for the model these three are all, and the
# second author is missing; a filter on her own columns finds her.
# Versions: easy-graphql-server 0.9.31, Django 5.2.19, graphql-core 3.1.7, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet easy-graphql-server==0.9.31 Django==5.2.19 \
  graphql-core==3.1.7 python-dateutil==2.9.0.post0 2>/dev/null
mkdir "$folder/library"
touch "$folder/library/__init__.py"
cat >"$folder/library/models.py" <<'PYTHON'
from django.db import models


class Author(models.Model):
    name = models.CharField(max_length=50)


class Book(models.Model):
    pages = models.IntegerField()
    author = models.ForeignKey(Author, related_name="books", on_delete=models.CASCADE)
PYTHON
cat >"$folder/run.py" <<'PYTHON'
import django
from django.conf import settings

settings.configure(
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "library"],
)
django.setup()

import easy_graphql_server
from django.core.management import call_command
from library.models import Author, Book

call_command("migrate", run_syncdb=True, verbosity=0)
for name, lengths in (("Ann", (150, 200, 250)), ("Eve", (300,))):
    author = Author.objects.create(name=name)
    for pages in lengths:
        Book.objects.create(pages=pages, author=author)


def ask(filters: str, limit: int) -> list:
    schema = easy_graphql_server.Schema()
    schema.expose_model(orm_model=Author, plural_name="authors", limit=limit)
    schema.expose_model(orm_model=Book, plural_name="books")
    query = "{ authors(%s) { name } }" % filters
    answer = schema.execute(query, serializable_output=True)
    assert "errors" not in answer, answer
    return [author["name"] for author in answer["data"]["authors"]]


found = [ask("books__pages__gt: 100", limit) for limit in (100, 3)]
found.append(ask('name__in: ["Ann", "Eve"]', 3))
print(found)
assert found == [["Ann", "Ann", "Ann", "Eve"], ["Ann"] * 3, ["Ann", "Eve"]], found
PYTHON
cd "$folder"
"$folder/venv/bin/python" "$folder/run.py"
