"""The schema of an endpoint: loaded once, cached on disk, refreshed before an error is raised."""

from __future__ import annotations

import asyncio
import os
import stat
import threading
import time
import warnings
import zlib
from concurrent.futures import ThreadPoolExecutor

import pytest
from graphql import build_schema, introspection_from_schema, print_schema

import gqlnb
from gqlnb import Client, QueryError, Schema, SchemaError, Token, TransportError
from gqlnb.client.schema_store import (
    MAX_FILES,
    CachedSchema,
    find_cache_path,
    read_cache,
    remove_oldest,
    write_cache,
)
from tests.client.faults import Endpoint, answer, json_answer, silent
from tests.named_connections import forget_connection

OLD = "type Query { hello: String  kind: Kind } enum Kind { A B }"
NEW = "type Query { hello: String  kind: Kind  more: Int } enum Kind { A C }"
DAY = 86_400
OTHER = {"headers": {"X-A": "b"}}
HELLO = json_answer({"data": {"hello": "Hi"}})


def told(sdl: str) -> bytes:
    """Return the answer that tells a schema."""
    return json_answer({"data": introspection_from_schema(build_schema(sdl))})


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Keep the schemas of this machine too, in a folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("GQLNB_CACHE", "1")
    return tmp_path / "gqlnb" / "schemas"


def gone() -> str:
    """Return the address of an endpoint that is there no more."""
    with Endpoint(HELLO) as endpoint:
        return endpoint.url


def loaded() -> None:
    """Wait for what loads in the background."""
    for thread in threading.enumerate():
        if thread.name == "gqlnb-schema":
            thread.join(20)


def aged(url: str, days: float, sdl: str = OLD) -> None:
    """Keep a schema as if it had been asked for some days ago."""
    body = told(sdl).partition(b"\r\n\r\n")[2]
    place = find_cache_path(url, ())
    assert place is not None
    data = body[len('{"data": ') : -1]
    write_cache(place, CachedSchema.pack(data, time.time() - days * DAY), url)


def fields(client: Client) -> list[str]:
    """Return the fields of the query type."""
    kind = client.schema.query_type
    assert kind is not None
    return list(kind.fields)


# -- the cache


def test_a_second_client_uses_the_cached_schema(endpoint, cache):
    """A note states its age."""
    made = endpoint(told(OLD))
    first, second = Client(made.url), Client(made.url)
    assert print_schema(first.schema) == print_schema(second.schema)
    assert len(made.requests) == 1
    assert second.schema_notes == ("It was cached less than a minute ago.",)


def test_a_cache_file_is_private_and_has_no_secrets(endpoint, cache):
    """Its content is the address and the schema, without token or headers."""
    made = endpoint(told(OLD))
    secret = {
        "token": Token("canary-31"),
        "headers": {"X-Key": Token("canary-32"), "X-A": "plain-33"},
    }
    assert Client(made.url, **secret).schema
    (file,) = cache.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700
    head, _, packed = file.read_bytes().partition(b"\n")
    whole = head + zlib.decompress(packed) + file.name.encode()
    assert made.url.encode() in head
    assert not any(word in whole for word in (b"canary", b"plain-33", b"X-Key", b"uthorization"))


def test_a_name_equal_to_the_token_is_not_masked(endpoint, cache):
    """The schema is used unchanged, but not written to disk."""
    client = Client(endpoint(told(OLD)).url, token=Token("hello"))
    assert "hello" in fields(client)
    assert not cache.exists()


def test_clients_with_a_token_have_a_separate_entry(endpoint, cache):
    """Two tokens share one entry, as no name is derived from a token."""
    made = endpoint(told(OLD))
    for options in ({}, {"token": Token("canary-1")}, {"token": Token("canary-2")}, OTHER):
        assert Client(made.url, **options).schema
    assert len(list(cache.iterdir())) == 3


@pytest.mark.parametrize("switch", ["0", None])
def test_schemas_of_localhost_are_not_cached(endpoint, cache, monkeypatch, switch):
    """Nor any schema if caching is disabled."""
    monkeypatch.delenv("GQLNB_CACHE")
    if switch is not None:
        monkeypatch.setenv("GQLNB_CACHE", switch)
    assert Client(endpoint(told(OLD)).url).schema
    assert not cache.exists()
    remote = find_cache_path("https://endpoint.example/graphql", ())
    assert (remote is None) == (switch == "0")


def test_schemas_of_addresses_with_a_query_are_not_cached(endpoint, cache):
    """The query may contain a secret."""
    assert Client(f"{endpoint(told(OLD)).url}?key=canary").schema
    assert not cache.exists()


