"""The stand-in answers as GitHub's GraphQL API does, from the embedded snapshot."""

from base64 import b64decode

import pytest
from graphql import GraphQLError, graphql_sync

from gqlnb import OptionError, github
from gqlnb.engine.schema import Schema
from gqlnb.github.repositories import load_snapshot
from gqlnb.github.standin.github_schema import StandInAdapter

DOCUMENTED = """
query ($n: Int!, $after: String) {
  search(query: "stars:>1000", type: REPOSITORY, first: $n, after: $after) {
    repositoryCount
    edges { cursor node { ... on Repository { name owner { login } stargazers { totalCount } } } }
    nodes { ... on Repository { nameWithOwner } }
    pageInfo { startCursor endCursor hasNextPage hasPreviousPage }
  }
}
"""


@pytest.fixture(scope="module")
def service():
    """Return one stand-in for all tests: it keeps no state."""
    return github.service()


def refused(result, kind):
    """Return message and path of the one error of `result`, which is of that kind."""
    (error,) = result.errors
    assert list(error) == ["type", "path", "locations", "message"]
    assert error["type"] == kind
    return error["message"], error["path"]


def test_the_documented_query(service):
    """The documented search returns counts, items with cursors, and where the page lies."""
    search = service.execute(DOCUMENTED, {"n": 2})["search"]
    assert search["repositoryCount"] == 3024
    assert search["edges"][0] == {
        "cursor": "Y3Vyc29yOjE=",
        "node": {
            "name": "build-your-own-x",
            "owner": {"login": "codecrafters-io"},
            "stargazers": {"totalCount": 541915},
        },
    }
    assert search["nodes"][1] == {"nameWithOwner": "sindresorhus/awesome"}
    assert search["pageInfo"] == {
        "startCursor": "Y3Vyc29yOjE=",
        "endCursor": "Y3Vyc29yOjI=",
        "hasNextPage": True,
        "hasPreviousPage": False,
    }


def test_backward_paging_begins_at_the_thousandth_result(service):
    """`last` counts from the end of the available results."""
    text = """query ($before: String) {
      search(query: "stars:>1000", type: REPOSITORY, last: 100, before: $before) {
        nodes { ... on Repository { nameWithOwner } }
        pageInfo { startCursor hasPreviousPage }
      } }"""
    found, before, more = [], None, True
    while more:
        search = service.execute(text, {"before": before})["search"]
        found = [node["nameWithOwner"] for node in search["nodes"]] + found
        before, more = search["pageInfo"]["startCursor"], search["pageInfo"]["hasPreviousPage"]
    assert found == [row.full_name for row in load_snapshot()[:1000]]


def test_a_page_beyond_the_thousandth_result_is_empty(service):
    """A cursor past the cap gives an empty page without an error."""
    result = service.execute(DOCUMENTED, {"n": 5, "after": "Y3Vyc29yOjIwMDA="})
    assert result.errors == ()
    assert result["search"]["edges"] == []
    assert result["search"]["pageInfo"]["hasNextPage"] is False


def test_every_field_of_a_repository(service):
    """Each value is from the snapshot or derived from the repository's name."""
    text = """{ repository(owner: "TORVALDS", name: "Linux") {
      __typename id name nameWithOwner owner { __typename id login url resourcePath }
      stargazerCount stargazers { totalCount } forkCount isPrivate
      primaryLanguage { name id } pushedAt url resourcePath } }"""
    assert service.execute(text).data == {
        "repository": {
            "__typename": "Repository",
            "id": "R_dG9ydmFsZHMvbGludXg",
            "name": "linux",
            "nameWithOwner": "torvalds/linux",
            "owner": {
                "__typename": "User",
                "id": "U_dG9ydmFsZHM",
                "login": "torvalds",
                "url": "https://github.com/torvalds",
                "resourcePath": "/torvalds",
            },
            "stargazerCount": 243608,
            "stargazers": {"totalCount": 243608},
            "forkCount": 64026,
            "isPrivate": False,
            "primaryLanguage": {"name": "C", "id": "L_Qw"},
            "pushedAt": "2026-08-21T20:24:53Z",
            "url": "https://github.com/torvalds/linux",
            "resourcePath": "/torvalds/linux",
        }
    }


