"""The world in Ariadne's words."""

from __future__ import annotations

import asyncio
from typing import Any

import ariadne
from ariadne import (
    EnumType,
    InterfaceType,
    MutationType,
    ObjectType,
    QueryType,
    SubscriptionType,
    make_executable_schema,
)
from graphql import GraphQLError

from tests.engine.libraries import world

__all__ = ["own", "schema"]

SDL = """
interface Pet { name: String! }
enum Size { SMALL LARGE }
type Dog implements Pet {
  name: String! size: Size friend: Dog shout(times: Int = 1): String! owner: String later: String!
}
type Cat implements Pet { name: String! lives: Int wrong: String }
input PetInput { name: String! size: Size = SMALL }
type Query {
  ready: Boolean
  greeting(name: String = "world", size: Size): String
  pets(first: Int = 2): [Pet!]!
  describe(pet: PetInput!): String
  whoami: String
  wrong: String
  strict: String!
  later(word: String!): String!
}
type Mutation { rename(name: String!): Dog }
type Subscription { ticks: Int }
"""

query, mutation, subscription = QueryType(), MutationType(), SubscriptionType()
dog, cat, pet = ObjectType("Dog"), ObjectType("Cat"), InterfaceType("Pet")
size = EnumType("Size", world.Size)


@pet.type_resolver
def kind(value: Any, *_: Any) -> str:
    """Return the type of a pet."""
    return type(value).__name__


@query.field("greeting")
def greeting(_root: Any, _info: Any, name: str | None, size: Any = None) -> str:
    """Return a greeting."""
    return f"Hello {name} {size}"


@query.field("pets")
def pets(_root: Any, _info: Any, first: int) -> Any:
    """Return pets."""
    return world.pets(first)


@query.field("describe")
def describe(_root: Any, _info: Any, pet: dict[str, Any]) -> str:
    """Return a pet as text."""
    return f"{pet['name']} {pet['size']}"


@query.field("whoami")
@dog.field("owner")
def whoami(_source: Any, info: Any) -> str:
    """Return who asks."""
    return info.context["user"]


@query.field("wrong")
@query.field("strict")
@cat.field("wrong")
def wrong(*_: Any) -> None:
    """Fail with words for the client."""
    message = "broken on purpose"
    raise GraphQLError(message, extensions={"code": "BROKEN"})


@query.field("later")
@dog.field("later")
async def later(_source: Any, _info: Any, word: str = "later") -> str:
    """Answer after giving way once."""
    await asyncio.sleep(0)
    return word


@dog.field("friend")
def friend(one: world.Dog, _info: Any) -> world.Dog:
    """Return another dog."""
    return world.Dog(f"{one.name}'s", world.Size.SMALL)


@dog.field("shout")
def shout(one: world.Dog, _info: Any, times: int) -> str:
    """Return the name, loud."""
    return one.name.upper() * times


@mutation.field("rename")
def rename(_root: Any, _info: Any, name: str) -> world.Dog:
    """Return a dog of that name."""
    return world.Dog(name, world.Size.LARGE)


@subscription.source("ticks")
async def count(_root: Any, _info: Any) -> Any:
    """Count."""
    for n in range(3):
        yield n


@subscription.field("ticks")
def tick(n: int, _info: Any) -> int:
    """Return the number."""
    return n


def schema() -> Any:
    """Return a new schema."""
    return make_executable_schema(SDL, query, mutation, subscription, dog, cat, pet, size)


async def own(schema: Any, text: str, variables: Any, context: Any) -> tuple[Any, list[Any]]:
    """Return data and errors as the library gives them."""
    _, answer = await ariadne.graphql(
        schema, {"query": text, "variables": variables}, context_value=context
    )
    return answer.get("data"), answer.get("errors", [])
