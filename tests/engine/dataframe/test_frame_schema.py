"""Frames as a schema: names, types, filters, pages, relations, and what is refused."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from uuid import UUID

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from gqlnb import Client, QueryError, Schema, SchemaError, serve
from gqlnb.engine.dataframe.arrow_column import build_field_names, build_type_name
from gqlnb.engine.dataframe.frame_table import FrameTable


@pytest.fixture
def repositories():
    """Return a few repositories, some values missing."""
    return pd.DataFrame(
        {
            "name": ["pandas", "polars", "numpy", "arrow"],
            "owner": ["pandas-dev", "pola-rs", "numpy", None],
            "stars": [43_000, 30_000, 28_000, 14_000],
            "score": [1.5, np.nan, np.inf, -2.0],
        }
    )


@pytest.fixture
def owners():
    """Return their owners, by login, and one that has none."""
    made = pd.DataFrame(
        {"login": ["numpy", "pandas-dev", "pola-rs", "idle"], "people": [3, 9, 7, 1]}
    )
    return made.set_index("login")


def rows(schema, text, **variables):
    """Return the nodes of the one connection that a query asks for."""
    result = schema.execute(text, variables)
    assert result.errors == ()
    (found,) = result.data.values()
    return found["nodes"]


# -- names


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("repositories", "Repository"),
        ("star_counts", "StarCount"),
        ("branches", "Branch"),
        ("boxes", "Box"),
        ("classes", "Class"),
        ("houses", "House"),
        ("data", "DataRow"),
        ("people", "PeopleRow"),
        ("status", "StatusRow"),
    ],
)
def test_a_type_is_named_by_a_simple_rule(name, kind):
    """The singular of a plural in s, in PascalCase; else the name and Row."""
    assert build_type_name(name) == kind


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("stars", "stars"),
        ("owner.login", "owner_login"),
        ("Stars (2024)", "Stars_2024"),
        (" % of all ", "of_all"),
        ("größe", "grosse"),
        ("Łódź", "Lodz"),
        (2024, "_2024"),
        (("a", 1), "a_1"),
        ("__typename", "_typename"),
        ("null", "null_"),
        ("x\u202e\n\x00y", "x_y"),
    ],
)
def test_a_field_is_named_after_its_column(label, name):
    """A valid label is unchanged; invalid characters become underscores."""
    assert build_field_names([label], "rows") == [name]


def test_labels_that_map_to_the_same_field_are_refused():
    """The error names both labels and suggests a fix."""
    with pytest.raises(SchemaError, match=r"'a.b' and 'a b' of frame 'rows'.*'a_b'.*df.rename"):
        Schema.from_frame(rows=pd.DataFrame({"a.b": [1], "a b": [2]}))
    with pytest.raises(SchemaError, match=r"'x' and 'x'.*df.columns = "):
        Schema.from_frame(rows=pd.DataFrame([[1, 2]], columns=["x", "x"]))
    with pytest.raises(SchemaError, match="no letter from a to z"):
        Schema.from_frame(rows=pd.DataFrame({"%": [1]}))


def test_an_invalid_label_is_given_in_the_field_description():
    """So that the column can be found by its original label."""
    label = 'a """ \\ \u202e<script>'
    schema = Schema.from_frame(rows=pd.DataFrame({label: [1]}))
    (field,) = schema.graphql.type_map["Row"].fields.values()
    assert field.description == 'Column a """ \\ <script>.'


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"a-b": pd.DataFrame({"x": [1]})}, "'a-b' can't be the name of a frame"),
        ({}, "There is no frame"),
        ({"rows": [1, 2]}, r"'rows' is a list, .* must be a table: a DataFrame.*pd.DataFrame.rows"),
        ({"rows": pd.Series([1, 2])}, r"'rows' is a Series.*Give rows.to_frame\(\)"),
        ({"rows": "rows.csv"}, "'rows' is a str, .*can read.$"),
        ({"rows": None}, "'rows' is a NoneType, .*can read.$"),
        ({"rows": pd.DataFrame(index=[1])}, "has no columns"),
        (pd.DataFrame({"x": [1]}), "A frame needs a name"),
    ],
)
def test_arguments_that_are_not_named_frames_are_refused(given, what):
    """The error describes valid arguments."""
    with pytest.raises(SchemaError, match=what):
        Schema.from_frame(given)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"types": {"row": "X"}}, "types= names 'row'.*Did you mean 'rows'"),
        ({"types": {"rows": "a b"}}, "'a b' can't be the name of a type"),
        ({"types": {"rows": "PageInfo"}}, "'PageInfo', and there is one already"),
        ({"types": {"rows": "Rows"}}, "would both be field 'rows'"),
        ({"keys": {"rows": "nam"}}, "no column 'nam'.*Did you mean 'name'"),
        ({"keys": {"rows": "name"}}, "'name' of frame 'rows' is no key"),
        ({"keys": {"no": "name"}}, "keys= names 'no'"),
        ({"relations": {"rows.id": "others.id"}}, "relations= names 'others'"),
        ({"relations": {"rows.id": "rows.name"}}, "one is whole number, the other String"),
        ({"relations": {"rows.name": "rows.name"}}, "a value of the latter occurs twice"),
        ({"page_sizes": (0, 10)}, "page_sizes"),
    ],
)
def test_an_option_for_an_unknown_frame_is_refused(options, what):
    """The error suggests a similar name."""
    frame = pd.DataFrame({"id": [1, 2], "name": ["a", "a"]})
    with pytest.raises(SchemaError, match=what):
        Schema.from_frame(rows=frame, **options)


