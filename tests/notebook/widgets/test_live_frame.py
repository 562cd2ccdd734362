"""Live frames: kept rows, end and display, on every transport of subscriptions."""

import asyncio
import threading
from contextlib import contextmanager

import pandas as pd
import pyarrow as pa
import pytest
from graphql import GraphQLError

import gqlnb
from gqlnb import Client, LiveFrame, OptionError, Result, Schema, serve
from gqlnb.server.app import App
from tests.notebook.cells import beside, run

SDL = """
type Query { hello: String }
type Subscription { tick: Tick! broken: Int }
type Tick { n: Int! kind: Kind bad: Int }
enum Kind { SMALL LARGE }
"""
QUERY = "subscription { tick { n kind } }"
BAD = "<script>alert(1)</script>"
SECONDS = 30
TOKEN = "canary-l1veframe"


class Ticker:
    """A schema whose events are sent by the test."""

    def __init__(self, events=range(5), *, ends=True):
        self.events, self.ends = events, ends
        self.closed = threading.Event()
        own = {"tick": self.tick, "broken": self.broken}
        self.schema = Schema(SDL, {"Subscription": own, "Tick": {"bad": self.fail}})

    async def tick(self, root, args, context):
        """Yield the events, and then wait for ever, unless it ends."""
        try:
            for number in self.events:
                yield {"n": number, "kind": "LARGE" if number > 2 else None}
            if not self.ends:
                await asyncio.Event().wait()
        finally:
            self.closed.set()

    def broken(self, root, args, context):
        """Yield an event and fail."""
        yield 1
        raise ValueError(BAD)

    def fail(self, *_):
        """Fail."""
        raise ValueError(BAD)


@pytest.fixture
def ticker():
    """Return a source that waits after its events."""
    return Ticker(ends=False)


@contextmanager
def asked(way, schema):
    """Yield a client for a transport, and the arguments to select it."""
    if way in ("in process", "asgi"):
        yield Client(schema if way == "in process" else App(schema)), {}
        return
    with serve(schema, port=0) as server, Client(server.url) as client:
        client.schema  # noqa: B018 - it gives the dtypes
        yield client, {"transport": way}


def until(live, events):
    """Wait until so many events came."""
    came = threading.Event()
    take = live._add_result

    def taken(result):
        more = take(result)
        if live.events >= events:
            came.set()
        return more

    live._add_result = taken
    assert live.events >= events or came.wait(SECONDS)


@pytest.mark.parametrize("way", ["in process", "asgi", "ws", "sse"])
def test_every_transport_gives_rows_with_the_schemas_dtypes(ticker, way):
    """Rows are available before the end; stopping closes the source."""
    with asked(way, ticker.schema) as (client, options):
        client.schema  # noqa: B018
        with LiveFrame(client.subscribe(QUERY, **options)) as live:
            until(live, 5)
            assert live.live
            assert live.status == "Live, 5 rows so far."
        assert ticker.closed.wait(SECONDS)
    assert not live.live
    assert live.error is None
    frame = live.frame
    assert frame["tick.n"].tolist() == [0, 1, 2, 3, 4]
    assert list(map(str, frame.dtypes)) == ["Int64", "category"]
    assert frame.attrs["events"] == 5
    assert frame.attrs["partial"] is False
    assert [type(each) for each in live.results] == [Result] * 5
    assert repr(live).endswith("Stopped after 5 rows.")


def test_the_last_rows_are_kept_and_dropped_rows_are_counted():
    """The index continues."""
    live = LiveFrame(Client(Ticker(range(50)).schema).subscribe(QUERY), rows=3, max_results=50)
    assert live.wait(SECONDS)
    assert live.frame.index.tolist() == [47, 48, 49]
    assert live.frame["tick.n"].tolist() == [47, 48, 49]
    assert len(live.results) == 3
    assert live.status == (
        "Ended after 50 rows, the requested number of events; the last 3 are kept, 47 were dropped."
    )


def test_items_of_a_list_are_rows():
    """Cut at the limit; events with empty lists use no memory."""
    events = [{"items": [{"n": 1}, {"n": 2}]}, *[{"items": []}] * 100, {"items": [{"n": 3}] * 2}]
    live = LiveFrame(iter(events), rows=3)
    assert live.wait(SECONDS)
    assert live.frame["n"].tolist() == [3, 3]
    assert len(live.results) <= 3
    assert "102 events, 4 rows" in live.status


