"""A harvest returns its caller's own fields as columns, and reports those that fail."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import warnings
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from gqlnb import FrameError, OptionError, QueryError, Schema, github
from gqlnb.errors import TransportError
from gqlnb.github.harvester.own_fields import drop_fields, parse_fields
from gqlnb.github.standin.simulation import Simulation
from tests.asgi import read_body, receive_again, send_answer
from tests.client.paging.lists import fail
from tests.github.harvester.logging_standin import rows
from tests.github.test_github_failures import fast_waits

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

FIELDS = (
    "nameWithOwner forkCount primaryLanguage { name } licenseInfo { spdxId } pushedAt "
    "isArchived visibility repositoryTopics(first: 10) { nodes { topic { name } } }"
)
QUERY = ">=15000"
SEARCH = '{ search(query: "stars:>=15000 sort:stars-desc", type: REPOSITORY, first: 100) { nodes '


class HeavyFields:
    """The stand-in as an ASGI application, whose search pages take few nodes with own fields.

    Parameters
    ----------
    service
        The stand-in.
    most
        Most nodes of a request with ``forkCount``.
    gateway
        Whether larger ones are answered 502, instead of RESOURCE_LIMITS_EXCEEDED.
    heavy
        A node that is too large alone.
    gone
        A node that is found by searches, but not by its id.
    """

    def __init__(
        self,
        service: Schema,
        most: int = 30,
        *,
        gateway: bool = False,
        gone: str = "",
        heavy: str = "",
    ) -> None:
        self.inner = github.app(service)
        self.most, self.gateway, self.gone, self.heavy = most, gateway, gone, heavy
        self.requests: list[dict[str, Any]] = []

    async def __call__(
        self,
        scope: dict[str, Any],
        receive: Callable[[], Awaitable[Any]],
        send: Callable[[Any], Awaitable[None]],
    ) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self.inner(scope, receive, send)
            return
        body = await read_body(receive)
        request = json.loads(body)
        values = request.get("variables") or {}
        self.requests.append(request)
        nodes = len(values.get("ids", ())) + sum(v for k, v in values.items() if k[0] == "n")
        is_heavy = nodes > self.most or self.heavy in values.get("ids", ())
        if "forkCount" in request["query"] and is_heavy:
            status = 502 if self.gateway else 200
            error = {"type": "RESOURCE_LIMITS_EXCEEDED", "message": "Resource limits exceeded."}
            await send_answer(send, {"errors": [error]}, status)
            return
        if self.gone in values.get("ids", ()):
            values["ids"] = ["R_gone" if it == self.gone else it for it in values["ids"]]
            body = json.dumps(request).encode()
        length = (b"content-length", str(len(body)).encode())
        kept = [it for it in scope["headers"] if it[0] != b"content-length"]
        await self.inner({**scope, "headers": [*kept, length]}, receive_again(body), send)


@pytest.fixture
def service(people):
    """Return a stand-in for the population."""
    return github.service(population=people)


@pytest.fixture
def quick(monkeypatch):
    """Send requests again at once."""
    for name, value in fast_waits():
        monkeypatch.setattr(name, value)


def assert_equal(found: pd.DataFrame, wanted: pd.DataFrame) -> None:
    """Compare columns of two frames in the order of their ids."""
    left, right = (each.sort_values("id").reset_index(drop=True) for each in (found, wanted))
    pd.testing.assert_frame_equal(left[[*right]], right, check_like=True)


def test_own_fields_are_columns_as_of_a_result(client):
    """The names, dtypes and values of the same fields executed by hand."""
    found = github.harvest(QUERY, client=client, fields=FIELDS).frame()
    wanted = client.execute(f"{SEARCH} {{ ... on Repository {{ id {FIELDS} }} }} }} }}").frame()
    assert len(wanted) == 100
    assert found.dtypes[wanted.columns].tolist() == wanted.dtypes.tolist()
    assert_equal(found[found["id"].isin(wanted["id"])], wanted)
    assert len(set(wanted.dtypes.astype(str))) > 5


def test_a_list_is_exploded_as_of_a_result(client):
    """One row per item, and one for each empty list."""
    fields = "languages(first: 3) { edges { size node { name } } }"
    found = github.harvest(QUERY, client=client, fields=fields).frame(explode="languages")
    text = f"{SEARCH} {{ ... on Repository {{ id {fields} }} }} }} }}"
    wanted = client.execute(text).frame(explode="languages")
    assert_equal(found[found["id"].isin(wanted["id"])], wanted)
    with pytest.raises(FrameError, match="the rows of the harvest have 'languages'"):
        github.harvest(">=9000", client=client, fields=fields).frame(explode="topics")
    with pytest.raises(FrameError, match="no fields= with lists"):
        github.harvest(">=9000", client=client).frame(explode="languages")


def test_invalid_fields_are_refused_before_the_first_request(standin, client):
    """With line, column, caret and names that are near."""
    with pytest.raises(QueryError, match="Did you mean 'forkCount'") as caught:
        github.harvest(QUERY, client=client, fields="pushedAt\n  forkCont")
    assert (caught.value.problems[0].line, caught.value.problems[0].column) == (2, 3)
    assert "forkCont\n           ^" in str(caught.value)
    assert not standin.asked


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("", "fields= takes a selection"),
        (7, "fields= takes a selection"),
        ("forkCount {", "end too early"),
        ("forkCount }", "a '}' too many"),
        ("forkCount } } x: nodes { ... on Repository { id", "a '}' too many"),
        ("forkCount ... Missing", "Unknown fragment 'Missing'"),
        ("repositoryTopics(first: $n) { totalCount }", "fields= takes no variables"),
        ("owner: forkCount", "'owner' is a column of every harvest"),
        ("stargazers(first: 2) { nodes { login } }", "'stargazers' is a column of every harvest"),
        ("name: languages(first: 2) { edges { size } }", "Give 'languages' an alias"),
        ("harvest_id: id", "names with 'harvest_'"),
        ("{ viewer { login } }", "Cannot query field 'viewer'"),
        ("query { viewer { login } }", "a query without the selection"),
        (
            'query Q($n: Int!) { search(query: "x", type: REPOSITORY, first: $n) { nodes { '
            "... on Repository { repositoryTopics(first: $n) { totalCount } } } } }",
            "Variable '\\$n' in fields=",
        ),
    ],
)
def test_the_error_says_what_is_wrong(client, fields, message):
    """In words, with a hint."""
    with pytest.raises(QueryError, match=message):
        parse_fields(fields, client.schema, "demo")


@pytest.mark.parametrize(
    "text",
    [
        "{ forkCount licenseInfo { name } }",
        "forkCount # so many\n licenseInfo { name }",
        'query ($n: Int!) { search(query: "x", type: REPOSITORY, first: $n) { repositoryCount '
        "nodes { ... on User { login } ... on Repository { forkCount licenseInfo { name } } } } }",
        'query { search(query: "x", type: REPOSITORY, first: 9) { edges { node { ...R } } } } '
        "fragment R on Repository { forkCount licenseInfo { name } }",
    ],
)
def test_a_query_of_ones_own_is_taken_apart(client, text):
    """Its selection on Repository is taken, whatever surrounds it."""
    assert parse_fields(text, client.schema, "demo").text == "forkCount licenseInfo { name }"


def test_inner_fragments_are_inlined(client):
    """Also fragments within fragments, on an interface, and with a directive."""
    text = (
        'query { search(query: "x", type: REPOSITORY, first: 9) { nodes { ... on Starrable { id } '
        "...R } } } fragment R on Repository { ...L @include(if: true) } "
        "fragment L on Repository { forkCount }"
    )
    assert parse_fields(text, client.schema, "demo").text == (
        "... on Starrable { id } ... on Repository @include(if: true) { forkCount }"
    )


def test_names_of_own_fields_may_be_those_of_the_harvest(client, truth):
    """Aliases do not disturb the harvest, and its own columns stay."""
    fields = "nameWithOwner: forkCount stargazerCount: pushedAt name id createdAt: id"
    found = github.harvest(">=1", client=client, fields=fields).frame()
    assert rows(found) == truth
    assert found["nameWithOwner"].dtype == "Int64"


def test_a_refused_field_is_null_and_counted(people):
    """The rows stay, with one warning."""
    service = github.service(population=people, simulation=Simulation(restricted=True))
    with pytest.warns(UserWarning, match="Null in .* rows: stargazers: "):
        made = github.harvest(QUERY, client=service, fields="forkCount stargazers { totalCount }")
    frame = made.frame()
    assert made.complete
    assert frame["stargazers.totalCount"].isna().all()
    assert frame["forkCount"].notna().all()
    assert [*made.coverage.field_errors.values()] == [len(frame)]
    assert frame.attrs["notes"]
    assert "Null in" in repr(made)


SDL = """
enum SearchType { REPOSITORY }
scalar DateTime
type Repository { id: ID! nameWithOwner: String! stargazerCount: Int! createdAt: DateTime!
  forkCount: Int! size: Int }
