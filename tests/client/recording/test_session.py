"""Recorded answers are replayed without the endpoint."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import pytest
from graphql import GraphQLError

import gqlnb
from gqlnb import (
    AnswerError,
    AuthError,
    Client,
    OptionError,
    QueryError,
    RateLimited,
    ReplayError,
    Schema,
    Token,
    TransportError,
    recorded,
    serve,
)
from gqlnb.client import connections
from tests.client.faults import Close, answer, json_answer
from tests.named_connections import forget_connection

SDL = """
type Query { count: Int! add(a: Float, b: [Int]): Float rows: [Row!]! fail: Int }
type Mutation { step(by: Int = 1): Int! }
type Row { id: ID! big: Any name: String at: Any }
scalar Any
"""
BIG = 2**60 + 1
SILENT = "http://127.0.0.1:9/graphql"  # the discard port: nothing listens there


def counting():
    """Return a schema whose answers change with each request."""
    numbers = count(1)

    def fail(*_):
        msg = "broken on purpose"
        raise GraphQLError(msg)

    rows = [{"id": 1, "big": BIG, "name": "ü🙂", "at": 1.5}, {"id": 2}]
    queries = {
        "count": lambda *_: next(numbers),
        "add": lambda root, args, context: args["a"] + 1,
        "rows": lambda *_: rows,
        "fail": fail,
    }
    return Schema(SDL, {"Query": queries, "Mutation": {"step": lambda *_: next(numbers)}})


@pytest.fixture
def path(tmp_path):
    """Return the path of a new recording."""
    return tmp_path / "it.jsonl"


@pytest.fixture
def lines(path):
    """Return a function that reads the requests and answers of the recording."""
    return lambda: [json.loads(line) for line in path.read_text().splitlines()[1:]]


def test_a_replay_needs_no_server(path):
    """Rows, big integers, text and the schema's dtypes are the same."""
    text = "{ rows { id big name at } }"
    with serve(counting(), port=0) as server:
        client = Client(server.url, recording=path, mode="record")
        assert client.schema.query_type is not None
        live = client.execute(text)
    again = Client(server.url, recording=path, mode="replay")
    assert again.schema.query_type is not None
    replayed = again.execute(text)
    assert replayed.data == live.data
    assert replayed["rows"][0]["big"] == BIG
    assert replayed.frame().equals(live.frame())
    assert [*replayed.frame().dtypes] == [*live.frame().dtypes]
    assert (replayed.source, replayed.frame().attrs) == (live.source, live.frame().attrs)
    assert repr(replayed) == repr(live)


def test_every_client_is_recorded_within_the_block(path):
    """Clients made before and inside, connections by name, other threads, `stars`."""
    before = Client(counting())
    with recorded(path):
        firsts = [before.execute("{ count }").data, Client(counting()).execute("{ fail }").errors]
        found = gqlnb.stars(">400000")
        with ThreadPoolExecutor(1) as pool:
            firsts.append(pool.submit(before.execute, "mutation { step }").result().data)
    assert before.execute("{ count }").data == {"count": 3}  # 2 was the mutation
    with recorded(path, mode="replay"):
        again = [before.execute("{ count }").data, Client(Schema(SDL)).execute("{ fail }").errors]
        assert gqlnb.stars(">400000").equals(found)
        with ThreadPoolExecutor(1) as pool:
            again.append(pool.submit(before.execute, "mutation { step }").result().data)
        with pytest.raises(ReplayError):
            gqlnb.stars(">300000")
    assert again == firsts


def test_a_blank_environment_variable_is_ignored(path, monkeypatch):
    """A blank `GQLNB_REPLAY` has no effect, and errors do not mention it."""
    monkeypatch.setenv("GQLNB_REPLAY", " ")
    with recorded(path):
        Client(counting()).execute("{ count }")
    with recorded(path, mode="replay"), pytest.raises(ReplayError, match="To record it:"):
        Client(counting()).execute("{ other: count }")


def test_an_environment_variable_records_all_clients(path, monkeypatch, tmp_path):
    """`GQLNB_RECORD` records what no block records, whatever the client's own recording."""
    own = Client(counting(), recording=tmp_path / "own.jsonl", mode="record")
    monkeypatch.setenv("GQLNB_RECORD", str(path))
    firsts = [own.execute("{ count }").data, Client(counting()).execute("{ fail }").errors]
    with recorded(tmp_path / "block.jsonl"):
        own.execute("{ other: count }")
    monkeypatch.delenv("GQLNB_RECORD")
    monkeypatch.setenv("GQLNB_REPLAY", str(path))
    assert [own.execute("{ count }").data, own.execute("{ fail }").errors] == firsts
    with pytest.raises(ReplayError):
        own.execute("{ other: count }")