def test_iterators_of_all_kinds_are_accepted():
    """Plain and asynchronous, of Results and of mappings; a generator is closed at the end."""
    closed = []

    def plainly():
        try:
            yield from ({"a": 1}, Result({"a": 2}), {"a": 3})
        finally:
            closed.append("plain")

    async def awaited():
        try:
            for number in (1, 2, 3):
                await asyncio.sleep(0)
                yield {"a": number}
        finally:
            closed.append("async")

    class Iterable:
        def __aiter__(self):
            return awaited()

    for source in (plainly(), awaited(), Iterable(), [{"a": 1}, {"a": 2}, {"a": 3}]):
        live = LiveFrame(source, max_results=2)
        assert live.wait(SECONDS)
        assert live.frame["a"].tolist() == [1, 2]
    assert closed == ["plain", "async", "async"]


def test_an_endless_generator_does_not_block_the_loop():
    """An asynchronous generator that never awaits can be stopped."""

    async def endless():
        while True:
            yield {"a": 1}

    live = LiveFrame(endless(), rows=1)
    live.stop()
    assert not live.live


def test_a_blocked_iterator_is_abandoned():
    """It cannot be interrupted; the live frame ends nevertheless, also if stopped twice."""
    go_on = threading.Event()

    def waiting():
        yield {"a": 1}
        go_on.wait(SECONDS)

    live = LiveFrame(waiting())
    until(live, 1)
    live.stop()
    live.stop()
    go_on.set()
    assert live.status == "Stopped after 1 row."


def test_an_error_ends_the_frame_and_keeps_the_rows():
    """Errors of endpoints and of iterators are shown as text."""
    live = LiveFrame(Client(Ticker().schema).subscribe("subscription { broken }"))
    assert live.wait(SECONDS)
    assert live.frame["broken"].tolist() == [1]
    assert live.error == BAD
    assert "Failed after 1 row." in repr(live)
    with pytest.raises(gqlnb.QueryError):
        live.raise_for_error()

    def failing():
        yield {"a": 1}
        {}["a"]

    live = LiveFrame(failing())
    assert live.wait(SECONDS)
    assert live.error.startswith("KeyError: 'a'")
    assert LiveFrame([]).raise_for_error().wait(SECONDS)
    live = LiveFrame([{"a": 1}, 5])
    assert live.wait(SECONDS)
    assert "not int" in live.error
    assert live.frame["a"].tolist() == [1]


def test_field_errors_are_counted_and_the_last_is_shown():
    """They mark the frame; their markup is escaped."""
    live = LiveFrame(
        Client(Ticker().schema).subscribe("subscription { tick { n bad } }"), max_results=2
    )
    assert live.wait(SECONDS)
    assert live.frame.attrs["partial"] is True
    assert "2 events had errors; the last of them:" in repr(live)
    html = live._repr_mimebundle_()["text/html"]
    assert "&lt;script&gt;" in html
    assert BAD not in html


def test_reconnections_are_reported():
    """Events in between may be missing."""

    class Broken:
        reconnects = 2
        source = "http://127.0.0.1/graphql"

        def __init__(self):
            self.left = [Result({"a": 1}), Result({"a": 2})]

        def __aiter__(self):
            return self

        async def __anext__(self):
            if not self.left:
                raise StopAsyncIteration
            return self.left.pop()

    live = LiveFrame(Broken())
    assert live.wait(SECONDS)
    assert live.frame.attrs["reconnects"] == 2
    assert (
        "the connection was lost and re-established 2 times; events may be missing" in live.status
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"source": "subscription { tick }"}, r"client\.subscribe\(\.\.\.\), .* not str"),
        ({"source": Result({})}, "not Result"),
        ({"source": [], "rows": 0}, "rows= takes a whole number above 0; got 0"),
        ({"source": [], "rows": True}, "got True"),
        ({"source": [], "max_results": "5"}, "max_results= takes .* got '5'"),
    ],
)
def test_only_subscriptions_are_accepted(given, message):
    """Anything else raises at once."""
    with pytest.raises(OptionError, match=message):
        LiveFrame(**given)


def test_an_invalid_path_ends_the_live_frame_with_an_error():
    """The error lists the available lists."""
    live = LiveFrame(Client(Ticker().schema).subscribe(QUERY), path="items", max_results=3)
    assert live.wait(SECONDS)
    assert "no list at 'items'" in live.error
    assert "no list at 'items'" in repr(live)


