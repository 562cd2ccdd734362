#!/usr/bin/env bash
# omop-cdm-graphql: the first answer to a query is given for ever, whatever is in the database.
#
# One would expect: after a person was added, `allPersons` has one more.
# What happens: each resolver keeps its results by its arguments, without an end. `allPersons` has the
# persons of its first request until the server is started anew, and a person who was not there when
# asked for stays null, beside another field that finds her.
# Versions: omop-cdm-graphql 0.6.0, strawberry-graphql 0.341.2, SQLAlchemy 2.1.9,
# graphql-core 3.3.2, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet omop-cdm-graphql==0.6.0 strawberry-graphql==0.341.2 \
  SQLAlchemy==2.1.9 graphql-core==3.3.2 2>/dev/null
echo "database_file: $folder/persons.db" >"$folder/config.yaml"
cat >"$folder/run.py" <<'PYTHON'
import datetime as dt
import logging

from omop_cdm_graphql.database import SessionLocal, engine
from omop_cdm_graphql.models import Base, Person
from omop_cdm_graphql.schema import schema

engine.echo = False
logging.disable()
Base.metadata.create_all(engine)


def add(number: int) -> None:
    with SessionLocal() as session:
        born = dt.datetime(1990, 1, number)
        session.add(Person(person_id=number, gender_concept_id=8507, birth_datetime=born))
        session.commit()


def ask(query: str) -> dict:
    answer = schema.execute_sync(query)
    assert not answer.errors, answer.errors
    return answer.data


ALL, ONE = "allPersons { personId }", "person(personId: 2) { personId }"
SOME = "personsByGender(genderConceptId: 8507) { personId }"
add(1)
before = ask("{ %s %s }" % (ALL, ONE))
add(2)
after = ask("{ %s %s %s }" % (ALL, ONE, SOME))
print(before, after, sep="\n")
assert before == {"allPersons": [{"personId": 1}], "person": None}, before
assert after == {**before, "personsByGender": [{"personId": 1}, {"personId": 2}]}, after
PYTHON
cd "$folder"
USER="${USER:-nobody}" "$folder/venv/bin/python" "$folder/run.py" | tail -2
