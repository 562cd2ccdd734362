"""Lists as columns: the same answers as row by row, and the choice between the two."""

from __future__ import annotations

import asyncio
import copy
import random
from collections import OrderedDict, namedtuple
from dataclasses import make_dataclass
from enum import Enum
from itertools import product
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import graphql
import pandas as pd
import pytest
import strawberry
from graphql import build_schema, parse

import gqlnb
from gqlnb.engine.compiler import lazy_functions
from gqlnb.result import column_batch
from tests.engine.comparison import columnar, seen

if TYPE_CHECKING:
    from collections.abc import Callable

SDL = """
type Query { rows: [Row] some: [Row!]! box: Box none: [Row] }
type Box { items: [Row!] total: Int! }
type Row {
  id: ID! text: String name: String! count: Int size: Float ok: Boolean color: Color word: Word
  raw: Json owner: Owner
}
type Owner { login: String! age: Int }
enum Color { RED GREEN }
scalar Word
scalar Json
"""
TEXTS = (
    "{ rows { id text count } }",
    "{ rows { a: id b: id __typename size ok } some { name } box { total items { color } } }",
    "{ rows { color raw owner { login age kind: __typename } } none { id } }",
    "query ($no: Boolean!) { rows { id text @skip(if: $no) } some { name } }",
    "{ some { word id } rows { ...F } } fragment F on Row { name ... on Row { count } }",
)
NAMES = ("id", "text", "name", "count", "size", "ok", "color", "word", "raw", "owner")
Named = namedtuple("Named", NAMES)
Point = make_dataclass("Point", NAMES)
Slotted = make_dataclass("Slotted", NAMES, slots=True)


