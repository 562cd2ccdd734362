"""Remembered answers: which ones, for whom, for how long, and how they are kept."""

from __future__ import annotations

import asyncio
import os
import pickle
import sqlite3
import stat
import subprocess
import sys
import time
import warnings
from datetime import timedelta

import pytest

import gqlnb
from gqlnb import Client, OptionError, QueryError, Schema, TargetError, Token, recorded
from gqlnb.client import response_cache
from gqlnb.client.response_cache import (
    CacheEntry,
    ResponseCache,
    cached,
    open_response_cache,
    resolve_cache,
)
from gqlnb.http.messages import Response
from gqlnb.server.app import App
from tests.client.paging.lists import build_page, build_rows, complete_sdl, fail

SDL = complete_sdl("""
hello(name: String): String broken: String things(first: Int!, after: String): Things!
type Things { nodes: [Row!]! totalCount: Int! pageInfo: PageInfo! } type Mutation { add: Int }
""")
TOKEN = "canary-cache-91ab"


def things(root, args, context):
    """Return a page of 250 things."""
    return build_page(build_rows(250), args.get("after"), args["first"])


@pytest.fixture
def schema():
    """Return a schema that counts its calls."""
    calls = []

    def hello(root, args, context):
        calls.append("hello")
        return f"Hello {args.get('name') or 'world'} {len(calls)}"

    def break_down(root, args, context):
        calls.append("broken")
        fail("no")

    query = {"hello": hello, "broken": break_down, "things": things}
    add = {"add": lambda r, a, c: calls.append("add") or len(calls)}
    made = Schema(SDL, {"Query": query, "Mutation": add})
    made.calls = calls
    return made


@pytest.fixture
def server(schema):
    """Serve it, with a token."""
    with gqlnb.serve(schema, port=0, token=Token(TOKEN)) as server:
        server.calls = schema.calls
        yield server


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Use a cache folder of this test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    response_cache._open_path.cache_clear()
    yield tmp_path / "cache" / "gqlnb" / "responses"
    response_cache._open_path.cache_clear()


def test_an_answer_is_requested_once(server):
    """By several clients, in any layout of the text; other variables are another request."""
    for text in ("{ hello }", "query { hello }  # again", "{\n  hello\n}"):
        client = Client(server, cache="1h")
        assert client.execute(text)["hello"] == "Hello world 1"
        assert asyncio.run(client.aexecute(text))["hello"] == "Hello world 1"
    text = "query($name: String) { hello(name: $name) }"
    assert client.execute(text, {"name": "you"})["hello"] == "Hello you 2"
    assert client.execute(text, {"name": "me"})["hello"] == "Hello me 3"
    assert client.execute(text, {"name": "you"})["hello"] == "Hello you 2"
    assert Client(server).execute("{ hello }")["hello"] == "Hello world 4"


def test_the_display_gives_the_age(server, monkeypatch):
    """In text and HTML, of a remembered answer only."""
    client = Client(server, cache="1h")
    assert "cached" not in repr(client.execute("{ hello }"))
    now = time.time()
    monkeypatch.setattr("time.time", lambda: now + 12 * 60 + 5)
    result = client.execute("{ hello }")
    assert "cached 12 min ago" in repr(result)
    assert "cached 12 min ago" in str(result._repr_mimebundle_())


def test_old_answers_are_requested_again(server, monkeypatch):
    """And those of a clock in the future."""
    client = Client(server, cache="1h")
    client.execute("{ hello }")
    now = time.time()
    monkeypatch.setattr("time.time", lambda: now + 3601)
    assert client.execute("{ hello }")["hello"] == "Hello world 2"
    monkeypatch.setattr("time.time", lambda: now)
    assert client.execute("{ hello }")["hello"] == "Hello world 3"


def test_refresh_requests_and_remembers_anew(server):
    """For a block, also with the age that a client has."""
    client = Client(server, cache="1h")
    client.execute("{ hello }")
    with cached(None, refresh=True):
        assert client.execute("{ hello }")["hello"] == "Hello world 2"
        Client(server).execute("{ hello }")
    assert client.execute("{ hello }")["hello"] == "Hello world 2"
    assert len(open_response_cache().list_entries()) == 1
    with cached("1h"):
        assert Client(server).execute("{ hello }")["hello"] == "Hello world 2"


def test_mutations_and_failures_are_never_remembered(server):
    """Nor errors of fields, refused requests and recorded requests."""
    client = Client(server, cache=True)
    for _ in range(2):
        client.execute("mutation { add }")
        client.execute("{ broken }")
        with pytest.raises(QueryError):
            client.execute("{ hello(name: 3) }")
    assert server.calls == ["add", "broken"] * 2
    assert open_response_cache().list_entries() == []


