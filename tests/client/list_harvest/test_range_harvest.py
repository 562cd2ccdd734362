"""Harvests in ranges, of an endpoint that caps its lists."""

from __future__ import annotations

import datetime as dt
import random
import uuid
import warnings
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import gqlnb
from gqlnb import Client, OptionError, QueryError, Slice
from tests.client.list_harvest.simulator import Endpoint
from tests.client.paging.lists import build_client
from tests.examples import select_combinations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

ROWS = 400
START = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)


def draw_values(draw: Callable[[random.Random], Any], seed: int = 1) -> dict[str, Any]:
    """Return values by id."""
    generator = random.Random(seed)
    return {f"r{number}": draw(generator) for number in range(ROWS)}


def draw_moment(generator: random.Random) -> str:
    """Return a time as GitHub writes it."""
    moment = START + dt.timedelta(seconds=int(generator.random() ** 2 * 10**8))
    return moment.isoformat().replace("+00:00", "Z")


KINDS: dict[str, tuple[str, Callable[[random.Random], Any]]] = {
    "integers": ("Int", lambda generator: generator.randint(-1000, 1000)),
    "skewed integers": ("Int", lambda generator: int(generator.random() ** 6 * 10**9)),
    "floats": ("Float", lambda generator: generator.gauss(0, 1)),
    "dates": ("Date", lambda generator: draw_moment(generator)[:10]),
    "times": ("DateTime", draw_moment),
    "texts": ("String", lambda generator: str(uuid.UUID(int=generator.getrandbits(128)))),
}


def harvest(endpoint: Endpoint, **options: Any) -> gqlnb.RangeHarvest:
    """Harvest the list of an endpoint in small pages."""
    slice_ = Slice(column="at", cap=endpoint.cap, closed=endpoint.closed)  # type: ignore[arg-type]
    options = {"slice": slice_, "page_size": 10, **options}
    return Client(endpoint.build_schema()).harvest(endpoint.query, **options)


def harvest_quietly(client: Client, text: str, **options: Any) -> gqlnb.RangeHarvest:
    """Harvest without the warnings, which are in the result."""
    with warnings.catch_warnings(action="ignore"):
        return client.harvest(text, **options)


def list_ids(found: gqlnb.RangeHarvest) -> list[str]:
    """Return the ids of the rows, sorted."""
    return sorted(found.arrow()["id"].to_pylist())


def assert_whole(found: gqlnb.RangeHarvest, rows: Iterable[str]) -> None:
    """Assert that each of the rows came once, and that the report says so."""
    assert list_ids(found) == sorted(rows)
    assert found.complete


@pytest.mark.parametrize(
    ("kind", "order"), select_combinations(KINDS, ["rising", "falling", "none"])
)
def test_all_rows_of_each_kind_come_once(kind, order):
    """Ranges of each kind of value, in lists of any order, contain each row once."""
    type_, draw = KINDS[kind]
    endpoint = Endpoint(draw_values(draw), type=type_, order=order)
    found = harvest(endpoint)
    assert_whole(found, endpoint.rows)
    assert found.coverage.expected == ROWS
    assert endpoint.requests == found.coverage.pages + found.coverage.counts


@pytest.mark.parametrize(
    ("kind", "closed"), select_combinations(KINDS, ["both", "left", "right", "neither"])
)
def test_filters_may_include_or_exclude_their_ends(kind, closed):
    """No row at the end of a range is lost or comes twice, whatever ends the filter includes."""
    type_, draw = KINDS[kind]
    endpoint = Endpoint(draw_values(draw), type=type_, closed=closed)
    found = harvest(endpoint)
    assert_whole(found, endpoint.rows)
    assert not found.coverage.moved


@pytest.mark.parametrize("declared", ["Filter", "Filter!"])
def test_the_ends_may_be_members_of_an_input_object(declared):
    """A dotted name sets a member of a variable, which is an empty object for an open range."""
    endpoint = Endpoint(draw_values(KINDS["integers"][1]), closed="left")
    text = f"query ($where: {declared}) {{ items(filter: $where) {{ nodes {{ id at }} }} }}"
    slice_ = Slice(column="at", low="where.at.gte", high="where.at.lt", closed="left", cap=50)
    found = Client(endpoint.build_schema()).harvest(text, slice=slice_)
    assert_whole(found, endpoint.rows)