class Model:
    """A class with a property in place of an attribute."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values, hidden=values["text"])
        del self.__dict__["text"]

    @property
    def text(self) -> Any:
        """The text."""
        return self.hidden


class Absent:
    """A class whose default is the value of most rows."""

    text = "as ever"

    def __init__(self, **values: Any) -> None:
        self.__dict__.update({k: v for k, v in values.items() if k != "text"})


MAKERS: dict[str, Callable[..., Any]] = {
    "dict": dict,
    "namespace": SimpleNamespace,
    "dataclass": Point,
    "slots": Slotted,
    "named tuple": Named,
    "class attribute": Absent,
    "property": Model,
    "mapping": OrderedDict,
}
PLAIN = ("dict", "namespace", "dataclass", "slots", "named tuple", "class attribute")


class Shade(Enum):
    """Values that are no name of an enum."""

    RED = 1


def method(_info: Any) -> str:
    """Answer as a method of a row does."""
    return "called"


# By field: the values that a column holds, and those that are executed row by row.
USUAL: dict[str, list[Any]] = {
    "id": ["1", "x"],
    "text": ["a", "", None],
    "name": ["n", "\ud800"],
    "count": [0, -5, 2**31 - 1, None],
    "size": [0.5, -1e308, None],
    "ok": [True, False, None],
    "color": ["RED", "GREEN", None],
    "word": ["w", 3, 0.5, True],
    "raw": ["r", 1],
}
UNUSUAL: dict[str, list[Any]] = {
    "id": [1, None, "1".join(["2"] * 9).encode(), 0.5],
    "text": [7, 0.5, True, b"b", method, ValueError("text"), [1]],
    "name": [None, method, ValueError("name"), SimpleNamespace()],
    "count": [2**31, -(2**31), -(2**31) - 1, True, 2.0, 2.5, "5", float("nan"), 10**400],
    "size": [float("nan"), float("inf"), 10**400, 3, "0.5", True],
    "ok": [1, 0.0, "true", []],
    "color": ["BLUE", 1, True, Shade.RED, [], float("nan")],
    "word": [None, (), b"w", {"a": 1}],
    "raw": [None, [1], {"a": [1]}, float("nan"), ValueError("raw")],
}


def make_rows(chance: random.Random, maker: str, unusual: int) -> list[Any]:
    """Return rows of a kind; a share of the values is not usual."""

    def make_value(name: str) -> Any:
        rare = chance.random() * 100 < unusual
        return chance.choice((UNUSUAL if rare else USUAL)[name])

    def make_row() -> Any:
        values = {name: make_value(name) for name in NAMES if name != "owner"}
        owner: Any = chance.choice(({"login": "o", "age": None}, {"login": "p", "age": 3}))
        if unusual and chance.random() < 0.2:
            owner = chance.choice((None, {"age": 3}, {"login": None}, SimpleNamespace(login="s")))
        return MAKERS[maker](**values, owner=owner)

    rows = [make_row() for _ in range(chance.randrange(1, 6))]
    if unusual and chance.random() < 0.2:
        rows[chance.randrange(len(rows))] = chance.choice((None, {}, ValueError("row"), 7))
    return rows


@pytest.fixture(scope="module")
def schema():
    """Return a schema with plain fields of each kind."""
    return build_schema(SDL)


@pytest.fixture
def batches(monkeypatch):
    """Let lists of any length be columns; return, for each list, whether it became columns."""
    found: list[bool] = []
    collect = lazy_functions.collect_columns

    def record(*given: Any) -> Any:
        batch = collect(*given)
        found.append(batch is not None)
        return batch

    monkeypatch.setattr(lazy_functions, "MIN_BATCH_ROWS", 1)
    monkeypatch.setattr(lazy_functions, "CHUNK_ROWS", 2)
    monkeypatch.setattr("gqlnb.engine.compiler.plans.HOT", 0)
    monkeypatch.setattr("gqlnb.engine.compiler.lazy_functions.collect_columns", record)
    return found


@pytest.mark.parametrize("unusual", [0, 2, 15])
@pytest.mark.parametrize("maker", MAKERS)
def test_columns_equal_rows(schema, batches, maker, unusual):
    """Data and errors are graphql-core's; plain rows of usual values become columns."""
    chance = random.Random(f"{maker} {unusual}")
    for number in range(60):
        text = TEXTS[number % len(TEXTS)]
        if number % 20 < len(TEXTS):
            document = parse(text)  # a new plan, as one that met other rows no longer tries
        made = [make_rows(chance, maker, unusual) for _ in range(3)]
        root = {"rows": made[0], "some": tuple(made[1]), "box": {"items": made[2], "total": 3}}
        options = {"root_value": root, "variable_values": {"no": number % 2 == 0}}
        want = seen(graphql.execute, schema, document, options)
        assert seen(columnar, schema, document, options) == want, text
    assert any(batches) == (maker != "mapping")
    if not unusual and maker in PLAIN:
        assert batches.count(True) > 60


@pytest.mark.parametrize(
    "row",
    [
        None,
        ValueError("row"),
        5,
        (1, 2),
        method,
        Shade,
        {"owner": None},
        {"owner": ValueError("owner")},
        {"owner": 5},
        {"owner": method},
        {"owner": Absent},
        SimpleNamespace(owner=None),
    ],
)
def test_rows_are_looked_at_where_nothing_of_them_is_selected(batches, row):
    """Null and exceptions do not become objects, whatever is selected from them."""
    texts = (
        "__typename",
        "... on Other { name }",
        "name @include(if: false)",
        "... @skip(if: true) { name }",
        "owner { __typename }",
        "kind: __typename owner { ... on Other { name } }",
    )
    for listed, selected in product(("[Row]", "[Row!]"), texts):
        built = build_schema(
            f"""type Query {{ rows: {listed} }} type Row {{ name: String owner: Owner }}
            type Owner {{ name: String }} type Other {{ name: String }}"""
        )
        document = parse(f"{{ rows {{ {selected} }} }}")
        for rows in ([row] * 3, [{"owner": {}}, row, row], [{}] * 3):
            options = {"root_value": {"rows": rows}}
            want = seen(graphql.execute, built, document, options)
            for _ in range(2):
                assert seen(columnar, built, document, options) == want
    assert batches


# -- the choice, in a schema whose lists are long enough

