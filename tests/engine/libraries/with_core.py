"""The world in graphql-core's own words."""

from __future__ import annotations

import asyncio
from typing import Any

from graphql import (
    GraphQLArgument,
    GraphQLBoolean,
    GraphQLEnumType,
    GraphQLError,
    GraphQLField,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInt,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLString,
    graphql,
)

from tests.engine.libraries.world import Cat, Dog, Size, pets

__all__ = ["own", "schema"]

TEXT = GraphQLNonNull(GraphQLString)
SIZE = GraphQLEnumType("Size", Size, names_as_values=None)


def wrong(source: Any, info: Any) -> Any:
    """Fail with words for the client."""
    message = "broken on purpose"
    raise GraphQLError(message, extensions={"code": "BROKEN"})


async def later(source: Any, info: Any, word: str = "later") -> str:
    """Answer after giving way once."""
    await asyncio.sleep(0)
    return word


async def ticks(source: Any, info: Any) -> Any:
    """Count."""
    for n in range(3):
        yield {"ticks": n}


PET = GraphQLInterfaceType("Pet", {"name": GraphQLField(TEXT)})
DOG = GraphQLObjectType(
    "Dog",
    lambda: {
        "name": GraphQLField(TEXT),
        "size": GraphQLField(SIZE),
        "friend": GraphQLField(DOG, resolve=lambda dog, info: Dog(f"{dog.name}'s", Size.SMALL)),
        "shout": GraphQLField(
            TEXT,
            {"times": GraphQLArgument(GraphQLInt, default_value=1)},
            resolve=lambda dog, info, times: dog.name.upper() * times,
        ),
        "owner": GraphQLField(GraphQLString, resolve=lambda dog, info: info.context["user"]),
        "later": GraphQLField(TEXT, resolve=later),
    },
    interfaces=[PET],
    is_type_of=lambda value, info: isinstance(value, Dog),
)
CAT = GraphQLObjectType(
    "Cat",
    {
        "name": GraphQLField(TEXT),
        "lives": GraphQLField(GraphQLInt),
        "wrong": GraphQLField(GraphQLString, resolve=wrong),
    },
    interfaces=[PET],
    is_type_of=lambda value, info: isinstance(value, Cat),
)
INPUT = GraphQLInputObjectType(
    "PetInput",
    {"name": GraphQLInputField(TEXT), "size": GraphQLInputField(SIZE, default_value=Size.SMALL)},
)
QUERY = GraphQLObjectType(
    "Query",
    {
        "greeting": GraphQLField(
            GraphQLString,
            {
                "name": GraphQLArgument(GraphQLString, default_value="world"),
                "size": GraphQLArgument(SIZE),
            },
            resolve=lambda root, info, name, size=None: f"Hello {name} {size}",
        ),
        "pets": GraphQLField(
            GraphQLNonNull(GraphQLList(GraphQLNonNull(PET))),
            {"first": GraphQLArgument(GraphQLInt, default_value=2)},
            resolve=lambda root, info, first: pets(first),
        ),
        "describe": GraphQLField(
            GraphQLString,
            {"pet": GraphQLArgument(GraphQLNonNull(INPUT))},
            resolve=lambda root, info, pet: f"{pet['name']} {pet['size']}",
        ),
        "whoami": GraphQLField(GraphQLString, resolve=lambda root, info: info.context["user"]),
        "wrong": GraphQLField(GraphQLString, resolve=wrong),
        "strict": GraphQLField(TEXT, resolve=wrong),
        "later": GraphQLField(TEXT, {"word": GraphQLArgument(TEXT)}, resolve=later),
        "ready": GraphQLField(GraphQLBoolean),
    },
)
MUTATION = GraphQLObjectType(
    "Mutation",
    {
        "rename": GraphQLField(
            DOG,
            {"name": GraphQLArgument(TEXT)},
            resolve=lambda root, info, name: Dog(name, Size.LARGE),
        )
    },
)
SUBSCRIPTION = GraphQLObjectType(
    "Subscription", {"ticks": GraphQLField(GraphQLInt, subscribe=ticks)}
)


def schema() -> GraphQLSchema:
    """Return a new schema."""
    return GraphQLSchema(QUERY, MUTATION, SUBSCRIPTION, types=[DOG, CAT])


async def own(schema: Any, text: str, variables: Any, context: Any) -> tuple[Any, list[Any]]:
    """Return data and errors as the library gives them."""
    result = await graphql(schema, text, variable_values=variables, context_value=context)
    return result.data, [error.formatted for error in result.errors or ()]
