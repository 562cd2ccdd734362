"""Answers by chance: a schema, a document and data, with the frames that they must give.

A tree of what is selected is drawn first. Schema, document, data and the expected rows are all
written from it, each by a few lines of their own that know nothing of the code under test.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from random import Random
from typing import Any

from graphql import build_schema

from gqlnb.document.document import Document

ENUM = ("LOW", "HIGH", "OTHER")
TEXTS = ("", "a", "ünïcödé", "日本", "👩‍👩‍👧", 'quote"\\', "\n\t", "\u0000", "0", "null", "x" * 300)
DTYPES = {
    "Int": "Int64",
    "Float": "Float64",
    "Boolean": "boolean",
    "String": "string",
    "ID": "string",
    "UUID": "string",
    "BigInt": "Int64",
    "DateTime": "datetime64[us, UTC]",
    "Date": "datetime64[us]",
    "Level": "category",
    "Decimal": "object",
    "Time": "object",
    "JSON": "object",
    "Odd": "object",
}
SCALARS = "scalar DateTime scalar Date scalar Time scalar Decimal scalar BigInt scalar UUID "
SCALARS += f"scalar JSON scalar Odd enum Level {{ {' '.join(ENUM)} }}"
DEEPEST = 4


@dataclass
class Leaf:
    """A value."""

    type: str


@dataclass
class Many:
    """A list."""

    item: Any
    null: bool


@dataclass
class Thing:
    """An object, with one set of fields for each type it may be of."""

    types: list[str]
    fields: list[dict[str, Member]]
    abstract: bool


@dataclass
class Paged:
    """A connection: its list below `items`, a node below `node` or not, and fields beside both."""

    name: str
    items: str
    node: str | None
    rows: Many
    beside: dict[str, Member]
    extra: dict[str, Member]


@dataclass
class Member:
    """A field of an object: what it holds, whether it may be null, whether it is asked for."""

    kind: Any
    null: bool
    asked: bool = True
    condition: str = ""


@dataclass
class Case:
    """One case, made from a number."""

    number: int
    random: Random = field(init=False)
    names: int = 0
    sdl: list[str] = field(default_factory=lambda: [SCALARS])
    fragments: list[str] = field(default_factory=list)
    values: list[tuple[str, bool]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = Random(self.number)
        self.root = self.members(0)
        body = self.selected(self.root, "Query")
        self.sdl.append(f"type Query {{ {self.declared(self.root)} }}")
        declared = " ".join(f"${name}: Boolean!" for name, _ in self.values)
        head = f"query Q({declared})" if declared else "query Q"
        self.text = " ".join([f"{head} {{ {body} }}", *self.fragments])
        self.schema = build_schema(" ".join(self.sdl))
        self.document = Document.parse(self.text, self.schema)
        self.variables = dict(self.values)
        self.data = self.drawn(self.root)

    @property
    def body(self) -> bytes:
        """The response as bytes, escaped or not."""
        plain = self.random.random() < 0.5
        return json.dumps({"data": self.data}, ensure_ascii=plain).encode()

    def name(self, start: str) -> str:
        """Return a name that nothing else has."""
        self.names += 1
        return f"{start}{self.names}"

    def chance(self, share: float) -> bool:
        """Return true in that share of the calls."""
        return self.random.random() < share

    # -- what is selected

    def members(self, depth: int) -> dict[str, Member]:
        """Draw the fields of an object."""
        made = {self.name("f"): self.member(depth) for _ in range(self.random.randint(1, 4))}
        if depth and self.chance(0.3):
            made["id"] = Member(Leaf("ID"), null=self.chance(0.3))
        return made

    def member(self, depth: int) -> Member:
        """Draw a field."""
        made = Member(self.kind(depth), null=self.chance(0.6))
        if self.chance(0.1):
            variable, skip = self.name("v"), self.chance(0.5)
            made.asked = self.chance(0.5)
            made.condition = f" @{'skip' if skip else 'include'}(if: ${variable})"
            self.values.append((variable, made.asked != skip))
        return made

    def kind(self, depth: int) -> Any:
        """Draw what a field holds."""
        draw = self.random.random()
        if depth >= DEEPEST or draw < 0.45:
            return Leaf(self.random.choice(list(DTYPES)))
        if draw < 0.6:
            return self.thing(depth)
        if draw < 0.85:
            return self.many(depth)
        return self.paged(depth)

    def many(self, depth: int) -> Many:
        """Draw a list: of values, objects or lists."""
        draw = self.random.random()
        if draw < 0.4:
            item: Any = Leaf(self.random.choice(list(DTYPES)))
        else:
            item = self.thing(depth) if draw < 0.85 or depth >= DEEPEST else self.many(depth + 1)
        return Many(item, self.chance(0.5))

    def thing(self, depth: int) -> Thing:
        """Draw an object, or a union whose members share a field now and then."""
        count = 2 if self.chance(0.3) else 1
        fields = [self.members(depth + 1) for _ in range(count)]
        if count == 2 and self.chance(0.5):
            kind = Leaf(self.random.choice(list(DTYPES)))
            shared, null = self.name("s"), self.chance(0.5)
            for each in fields:
                each[shared] = Member(kind, null)
        for each in fields:  # a valid document has no name for null and non-null values alike
            if "id" in each:
                each["id"] = next(members["id"] for members in fields if "id" in members)
        return Thing([self.name("T") for _ in fields], fields, count == 2)

    def paged(self, depth: int) -> Paged:
        """Draw a connection, its parts under other names now and then."""
        edges = self.chance(0.6)
        items = ("edges" if edges else "nodes") if self.chance(0.7) else self.name("a")
        node = ("node" if self.chance(0.7) else self.name("a")) if edges else None
        beside = {self.name("b"): Member(Leaf("Int"), null=True)} if self.chance(0.5) else {}
        extra = {self.name("e"): self.member(depth + 1)} if edges and self.chance(0.5) else {}
        thing = self.thing(depth)
        return Paged(self.name("C"), items, node, Many(thing, null=True), beside, extra)

    # -- schema and document

    def declared(self, members: dict[str, Member]) -> str:
        """Return fields as SDL."""
        return " ".join(
            f"{'id' if name == 'id' else 'x' + name}: {self.type(m.kind)}{'' if m.null else '!'}"
            for name, m in members.items()
        )

    def type(self, kind: Any) -> str:
        """Return the name of a type, which is declared when it is first written."""
        if isinstance(kind, Leaf):
            return kind.type
        if isinstance(kind, Many):
            return f"[{self.type(kind.item)}{'' if kind.null else '!'}]"
        if isinstance(kind, Paged):
            return kind.name
        return kind.types[0] if not kind.abstract else f"U{kind.types[0]}"

    def selected(self, members: dict[str, Member], kind: str) -> str:
        """Return a selection, in fragments and twice now and then."""
        parts = []
        for name, member in members.items():
            own = "id" if name == "id" else f"{name}: x{name}"
            text = f"{own}{member.condition}{self.below(member.kind)}"
            draw = self.random.random()
            if draw < 0.1:
                fragment = self.name("F")
                self.fragments.append(f"fragment {fragment} on {kind} {{ {text} }}")
                text = f"...{fragment}"
            elif draw < 0.2:
                text = f"... on {kind} {{ {text} }}"
            parts.append(f"{text} {text}" if draw > 0.9 else text)
        return " ".join(parts)

    def below(self, kind: Any) -> str:
        """Return the selection set of what a field holds, and declare its types."""
        if isinstance(kind, Leaf):
            return ""
        if isinstance(kind, Many):
            return self.below(kind.item)
        if isinstance(kind, Paged):
            return self.connection(kind)
        parts = []
        for name, fields in zip(kind.types, kind.fields, strict=True):
            text = self.selected(fields, name)
            self.sdl.append(f"type {name} {{ {self.declared(fields)} }}")
            parts.append(f"... on {name} {{ {text} }}" if kind.abstract else text)
        if kind.abstract:
            self.sdl.append(f"union U{kind.types[0]} = {' | '.join(kind.types)}")
        return f" {{ {' '.join(parts)} }}"

    def connection(self, kind: Paged) -> str:
        """Return the selection set of a connection, and declare its types."""
        rows, thing = self.below(kind.rows.item), self.type(kind.rows.item)
        beside = self.selected(kind.beside, kind.name)
        if kind.node is None:
            own, inner, item = "nodes", rows, thing
        else:
            own, item = "edges", f"{kind.name}Edge"
            extra = self.selected(kind.extra, item)
            self.sdl.append(f"type {item} {{ node: {thing} {self.declared(kind.extra)} }}")
            inner = f" {{ {kind.node}: node{rows} {extra} }}"
        self.sdl.append(f"type {kind.name} {{ {own}: [{item}] {self.declared(kind.beside)} }}")
        return f" {{ {kind.items}: {own}{inner} {beside} }}"

    # -- data

    def drawn(self, members: dict[str, Member]) -> dict[str, Any]:
        """Draw an object."""
        return {
            name: None if member.null and self.chance(0.25) else self.value(member.kind)
            for name, member in members.items()
            if member.asked
        }

    def value(self, kind: Any) -> Any:
        """Draw a value that is not null."""
        if isinstance(kind, Leaf):
            return leaf(kind.type, self.random)
        if isinstance(kind, Thing):
            return self.drawn(self.random.choice(kind.fields))
        if isinstance(kind, Many):
            count = self.random.choice([0, 1, 2, 3, 7])
            nulls = 0.2 if kind.null else 0
            return [None if self.chance(nulls) else self.value(kind.item) for _ in range(count)]
        rows = self.value(kind.rows)
        if kind.node is not None:
            rows = [
                None if self.chance(0.1) else {kind.node: row, **self.drawn(kind.extra)}
                for row in rows
            ]
        return {kind.items: None if self.chance(0.1) else rows, **self.drawn(kind.beside)}


def leaf(kind: str, random: Random) -> Any:
    """Draw a value of a scalar, as it stands in JSON."""
    made: dict[str, Any] = {
        "Int": random.choice([0, 1, -1, 2**31 - 1, -(2**31), random.randint(-999, 999)]),
        "Float": random.choice([0.5, -1e300, 0.1, 3.0, random.random()]),
        "Boolean": random.random() < 0.5,
        "String": random.choice(TEXTS),
        "ID": f"id-{random.randint(0, random.choice([9, 9999]))}",
        "UUID": f"{random.getrandbits(128):032x}",
        "BigInt": random.choice([0, 2**63 - 1, -(2**63), "9007199254740993"]),
        "DateTime": random.choice(["2026-01-02T03:04:05Z", "1969-12-31T23:59:59.000001+02:00"]),
        "Date": random.choice(["2026-01-02", "0001-01-01", "9999-12-31"]),
        "Level": random.choice([*ENUM, "NEW"] if random.random() < 0.1 else ENUM),
        "Decimal": random.choice(["1.10", "-0.001", "123456789012345678.000000000000000001"]),
        "Time": random.choice(["03:04:05", "23:59:59.000001"]),
        "JSON": random.choice([{}, [], "text", 0, {"a": [1, {"b": None}]}]),
        "Odd": random.choice([1, "1", 1.5, True, {"a": 1}]),
    }
    return made[kind]