def test_options_may_be_names_of_frames():
    """A mapping takes any name."""
    schema = Schema.from_frame({"types": pd.DataFrame({"x": [1]})}, types={"types": "Kind"})
    assert rows(schema, "{ types { nodes { x __typename } } }") == [{"x": 1, "__typename": "Kind"}]


# -- types

TYPES = {
    "Int!": [pd.Series([1, 2]), pd.Series([1, 2], dtype="int8"), pd.Series([1, 2], dtype="uint16"),
        pd.Series([], dtype="int64")],
    "Int": [pd.Series([1, None], dtype="Int64"), pd.Series([1, None], dtype=object)],
    "BigInt!": [pd.Series([1, 2**31]), pd.Series([2**64 - 1], dtype="uint64")],
    "BigInt": [pd.Series([10**30, None], dtype=object)],
    "Float": [pd.Series([1.5, None]), pd.Series([1.5], dtype="float32"),
        pd.Series([1.5, None], dtype="Float64")],
    "Boolean!": [pd.Series([True, False])],
    "Boolean": [pd.Series([True, None], dtype="boolean"), pd.Series([True, None], dtype=object)],
    "String": [pd.Series(["a", None]), pd.Series(["a", None], dtype="string"),
        pd.Series([None, None], dtype=object), pd.Series(pd.Categorical(["two words"])),
        pd.Series(pd.Categorical([None], categories=[]))],
    "RowX": [pd.Series(pd.Categorical(["A", None]))],
    "LocalDateTime": [pd.Series(pd.to_datetime(["2024-01-01", None])),
        pd.Series([None, None], dtype="datetime64[us]"),
        pd.Series([dt.datetime(2024, 1, 1), None], dtype=object),
        pd.Series([pd.Timestamp(5), None], dtype=object),
        pd.Series([dt.datetime(2024, 1, 1)], dtype=pd.ArrowDtype(pa.timestamp("ms")))],
    "DateTime": [pd.Series(pd.to_datetime(["2024-01-01", None], utc=True)),
        pd.Series([pd.Timestamp(5, tz="Europe/Berlin"), None], dtype=object),
        pd.Series([dt.datetime(2024, 1, 1, tzinfo=dt.UTC)], dtype=object)],
    "Date": [pd.Series([dt.date(2024, 1, 1), None])],
    "Time": [pd.Series([dt.time(1, 2), None])],
    "Duration": [pd.Series(pd.to_timedelta(["1s", None]))],
    "Decimal": [pd.Series([Decimal("1.5"), None]), pd.Series([Decimal(2), None]),
        pd.Series([Decimal(2), 3]), pd.Series([Decimal("NaN"), Decimal("Infinity")]),
        pd.Series([Decimal(2)], dtype=pd.ArrowDtype(pa.decimal128(5, 0))),
        pd.Series([Decimal(200)], dtype=pd.ArrowDtype(pa.decimal128(5, -2)))],
    "UUID": [pd.Series([UUID(int=1), None])],
    "JSON": [pd.Series([[1], None]), pd.Series([{"a": 1}]), pd.Series(["a", 1], dtype=object)],
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "column"), [(kind, column) for kind, many in TYPES.items() for column in many]
)
def test_a_dtype_gives_a_type(kind, column):
    """Also where there is no value; non-null where the dtype has no null."""
    schema = Schema.from_frame(rows=pd.DataFrame({"x": column}))
    assert str(schema.graphql.type_map["Row"].fields["x"].type) == kind