SHOP = """
type Query { books: [Book!]! shelf: Shelf broken: String later: [Book] }
type Shelf { label: String items: [Book!]! }
type Book { title: String! pages: Int author: Author! born: Date }
type Author { name: String }
scalar Date
"""
TEXT = "{ books { title pages born author { name } } }"
SIZE = column_batch.MIN_BATCH_ROWS


class Book:
    """A row."""

    def __init__(self, number: int) -> None:
        self.title, self.pages = f"book {number}", number if number % 3 else None
        self.author = SimpleNamespace(name=f"author {number % 7}")
        self.born = "2024-02-29"


class Shop:
    """A schema with its rows, which counts the calls of its resolvers."""

    def __init__(self) -> None:
        self.calls = 0
        self.books = [Book(number) for number in range(SIZE)]
        resolvers = {
            "books": self.list_books,
            "shelf": lambda *_: {"label": "top", "items": self.books},
            "broken": self.fail,
            "later": self.list_later,
        }
        self.schema = gqlnb.Schema(SHOP, {"Query": resolvers})

    def list_books(self, *_: object) -> list[Book]:
        """Return the books."""
        self.calls += 1
        return self.books

    async def list_later(self, *_: object) -> list[Book]:
        """Return the books a turn of the loop later."""
        await asyncio.sleep(0)
        return self.books

    def fail(self, *_: object) -> str:
        """Fail."""
        msg = "no way"
        raise ValueError(msg)


@pytest.fixture
def shop():
    """Return a schema with books."""
    return Shop()


def has_columns(result: gqlnb.Result) -> bool:
    """Return whether a result has columns in place of data."""
    return "data" not in vars(result)


def read_both(run: Callable[[], gqlnb.Result]) -> tuple[gqlnb.Result, gqlnb.Result]:
    """Return a result with data, and one with columns; their frames are equal."""
    rows = run()
    want = rows.frame()
    columns = run()
    assert not has_columns(rows)
    assert has_columns(columns)
    pd.testing.assert_frame_equal(columns.frame(), want)
    assert columns.frame().attrs == want.attrs
    assert columns.to_arrow().equals(rows.to_arrow())
    assert has_columns(columns)
    return rows, columns


def test_operations_whose_frames_are_read_are_executed_into_columns(shop):
    """The resolver runs once, at once; a change of its rows afterwards changes nothing."""
    rows, columns = read_both(lambda: shop.schema.execute(TEXT))
    assert shop.calls == 2
    shop.books[0].title = "another"
    assert columns.data == rows.data
    assert columns["books"][0]["title"] == "book 0"
    assert shop.calls == 2


def test_operations_whose_data_are_read_are_executed_into_data(shop):
    """One access to the data decides."""
    _, columns = read_both(lambda: shop.schema.execute(TEXT))
    assert len(columns.data["books"]) == SIZE
    result = shop.schema.execute(TEXT)
    assert not has_columns(result)
    result.frame()
    assert not has_columns(shop.schema.execute(TEXT))


def test_frames_show_changes_of_data(shop):
    """As without columns: once the data were read, frames are read from them."""
    _, columns = read_both(lambda: shop.schema.execute(TEXT))
    columns.data["books"][0]["title"] = "changed"
    assert columns.frame()["title"][0] == "changed"


def test_short_lists_are_data(shop):
    """Columns do not pay for them."""
    del shop.books[-1]
    shop.schema.execute(TEXT).frame()
    assert not has_columns(shop.schema.execute(TEXT))


def test_lists_in_objects_and_values_beside_them(shop):
    """The values beside a list stand in the attributes of its frame."""
    text = "{ shelf { label items { title __typename } } }"
    _, columns = read_both(lambda: shop.schema.execute(text))
    assert columns.frame().attrs["beside"] == {"shelf.label": "top"}
    assert columns["shelf"]["items"][5] == {"title": "book 5", "__typename": "Book"}