@pytest.mark.parametrize("arguments", ["", "limit: Int, "])
@pytest.mark.parametrize(("cap", "is_complete"), [(50, True), (40, True), (60, False)])
def test_a_list_without_pages_is_complete_where_longer_answers_came(arguments, cap, is_complete):
    """An endpoint that returned 50 rows once did not cut the others at fewer."""
    rows = [{"id": str(number), "at": number * 3} for number in range(ROWS)]

    def resolve(args: dict[str, Any]) -> object:
        low, high = args.get("low"), args.get("high")
        above = [row for row in rows if low is None or row["at"] >= low]
        return [row for row in above if high is None or row["at"] <= high][:50]

    sdl = f"items({arguments}low: Int, high: Int): [Row!]! type Row {{ id: ID! at: Int! }}"
    query = "query ($low: Int, $high: Int) { items(low: $low, high: $high) { id at } }"
    client = build_client(sdl, resolve)
    with warnings.catch_warnings(record=True, action="always") as said:
        found = client.harvest(query, slice=Slice(column="at", cap=cap))
    assert found.complete == is_complete
    assert bool(said) != is_complete
    assert len(found) == (ROWS if is_complete else 50)
    if not (is_complete or arguments):
        assert "no arguments for further pages" in str(said[0].message)


def test_the_frame_has_the_types_of_the_schema():
    """A frame of many ranges has the dtypes of a result, lists in cells included."""
    endpoint = Endpoint(draw_values(draw_moment), type="DateTime")
    found = harvest(endpoint)
    frame = found.frame()
    expected = Client(endpoint.build_schema()).execute(endpoint.query).frame()
    assert frame.dtypes.to_dict() == expected.dtypes.to_dict()
    assert isinstance(frame["at"].dtype, pd.DatetimeTZDtype)
    assert list(frame["tags"].iloc[0]) == [frame["id"].iloc[0][-1]]
    assert frame.attrs["partial"] is False
    assert frame.attrs["coverage"]["got"] == ROWS


def test_an_empty_list_has_its_columns():
    """Without rows the frame has the columns and dtypes of the schema."""
    found = harvest(Endpoint({}))
    assert found.complete
    assert (len(found), list(found.frame().columns)) == (0, ["id", "at", "label", "tags"])


def test_more_equal_values_than_the_cap_are_a_gap():
    """Rows that no value divides are reported with their number; the others all come."""
    rows = draw_values(KINDS["integers"][1]) | {f"same{number}": 77 for number in range(60)}
    with pytest.warns(UserWarning, match="no value divides them"):
        found = harvest(Endpoint(rows))
    assert not found.complete
    (gap,) = found.coverage.gaps
    expected = sum(value == 77 for value in rows.values())
    assert (gap.text, gap.expected, gap.got) == ("77 to 77", expected, 50)
    assert {key for key in rows if rows[key] != 77} < set(list_ids(found))


def test_rows_without_a_value_are_a_gap():
    """Rows with null in the column are in no range, and the count of all rows reveals them."""
    rows = draw_values(KINDS["integers"][1]) | {"null": None}
    with pytest.warns(UserWarning, match="1 more rows are in no range: their at is null"):
        found = harvest(Endpoint(rows))
    assert not found.complete
    assert len(found) == ROWS


def test_few_rows_without_a_value_come():
    """A list below the cap is read without a filter, so rows with null come too."""
    found = harvest(Endpoint({"a": 1, "null": None}))
    assert found.complete
    assert list_ids(found) == ["a", "null"]


def test_without_a_count_nullable_values_are_a_doubt():
    """Without a count rows with null would not be noticed, so completeness is not proved."""
    endpoint = Endpoint(draw_values(KINDS["integers"][1]), has_count=False)
    with pytest.warns(UserWarning, match="does not count rows"):
        found = harvest(endpoint)
    assert list_ids(found) == sorted(endpoint.rows)
    assert not found.complete


def test_without_a_count_nulls_are_not_taken_for_rows_that_a_range_lost():
    nulls = dict.fromkeys((f"null{n}" for n in range(ROWS)), None)
    endpoint = Endpoint(nulls | draw_values(KINDS["integers"][1]), order="none", has_count=False)
    client = Client(endpoint.build_schema())
    found = harvest_quietly(client, endpoint.query, slice=Slice(column="at", cap=50), page_size=10)
    assert not found.complete
    assert "or applies only one" not in str(found.coverage.gaps)


