"""Persisted queries: hashes in the place of texts, for endpoints that know them."""

from __future__ import annotations

import asyncio
import hashlib
import json
from typing import Any

import pytest

from gqlnb import AuthError, Client, QueryError, recorded, reference_schema, serve
from gqlnb.client.http_transport import QueryHashes
from gqlnb.document.document import Document
from gqlnb.http.messages import Request, Response
from tests.client.faults import Endpoint, json_answer

TEXT = "{ hello }"
FINE = {"data": {"hello": "x"}}
UNKNOWN = {"errors": [{"message": "PersistedQueryNotFound"}]}
UNKNOWN_CODE = {"errors": [{"message": "?", "extensions": {"code": "PERSISTED_QUERY_NOT_FOUND"}}]}
UNSUPPORTED = {"errors": [{"message": "PersistedQueryNotSupported"}]}
NO_TEXT = {"errors": [{"message": "Must provide query string."}]}
WRONG = {"errors": [{"message": "Variable $a is wrong."}]}
NULL = {"data": None, "errors": [{"message": "Failed", "path": ["hello"]}]}


def exchange(
    hashes: QueryHashes, text: str, *answers: tuple[int, Any]
) -> tuple[list[str], Response]:
    """Return what is sent where the endpoint gives these answers, and the one that is returned."""
    sent, waiting = [], list(answers)

    def send(request: Request) -> Response:
        members = json.loads(request.encode())
        named = members.get("extensions", {}).get("persistedQuery", {}).get("sha256Hash")
        assert named in (None, hashlib.sha256(text.encode()).hexdigest())
        sent.append("+".join(["hash"] * bool(named) + ["text"] * ("query" in members)))
        status, body = waiting.pop(0)
        return Response(status, body=body if isinstance(body, bytes) else json.dumps(body).encode())

    response = hashes.exchange(Request(text, document=Document.parse(text)), send)
    assert not waiting
    return sent, response


@pytest.mark.parametrize(
    ("answers", "sent", "learned"),
    [
        ([(200, FINE)], ["hash"], True),
        ([(200, UNKNOWN), (200, FINE)], ["hash", "hash+text"], True),
        ([(400, UNKNOWN_CODE), (200, FINE)], ["hash", "hash+text"], True),
        ([(200, UNSUPPORTED), (200, FINE)], ["hash", "text"], False),
        ([(400, NO_TEXT), (200, FINE)], ["hash", "hash+text"], False),
        ([(500, b"<html>"), (200, FINE)], ["hash", "hash+text"], False),
        ([(400, WRONG), (400, WRONG)], ["hash", "hash+text"], None),
        ([(400, {"data": None, **NO_TEXT}), (200, FINE)], ["hash", "hash+text"], False),
        ([(200, NULL)], ["hash"], True),
        ([(400, NULL)], ["hash"], True),
        ([(200, {"data": {"hello": "x" * 100_000}})], ["hash"], True),
        ([(200, [FINE]), (200, FINE)], ["hash", "hash+text"], False),
        ([(401, NO_TEXT)], ["hash"], None),
        ([(503, b"<html>")], ["hash"], None),
    ],
)
def test_each_answer_to_a_hash(answers, sent, learned):
    """It is the answer, or the text is sent once; the client learns whether hashes work."""
    hashes = QueryHashes()
    assert exchange(hashes, TEXT, *answers)[0] == sent
    assert hashes.is_supported is learned


def test_a_client_stops_asking_and_stays_sure():
    """Without support the text alone is sent; with it an error is not about the text."""
    hashes = QueryHashes()
    exchange(hashes, TEXT, (200, UNSUPPORTED), (200, FINE))
    assert exchange(hashes, TEXT, (200, FINE))[0] == ["text"]
    hashes = QueryHashes()
    exchange(hashes, TEXT, (200, UNKNOWN), (200, FINE))
    assert exchange(hashes, TEXT, (400, WRONG))[0] == ["hash"]
    assert exchange(hashes, TEXT, (200, NULL))[0] == ["hash"]
    assert exchange(hashes, TEXT, (200, UNKNOWN), (200, FINE))[0] == ["hash", "hash+text"]


def test_a_mutation_is_not_repeated_after_a_failure_of_the_server():
    """It may have been executed; a refusal of the request was not."""
    hashes = QueryHashes()
    assert exchange(hashes, "mutation { a }", (500, b"<html>"))[0] == ["hash"]
    assert exchange(hashes, "mutation { a }", (200, NULL))[0] == ["hash"]
    sent, _ = exchange(QueryHashes(), "mutation { a }", (400, NO_TEXT), (200, FINE))
    assert sent == ["hash", "hash+text"]


def test_our_server_learns_a_text_once():
    """Also for another client; sync and async calls send hashes."""
    with serve(reference_schema(), port=0) as server:
        for requests in (2, 1):
            with Client(server.url, persisted_queries=True) as client:
                before = len(server.log)
                assert client.execute(TEXT).data == {"hello": "Hello world!"}
                assert len(server.log) - before == requests
                assert asyncio.run(client.aexecute(TEXT)).data == {"hello": "Hello world!"}
                assert len(server.log) - before == requests + 1
        with pytest.raises(QueryError, match="helo"):
            client.execute("{ helo }")


def test_the_hash_travels_beside_variables_and_extensions(tmp_path):
    """And in the requests of a recording, which keeps the text and replays without hashes."""
    text = "query ($a: Int) { hello(a: $a) }"
    answers = [json_answer(UNKNOWN), json_answer(FINE)]
    with Endpoint(*answers) as endpoint:
        client = Client(endpoint.url, persisted_queries=True, recording=tmp_path / "calls.json")
        client.execute(text, {"a": 1}, extensions={"trace": 7})
        bodies = [json.loads(it.partition(b"\r\n\r\n")[2]) for it in endpoint.requests]
    entry = {"version": 1, "sha256Hash": hashlib.sha256(text.encode()).hexdigest()}
    hashed = {"variables": {"a": 1}, "extensions": {"trace": 7, "persistedQuery": entry}}
    assert bodies == [hashed, {"query": text, **hashed}]
    with recorded(tmp_path / "calls.json", mode="replay"):
        assert Client(endpoint.url).execute(text, {"a": 1}).data == FINE["data"]


def test_refused_tokens_are_reported_as_ever():
    """Nothing is sent again."""
    with Endpoint(json_answer(NO_TEXT, "401 Unauthorized")) as endpoint:
        with pytest.raises(AuthError):
            Client(endpoint.url, persisted_queries=True).execute(TEXT)
        assert len(endpoint.requests) == 1
