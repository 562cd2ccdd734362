"""Keyword arguments of clients: unknown ones, and what options of HTTP take."""

from __future__ import annotations

import inspect
import json
import pickle

import pytest

from gqlnb import Client, OptionError, TargetError, connect, reference_schema

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


@pytest.mark.parametrize(
    ("name", "value", "wrong", "message", "bad"),
    [
        ("batch", 7, (0, -1, True, "10", 2.5, 1001), "a whole number from 1 to 1,000", "true"),
        ("persisted_queries", True, ("yes",), "True or False", "1"),
        ("nan", "null", ("nil", True, 0), '"error" or "null"', "1"),
    ],
)
def test_an_option_of_http_is_checked_and_kept(
    tmp_path, monkeypatch, name, value, wrong, message, bad
):
    """In pickles and settings files; targets of this process have no use for it."""
    url = "http://127.0.0.1:4000/graphql"
    for each in wrong:
        with pytest.raises(OptionError, match=f"{name}= takes {message}"):
            Client(url, **{name: each})
    with pytest.raises(TargetError, match=f"{name}= would have no effect"):
        Client(reference_schema(), **{name: value})
    again = pickle.loads(pickle.dumps(Client(url, **{name: value})))
    assert getattr(again._endpoint.options, name) == value
    monkeypatch.chdir(tmp_path)
    table = f'[tool.gqlnb.connections.local]\nurl = "{url}"\n{name} = '
    (tmp_path / "pyproject.toml").write_text(f"{table}{json.dumps(value)}\n")
    assert getattr(connect("local")._endpoint.options, name) == value
    (tmp_path / "pyproject.toml").write_text(f"{table}{bad}\n")
    with pytest.raises(TargetError, match=rf"line 3: .*{name}= takes"):
        connect("local")
