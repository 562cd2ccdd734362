"""Compressed responses and streams, from an endpoint on raw sockets and from an application."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from typing import TYPE_CHECKING, Any

import pytest

from gqlnb import Client, GqlnbError, Limits, Token, TransportError
from gqlnb.http.content_encoding import accepted_encodings
from tests.asgi import send_answer
from tests.client.faults import answer, chunked
from tests.http.test_content_encoding import COMPRESSED, compress_raw

if TYPE_CHECKING:
    from collections.abc import Callable

TEXT = b'{"data": {"hello": "Hi"}}'
SUBSCRIPTION = "subscription { ticks }"
EVENT = b'event: next\ndata: {"data": {"ticks": 1}}\n\n'
COMPLETE = b"event: complete\ndata:\n\n"
PART = b'\r\n---\r\nContent-Type: application/json\r\n\r\n{"data": {"a": 1}, "hasNext": true}'
LAST = (
    b'\r\n---\r\n\r\n{"incremental": [{"path": [], "data": {"b": 2}}], "hasNext": false}\r\n-----'
)
DEFERRED = "{ a ... @defer { b } }"
HARMLESS = ["none", "None", "utf-8", "UTF8", "identity", "", "binary", "chunked", "charset=utf-8"]
MIB = 2**20


def events(*parts: bytes, encoding: str, **headers: Any) -> bytes:
    """Return a stream of server-sent events in chunks."""
    headers = {"Content_Type": "text/event-stream"} | headers
    return chunked(*parts, Content_Encoding=encoding, **headers)


@pytest.mark.parametrize("encoding", HARMLESS)
def test_names_for_no_encoding_are_accepted(endpoint, encoding):
    """Responses, event streams (GraphQL Yoga sends "none") and incremental responses."""
    url = endpoint(answer(TEXT, Content_Encoding=encoding)).url
    assert Client(url).execute("{ hello }").data == {"hello": "Hi"}
    url = endpoint(events(EVENT, EVENT, COMPLETE, encoding=encoding)).url
    assert len(list(Client(url).subscribe(SUBSCRIPTION, transport="sse"))) == 2
    mixed = events(PART, LAST, encoding=encoding, Content_Type="multipart/mixed; boundary=-")
    results = list(Client(endpoint(mixed).url).subscribe(DEFERRED))
    assert [dict(result.data) for result in results][-1] == {"a": 1, "b": 2}


@pytest.mark.parametrize("how", COMPRESSED)
def test_compressed_responses_are_decoded(endpoint, how):
    """In one piece, in chunks, and as an unsolicited compressed stream."""
    name, compress = COMPRESSED[how]
    packed = compress(TEXT)
    half = len(packed) // 2
    server = endpoint(
        answer(packed, Content_Encoding=name),
        chunked(packed[:half], packed[half:], Content_Encoding=name.upper()),
    )
    client = Client(server.url)
    assert [client.execute("{ hello }").data["hello"] for _ in range(2)] == ["Hi", "Hi"]
    assert f"Accept-Encoding: {accepted_encodings()}\r\n".encode() in server.requests[0]
    assert name in accepted_encodings()
    packed = compress(EVENT * 3 + COMPLETE)
    url = endpoint(events(packed[:9], packed[9:], encoding=name)).url
    assert len(list(Client(url).subscribe(SUBSCRIPTION, transport="sse"))) == 3
    kind = "multipart/mixed; boundary=-"
    packed = compress(PART + LAST)
    url = endpoint(events(packed[:9], packed[9:], encoding=name, Content_Type=kind)).url
    results = list(Client(url).subscribe(DEFERRED))
    assert dict(results[-1].data) == {"a": 1, "b": 2}


def test_a_flushed_event_is_read_immediately(endpoint):
    """It does not wait for the end of its compressed stream."""
    engine = zlib.compressobj(wbits=31)
    first = engine.compress(EVENT) + engine.flush(zlib.Z_SYNC_FLUSH)
    head = answer(
        "", Content_Length=None, Content_Type="text/event-stream", Content_Encoding="gzip"
    )

    def talk(connection: Any, over: Any) -> None:
        connection.sendall(head + first)
        connection.settimeout(30)
        connection.recv(1)

    client = Client(endpoint(talk).url)
    with client.subscribe(SUBSCRIPTION, transport="sse") as stream:
        assert next(stream)["ticks"] == 1


def test_a_decompression_bomb_stops_at_the_limit(endpoint):
    """32 MiB in some kilobytes, whole or as events: one error, and little memory.

    tests/http/test_content_encoding.py has the limits of all decoders.
    """
    mixed, blank = "multipart/mixed; boundary=-", b" " * 32 * MIB
    pack = gzip.compress
    bombs = {
        "execute": answer(pack(b'{"data": "' + blank), Content_Encoding="gzip"),
        "event": events(pack(b"data: " + blank), encoding="gzip"),
        "parts": events(pack(PART + blank), encoding="gzip", Content_Type=mixed),
    }
    asks: dict[str, Callable[[Client], Any]] = {
        "execute": lambda client: client.execute("{ hello }"),
        "event": lambda client: list(client.subscribe(SUBSCRIPTION, transport="sse")),
        "parts": lambda client: list(client.subscribe(DEFERRED)),
    }
    for kind, said in bombs.items():
        client = Client(endpoint(said).url, limits=Limits(answer=MIB))
        tracemalloc.start()
        try:
            with pytest.raises(TransportError, match="larger than 1 MiB"):
                asks[kind](client)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < 12 * MIB


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (events(EVENT, encoding="rot13"), "its Content-Encoding is 'rot13', which was not asked"),
        (events(EVENT, encoding="gzip"), "data do not match the Content-Encoding"),
        (
            events(gzip.compress(EVENT + COMPLETE)[:20], encoding="gzip"),
            "the response is incomplete",
        ),
        (
            events(compress_raw(b'data: {"data": {"ticks": 1}}\n\n')[:-1], encoding="deflate"),
            "the response is incomplete",
        ),
    ],
    ids=["unknown", "not compressed", "cut", "cut without names"],
)
def test_a_corrupt_compressed_stream_is_one_error(endpoint, said, words):
    """The error names the problem."""
    client = Client(endpoint(said).url)
    with pytest.raises(TransportError, match=words):
        list(client.subscribe(SUBSCRIPTION, transport="sse", reconnect=0))


def application(kind: str, body: bytes, encoding: str) -> Any:
    """Return an ASGI application that answers with this body."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await send({"type": "websocket.close"})
            return
        headers = {"content-type": kind, "content-encoding": encoding}
        await send_answer(send, body, headers=headers)

    return app