def test_the_environment_variable_applies_to_all_clients(path, monkeypatch, tmp_path):
    """`GQLNB_REPLAY` overrides clients and blocks."""
    with recorded(path):
        Client(counting()).execute("{ count }")
    own = Client(counting(), recording=tmp_path / "own.jsonl", mode="record")
    monkeypatch.setenv("GQLNB_REPLAY", str(path))
    with recorded(tmp_path / "other.jsonl", mode="record"):
        assert own.execute("{ count }").data == {"count": 1}
        assert own.execute("{ count }").data == {"count": 1}
        with pytest.raises(ReplayError, match="To record it, unset GQLNB_REPLAY and run:"):
            own.execute("{ fail }")
    monkeypatch.setenv("GQLNB_REPLAY", str(tmp_path / "missing.jsonl"))
    with pytest.raises(ReplayError, match=r"There is no recording .*missing\.jsonl"):
        own.execute("{ count }")


@pytest.mark.parametrize(
    ("recorded_as", "asked_as"),
    [
        (("{ count }", {}), ("query\n  # why\n{ count, }", None)),
        (("query A { count }", {}, "A"), ("query A { count }", {}, None)),
        (
            ("query Q { rows { ...F ...G } } fragment F on Row { id } fragment G on Row {name}",),
            ("fragment G on Row { name } fragment F on Row { id }\nquery Q { rows {...F ...G} }",),
        ),
        (
            ("query ($a: Float, $b: [Int]) { add(a: $a, b: $b) }", {"a": 1, "b": [1, 2]}),
            ("query ($a: Float, $b: [Int]) { add(a: $a, b: $b) }", {"b": [1, 2], "a": 1.0}),
        ),
    ],
)
def test_requests_with_another_layout_are_equal(path, recorded_as, asked_as):
    """Layout, comments, order of definitions and variables, the name of the only operation."""
    live, dead = Client(counting(), recording=path), Client(Schema(SDL), recording=path)

    def ask(client, text, variables=None, operation=None):
        return client.execute(text, variables, operation=operation).data

    assert ask(dead, *asked_as) == ask(live, *recorded_as)


@pytest.mark.parametrize(
    ("text", "variables", "operation", "said"),
    [
        ("query Q($a: Float) { add(a: $a) }", {"a": 2}, None, "line 2, differs in the variable $a"),
        ("query Q($a: Float) { add(a: $a) }", None, None, "line 2, differs in the variable $a"),
        (
            "query Q($a: Float) { x: add(a: $a) }",
            {"a": 1},
            None,
            "line 2, differs in the document ('… Float ) { add ( a …' there, "
            "'… Float ) { x : add …' here)",
        ),
        ("query A { count } query B { count }", None, "B", "line 3, differs in the operation"),
    ],
)
def test_a_missing_answer_shows_the_most_similar_line(
    path, monkeypatch, text, variables, operation, said
):
    """With the difference and the two lines that record it, without values of variables."""
    monkeypatch.chdir(path.parent)
    client = Client(counting(), recording="it.jsonl")
    client.execute("query Q($a: Float) { add(a: $a) }", {"a": 1})
    client.execute("query A { count } query B { count }", operation="A")
    again = Client(Schema(SDL), recording="it.jsonl", mode="replay")
    with pytest.raises(ReplayError) as caught:
        again.execute(text, variables, operation=operation)
    message = str(caught.value)
    assert "it.jsonl holds no answer to query" in message
    assert said in message
    lines = message.splitlines()[-2:]
    assert lines == [
        "  with gqlnb.recorded('it.jsonl'):",
        "      gqlnb.connect(schema).execute(...)",
    ]


def test_a_missing_answer_names_another_endpoint(path):
    """The same query was recorded from another connection."""
    with recorded(path):
        gqlnb.connect("demo").execute("{ viewer { login } }")
    client = Client(SILENT, recording=path, mode="replay")
    with pytest.raises(ReplayError, match=r"differs in the connection \(it is of 'demo'\)\. To"):
        client.execute("{ viewer { login } }")