@pytest.mark.parametrize(
    ("column", "shown"),
    [
        (pd.Series([2**63 - 1, -(2**63)]), [2**63 - 1, -(2**63)]),
        (pd.Series([10**37, None], dtype=object), [10**37, None]),
        (pd.Series([1.5, np.inf, -np.inf, np.nan]), [1.5, None, None, None]),
        (pd.Series(pd.Categorical(["b", None], ["b", "a"])), ["b", None]),
        (pd.Series(pd.Categorical([3, None])), [3, None]),
        (pd.Series(pd.to_datetime(["2024-01-01T01:00:00+02:00"]), dtype="datetime64[ns, UTC]"),
         ["2023-12-31T23:00:00Z"]),
        (pd.Series([1_700_000_000_123_456_789, None], dtype="Int64").astype("datetime64[ns]"),
         ["2023-11-14T22:13:20.123456789", None]),
        (pd.Series([dt.date(1, 1, 1), dt.date(9999, 12, 31)]), ["0001-01-01", "9999-12-31"]),
        (pd.Series([dt.time(23, 59, 59, 500_000)]), ["23:59:59.5"]),
        (pd.Series(pd.to_timedelta([90, -0.25], "s")), ["PT90S", "-PT0.25S"]),
        (pd.Series([Decimal("1E+2"), Decimal("0.10")]), ["100.00", "0.10"]),
        (pd.Series([Decimal(100), Decimal("Infinity")]), ["100", None]),
        (pd.Series([Decimal(200)], dtype=pd.ArrowDtype(pa.decimal128(5, -2))), ["200"]),
        (pd.Series([pd.Timestamp(5), None], dtype=object), ["1970-01-01T00:00:00.000000005", None]),
        (pd.Series([pd.Timedelta(-5), None], dtype=object), ["-PT0.000000005S", None]),
        (pd.Series(pd.arrays.SparseArray([0, 0, 7])), [0, 0, 7]),
        (pd.cut(pd.Series([1, 5]), [0, 2, 6]), ["(0, 2]", "(2, 6]"]),
        (pd.Series(pd.Categorical([1, "a"])), [1, "a"]),
        (pd.Series([[pd.Timedelta("1s"), pd.NaT]]), [["PT1S", None]]),
        (pd.Series([UUID(int=1)]), ["00000000-0000-0000-0000-000000000001"]),
        (pd.Series([{"a": np.nan, "b": [dt.date(2024, 1, 1)]}, [np.int64(1)], None]),
         [{"a": None, "b": ["2024-01-01"]}, [1], None]),
        (pd.Series([np.array([1, 2]), None]), [[1, 2], None]),
    ],
)  # fmt: skip
def test_values_are_serialised_exactly(column, shown):
    """All digits are preserved, and values without a JSON form are null."""
    schema = Schema.from_frame(rows=pd.DataFrame({"x": column}))
    assert [row["x"] for row in rows(schema, "{ rows { nodes { x } } }")] == shown


READ_BACK = [
    pd.Series([1, None, -3], dtype="Int64"),
    pd.Series([2**63 - 1, None], dtype="Int64"),
    pd.Series([2**64 - 1, 0], dtype="uint64"),
    pd.Series([10**30, None, -1], dtype=object),
    pd.Series([0.1, None], dtype="Float64"),
    pd.Series([True, None], dtype="boolean"),
    pd.Series(["a", None, "ß\0"], dtype="string"),
    pd.Series(pd.Categorical(["b", None, "a"], ["b", "a"])),
    pd.Series([Decimal("1.50"), Decimal(2), None]),
    pd.Series([Decimal(2), None]),
    pd.Series(pd.to_timedelta(["-1 days", "1us", None]).astype("timedelta64[us]")),
    pd.Series(pd.to_timedelta([1, None], "ns")),
    pd.Series(pd.to_datetime(["2024-01-01T00:00:00.000001Z", None]).astype("datetime64[us, UTC]")),
    pd.Series(pd.to_datetime([1_700_000_000_123_456_789, None], utc=True)),
    pd.Series(pd.to_datetime(["2024-01-01T00:00:00.000001", None]).astype("datetime64[us]")),
    pd.Series(pd.to_datetime(["9999-12-31T23:59:59.999999"]).astype("datetime64[us]")),
    pd.Series(pd.to_datetime([1_700_000_000_123_456_789, None])),
    pd.Series([None, None], dtype="datetime64[us]"),
    pd.Series([dt.time(1, 2, 3, 4), None]),
    pd.Series([{"a": [1, None]}, None, [1.5]]),
]


