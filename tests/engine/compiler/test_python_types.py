"""Rows of every Python type have graphql-core's answers, whatever field they are in."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from graphql import build_schema
from pydantic import BaseModel

from gqlnb.engine.compiler.python_types import (
    copy_small_ints,
)
from tests.engine.comparison import answered

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [
    pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning"),
    pytest.mark.usefixtures("road"),
]

SDL = """
type Query { row: Row sure: Row! rows: [Row] face: Face faces: [Face!] told: Told tested: Tested }
interface Face { s: String }
union Told = Row | Other
union Tested = Row2 | Other
enum Color { RED GREEN }
scalar Date
type Row implements Face {
  s: String i: Int! list: [Int!] color: Color date: Date row: Row rows: [Row!] face: Face class: Int
  argument(x: Int = 1): String
}
type Row2 { s: String i: Int! }
type Other implements Face { s: String }
"""
FIELDS = "s i list color date class argument(x: 2) missing: argument"
TEXT = f"""
query ($yes: Boolean = true) {{
  row {{ {FIELDS} row {{ {FIELDS} rows {{ s i }} }} rows {{ {FIELDS} }} face {{ s }} }}
  sure {{ s @include(if: $yes) row {{ row {{ s }} }} }}
  rows {{ {FIELDS} row {{ s i }} }}
  face {{ __typename s ... on Row {{ i row {{ s }} }} }}
  faces {{ __typename s ... on Row {{ i row {{ s }} }} }}
  told {{ ... on Row {{ s i }} ... on Other {{ s }} }}
  tested {{ ... on Row2 {{ s i }} ... on Other {{ s }} }}
}}
"""


def find_type(value: Any, *_: Any) -> Any:
    """Return the type of a value that tells its own."""
    return "Row" if find_type else value


@pytest.fixture(scope="module")
def schema():
    """Return a schema that tells types by attribute, by function and by predicate."""
    schema = build_schema(SDL)
    schema.type_map["Told"].resolve_type = find_type
    schema.type_map["Row2"].is_type_of = lambda value, info: True
    return schema


class Attributes:
    """An object with attributes."""

    def __init__(self, values: dict[str, Any]) -> None:
        vars(self).update(values)
        self._Attributes__typename = values.get("__typename")


class AttributeDict(dict):  # type: ignore[type-arg]
    """A dict whose keys are attributes, too: of every name."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class Everything(AttributeDict):
    """A dict with every attribute, so that it seems to be awaitable."""

    def __getattr__(self, name: str) -> Any:
        return self.get(name)


class Lazy:
    """An object that computes its attributes."""

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name == "date":
            msg = "no date"
            raise RuntimeError(msg)
        return self._values.get(name)


class Proxy(Lazy):
    """An object that passes every attribute on, also special ones."""

    def __getattr__(self, name: str) -> Any:
        return getattr(vars(self)["_values"], name)


class OwnAndLazy(Lazy):
    """An object with attributes of its own and of its class beside the computed ones."""

    list = (3, 4)

    def __init__(self, values: dict[str, Any]) -> None:
        super().__init__(values)
        self.i = 8


class LazyInstance(Lazy):
    """An object that computes the attributes that it has not got itself."""

    def __init__(self, values: dict[str, Any]) -> None:
        super().__init__(values)
        self.s = "own"


class LazySlots:
    """An object without a dict that computes its attributes."""

    __slots__ = ("_values",)
    __getattr__ = Lazy.__getattr__

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values


class OddDict(dict):  # type: ignore[type-arg]
    """A dict that seems to be empty."""

    def __contains__(self, key: object) -> bool:
        return False


class OddLazy(Lazy):
    """An object whose attributes are in another kind of dict."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.__dict__ = OddDict(_values=values, s="own")


class LazyObject:
    """An object whose ``__getattr__`` is not a function."""

    __getattr__ = staticmethod({"s": "text", "i": 2}.get)

    def __init__(self, values: dict[str, Any]) -> None:
        self.row = values["row"]


class Yes:
    """An object with an attribute of every name."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.s = values["s"]

    def __getattr__(self, name: str) -> Any:
        return 1


