"""A schema of GitHub's size, made from a number: 1,700 types, 250 mutations.

GitHub's public schema has 1,636 types, 31 query and 247 mutation fields (npm
@octokit/graphql-schema 15.26.1). The kinds stand in about the same proportions here: most objects
come with a connection and an edge, each mutation with an input and a payload.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

OBJECTS = 310
ENUMS = 190
UNIONS = 40
MUTATIONS = 250
QUERIES = 31
SCALARS = ("DateTime", "URI", "HTML", "GitObjectID", "Base64String")
LEAVES = ("ID!", "String!", "String", "Int!", "Boolean!", "DateTime!", "URI!", "Float")
STEMS = (
    *("account", "branch", "check", "commit", "deploy", "event", "field", "gist", "issue", "label"),
    *("member", "note", "owner", "project", "query", "release", "status", "team", "user", "view"),
)
TAILS = ("Info", "Setting", "Group", "Entry", "Rule", "Run", "Suite", "Item", "Link", "State")
PAGE = "after: String, before: String, first: Int, last: Int"


def big_sdl(seed: int = 1) -> str:
    """Return the schema as SDL."""
    return "\n".join(Maker(seed).definitions())


class Maker:
    """Makes the definitions, one after the other.

    Parameters
    ----------
    seed
        Of all that is left to chance.
    """

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.objects = [self.name(number) for number in range(OBJECTS)]
        self.enums = [f"{self.name(number)}Kind" for number in range(ENUMS)]

    @staticmethod
    def name(number: int) -> str:
        """Return the name of the object of a number."""
        stem, tail = number % len(STEMS), number // len(STEMS)
        return STEMS[stem].title() + "".join(TAILS[int(digit)] for digit in str(tail))

    def definitions(self) -> Iterator[str]:
        """Yield them."""
        yield from (f"scalar {name}" for name in SCALARS)
        yield '"Something with an id."\ninterface Node { "The id." id: ID! }'
        yield "type PageInfo { endCursor: String hasNextPage: Boolean! startCursor: String }"
        yield "enum Direction { ASC DESC }"
        yield "input Order { field: String! direction: Direction! }"
        yield from map(self.enum, self.enums)
        yield from map(self.union, range(UNIONS))
        for name in self.objects:
            yield from self.object(name)
        yield from self.roots()

    def enum(self, name: str) -> str:
        """Return an enum."""
        values = [f"{stem.upper()}_{name[:3].upper()}" for stem in self.some(STEMS, 2, 12)]
        return f'"Which {name}."\nenum {name} {{ {" ".join(values)} }}'

    def union(self, number: int) -> str:
        """Return a union of some objects."""
        return f"union Either{number} = {' | '.join(self.some(self.objects, 2, 9))}"

    def object(self, name: str) -> Iterator[str]:
        """Yield an object with its connection and edge."""
        count = min(130, int(self.dice.lognormvariate(2.3, 0.8)) + 2)
        fields = [self.field(number) for number in range(count)]
        yield f'"A {name}."\ntype {name} implements Node {{ id: ID!\n' + "\n".join(fields) + " }"
        yield (
            f"type {name}Connection {{ edges: [{name}Edge] nodes: [{name}] pageInfo: PageInfo! "
            f"totalCount: Int! }}"
        )
        yield f"type {name}Edge {{ cursor: String! node: {name} }}"

    def field(self, number: int) -> str:
        """Return a field of an object."""
        stem = self.dice.choice(STEMS)
        kind = self.dice.random()
        what = f'"The {stem} of number {number}."\n'
        if kind < 0.6:
            return f"{what}{stem}{number}: {self.dice.choice(LEAVES)}"
        if kind < 0.75:
            return f"{what}{stem}{number}: {self.dice.choice(self.enums)}!"
        other = self.dice.choice(self.objects)
        if kind < 0.9:
            return f"{what}{stem}{number}: {other}"
        return f"{what}{stem}{number}s({PAGE}, orderBy: Order): {other}Connection!"

    def roots(self) -> Iterator[str]:
        """Yield the query and mutation types, and what mutations take and give."""
        queries = [
            f"{name[0].lower()}{name[1:]}(id: ID!): {name}" for name in self.objects[: QUERIES - 2]
        ]
        queries += [f"everything({PAGE}): {self.objects[0]}Connection!", "node(id: ID!): Node"]
        yield f"type Query {{ {' '.join(queries)} }}"
        names = [f"{verb}{name}" for verb in ("create", "update") for name in self.objects]
        names = names[:MUTATIONS]
        for name in names:
            title = name[0].upper() + name[1:]
            kind = self.dice.choice(self.enums)
            yield f"input {title}Input {{ clientMutationId: String id: ID! kind: {kind} }}"
            yield f"type {title}Payload {{ clientMutationId: String node: Node }}"
        fields = (
            f"{n}(input: {n[0].upper()}{n[1:]}Input!): {n[0].upper()}{n[1:]}Payload" for n in names
        )
        yield f"type Mutation {{ {' '.join(fields)} }}"

    def some(self, all_of: tuple[str, ...] | list[str], least: int, most: int) -> list[str]:
        """Return some of them, none twice."""
        return self.dice.sample(all_of, self.dice.randint(least, most))