@pytest.mark.parametrize("column", READ_BACK, ids=lambda it: f"{it.dtype}-{it.iloc[0]}")
def test_a_column_is_read_back_exactly(column):
    """A page becomes the values of the frame again, in process and served."""
    schema = Schema.from_frame(rows=pd.DataFrame({"x": column}))
    with serve(schema, port=0) as server, Client(server.url, schema=schema) as client:
        for asked in (schema, client):
            found = asked.execute("{ rows { nodes { x } } }").frame()["x"]
            assert found.isna().tolist() == column.isna().tolist()
            assert found.dropna().tolist() == column.dropna().tolist()
            if column.dtype.kind in "Mm":
                assert found.dtype == column.dtype


def test_infinite_values_are_null_and_mentioned_in_the_description():
    """Responses contain null for them."""
    schema = Schema.from_frame(rows=pd.DataFrame({"x": [np.inf, np.nan, 1]}))
    assert "Infinite values (1)" in schema.graphql.type_map["Row"].fields["x"].description


@pytest.mark.parametrize(
    ("column", "what"),
    [
        (pd.Series([b"a"]), "binary"),
        (pd.Series([1 + 2j]), "complex|Unsupported"),
        (pd.Series(pd.period_range("2024", periods=1)), r"periods.*to_timestamp"),
        (pd.Series(pd.period_range("2024", periods=1), dtype=object), r"periods.*astype"),
        (pd.Series(pd.interval_range(0, 2)), r"intervals.*left"),
        (pd.Series([dt.time(1, tzinfo=dt.UTC)]), "time zone, which Time lacks"),
        (
            pd.Series([dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 1, tzinfo=dt.UTC)]),
            "moments with and without a time zone",
        ),
        (pd.Series([Decimal("1" * 80)]), "76"),
        (pd.Series([object()]), "Row 0 holds a object that has no JSON form"),
        (pd.Series(["ok", "\ud800"], dtype=object), "surrogates"),
        (pd.Series([10**50], dtype=object), "precision|digits"),
        (pd.Series([dt.date(2024, 1, 1), dt.datetime(2024, 1, 1, 5)], dtype=object), "mixes dates"),
    ],
)
def test_a_column_without_a_type_is_refused(column, what):
    """The error names frame and column."""
    with pytest.raises(
        SchemaError, match=f"Column 'x' of frame 'rows' can't be served: .*({what})"
    ):
        Schema.from_frame(rows=pd.DataFrame({"x": column}))


def test_other_tables_are_read_through_arrow():
    """A pyarrow table, and by the same road Polars and DuckDB."""
    table = pa.table({"x": pa.array([1, None], pa.int32()), "y": [["a"], []]})
    schema = Schema.from_frame(rows=pa.concat_tables([table, table]))
    assert rows(schema, "{ rows(where: {x: {isNull: false}}) { nodes { x y } } }") == [
        {"x": 1, "y": ["a"]},
        {"x": 1, "y": ["a"]},
    ]


@pytest.mark.skipif(not hasattr(pa, "json_"), reason="pyarrow has these types from 19 on")
def test_run_end_encoded_and_extension_types_map_to_their_value_type():
    """Run-end encoded columns, and Arrow's own extension types."""
    runs = pa.RunEndEncodedArray.from_arrays([2, 3], ["a", None])
    uuids = pa.array([UUID(int=1).bytes, None, None], pa.uuid())
    table = pa.table(
        {"run": runs, "uuid": uuids, "json": pa.array(["[1]", None, None], pa.json_())}
    )
    schema = Schema.from_frame(rows=table)
    kinds = schema.graphql.type_map["Row"].fields
    assert [str(kinds[name].type) for name in table.column_names] == ["String", "UUID", "JSON"]
    found = rows(schema, '{ rows(where: {run: {eq: "a"}}) { nodes { run uuid json } } }')
    assert found == [
        {"run": "a", "uuid": str(UUID(int=1)), "json": [1]},
        {"run": "a", "uuid": None, "json": None},
    ]


def test_a_polars_frame_is_served_as_it_is():
    """Its enums are enums, its dates dates."""
    polars = pytest.importorskip("polars")
    kinds = polars.Series(["b", "a", None], dtype=polars.Enum(["b", "a"]))
    frame = polars.DataFrame({"kind": kinds, "day": [dt.date(2024, 1, 1), None, None]})
    found = rows(
        Schema.from_frame(rows=frame),
        "{ rows(orderBy: {field: kind, direction: DESC}) { nodes { kind day } } }",
    )
    assert found == [
        {"kind": "a", "day": None},
        {"kind": "b", "day": "2024-01-01"},
        {"kind": None, "day": None},
    ]


