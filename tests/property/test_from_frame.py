"""A schema over a frame answers as a plain model does: filters, orders and pages by chance.

Read as a frame again, its rows are those of the frame.

The model is lists of Python values, never the frame. Each case is made from a number, so that a
failure can be seen again; `FRAME_CASES=20000` asks for more of them, `FRAME_SEED=123` for one.
"""

from __future__ import annotations

import operator as operators
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from gqlnb import Schema
from tests.examples import make_blocks

if TYPE_CHECKING:
    from collections.abc import Callable

QUERIES = 4  # of each frame
WORDS = ["", "a", "ab", "abc", "b", "B", "Ab", "ß", "é", "名前", "🦆", "a b", "%", "_", ".*"]
WORDS += ["z" * 40]
START = datetime(2024, 1, 1, tzinfo=UTC)

TEXT = """
query ($first: Int, $after: String, $last: Int, $before: String, $where: RowWhere,
       $orderBy: [RowOrder!]) {
  rows(first: $first, after: $after, last: $last, before: $before, where: $where,
       orderBy: $orderBy) {
    totalCount
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    edges { cursor node { place } }
    nodes { place FIELDS }
  }
}
"""


@dataclass(frozen=True)
class Kind:
    """A kind of column.

    Attributes
    ----------
    some
        Makes a value that is not missing, as the answer shows it.
    series
        Makes the column of such values, None where one is missing.
    order
        Returns what a value is compared by; None for JSON, which is not.
    operators
        What a filter may ask.
    missing
        Whether values may be missing.
    """

    some: Callable[[Random], Any]
    series: Callable[[list[Any]], Any]
    order: Callable[[Any], Any] | None = lambda value: value
    operators: tuple[str, ...] = ("eq", "neq", "in", "nin", "gt", "gte", "lt", "lte")
    missing: bool = True


def typed(dtype: str) -> Callable[[list[Any]], Any]:
    """Return what makes a Series of a dtype."""
    return lambda values: pd.Series(values, dtype=dtype)


def objects(read: Callable[[Any], Any]) -> Callable[[list[Any]], Any]:
    """Return what makes a Series of objects that values are texts of."""
    return lambda values: pd.Series([v if v is None else read(v) for v in values], dtype=object)


def categories(names: list[str], *, ordered: bool) -> Callable[[list[Any]], Any]:
    """Return what makes a Series of categories."""
    return lambda values: pd.Series(pd.Categorical(values, names, ordered=ordered))


def moment(unit: str, *, local: bool = False) -> Callable[[Random], str]:
    """Return what makes moments, some of them with parts of a second."""
    end = "Z" * local  # of what an answer has, where it has no zone
    step = {"s": timedelta(seconds=1), "us": timedelta(microseconds=250)}[unit]
    return lambda random: written(START + random.randrange(12) * step).removesuffix(end)


def written(when: datetime) -> str:
    """Return a moment as an answer has it."""
    text = when.replace(tzinfo=None).isoformat()
    return f"{text.rstrip('0') if '.' in text else text}Z"


def moments(dtype: str) -> Callable[[list[Any]], Any]:
    """Return what makes a Series of moments."""
    utc = dtype.endswith("]") and "," in dtype

    def series(values: list[Any]) -> Any:
        found = pd.to_datetime(pd.Series(values, dtype=object), utc=True, format="ISO8601")
        return (found if utc else found.dt.tz_localize(None)).astype(dtype)

    return series


def floats(values: list[Any]) -> Any:
    """Make a Series of floats, infinite where one is missing and its place is even."""
    lost = (float("inf"), float("nan"))
    made = [lost[at % 2] if v is None else v for at, v in enumerate(values)]
    return pd.Series(made, dtype="float64")


def lasting(text: str) -> pd.Timedelta:
    """Return the length of time that a text names."""
    sign, seconds = (-1, text[3:-1]) if text[0] == "-" else (1, text[2:-1])
    return sign * pd.Timedelta(int(Decimal(seconds) * 10**9), "ns")


