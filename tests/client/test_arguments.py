"""Unknown keyword arguments of clients."""

from __future__ import annotations

import inspect

import pytest

from gqlnb import Client, OptionError, connect, reference_schema

URL = "http://127.0.0.1:9/graphql"


@pytest.mark.parametrize("make", [Client, connect])
@pytest.mark.parametrize("target", [URL, "demo", None])
@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("tokn", "Did you mean token=?"),
        ("time_out", "Did you mean timeout=?"),
        ("header", "Did you mean headers=?"),
        ("nothing_like_it", "It takes target=, token=, headers=, "),
    ],
)
def test_an_unknown_keyword_is_named(make, target, word, said):
    """The error has the function and its valid keywords, but not the value."""
    with pytest.raises(OptionError) as caught:
        make(target, **{word: "canary-value"})
    message = str(caught.value)
    assert message.startswith(f"{make.__name__}() has no argument {word}=. ")
    assert said in message
    assert "canary" not in message
    assert "recording_of" not in message
    assert isinstance(caught.value, TypeError)


def test_an_existing_client_refuses_unknown_keywords():
    """The error is the one for unknown keywords, not the one for unused options."""
    with pytest.raises(OptionError, match="Did you mean timeout="):
        connect(Client(reference_schema()), timeot=5)


def test_connect_has_each_keyword_of_a_client():
    """And those of the built-in connections; None is the setting of the connection."""
    client, opened = inspect.signature(Client).parameters, inspect.signature(connect).parameters
    assert [*client, "viewer", "restricted", "base_url"] == list(opened)
    assert {it.default for it in opened.values()} == {None}


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        (URL, {"viewer": "ada"}, r"Client\(\) has no argument viewer="),
        ("github", {"token": "env:PATH", "restricted": True}, r"has no argument restricted="),
        ("demo", {"base_url": URL}, r"Client\(\) has no argument base_url="),
    ],
)
def test_an_option_of_another_connection_is_refused(target, options, message):
    """It would have no effect."""
    with pytest.raises(OptionError, match=message):
        connect(target, **options)