# -- filters


@pytest.mark.parametrize(
    ("where", "what"),
    [
        (
            "{stars: {gt: null}}",
            "'gt' can't be null. To ask for rows without a value, use isNull: true",
        ),
        ("{stars: {in: null}}", "'in' can't be null"),
        ("{stars: {isNull: null}}", "'isNull' can't be null"),
        ("{stars: null}", "'stars' can't be null"),
        ("{and: null}", "'and' can't be null"),
    ],
)
def test_a_null_filter_is_an_error(repositories, where, what):
    """A forgotten variable does not become a filter that matches every row."""
    schema = Schema.from_frame(repositories=repositories)
    result = schema.execute(f"{{ repositories(where: {where}) {{ totalCount }} }}")
    assert result.data == {"repositories": None}
    assert what in result.errors[0]["message"]


def test_python_values_are_variables():
    """Dates, moments and decimals bind as they do everywhere."""
    frame = pd.DataFrame(
        {
            "day": [dt.date(2024, 1, 1), dt.date(2024, 6, 1)],
            "at": pd.to_datetime(["2024-01-01T12:00", "2024-06-01T12:00"], utc=True),
            "local": pd.to_datetime(["2024-01-01T12:00", "2024-06-01T12:00"]),
            "price": [Decimal("0.10"), Decimal("0.20")],
        }
    )
    schema = Schema.from_frame(rows=frame)
    text = """query ($day: Date, $at: DateTime, $local: LocalDateTime, $price: Decimal) {
      rows(where: {day: {gte: $day}, at: {gt: $at}, local: {gt: $local}, price: {eq: $price}}) {
        nodes { price }
      }
    }"""
    variables = {
        "day": dt.date(2024, 6, 1),
        "at": pd.Timestamp("2024-06-01T13:00", tz="Europe/Berlin"),
        "local": pd.Timestamp("2024-06-01T11:59"),
        "price": Decimal("0.2"),
    }
    assert rows(schema, text, **variables) == [{"price": "0.20"}]


@pytest.mark.parametrize(
    ("column", "wanted"),
    [
        (pd.Series(pd.to_datetime(["2024-01-01"])), "yesterday"),
        (pd.Series(pd.to_datetime(["2024-01-01"])), "2024-01-01T00:00:00Z"),
        (pd.Series([dt.date(2024, 1, 1)]), "2024-1-1"),
        (pd.Series([dt.time(1)]), "25:00:00"),
        (pd.Series(pd.to_timedelta(["1s"])), "PT"),
        (pd.Series([Decimal(1) / 4]), "one"),
        (pd.Series([Decimal(1) / 4]), "NaN"),
        (pd.Series([2**40]), "1.5"),
        (pd.Series([2**40]), 10**40),
        (pd.Series([UUID(int=1)]), "xyz"),
    ],
)
def test_an_invalid_filter_value_is_refused_before_execution(column, wanted):
    """The error describes valid values."""
    schema = Schema.from_frame(rows=pd.DataFrame({"x": column}))
    text = "query ($where: RowWhere) { rows(where: $where) { totalCount } }"
    with pytest.raises(QueryError, match=r"cannot represent .*: write "):
        schema.execute(text, {"where": {"x": {"eq": wanted}}})


# -- orders and pages


def test_ordered_categories_compare_in_category_order():
    """Not alphabetically; unknown values equal no row and are neither less nor greater."""
    ages = pd.Categorical(["18-25", "65+", None, "5-10"], ["5-10", "18-25", "65+"], ordered=True)
    schema = Schema.from_frame(rows=pd.DataFrame({"age": ages}))

    def found(where="{}"):
        text = f"{{ rows(orderBy: {{field: age}}, where: {where}) {{ nodes {{ age }} }} }}"
        return [row["age"] for row in rows(schema, text)]

    assert found() == ["5-10", "18-25", "65+", None]
    assert found('{age: {gte: "18-25"}}') == ["18-25", "65+"]
    assert found('{age: {contains: "5"}}') == ["5-10", "18-25", "65+"]
    assert found('{age: {startsWith: "6"}}') == ["65+"]
    assert found('{age: {in: ["65+", "old"]}}') == ["65+"]
    assert found('{age: {eq: "old"}}') == []
    assert found('{age: {neq: "old"}}') == ["5-10", "18-25", "65+", None]
    result = schema.execute('{ rows(where: {age: {gt: "old"}}) { totalCount } }')
    assert result.errors[0]["message"].startswith("'old' is not a category")