def test_a_recording_takes_precedence(server, tmp_path):
    """It holds every answer of its block."""
    client = Client(server, cache=True)
    client.execute("{ hello }")
    with recorded(tmp_path / "it.jsonl", mode="record"):
        assert client.execute("{ hello }")["hello"] == "Hello world 2"
    assert client.execute("{ hello }")["hello"] == "Hello world 1"


def test_answers_belong_to_a_token_and_headers(schema):
    """Other identities have their own."""
    with gqlnb.serve(schema, port=0) as server:
        options = [
            {},
            {"token": Token("one-token")},
            {"token": Token("two-token")},
            {"headers": {"X-Role": "admin"}},
            {"headers": {"X-Api-Key": Token("key-key", "")}},
        ]
        clients = [Client(server.url, cache="1h", **it) for it in options]
        answers = [client.execute("{ hello }")["hello"] for client in clients]
        assert len(set(answers)) == len(options)
        assert [client.execute("{ hello }")["hello"] for client in clients] == answers
        again = Client(server.url, cache="1h", token=Token("two-token"))
        assert again.execute("{ hello }")["hello"] == answers[2]


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_files_are_private_and_hold_no_token(server, folder):
    """Also where the file was there with other modes, and of the write-ahead log."""
    folder.mkdir(parents=True)
    (folder / "answers.sqlite").touch(0o644)
    old = os.umask(0)
    try:
        Client(server, cache="1h").execute("{ hello }")
        files = list(folder.iterdir())
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
        assert len(files) == 3
    finally:
        os.umask(old)
    assert not [file for file in files if TOKEN.encode() in file.read_bytes()]


def test_another_process_finds_the_answer(server, monkeypatch, folder):
    """As a restarted kernel does; two write at the same time."""
    monkeypatch.setenv("THE_TOKEN", TOKEN)
    Client(server.url, token="env:THE_TOKEN", cache="1h").execute("{ hello }")
    code = (
        "import sys, gqlnb\n"
        "c = gqlnb.Client(sys.argv[1], token='env:THE_TOKEN', cache='1h')\n"
        "print(c.execute('{ hello }')['hello'])\n"
        "for at in range(40):\n"
        "    c.execute('query($n: String) { hello(name: $n) }', {'n': sys.argv[2] + str(at)})\n"
    )
    started = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", code, server.url, name],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for name in "ab"
    ]
    outputs = [process.communicate(timeout=60) for process in started]
    assert outputs == [(b"Hello world 1\n", b"")] * 2
    assert len(open_response_cache().list_entries()) == 81


def test_pages_are_remembered(server):
    """A second run of all pages sends nothing, with the same page sizes."""
    text = "{ things(first: 20) { nodes { id } } }"
    sent = []
    for _ in range(2):
        before = len(server.log)
        client = Client(server, cache="1h")
        client.schema  # noqa: B018 - introspection is not counted
        loaded = len(server.log)
        result = client.execute_all(text)
        assert len(result) == 250
        assert result.report.complete
        cached_pages = result.report.cached
        assert ("of them cached up to" in repr(result)) == bool(cached_pages)
        assert ("cached_at" in result.frame().attrs) == bool(cached_pages)
        sent.append((loaded - before, len(server.log) - loaded))
    assert sent[0][1] > 3
    assert sent[1][1] == 0
    assert cached_pages == result.report.requests


def test_inputs_are_remembered(server):
    """A map that is run again sends only what is new; the frame says how much is old."""
    text = "query($name: String) { hello(name: $name) }"
    client = Client(server, cache="1h")
    assert "cached" not in client.map(text, ["a", "b"]).attrs
    frame = client.map(text, ["a", "b", "c"])
    assert frame.attrs["cached"] == 2
    assert server.calls == ["hello"] * 3


def test_a_damaged_file_is_replaced(server, folder):
    """An answer is requested again."""
    folder.mkdir(parents=True)
    (folder / "answers.sqlite").write_bytes(b"no database, but longer than its header" * 40)
    client = Client(server, cache="1h")
    for _ in range(2):
        assert client.execute("{ hello }")["hello"] == "Hello world 1"


def test_a_file_of_another_format_is_emptied(server, folder):
    """It may be of a later version."""
    Client(server, cache="1h").execute("{ hello }")
    response_cache._open_path.cache_clear()
    with sqlite3.connect(folder / "answers.sqlite") as connection:
        connection.execute("PRAGMA user_version=99")
    connection.close()
    assert Client(server, cache="1h").execute("{ hello }")["hello"] == "Hello world 2"
    assert len(open_response_cache().list_entries()) == 1


