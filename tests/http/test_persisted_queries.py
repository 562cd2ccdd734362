"""Persisted queries: a text is known by its hash, and by no other."""

from __future__ import annotations

import asyncio
import hashlib
import json

import pytest

from gqlnb import reference_schema
from gqlnb.http import messages
from gqlnb.http.messages import (
    PersistedQueries,
    PersistedQueryError,
    build_request,
    load_body,
)
from gqlnb.http.server_rules import ServerRules
from gqlnb.server.request_executor import RequestExecutor

TEXT = "{ hello }"


def build(text=None, name=None, **entry):
    """Return a request with a hash, by default that of `TEXT`."""
    entry = {"version": 1, "sha256Hash": name or compute_hash(text or TEXT), **entry}
    members = {"extensions": {"persistedQuery": entry}}
    if text is not None:
        members["query"] = text
    body = json.dumps(members).encode()
    return build_request(load_body(body), raw=body)


def compute_hash(text):
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def resolve(store, request):
    """Return the text of a request."""
    return store.resolve(request.query, request.query_hash)


def refuse(store, request):
    """Return the code of the error of a request."""
    with pytest.raises(PersistedQueryError) as caught:
        resolve(store, request)
    return caught.value.error["extensions"]["code"]


def test_nobody_can_register_another_text_under_a_hash():
    """The hash is computed again."""
    store = PersistedQueries()
    assert refuse(store, build("{ other }", compute_hash(TEXT))) == "BAD_REQUEST"
    assert refuse(store, build()) == "PERSISTED_QUERY_NOT_FOUND"


@pytest.mark.parametrize("entry", [{"version": 2}, {"sha256Hash": "x"}, {"sha256Hash": 1}])
def test_other_versions_are_not_supported(entry):
    """Apollo's link then sends texts without hashes."""
    assert refuse(PersistedQueries(), build(**entry)) == "PERSISTED_QUERY_NOT_SUPPORTED"


def test_the_store_is_bounded(monkeypatch):
    """By number and length; the oldest texts are dropped."""
    monkeypatch.setattr(messages, "MAX_TEXTS", 3)
    store = PersistedQueries()
    for number in range(5):
        resolve(store, build(f"{{ a{number}: hello }}"))
    assert refuse(store, build(name=compute_hash("{ a1: hello }"))) == "PERSISTED_QUERY_NOT_FOUND"
    assert resolve(store, build(name=compute_hash("{ a4: hello }"))) == "{ a4: hello }"


def test_a_server_answers_a_hash_after_the_text():
    """With the status of a request error before; an empty text counts as none."""
    executor = RequestExecutor(reference_schema(), ServerRules())
    answers = [asyncio.run(executor(it)) for it in (build(), build(TEXT), build(), build(""))]
    assert [answer.status for answer in answers] == [422, 200, 200, 200]
    executor.close()
