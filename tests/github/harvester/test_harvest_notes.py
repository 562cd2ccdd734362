"""Notes of the endpoint on its answers, in the reports of harvests and searches."""

from __future__ import annotations

import json
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gqlnb
from gqlnb import Client, github
from gqlnb.server.app import App
from tests.github.harvester.logging_standin import Listening

# Fields with and without facts in the embedded snapshot.
FIELDS = (
    "forkCount",
    "description",
    "issues { totalCount }",
    "licenseInfo { spdxId }",
    "isTemplate",
    "languages(first: 2) { nodes { name } }",
    "primaryLanguage { name }",
    "watchers { totalCount }",
    "pushedAt",
)
DEPRECATED = {"warnings": [{"type": "DEPRECATION", "message": "The id NUMBER is deprecated."}]}


class NotingApp:
    """An ASGI application whose GraphQL answers have further extensions.

    Parameters
    ----------
    schema
        The schema that answers.
    extensions
        The extensions, in which ``NUMBER`` stands for the number of the answer.
    """

    def __init__(self, schema: Any, extensions: dict[str, Any]) -> None:
        self.app, self.extensions = App(schema), json.dumps(extensions)
        self.answers = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        messages: list[Any] = []

        async def keep(message: Any) -> None:
            messages.append(message)

        await self.app(scope, receive, keep)
        start, *rest = messages
        body = json.loads(b"".join(each.get("body", b"") for each in rest))
        self.answers += 1
        body["extensions"] = json.loads(self.extensions.replace("NUMBER", str(self.answers)))
        data = json.dumps(body).encode()
        headers = [pair for pair in start["headers"] if pair[0].lower() != b"content-length"]
        await send({**start, "headers": [*headers, (b"content-length", b"%d" % len(data))]})
        await send({"type": "http.response.body", "body": data})


def list_missing(fields: list[str]) -> set[str]:
    """Return the fields of the snapshot without facts, as one answer to a search states them."""
    text = "stars:>100000"
    selection = f"... on Repository {{ {' '.join(fields)} }}"
    document = f'{{ search(query: "{text}", type: REPOSITORY, first: 100) {{ nodes {{ {selection} '
    result = gqlnb.connect("demo").execute(f"{document} }} }} }}")
    listed: dict[str, str] = result.extensions.get("standIn") or {}
    return {place for place, outcome in listed.items() if outcome != "derived"}


@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.lists(st.sampled_from(FIELDS), min_size=1, max_size=5, unique=True))
def test_a_harvest_names_the_fields_without_data(fields):
    """It names those that one answer to the same search names, and warns once about them."""
    missing = list_missing(fields)
    with warnings.catch_warnings(record=True, action="always") as caught:
        found = github.harvest(">100000", fields=" ".join(fields), progress=False)
    assert {note.split(": ")[1].split(" ")[0] for note in found.coverage.notes} == missing
    assert found.notes[: len(missing)] == found.coverage.notes
    own = [str(each.message) for each in caught]
    assert len(own) == bool(missing)
    assert found.frame().attrs["notes"] == own
    shown = repr(found)
    assert all(place in shown and place in own[0] for place in missing)
    assert all(place in found._repr_html_() for place in missing)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_notes_remain_in_the_folder(tmp_path):
    """A folder states them when the harvest was interrupted, is finished, and is opened again."""
    standin = Listening(github.population(3_000, seed=3))
    options: dict[str, Any] = {
        "fields": "issues { totalCount }",
        "out": tmp_path,
        "part": 500,
        "progress": False,
    }
    with Client(standin) as client:
        standin.fails = 11
        with pytest.raises(gqlnb.GqlnbError, match="disk"):
            github.harvest(">1", client=client, **options)
        log = (tmp_path / "_harvest.jsonl").read_text()
        assert "Repository.issues" in log
        standin.fails = None
        first = github.harvest(">1", client=client, **options)
        again = github.harvest(">1", client=client, **options)
    note = "Not in the data of the stand-in: Repository.issues (empty)."
    assert first.coverage.notes == again.coverage.notes == (note,)
    assert note in repr(again)
    coverage = github.open(tmp_path).coverage
    assert coverage is not None
    assert coverage.notes == (note,)