def span(nanoseconds: int) -> str:
    """Return a length of time as an answer has it."""
    number = format((Decimal(abs(nanoseconds)) / 10**9).normalize(), "f")
    return f"{'-' if nanoseconds < 0 else ''}PT{number}S"


AGES = ["5-10", "18-25", "65+"]
GRADES = ["low", "mid", "high"]
LANGUAGES = ["Rust", "C", "Python"]
EQUAL = ("eq", "neq", "in", "nin")
ALL = ("eq", "neq", "in", "nin", "gt", "gte", "lt", "lte")
KINDS = {
    "int8": Kind(lambda r: r.randrange(-3, 4), typed("int8"), missing=False),
    "int64": Kind(lambda r: r.randrange(-3, 4), typed("int64"), missing=False),
    "Int64": Kind(lambda r: r.randrange(-3, 4), typed("Int64")),
    "uint64": Kind(lambda r: 2**64 - 1 - r.randrange(6), typed("uint64"), missing=False),
    "big": Kind(lambda r: r.randrange(-3, 4) * 2**33, typed("Int64")),
    "huge": Kind(lambda r: r.randrange(-3, 4) * 10**30, objects(int)),
    "float": Kind(lambda r: r.choice([-1.5, 0.0, 0.25, 2.0, 1e300]), floats),
    "Float32": Kind(lambda r: r.choice([-1.5, 0.0, 0.25, 2.0]), typed("Float32")),
    "text": Kind(lambda r: r.choice(WORDS), typed("object"),
        operators=(*ALL, "contains", "startsWith", "endsWith")),
    "string": Kind(lambda r: r.choice(WORDS), typed("string")),
    "arrow": Kind(lambda r: r.choice(WORDS), typed("string[pyarrow]")),
    "bool": Kind(lambda r: r.random() < 0.5, typed("bool"), operators=("eq", "neq"), missing=False),
    "boolean": Kind(lambda r: r.random() < 0.5, typed("boolean"), operators=("eq", "neq")),
    "language": Kind(lambda r: r.choice(LANGUAGES), categories(LANGUAGES, ordered=False),
        LANGUAGES.index, EQUAL),
    "grade": Kind(lambda r: r.choice(GRADES), categories(GRADES, ordered=True), GRADES.index, ALL),
    "words": Kind(lambda r: r.choice(["a b", "c d"]), categories(["c d", "a b"], ordered=False)),
    "seconds": Kind(moment("s", local=True), moments("datetime64[s]"), datetime.fromisoformat),
    "micros": Kind(moment("us"), moments("datetime64[us, UTC]"), datetime.fromisoformat),
    "nanos": Kind(moment("us"), moments("datetime64[ns, Europe/Berlin]"), datetime.fromisoformat),
    "day": Kind(lambda r: f"2024-02-{r.randrange(27, 30)}", objects(date.fromisoformat),
        date.fromisoformat),
    "span": Kind(lambda r: span(r.randrange(-5, 6) * 250_000_000),
        lambda values: pd.Series([v and lasting(v) for v in values], dtype="timedelta64[ns]"),
        lambda text: lasting(text).value),
    "instants": Kind(lambda r: f"2024-01-01T00:00:00.00000000{r.randrange(1, 9)}Z",
        moments("datetime64[ns, UTC]")),
    "age": Kind(lambda r: r.choice(AGES), categories(AGES, ordered=True), AGES.index, ALL),
    "euros": Kind(lambda r: str(r.randrange(-5, 5)), objects(Decimal), Decimal),
    "price": Kind(lambda r: f"{r.randrange(-20, 20) / 4:.2f}", objects(Decimal), Decimal),
    "tags": Kind(lambda r: r.choice([[], [1], {"a": None}]), objects(lambda v: v), None, ()),
}  # fmt: skip
# What lies between the values of a column, or beyond them all.
BETWEEN = {
    "int8": [300, -300],
    "big": [10**20, -(10**20)],
    "uint64": [2**70, -1],
    "huge": [10**37, 5 * 10**29],
    "seconds": ["2024-01-01T00:00:05.5", "9999-12-31"],
    "micros": ["2024-01-01T00:00:00.000250001Z", "0001-01-01T00:00:00+05:00"],
    "nanos": ["2024-01-01T01:00:00.0005+01:00", "9999-12-31"],
    "instants": ["2024-01-01", "2024-01-01T00:00:00.00000001+01:00", "9999-12-31"],
    "span": ["PT0.1S", "P1W", "-PT1M", "PT0.000000001S", "P300000W"],
    "euros": ["0.5", 2, "1e40", -1.5],
    "price": ["0.255", "1e40", "-1e40", 2, 0.5],
}
# Where values decide the type, the first row has one that does.
SURE = {
    "big": 2**33,
    "huge": 10**30,
    "uint64": 2**64 - 1,
    "price": "0.25",
    "euros": "3",
    "day": "2024-02-27",
    "tags": [],
}


