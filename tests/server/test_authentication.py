"""Several tokens, functions that verify tokens, and contexts made from requests."""

from __future__ import annotations

import asyncio
import json
import logging
import threading

import pytest
import requests
from websockets.sync.client import connect

from gqlnb import OptionError, Schema, Token, serve
from gqlnb.server.app import App

SDL = """
type Query { who: String client: String agent: String }
type Subscription { who: String }
"""


async def subscribe(_root, _args, context):
    """Yield the identity once."""
    yield {"who": context["who"]}


@pytest.fixture
def schema():
    """Return a schema whose resolvers read their context."""
    names = ("who", "client", "agent")
    query = {name: lambda _root, _args, context, it=name: context[it] for name in names}
    return Schema(SDL, {"Query": query, "Subscription": {"who": subscribe}})


def build_context(request):
    """Return the context of a request."""
    who, agent = request.identity, request.headers.get("user-agent")
    return {"who": who and str(who), "client": request.client, "agent": agent}


async def build_context_async(request):
    """Return the context of a request, later."""
    await asyncio.sleep(0)
    return build_context(request)


FAULT = {"kind": ValueError}


def verify(text):
    """Accept one token, forbid one, and fail for another."""
    if text == "forbidden":
        msg = "Your account is closed."
        raise PermissionError(msg)
    if text == "broken":
        raise FAULT["kind"](text)
    return {"sub": "anna"} if text == "right" else None


async def verify_async(text):
    """Do as `verify`, later."""
    await asyncio.sleep(0)
    return verify(text)


TOKENS = {"anna": Token("right"), "otto": Token("other")}


def ask(server, query="{ who }", token=None, **headers):
    """Send a query with a token."""
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    return requests.post(server.url, json={"query": query}, headers=headers, timeout=10)


@pytest.mark.parametrize("function", [build_context, build_context_async])
def test_resolvers_get_a_context_made_from_each_request(schema, function):
    """Also where a text was fast before: nobody gets the context of another."""
    with serve(schema, port=0, context=function) as server:
        for number in range(20):
            answer = ask(server, "{ agent client }", **{"User-Agent": f"agent {number}"})
            assert answer.json()["data"] == {"agent": f"agent {number}", "client": "127.0.0.1"}


@pytest.mark.parametrize("context", [build_context, build_context_async])
@pytest.mark.parametrize(
    ("token", "who"), [(TOKENS, "anna"), (verify, "{'sub': 'anna'}"), (verify_async, None)]
)
def test_the_identity_of_a_client_is_in_the_context(schema, token, who, context):
    """The name of a token, or the value of a function."""
    with serve(schema, port=0, token=token, context=context) as server:
        answer = ask(server, token="right")
        assert answer.json() == {"data": {"who": who or "{'sub': 'anna'}"}}
        for wrong in (None, "wrong", "", "right x"):
            refused = ask(server, token=wrong)
            assert refused.status_code == 401
            assert refused.headers["www-authenticate"] == "Bearer"


def test_each_name_has_its_own_token(schema):
    """A mapping of names to tokens."""
    with serve(schema, port=0, token=TOKENS, context=build_context) as server:
        found = [ask(server, token=it).json()["data"]["who"] for it in ("right", "other")]
        assert found == ["anna", "otto"]


@pytest.mark.parametrize("function", [verify, verify_async])
def test_a_function_forbids_by_permission_error(schema, function):
    """With 403 and its message."""
    with serve(schema, port=0, token=function, context=build_context) as server:
        answer = ask(server, token="forbidden")
        assert answer.status_code == 403
        assert answer.json()["errors"] == [{"message": "Your account is closed."}]


@pytest.mark.parametrize("function", [verify, verify_async])
@pytest.mark.parametrize(
    "kind", [ValueError, SystemExit, KeyboardInterrupt, asyncio.CancelledError, OSError]
)
def test_an_exception_of_a_function_refuses_the_token(schema, caplog, function, kind, monkeypatch):
    """Libraries raise for invalid tokens; the log does not repeat the token."""
    monkeypatch.setitem(FAULT, "kind", kind)
    with serve(schema, port=0, token=function, context=build_context) as server:
        with caplog.at_level(logging.WARNING):
            answer = ask(server, token="broken")
        assert (answer.status_code, bool(answer.json()["errors"])) == (401, True)
        assert kind.__name__ in caplog.text
        assert "broken" not in caplog.text
        assert "Traceback" not in caplog.text
        assert ask(server, token="right").status_code == 200


def test_plain_functions_run_in_worker_threads(schema):
    """They may do I/O."""
    threads = []

    def note(value):
        threads.append(threading.current_thread().name)
        return {"who": "x"}

    with serve(schema, port=0, token=note, context=note) as server:
        assert ask(server, token="x").status_code == 200
    assert [name.rpartition("-")[0] for name in threads] == ["gqlnb-resolver"] * 2


def test_a_failing_context_is_an_internal_error(schema):
    """Masked, and the server goes on."""

    def fail(request):
        raise KeyError(request.path)

    with serve(schema, port=0, context=fail) as server:
        answer = ask(server)
        assert answer.status_code == 500
        assert answer.json()["errors"][0]["message"].startswith("Internal error")
        assert isinstance(server.error(server.log["error_id"].iloc[-1]), KeyError)


@pytest.mark.parametrize("way", ["handshake", "init"])
@pytest.mark.parametrize("token", [TOKENS, verify, verify_async])
def test_subscriptions_over_websocket_have_the_identity(schema, token, way):
    """Whether the token comes in the handshake or in the first message."""
    with serve(schema, port=0, token=token, context=build_context) as server:
        for text, is_right in (("right", True), ("wrong", False)):
            header = {"Authorization": f"Bearer {text}"}
            found = play(server.url, header, in_handshake=way == "handshake")
            assert ("anna" in found) == is_right


def play(url, header, *, in_handshake):
    """Return the first event of a subscription, or the refusal, as text."""
    try:
        with connect(
            url.replace("http", "ws"),
            subprotocols=["graphql-transport-ws"],
            additional_headers=header if in_handshake else {},
        ) as socket:
            init = {"type": "connection_init", "payload": {} if in_handshake else header}
            socket.send(json.dumps(init))
            assert "connection_ack" in socket.recv(timeout=5)
            start = {"type": "subscribe", "id": "1", "payload": {"query": "subscription { who }"}}
            socket.send(json.dumps(start))
            return socket.recv(timeout=5)
    except Exception as error:  # noqa: BLE001 - a refusal, of one of two kinds
        return repr(error)


def test_subscriptions_over_events_have_the_identity(schema):
    """By the same headers as a query."""
    with serve(schema, port=0, token=TOKENS, context=build_context) as server:
        answer = ask(server, "subscription { who }", "right", Accept="text/event-stream")
        assert '"who":"anna"' in answer.text


@pytest.mark.parametrize("option", [{"context": {}}, {"token": {}}])
def test_invalid_options_are_refused(schema, option):
    """With the reason."""
    with pytest.raises(OptionError):
        App(schema, **option)