def test_a_folder_that_cannot_be_used_costs_no_answer(server, tmp_path, monkeypatch):
    """One warning says that nothing is remembered."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    client = Client(server, cache="1h")
    with pytest.warns(UserWarning, match="Answers are not remembered in") as caught:
        assert client.execute("{ hello }")["hello"] == "Hello world 1"
    assert len(caught) == 1
    with warnings.catch_warnings():
        assert client.execute("{ hello }")["hello"] == "Hello world 2"


def test_a_locked_file_delays_one_request_alone(server, folder, monkeypatch):
    """Until a pause has passed nothing is remembered; then it is used again."""
    monkeypatch.setattr(response_cache, "BUSY_SECONDS", 0.2)
    client = Client(server, cache="1h")
    client.execute("{ hello }")
    open_response_cache()._connection.close()
    response_cache._open_path.cache_clear()
    tried, run = [], ResponseCache._run
    monkeypatch.setattr(ResponseCache, "_run", lambda *it: tried.append(it) or run(*it))
    other = sqlite3.connect(folder / "answers.sqlite")
    other.execute("PRAGMA locking_mode=EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    other.execute("UPDATE answers SET title = ''")
    with pytest.warns(UserWarning, match="Answers are not remembered in .* locked"):
        assert client.execute("{ hello }")["hello"] != "Hello world 1"
    before = len(tried)
    for _ in range(5):
        client.execute("{ hello }")
    assert len(tried) == before
    other.rollback()
    other.close()
    open_response_cache()._paused_until = 0.0
    assert client.execute("{ hello }")["hello"] == "Hello world 1"


def test_an_answer_that_no_longer_fits_is_requested_again(server):
    """The schema may have changed since."""
    client = Client(server, cache="1h", schema=SDL)
    client.execute("{ hello }")
    with sqlite3.connect(open_response_cache()._path) as connection:
        connection.execute("UPDATE answers SET body = ?", (b'{"data": {"hello": 3}}',))
    connection.close()
    assert client.execute("{ hello }")["hello"] == "Hello world 2"


def test_the_oldest_answers_are_removed(tmp_path, monkeypatch):
    """Beyond the bounds of bytes and age; a large one is not kept, and the file shrinks."""
    monkeypatch.setattr(response_cache, "MAX_BYTES", 10_000)
    monkeypatch.setattr(response_cache, "MAX_ENTRY_BYTES", 5_000)
    cache = ResponseCache(tmp_path / "answers.sqlite")
    now = time.time()
    sizes = [(1000, -40 * 86_400), *((1000, at) for at in range(-20, 0)), (6000, 0)]
    for number, (size, age) in enumerate(sizes):
        response = Response(200, {"content-type": "application/json"}, b"x" * size)
        cache.store(bytes([number]), CacheEntry("s", "t", now + age, size), response, 0.1)
    kept = cache.list_entries()
    assert sum(entry.size for entry in kept) <= 10_000
    assert kept[0].created == now - 1
    assert len(kept) >= 9
    assert cache.clear() == len(kept)
    assert cache.list_entries() == []
    assert (tmp_path / "answers.sqlite").stat().st_size < 40_000


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        *[("90s", 90), ("15min", 900), ("15 m", 900), ("1.5h", 5400), ("7d", 604_800)],
        *[("1w", 604_800), (30, 30), (0.5, 0.5), (timedelta(hours=2), 7200), (True, 86_400)],
    ],
)
def test_ages_are_read(value, seconds):
    """With a unit, in seconds, or True for a day."""
    assert resolve_cache(value).max_age == seconds


@pytest.mark.parametrize("value", ["", "1", "h", "-1h", "1 year", 0, -3, float("nan"), [], "0s"])
def test_other_ages_are_refused(value):
    """With the value and the choices."""
    with pytest.raises(OptionError, match=r"'15min', '1h'.*True for a day; got") as caught:
        Client("http://127.0.0.1:1", cache=value)
    assert repr(value)[:40] in str(caught.value)
    with pytest.raises(OptionError):
        cached(value)
    assert resolve_cache(None) is resolve_cache(False) is None


def test_the_option_travels_with_the_client(server, monkeypatch):
    """In pickles, and as setting of a connection."""
    monkeypatch.setenv("THE_TOKEN", TOKEN)
    client = Client(server.url, token="env:THE_TOKEN", cache="2h")
    again = pickle.loads(pickle.dumps(client))
    assert again._endpoint.options.cache.max_age == 7200
    assert again.execute("{ hello }")["hello"] == client.execute("{ hello }")["hello"]
    assert open_response_cache().list_entries()[0].source == server.url


def test_an_object_of_this_process_takes_no_cache(schema, server):
    """It would have no effect, and an error says so; the block of all clients passes it over."""
    targets = ["demo", schema, schema.graphql, App(schema), Client(schema)._endpoint.transport]
    for target in targets:
        with pytest.raises(TargetError, match=r"cache= would have no effect.*gqlnb\.serve"):
            gqlnb.connect(target, cache="1h")
    with cached("1h"):
        assert Client(schema).execute("{ hello }")["hello"] == "Hello world 1"
        assert Client(schema).execute("{ hello }")["hello"] == "Hello world 2"
