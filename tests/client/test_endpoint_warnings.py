"""Warnings in the extensions of a response."""

from __future__ import annotations

import asyncio
import warnings
from typing import TYPE_CHECKING, Any

import pytest

from gqlnb import Client, Schema, Token
from gqlnb.server.app import App
from tests.client.faults import Endpoint, json_answer

if TYPE_CHECKING:
    from collections.abc import Callable

SDL = "type Query { node(id: ID!): ID }"
LINK = "https://docs.github.com/graphql/guides/migrating-graphql-global-node-ids"


def describe_id(number: int) -> dict[str, Any]:
    """Return GitHub's warning about a deprecated id."""
    return {
        "type": "DEPRECATION",
        "message": f"The id {number} is deprecated. Update your cache to use the next_global_id.",
        "data": {"legacy_global_id": str(number), "next_global_id": f"R_{number}"},
        "link": LINK,
    }


def answer_with(*listed: Any) -> bytes:
    """Return an answer with data and warnings."""
    return json_answer({"data": {"node": "1"}, "extensions": {"warnings": list(listed)}})


CALLS: dict[str, Callable[[Client], Any]] = {
    "execute": lambda client: client.execute('{ node(id: "1") }'),
    "aexecute": lambda client: asyncio.run(client.aexecute('{ node(id: "1") }')),
    "frame": lambda client: client.frame('{ node(id: "1") }'),
    "execute_all": lambda client: client.execute_all('{ node(id: "1") }'),
    "execute_many": lambda client: client.execute_many(['{ node(id: "1") }'] * 3),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_kind_of_warning_is_shown_once(call):
    """GitHub sends one for each id; the first one is shown, with the link."""
    answers = [answer_with(describe_id(number), describe_id(-number)) for number in range(1, 4)]
    with Endpoint(*answers) as endpoint, Client(endpoint.url, schema=SDL) as client:
        with pytest.warns(UserWarning, match=r"warns: The id .* is deprecated") as caught:
            _ = [CALLS[call](client) for _ in range(2)]
        (shown,) = caught
        assert str(shown.message).endswith(f"See {LINK}")


@pytest.mark.parametrize("call", ["execute", "frame", "execute_all"])
def test_the_warning_names_the_line_of_the_caller(call):
    """It is the line of the user's code, not one of the package."""
    with Endpoint(answer_with("Slow.")) as endpoint, Client(endpoint.url, schema=SDL) as client:
        with pytest.warns(UserWarning, match=r"graphql warns: Slow\.") as caught:
            CALLS[call](client)
        assert [it.filename for it in caught] == [__file__]


def test_another_kind_of_warning_is_shown_too():
    """Kinds are distinguished by their type, or else by their text."""
    listed = [describe_id(1), {"type": "BETA", "message": "Beta."}, "Plain.", {"message": "Plain."}]
    with Endpoint(answer_with(*listed)) as endpoint, Client(endpoint.url, schema=SDL) as client:
        with pytest.warns(UserWarning, match=" warns: ") as caught:
            client.execute('{ node(id: "1") }')
        texts = [str(it.message).partition(" warns: ")[2] for it in caught]
        assert [text.split(".")[0] for text in texts] == ["The id 1 is deprecated", "Beta", "Plain"]


@pytest.mark.parametrize("listed", [None, {}, "text", [None, 3, {}, {"message": 3}, []]], ids=repr)
def test_warnings_of_another_form_are_ignored(listed):
    """The member is not part of the specification, so others may use it as they like."""
    answer = json_answer({"data": {"node": "1"}, "extensions": {"warnings": listed}})
    with (
        Endpoint(answer) as endpoint,
        Client(endpoint.url, schema=SDL) as client,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("error")
        assert client.execute('{ node(id: "1") }').data == {"node": "1"}


def test_an_endpoint_cannot_flood_the_output():
    """After twenty kinds no more are shown."""
    listed = [f"Text {number}." for number in range(100)]
    with Endpoint(answer_with(*listed)) as endpoint, Client(endpoint.url, schema=SDL) as client:
        with pytest.warns(UserWarning, match=" warns: ") as caught:
            client.execute('{ node(id: "1") }')
        assert len(caught) == 20


def test_a_secret_in_a_warning_is_hidden():
    """An endpoint may repeat the token."""
    with Endpoint(answer_with("Token canary-12 expires.")) as endpoint:
        client = Client(endpoint.url, schema=SDL, headers={"Authorization": Token("canary-12")})
        with pytest.warns(UserWarning, match="expires") as caught:
            client.execute('{ node(id: "1") }')
        assert "canary-12" not in str(caught[0].message)


def test_extensions_of_in_process_schemas_are_ignored():
    """Only responses of remote endpoints have warnings in them."""
    schema = Schema(SDL, {"Query": {"node": lambda root, args, context: args["id"]}})
    with warnings.catch_warnings(action="error"):
        assert Client(App(schema)).execute('{ node(id: "1") }').data == {"node": "1"}