def test_many_columns_order_many_rows():
    """Ranks that together have more than 64 bits are made dense first."""
    count = 3000
    random = np.random.default_rng(7)
    frame = pd.DataFrame({name: random.permutation(count) for name in "abcdefg"})
    frame["a"] //= 500
    frame["b"] //= 300
    by = [{"field": name, "direction": "DESC"} for name in "abcdefg"]
    text = "query ($by: [RowOrder!]) { rows(orderBy: $by, first: 1000) { nodes { a b g } } }"
    found = rows(Schema.from_frame(rows=frame), text, by=by)
    wanted = frame.sort_values(list("abcdefg"), ascending=False).head(1000)[["a", "b", "g"]]
    assert found == wanted.to_dict("records")


def test_a_cursor_is_valid_with_any_filter(repositories):
    """The next page follows the sort order even if the filter excludes the cursor's row."""
    schema = Schema.from_frame(repositories=repositories)
    text = """query ($after: String) {
      repositories(where: {owner: {contains: "p"}}, orderBy: {field: stars}, after: $after) {
        nodes { name }
      }
    }"""
    first = schema.execute("{ repositories(last: 1) { pageInfo { endCursor } } }")
    cursor = first.data["repositories"]["pageInfo"]["endCursor"]  # arrow, with the fewest stars
    assert [row["name"] for row in rows(schema, text, after=cursor)] == [
        "numpy",
        "polars",
        "pandas",
    ]


def test_cursors_are_equal_in_every_schema_of_the_same_rows(repositories):
    """A cursor remains valid after the notebook is restarted."""
    text = "{ repositories { edges { cursor } } }"
    one, two = (Schema.from_frame(repositories=repositories.copy()).execute(text) for _ in "ab")
    assert one.data == two.data


@pytest.mark.parametrize(
    ("args", "what"),
    [
        ('after: "nonsense"', "'nonsense' is not a cursor of 'repositories'"),
        ('before: "cmVwb3NpdG9yaWVzOjk5OjQ="', "is not a cursor"),
        ('after: "b3RoZXJzOjA6NA=="', "is not a cursor"),
        ('after: "\\u202eé"', "is not a cursor"),
        ("first: -1", "'first' of 'repositories' is 0 to 1,000; got -1"),
        ("last: 1001", "'last' of 'repositories' is 0 to 1,000; got 1,001"),
        ("first: 1, last: 1", "first or last, not both"),
    ],
)
def test_an_invalid_argument_is_a_field_error(repositories, args, what):
    """The message contains the value; other fields are resolved."""
    schema = Schema.from_frame(repositories=repositories)
    result = schema.execute(f"{{ repositories({args}) {{ totalCount }} more: __typename }}")
    assert result.data == {"repositories": None, "more": "Query"}
    assert what in result.errors[0]["message"]
    assert result.errors[0]["path"] == ["repositories"]


def test_fragments_aliases_nodes_and_edges_select_columns(repositories):
    """Every form of selection returns the column."""
    schema = Schema.from_frame(repositories=repositories)
    text = """
    query ($no: Boolean = false) {
      a: repositories(first: 1) { ...C totalCount @skip(if: true) }
      b: repositories(last: 1) { edges { node { n: name ... on Repository { score } } } }
      c: repositories { edges { cursor @include(if: $no) } nodes { stars @include(if: $no) } }
    }
    fragment C on RepositoryConnection { nodes { ...R } edges { node { owner } } }
    fragment R on Repository { name stars __typename }
    """
    data = schema.execute(text).data
    row = {"name": "pandas", "stars": 43_000, "__typename": "Repository"}
    assert data["a"] == {"nodes": [row], "edges": [{"node": {"owner": "pandas-dev"}}]}
    assert data["b"] == {"edges": [{"node": {"n": "arrow", "score": -2.0}}]}
    assert data["c"] == {"edges": [{}] * 4, "nodes": [{}] * 4}


# -- keys and relations


def test_a_row_is_looked_up_by_its_key(owners):
    """By the named index, by a column `id`, or by the one that was named."""
    text = '{ owner(login: "pola-rs") { people } }'
    assert Schema.from_frame(owners=owners).execute(text).data == {"owner": {"people": 7}}
    assert Schema.from_frame(owners=owners.reset_index(), keys={"owners": "login"}).execute(
        text
    ).data == {"owner": {"people": 7}}
    numbered = Schema.from_frame(rows=pd.DataFrame({"id": [5, 7], "x": ["a", "b"]}))
    assert numbered.execute("{ row(id: 7) { x } }").data == {"row": {"x": "b"}}
    assert numbered.execute("{ row(id: 8) { x } }").data == {"row": None}