@pytest.mark.slow
def test_other_threads_can_read_the_growing_frame():
    """Each frame read is a consistent snapshot."""
    live = LiveFrame(({"a": number} for number in range(1000)), rows=100)
    wrong = []
    while live.live:
        frame = live.frame
        if len(frame) and frame["a"].tolist() != frame.index.tolist():
            wrong.append(frame)
    assert wrong == []
    assert live.frame["a"].tolist() == list(range(900, 1000))


def test_a_token_echoed_by_an_endpoint_is_masked(spelled):
    """The token is neither in the error nor in the output."""

    async def repeating(root, args, context):
        yield 1
        message = f"{TOKEN} may not go on"
        raise GraphQLError(message)

    schema = Schema(SDL, {"Subscription": {"broken": repeating}})
    with serve(schema, port=0) as server:
        client = Client(server.url, token=gqlnb.Token(TOKEN))
        live = LiveFrame(client.subscribe("subscription { broken }"))
        assert live.wait(SECONDS)
    assert "may not go on" in live.error
    seen = repr([live.error, live, live._repr_mimebundle_(), live.frame.attrs]).encode()
    assert not [form for form in spelled(TOKEN) if form in seen]


def test_rerunning_a_cell_stops_its_previous_live_frame(shell, monkeypatch):
    """Live frames of other cells continue."""
    monkeypatch.setattr(shell.compile, "get_code_name", lambda raw, *_: f"cell {hash(raw)}")
    shell.user_ns["made"] = made = []
    cell = "import gqlnb, itertools\n"
    cell += "made += [gqlnb.LiveFrame({'n': i} for i in itertools.count()) for _ in 'ab']"
    try:
        shell.run_cell(cell, store_history=True).raise_error()
        shell.run_cell(f"{cell}  # another", store_history=True).raise_error()
        shell.run_cell(cell, store_history=True).raise_error()
        first, others = made[:2], made[2:]
        assert all(live.wait(20) for live in first)
        assert [live.live for live in others] == [True] * 4
    finally:
        for live in made:
            live.stop()


# ---------------------------------------------------------------- cells


@pytest.fixture
def ticking(shell):
    """Return a shell with such a schema in it."""
    shell.user_ns["ticker"] = Ticker(range(3))
    shell.user_ns["ticks"] = shell.user_ns["ticker"].schema
    return shell


def test_the_value_of_a_subscription_cell_is_its_live_frame(ticking):
    """Also on one line, and with at most the requested number of events."""
    live = run(ticking, f"%%graphql ticks\n{QUERY}")
    assert isinstance(live, LiveFrame)
    assert live.status == "Ended after 3 rows."
    assert run(ticking, f"%graphql -c ticks --max-results 2 {QUERY}").events == 2
    assert "3 events" in repr(run(ticking, "%graphql history"))


def test_the_value_can_be_converted_and_assigned(ticking):
    """As for other operations; the name has the live frame from the beginning."""
    assert run(ticking, f"%%graphql ticks live <<\n{QUERY}") is None
    assert ticking.user_ns["live"].events == 3
    assert run(ticking, f"%%graphql ticks -t frame\n{QUERY}")["tick.n"].tolist() == [0, 1, 2]
    assert run(ticking, f"%%graphql ticks -t frames\n{QUERY}")["events"].shape == (3, 2)
    assert run(ticking, f"%%graphql ticks -t arrow\n{QUERY}").num_rows == 3
    assert run(ticking, f"%%graphql ticks -t polars\n{QUERY}")["tick.n"].to_list() == [0, 1, 2]
    assert len(run(ticking, f"%%graphql ticks -t pandas\n{QUERY}")) == 3
    assert run(ticking, f"%%graphql ticks -t json\n{QUERY}")[2] == {"tick": {"n": 2, "kind": None}}
    assert run(ticking, f"%%graphql ticks -t raw\n{QUERY}").count("\n") == 2
    assert run(ticking, f"%%graphql ticks -q\n{QUERY}") is None
    ticking.run_line_magic("config", "GraphQLMagic.live_rows = 2")
    assert len(run(ticking, f"%%graphql ticks\n{QUERY}").frame) == 2


