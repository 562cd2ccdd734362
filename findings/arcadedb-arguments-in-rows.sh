#!/usr/bin/env bash
# ArcadeDB GraphQL: the arguments of a list in rows are ignored, and a misspelled field is null.
#
# One would expect: `books(title: "b3")` means the same wherever the schema declares it, and a field
# that no type has is refused.
# What happens: as a root field the list has the books of that title. In the rows of authors all books
# of each author come, without an error: who counts the authors of a title by it gets each of them.
# A reserved `where:` of conditions is ignored there, too. `{ books { titles } }` is a list of nulls,
# so that a misspelled column looks like one without values.
# Versions: arcadedb-embedded 26.10.2.post1 (with its own Java), Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet arcadedb-embedded==26.10.2.post1 2>/dev/null
cat >run.py <<'PYTHON'
import json

import arcadedb_embedded

SDL = """
type Query { books(title: String, where: String): [Book] authors: [Author] }
type Book { title: String }
type Author {
  name: String
  books(title: String, where: String): [Book] @relationship(type: "Wrote", direction: OUT)
}
"""
database = arcadedb_embedded.create_database("books")
for kind, name in (("VERTEX", "Author"), ("VERTEX", "Book"), ("EDGE", "Wrote")):
    database.command("sql", f"CREATE {kind} TYPE {name}")
with database.transaction():
    for number in (1, 2):
        database.command("sql", f"INSERT INTO Author SET name = 'a{number}'")
    for number in (1, 2, 3, 4):
        database.command("sql", f"INSERT INTO Book SET title = 'b{number}'")
        ends = f"FROM (SELECT FROM Author WHERE name = 'a{1 + number % 2}')"
        ends += f" TO (SELECT FROM Book WHERE title = 'b{number}')"
        database.command("sql", f"CREATE EDGE Wrote {ends}")
database.command("graphql", SDL)


def read(value):
    """Return a value of an answer without the fields that were not selected."""
    if isinstance(value, dict):
        return {name: read(each) for name, each in value.items() if not name.startswith("@")}
    if isinstance(value, list):
        return [read(each) for each in value]
    if hasattr(value, "getPropertyNames"):  # a row of Java
        names = [str(name) for name in value.getPropertyNames()]
        return read({name: value.getProperty(name) for name in names})
    return value if value is None else str(value)


def ask(text: str) -> list:
    rows = read([row.to_dict() for row in database.query("graphql", text)])
    print(text, json.dumps(rows))
    return rows


assert ask('{ books(title: "b3") { title } }') == [{"title": "b3"}]
for given in ('title: "b3"', "where: \"title = 'b3'\""):
    rows = ask("{ authors { name books(%s) { title } } }" % given)
    found = {row["name"]: sorted(book["title"] for book in row["books"]) for row in rows}
    assert found == {"a1": ["b2", "b4"], "a2": ["b1", "b3"]}, found
assert ask("{ books { titles } }") == [{"titles": None}] * 4
database.close()
PYTHON
venv/bin/python run.py 2>log || { cat log; exit 1; }