union SearchResultItem = Repository
type PageInfo { hasNextPage: Boolean! endCursor: String }
type SearchResultItemConnection { repositoryCount: Int! pageInfo: PageInfo!
  nodes: [SearchResultItem] }
type Query { search(query: String!, type: SearchType!, first: Int, after: String):
    SearchResultItemConnection!
  nodes(ids: [ID!]!): [Repository]! }
"""


def build_small_endpoint(size: str = "size: Int") -> Schema:
    """Return an endpoint with three repositories, one of whose non-null fields fails."""
    kept = {"__typename": "Repository", "createdAt": "2020-01-01T00:00:00Z"}
    found = [
        {**kept, "id": f"R{n}", "nameWithOwner": f"o/r{n}", "stargazerCount": 10 - n, "size": n}
        for n in range(3)
    ]

    def resolve_forks(root: dict[str, Any], *_: object) -> int:
        is_refused = root["id"] == "R1"
        return fail("Resource not accessible by 'token 1'") if is_refused else root["size"]

    queries = {
        "search": lambda *_: {"repositoryCount": 3, "pageInfo": {}, "nodes": found},
        "nodes": lambda _, args, __: [found[int(it[1:])] for it in args["ids"]],
    }
    info, forks = {"hasNextPage": lambda *_: False}, {"forkCount": resolve_forks}
    resolvers = {"Query": queries, "PageInfo": info, "Repository": forks}
    return Schema(SDL.replace("size: Int", size), resolvers)


def test_an_error_in_a_field_that_is_never_null_keeps_the_row():
    """It makes the node null; the row comes without own fields, and with a report."""
    with pytest.warns(UserWarning, match="Null in 1 rows: forkCount: Resource not accessible"):
        made = github.harvest(">=1", client=build_small_endpoint(), fields="forkCount size")
    frame = made.frame()
    assert made.complete
    assert frame["name"].tolist() == ["r0", "r1", "r2"]
    assert frame["forkCount"].tolist() == [0, pd.NA, 2]
    assert frame["size"].tolist() == [0, 1, 2]


@pytest.mark.parametrize("gateway", [False, True], ids=["limits", "gateway"])
@pytest.mark.usefixtures("quick")
def test_heavy_fields_are_fetched_by_id(service, client, gateway, tmp_path):
    """In batches, with search pages of full size, and the same rows as with the pages."""
    app = HeavyFields(service, gateway=gateway)
    made = github.harvest(QUERY, client=app, fields=FIELDS, out=tmp_path, part=500)
    assert made.complete
    assert any("fetched by id" in note for note in made.notes)
    whole = github.harvest(QUERY, client=client, fields=FIELDS).frame()
    assert len(whole) > 1500
    assert_equal(made.frame(), whole)
    sizes = [len((it.get("variables") or {}).get("ids", ())) for it in app.requests]
    assert 15 <= max(sizes) <= 50
    pages = [it["variables"]["n0"] for it in app.requests if "$n0" in it["query"]]
    assert pages[-1] == 100


@pytest.mark.usefixtures("quick")
def test_a_node_that_is_gone_keeps_its_row(service, people):
    """Its own fields are null, and reported."""
    frame = github.harvest(">=1", client=service).frame()
    app = HeavyFields(service, gone=frame["id"][5])
    with pytest.warns(UserWarning, match="Null in 1 rows: The repository is gone"):
        made = github.harvest(QUERY, client=app, fields="forkCount")
    found = made.frame()
    assert found["id"][5] == frame["id"][5]
    assert found["forkCount"].isna().tolist() == [n == 5 for n in range(len(found))]


@pytest.mark.usefixtures("quick")
def test_a_node_that_is_refused_alone_keeps_its_row(service):
    """Its own fields are null, and reported with the endpoint's reason."""
    frame = github.harvest(QUERY, client=service).frame()
    app = HeavyFields(service, heavy=frame["id"][7])
    with pytest.warns(UserWarning, match="Null in 1 rows: The fields were refused: .* exceeded"):
        made = github.harvest(QUERY, client=app, fields="forkCount")
    assert made.complete
    assert made.frame()["forkCount"].isna().tolist() == [n == 7 for n in range(len(frame))]


