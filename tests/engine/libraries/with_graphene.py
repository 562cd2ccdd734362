"""The world in Graphene's words."""

from __future__ import annotations

import asyncio
from typing import Any

import graphene
from graphql import GraphQLError

from tests.engine.libraries import world

__all__ = ["own", "schema"]

Size = graphene.Enum.from_enum(world.Size)


def fail(*_: Any) -> None:
    """Fail with words for the client."""
    message = "broken on purpose"
    raise GraphQLError(message, extensions={"code": "BROKEN"})


class Pet(graphene.Interface):
    """What has a name."""

    name = graphene.String(required=True)

    @classmethod
    def resolve_type(cls, instance: Any, info: Any) -> Any:
        """Return the type of a pet."""
        return {world.Dog: Dog, world.Cat: Cat}[type(instance)]


class Dog(graphene.ObjectType):
    """A pet with a size."""

    class Meta:
        """What it implements."""

        interfaces = (Pet,)

    size = Size()
    friend = graphene.Field(lambda: Dog)
    shout = graphene.String(required=True, times=graphene.Int(default_value=1))
    owner = graphene.String()
    later = graphene.String(required=True)

    @staticmethod
    def resolve_friend(root: Any, info: Any) -> Any:
        """Return another dog."""
        return world.Dog(f"{root.name}'s", world.Size.SMALL)

    @staticmethod
    def resolve_shout(root: Any, info: Any, times: int) -> str:
        """Return the name, loud."""
        return root.name.upper() * times

    @staticmethod
    def resolve_owner(root: Any, info: Any) -> str:
        """Return who asks."""
        return info.context["user"]

    @staticmethod
    async def resolve_later(root: Any, info: Any) -> str:
        """Answer after giving way once."""
        await asyncio.sleep(0)
        return "later"


class Cat(graphene.ObjectType):
    """A pet with lives."""

    class Meta:
        """What it implements."""

        interfaces = (Pet,)

    lives = graphene.Int()
    wrong = graphene.String()
    resolve_wrong = staticmethod(fail)


class PetInput(graphene.InputObjectType):
    """What describes a pet."""

    name = graphene.String(required=True)
    size = Size(default_value=world.Size.SMALL)


class Query(graphene.ObjectType):
    """What can be asked."""

    ready = graphene.Boolean()
    greeting = graphene.String(name=graphene.String(default_value="world"), size=Size())
    pets = graphene.List(graphene.NonNull(Pet), required=True, first=graphene.Int(default_value=2))
    describe = graphene.String(pet=PetInput(required=True))
    whoami = graphene.String()
    wrong = graphene.String()
    strict = graphene.String(required=True)
    later = graphene.String(required=True, word=graphene.String(required=True))

    @staticmethod
    def resolve_greeting(root: Any, info: Any, name: str | None, size: Any = None) -> str:
        """Return a greeting."""
        return f"Hello {name} {size}"

    @staticmethod
    def resolve_pets(root: Any, info: Any, first: int) -> Any:
        """Return pets."""
        return world.pets(first)

    @staticmethod
    def resolve_describe(root: Any, info: Any, pet: Any) -> str:
        """Return a pet as text."""
        return f"{pet.name} {pet.size}"

    @staticmethod
    def resolve_whoami(root: Any, info: Any) -> str:
        """Return who asks."""
        return info.context["user"]

    resolve_wrong = staticmethod(fail)
    resolve_strict = staticmethod(fail)

    @staticmethod
    async def resolve_later(root: Any, info: Any, word: str) -> str:
        """Answer after giving way once."""
        await asyncio.sleep(0)
        return word


class Rename(graphene.Mutation):
    """Gives a dog a name."""

    class Arguments:
        """What it takes."""

        name = graphene.String(required=True)

    Output = Dog

    @staticmethod
    def mutate(root: Any, info: Any, name: str) -> Any:
        """Return a dog of that name."""
        return world.Dog(name, world.Size.LARGE)


class Mutation(graphene.ObjectType):
    """What can be done."""

    rename = Rename.Field()


class Subscription(graphene.ObjectType):
    """What can be listened to."""

    ticks = graphene.Int()

    @staticmethod
    async def subscribe_ticks(root: Any, info: Any) -> Any:
        """Count."""
        for n in range(3):
            yield n


def schema() -> graphene.Schema:
    """Return a new schema."""
    return graphene.Schema(Query, Mutation, Subscription, types=[Dog, Cat])


async def own(schema: Any, text: str, variables: Any, context: Any) -> tuple[Any, list[Any]]:
    """Return data and errors as the library gives them."""
    result = await schema.execute_async(text, variables=variables, context=context)
    return result.data, [error.formatted for error in result.errors or ()]
