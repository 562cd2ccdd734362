"""What resolvers find and do in one run: built anew for each executor from the same key."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

from graphql import (
    GraphQLNonNull,
    default_field_resolver,
    default_type_resolver,
    get_named_type,
    is_abstract_type,
    is_leaf_type,
    is_list_type,
    is_non_null_type,
    is_object_type,
)
from graphql.pyutils import Undefined

from tests.property.differential import rows, values
from tests.property.differential.later import Clock, Later

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.property.differential.chance import Chance
    from tests.property.differential.schemas import Made

    Need = Mapping[str, "Need"]  # the fields that a document may ask for, below each other
    Where = tuple[Any, ...]


class Weather(NamedTuple):
    """How often things go wrong, in percent."""

    gone: int  # a field that is not there
    null: int
    wrong: int  # a value of another kind
    error: int  # raised or returned
    odd: int  # a leaf that may or may not fit
    lists: int
    typing: int  # a wrong answer to which type an object is of


CALM = Weather(0, 0, 0, 0, 0, 0, 0)
FAIR = Weather(gone=1, null=3, wrong=1, error=1, odd=8, lists=3, typing=2)
ROUGH = Weather(gone=3, null=8, wrong=5, error=6, odd=20, lists=18, typing=8)
STORM = Weather(gone=0, null=8, wrong=0, error=9, odd=0, lists=2, typing=5)
WEATHERS = {
    "sync": (CALM, CALM, FAIR, FAIR, FAIR, ROUGH),
    "ready": (CALM, CALM, FAIR, FAIR, FAIR, ROUGH, STORM),
    "gated": (CALM, FAIR, FAIR, FAIR, ROUGH, STORM, STORM),
}


class Meta(NamedTuple):
    """What is known about an object that was made here."""

    row: Any
    typename: str
    acts: dict[str, Act]
    chance: Chance


class Act:
    """How one field of one object comes to its value."""

    def __init__(self, world: World, kind: Any, need: Need, chance: Chance, where: Where) -> None:
        self._world = world
        self._kind = kind
        self._need = need
        self._chance = chance
        self._where = where

    def __repr__(self) -> str:
        return f"<act {'.'.join(map(str, self._where))}>"

    def run(self, info: Any, args: dict[str, Any]) -> Any:
        """Do what a resolver does: return a new value each time, or raise."""
        world, chance = self._world, self._chance.branch("run", repr(args))
        weather = world.weather
        if chance.odds(weather.error):
            raise world.error(chance)
        if world.mode == "sync" and weather is ROUGH and chance.odds(1):
            msg = "stop everything"
            raise values.Halt(msg)
        where = ("answer", *info.path.as_list())
        bare = self._kind.of_type if isinstance(self._kind, GraphQLNonNull) else self._kind
        if args and getattr(bare, "name", "") == "String" and chance.odds(40):
            value: Any = f"{args!r}"
        else:
            value = world.make(self._kind, self._need, chance.branch("made"), where)
        return world.perhaps_later(value, where, chance)

    def data(self) -> tuple[str, Any]:
        """Return how the value lies in its object: ``value``, ``thorn`` or ``call`` and what."""
        chance = self._chance.branch("data")
        if chance.odds(self._world.weather.error):
            return "thorn", self._world.error(chance)
        if chance.odds(25):
            return "call", self.function(chance)
        world, part = self._world, chance.branch("made")
        made = world.make(self._kind, self._need, part, self._where, fresh=False)
        if world.mode == "ready" and chance.odds(15):
            # With a clock, two aliases that wait for the same thing would come in any order.
            return "value", world.later.make(lambda: made, self._where, part, again=True)
        return "value", made

    def function(self, chance: Chance) -> Callable[..., Any]:
        """Return something to be called with an info and arguments."""
        return CALLABLES[chance.pick(self._world.callables)](self)

    async def start(self, info: Any) -> None:
        """Wait for one's turn, if a clock rules."""
        await self._world.later.pause(("start", *info.path.as_list()), 0)

    def call(self, info: Any, **args: Any) -> Any:
        """Do as a method found in the data does."""
        self._world.note("call", info, args)
        return self.run(info, args)


def _steps(path: Any) -> Any:
    while path is not None:
        yield path
        path = path.prev


class Caller:
    """An object to be called."""

    def __init__(self, act: Act) -> None:
        self._act = act

    def __call__(self, info: Any, **args: Any) -> Any:
        """Do as a method does."""
        return self._act.call(info, **args)


def _function(act: Act) -> Callable[..., Any]:
    def method(info: Any, **args: Any) -> Any:
        return act.call(info, **args)

    return method


def _one_argument(act: Act) -> Callable[..., Any]:
    def method(info: Any) -> Any:
        return act.call(info)

    return method


def _coroutine_function(act: Act) -> Callable[..., Any]:
    async def call(info: Any, **args: Any) -> Any:
        await act.start(info)
        result = act.call(info, **args)
        return await result if hasattr(result, "__await__") else result

    return call


