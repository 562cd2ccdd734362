"""Results of a subscription as one frame: the rows and dtypes that each has by itself."""

from collections.abc import Iterator
from decimal import Decimal
from itertools import count

import pandas as pd
import pytest
from graphql import GraphQLError, build_schema

import gqlnb
from gqlnb import Client, FrameError, OptionError, QueryError, Result
from gqlnb.document.document import Document
from gqlnb.result.event_frames import build_events_frame, build_events_frames, count_rows

SDL = """
type Query { hello: String }
type Subscription { tick: Tick two: Two }
type Tick { n: Int at: DateTime kind: Kind ratio: Float note: String items: [Item] }
type Item { k: Kind n: Int }
type Two { a: [Item] b: [Item] }
enum Kind { SMALL LARGE }
scalar DateTime
"""
WHEN = "2026-01-02T03:04:05Z"
EVENTS = [
    {"n": 1, "at": WHEN, "kind": "LARGE", "ratio": 0.5, "items": [{"k": "SMALL", "n": 1}]},
    {"n": None, "at": None, "kind": None, "ratio": 2, "items": []},
    {"n": 3, "items": [{"k": None, "n": 2}, None, {"k": "LARGE", "n": 3}]},
]


def results(query: str) -> list[Result]:
    """Return the results of a subscription whose events are those above."""
    pairs = [{"a": each["items"], "b": []} for each in EVENTS]
    schema = gqlnb.Schema(
        SDL, {"Subscription": {"tick": lambda *_: iter(EVENTS), "two": lambda *_: iter(pairs)}}
    )
    return list(Client(schema).subscribe(f"subscription {{ {query} }}"))


@pytest.mark.parametrize(
    "query",
    [
        "tick { n at kind ratio note }",
        "tick { items { k n } }",
        "tick { n items { k } }",
        "tick { note }",
    ],
)
def test_a_frame_of_events_equals_the_concatenated_frames_of_each(query):
    """Rows, dtypes and their order."""
    found = results(query)
    path = "tick.items" if "items" in query else None
    wanted = pd.concat([each.frame(path) for each in found], ignore_index=True)
    made = build_events_frame(found, path)
    pd.testing.assert_frame_equal(made, wanted)
    pd.testing.assert_frame_equal(build_events_frame(found), wanted)
    assert sum(count_rows(each, path) for each in found) == len(wanted)
    assert made.attrs == {}


def test_without_results_the_document_gives_the_columns():
    """So that a frame has its dtypes before the first event."""
    found = results("tick { items { k n } }")
    empty = build_events_frame([], document=found[0].document)
    assert empty.dtypes.equals(found[0].frame().dtypes)
    assert len(empty) == 0
    assert build_events_frame([]).shape == (0, 0)


def test_several_lists_make_a_row_of_each_event_unless_one_is_chosen():
    """Their items are in cells; a wrong name lists the right ones."""
    found = results("two { a { n } b { n } }")
    assert len(build_events_frame(found)) == sum(map(count_rows, found)) == 3
    assert build_events_frame(found, "two.a")["n"].tolist() == [1, 2, 3]
    for wrong in (lambda: build_events_frame(found, "a"), lambda: count_rows(found[0], "a")):
        with pytest.raises(FrameError, match=r"no list at 'a'\. They have: 'two\.a', 'two\.b'\."):
            wrong()


def test_without_a_schema_all_values_together_give_the_dtypes():
    """One whole number among fractions is a fraction, and null data are no row."""
    found = [Result({"a": 1, "b": None}), Result(None), Result({"a": 2.5, "b": "x"})]
    made = build_events_frame(found)
    assert list(map(str, made.dtypes)) == ["Float64", "string"]
    assert made["a"].tolist() == [1.0, 2.5]
    mixed = build_events_frame([Result({"a": [1]}), Result({"a": None, "b": [2]})])
    assert len(mixed) == 2