@pytest.mark.usefixtures("quick")
def test_fields_that_no_repository_can_have_end_the_harvest(client, standin):
    """After a few requests, with the endpoint's reason."""
    fields = "languages(first: 200) { totalCount nodes { name } }"
    with pytest.raises(TransportError, match=r"even for a single repository: .*200 records"):
        github.harvest(QUERY, client=client, fields=fields)
    assert len(standin.asked) < 40


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_an_endpoint_that_fails_is_no_fault_of_the_fields(service, tmp_path):
    """If it is down for all nodes, the harvest ends with its error and is continued later."""
    app = HeavyFields(service, most=0, gateway=True)
    with pytest.raises(Exception, match="502"):
        github.harvest(">=20000", client=app, fields="forkCount", out=tmp_path)
    app.most = 1000
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        made = github.harvest(">=20000", client=app, fields="forkCount", out=tmp_path)
    assert made.frame()["forkCount"].isna().sum() <= 3


STOPPED = """
import os, signal, sys
from gqlnb import github
from tests.github.harvester.test_own_fields import FIELDS, QUERY, HeavyFields

def watch(_got, _wanted, requests, _budget):
    if requests >= int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)

service = github.service(population=github.population(6_000, seed=3))
target = HeavyFields(service) if sys.argv[3] == "by id" else service
github.harvest(QUERY, client=target, fields=FIELDS, out=sys.argv[1], part=500, progress=watch)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "moments"), [("with pages", ("3", "6", "9")), ("by id", ("12", "30", "45"))]
)
def test_a_killed_harvest_goes_on_with_its_fields(service, way, moments, tmp_path, root):
    """After kill -9, three times, with the rows of a harvest in one go."""
    for moment in moments:
        command = [sys.executable, "-c", STOPPED, str(tmp_path), moment, way]
        environment = {**os.environ, "PYTHONPATH": str(root)}
        done = subprocess.run(command, check=False, env=environment, cwd=root)
        assert done.returncode == -signal.SIGKILL
    target = HeavyFields(service) if way == "by id" else service
    made = github.harvest(QUERY, client=target, fields=FIELDS, out=tmp_path, part=500)
    assert made.complete
    assert_equal(made.frame(), github.harvest(QUERY, client=service, fields=FIELDS).frame())


def test_a_folder_keeps_its_fields(client, tmp_path):
    """open() reads them with their dtypes; other fields are refused in words."""
    made = github.harvest(QUERY, client=client, fields=FIELDS, out=tmp_path)
    opened = github.open(tmp_path)
    pd.testing.assert_frame_equal(opened.frame(), made.frame())
    assert (
        opened.frame(explode="repositoryTopics").dtypes["repositoryTopics.topic.name"] == "string"
    )
    assert opened.fields == made.fields == FIELDS
    assert opened.arrow().schema == made.arrow().schema
    assert opened.duckdb().filter("forkCount > 10").columns[5:] == [*made.frame()][5:]
    for other in (None, "forkCount"):
        with pytest.raises(OptionError, match=r"is the log of fields=.*this harvest has"):
            github.harvest(QUERY, client=client, fields=other, out=tmp_path)
    again = github.harvest(QUERY, client=client, fields=f"{{ {FIELDS} }}", out=tmp_path)
    assert len(again) == len(made)


def test_a_folder_keeps_the_types_of_its_beginning(tmp_path):
    """Values of another type, since the schema changed, are null and counted."""
    before, after = build_small_endpoint(), build_small_endpoint("size: String")

    def stop(got: int, *_: object) -> None:
        if got:
            raise RuntimeError

    with pytest.raises(RuntimeError):
        github.harvest(">=1", client=before, fields="size", out=tmp_path, part=1, progress=stop)
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        made = github.harvest(">=1", client=after, fields="size", out=tmp_path, part=1)
    assert made.frame().dtypes["size"] == "Int64"


def test_an_older_folder_without_fields_is_read(client, tmp_path):
    """Its log does not mention them."""
    made = github.harvest(QUERY, client=client, out=tmp_path)
    log = tmp_path / "_harvest.jsonl"
    header, *lines = log.read_text().splitlines()
    about = {k: v for k, v in json.loads(header).items() if k not in {"fields", "shape"}}
    log.write_text("\n".join([json.dumps(about), *lines, ""]))
    assert github.open(tmp_path).fields is None
    assert rows(github.open(tmp_path).frame()) == rows(made.frame())
    assert len(github.harvest(QUERY, client=client, out=tmp_path)) == len(made)
    with pytest.raises(OptionError, match="is the log of no fields="):
        github.harvest(QUERY, client=client, out=tmp_path, fields="forkCount")


def test_a_dry_run_has_the_cost_of_the_fields(client):
    """Three connections of 100 nodes each cost three points per page; large ones go by id."""
    lists = [f"a{n}: languages(first: 10) {{ totalCount }}" for n in range(3)]
    plain = github.estimate(">=1", client=client)
    costly = github.estimate(">=1", client=client, fields=" ".join(lists))
    assert (plain.page_points, costly.page_points) == (1, 3)
    assert costly.points == plain.points * 3
    assert costly.hours > plain.hours
    assert "3 points per page" in repr(costly)
    many = " ".join(f"a{n}: languages(first: 100) {{ totalCount }}" for n in range(60))
    by_id = github.estimate(">=1", client=client, fields=many)
    assert by_id.node_batch == 83
    assert by_id.requests[1] == plain.requests[1] + 73
    assert "by id, 83 repositories" in repr(by_id)


def test_a_field_that_is_not_selected_drops_nothing():
    """An endpoint that names one in an error is not asked for ever."""
    text = "name ... on Repository { url }"
    assert drop_fields(text, ["elsewhere"]) == text
    assert drop_fields(text, ["url"]) == "name harvest_id: id"
