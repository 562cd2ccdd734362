"""Values that resolvers give: right ones, odd ones, errors, and lists of every make."""

from __future__ import annotations

import array
import enum
import itertools
import math
from collections import deque
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from uuid import UUID

from graphql import GraphQLError, Source, parse
from graphql.pyutils import Undefined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.property.differential.chance import Chance


class Words(str):
    """A string of another class."""


class Count(int):
    """An integer of another class."""


class Ratio(float):
    """A float of another class."""


class Planet(enum.Enum):
    """Members that are no strings."""

    EARTH = "earth"


class Level(enum.IntEnum):
    """Members that are integers."""

    HIGH = 3


class Shown:
    """An object whose text holds no address."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class Whole(Shown):
    """An object that can be made an integer."""

    def __int__(self) -> int:
        return 5

    def __float__(self) -> float:
        return 5.5


class Mute(Shown):
    """An object that has no text."""

    def __str__(self) -> str:
        msg = "no text"
        raise ValueError(msg)


class Touchy(Shown):
    """An object that refuses to be compared."""

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        msg = "not comparable"
        raise ValueError(msg)


class Unsure(Shown):
    """An object that is neither true nor false."""

    def __bool__(self) -> bool:
        msg = "neither"
        raise ValueError(msg)


NAN = math.nan
BUILTIN = ("Int", "Float", "String", "Boolean", "ID")
GOOD: dict[str, tuple[Any, ...]] = {
    "Int": (0, 1, -1, 7, 42, 2**30, -(2**30), 2**31 - 1, -(2**31)),
    "Float": (0.0, 1.5, -2.25, 1e300, 3.0, 1),
    "String": ("", "a", "words", "é\u2028", "true", "1"),
    "Boolean": (True, False),
    "ID": ("", "x1", "7", 7, 0),
    "Json": (1, "x", 1.5, True, [1, {"a": None}], {"b": [2]}, {}),
    "Odd": (1, 3, "odd"),
}
ODD: tuple[Any, ...] = (
    True, False, 0, 1, 2**31, -(2**31) - 1, 10**40, 10**400,
    1.0, -0.0, 1.5, 1e10, NAN, math.inf, -math.inf,
    "", "12", " 7 ", "1e3", "\ud800", "x" * 300, b"1", bytearray(b"x"),
    Words("words"), Count(4), Ratio(4.5), Ratio(4.0), Planet.EARTH, Level.HIGH,
    Decimal("2.5"), Decimal(3), Decimal("NaN"), Fraction(1, 2), Fraction(4, 2), complex(1, 0),
    date(2020, 1, 2), UUID(int=7), Whole(), Mute(), Touchy(), Unsure(),
    [], [1], {}, {"a": 1}, (), ("a", 1), set(), object, int, ...,
    "bad", "gql", "none", "undefined",
)  # fmt: skip
ODD_FOR: dict[str, tuple[Any, ...]] = {
    "Int": (True, False, 1.0, -0.0, 1.5, NAN, "12", "", 2**31, -(2**31) - 1, 10**40, Decimal(3),
        Count(4)),
    "Float": (True, 1, 7, NAN, math.inf, 10**400, "1.5", "", Ratio(4.5), Decimal("2.5"), "nan"),
    "String": (1, 1.5, True, NAN, Words("words"), b"1", [], Planet.EARTH, "x" * 300, Mute()),
    "Boolean": (0, 1, 1.0, NAN, "true", "", [], Level.HIGH, Decimal(0), Unsure()),
    "ID": (1.0, 1.5, True, UUID(int=7), Count(4), -0.0, 10**40, Words("words"), math.inf),
    "Odd": ("bad", "gql", "none", "undefined"),
    "Color": ("red", "", 1, ["RED"], Words("RED"), Planet.EARTH, Touchy()),
    "Depth": (1, 1.0, True, [1], {"a": 1}, {1}, "ONE", 3, Planet.EARTH, Level.HIGH, NAN, Touchy()),
}  # fmt: skip
WRONG_OBJECTS: tuple[Any, ...] = (
    *(0, 7, 1.5, "", "text", True, b"x", [], [1], (), {}, Whole(), Unsure()),
)


class CodedError(Exception):
    """An exception that carries extensions and more."""

    def __init__(self, text: Any, /, **members: Any) -> None:
        super().__init__(text)
        for name, value in members.items():
            setattr(self, name, value)


class SlyError(Exception):
    """An exception that answers to every name."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return {"extensions": {"code": 1}, "message": "sly"}.get(name)