CALLABLES: dict[str, Callable[[Act], Callable[..., Any]]] = {
    "method": lambda act: act.call,
    "function": _function,
    "partial": lambda act: functools.partial(Act.call, act),
    "object": Caller,
    "positional": lambda act: lambda info, /, *, a=None, **args: act.call(info, a=a, **args),
    "needs no info": lambda act: lambda: act,
    "needs no arguments": _one_argument,
    "coroutine function": _coroutine_function,
}
SYNC_CALLABLES = (*("method", "function", "partial", "object") * 3, "positional", "needs no info")
SYNC_CALLABLES += ("needs no arguments",) * 2
ASYNC_CALLABLES = SYNC_CALLABLES + ("coroutine function",) * 4


class World:
    """The data, the resolvers' behaviour and the record of one run.

    Parameters
    ----------
    made
        The schema and what belongs to it.
    chance
        Decides everything that happens.
    weather
        How much of it goes wrong.
    mode
        ``sync``; ``ready``, awaitables that are done soon; ``gated``, awaitables a clock releases.
    """

    def __init__(self, made: Made, chance: Chance, weather: Weather, mode: str) -> None:
        self.made = made
        self.chance = chance
        self.weather = weather
        self.mode = mode
        self.root: Any = None
        self.context = values.Whole()
        self.record: list[tuple[Any, ...]] = []
        self.later = Later(Clock(chance.below(1 << 30)) if mode == "gated" else None)
        self.callables = SYNC_CALLABLES if mode == "sync" else ASYNC_CALLABLES
        self._metas: dict[int, Meta] = {}
        self._kind_of_rows = chance.pick(ALL_KINDS)
        self._shared_error = values.error(chance)

    # What the executor calls

    def resolve(self, source: Any, info: Any, args: dict[str, Any], name: str) -> Any:
        """Resolve a field that has a resolver of its own."""
        self.note("resolve", info, args)
        act = self._act(source, info.parent_type.name, name)
        return act.run(info, args)

    def field_resolver(self, source: Any, info: Any, **args: Any) -> Any:
        """Stand in for the default field resolver."""
        self.note("field_resolver", info, args)
        return default_field_resolver(source, info, **args)

    def type_resolver(self, value: Any, info: Any, abstract: Any) -> Any:
        """Stand in for the default type resolver."""
        self.note("type_resolver", info, {"abstract": abstract.name})
        return default_type_resolver(value, info, abstract)

    def resolve_type(self, value: Any, info: Any, abstract: Any) -> Any:
        """Tell the type of an object, or something else."""
        self.note("resolve_type", info, {"abstract": abstract.name})
        meta = self.meta(value)
        chance = (meta.chance if meta else self.chance).branch("type of", abstract.name)
        told: Any = meta.typename if meta else None
        if chance.odds(self.weather.typing):
            told = chance.pick(
                (
                    *(None, "Nowhere", "String", abstract.name, "", 7, values.Words("A"), "raise"),
                    *(self.made.schema.query_type, ["A"], values.error(chance), Undefined, "Query"),
                )
            )
        if told == "raise":
            raise self.error(chance)
        where = ("type", *info.path.as_list(), *self._place(meta), abstract.name)
        return self.perhaps_later(told, where, chance)

    def is_type_of(self, name: str, value: Any, info: Any) -> Any:
        """Tell whether an object is of a type, or something else."""
        meta = self.meta(value)
        chance = (meta.chance if meta else self.chance).branch("is type of", name)
        told: Any = meta is not None and meta.typename == name
        if chance.odds(self.weather.typing):
            told = chance.pick((not told, True, "yes", None, 0, values.Unsure(), "raise"))
        if told == "raise":
            raise self.error(chance)
        where = ("is", *info.path.as_list(), *self._place(meta), name)
        return self.perhaps_later(told, where, chance)

    # What is remembered

    def note(self, what: str, info: Any, args: Mapping[str, Any]) -> None:
        """Record a call."""
        path = tuple(info.path.as_list())
        call = (what, info.parent_type.name, info.field_name, path, repr(args))
        if len(info.field_name) % 2:  # others look at nothing more, as most resolvers do
            call += self._looked_at(info)
        self.record.append((self.later.phase, call))

    def _looked_at(self, info: Any) -> tuple[Any, ...]:
        variables = getattr(info.variable_values, "coerced", info.variable_values)
        return (
            str(info.return_type),
            [node.loc and node.loc.start for node in info.field_nodes],
            [step.typename for step in _steps(info.path)],
            info.schema is self.made.schema,
            info.root_value is self.root,
            info.context is self.context,
            info.operation.operation,
            list(info.fragments),
            repr(variables),
            [info.is_awaitable(value) for value in (None, 1)],
        )

    def meta(self, value: Any) -> Meta | None:
        """Return what is known about an object, or None if it was not made here."""
        meta = self._metas.get(id(value))
        return meta if meta is not None and meta.row is value else None

    def _place(self, meta: Meta | None) -> tuple[Any, ...]:
        return () if meta is None else (meta.chance.start,)

    def _act(self, source: Any, typename: str, name: str) -> Act:
        meta = self.meta(source)
        if meta is not None and name in meta.acts:
            return meta.acts[name]
        kind = self.made.schema.type_map[typename].fields[name].type  # type: ignore[attr-defined]
        return Act(self, kind, {}, self.chance.branch("elsewhere", typename, name), ("elsewhere",))

    # What is made

    def error(self, chance: Chance) -> Exception:
        """Return an exception; some are one and the same all over a run."""
        return self._shared_error if chance.odds(15) else values.error(chance)

    def perhaps_later(self, value: Any, where: Where, chance: Chance, percent: int = 35) -> Any:
        """Return a value or, where things may take time, an awaitable of it or of an error."""
        if self.mode == "sync" or not chance.odds(percent):
            return value
        fails = chance.odds(2 * self.weather.error)

        def outcome() -> Any:
            if fails:
                raise self.error(chance.branch("late"))
            return value

        return self.later.make(outcome, where, chance.branch("awaitable"))

    def make(self, kind: Any, need: Need, chance: Chance, where: Where, fresh: bool = True) -> Any:
        """Return a value for a type, mostly a right one.

        A fresh value is used once, so that it may hold awaitables and iterators.
        """
        weather = self.weather
        if is_non_null_type(kind):
            kind = kind.of_type
        if chance.odds(weather.null):
            return values.nothing(chance)
        if chance.odds(weather.error):
            return self.error(chance)
        if is_list_type(kind):
            return self._list(kind.of_type, need, chance, where, fresh)
        if is_leaf_type(kind):
            return self._leaf(kind, chance)
        if chance.odds(weather.wrong):
            return chance.pick(values.WRONG_OBJECTS)
        return self._object(kind, need, chance, where)

    def _leaf(self, kind: Any, chance: Chance) -> Any:
        if chance.odds(self.weather.odd):
            near = values.ODD_FOR.get(kind.name) if chance.odds(75) else None
            return chance.pick(near or values.ODD)
        return chance.pick(self.made.leaves[kind.name])

    def _list(self, kind: Any, need: Need, chance: Chance, where: Where, fresh: bool) -> Any:
        count = chance.below(6) if is_leaf_type(get_named_type(kind)) else chance.below(4)
        items = []
        for index in range(count):
            place = (*where, index)
            item = self.make(kind, need, chance.branch(index), place, fresh)
            if fresh:
                item = self.perhaps_later(item, place, chance.branch(index, "later"), 20)
            items.append(item)
        if fresh and self.mode != "sync" and chance.odds(15):
            if chance.odds(20):
                return values.Both(items, lambda: self.later.items(items[::-1], where, False))
            return self.later.items(items, where, False)
        if fresh and self.mode != "sync" and chance.odds(self.weather.lists):
            return self.later.items(items, where, True)
        if chance.odds(self.weather.lists):
            return chance.pick(values.ODD_LISTS)(items)
        return items if chance.odds(50) else chance.pick(values.LISTS)(items)

    def _object(self, kind: Any, need: Need, chance: Chance, where: Where) -> Any:
        schema = self.made.schema
        choices = list(schema.get_possible_types(kind)) if is_abstract_type(kind) else [kind]
        if chance.odds(self.weather.typing) or not choices:
            choices = [type_ for type_ in self.made.objects if is_object_type(type_)]
        typename = chance.pick(choices).name
        return self.row(typename, need, chance.branch("row"), where)

    def row(self, typename: str, need: Need, chance: Chance, where: Where) -> Any:
        """Return an object with the fields that are needed of it."""
        fields = self.made.schema.type_map[typename].fields  # type: ignore[attr-defined]
        acts: dict[str, Act] = {}
        for name, below in need.items():
            part = chance.branch(name)
            if name in fields and not part.odds(self.weather.gone):
                acts[name] = Act(self, fields[name].type, below, part, (*where, name))
        kind = self._kind_of_rows if chance.odds(60) else chance.pick(ALL_KINDS)
        found = {name: acts[name].data() for name in acts if fields[name].resolve is None}
        thorns = {name: what for name, (how, what) in found.items() if how == "thorn"}
        if thorns and kind not in rows.THORNY:
            kind = chance.pick(rows.THORNY)
        if kind == "methods":
            found = {name: ("call", acts[name].function(chance)) for name in found}
        told = typename if self.made.typenames else None
        if told and kind in rows.NO_TYPENAME and chance.odds(80):
            kind = "plain"
        if told and chance.odds(self.weather.typing):
            told = chance.pick((None, "Nowhere", "Query", "String", 7, "", values.Words("A")))
        data = {name: what for name, (how, what) in found.items() if how != "thorn"}
        row, _ = rows.build(kind, data, thorns, told)
        self._metas[id(row)] = Meta(row, typename, acts, chance)
        return row


ALL_KINDS = ("dict",) * 10 + ("namespace", "plain") * 2 + (*rows.MAPPINGS, *rows.ATTRIBUTES)