@pytest.mark.parametrize("kind", ["ISSUE", "PULL_REQUEST", "DISCUSSION"])
def test_an_empty_harvest_for_lack_of_data_is_not_complete(kind, tmp_path):
    """The embedded snapshot has no issues, so no rows prove nothing; the reason is stated."""
    note = r"Not in the data of the stand-in: Query\.search\(type: \w+\) \(empty\)\."
    with pytest.warns(UserWarning, match=note) as caught:
        found = github.harvest_nodes("x", type=kind, out=tmp_path, progress=False)
    (warning,) = caught
    assert warning.filename == __file__
    assert not found.complete
    assert len(found) == 0
    assert found.frame().attrs["partial"]
    assert found.frame().attrs["notes"] == [str(warning.message)]
    assert "not complete" in repr(found)
    assert repr(found).count("Not in the data") == 1
    with pytest.warns(UserWarning, match=note):
        assert (
            github.harvest_nodes("x", type=kind, out=tmp_path, progress=False).notes == found.notes
        )
    with pytest.warns(UserWarning, match=note):
        assert found.notes[0] in repr(github.estimate_nodes("x", type=kind))


@pytest.mark.parametrize("executor", [None, ThreadPoolExecutor])
def test_a_warning_of_the_endpoint_is_shown_once_at_the_end(executor):
    """Threads do not show it, whatever the filter; the line is that of the caller."""
    app = NotingApp(Listening(github.population(3_000, seed=3)), DEPRECATED)
    with Client(app) as client, pytest.warns(UserWarning, match="The id 1 is dep") as caught:
        found = github.harvest(
            ">1", client=client, executor=executor and executor(2), progress=False
        )
    assert found.complete
    assert app.answers > 1
    assert [each.filename for each in caught] == [__file__]
    assert found.coverage.notes == (str(caught[0].message),)


def test_a_warning_of_the_endpoint_is_a_note_of_a_harvest_in_ranges():
    """`client.harvest` collects warnings too, and shows them once."""
    app = NotingApp(github.service(), DEPRECATED)
    text = """query ($query: String!) {
      search(query: $query, type: REPOSITORY) { nodes { ... on Repository { id createdAt } } }
    }"""
    slice_ = gqlnb.Slice(
        column="createdAt",
        low="query",
        template="stars:>20000 created:{low}..{high}",
        least="2008-01-01",
    )
    with (
        Client(app, schema=github.service()) as client,
        pytest.warns(UserWarning, match="is deprecated") as caught,
    ):
        found = client.harvest(text, slice=slice_, progress=False)
    assert found.complete
    assert len(caught) == 1
    assert found.notes == (str(caught[0].message),)
    assert caught[0].filename == __file__


def test_pages_together_have_the_notes_of_each():
    """`execute_all` merges the extensions; the last page may say nothing."""
    text = """query ($after: String) {
      search(query: "stars:>100000", type: REPOSITORY, first: 50, after: $after) {
        nodes { ... on Repository { name primaryLanguage { color } description } }
      }
    }"""
    result = gqlnb.connect("demo").execute_all(text)
    assert "Repository.description" in result.extensions["standIn"]


def test_a_star_search_names_the_fields_without_data():
    """The frame of `stars` has the note, and warns once."""
    app = NotingApp(github.service(), {"standIn": {"Repository.name": "generated"}})
    with Client(app) as client, pytest.warns(UserWarning, match="Repository.name") as caught:
        frame = gqlnb.stars(">100000", client=client)
    assert frame.attrs["notes"] == [str(caught[0].message)]
    assert len(caught) == 1