class MuteError(Exception):
    """An exception that has no text."""

    __str__ = Mute.__str__  # type: ignore[assignment]


ELSEWHERE = parse("{ here }").definitions[0]
ERRORS: tuple[Callable[[], Exception], ...] = (
    lambda: ValueError("boom"),
    lambda: ValueError("boom"),
    ValueError,
    lambda: KeyError("key"),
    lambda: AttributeError("attribute"),
    lambda: TypeError("type"),
    lambda: RuntimeError("line\nline"),
    lambda: OSError(2, "gone", "file"),
    lambda: ZeroDivisionError("division"),
    lambda: UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
    lambda: LookupError(Planet.EARTH),
    lambda: ExceptionGroup("group", [ValueError("one")]),
    lambda: RecursionError("too deep"),
    lambda: StopAsyncIteration("no more"),
    lambda: GraphQLError("graphql"),
    lambda: GraphQLError("graphql", extensions={"code": "CODE", "n": [1]}),
    lambda: GraphQLError("with original", original_error=CodedError("inner", extensions={"a": 1})),
    lambda: GraphQLError("with path", path=["other", 3]),
    lambda: GraphQLError("with nodes", nodes=[ELSEWHERE]),
    lambda: GraphQLError("with both", nodes=ELSEWHERE, path=["other"], extensions={"b": 2}),
    lambda: CodedError("coded", extensions={"code": 1}),
    lambda: CodedError("coded", extensions="no mapping"),
    lambda: CodedError("coded", message="another message"),
    lambda: CodedError("coded", nodes=[ELSEWHERE], path=["ignored"]),
    lambda: CodedError("coded", nodes=[], positions=[1], source="text"),
    lambda: GraphQLError("with source", source=Source("{ a }"), positions=[2]),
    SlyError,
    MuteError,
)


class Halt(BaseException):
    """What no executor may catch."""


class Each:
    """An iterable that is nothing more."""

    def __init__(self, items: list[Any]) -> None:
        self._items = items

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._items!r})"


class Both(Each):
    """An iterable and an async iterable that do not agree."""

    def __init__(self, items: list[Any], backwards: Callable[[], Any]) -> None:
        super().__init__(items)
        self._backwards = backwards

    def __aiter__(self) -> Any:
        return self._backwards()


class Backwards(list):  # type: ignore[type-arg]
    """A list that iterates in another order than it indexes."""

    def __iter__(self) -> Iterator[Any]:
        return reversed(self[:])


class Boastful(list):  # type: ignore[type-arg]
    """A list that has fewer items than it says."""

    def __len__(self) -> int:
        return 100


class Indexed:
    """A sequence of the old protocol, which counts as no iterable."""

    def __init__(self, items: list[Any]) -> None:
        self._items = items

    def __getitem__(self, index: int) -> Any:
        return self._items[index]


class Refusing:
    """An iterable that has no iterator."""

    def __init__(self, items: list[Any]) -> None:
        pass

    def __iter__(self) -> Iterator[Any]:
        msg = "no iterator"
        raise RuntimeError(msg)


class Pair(tuple):  # type: ignore[type-arg]
    """A tuple of another class."""

    __slots__ = ()


def failing(items: list[Any]) -> Iterator[Any]:
    """Yield all but the last item, then fail."""
    yield from items[:-1]
    msg = "no more items"
    raise ValueError(msg)


LISTS: tuple[Callable[[list[Any]], Any], ...] = (
    list,
    tuple,
    deque,
    iter,
    Each,
    Backwards,
    Boastful,
    Pair,
    lambda items: (item for item in items),
    itertools.chain,
    lambda items: dict(enumerate(items)).values(),
    lambda items: range(len(items)) if all(type(item) is int for item in items) else items,
)
ODD_LISTS: tuple[Callable[[list[Any]], Any], ...] = (
    failing,
    Refusing,
    Indexed,
    lambda items: dict(enumerate(items)),
    lambda items: dict(enumerate(items)).keys(),
    lambda items: "text",
    lambda items: "",
    lambda items: b"bytes",
    lambda items: 5,
    lambda items: {1, 2, 3},
    lambda items: frozenset((1,)),
    lambda items: range(3),
    lambda items: array.array("i", [1, 2]),
    lambda items: memoryview(b"ab"),
    lambda items: Refusing,  # the class, which is called as a method would be
    lambda items: [items],
)


def error(chance: Chance) -> Exception:
    """Return an exception to be raised or returned."""
    return chance.pick(ERRORS)()


def nothing(chance: Chance) -> Any:
    """Return one of the two values that mean null."""
    return Undefined if chance.odds(15) else None