def test_an_account_has_its_repositories(service):
    """Users and organizations list and name their repositories of the snapshot."""
    text = """query ($order: RepositoryOrder) { repositoryOwner(login: "Microsoft") {
      login repository(name: "VSCODE") { name }
      repositories(first: 100, orderBy: $order) { totalCount nodes { name } edges { cursor } }
    } }"""
    owner = service.execute(text, {"order": {"field": "NAME", "direction": "ASC"}})[
        "repositoryOwner"
    ]
    names = [node["name"] for node in owner["repositories"]["nodes"]]
    assert owner["repository"] == {"name": "vscode"}
    assert names == sorted(names, key=str.lower)
    assert len(names) == len(owner["repositories"]["edges"])
    rows = [row for row in load_snapshot() if row.owner.login == "microsoft"]
    assert owner["repositories"]["totalCount"] == len(rows)
    by_age = service.execute(text)["repositoryOwner"]["repositories"]["nodes"]
    rows.sort(key=lambda row: row.created_at)
    assert [node["name"] for node in by_age] == [row.name for row in rows]


@pytest.mark.parametrize(("field", "key"), [("PUSHED_AT", "pushedAt"), ("STARGAZERS", "name")])
def test_repositories_are_ordered_both_ways(service, field, key):
    """Each order of an account's repositories turns around with its direction."""
    text = f"""query ($way: OrderDirection!) {{ repositoryOwner(login: "microsoft") {{
      repositories(first: 100, orderBy: {{field: {field}, direction: $way}}) {{
        nodes {{ {key} }} }} }} }}"""
    up, down = (
        service.execute(text, {"way": way})["repositoryOwner"]["repositories"]["nodes"]
        for way in ("ASC", "DESC")
    )
    assert len(up) > 2
    assert up == down[::-1]


@pytest.mark.parametrize("order", [None, "NAME", "STARGAZERS", "PUSHED_AT", "CREATED_AT"])
@pytest.mark.parametrize("way", ["ASC", "DESC"])
def test_repositories_are_paged_by_keyset_cursors(service, order, way):
    """All repositories of an account are returned from both ends."""
    text = """query ($first: Int, $after: String, $last: Int, $before: String,
                     $order: RepositoryOrder) {
      repositoryOwner(login: "microsoft") { repositories(
        first: $first, after: $after, last: $last, before: $before, orderBy: $order) {
          nodes { id } edges { cursor }
          pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } } }"""
    given = {"order": {"field": order, "direction": way}} if order else {}

    def ask(**args):
        return service.execute(text, given | args)["repositoryOwner"]["repositories"]

    whole = [node["id"] for node in ask(first=100)["nodes"]]
    forth, step = [], {"pageInfo": {"endCursor": None, "hasNextPage": True}}
    while step["pageInfo"]["hasNextPage"]:
        step = ask(first=7, after=step["pageInfo"]["endCursor"])
        forth += [node["id"] for node in step["nodes"]]
        assert all(b64decode(e["cursor"], "-_")[:10] == b"cursor:v2:" for e in step["edges"])
    back, step = [], {"pageInfo": {"startCursor": None, "hasPreviousPage": True}}
    while step["pageInfo"]["hasPreviousPage"]:
        step = ask(last=7, before=step["pageInfo"]["startCursor"])
        back = [node["id"] for node in step["nodes"]] + back
    assert len(whole) > 14
    assert forth == back == whole


