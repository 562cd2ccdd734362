"""Responses in parts from a real server, as multipart/mixed, events and WebSocket messages."""

from __future__ import annotations

import json
import subprocess
from urllib.parse import quote

import pytest
import requests

from gqlnb import Limits
from gqlnb.engine.graphql_compat import IS_GRAPHQL_33
from gqlnb.http.incremental import (
    EventReader,
    MultipartReader,
    PartFormat,
    negotiate_parts,
    parse_boundary,
)
from gqlnb.http.server_rules import Access
from gqlnb.server.background_server import serve
from tests.engine.part_schema import PATIENCE, Source, build_part_schema, merge_parts

if not IS_GRAPHQL_33:
    pytest.skip("graphql-core before 3.3 executes nothing in parts.", allow_module_level=True)

TEXT = '{ item { id tags @stream(initialCount: 1) ... @defer(label: "x") { name later } } }'
WHOLE = {"item": {"id": "i", "tags": ["a", None, "i"], "name": "item i", "later": "later i"}}
OLDER, NEWER = "multipart/mixed;deferSpec=20220824", "multipart/mixed;incrementalSpec=v0.2"
EVENTS = "text/event-stream"


@pytest.fixture
def source():
    """Return an endless source of `{ endless }`."""
    return Source()


@pytest.fixture
def schema(source):
    """Return a schema that answers in parts."""

    def odd(*_):
        return float("nan")

    made = build_part_schema(endless=source, wait=lambda *_: 1 / 0)
    made.resolver("Item.odd")(odd)
    return made


def ask(server, text, accept, **options):
    """Return the response to an operation."""
    return requests.post(
        server.url, json={"query": text}, headers={"accept": accept}, timeout=PATIENCE, **options
    )


def read_parts(response):
    """Return the parts of a response."""
    media = response.headers["content-type"]
    if (boundary := parse_boundary(media)) is not None:
        return [json.loads(body) for body in MultipartReader(boundary).feed(response.content)]
    events = [it for it in EventReader().feed(response.content) if it.name == "next"]
    return [json.loads(event.data) for event in events]


@pytest.mark.parametrize(
    ("accept", "media", "is_legacy"),
    [
        (OLDER, 'multipart/mixed; boundary="-"; deferSpec=20220824', True),
        (NEWER, 'multipart/mixed; boundary="-"; incrementalSpec=v0.2', False),
        ("multipart/mixed", 'multipart/mixed; boundary="-"; deferSpec=20220824', True),
        ("multipart/mixed;boundary=a.b", f'multipart/mixed; boundary="a.b"; {OLDER[16:]}', True),
        (EVENTS, "text/event-stream; charset=utf-8", True),
        (f"{EVENTS};incrementalSpec=v0.2", "text/event-stream; charset=utf-8", False),
    ],
)
def test_the_client_chooses_the_format(server, accept, media, is_legacy):
    """The merged parts are the same in each."""
    response = ask(server, TEXT, accept)
    assert response.status_code == 200
    assert response.headers["content-type"] == media
    assert response.headers["cache-control"] == "no-store"
    parts = read_parts(response)
    assert merge_parts(parts) == {"data": WHOLE}
    assert ("pending" in parts[0]) is not is_legacy
    increments = [it for part in parts for it in part.get("incremental", ())]
    assert all(("path" in it) is is_legacy for it in increments)
    if is_legacy:
        assert {it.get("label") for it in increments} == {None, "x"}
        assert {"path": ["item", "tags", 1], "items": [None, "i"]} in increments


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        (None, None),
        ("*/*", None),
        ("application/json", None),
        ("multipart/mixed;q=0", None),
        (OLDER, PartFormat("multipart/mixed", is_legacy=True)),
        ('multipart/mixed; IncrementalSpec="v0.2"', PartFormat("multipart/mixed", is_legacy=False)),
        (f"{EVENTS}, multipart/mixed", PartFormat("multipart/mixed", is_legacy=True)),
        (f"{EVENTS}, multipart/mixed;q=0.5", PartFormat(EVENTS, is_legacy=True)),
        (f"{NEWER}, multipart/mixed", PartFormat("multipart/mixed", is_legacy=False)),
        (f"{OLDER}, {NEWER}", PartFormat("multipart/mixed", is_legacy=True)),
        ("multipart/mixed;boundary=aB", PartFormat("multipart/mixed", True, "aB")),
    ],
)
def test_negotiation(accept, expected):
    """The heaviest, then multipart, then the first."""
    assert negotiate_parts(accept) == expected


