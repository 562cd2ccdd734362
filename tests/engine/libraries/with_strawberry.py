"""The world in Strawberry's words."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import strawberry
from graphql import GraphQLError
from strawberry.types import Info

from tests.engine.libraries import world

__all__ = ["Query", "own", "schema"]

Size = strawberry.enum(world.Size)


def fail() -> None:
    """Fail with words for the client."""
    message = "broken on purpose"
    raise GraphQLError(message, extensions={"code": "BROKEN"})


@strawberry.interface
class Pet:
    """What has a name."""

    name: str


@strawberry.type
class Dog(Pet):
    """A pet with a size."""

    size: Size | None

    @strawberry.field
    def friend(self) -> "Dog | None":
        """Return another dog."""
        return Dog(name=f"{self.name}'s", size=world.Size.SMALL)

    @strawberry.field
    def shout(self, times: int = 1) -> str:
        """Return the name, loud."""
        return self.name.upper() * times

    @strawberry.field
    def owner(self, info: Info) -> str | None:
        """Return who asks."""
        return info.context["user"]

    @strawberry.field
    async def later(self) -> str:
        """Answer after giving way once."""
        await asyncio.sleep(0)
        return "later"


@strawberry.type
class Cat(Pet):
    """A pet with lives."""

    lives: int | None = 9

    @strawberry.field
    def wrong(self) -> str | None:
        """Fail."""
        fail()


@strawberry.input
class PetInput:
    """What describes a pet."""

    name: str
    size: Size | None = world.Size.SMALL


@strawberry.type
class Query:
    """What can be asked."""

    ready: bool | None = None

    @strawberry.field
    def greeting(self, name: str | None = "world", size: Size | None = None) -> str | None:
        """Return a greeting."""
        return f"Hello {name} {size}"

    @strawberry.field
    def pets(self, first: int = 2) -> list[Pet]:
        """Return pets."""
        return [
            Dog(name=pet.name, size=pet.size)
            if isinstance(pet, world.Dog)
            else Cat(name=pet.name, lives=pet.lives)
            for pet in world.pets(first)
        ]

    @strawberry.field
    def describe(self, pet: PetInput) -> str | None:
        """Return a pet as text."""
        return f"{pet.name} {pet.size}"

    @strawberry.field
    def whoami(self, info: Info) -> str | None:
        """Return who asks."""
        return info.context["user"]

    @strawberry.field
    def wrong(self) -> str | None:
        """Fail."""
        fail()

    @strawberry.field
    def strict(self) -> str:
        """Fail where null is not allowed."""
        fail()

    @strawberry.field
    async def later(self, word: str) -> str:
        """Answer after giving way once."""
        await asyncio.sleep(0)
        return word


@strawberry.type
class Mutation:
    """What can be done."""

    @strawberry.mutation
    def rename(self, name: str) -> Dog | None:
        """Return a dog of that name."""
        return Dog(name=name, size=world.Size.LARGE)


@strawberry.type
class Subscription:
    """What can be listened to."""

    @strawberry.subscription
    async def ticks(self) -> AsyncGenerator[int, None]:
        """Count."""
        for n in range(3):
            yield n


def schema(**options: Any) -> strawberry.Schema:
    """Return a new schema."""
    return strawberry.Schema(Query, Mutation, Subscription, types=[Dog, Cat], **options)


async def own(schema: Any, text: str, variables: Any, context: Any) -> tuple[Any, list[Any]]:
    """Return data and errors as the library gives them."""
    result = await schema.execute(text, variable_values=variables, context_value=context)
    return result.data, [error.formatted for error in result.errors or ()]