def test_every_repository_is_found_by_its_id(service):
    """The id of an answer leads back to the same object, through node and nodes."""
    text = "query ($ids: [ID!]!) { nodes(ids: $ids) { id __typename } }"
    rows = load_snapshot()[:30]
    ids = [n.node_id for row in rows for n in (row, row.owner, row.language) if n is not None]
    assert [node["id"] for node in service.execute(text, {"ids": ids})["nodes"]] == ids
    one = service.execute("query ($id: ID!) { node(id: $id) { id __typename } }", {"id": ids[0]})
    assert one["node"] == {"id": ids[0], "__typename": "Repository"}


def test_the_viewer_is_the_account_given_to_the_service():
    """It has the given login, a resolvable id, and is found as a user."""
    service = github.service(viewer="mona")
    viewer = service.execute("{ viewer { id login isViewer repositories { totalCount } } }")[
        "viewer"
    ]
    assert viewer == {
        "id": "U_bW9uYQ",
        "login": "mona",
        "isViewer": True,
        "repositories": {"totalCount": 0},
    }
    again = service.execute(
        '{ user(login: "MONA") { isViewer } node(id: "U_bW9uYQ") { ... on User { login } }'
        '  other: user(login: "torvalds") { isViewer } }'
    )
    assert again.data == {
        "user": {"isViewer": True},
        "node": {"login": "mona"},
        "other": {"isViewer": False},
    }


def test_one_unknown_id_leaves_the_others(service):
    """In `nodes` an unknown id is null in its place, with a path to it."""
    result = service.execute('{ nodes(ids: ["L_Qw", "D_x"]) { id } }')
    assert result["nodes"] == [{"id": "L_Qw"}, None]
    assert refused(result, "NOT_FOUND")[1] == ["nodes", 1]


def test_an_unknown_owner_is_null(service):
    """``repositoryOwner`` with an unknown login is null without an error, as at GitHub."""
    result = service.execute('{ repositoryOwner(login: "nobody-has-this") { login } }')
    assert (result.data, result.errors) == ({"repositoryOwner": None}, ())


def test_counts_need_no_page_size(service):
    """Without first and last the counts are given, and where the page would lie."""
    text = """{ search(query: "stars:>1000", type: REPOSITORY) {
      repositoryCount pageInfo { hasNextPage } ...nothing nodes @skip(if: true) { __typename } } }
      fragment nothing on SearchResultItemConnection { edges @include(if: false) { cursor } }"""
    assert service.execute(text).data == {
        "search": {"repositoryCount": 3024, "pageInfo": {"hasNextPage": False}}
    }


@pytest.mark.parametrize(
    "asked",
    [
        "nodes { __typename }",
        "edges { cursor }",
        "found: nodes { __typename }",
        "... { edges { cursor } }",
        "...one ...one",
        "nodes @include(if: $yes) { __typename }",
    ],
)
def test_items_without_a_page_size_make_their_connection_null(service, asked):
    """The error has the connection's path; null propagates to the nearest nullable field."""
    text = f"""query ($yes: Boolean = true) {{
      search(query: "stars:>1000", type: REPOSITORY) {{ ...one repositoryCount {asked} }} }}
      fragment one on SearchResultItemConnection {{ ...two @include(if: $yes) }}
      fragment two on SearchResultItemConnection {{ nodes {{ __typename }} }}"""
    result = service.execute(text)
    message, path = refused(result, "MISSING_PAGINATION_BOUNDARIES")
    assert message == (
        "You must provide a `first` or `last` value to properly paginate the `search` connection."
    )
    assert (result.data, path) == (None, ["search"])


@pytest.mark.parametrize("login", ["torvalds", "microsoft"])
def test_repositories_without_a_page_size_are_refused(service, login):
    """Of users and organizations alike; counts and other fields need none."""
    text = (
        f'{{ repositoryOwner(login: "{login}") {{ login repositories {{ %s }} }} viewer {{ id }} }}'
    )
    assert service.execute(text % "totalCount").errors == ()
    result = service.execute(text % "totalCount nodes { name }")
    message, path = refused(result, "MISSING_PAGINATION_BOUNDARIES")
    assert "`repositories` connection" in message
    assert path == ["repositoryOwner", "repositories"]
    assert result.data == {"repositoryOwner": None, "viewer": {"id": "U_ZGVtbw"}}


