"""Schemas with everything a schema may hold, and resolvers that ask the world of the run."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

from graphql import (
    GraphQLArgument,
    GraphQLBoolean,
    GraphQLEnumType,
    GraphQLEnumValue,
    GraphQLError,
    GraphQLField,
    GraphQLFloat,
    GraphQLID,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInt,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLSchema,
    GraphQLString,
    GraphQLUnionType,
)
from graphql.pyutils import Undefined

from tests.property.differential import values
from tests.property.differential.chance import Chance

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.property.differential.world import World

    Signature = tuple[str, tuple[tuple[str, str], ...]]  # a type, and arguments with types

NAMES = ("id", "name", "title", "count", "items", "get", "class", "score", "tags", "flag", "keys")
NAMES += ("next", "pair", "other", "thing", "many", "from", "json", "kind", "level", "odd")
ARGUMENTS = ("a", "b", "first", "class", "filter", "from", "order", "by", "camelCase")
CLASHING = ("self", "info", "source")  # with the parameters of resolvers
OBJECTS = ("A", "B", "C", "D")
LEAVES = (*values.BUILTIN * 2, "Int", "Int", "String", "Json", "Odd", "Color", "Depth")
INPUTS = ("Int", "Float", "String", "Boolean", "ID", "Json", "Odd", "Color", "Depth")
INPUTS += ("Filter", "Filter", "Only")


class Stage:
    """Where the resolvers of a schema find the world they are in."""

    world: World


class Made(NamedTuple):
    """A schema and what belongs to it."""

    schema: GraphQLSchema
    stage: Stage
    objects: list[Any]
    leaves: dict[str, tuple[Any, ...]]  # right values by type
    typenames: bool  # whether objects tell their type themselves


def _serialize(value: Any) -> Any:
    if isinstance(value, str) and value in TELLING:
        return TELLING[value]()
    return value


def _raise(error: Exception) -> Any:
    raise error


TELLING: dict[str, Callable[[], Any]] = {
    "bad": lambda: _raise(ValueError("bad scalar")),
    "gql": lambda: _raise(GraphQLError("scalar", extensions={"scalar": True})),
    "none": lambda: None,
    "undefined": lambda: Undefined,
    "odd": lambda: ("serialized", {"as": [1.0, True]}),
}


class Wrapped(values.Shown):
    """What an input object is made into by its type."""

    def __init__(self, members: dict[str, Any]) -> None:
        self.members = members

    def __repr__(self) -> str:
        return f"Wrapped({self.members!r})"


class SchemaMaker:
    """Makes one schema.

    Parameters
    ----------
    seed
        Decides all of it.
    waits
        Whether resolvers may be coroutine functions.
    """

    def __init__(self, seed: int, waits: bool) -> None:
        self.chance = Chance("schema", seed, waits)
        self.waits = waits
        self.stage = Stage()
        self.family: dict[str, Signature] = {}
        self.types: dict[str, Any] = {
            kind.name: kind
            for kind in (GraphQLInt, GraphQLFloat, GraphQLString, GraphQLBoolean, GraphQLID)
        }
        self.leaves = dict(values.GOOD)
        self.typing = self.chance.pick(("typename", "resolve_type", "is_type_of", "mixed", "mixed"))

    def make(self) -> Made:
        """Make the schema."""
        self._scalars()
        self._enums()
        self._inputs()
        self._interfaces()
        objects = OBJECTS[: 2 + self.chance.below(3)]
        for name in objects:
            self.types[name] = self._object(name, self.chance.branch(name), own=4)
        self._unions(list(objects))
        query = self._object("Query", self.chance.branch("Query"), own=7)
        mutation = self._object("Mutation", self.chance.branch("Mutation"), own=4)
        events = self._object("Subscription", self.chance.branch("Subscription"), own=2)
        extra = [kind for kind in self.types.values() if kind.name not in values.BUILTIN]
        made = GraphQLSchema(query, mutation if self.chance.odds(85) else None, events, extra)
        for kind in (self.types["Thing"], self.types["Sub"], self.types["Any"], self.types["One"]):
            if self._told("resolve_type"):
                kind.resolve_type = self._resolve_type
        kinds = [self.types[name] for name in objects]
        return Made(made, self.stage, kinds, self.leaves, self._told("typename"))

    def _told(self, way: str) -> bool:
        return self.typing == way or (self.typing == "mixed" and self.chance.odds(60))

    # Leaves and inputs

    def _scalars(self) -> None:
        self.types["Json"] = GraphQLScalarType("Json")
        self.types["Odd"] = GraphQLScalarType(
            "Odd", serialize=_serialize, parse_value=lambda value: ("parsed", _serialize(value))
        )

    def _enums(self) -> None:
        self.types["Color"] = GraphQLEnumType(
            "Color",
            {
                "RED": GraphQLEnumValue("RED"),
                "GREEN": GraphQLEnumValue("GREEN", deprecation_reason="faded"),
                "BLUE": GraphQLEnumValue("BLUE", description="As the sky"),
            },
        )
        self.leaves["Color"] = ("RED", "GREEN", "BLUE")
        inner = self.chance.pick(
            (
                {"ONE": 1, "YES": True, "ZERO": 0.0, "NAN": values.NAN},
                {"LIST": [1], "DICT": {"a": 1}, "SET": {1}, "TUPLE": (1,)},
                {"EARTH": values.Planet.EARTH, "HIGH": values.Level.HIGH, "THREE": 3},
                {"NONE": None, "TOUCHY": values.Touchy(), "ERROR": "bad"},
            )
        )
        self.types["Depth"] = GraphQLEnumType("Depth", inner)
        self.leaves["Depth"] = tuple(inner.values())

    def _inputs(self) -> None:
        chance = self.chance.branch("inputs")
        types = self.types

        def fields() -> dict[str, GraphQLInputField]:
            return {
                "a": GraphQLInputField(GraphQLInt, default_value=chance.pick((Undefined, 5, None))),
                "class": GraphQLInputField(GraphQLString, out_name="class_"),
                "need": GraphQLInputField(GraphQLNonNull(types["Color"])),
                "more": GraphQLInputField(GraphQLList(GraphQLNonNull(types["Filter"]))),
                "sure": GraphQLInputField(GraphQLNonNull(GraphQLInt), default_value=7),
                "deep": GraphQLInputField(types["Depth"]),
                "odd": GraphQLInputField(types["Odd"]),
            }

        def only() -> dict[str, GraphQLInputField]:
            return {"x": GraphQLInputField(GraphQLInt), "y": GraphQLInputField(types["Filter"])}

        out = {"out_type": Wrapped} if chance.odds(30) else {}
        types["Filter"] = GraphQLInputObjectType("Filter", fields, **out)
        types["Only"] = GraphQLInputObjectType("Only", only, is_one_of=True)

    # Outputs

    def _interfaces(self) -> None:
        chance = self.chance.branch("interfaces")
        thing = chance.some(NAMES, 2, 3)
        sub = [*thing, *(name for name in chance.some(NAMES, 1, 2) if name not in thing)]
        types = self.types

        def fields(names: list[str]) -> dict[str, GraphQLField]:
            return {name: self._field(self._member(name), None, name) for name in names}

        types["Thing"] = GraphQLInterfaceType("Thing", lambda: fields(thing))
        types["Sub"] = GraphQLInterfaceType(
            "Sub", lambda: fields(sub), interfaces=lambda: [types["Thing"]]
        )
        self.members = {"Thing": thing, "Sub": sub}

    def _unions(self, names: list[str]) -> None:
        chance = self.chance.branch("unions")
        for union, least in (("Any", 2), ("One", 1)):
            members = [self.types[name] for name in chance.some(names, least, 3)]
            self.types[union] = GraphQLUnionType(union, members)

    def _object(self, name: str, chance: Chance, own: int) -> GraphQLObjectType:
        root = name in ("Query", "Mutation", "Subscription")
        faces = [] if root else chance.pick(([], ["Thing"], ["Thing"], ["Sub", "Thing"]))
        inherited = [field for face in faces for field in self.members[face]]
        names = dict.fromkeys([*inherited, *chance.some(NAMES, own, own + 2)])

        def fields() -> dict[str, GraphQLField]:
            made = {}
            for field in names:
                part = chance.branch(field)
                signature = self._member(field)
                if field in inherited:
                    kind, args = signature
                    signature = (kind if kind.endswith("!") or part.odds(75) else f"{kind}!", args)
                elif part.odds(20):
                    signature = self._signature(part)
                made[field] = self._field(signature, part, field)
                if field not in inherited and part.odds(6):
                    made[field].deprecation_reason = "old"
            return made

        kind = GraphQLObjectType(name, fields, [self.types[face] for face in faces])
        if not root and self._told("is_type_of"):
            kind.is_type_of = functools.partial(self._is_type_of, name)
        return kind

    def _member(self, name: str) -> Signature:
        """Return the signature that types mostly agree on for a field name."""
        if name not in self.family:
            self.family[name] = self._signature(self.chance.branch("family", name))
        return self.family[name]

    def _signature(self, chance: Chance) -> Signature:
        composite = [
            name for name in (*OBJECTS, "Thing", "Sub", "Any", "One") if name in self.types
        ]
        kind = chance.pick(composite if chance.odds(40) else LEAVES)
        for _ in range(chance.pick((0, 0, 0, 1, 1, 2))):
            kind = f"[{kind}{chance.pick(('', '', '!'))}]"
        kind += chance.pick(("", "", "", "!"))
        args: list[tuple[str, str]] = []
        if chance.odds(40):
            for name in chance.some(ARGUMENTS, 1, 3):
                wrap = chance.pick(("{}",) * 5 + ("{}!", "[{}]", "[{}]", "[{}!]!", "[[{}]]"))
                clashing = chance.pick(CLASHING) if chance.odds(6) else name
                args.append((clashing, wrap.format(chance.pick(INPUTS))))
        return kind, tuple(dict(args).items())

    def _field(self, signature: Signature, chance: Chance | None, name: str) -> GraphQLField:
        kind, arguments = signature
        part = chance or self.chance.branch("face", name)
        args = {arg: self._argument(arg, ref, part.branch(arg)) for arg, ref in arguments}
        field = GraphQLField(self.type(kind), args)
        if chance is not None and part.odds(40):
            field.resolve = resolver(self.stage, name, part, self.waits)
        return field

    def _argument(self, name: str, kind: str, chance: Chance) -> GraphQLArgument:
        argument = GraphQLArgument(self.type(kind))
        if chance.odds(30):
            argument.default_value = self._default(kind, chance)
        if name == "camelCase" or chance.odds(8):
            argument.out_name = "out_name"
        return argument

    def _default(self, kind: str, chance: Chance) -> Any:
        if not kind.endswith("!") and chance.odds(15):
            return None
        kind = kind.rstrip("!")
        if kind.startswith("["):
            return [self._default(kind[1:-1], chance) for _ in range(chance.below(3))]
        if kind == "Only":
            return {"x": 1}
        if kind == "Filter":
            return {"need": "RED", "sure": 1}
        return 3 if kind in ("Json", "Odd") else chance.pick(self.leaves[kind])

    def type(self, reference: str) -> Any:
        """Return the type that is written so."""
        if reference.endswith("!"):
            return GraphQLNonNull(self.type(reference[:-1]))
        if reference.startswith("["):
            return GraphQLList(self.type(reference[1:-1]))
        return self.types[reference]

    # What the schema calls

    def _resolve_type(self, value: Any, info: Any, abstract: Any) -> Any:
        return self.stage.world.resolve_type(value, info, abstract)

    def _is_type_of(self, name: str, value: Any, info: Any) -> Any:
        return self.stage.world.is_type_of(name, value, info)


class Resolver:
    """A resolver that is an object, or has a bound method that is one."""

    def __init__(self, stage: Stage, name: str) -> None:
        self._stage = stage
        self._name = name

    def __call__(self, source: Any, info: Any, /, **args: Any) -> Any:
        """Resolve the field."""
        return self._stage.world.resolve(source, info, args, self._name)

    def method(self, source: Any, info: Any, /, **args: Any) -> Any:
        """Resolve the field."""
        return self(source, info, **args)

    def named(self, source: Any, info: Any, **args: Any) -> Any:
        """Resolve the field; an argument named `info` or `source` can't be passed."""
        return self(source, info, **args)

    def bare(self, source: Any, info: Any) -> Any:
        """Resolve the field without arguments, and fail when there are some."""
        return self(source, info)

    def greedy(self, *given: Any, **args: Any) -> Any:
        """Resolve the field, whatever is given."""
        return self(*given, **args)

    def plain(self, source: Any, info: Any, a: Any = "own default", **args: Any) -> Any:
        """Resolve the field, with a default of Python's for an argument."""
        return self(source, info, a=a, **args)

    async def waiting(self, source: Any, info: Any, /, **args: Any) -> Any:
        """Resolve the field in a coroutine."""
        await self._stage.world.later.pause(("start", *info.path.as_list()), 0)
        result = self(source, info, **args)
        return await result if hasattr(result, "__await__") else result


def _function(it: Resolver) -> Callable[..., Any]:
    def resolve(source: Any, info: Any, **args: Any) -> Any:
        return it(source, info, **args)

    return resolve


def resolver(stage: Stage, name: str, chance: Chance, waits: bool) -> Callable[..., Any]:
    """Return a resolver of one make or another."""
    it = Resolver(stage, name)
    made: tuple[Callable[..., Any], ...] = (
        it,
        it.method,
        it.named,
        it.greedy,
        it.plain,
        it.bare,
        functools.partial(Resolver.__call__, it),
        _function(it),
        _function(it),
    )
    return chance.pick(made + (it.waiting,) * 4 if waits else made)


@functools.lru_cache(maxsize=4)
def made(seed: int, waits: bool) -> Made:
    """Return the schema of a number."""
    return SchemaMaker(seed, waits).make()