def test_curl_shows_the_parts_as_text(server):
    """Each part ends with its delimiter, so that it can be read at once."""
    body = json.dumps({"query": "{ item { id ... @defer { name } } }"})
    command = ["curl", "-sSN", "-H", "Content-Type: application/json", "-H", f"Accept: {OLDER}"]
    command += ["-d", body, server.url]
    done = subprocess.run(command, capture_output=True, check=True, timeout=PATIENCE)
    head = "Content-Type: application/json; charset=utf-8"
    assert done.stdout.decode().replace("\r\n", "\n") == (
        f'\n---\n{head}\n\n{{"data":{{"item":{{"id":"i"}}}},"hasNext":true}}'
        f'\n---\n{head}\n\n{{"hasNext":false,"incremental":'
        '[{"path":["item"],"data":{"name":"item i"}}]}\n-----\n'
    )


def test_other_operations_are_json(server):
    """Also for clients that accept parts."""
    accept = f"{OLDER}, application/json"
    response = ask(server, "{ item { id } }", accept)
    assert response.headers["content-type"].startswith("application/json")
    assert response.json() == {"data": {"item": {"id": "i"}}}
    assert ask(server, "{ item { nothing } }", accept).json()["errors"]


def test_a_client_that_reads_no_parts_gets_an_error(server):
    """It names the media type."""
    [error] = ask(server, "{ item { ... @defer { id } } }", "application/json").json()["errors"]
    assert "accept multipart/mixed over HTTP" in error["message"]


def test_exceptions_are_masked_in_each_part(server, schema):
    """The log holds them under their ids."""
    text = "{ item { fails ... @defer { child { fails } required } tags @stream } }"
    found = merge_parts(read_parts(ask(server, text, NEWER)))
    assert [error["path"][-1] for error in found["errors"]] == ["fails", "required"]
    for error in found["errors"]:
        assert error["message"].startswith("Internal error ")
    ident = found["errors"][0]["message"].split()[2].rstrip(".")
    assert isinstance(server.error(ident), ValueError)


def test_values_without_a_json_form_become_null(server):
    """In a later part, with an error."""
    for accept in (OLDER, NEWER):
        found = merge_parts(read_parts(ask(server, "{ item { id ... @defer { odd } } }", accept)))
        assert found["data"] == {"item": {"id": "i", "odd": None}}
        assert len(found["errors"]) == 1


def test_a_disconnect_stops_the_execution(server, source):
    """The generator behind the list is closed."""
    with ask(server, "{ endless @stream }", OLDER, stream=True) as response:
        chunks = response.iter_content(16)
        next(chunks)
        assert source.begun.wait(PATIENCE)
    assert source.closed.wait(PATIENCE)


@pytest.mark.parametrize("accept", [OLDER, NEWER])
def test_the_time_limit_ends_the_stream_with_an_error(schema, accept):
    """In both forms."""
    with serve(schema, port=0, limits=Limits(seconds=1)) as server:
        found = merge_parts(read_parts(ask(server, "{ endless @stream }", accept)))
    assert "Execution stopped after 1 s" in found["errors"][0]["message"]
    assert found["data"]["endless"][:2] == [0, 1]


def test_the_number_of_streams_is_limited(schema, source):
    """Further ones get 503 at once."""
    with serve(schema, port=0, limits=Limits(subscriptions=1)) as server:
        with ask(server, "{ endless @stream }", OLDER, stream=True) as first:
            chunks = first.iter_content(16)
            next(chunks)
            assert source.begun.wait(PATIENCE)
            assert ask(server, TEXT, OLDER).status_code == 503
        assert source.closed.wait(PATIENCE)


def test_the_draft_profile_accepts_multipart(schema):
    """Alone, too."""
    with serve(schema, port=0, access=Access(profile="draft")) as server:
        assert merge_parts(read_parts(ask(server, TEXT, OLDER))) == {"data": WHOLE}


def test_get_allows_queries_only(schema):
    """As without parts."""
    headers = {"accept": OLDER}
    with serve(schema, port=0, access=Access(get=True)) as server:
        query = quote(TEXT)
        found = requests.get(f"{server.url}?query={query}", headers=headers, timeout=PATIENCE)
        assert merge_parts(read_parts(found)) == {"data": WHOLE}
        query = quote("mutation { add { id ... @defer { name } } }")
        refused = requests.get(f"{server.url}?query={query}", headers=headers, timeout=PATIENCE)
    assert (refused.status_code, refused.headers["allow"]) == (405, "POST")
