"""Objects as people have them: dicts, mappings, and attributes of every make."""

from __future__ import annotations

from collections import ChainMap, OrderedDict, UserDict, defaultdict, namedtuple
from collections.abc import Callable, Mapping
from dataclasses import make_dataclass
from functools import lru_cache
from keyword import iskeyword
from types import MappingProxyType, ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from sqlalchemy.engine.result import IteratorResult, SimpleResultMetaData

if TYPE_CHECKING:
    from collections.abc import Iterator

Thorns = Mapping[str, Exception]  # what reading a field raises


class Row(dict):  # type: ignore[type-arg]
    """A dict of another class."""


class Getter(dict):  # type: ignore[type-arg]
    """A dict whose `get` is its own: that is what a field is read with."""

    thorns: Thorns = MappingProxyType({})

    def get(self, key: Any, default: Any = None) -> Any:
        """Return a value, or raise what sits there."""
        if key in self.thorns:
            raise self.thorns[key]
        return super().get(key, default)

    def __getitem__(self, key: Any) -> Any:
        return "not asked"


class Missing(dict):  # type: ignore[type-arg]
    """A dict that answers for what it lacks, which `get` does not use."""

    def __missing__(self, key: Any) -> Any:
        return "missing"


class Table(Mapping):  # type: ignore[type-arg]
    """A mapping that is no dict, with attributes that must not be asked."""

    def __init__(self, values: dict[str, Any], thorns: Thorns) -> None:
        self._values = values
        self._thorns = thorns

    def __getitem__(self, key: str) -> Any:
        if key in self._thorns:
            raise self._thorns[key]
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Table({self._values!r})"


class Shown:
    """An attribute object whose text holds its values and no address."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({vars(self)!r})"


class Plain(Shown):
    """An object with attributes."""


class Heir(Plain):
    """An object of a subclass."""

    title = "of the class"


class Dynamic(Shown):
    """An object whose attributes are made when asked for."""

    def __init__(self, values: dict[str, Any], thorns: Thorns) -> None:
        self._values = values
        self._thorns = thorns

    def __getattr__(self, name: str) -> Any:
        members = self.__dict__
        if name in members.get("_thorns", ()):
            raise members["_thorns"][name]
        try:
            return members["_values"][name]
        except KeyError:
            raise AttributeError(name) from None


class Guarded(Dynamic):
    """An object that decides about each attribute itself."""

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("_"):
            return super().__getattribute__(name)
        return self.__getattr__(name)


def _property(name: str) -> property:
    def read(self: Any) -> Any:
        if name in self._thorns:
            raise self._thorns[name]
        return self._values[name]

    return property(read)


def _method(name: str) -> Callable[..., Any]:
    def method(self: Any, info: Any, **args: Any) -> Any:
        return self._values[name](info, **args)

    return method


@lru_cache(maxsize=256)
def _class(kind: str, names: tuple[str, ...]) -> Any:
    """Return a class with these fields, alike for equal names."""
    if kind == "namedtuple":
        return namedtuple("Tuple", names)
    if kind == "dataclass":
        return make_dataclass("Data", names)
    if kind == "slotted dataclass":
        return make_dataclass("Slotted", names, slots=True, frozen=True)
    if kind == "slots":
        return type("Slots", (), {"__slots__": (*names, "_Slots__typename")})
    if kind == "methods":
        return type("Methods", (Dynamic,), {name: _method(name) for name in names})
    return type("Properties", (Dynamic,), {name: _property(name) for name in names})


def _slots(values: dict[str, Any], thorns: Thorns) -> Any:
    row = _class("slots", tuple(values))()
    for name, value in values.items():
        if value is not None:  # an empty slot reads as None too
            setattr(row, name, value)
    return row


def _getter(values: dict[str, Any], thorns: Thorns) -> Any:
    row = Getter(values)
    row.thorns = thorns
    return row


def _module(values: dict[str, Any], thorns: Thorns) -> Any:
    module = ModuleType("module")
    vars(module).update(values)
    return module


def _with(row: Any, values: dict[str, Any]) -> Any:
    vars(row).update(values)
    return row


def _classed(values: dict[str, Any], thorns: Thorns) -> Any:
    return type(
        "Values", (), {name: value for name, value in values.items() if not callable(value)}
    )


def _selected(values: dict[str, Any], thorns: Thorns) -> Any:
    """Return a row of SQLAlchemy, of which a column may be called ``count``."""
    columns = SimpleResultMetaData([*values])
    return IteratorResult(columns, iter([(*values.values(),)])).one()


MAPPINGS: dict[str, Callable[[dict[str, Any], Thorns], Any]] = {
    "dict": lambda values, thorns: values,
    "dict subclass": lambda values, thorns: Row(values),
    "ordered": lambda values, thorns: OrderedDict(values),
    "defaultdict": lambda values, thorns: defaultdict(lambda: "default", values),
    "missing": lambda values, thorns: Missing(values),
    "own get": _getter,
    "userdict": lambda values, thorns: UserDict(values),
    "proxy": lambda values, thorns: MappingProxyType(values),
    "chain": lambda values, thorns: ChainMap({}, values),
    "mapping": Table,
    "mapping of SQLAlchemy": lambda values, thorns: _selected(values, thorns)._mapping,
}
ATTRIBUTES: dict[str, Callable[[dict[str, Any], Thorns], Any]] = {
    "namespace": lambda values, thorns: SimpleNamespace(**values),
    "plain": lambda values, thorns: _with(Plain(), values),
    "heir": lambda values, thorns: _with(Heir(), values),
    "dataclass": lambda values, thorns: _class("dataclass", tuple(values))(**values),
    "slotted dataclass": lambda values, thorns: _class("slotted dataclass", tuple(values))(
        **values
    ),
    "slots": _slots,
    "namedtuple": lambda values, thorns: _class("namedtuple", tuple(values))(**values),
    "properties": lambda values, thorns: _class("properties", tuple({**values, **thorns}))(
        values, thorns
    ),
    "methods": lambda values, thorns: _class("methods", tuple(values))(values, thorns),
    "dynamic": Dynamic,
    "guarded": Guarded,
    "module": _module,
    "class": _classed,
    "row of SQLAlchemy": _selected,
}
DECLARED = {"dataclass", "slotted dataclass", "namedtuple", "slots"}
THORNY = ("own get", "mapping", "properties", "dynamic", "guarded")
NO_TYPENAME = {"slotted dataclass", "namedtuple", "module", "guarded", "row of SQLAlchemy"}


def build(
    kind: str, values: dict[str, Any], thorns: Thorns, typename: str | None
) -> tuple[Any, bool]:
    """Make an object of a kind, and say whether it could be given the name of its type.

    Parameters
    ----------
    kind
        A key of `MAPPINGS` or `ATTRIBUTES`.
    values
        Values by field.
    thorns
        Exceptions that reading a field raises; only the kinds in `THORNY` have them.
    typename
        What the object itself says about its type, where graphql-core looks for it.
    """
    if kind in MAPPINGS:
        if typename is not None:
            values = {**values, "__typename": typename}
        return MAPPINGS[kind](values, thorns), typename is not None
    if kind in DECLARED and any(iskeyword(name) for name in values):
        kind = "namespace"
    row = ATTRIBUTES[kind](values, thorns)
    if typename is None or kind in NO_TYPENAME:
        return row, False
    owner = "type" if kind == "class" else type(row).__name__
    # Written `__typename` in a class, this is its name outside.
    setattr(row, f"_{owner}__typename", typename)
    return row, True
