"""Keys and tokens in the path of an address are never shown; ordinary paths are."""

from __future__ import annotations

import json
import logging
import traceback

import pytest

import gqlnb
from gqlnb import Client, GqlnbError, recorded
from gqlnb.client import connections, credentials
from gqlnb.client.schema_store import find_cache_path
from tests.asgi import read_body, run_app, send_answer

KEYS = {
    "GitHub token": "ghp_" + "canary0123456789" * 2,
    "hexadecimal": "c0ffee0123456789abcdef0123456789",
    "alphanumeric": "aZ3k9QpX7mL2vB8nR4tY6wE1sD5fG0hJ",
    "URL-safe": "x9-Kd_82jLq-Zm3_Tt7-Bv5_Rn1-Pw4_Cy6-Hs0",
    "percent-encoded": "ghp%5Fcanary0123456789canary0123456789",
}
ORDINARY = [
    "graphql",
    "v1",
    "my-very-long-project-name-in-production-eu-west-1-2026",
    "internationalcustomermanagementsystem2026",
    "ckxo9b1kd1234567890abcdef",
    "0b5c8a1e-6f1d-4c3b-9a7e-2d4f6a8b0c1e",
    "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG",
    "subgraphs",
    "admin_api_2026-07",
]


async def echo(scope, receive, send):
    """Answer a query with data, and anything else with its path."""
    body = json.loads(await read_body(receive))
    if "hello" in body["query"]:
        await send_answer(send, {"data": {"hello": "Hello world!"}})
    else:
        await send_answer(send, b"no " + scope["raw_path"], 404, {"content-type": "text/plain"})


@pytest.fixture
def host():
    """Yield the address of a server without a path."""
    with run_app(echo) as url:
        yield url.removesuffix("/graphql")


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("form", ["{host}/v1/{key}/graphql", "{host}/graphql/{key}"])
def test_a_key_in_the_path_is_hidden(host, key, form, tmp_path, caplog):
    """Not in reprs, errors, tracebacks, logs, recordings or results."""
    caplog.set_level(logging.DEBUG)
    url, path = form.format(host=host, key=key), tmp_path / "a.jsonl"
    said = []
    with recorded(path), Client(url) as client:
        result = client.execute("{ hello }")
        assert result.data == {"hello": "Hello world!"}
        said += [repr(client), client.source, repr(result), repr(result.response)]
        with pytest.warns(UserWarning, match="No schema is known") as warned:
            said += [result.frame().attrs, client.schema_notes]
        said += [one.message for one in warned]
        for text in ("{ nope }", "mutation { nope }", "{"):
            try:
                client.execute(text)
            except GqlnbError as error:
                said += [str(error), "".join(traceback.format_exception(error))]
                said += error._render_traceback_()
    try:
        Client(url.replace(host, "http://127.0.0.1:9"), timeout=2).execute("mutation { a }")
    except GqlnbError as error:
        said.append(str(error))
    said += [path.read_text(), caplog.text]
    assert "***" in client.source
    assert len(said) > 15
    assert [text for text in map(str, said) if key in text] == []
    assert find_cache_path(url, []) is None


@pytest.mark.parametrize("segment", ORDINARY)
def test_an_ordinary_path_is_shown(segment):
    """Names, versions, project ids with their dashes, and hashes of public content."""
    url = f"https://example.org/{segment}/graphql"
    assert credentials.strip_url(url) == url
    assert credentials.find_secret_segments(url) == []


def test_a_key_in_the_address_of_the_variable_is_hidden(monkeypatch):
    """The target and its source are shown without it."""
    monkeypatch.setenv("GQLNB_URL", f"http://127.0.0.1:9/{KEYS['hexadecimal']}")
    with pytest.raises(gqlnb.TransportError) as caught:
        Client(timeout=2).execute("mutation { a }")
    assert KEYS["hexadecimal"] not in str(caught.value)
    assert (
        connections.resolve_default_target()[1] == "http://127.0.0.1:9/***, which GQLNB_URL names"
    )