def test_non_unique_columns_get_no_lookup_field():
    """A column `id` with a repeated value, and an index of two levels."""
    twice = pd.DataFrame({"id": [5, 5]})
    assert list(Schema.from_frame(rows=twice).graphql.query_type.fields) == ["rows"]
    levels = pd.DataFrame({"a": [1], "b": [2], "x": [3]}).set_index(["a", "b"])
    schema = Schema.from_frame(rows=levels)
    assert list(schema.graphql.query_type.fields) == ["rows"]
    assert rows(schema, "{ rows { nodes { a b x } } }") == [{"a": 1, "b": 2, "x": 3}]


@pytest.fixture
def related(repositories, owners):
    """Return a schema over both frames, related."""
    return Schema.from_frame(
        repositories=repositories, owners=owners, relations={"repositories.owner": "owners.login"}
    )


def test_a_relation_has_a_field_in_both_directions(related):
    """The field of the column is the row, which has a connection of referring rows."""
    text = """{
      repositories(where: {owner: {neq: "numpy"}}) {
        nodes { name owner { login people repositories { totalCount nodes { name } } } }
      }
    }"""
    found = rows(related, text)
    assert found[1] == {
        "name": "polars",
        "owner": {
            "login": "pola-rs",
            "people": 7,
            "repositories": {"totalCount": 1, "nodes": [{"name": "polars"}]},
        },
    }
    assert found[2] == {"name": "arrow", "owner": None}


def test_a_connection_of_a_row_takes_the_same_arguments():
    """Filter, order and pages apply to the rows that refer to it."""
    frame = pd.DataFrame({"id": range(6), "parent": [None, 0, 0, 1, 0, 9], "x": list("abcdef")})
    frame["parent"] = frame["parent"].astype("Int8")
    schema = Schema.from_frame(rows=frame, relations={"rows.parent": "rows.id"})
    text = """{ row(id: 0) { rows(
      where: {x: {neq: "c"}}, orderBy: {field: id, direction: DESC}, first: 1
    ) { totalCount pageInfo { hasNextPage } nodes { x parent { x parent { x } } } } } }"""
    assert schema.execute(text).data["row"]["rows"] == {
        "totalCount": 2,
        "pageInfo": {"hasNextPage": True},
        "nodes": [{"x": "e", "parent": {"x": "a", "parent": None}}],
    }
    orphans = "{ rows(last: 1) { nodes { parent { id } rows { totalCount } } } }"
    assert rows(schema, orphans) == [{"parent": None, "rows": {"totalCount": 0}}]


def test_relations_match_categories_text_and_numbers_of_other_widths():
    """Columns are compared by value, not by dtype."""
    left = pd.DataFrame({"x": pd.Categorical(["b", "a", None]), "y": np.array([1, 2, 9], "int8")})
    right = pd.DataFrame({"name": ["a", "b", None], "n": [1, 2, 3]})  # null refers to nothing
    schema = Schema.from_frame(
        lefts=left, rights=right, relations={"lefts.x": "rights.name", "lefts.y": "rights.n"}
    )
    found = rows(schema, "{ lefts { nodes { x { name } y { name } } } }")
    assert found[0] == {"x": {"name": "b"}, "y": {"name": "a"}}
    assert found[2] == {"x": None, "y": None}
    back = rows(
        schema, "{ rights(first: 2) { nodes { lefts { totalCount } lefts_by_y { totalCount } } } }"
    )
    assert back == [{"lefts": {"totalCount": 1}, "lefts_by_y": {"totalCount": 1}}] * 2