@pytest.mark.parametrize("kind", ["integers", "times", "texts"])
def test_an_ignored_filter_is_an_error(kind):
    """Rows outside the range show that the filter has no effect."""
    type_, draw = KINDS[kind]
    endpoint = Endpoint(draw_values(draw), type=type_, is_ignoring=True)
    with pytest.raises(QueryError, match="ignores the filter"):
        harvest(endpoint)
    assert endpoint.requests < 35  # pages overlap by a row


@pytest.mark.parametrize("order", ["rising", "falling", "none"])
def test_a_filter_of_which_one_end_is_applied_proves_nothing(order):
    """nestjs-graphql-tools 0.9 reads `and: [{gte: 1}, {lte: 9}]` with 9 at both ends."""
    endpoint = Endpoint({f"r{n}": n for n in range(ROWS)}, order=order, has_count=False)
    endpoint.is_required = True
    resolve = endpoint.resolve_items
    slice_ = Slice(column="at", cap=50, fixed=True)
    assert harvest(endpoint, slice=slice_).complete

    def apply_one_end(root: object, args: dict[str, Any], context: object) -> object:
        low = args["high"] if args.get("high") is not None else args.get("low")
        both = args.get("low") is not None
        return resolve(root, {**args, "low": low if both else None}, context)

    endpoint.resolve_items = apply_one_end
    client = Client(endpoint.build_schema())
    found = harvest_quietly(client, endpoint.query, slice=slice_, page_size=10)
    assert len(found) < ROWS
    assert not found.complete
    assert "or applies only one" in str(found.coverage.gaps)


@pytest.mark.parametrize("order", ["rising", "falling", "none"])
@pytest.mark.parametrize("closed", ["both", "left"])
def test_times_that_the_endpoint_cuts_leave_rows_out_at_the_end_of_a_range(closed, order):
    """ZenStack 3.9 on Postgres has milliseconds in answers and filters, and rows microseconds."""
    times = [START + dt.timedelta(microseconds=100 * n) for n in range(ROWS)]
    rows = {f"r{n}": moment.isoformat(timespec="microseconds") for n, moment in enumerate(times)}
    endpoint = Endpoint(rows, type="DateTime", closed=closed, has_count=False, order=order)
    endpoint.is_required = True
    resolve = endpoint.resolve_items

    def cut(text: str | None) -> str | None:
        moment = None if text is None else dt.datetime.fromisoformat(text)
        return moment and moment.isoformat(timespec="milliseconds")

    def cut_times(root: object, args: dict[str, Any], context: object) -> Any:
        page: Any = resolve(
            root, {**args, **{n: cut(args.get(n)) for n in ("low", "high")}}, context
        )
        nodes = [{**node, "at": cut(node["at"])} for node in page["nodes"]]
        return {**page, "nodes": nodes}

    endpoint.resolve_items = cut_times
    slice_ = Slice(column="at", cap=50, fixed=True, closed=closed)
    client = Client(endpoint.build_schema())
    found = harvest_quietly(client, endpoint.query, slice=slice_, page_size=10)
    assert (len(found) == ROWS) == found.complete
    assert found.complete == (closed == "left" or order == "rising")


def test_a_page_may_be_larger_than_the_cap():
    """The query has its size."""
    endpoint = Endpoint({f"r{n}": n for n in range(ROWS)}, cap=1000, has_count=False)
    endpoint.is_required = True
    text = endpoint.query.replace("items(", "items(first: 100, ")
    slice_ = Slice(column="at", cap=30, fixed=True)
    found = Client(endpoint.build_schema()).harvest(text, slice=slice_)
    assert_whole(found, endpoint.rows)
    assert endpoint.requests < 60


@pytest.mark.parametrize("order", ["rising", "falling", "none"])
@pytest.mark.parametrize("has_count", [True, False])
def test_texts_of_digits_may_be_numbers(order, has_count):
    """A database compares its ids as numbers; the harvest says so, or takes them as numbers."""
    rows = {f"r{number}": str(number * 7) for number in range(ROWS)}
    endpoint = Endpoint(rows, type="ID", order=order, has_count=has_count)
    with pytest.raises(QueryError, match=r"compares as numbers. Say so with step=1, as in"):
        harvest(endpoint)
    found = harvest(endpoint, slice=Slice(column="at", cap=endpoint.cap, step=1))
    assert list_ids(found) == sorted(rows)
    assert found.complete == has_count  # the column may be null, which only a count shows
    assert not found.frame()["at"].isna().any()