def ordering(kind: str, value: Any) -> Any:
    """Return what a value is compared by, also one that is in no column."""
    if value is None:
        return None
    if kind in {"price", "euros"}:
        return Decimal(str(value))
    if kind == "span":
        return length(value)
    if kind in {"seconds", "micros", "nanos", "instants"}:
        return nanoseconds(value)
    order = KINDS[kind].order
    return order(value) if order else None


def length(text: str) -> int:
    """Return a length of time in nanoseconds, as one of the texts above has it."""
    units = {"W": 7 * 86400, "M": 60, "S": 1}
    number = Decimal(text.lstrip("-PT")[:-1]) * units[text[-1]] * 10**9
    return int(-number if text[0] == "-" else number)


def nanoseconds(text: str) -> int:
    """Return a moment in nanoseconds: Python's own have microseconds only."""
    base, point, rest = text.partition(".")
    digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
    when = datetime.fromisoformat(base + rest[len(digits) :])
    since = (when if when.tzinfo else when.replace(tzinfo=UTC)) - START
    return (since.days * 86400 + since.seconds) * 10**9 + int(digits.ljust(9, "0") if point else 0)


# -- the model

PARTS = {"contains": str.__contains__, "startsWith": str.startswith, "endsWith": str.endswith}
TESTS = {
    "eq": operators.eq,
    "gt": operators.gt,
    "gte": operators.ge,
    "lt": operators.lt,
    "lte": operators.le,
}


def holds(kind: str, value: Any, operator: str, wanted: Any) -> bool:
    """Tell whether a condition holds of a value."""
    if operator in {"neq", "nin"}:
        return not holds(kind, value, {"neq": "eq", "nin": "in"}[operator], wanted)
    if operator == "isNull":
        return (value is None) is wanted
    if value is None or wanted is None:
        return value is None and wanted is None and operator == "eq"
    if operator in PARTS:
        return PARTS[operator](value, wanted)
    mine = ordering(kind, value)
    if operator == "in":
        return mine in [ordering(kind, item) for item in wanted]
    return TESTS[operator](mine, ordering(kind, wanted))


def fulfils(row: dict[str, Any], where: dict[str, Any]) -> bool:
    """Tell whether a row fulfils a filter."""
    for name, said in where.items():
        if name == "not":
            found = not fulfils(row, said)
        elif name in {"and", "or"}:
            found = {"and": all, "or": any}[name](fulfils(row, part) for part in said)
        else:
            found = all(holds(name, row[name], op, wanted) for op, wanted in said.items())
        if not found:
            return False
    return True


