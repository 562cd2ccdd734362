"""Rows, dtypes, requests and recordings do not depend on whether the schema was loaded before."""

from __future__ import annotations

import asyncio
import json
import warnings
from typing import TYPE_CHECKING, Any

import pytest

from gqlnb import Client
from tests.servers.test_scalars import CASES, query_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pandas as pd

    from tests.servers.proxy import Proxy

AUTHORS = "{ authors(first: 15) { edges { node { number name born } } } }"
NESTED = """{ authors(first: 20) { edges { node { number name
    books(first: 50) { edges { node { number genre } } } } } } }"""
OFFSET = "{ booksByOffset(limit: 100) { number title genre pages } }"
PLAIN = "{ allBooks { number genre author { name } } }"
PARTIAL = "{ people { name fails } }"
TEXTS = {"nested": NESTED, "offset": OFFSET, "plain": PLAIN, "partial": PARTIAL}


async def gather_pages(client: Client, text: str) -> list[Any]:
    """Return the pages of `apages`."""
    return [page async for page in client.apages(text)]


WAYS: dict[str, Callable[[Client, str], list[Any]]] = {
    "execute": lambda client, text: [client.execute(text)],
    "aexecute": lambda client, text: [asyncio.run(client.aexecute(text))],
    "execute_all": lambda client, text: [client.execute_all(text)],
    "aexecute_all": lambda client, text: [asyncio.run(client.aexecute_all(text))],
    "pages": lambda client, text: list(client.pages(text)),
    "apages": lambda client, text: asyncio.run(gather_pages(client, text)),
    "frame": lambda client, text: [client.frame(text)],
    "all pages": lambda client, text: [client.frame(text, pages="all")],
    "execute_many": lambda client, text: client.execute_many([text, text]),
}


def read_frames(found: list[Any]) -> list[pd.DataFrame]:
    """Return the frames of frames and results, of the latter all of them."""
    frames = []
    for it in found:
        frames += list(it.frames.values()) if hasattr(it, "frames") else [it]
    return frames


def describe_frame(frame: pd.DataFrame) -> Any:
    """Return what can be compared of a frame."""
    marks = {key: it for key, it in frame.attrs.items() if key in ("partial", "report")}
    return {key: str(it) for key, it in frame.dtypes.items()}, frame.to_json(), str(marks)


def ask(proxy: Proxy, way: str, text: str, path: Any, *, touched: bool) -> Any:
    """Return what came, what was asked and what was recorded."""
    proxy.bodies.clear()
    client = Client(proxy.url, recording=path, mode="record")
    if touched:
        assert client.schema.query_type
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = [describe_frame(frame) for frame in read_frames(WAYS[way](client, text))]
    client.close()
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    return {
        "frames": found,
        "warnings": sorted(str(it.message) for it in caught),
        "requests": sorted(json.dumps(body, sort_keys=True) for body in proxy.queries()),
        "recording": sorted(line for line in lines if "__schema" not in line),
    }


def compare(proxy: Proxy, way: str, text: str, folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Assert that two fresh clients do the same, one of which looked at the schema before."""
    outcomes = []
    for touched in (False, True):
        patch.setenv("XDG_CACHE_HOME", str(folder / f"cache-{touched}"))
        outcomes.append(ask(proxy, way, text, folder / f"{touched}.jsonl", touched=touched))
    untouched, after = outcomes
    assert {key: untouched[key] == after[key] for key in after} == dict.fromkeys(after, True)
    assert untouched["requests"]


@pytest.mark.parametrize("way", WAYS)
def test_reading_the_schema_does_not_affect_any_call(proxy, way, tmp_path, monkeypatch):
    """Each kind of call, with a connection of several pages."""
    compare(proxy, way, AUTHORS, tmp_path, monkeypatch)


@pytest.mark.parametrize("kind", [*TEXTS, "scalars"])
def test_reading_the_schema_does_not_affect_any_query(proxy, name, kind, tmp_path, monkeypatch):
    """Each kind of query, with all its pages."""
    text = query_for(CASES[name]) if kind == "scalars" else TEXTS[kind]
    compare(proxy, "all pages", text, tmp_path, monkeypatch)