def test_an_invalid_value_affects_only_its_column():
    """That column keeps the values of the response."""
    found = results("tick { n ratio }")
    found[0] = Result({"tick": {"n": "many", "ratio": 1.5}}, document=found[0].document)
    made = build_events_frame(found)
    assert made["tick.n"].tolist() == ["many", None, 3]
    assert str(made["tick.ratio"].dtype) == "Float64"


def test_tidy_frames_name_the_event_of_each_row():
    """One for the events, one for each list in them."""
    frames = build_events_frames(results("tick { n items { n } }"))
    assert list(frames) == ["events", "events.tick.items"]
    assert frames["events.tick.items"]["events_index"].tolist() == [0, 2, 2]


def test_decimals_of_events_are_exact():
    """As those of one result, from JSON numbers with more digits than a float has."""
    long = "12345678901234567890.123456789"
    schema = build_schema(
        "scalar numeric type Query { a: Int } type Subscription { row: Row } "
        "type Row { sum: numeric all: [numeric] }"
    )
    document = Document.parse("subscription { row { sum all } }", schema)
    body = f'{{"data":{{"row":{{"sum":{long},"all":[{long}]}}}}}}'.encode()
    results = [Result.from_bytes(body, document) for _ in range(2)]
    assert build_events_frame(results)["all"].tolist() == [Decimal(long)] * 2
    frames = build_events_frames(results)
    assert frames["events"]["row.sum"].tolist() == [Decimal(long)] * 2
    assert frames["events.row.all"]["all"].tolist() == [Decimal(long)] * 2
    assert [type(result.data["row"]["sum"]) for result in results] == [float, float]


@pytest.fixture
def ticking():
    """Return a schema whose subscription fails after the events above, or never ends."""

    def tick(root: object, args: object, context: object) -> Iterator[dict[str, object]]:
        yield from EVENTS
        msg = "it broke"
        raise GraphQLError(msg)

    def two(root: object, args: object, context: object) -> Iterator[dict[str, object]]:
        return ({"a": [{"n": at}], "b": []} for at in count())

    return gqlnb.Schema(SDL, {"Subscription": {"tick": tick, "two": two}})


def test_a_subscription_collects_events(ticking):
    """As many as asked for, with the frame of their results; then the stream has ended."""
    wanted = build_events_frame(results("tick { n at kind }"))
    with gqlnb.serve(ticking, port=0) as server:
        for target in (ticking, server.url):
            stream = Client(target).subscribe("subscription { tick { n at kind } }")
            frame = stream.frame(3)
            pd.testing.assert_frame_equal(frame, wanted)
            assert frame.attrs["events"] == 3
            assert frame.attrs["partial"] is False
            assert list(stream) == []
            endless = Client(target).subscribe("subscription { two { a { n } } }")
            assert endless.frame(4, short=True)["n"].tolist() == [0, 1, 2, 3]


def test_events_before_a_failure_are_in_the_error(ticking):
    """And of an interrupt, with a note."""
    stream = Client(ticking).subscribe("subscription { tick { n } }")
    with pytest.raises(QueryError, match="it broke") as caught:
        stream.frame()
    assert caught.value.result["tick.n"].tolist() == [1, pd.NA, 3]
    assert "3 events before is error.result" in caught.value.__notes__[0]


def test_errors_of_events_are_reported():
    """In a warning at the line of the call, and in attrs."""
    events = [{"n": 1}, {"n": "x"}]
    schema = gqlnb.Schema(SDL, {"Subscription": {"tick": lambda *_: iter(events)}})
    with pytest.warns(
        UserWarning, match="1 of 2 events have errors, the first: tick.n: "
    ) as caught:
        frame = Client(schema).subscribe("subscription { tick { n } }").frame()
    assert caught[0].filename == __file__
    assert frame["tick.n"].isna().tolist() == [False, True]
    assert frame.attrs["partial"] is True


@pytest.mark.parametrize("number", [0, -1, 2.0, "3", True])
def test_a_wrong_number_of_events_is_refused(ticking, number):
    """With the value; nothing is awaited."""
    with pytest.raises(
        OptionError, match=f"count= takes a whole number above 0, or None; got {number!r}"
    ):
        Client(ticking).subscribe("subscription { tick { n } }").frame(number)