def test_several_answers_are_replayed_in_order(path):
    """The last answer to a query is repeated, that to a mutation is not."""
    client = Client(counting(), recording=path, mode="record")
    texts = ["{ count }", "mutation { step }", "{ count }", "mutation { step }"]
    live = [client.execute(text).data for text in texts]
    again = Client(Schema(SDL), recording=path, mode="replay")
    assert [again.execute(text).data for text in texts] == live
    assert again.execute("{ count }").data == {"count": 3}
    with pytest.raises(
        ReplayError, match=r"an unnamed mutation .* 2 times, but it was requested again"
    ):
        again.execute("mutation { step }")
    fresh = Client(Schema(SDL), recording=path, mode="replay")
    assert fresh.execute("mutation { step }").data == {"step": 2}


def test_auto_sends_unrecorded_requests_every_time(path):
    """A polling loop ends in the first run; a later run sends no request."""
    first = Client(counting(), recording=path)
    assert [first.execute("{ count }").data["count"] for _ in range(3)] == [1, 2, 3]
    again = Client(counting(), recording=path)
    assert [again.execute("{ count }").data["count"] for _ in range(4)] == [1, 2, 3, 3]
    assert again.execute("mutation { step }").data == {"step": 1}  # the first that it was asked
    third = Client(counting(), recording=path)
    assert third.execute("mutation { step }").data == {"step": 1}
    with pytest.raises(ReplayError, match="Use mode='record' to send a recorded mutation again"):
        third.execute("mutation { step }")


def test_record_replaces_old_answers(path, lines):
    """The first new answer to a request replaces all old ones; other requests stay."""
    with recorded(path):
        client = Client(counting())
        for text in ("{ count }", "{ count }", "{ count }", "{ fail }"):
            client.execute(text)
    with recorded(path, mode="record"):
        assert client.execute("{ count }").data == {"count": 4}
        assert len(lines()) == 5
    assert [(it["query"], it.get("take", 1)) for it in lines()] == [
        ("{ fail }", 1),
        ("{ count }", 1),
    ]
    with recorded(path, mode="replay"):
        assert client.execute("{ count }").data == {"count": 4}


def test_a_block_entered_again_continues(path):
    """As one cell after the other does with a magic."""
    client = Client(counting())
    with recorded(path):
        client.execute("{ count }")
        client.execute("{ count }")
    tape = recorded(path, mode="replay")
    with tape:
        assert client.execute("{ count }").data == {"count": 1}
    with tape:
        assert client.execute("{ count }").data == {"count": 2}
    shared = recorded(path, mode="replay")
    clients = [Client(Schema(SDL), recording=shared) for _ in range(2)]
    assert [it.execute("{ count }").data["count"] for it in clients] == [1, 2]


def test_the_innermost_block_applies_first(path, tmp_path):
    """Blocks nest, and may end in any order."""
    client = Client(counting())
    outer, inner = recorded(path), recorded(tmp_path / "inner.jsonl")
    outer.__enter__()
    inner.__enter__()
    outer.__exit__(None, None, None)
    client.execute("{ count }")
    inner.__exit__(None, None, None)
    client.execute("{ fail }")
    assert "count" in inner.path.read_text()
    assert len(path.read_text().splitlines()) == 1


WORDS = "Something went wrong while executing your query."
FINE = json_answer({"data": {"a": 1}}, Connection="close")
PLACE = {"line": 1, "column": 3}
FAILURES = {
    "partial": (json_answer({"data": {"a": 1}, "errors": [{"message": "b"}]}), None),
    "null": (json_answer({"data": None, "errors": [{"message": "b", "path": ["x"]}]}), None),
    "query": (
        json_answer({"errors": [{"message": "b", "locations": [PLACE]}]}, "400 No"),
        QueryError,
    ),
    "status": (answer("<p>none</p>", "404 No", Content_Type="text/html"), TransportError),
    "gateway": (answer("<p>busy</p>", "502 No", Content_Type="text/html"), TransportError),
    "message": (json_answer({"message": "Bad credentials"}, "401 No"), AuthError),
    "limit": (json_answer({"message": "slow"}, "429 No", Retry_After=3600), RateLimited),
    "limit in errors": (
        json_answer({"errors": [{"type": "RATE_LIMITED", "message": "slow"}]}),
        RateLimited,
    ),
    "no json": (answer('{"data": {"a": 1'), AnswerError),
    "page": (answer("<html>", Content_Type="text/html"), AnswerError),
    "no graphql": (answer("[1]"), AnswerError),
    "nothing": (Close(), TransportError),
    "passing": (json_answer({"data": None, "errors": [{"message": WORDS}]}), TransportError),
}