@pytest.mark.parametrize(
    ("refers", "keys", "found"),
    [
        (pd.Series([2.0, np.nan, 9.0]), pd.Series([1, 2]), [1, None, None]),
        (pd.Series([2.0, np.inf]), pd.Series([2.0, np.nan]), [0, None]),
        (pd.Series([1, 2]), pd.Series([2.0, np.nan]), [None, 0]),
        (pd.Series([None, None], dtype=object), pd.Series([1, 2]), [None, None]),
        (pd.Series([Decimal(2), None]), pd.Series([1, 2]), [1, None]),
        (pd.Series([Decimal("2.25"), None]), pd.Series([Decimal("100.50"), Decimal("2.25")]),
         [1, None]),
        (pd.Series([2**63, 2], dtype="uint64"), pd.Series([1, 2]), [None, 1]),
        (pd.Series([10**30, 2]), pd.Series([2**64 - 1, 2], dtype="uint64"), [None, 1]),
        (pd.Series(np.array(["2024-01-01", "9000-01-01"], "datetime64[s]")),
         pd.Series(np.array(["2024-01-01"], "datetime64[ns]")), [0, None]),
    ],
)  # fmt: skip
def test_a_relation_compares_numbers_and_timestamps_by_value(refers, keys, found):
    """Missing values refer to no row."""
    rights = pd.DataFrame({"key": keys, "place": range(len(keys))})
    schema = Schema.from_frame(
        lefts=pd.DataFrame({"to": refers}), rights=rights, relations={"lefts.to": "rights.key"}
    )
    got = [row["to"] for row in rows(schema, "{ lefts { nodes { to { place } } } }")]
    assert [it and it["place"] for it in got] == found


@pytest.mark.parametrize(
    ("refers", "keys", "what"),
    [
        ([1.5, None], [1, 2], r"'lefts.to' holds numbers that are not whole.*astype\('Int64'\)"),
        ([2.0**60, None], [1, 2], "beyond the 53 bits"),
        ([1.5], ["a"], "one is Float, the other String"),
        ([[1]], [[1]], "JSON too, which can't be compared"),
    ],
)
def test_a_relation_between_incomparable_columns_is_refused(refers, keys, what):
    """The error describes comparable columns."""
    left, right = pd.DataFrame({"to": refers}), pd.DataFrame({"key": keys})
    with pytest.raises(SchemaError, match=what):
        Schema.from_frame(lefts=left, rights=right, relations={"lefts.to": "rights.key"})


def test_a_reverse_field_that_conflicts_with_a_column_is_refused(repositories, owners):
    """A column has the same name."""
    owners = owners.assign(repositories=1, repositories_by_owner=2)
    with pytest.raises(SchemaError, match="have a field 'repositories_by_owner' already"):
        Schema.from_frame(
            repositories=repositories,
            owners=owners,
            relations={"repositories.owner": "owners.login"},
        )


def test_a_relation_is_resolved_once_for_each_page(monkeypatch):
    """The number of look-ups does not grow with the number of rows."""
    left = pd.DataFrame({"to": np.arange(500) % 7})
    right = pd.DataFrame({"id": range(7), "x": range(7)})
    schema = Schema.from_frame(
        lefts=left, rights=right, page_sizes=(100, 500), relations={"lefts.to": "rights.id"}
    )
    calls = []
    nodes = FrameTable.build_nodes
    monkeypatch.setattr(
        FrameTable, "build_nodes", lambda *a: (calls.append(len(a[1])), nodes(*a))[1]
    )
    found = rows(schema, "{ lefts(first: 500) { nodes { to { x } } } }")
    assert [row["to"]["x"] for row in found] == [at % 7 for at in range(500)]
    assert calls == [500, 7]


# -- as a schema


def test_a_custom_resolver_gets_every_column_of_its_row(related):
    """Also columns that are not selected; other fields are unaffected."""
    text = "{ repositories(first: 1) { nodes { name owner { login } } } }"
    before = rows(related, text)

    @related.resolver("Repository.name")
    def name(root, args, context):
        return f"{root['name']} ({root['stars']:,})"

    (found,) = rows(related, text)
    assert found == before[0] | {"name": f"{before[0]['name']} (43,000)"}


def change(frame):
    """Change a frame in every way that leaves it the same object."""
    frame.loc[0, "stars"] = -1
    frame.iloc[1, 0] = "changed"
    frame["score"] = 0.0
    frame["new"] = 1
    del frame["owner"]
    frame.index += 1


def test_later_changes_of_a_frame_do_not_affect_the_schema(repositories):
    """The schema returns the original values."""
    text = "{ repositories(orderBy: {field: name}) { totalCount nodes { name stars score } } }"
    before = Schema.from_frame(repositories=repositories.copy()).execute(text).data
    schema = Schema.from_frame(repositories=repositories)
    change(repositories)
    assert schema.execute(text).data == before


def test_the_frame_is_not_modified(repositories, owners):
    """Neither by building the schema nor by executing queries."""
    kept = repositories.copy(), owners.copy()
    schema = Schema.from_frame(repositories=repositories, owners=owners)
    rows(schema, "{ repositories(orderBy: {field: owner}) { nodes { name } } }")
    pd.testing.assert_frame_equal(repositories, kept[0])
    pd.testing.assert_frame_equal(owners, kept[1])