def test_an_old_schema_is_loaded_again(endpoint, cache):
    """After a week."""
    made = endpoint(told(NEW))
    aged(made.url, 6.9)
    assert "more" not in fields(Client(made.url))
    aged(made.url, 7.1)
    assert "more" in fields(Client(made.url))
    assert "more" in fields(Client(made.url))
    assert len(made.requests) == 1
    aged(made.url, -1)  # the clock was wrong
    assert Client(made.url).schema_notes == ()
    assert Client(made.url).schema
    assert len(made.requests) == 2


def test_an_old_schema_is_used_offline_with_one_note(cache):
    """Documents are validated against it."""
    made = gone()
    aged(made, 30)
    client = Client(made)
    with pytest.warns(
        UserWarning,
        match=r"could not be queried for its schema; using the schema cached 30 days ago",
    ):
        assert client.schema
    with warnings.catch_warnings(action="error"):
        assert client.schema
    with pytest.raises(QueryError, match="Did you mean 'hello'"):
        client.execute("{ helo }")


def test_a_rejected_token_raises_despite_an_old_schema(endpoint, cache):
    """The next query would fail with it anyway."""
    made = endpoint(json_answer({"message": "Bad credentials"}, "401 No"))
    aged(made.url, 30)
    with pytest.raises(gqlnb.AuthError):
        Client(made.url).schema  # noqa: B018