@pytest.mark.parametrize(("reply", "kind"), FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize("how", ["execute", "aexecute"])
def test_a_failure_is_replayed(canned, path, monkeypatch, reply, kind, how):
    """Class, message, status, wait and result, without a retry."""

    def ask(client):
        try:
            it = (
                client.execute("{ a }")
                if how == "execute"
                else asyncio.run(client.aexecute("{ a }"))
            )
        except gqlnb.GqlnbError as error:
            wait = getattr(error, "wait", None)
            return type(error), str(error), getattr(error, "status", None), wait, error.result
        return None, it.data, it.errors, it.extensions, it

    canned.answers[:] = [reply] * 8
    limits = gqlnb.Limits(wait=10)
    live = ask(Client(canned.url, recording=path, limits=limits))
    canned.answers.clear()
    asked = len(canned.requests)
    monkeypatch.setattr("time.sleep", lambda seconds: pytest.fail("waited while replaying"))
    again = ask(Client(canned.url, recording=path, mode="replay", limits=limits))
    assert (live[0], len(canned.requests)) == (kind, asked)
    tried = (
        live[1].partition(" Gave up after ")[0] if kind else live[1]
    )  # how often, and in what time
    assert again[:4] == (live[0], tried, *live[2:4])
    assert (again[4] is None) == (live[4] is None)
    assert again[4] is None or again[4].data == live[4].data


def test_auto_repeats_failed_requests(canned, path, lines):
    """The new answer replaces the failure."""
    canned.answers[:] = [FINE, answer("", "404 No", Connection="close")]
    client = Client(canned.url, recording=path)
    assert client.execute("{ a }").data == {"a": 1}
    with pytest.raises(TransportError):
        client.execute("{ a }")
    with pytest.raises(TransportError):  # whether it was executed nobody knows: not sent again
        client.execute("mutation { a }")
    canned.answers[:] = [json_answer({"data": {"a": 2}}, Connection="close")]
    again = Client(canned.url, recording=path)
    assert [again.execute("{ a }").data["a"] for _ in range(2)] == [1, 2]
    asked = len(canned.requests)
    with pytest.raises(TransportError):
        again.execute("mutation { a }")
    third = Client(canned.url, recording=path)
    assert [third.execute("{ a }").data["a"] for _ in range(3)] == [1, 2, 2]
    assert len(canned.requests) == asked
    again.close()
    assert [it.get("data") for it in lines()] == [{"a": 1}, None, {"a": 2}]


def test_retries_of_one_request_are_one_answer(canned, path, lines):
    """Only the last attempt is replayed."""
    canned.answers[:] = [answer("", "502 No", Connection="close"), FINE] * 2
    client = Client(canned.url, recording=path, mode="record")
    results = [client.execute("{ a }").data for _ in range(2)]
    client.close()
    assert [(it["data"], it.get("take", 1)) for it in lines()] == [({"a": 1}, 1), ({"a": 1}, 2)]
    again = Client(canned.url, recording=path, mode="replay")
    assert [again.execute("{ a }").data for _ in range(2)] == results


def test_a_replay_needs_no_token(path, monkeypatch):
    """Nor a prompt for one; only a missing answer needs it."""
    server = serve(counting(), port=0, token=Token("canary-123"))
    url = server.url
    monkeypatch.setenv("SOME_TOKEN", "canary-123")
    with server, Client(url, token="env:SOME_TOKEN", recording=path) as client:
        client.execute("{ count }")
    monkeypatch.delenv("SOME_TOKEN")
    options = [{"token": "env:SOME_TOKEN"}, {"token": "prompt"}, {"headers": {"A": "env:NONE_"}}]
    for option in options:
        client = gqlnb.connect(url, **option, recording=path, mode="replay")
        assert client.execute("{ count }").data == {"count": 1}
    with recorded(path, mode="replay"):
        client = Client(url, token="env:SOME_TOKEN")
        assert client.execute("{ count }").data == {"count": 1}
    with pytest.raises(AuthError, match="SOME_TOKEN is not set"):
        client.execute("{ count }")
    auto = Client(url, token="env:SOME_TOKEN", recording=path)
    assert auto.execute("{ count }").data == {"count": 1}
    with pytest.raises(AuthError, match="SOME_TOKEN is not set"):
        auto.execute("{ fail }")
    with pytest.raises(AuthError, match="SOME_TOKEN is not set"):
        Client(url, token="env:SOME_TOKEN", recording=path, mode="record")
    with pytest.raises(AuthError, match="would be saved"):
        Client(url, token="canary-123", recording=path, mode="replay")


def test_a_connection_is_identified_by_its_name(path, monkeypatch):
    """Its address may differ and its token may be missing."""
    connections.register_connection("mine", lambda **more: Client(counting(), **more), "mine")
    try:
        with recorded(path):
            live = gqlnb.connect("mine").execute("{ count }").data
            gqlnb.connect("github", token=Token("canary-123"))
        for make in (
            lambda **more: Client(SILENT, token="env:NONE_", **more),
            lambda **more: Client(Schema(SDL), **more),
        ):
            connections.register_connection("mine", make, "mine")
            with recorded(path, mode="replay"):
                assert gqlnb.connect("mine").execute("{ count }").data == live
                assert gqlnb.connect("mine") is gqlnb.connect("mine")
            again = gqlnb.connect("mine", recording=path, mode="replay")
            assert again.execute("{ count }").data == live
            assert Client("mine", recording=path, mode="replay").execute("{ count }").data == live
        with recorded(path, mode="replay"):
            bare = gqlnb.connect("github")
        with pytest.raises(AuthError, match="GITHUB_TOKEN is not set"):
            gqlnb.connect("github")
        monkeypatch.setenv("GITHUB_TOKEN", "canary-123")
        assert gqlnb.connect("github") is not bare
    finally:
        forget_connection("mine")
        connections.close_client("github")


def test_a_server_of_this_process_is_identified_without_its_port(path):
    """The system may choose another one the next time."""
    with serve(counting(), port=0) as server, recorded(path):
        live = Client(server).execute("{ count }").data
    with serve(Schema(SDL), port=0) as server, recorded(path, mode="replay"):
        assert Client(server).execute("{ count }").data == live
        assert Client().execute("{ count }").data == live


PROCESS = """
import sys
from gqlnb import Client, Schema, recorded
schema = Schema("type Query { it(a: Int): Int }", {"Query": {"it": lambda r, a, c: a["a"]}})
path, first = sys.argv[1], int(sys.argv[2])
with recorded(path, mode="record"):
    for number in range(first, first + 50):
        Client(schema).execute("query ($a: Int) { it(a: $a) }", {"a": number})
"""


def test_two_processes_share_a_recording(path, lines, root):
    """Lines are never mixed, also while one process removes replaced lines."""
    starts = (0, 0, 50)  # two of them ask the same
    made = [
        subprocess.Popen([sys.executable, "-c", PROCESS, path, str(first)], cwd=root)
        for first in starts
    ]
    assert [process.wait(60) for process in made] == [0, 0, 0]
    assert {it["data"]["it"] for it in lines()} == {*range(100)}
    again = Client(Schema("type Query { it(a: Int): Int }"), recording=path, mode="replay")
    for number in (0, 49, 99):
        assert again.execute("query ($a: Int) { it(a: $a) }", {"a": number}).data == {"it": number}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"recording": "a.jsonl", "mode": "replay "}, "mode= takes 'replay', 'record', 'auto'"),
        ({"mode": "replay"}, "mode= needs recording="),
        ({"recording": 5}, "recording= takes the path of a file, not int"),
    ],
)
def test_an_invalid_option_names_the_valid_ones(options, said):
    """Before any request."""
    with pytest.raises(OptionError, match=said):
        Client(SILENT, **options)


def test_an_unwritable_file_raises_before_the_request(tmp_path):
    """The answer of a mutation would be lost."""
    client = Client(counting(), recording=tmp_path / "none" / "it.jsonl")
    with pytest.raises(ReplayError, match=r"cannot be used as a recording: No such file"):
        client.execute("mutation { step }")
    assert Client(counting()).execute("mutation { step }").data == {"step": 1}
    client = Client(counting(), recording=tmp_path, mode="record")
    with pytest.raises(ReplayError, match=r"cannot be used as a recording: Is a directory"):
        client.execute("mutation { step }")


def test_an_answer_that_is_not_json_raises(path):
    """Scalars of a schema of this process may be any objects."""
    schema = Schema(SDL, {"Query": {"rows": lambda *_: [{"id": 1, "big": {1, 2}}]}})
    with pytest.raises(ReplayError, match=r"cannot be recorded: A set at rows\[0\]\.big has no"):
        Client(schema, recording=path).execute("{ rows { big } }")


def test_the_repr_shows_the_path_of_a_recording(path, monkeypatch):
    """Relative to the working directory."""
    monkeypatch.chdir(path.parent)
    assert repr(recorded(Path("it.jsonl"))) == "Recording('it.jsonl', mode='auto')"