def test_errors_beside_columns_are_known_at_once(shop):
    """The frame is marked as partial."""
    text = "{ broken books { title } }"
    with pytest.warns(UserWarning, match="no way|partial"):
        _, columns = read_both(lambda: shop.schema.execute(text))
    assert [error["message"] for error in columns.errors] == ["no way"]
    assert isinstance(columns.causes[0], ValueError)
    assert columns.frame().attrs["partial"]
    assert columns.data["broken"] is None


def test_a_null_that_propagates_leaves_no_data(shop):
    """A row without a title makes the answer null, as row by row."""
    shop.schema.execute(TEXT).frame()
    shop.books[-1].title = None
    result = shop.schema.execute(TEXT)
    assert result.data is None
    (error,) = result.errors
    assert error["path"] == ["books", SIZE - 1, "title"]


def test_awaited_lists_become_columns(shop):
    """Of asynchronous resolvers too, with both methods."""
    text = "{ later { title pages } }"
    read_both(lambda: shop.schema.execute(text))
    assert has_columns(asyncio.run(shop.schema.aexecute(text)))


def test_clients_get_columns(shop):
    """A client of the schema, as in a cell; the members of its response are built when read."""
    with gqlnb.Client(shop.schema) as client:
        rows, columns = read_both(lambda: client.execute(TEXT))
        assert columns.response.members["data"] == rows.data
        assert columns.data == rows.data
        assert dict(columns.response.members) == rows.response.members


@pytest.mark.parametrize("change", [copy.copy, copy.deepcopy])
def test_copies_hold_data(shop, change):
    """A copy of a result, and of its response."""
    with gqlnb.Client(shop.schema) as client:
        rows, columns = read_both(lambda: client.execute(TEXT))
        changed = change(columns)
        assert changed.data == rows.data
        assert changed.response.members["data"] == rows.data


def test_tables_previews_and_exports(shop):
    """Whatever reads a result takes columns."""
    rows, columns = read_both(lambda: shop.schema.execute(TEXT))
    assert repr(columns) == repr(rows)
    assert columns._repr_mimebundle_() == rows._repr_mimebundle_()
    pd.testing.assert_frame_equal(columns.frames["books"], rows.frames["books"])
    assert columns.to_polars().equals(rows.to_polars())
    assert len(columns) == SIZE


def test_a_value_that_does_not_fit_is_located(shop):
    """The error names the same column, row and path."""
    other = Shop()
    read_both(lambda: shop.schema.execute(TEXT))
    messages = []
    for each in (shop, other):
        each.books[7].born = "soon"
        result = each.schema.execute(TEXT)
        assert has_columns(result) == (each is shop)
        with pytest.raises(gqlnb.FrameError) as caught:
            result.frame()
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    assert "books" in messages[0]


def test_limits_count_the_fields_of_columns(shop):
    """An execution within limits is row by row."""
    shop.schema.execute(TEXT).frame()
    result = shop.schema.execute(TEXT, limits=gqlnb.Limits(fields=100))
    assert result.data is None
    assert "fields" in result.errors[0]["message"]


def test_served_frames_become_columns():
    """A DataFrame, served and read again."""
    frame = pd.DataFrame({"name": [f"n{n}" for n in range(SIZE)], "size": range(SIZE)})
    schema = gqlnb.Schema.from_frame(rows=frame, page_sizes=(SIZE, SIZE))
    _, columns = read_both(lambda: schema.execute("{ rows { totalCount nodes { name size } } }"))
    assert columns.frame().attrs["total_count"] == SIZE


def test_rows_of_strawberry_become_columns():
    """Its fields without resolvers only read attributes, by their Python names."""
    names = {"page_count": int, "title": str}
    kind = strawberry.type(type("Book", (), {"__annotations__": names}))
    rows = [kind(title=f"book {number}", page_count=number) for number in range(SIZE)]
    books = strawberry.field(resolver=lambda: rows, graphql_type=list[kind])
    query = strawberry.type(type("Query", (), {"books": books}))
    schema = gqlnb.Schema.adopt(strawberry.Schema(query))
    _, columns = read_both(lambda: schema.execute("{ books { title pageCount } }"))
    assert columns.data["books"][3] == {"title": "book 3", "pageCount": 3}
