"""Clients that others wrote run on the stand-in, given its address and a token alone."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import requests

from gqlnb import github
from gqlnb.tokens import Token

pytestmark = pytest.mark.slow
TOKEN = "ghp_made_up_for_the_tests"
QUERY = """
query Newest($owner: String!, $name: String!, $first: Int = 2) {
  viewer { login }
  repository(owner: $owner, name: $name) {
    nameWithOwner stargazerCount description
    issues(first: $first, states: OPEN) { totalCount nodes { title } }
  }
  rateLimit { cost remaining }
}
"""
VARIABLES = {"owner": "torvalds", "name": "linux"}
EXPECTED = {
    "viewer": {"login": "demo"},
    "repository": {
        "nameWithOwner": "torvalds/linux",
        "stargazerCount": 243608,
        "description": None,
        "issues": {"totalCount": 0, "nodes": []},
    },
    "rateLimit": {"cost": 1, "remaining": 4999},
}
WRONG = "{ viewer { shoeSize } }"
REFUSAL = "Field 'shoeSize' doesn't exist on type 'User' in this stand-in"


@pytest.fixture
def server():
    """Return the stand-in over HTTP; it asks for a token."""
    with github.serve(port=0, token=Token(TOKEN)) as running:
        yield running


def test_requests_as_gh_sends_them(server):
    """The command line tool's headers: ``token``, its media types, its time zone."""
    headers = {
        "Authorization": f"token {TOKEN}",
        "User-Agent": "GitHub CLI 2.60.0",
        "Accept": "application/vnd.github.merge-info-preview+json, application/vnd.github.nebula",
        "Content-Type": "application/json; charset=utf-8",
        "GraphQL-Features": "merge_queue",
        "Time-Zone": "Europe/Berlin",
    }
    body = {"query": QUERY, "variables": VARIABLES}
    answer = requests.post(server.url, json=body, headers=headers, timeout=20)
    assert answer.json()["data"] == EXPECTED
    assert answer.headers["x-ratelimit-resource"] == "graphql"
    refused = requests.post(server.url, json={"query": WRONG}, headers=headers, timeout=20).json()
    assert refused["errors"][0]["message"] == REFUSAL
    assert refused["errors"][0]["extensions"]["code"] == "undefinedField"
    headers["Authorization"] = "token wrong"
    assert requests.post(server.url, json=body, headers=headers, timeout=20).status_code == 401


def test_gql(server):
    """It reads the schema from the service and validates against it first."""
    from gql import Client, gql
    from gql.transport.exceptions import TransportQueryError
    from gql.transport.requests import RequestsHTTPTransport

    transport = RequestsHTTPTransport(server.url, headers={"Authorization": f"Bearer {TOKEN}"})
    with Client(transport=transport, fetch_schema_from_transport=True) as session:
        request = gql(QUERY)
        request.variable_values = VARIABLES
        assert session.execute(request) == EXPECTED
    with (
        Client(transport=RequestsHTTPTransport(server.url, headers=transport.headers)) as session,
        pytest.raises(TransportQueryError, match="shoeSize"),
    ):
        session.execute(gql(WRONG))


def test_githubkit(server):
    """Its paginator follows the cursors of a search."""
    githubkit = pytest.importorskip("githubkit")
    from githubkit.exception import GraphQLFailed

    base_url = server.url.removesuffix("graphql")
    with githubkit.GitHub(TOKEN, base_url=base_url) as client:
        assert client.graphql(QUERY, variables=VARIABLES) == EXPECTED
        search = """query ($cursor: String) {
          search(query: "stars:>200000", type: REPOSITORY, first: 10, after: $cursor) {
            nodes { ... on Repository { nameWithOwner } } pageInfo { hasNextPage endCursor } } }"""
        names = [
            node["nameWithOwner"]
            for page in client.graphql.paginate(search)
            for node in page["search"]["nodes"]
        ]
        assert len(names) == len(set(names)) == 26
        with pytest.raises(GraphQLFailed, match="shoeSize"):
            client.graphql(WRONG)


def ask_by_octokit(folder: Path, url: str, token: str, query: str) -> dict[str, Any]:
    """Return what @octokit/graphql answers, or the error that it throws."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("No Node on this machine")
    program = Path(__file__).with_name("octokit") / "run.mjs"
    base_url = url.removesuffix("/graphql")
    arguments = [node, program, folder, base_url, token, query, json.dumps(VARIABLES)]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=60, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_octokit(server, octokit):
    """GitHub's own client for Node: data, GraphQL errors, and the status of a wrong token."""
    assert ask_by_octokit(octokit, server.url, TOKEN, QUERY) == {"data": EXPECTED}
    wrong = WRONG.replace("{", "query ($owner: String) {", 1)
    refused = ask_by_octokit(octokit, server.url, TOKEN, wrong)
    assert refused["name"] == "GraphqlResponseError"
    unused = "Variable $owner is declared by anonymous query but not used"
    assert [error["message"] for error in refused["errors"]] == [REFUSAL, unused]
    assert ask_by_octokit(octokit, server.url, "wrong", QUERY)["status"] == 401
