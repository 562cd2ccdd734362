"""Subgraphs of Apollo Federation, adopted as they are."""

from __future__ import annotations

from copy import deepcopy

import ariadne
import pytest
import strawberry
import strawberry.federation
from ariadne.contrib.federation import FederatedObjectType, make_federated_schema

from gqlnb import Client, Schema
from gqlnb.server.background_server import serve


@strawberry.federation.type(keys=["id"])
class User:
    """A user."""

    id: strawberry.ID
    name: str

    @classmethod
    def resolve_reference(cls, id: strawberry.ID) -> User:  # noqa: A002 - the key's name
        """Return the user of a key."""
        return User(id=id, name=f"user {id}")


@strawberry.type
class Query:
    """The root."""

    @strawberry.field
    def ready(self) -> bool:
        """Return True."""
        return True


TEXT = """
query ($representations: [_Any!]!) {
  _entities(representations: $representations) { __typename ... on User { id name } }
  _service { sdl }
}
"""
VARIABLES = {"representations": [{"__typename": "User", "id": "7"}]}


def build_strawberry_subgraph():
    """Return a subgraph of Strawberry, and a function that executes by Strawberry."""
    schema = strawberry.federation.Schema(Query, types=[User])
    return schema, lambda variables: schema.execute_sync(TEXT, variables).data


def build_ariadne_subgraph():
    """Return a subgraph of Ariadne, and a function that executes by Ariadne."""
    user = FederatedObjectType("User")
    user.reference_resolver(
        lambda _root, _info, it: {"__typename": "User", "id": it["id"], "name": f"user {it['id']}"}
    )
    sdl = """
    extend schema @link(url: "https://specs.apollo.dev/federation/v2.0", import: ["@key"])
    type Query { ready: Boolean }
    type User @key(fields: "id") { id: ID! name: String }
    """
    schema = make_federated_schema(sdl, [user])

    def execute(variables):
        request = {"query": TEXT, "variables": variables}
        return ariadne.graphql_sync(schema, request)[1]["data"]

    return schema, execute


@pytest.mark.parametrize("build", [build_strawberry_subgraph, build_ariadne_subgraph])
def test_subgraphs_answer_like_under_their_library(build):
    """In process and served, each run alike; `variables` of the caller stay as they are."""
    schema, execute = build()
    expected = execute(deepcopy(VARIABLES))  # Strawberry changes them
    assert expected["_entities"] == [{"__typename": "User", "id": "7", "name": "user 7"}]
    assert "@key" in expected["_service"]["sdl"]
    adopted, given = Schema.adopt(schema), deepcopy(VARIABLES)
    for _ in range(4):
        assert adopted.execute(TEXT, given).data == expected
    assert given == VARIABLES
    assert adopted.explain(TEXT, given).compiled
    with serve(schema, port=0) as server:
        for _ in range(4):
            assert Client(server.url).execute(TEXT, VARIABLES).data == expected