def test_texts_of_other_characters_are_no_numbers():
    """The error names one of them."""
    with pytest.raises(OptionError, match=r"step= is a whole number, .* 'at' has the text 'x1'"):
        harvest(Endpoint({"a": "x1"}, type="String"), slice=Slice(column="at", step=1))


@pytest.mark.parametrize("is_filtered", [True, False])
@pytest.mark.parametrize("beside", ["[Group!]!", "Group", "Int!"])
def test_a_count_may_be_beside_the_list(beside, is_filtered):
    """It is a count of the same rows if it has the same variables."""
    endpoint = Endpoint({f"r{n}": n for n in range(ROWS)}, has_count=False)

    def resolve(args: dict[str, Any]) -> Any:
        return endpoint.resolve_items(None, {"first": 1, **args}, None)

    def count(args: dict[str, Any]) -> object:
        found = resolve(args)["totalCount"]
        return {"[Group!]!": [{"count": found}], "Group": {"count": found}}.get(beside, found)

    sdl = f"""items(first: Int! = 20, after: String, low: Int, high: Int): Nodes!
    itemsCount(groupBy: [String!], limit: Int, offset: Int, low: Int, high: Int): {beside}
    type Group {{ count: Int! }} type Row {{ id: ID! at: Int! }}"""
    bounds = "(low: $low, high: $high)"
    query = (
        f"query ($low: Int, $high: Int) {{ items{bounds} {{ nodes {{ id at }} }} "
        f"itemsCount{bounds if is_filtered else ''} {'' if beside == 'Int!' else '{ count }'} }}"
    )
    client = build_client(sdl, {"items": resolve, "itemsCount": count})
    found = client.harvest(query, slice=Slice(column="at", cap=endpoint.cap), path="items")
    assert_whole(found, endpoint.rows)
    assert found.coverage.expected == (ROWS if is_filtered else None)


def test_a_column_that_is_not_selected_is_named():
    """The error lists the columns that are there."""
    text = "query ($low: Int, $high: Int) { items(low: $low, high: $high) { nodes { id } } }"
    with pytest.raises(OptionError, match=r"no column 'at'. Select .*: id"):
        Client(Endpoint({"a": 1}).build_schema()).harvest(text, slice="at")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"slice": 5}, "slice= takes a gqlnb.Slice or the name of a column, not 5"),
        ({"refresh": True}, "name it with out="),
        ({"part": 0}, "part= takes a whole number above 0"),
        ({"parts": 5}, r"harvest\(\) has no argument parts=. Did you mean part=\?"),
        ({"page_size": 0}, "page_size= takes a whole number"),
    ],
)
def test_wrong_options_are_refused(options, message):
    """An option that cannot be used is an OptionError before a request."""
    endpoint = Endpoint({"a": 1})
    with pytest.raises(OptionError, match=message):
        harvest(endpoint, **options)
    assert not endpoint.requests


@pytest.mark.parametrize(
    "options",
    [{"closed": "open"}, {"cap": 0}, {"cap": True}, {"template": "{low} {x}"}, {"template": "{"}],
)
def test_wrong_slices_are_refused(options):
    """A slice checks its values."""
    with pytest.raises(OptionError):
        Slice(column="at", **options)


def test_a_query_with_two_lists_is_refused():
    """A harvest divides one list."""
    text = "query ($low: Int) { a: items(low: $low) { nodes { at } } b: items { nodes { at } } }"
    with pytest.raises(QueryError, match="takes variables; it has: a, b"):
        Client(Endpoint({"a": 1}).build_schema()).harvest(text, slice="at")


def test_a_dry_run_counts():
    """A dry run takes one request and stores nothing."""
    endpoint = Endpoint(draw_values(KINDS["integers"][1]))
    estimate = harvest(endpoint, dry_run=True)
    assert (estimate.rows, estimate.least, endpoint.requests) == (ROWS, 8, 1)
    assert repr(estimate) == "400 rows from in-process, in 8 ranges or more"


def test_the_whole_may_be_bounded():
    """`least` and `most` bound the harvest, as texts too."""
    endpoint = Endpoint(draw_values(draw_moment), type="DateTime")
    least, most = "2020-01-10T00:00:00Z", dt.datetime(2020, 6, 1, tzinfo=dt.UTC)
    slice_ = Slice(column="at", cap=50, least=least, most=most)
    found = harvest(endpoint, slice=slice_)
    wanted = [k for k, v in endpoint.rows.items() if least <= v <= "2020-06-01T00:00:00Z"]
    assert_whole(found, wanted)