def test_the_rows_are_written_and_measured(ticking, tmp_path):
    """The file has the kept rows; a line has the statistics."""
    said = beside(ticking, f"%%graphql ticks --stats --export-to rows.csv\n{QUERY}")
    text = "\n".join(bundle["text/plain"] for bundle in said)
    assert "Wrote 3 rows to rows.csv." in text
    assert "3 events" in text
    assert (tmp_path / "rows.csv").read_text().splitlines()[0] == "tick.n,tick.kind"


def test_files_and_tables_have_the_types_of_answers(shell):
    """Also of JSON values of several kinds; of the rows that are kept."""

    def tick(root, args, context):
        yield from ({"any": value, "day": "2026-01-02"} for value in [5, {"a": 1}, 2, None])

    sdl = """scalar JSON scalar Date type Query { x: Int }
    type Tick { any: JSON day: Date } type Subscription { tick: Tick }"""
    shell.user_ns["ticks"] = Schema(sdl, {"Subscription": {"tick": tick}})
    shell.run_line_magic("config", "GraphQLMagic.live_rows = 3")
    text = "subscription { tick { any day } }"
    table = run(shell, f"%%graphql ticks -t arrow\n{text}")
    assert table["tick.any"].to_pylist() == ['{"a":1}', "2", None]
    assert table["tick.day"].type == pa.date32()
    for suffix in ("csv", "xlsx", "parquet"):
        said = beside(shell, f"%%graphql ticks --export-to rows.{suffix}\n{text}")
        assert f"to rows.{suffix}." in said[-1]["text/plain"]
    wanted = ['{"a":1}', "2", "-"]
    assert pd.read_csv("rows.csv")["tick.any"].fillna("-").tolist() == wanted
    saved = pd.read_parquet("rows.parquet")
    assert saved["tick.any"].fillna("-").tolist() == wanted
    assert saved["tick.day"].dtype == "datetime64[us]"
    sheet = pd.read_excel("rows.xlsx")["tick.any"].fillna("-")
    assert sheet.tolist() == ['{"a":1}', 2, "-"]


def test_an_interrupt_ends_the_cell_without_an_error(ticking, monkeypatch):
    """The cell has a value."""

    def interrupted(live, timeout=None):
        until(live, 3)
        live.stop()
        raise KeyboardInterrupt

    ticking.user_ns["ticker"].ends = False
    monkeypatch.setattr(LiveFrame, "wait", interrupted)
    live = run(ticking, f"%%graphql ticks\n{QUERY}")
    assert live.status == "Stopped after 3 rows."
    assert ticking.user_ns["ticker"].closed.wait(SECONDS)


def test_a_failing_subscription_stores_its_rows_under_a_name(ticking):
    """The error says so; before the first event there are no rows."""
    for line, name in (("ticks", "_live"), ("ticks -o mine", "mine")):
        with pytest.raises(gqlnb.QueryError) as caught:
            run(ticking, f"%%graphql {line}\nsubscription {{ broken }}")
        said = "\n".join(caught.value._render_traceback_())
        assert f"1 event received; the rows are kept as {name}." in said
        assert ticking.user_ns[name].frame["broken"].tolist() == [1]
    with pytest.raises(gqlnb.QueryError, match="nope"):
        run(ticking, "%%graphql ticks\nsubscription { nope }")


def test_field_errors_can_fail_the_cell(ticking):
    """As configured in the notebook; the rows are kept."""
    ticking.run_line_magic("config", "GraphQLMagic.partial = 'raise'")
    with pytest.raises(gqlnb.PartialError, match="rows are kept as mine"):
        run(ticking, "%%graphql ticks mine <<\nsubscription { tick { n bad } }")
    assert len(ticking.user_ns["mine"].frame) == 3


@pytest.mark.parametrize("option", ["--paginate", "--interact n", "--profile"])
def test_options_for_a_single_response_refuse_subscriptions(ticking, option):
    """Pagination, controls and profiling apply to queries."""
    with pytest.raises(OptionError, match="subscription"):
        run(ticking, f"%%graphql ticks {option}\n{QUERY}")


@pytest.mark.parametrize("option", ["--dry-run", "--explain", "-N"])
def test_options_without_requests_accept_subscriptions(ticking, option):
    """The document is checked and shown like any other."""
    run(ticking, f"%%graphql ticks {option}\n{QUERY}")
    assert not ticking.user_ns["ticker"].closed.is_set()
    assert "_live" not in ticking.user_ns