class Pretending(Attributes):
    """An object that names another class."""

    @property
    def __class__(self) -> Any:
        return dict

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of a key."""
        return vars(self).get(name, default)


class CallableRow(Attributes):
    """An object that can be called."""

    def __call__(self, info: Any, **args: Any) -> Any:
        """Return a row."""
        return {"s": "called", "i": 1}


class AwaitableRow(Attributes):
    """An object that can be awaited."""

    def __await__(self) -> Any:
        raise RuntimeError


class Failure(Attributes, Exception):  # noqa: N818
    """A row that is an exception."""

    def __repr__(self) -> str:
        return "Failure()"

    __str__ = __repr__


class Model(BaseModel):
    """A model of pydantic."""

    s: Any = None
    i: Any = None
    list: Any = None
    row: Any = None
    rows: Any = None
    _hidden: int = 5


class OpenModel(Model, extra="allow"):
    """A model with any attribute, `__await__` among them."""


# The differential tests have rows of the usual types.
ROWS: dict[str, Any] = {
    "model": lambda values: Model(**values),
    "open model": lambda values: OpenModel(**values),
    "awaitable model": lambda values: OpenModel(**values, __await__=1),
    "dict": dict,
    "attribute dict": AttributeDict,
    "everything": Everything,
    "attributes": Attributes,
    "namespace": lambda values: SimpleNamespace(**values),
    "lazy": Lazy,
    "own and lazy": OwnAndLazy,
    "lazy instance": LazyInstance,
    "lazy slots": LazySlots,
    "odd lazy": OddLazy,
    "lazy object": LazyObject,
    "proxy": lambda values: Proxy(Attributes(values)),
    "proxy of a dict": Proxy,
    "yes": Yes,
    "pretending": Pretending,
    "callable": CallableRow,
    "awaitable": AwaitableRow,
    "failure": Failure,
    "number": lambda values: 5,
    "text": lambda values: "text",
    "type": lambda values: Attributes,
    "none": lambda values: None,
}


def build_row(make: Callable[[dict[str, Any]], Any], depth: int = 3) -> Any:
    """Return a row of one type, with rows of the same type below it."""
    below = build_row(make, depth - 1) if depth else None
    values = {
        "s": "text",
        "i": depth,
        "list": [1, 2],
        "color": "RED",
        "date": "2026-11-22",
        "row": below,
        "rows": [below, below] if depth else [],
        "face": below,
        "class": 9,
        "argument": lambda info, **args: f"called with {args}",
        "__typename": "Row",
    }
    return make(values)


@pytest.mark.parametrize("other", ["dict", "lazy"])
@pytest.mark.parametrize("name", ROWS)
def test_rows_of_any_type_are_read_in_any_field(schema, name, other):
    """Rows are read alike alone, in a list, next to other types and by an alias."""

    def make() -> dict[str, Any]:
        row, companion = build_row(ROWS[name]), build_row(ROWS[other])
        rows = [row, companion, row, None]
        each = {"row": row, "sure": row, "face": row, "told": row, "tested": row}
        return {**each, "rows": rows, "faces": [companion, row, companion]}

    answered(schema, TEXT, make)


def test_a_lazy_object_may_be_awaitable_after_others_that_are_not(schema):
    """Each row of a list is asked, since `__getattr__` may answer for any of them."""

    def make() -> dict[str, Any]:
        awaitable = LazyInstance({"s": "text"})
        vars(awaitable)["__await__"] = None
        below = Proxy(AwaitableRow({"s": "text"}))
        rows = [LazyInstance({"i": 1}), awaitable, Proxy({"s": "text"}), below]
        return {"rows": [rows[0], *rows], "faces": [rows[2], rows[3], rows[2]]}

    answered(schema, "{ rows { s i } faces { s } }", make)


@pytest.mark.parametrize("name", ROWS)
def test_a_root_value_of_any_type(schema, name):
    """The root value is read like a row."""
    sdl = "type Query { s: String i: Int list: [Int] row: Query rows: [Query!] }"
    text = "{ s i list row { s i } rows { s row { s } } }"
    answered(sdl, text, lambda: build_row(ROWS[name]))
    row = build_row(ROWS[name])
    answered(sdl, text, lambda: {"row": row, "rows": (row,) * 70})


class Int(int):
    """A subclass of int."""


@pytest.mark.parametrize(
    "odd",
    [
        *(True, None, 2**31, -(2**31) - 1, 2**40, 1.5, 0x69, "i", b"i", Int(5), 5j, (), [105], ...),
        *([True, 1.5], (None,) * 5, "iiii", "i" * 1000),
    ],
    ids=lambda odd: repr(odd)[:20],
)
@pytest.mark.parametrize("others", [[], [0x69696969, -1, 0, 2**31 - 1, -(2**31)] * 20])
@pytest.mark.parametrize("kind", [list, tuple])
def test_lists_of_small_integers_are_recognised(odd, others, kind):
    """Booleans and other numbers are not integers of 32 bits."""
    for place in {0, len(others) // 2, len(others)}:
        values = kind([*others[:place], odd, *others[place:]])
        expected = list(values) if type(odd) is int and abs(odd) < 2**31 else None
        assert copy_small_ints(values) == expected
    assert copy_small_ints(kind(others)) == others
    assert copy_small_ints(kind([True, 1.5])) is None  # ten bytes, like two integers