def test_progress_is_reported():
    """The function of `progress` gets rows, the number expected and requests."""
    seen: list[tuple[int, int | None, int]] = []
    endpoint = Endpoint(draw_values(KINDS["integers"][1]))
    harvest(
        endpoint, progress=lambda got, wanted, requests, _: seen.append((got, wanted, requests))
    )
    assert seen[-1][:2] == (ROWS, ROWS)
    assert seen == sorted(seen)


def test_rows_without_an_id_are_kept_if_equal():
    """Equal rows of one range are different rows, if nothing identifies them."""
    endpoint = Endpoint(
        {f"r{n}": n // 20 for n in range(ROWS)}, labels={f"r{n}": "x" for n in range(ROWS)}
    )
    text = "query ($low: Int, $high: Int) { items(low: $low, high: $high) { nodes { at label } } }"
    found = Client(endpoint.build_schema()).harvest(text, slice=Slice(column="at", cap=50))
    assert found.complete
    assert found.frame()["at"].value_counts().tolist() == [20] * 20


def test_a_harvest_takes_the_options_of_a_call():
    """Its token is in each request: the endpoint refuses any other."""
    endpoint = Endpoint(draw_values(KINDS["integers"][1]))
    schema, token = endpoint.build_schema(), gqlnb.Token("of-this-call")
    slice_ = Slice(column="at", cap=endpoint.cap, closed=endpoint.closed)  # type: ignore[arg-type]
    with gqlnb.serve(schema, port=0, token=token) as server:
        client = Client(server.url, schema=schema)
        found = client.harvest(endpoint.query, slice=slice_, token=token.unbound())
        assert found.complete
        assert set(server.log["status"]) == {200}
        with pytest.raises(gqlnb.AuthError):
            client.harvest(endpoint.query, slice=slice_)
        with pytest.raises(OptionError, match=r"has no argument tokens=. Did you mean token=\?"):
            client.harvest(endpoint.query, slice=slice_, tokens="x")  # type: ignore[call-overload]


def test_a_count_that_stops_at_the_cap_proves_nothing():
    """Some endpoints count no more rows than they return."""
    endpoint = Endpoint({str(n): f"n{n:03}" for n in range(120)}, type="String", cap=50)
    schema = endpoint.build_schema()

    def resolve(root: object, args: dict[str, Any], context: object) -> Any:
        found: Any = endpoint.resolve_items(root, args, context)
        return {**found, "totalCount": min(found["totalCount"], endpoint.cap)}

    schema.resolver("Query.items")(resolve)
    text = endpoint.query.replace("{ nodes", "{ totalCount nodes")
    found = gqlnb.connect(schema).harvest(
        text, slice=Slice(column="at", low="low", high="high", cap=50), progress=False
    )
    assert not found.complete
    assert found.arrow().num_rows == 120
    assert "so it does not count all of them" in str(found.coverage.gaps)


def test_a_count_beside_the_list_is_compared_with_the_rows_of_its_reading():
    """A deletion hides another row, so that a later count equals the number of rows."""
    rows = [{"id": str(n), "num": n} for n in range(30)]
    sdl = """rows(limit: Int, offset: Int, low: Int, high: Int): [Row!]!
    rowsCount(low: Int, high: Int): Int! type Row { id: ID! num: Int! }"""

    def find(args: dict[str, Any]) -> list[dict[str, Any]]:
        low, high = args.get("low", 0), args.get("high", 30)
        return [row for row in rows if low <= row["num"] < high]

    def resolve(args: dict[str, Any]) -> list[dict[str, Any]]:
        begin = args.get("offset") or 0
        if begin == 24:
            del rows[0]
        return find(args)[begin : begin + args["limit"]]

    client = build_client(sdl, {"rows": resolve, "rowsCount": lambda args: len(find(args))})
    text = """query ($low: Int, $high: Int) {
        rows(low: $low, high: $high, limit: 8) { id num } rowsCount(low: $low, high: $high)
    }"""
    slice_ = Slice(column="num", low="low", high="high", closed="left", cap=50)
    found = client.harvest(text, slice=slice_, page_size=8, progress=False)
    missing = {row["id"] for row in rows} - set(found.arrow()["id"].to_pylist())
    assert found.complete == (not missing)