def test_other_members_of_extensions_are_unchanged():
    """Only the type moves; an error without one is unchanged, in GitHub's order."""
    made = Schema("type Query { a: Int b: Int c: Int }")
    made._set_adapter(StandInAdapter(made.graphql))

    @made.resolver("Query.a")
    def a(*_):
        message = "No."
        raise GraphQLError(message, extensions={"type": "FORBIDDEN", "saml_failure": True})

    @made.resolver("Query.b")
    async def b(*_):
        raise OSError

    by_place = {error["path"][0]: error for error in made.execute("{ a b c }").errors}
    assert list(by_place["a"]) == ["type", "path", "extensions", "locations", "message"]
    assert by_place["a"]["extensions"] == {"saml_failure": True}
    assert list(by_place["b"]) == ["path", "locations", "message"]


def test_the_schema_runs_on_graphql_core(service):
    """The plain schema of the service returns the same data."""
    theirs = graphql_sync(service.graphql, DOCUMENTED, variable_values={"n": 3})
    assert theirs.errors is None
    assert theirs.data == service.execute(DOCUMENTED, {"n": 3}).data
    bare = '{ search(query: "", type: REPOSITORY) { ...on SearchResultItemConnection { %s } } }'
    assert graphql_sync(service.graphql, bare % "repositoryCount").errors is None
    (error,) = graphql_sync(service.graphql, bare % "edges { cursor }").errors
    assert (error.path, error.extensions["type"]) == (["search"], "MISSING_PAGINATION_BOUNDARIES")


def test_synthetic_fields_are_listed(service):
    """The service lists its sources and each field that is not from them."""
    assert service.source == "embedded snapshot of 2026-08-22"
    made = {"createdAt", "updatedAt", "isArchived", "isFork"}
    rules = {name: rule for name, rule in service.synthetic.items() if ": " not in name}
    assert set(rules) == {"owner.__typename", "id", "viewer"} | made
    assert "description" in service.synthetic["Repository: null"]
    assert "issues" in service.synthetic["Repository: empty"]
    assert "748 of 2,893 owners" in service.synthetic["owner.__typename"]
    assert repr(service) == "StandIn('embedded snapshot of 2026-08-22')"


@pytest.mark.parametrize(
    "viewer", ["", " ", "a b", "mona/x", "-x", "x" * 40, None, 5, b"mona", "\u00e4"]
)
def test_an_invalid_viewer_login_is_refused(viewer):
    """The error has the option, the value and an example."""
    with pytest.raises(OptionError, match=r"^viewer= takes a login such as 'mona'") as caught:
        github.service(viewer=viewer)
    assert repr(viewer)[:20] in str(caught.value)


def test_an_organization_is_not_accepted_as_the_viewer():
    """A token belongs to a user; the error says what to do."""
    with pytest.raises(OptionError, match="viewer='Microsoft' is an organization of the embedded"):
        github.service(viewer="Microsoft")


@pytest.mark.parametrize("viewer", ["mona", "mona_acme", "dependabot[bot]", "torvalds"])
def test_a_viewer_may_be_any_user_or_app(viewer):
    """A user of the data, another user, or an application."""
    assert github.service(viewer=viewer).execute("{ viewer { login } }")["viewer"] == {
        "login": viewer
    }


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"population": [1]}, r"population= takes a github\.Population; github\.population\(n\)"),
        ({"simulation": {"ties": True}}, r"simulation= takes a github\.Simulation"),
        ({"restricted": "no"}, "restricted= takes True or False; got 'no'"),
    ],
)
def test_options_of_the_wrong_type_are_refused(options, said):
    """For a population, a simulation or a boolean; the error has the value."""
    with pytest.raises(OptionError, match=said):
        github.service(**options)