def test_in_process_applications_may_compress():
    """Responses and streams; unreadable content is one error."""
    json, stream = "application/json", "text/event-stream"
    app = application(json, gzip.compress(TEXT), "gzip")
    assert Client(app).execute("{ hello }").data == {"hello": "Hi"}
    app = application(stream, zlib.compress(EVENT + COMPLETE), "deflate")
    assert len(list(Client(app).subscribe(SUBSCRIPTION, transport="sse"))) == 1
    for encoding, words in (("rot13", "'rot13'"), ("gzip", "data do not match")):
        app = application(json, TEXT, encoding)
        with pytest.raises(TransportError, match=words):
            Client(app).execute("{ hello }")
        app = application(stream, EVENT + COMPLETE, encoding)
        with pytest.raises(GqlnbError, match=words):
            list(Client(app).subscribe(SUBSCRIPTION, transport="sse", reconnect=0))


def test_a_compressed_error_response_is_decoded(endpoint):
    """The message is that of the response."""
    body = gzip.compress(b'{"errors": [{"message": "no such field"}]}')
    url = endpoint(answer(body, "500 No", Content_Encoding="gzip")).url
    with pytest.raises(TransportError, match="HTTP 500: no such field"):
        Client(url).execute("{ hello }")


def test_a_token_echoed_as_an_encoding_is_hidden(endpoint):
    """In upper or lower case: the error would name the encoding."""
    secret = "Canary-52a7"
    for encoding in (secret, f"gzip, {secret}"):
        app = application("application/json", TEXT, encoding)
        url = endpoint(answer(TEXT, Content_Encoding=encoding)).url
        stream = endpoint(events(EVENT, encoding=encoding)).url
        for ask in (
            lambda: Client(app, token=Token(secret)).execute("{ hello }"),  # noqa: B023
            lambda: Client(url, token=Token(secret)).execute("{ hello }"),  # noqa: B023
            lambda: list(
                Client(stream, token=Token(secret)).subscribe(SUBSCRIPTION, transport="sse")  # noqa: B023
            ),
        ):
            with pytest.raises(TransportError, match="which was not asked for") as caught:
                ask()
            assert secret.lower() not in str(caught.value).lower()
