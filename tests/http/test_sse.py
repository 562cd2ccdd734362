"""Server-sent events: who wants them, how they are written, and how they are read."""

import pytest

from gqlnb.http import incremental
from gqlnb.http.content_encoding import BodyTooLargeError
from gqlnb.http.incremental import (
    COMPLETE_EVENT,
    KEEP_ALIVE_COMMENT,
    EventReader,
    ServerSentEvent,
    encode_event,
)

GRAPHQL = "application/graphql-response+json"


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        (None, "never"),
        ("", "never"),
        ("*/*", "never"),
        ("text/*", "never"),
        ("application/json", "never"),
        ("text/event-stream;q=0", "never"),
        ("text/event-stream", "always"),
        ("TEXT/Event-Stream", "always"),
        ("text/event-stream, multipart/mixed", "always"),
        ("text/event-stream, application/json;q=0.5", "always"),
        (f"text/event-stream, {GRAPHQL};q=0.9", "always"),
        (f"{GRAPHQL}, application/json, text/event-stream, multipart/mixed", "subscriptions"),
        ("text/event-stream, */*", "subscriptions"),
        ("text/event-stream;q=0.1, application/json", "subscriptions"),
    ],
)
def test_events_are_sent_if_the_client_accepts_them(accept, wanted):
    """For all operations if preferred, otherwise only for subscriptions."""
    assert incremental.negotiate_events(accept) == wanted


STREAM = (
    b'\xef\xbb\xbf:\r\n\r\nevent: next\r\nid: 7\r\ndata: {"a":\r\ndata: 1}\r\n\r\n'
    b"data:\xc3\xbc\r\revent: ping\n\nretry: 5\ndata\n\nevent: complete\ndata:\n\ndata: cut"
)
READ = [
    ServerSentEvent("next", b'{"a":\n1}'),
    ServerSentEvent("message", "ü".encode()),
    ServerSentEvent("ping", b""),
    ServerSentEvent("message", b""),
    ServerSentEvent("complete", b""),
]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_events_do_not_depend_on_the_chunks(size):
    """Line ends, comments, several data lines, unknown fields and truncated bodies."""
    reader = EventReader()
    parts = [STREAM[at : at + size] for at in range(0, len(STREAM), size)]
    assert [event for part in parts for event in reader.feed(part)] == READ
    assert reader.finish() == "message"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_an_event_is_yielded_at_its_last_line_end(end):
    """A line feed that may follow a return is not waited for, and ends no further line."""
    reader = EventReader()
    pieces = "data: 1~~", "event: complete~", "~"
    found = [list(reader.feed(piece.replace("~", end).encode())) for piece in pieces]
    assert found == [[("message", b"1")], [], [("complete", b"")]]
    assert reader.finish() is None


def test_written_events_are_parsed_back():
    """The server's encoder and the client's parser agree."""
    stream = (
        KEEP_ALIVE_COMMENT + encode_event(b'{"data":null}') + KEEP_ALIVE_COMMENT + COMPLETE_EVENT
    )
    assert list(EventReader().feed(stream)) == [
        ServerSentEvent("next", b'{"data":null}'),
        ServerSentEvent("complete", b""),
    ]


@pytest.mark.parametrize(
    "stream", [b"x" * 200, b"data: " + b"x" * 200, b"data: x\n" * 60, b"data\n" * 200]
)
@pytest.mark.parametrize("size", [10, 1000])
def test_an_endless_event_is_rejected(stream, size):
    """In one line or many, whole or in chunks."""
    reader = EventReader(100)
    parts = [stream[at : at + size] for at in range(0, len(stream), size)]
    with pytest.raises(BodyTooLargeError):
        [event for part in parts for event in reader.feed(part)]


def test_the_limit_applies_to_each_event():
    """A stream may be of any length."""
    reader = EventReader(100)
    assert sum(len(list(reader.feed(b"data: " + b"x" * 80 + b"\n\n"))) for _ in range(50)) == 50