BROKEN = {
    "nothing": b"",
    "noise": os.urandom(500),
    "another format": b'{"gqlnb":"schema","format":99,"fetched":1}\nabc',
    "another program": b'{"fetched": 1}\nabc',
    "no time": b'{"gqlnb":"schema","format":1}\n' + zlib.compress(b"{}"),
    "a wrong time": b'{"gqlnb":"schema","format":1,"fetched":true}\n' + zlib.compress(b"{}"),
    "no data": b'{"gqlnb":"schema","format":1,"fetched":9e99}\nabc',
    "no schema": b'{"gqlnb":"schema","format":1,"fetched":4e9}\n' + zlib.compress(b"{}"),
    "no JSON": b'{"gqlnb":"schema","format":1,"fetched":4e9}\n' + zlib.compress(b"{"),
    "a list": b"[]\n" + zlib.compress(b"{}"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_an_invalid_cache_file_is_replaced(endpoint, cache, what):
    """Without a message."""
    made = endpoint(told(OLD))
    place = find_cache_path(made.url, ())
    assert place is not None
    cache.mkdir(parents=True)
    place.write_bytes(BROKEN[what])
    assert "hello" in fields(Client(made.url))
    assert read_cache(place) is not None
    assert [file.name for file in cache.iterdir()] == [place.name]


@pytest.mark.parametrize("what", ["folder", "pipe", "loop"])
def test_a_cache_path_that_is_not_a_regular_file_is_ignored(endpoint, cache, what):
    """Opening a pipe would block."""
    made = endpoint(told(OLD))
    place = find_cache_path(made.url, ())
    assert place is not None
    cache.mkdir(parents=True)
    {"folder": place.mkdir, "pipe": lambda: os.mkfifo(place)}.get(
        what, lambda: place.symlink_to(place)
    )()
    assert "hello" in fields(Client(made.url))


def test_an_unwritable_cache_is_ignored(endpoint, cache):
    """The cache folder is a file."""
    cache.parent.parent.mkdir(exist_ok=True)
    cache.parent.write_text("")
    assert "hello" in fields(Client(endpoint(told(OLD)).url))


def test_the_oldest_cache_files_are_deleted(tmp_path):
    """The size of the cache is limited; unrelated files stay."""
    (tmp_path / "a.txt").write_text("")
    for number in range(MAX_FILES + 3):
        (tmp_path / f"{number}.schema").write_text("")
        os.utime(tmp_path / f"{number}.schema", (number, number))
    remove_oldest(tmp_path)
    left = {file.name for file in tmp_path.iterdir()}
    assert left == {"a.txt", *(f"{number}.schema" for number in range(3, MAX_FILES + 3))}


# -- a schema from the cache is never the last word


@pytest.mark.parametrize("call", ["execute", "aexecute", "document"])
def test_the_schema_is_refreshed_before_a_validation_error(endpoint, cache, call):
    """Once: a document that is invalid by the new schema, too, is an immediate error."""
    made = endpoint(told(NEW), json_answer({"data": {"more": 7}}))
    aged(made.url, 1)
    client = Client(made.url)
    assert "more" not in fields(client)
    if call == "execute":
        assert client.execute("{ more }").data == {"more": 7}
    elif call == "aexecute":
        assert asyncio.run(client.aexecute("{ more }")).data == {"more": 7}
    else:
        assert client.parse_document("{ more }").schema is client.schema
    asked = len(made.requests)
    for _ in range(2):
        with pytest.raises(QueryError, match="Cannot query field 'les'"):
            client.execute("{ les }")
    assert len(made.requests) == asked


# -- loading


def test_parallel_threads_load_the_schema_once(endpoint):
    """All of them get the same schema."""
    made = endpoint(told(OLD))
    client = Client(made.url)
    with ThreadPoolExecutor(8) as threads:
        found = set(threads.map(lambda _: id(client.schema), range(64)))
    assert found == {id(client.schema)}
    assert len(made.requests) == 1


def test_peek_loads_once_in_the_background(endpoint):
    """The schema is then available to all callers."""
    made = endpoint(told(OLD))
    client = Client(made.url)
    assert {client.peek_schema() for _ in range(100)} <= {None, client._schema_store.schema}
    loaded()
    assert client.peek_schema() is client.schema
    assert len(made.requests) == 1


def test_peek_never_blocks():
    """Neither on a silent endpoint nor on another thread that waits for it."""
    with Endpoint(silent) as made:
        client = Client(made.url)
        assert client.peek_schema() is None
        waiting = ThreadPoolExecutor(1).submit(lambda: client.schema)
        assert client.peek_schema() is None
        assert not waiting.done()
    assert isinstance(waiting.exception(60), TransportError)


def test_a_background_failure_is_raised_on_the_next_access(endpoint, capfd):
    """Not before, and not as output."""
    made = endpoint(json_answer({"errors": [{"message": "Introspection is not allowed, friend."}]}))
    client = Client(made.url)
    with warnings.catch_warnings(action="error"):
        client.peek_schema()
        loaded()
        assert client.peek_schema() is None
    assert capfd.readouterr() == ("", "")
    assert len(made.requests) == 1
    with pytest.raises(SchemaError, match="Introspection is not allowed, friend"):
        client.schema  # noqa: B018
    assert len(made.requests) == 1


def test_a_transient_background_failure_is_retried_on_access(endpoint):
    """The background loads once."""
    made = endpoint(json_answer({"message": "Busy"}, "503 Busy"), told(OLD))
    client = Client(made.url)
    client.peek_schema()
    loaded()
    assert client.peek_schema() is None
    assert "hello" in fields(client)


def test_peek_does_not_change_a_recording_or_the_cache(endpoint, cache, tmp_path):
    """A replayed schema may be outdated, so it is not cached."""
    made = endpoint(told(OLD))
    client = Client(made.url, recording=tmp_path / "it.jsonl", mode="record")
    client.peek_schema()
    loaded()
    assert made.requests == []
    assert "hello" in fields(client)
    assert client.peek_schema() is client.schema
    assert not cache.exists()


def test_an_in_process_schema_is_available_immediately():
    """Nothing needs to be loaded."""
    schema = Schema(OLD)
    client = Client(schema)
    assert client.peek_schema() is client.schema is client.refresh_schema() is schema.graphql
    assert client.schema_notes == ()
    assert len(client.schema_changes()) == 0


def test_refresh_reloads_the_schema_and_validates_with_it(endpoint):
    """Also documents that were validated before."""
    made = endpoint(told(OLD), told(NEW), json_answer({"data": {"more": 7}}))
    client = Client(made.url)
    assert client.schema
    with pytest.raises(QueryError):
        client.execute("{ more }")
    assert client.refresh_schema() is client.schema
    assert client.execute("{ more }").data == {"more": 7}


def test_a_refused_refresh_reports_the_schema_in_use(endpoint):
    """A known schema still validates; the endpoint is named once and can be refreshed again."""
    failing = answer(b"<p>No.", "500 No", Content_Type="text/html")
    refused = json_answer({"errors": [{"message": "Introspection is off."}]})
    made = endpoint(failing, failing, failing, told(OLD), refused)
    client = Client(made.url)
    with pytest.raises(SchemaError, match=r"refresh_schema\(\) asks again") as caught:
        client.schema  # noqa: B018
    assert type(caught.value) is SchemaError
    assert str(caught.value).count(made.url) == 1
    assert client.refresh_schema() is client.schema
    with pytest.raises(SchemaError, match=r"off\. The schema that was known is used") as it:
        client.refresh_schema()
    assert "without being checked" not in str(it.value)


def test_clients_of_a_named_connection_share_its_schema(endpoint):
    """Except a client with its own schema."""
    from gqlnb.client import connections

    made = endpoint(told(OLD))
    connections.register_connection("mine", lambda **options: Client(made.url, **options), "")
    try:
        assert Client("mine").schema is gqlnb.connect("mine").schema
        assert "more" in fields(Client("mine", schema=NEW))
        assert "more" not in fields(Client("mine"))
    finally:
        forget_connection("mine")
    assert len(made.requests) == 1
