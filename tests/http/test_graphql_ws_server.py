"""GraphQL over WebSocket, message by message, as the server sees it."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gqlnb.http.graphql_ws import (
    MAX_REASON_BYTES,
    CloseSocket,
    SendMessage,
    ServerProtocol,
    StartOperation,
    StopOperation,
)
from tests.examples import count_examples

INIT = '{"type":"connection_init"}'
ACK = SendMessage('{"type":"connection_ack"}')
HELLO = {"query": "{ hello }"}


def message(kind, **members):
    """Return a message in JSON."""
    return json.dumps({"type": kind, **members}, ensure_ascii=False)


def subscribe(name="1", payload=HELLO):
    """Return the message that starts an operation."""
    return message("subscribe", id=name, payload=payload)


@pytest.fixture
def new():
    """Return a connection that nobody has said anything on."""
    return ServerProtocol(lambda payload: payload.get("word") != "wrong", most=1000)


@pytest.fixture
def ready(new):
    """Return one that was let in."""
    assert new.receive(INIT) == ACK
    return new


# -- operations


def test_complete_from_the_client_ends_the_operation(ready):
    """Pending results are not sent."""
    ready.receive(subscribe())
    assert ready.receive(message("complete", id="1")) == StopOperation("1")
    assert ready.build_next("1", b"{}") is None
    assert ready.build_error("1", []) is None
    assert ready.build_complete("1") is None


def test_completing_a_finished_operation_is_allowed(ready):
    """Both sides may send complete at the same time."""
    assert ready.receive(message("complete", id="1")) is None
    assert not ready.closed


@pytest.mark.parametrize("state", ["new", "ready"])
def test_a_ping_is_always_answered(state, request):
    """Even before connection_init; a pong needs no response."""
    connection = request.getfixturevalue(state)
    assert connection.receive(message("ping", payload={"a": 1})) == SendMessage('{"type":"pong"}')
    assert connection.receive(message("pong")) is None
    assert not connection.closed


# -- what is no message


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "[]",
        "5",
        '"connection_init"',
        "{}",
        '{"type":5}',
        '{"type":["ping"]}',
        '{"type":"start"}',
        '{"type":"next","id":"1","payload":{}}',
        '{"type":"connection_ack"}',
        '{"type":"ping","payload":5}',
        '{"type":"pong","payload":[]}',
        '{"type":"complete"}',
        '{"type":"subscribe","payload":{"query":"{ a }"}}',
        '{"type":"subscribe","id":"","payload":{"query":"{ a }"}}',
        '{"type":"subscribe","id":1,"payload":{"query":"{ a }"}}',
        '{"type":"subscribe","id":"1"}',
        '{"type":"subscribe","id":"1","payload":{}}',
        '{"type":"subscribe","id":"1","payload":{"query":5}}',
        '{"type":"subscribe","id":"1","payload":{"query":"{ a }","variables":[]}}',
        '{"type":"subscribe","id":"1","payload":[{"query":"{ a }"}]}',
        '{"type":"ping","payload":{"a":NaN}}',
        f'{{"type":"subscribe","id":"{"i" * 257}","payload":{{"query":"a"}}}}',
        "\ud800",
        "[" * 900,
        b'{"type":"ping"}',
    ],
)
def test_an_invalid_message_closes_the_socket(ready, text):
    """With 4400 and a reason that fits a close frame."""
    action = ready.receive(text)
    assert isinstance(action, CloseSocket)
    assert action.code == 4400
    assert 0 < len(action.reason.encode()) <= MAX_REASON_BYTES


def test_a_message_over_the_limit_closes_the_socket(ready):
    """With 1009, WebSocket's own code; the limit can be disabled."""
    long = message("ping", payload={"a": "x" * 1000})
    assert ready.receive(long) == (1009, "At most 1,000 characters are accepted.")
    assert ServerProtocol(lambda payload: True).receive(long) == SendMessage('{"type":"pong"}')


def test_a_close_reason_is_truncated_between_characters(ready):
    """A close frame has at most 123 bytes of UTF-8."""
    ready.receive(subscribe("ä" * 200))
    reason = ready.receive(subscribe("ä" * 200)).reason
    assert len(reason.encode()) <= MAX_REASON_BYTES
    assert reason.startswith("Subscriber for äää")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
KINDS = st.sampled_from(["connection_init", "subscribe", "complete", "ping", "pong", "next"])
MESSAGES = st.fixed_dictionaries(
    {"type": KINDS | VALUES},
    optional={
        "id": st.sampled_from("abc") | VALUES,
        "payload": st.sampled_from([HELLO, {}]) | VALUES,
    },
).map(json.dumps)


@settings(max_examples=count_examples(300))
@given(st.lists(MESSAGES | st.text() | st.binary(), max_size=12))
def test_arbitrary_messages_keep_the_protocol_invariants(messages):
    """No exception, no message after Close, and one operation per id at a time."""
    connection, running, ended = ServerProtocol(lambda payload: "no" not in payload), set(), False
    for each in messages:
        action = connection.receive(each)
        assert action is None or not ended
        match action:
            case StartOperation(id=name):
                assert connection.ready
                assert name not in running
                running.add(name)
            case StopOperation(id=name):
                running.remove(name)
            case CloseSocket(code=code):
                assert code in {4400, 4401, 4403, 4409, 4429}
                ended = True
        assert connection.active == (set() if ended else running)
