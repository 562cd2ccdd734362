"""The small world that every library describes in its own way, and what is asked of it.

It holds an interface, an enum with internal values, an input type, dataclasses, arguments with
defaults, an async resolver, one that reads the context, errors, and a mutation.
"""

from __future__ import annotations

import dataclasses
import enum

__all__ = ["CONTEXT", "OPERATIONS", "REFUSED", "Cat", "Dog", "Size", "pets"]


class Size(enum.Enum):
    """A size, whose values never leave Python."""

    SMALL = "s"
    LARGE = "l"


@dataclasses.dataclass
class Dog:
    """A pet with a size."""

    name: str
    size: Size


@dataclasses.dataclass
class Cat:
    """A pet with lives."""

    name: str
    lives: int = 9


def pets(first: int) -> list[Dog | Cat]:
    """Return pets, dogs and cats in turn."""
    return [
        Cat(f"cat {i}", i) if i % 2 else Dog(f"dog {i}", Size.LARGE if i % 4 else Size.SMALL)
        for i in range(first)
    ]


CONTEXT = {"user": "ada"}

OPERATIONS = [
    ("{ greeting again: greeting(name: null) }", None),
    ('query Named { greeting(name: "you", size: LARGE) }', None),
    ("query ($n: String, $s: Size = SMALL) { greeting(name: $n, size: $s) }", {"n": "ü🙂"}),
    (
        "query ($n: Int!) { pets(first: $n) { __typename name "
        "... on Dog { size friend { name } shout(times: 2) } ... on Cat { lives } } }",
        {"n": 20},
    ),
    ("{ pets(first: 3) { ...all } } fragment all on Pet { name }", None),
    ("query ($p: PetInput!) { describe(pet: $p) }", {"p": {"name": "Rex", "size": "LARGE"}}),
    ('{ describe(pet: { name: "Rex" }) }', None),
    ("{ whoami pets(first: 1) { ... on Dog { owner } } }", None),
    ("{ greeting wrong pets(first: 2) { name ... on Cat { wrong } } }", None),
    ("{ strict }", None),
    ('{ later(word: "soon") pets(first: 12) { ... on Dog { later } } }', None),
    ('mutation { rename(name: "Rex") { name size } second: rename(name: "Max") { name } }', None),
    (
        "query ($yes: Boolean!) { greeting @include(if: $yes) whoami @skip(if: $yes) }",
        {"yes": True},
    ),
    ('{ __schema { types { name kind } } __type(name: "Size") { enumValues { name } } }', None),
]

# What is refused before anything is executed: text, variables, a part of the message.
REFUSED = [
    ("{ greting }", None, "Cannot query field 'greting' on type 'Query'. Did you mean 'greeting'?"),
    ("{ greeting(size: HUGE) }", None, "Value 'HUGE' does not exist in 'Size' enum."),
    ("{ greeting", None, "Syntax Error"),
    ("query ($n: Int!) { pets(first: $n) { name } }", {"n": "many"}, "Variable '$n'"),
    ("subscription { ticks }", None, "(subscription|Subscription)"),
]