def in_order(rows: list[dict[str, Any]], order: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows as an order has them."""
    for by in reversed(order):
        name, last = by["field"], by.get("nulls", "LAST") == "LAST"
        full = [row for row in rows if row[name] is not None]
        lost = [row for row in rows if row[name] is None]
        full.sort(
            key=lambda row, name=name: ordering(name, row[name]),
            reverse=by.get("direction", "ASC") == "DESC",
        )
        rows = [*full, *lost] if last else [*lost, *full]
    return rows


def page(
    rows: list[dict[str, Any]], args: dict[str, Any], places: dict[str, int]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the rows of a page, and what a connection says beside them.

    `places` are the rows that the cursors name.
    """
    ranked = {row["place"]: at for at, row in enumerate(in_order(rows, args.get("orderBy") or []))}
    chosen = [row for row in rows if fulfils(row, args.get("where") or {})]
    chosen.sort(key=lambda row: ranked[row["place"]])
    start, stop = 0, len(chosen)
    if args.get("after"):
        limit = ranked[places[args["after"]]]
        start = sum(ranked[row["place"]] <= limit for row in chosen)
    if args.get("before"):
        limit = ranked[places[args["before"]]]
        stop = max(start, sum(ranked[row["place"]] < limit for row in chosen))
    if args.get("last") is not None:
        start = max(start, stop - args["last"])
    else:
        stop = min(stop, start + (5 if args.get("first") is None else args["first"]))
    return chosen[start:stop], {
        "totalCount": len(chosen),
        "hasNextPage": stop < len(chosen),
        "hasPreviousPage": start > 0,
    }


# -- cases


class Case:
    """A frame by chance, its rows as the answers show them, and questions about it."""

    def __init__(self, number: int) -> None:
        self.random = random = Random(number)
        count = random.choice([0, 1, 2, 7, 30])
        known = [name for name in KINDS if count or name not in SURE]
        names = random.sample(known, random.randrange(1, 6))
        columns = {
            name: [
                SURE[name] if name in SURE and not at else self.value(name) for at in range(count)
            ]
            for name in names
        }
        self.names = names
        self.rows = [
            {"place": at, **{name: columns[name][at] for name in names}} for at in range(count)
        ]
        made = {"place": pd.Series(range(count), dtype="int64")}
        made |= {name: KINDS[name].series(columns[name]) for name in names}
        frame = pd.DataFrame(made)
        frame.index = random.sample(range(count), count)  # no name: it says nothing
        self.frame = frame
        self.schema = Schema.from_frame({"rows": frame}, page_sizes=(5, 50))

    def value(self, name: str) -> Any:
        """Make a value of a column."""
        kind = KINDS[name]
        return None if kind.missing and self.random.random() < 0.25 else kind.some(self.random)

    def condition(self, name: str) -> dict[str, Any]:
        """Make conditions on a column."""
        random, made = self.random, {}
        for operator in random.sample(KINDS[name].operators, min(2, len(KINDS[name].operators))):
            pool = [KINDS[name].some(random), *BETWEEN.get(name, [])]
            if operator in {"in", "nin"}:
                made[operator] = random.choices(pool, k=random.randrange(4))
            elif operator in {"eq", "neq"} and random.random() < 0.2:
                made[operator] = None
            else:
                made[operator] = random.choice(pool)
        if random.random() < 0.2 or not made:
            made["isNull"] = random.random() < 0.5
        return made

    def filter(self, depth: int = 0) -> dict[str, Any]:
        """Make a filter."""
        random = self.random
        fields = random.sample(self.names, random.randrange(min(3, len(self.names) + 1)))
        made: dict[str, Any] = {name: self.condition(name) for name in fields}
        if depth < 2 and random.random() < 0.5:
            word = random.choice(["and", "or", "not"])
            parts = [self.filter(depth + 1) for _ in range(random.randrange(3))]
            made[word] = self.filter(depth + 1) if word == "not" else parts
        return made

    def order(self) -> list[dict[str, Any]]:
        """Make an order."""
        names = [name for name in self.names if KINDS[name].operators]
        chosen = self.random.sample(names, self.random.randrange(len(names) + 1))
        return [
            {"field": name}
            | (
                {"direction": self.random.choice(["ASC", "DESC"])}
                if self.random.random() < 0.7
                else {}
            )
            | (
                {"nulls": self.random.choice(["FIRST", "LAST"])}
                if self.random.random() < 0.5
                else {}
            )
            for name in chosen
        ]

    def ask(self, **args: Any) -> dict[str, Any]:
        """Ask for a page."""
        result = self.schema.execute(TEXT.replace("FIELDS", " ".join(self.names)), args)
        assert result.errors == (), result.errors
        return result.data["rows"]

    def cursors(self) -> dict[str, int]:
        """Return the rows that all cursors name."""
        return {edge["cursor"]: edge["node"]["place"] for edge in self.ask(first=50)["edges"]}


def check(case: Case, args: dict[str, Any], places: dict[str, int]) -> None:
    """Compare a page with the model's."""
    got = case.ask(**args)
    rows, beside = page(case.rows, args, places)
    assert got["nodes"] == rows
    assert [places[edge["cursor"]] for edge in got["edges"]] == [row["place"] for row in rows]
    assert [edge["node"] for edge in got["edges"]] == [{"place": row["place"]} for row in rows]
    cursors = [edge["cursor"] for edge in got["edges"]] or [None]
    assert {**got["pageInfo"], "totalCount": got["totalCount"]} == {
        **beside,
        "startCursor": cursors[0],
        "endCursor": cursors[-1],
    }


def read_back(case: Case) -> None:
    """Compare the frame of an answer with the frame that was served: no digit may be lost."""
    text = f"{{ rows(first: 50) {{ nodes {{ {' '.join(case.names)} }} }} }}"
    got = case.schema.execute(text).frame()
    for name in case.names:
        wanted = [as_read(value) for value in case.frame[name]]
        full = [value is not None for value in wanted]
        assert got[name].notna().tolist() == full, name
        assert got[name][full].tolist() == [value for value in wanted if value is not None], name


def as_read(value: Any) -> Any:
    """Return a value of a frame as reading an answer gives it."""
    if isinstance(value, (list, dict)):
        return value
    if pd.isna(value) or value in (float("inf"), float("-inf")):
        return None
    if isinstance(value, datetime):
        return value if value.tzinfo is None else value.tz_convert("UTC")
    return pd.Timestamp(value) if isinstance(value, date) else value


def walk(case: Case, args: dict[str, Any], size: int, *, forward: bool) -> list[int]:
    """Return the rows of all pages, in the order of the connection."""
    found: list[int] = []
    sizes, at, more, end = (
        ("first", "after", "hasNextPage", "endCursor")
        if forward
        else ("last", "before", "hasPreviousPage", "startCursor")
    )
    cursor = None
    while True:
        got = case.ask(**args, **{sizes: size, at: cursor})
        rows = [row["place"] for row in got["nodes"]]
        found = [*found, *rows] if forward else [*rows, *found]
        if not got["pageInfo"][more]:
            return found
        cursor = got["pageInfo"][end]


@pytest.mark.parametrize(
    "numbers", make_blocks("FRAME", 200, 100), ids=lambda numbers: str(numbers[0])
)
def test_responses_equal_the_model(numbers):
    """Rows, counts, cursors and page info agree; all pages together have every row once."""
    for number in numbers:
        case = Case(number)
        random, places = case.random, case.cursors()
        read_back(case)
        for _ in range(QUERIES):
            args: dict[str, Any] = {"where": case.filter(), "orderBy": case.order()}
            size = random.choice(["first", "last"])
            limits = {size: random.randrange(8)} if random.random() < 0.7 else {}
            for word in ("after", "before"):
                if places and random.random() < 0.4:
                    limits[word] = random.choice(list(places))
            check(case, args | limits, places)
        whole = [row["place"] for row in page(case.rows, args | {"first": 50}, places)[0]]
        pages = random.randrange(1, 6)
        assert walk(case, args, pages, forward=True) == whole
        assert walk(case, args, pages, forward=False) == whole
