#!/usr/bin/env bash
# graphene-mongo: a connection that was read whole says that a next page exists.
#
# One would expect: without `first` all documents come and `hasNextPage` is false, as it is with a
# `first` of at least their number; `first: 0` gives no document.
# What happens: all documents come with `hasNextPage: true`, and the page after the cursor is empty.
# `first: 0` is the same as no `first`. A client that trusts the flag calls a whole list cut.
# Versions: graphene-mongo 0.4.5, graphene 3.4.3, mongoengine 0.29.3, mongomock 4.3.0,
# graphql-core 3.2.6, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet graphene-mongo==0.4.5 graphene==3.4.3 mongoengine==0.29.3 \
  mongomock==4.3.0 graphql-core==3.2.6 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
import graphene
import mongoengine
import mongomock
from graphene.relay import Node
from graphene_mongo import MongoengineConnectionField, MongoengineObjectType

mongoengine.connect(
    "books",
    host="mongodb://localhost",
    mongo_client_class=mongomock.MongoClient,
    uuidRepresentation="standard",
)


class Book(mongoengine.Document):
    number = mongoengine.IntField()


for number in range(7):
    Book(number=number).save()


class BookType(MongoengineObjectType):
    class Meta:
        model = Book
        interfaces = (Node,)


class Query(graphene.ObjectType):
    books = MongoengineConnectionField(BookType)


schema = graphene.Schema(query=Query)


def ask(arguments: str) -> tuple[int, bool]:
    query = "{ books%s { edges { node { number } } pageInfo { hasNextPage } } }" % arguments
    answer = schema.execute(query)
    assert not answer.errors, answer.errors
    books = answer.data["books"]
    return len(books["edges"]), books["pageInfo"]["hasNextPage"]


found = [ask(text) for text in ("", "(first: 0)", "(first: 7)", "(first: 3)")]
print(found)
assert found == [(7, True), (7, True), (7, False), (3, True)], found
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
