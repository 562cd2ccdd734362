"""What stands for the fields that GitHub has and the data have not."""

from __future__ import annotations

import pytest
from graphql import get_nullable_type, is_non_null_type, is_object_type

from gqlnb import OptionError, SchemaError, github

LINUX = 'repository(owner: "torvalds", name: "linux")'


@pytest.fixture(scope="module")
def facts():
    """Return the stand-in with facts and nulls."""
    return github.service()


@pytest.fixture(scope="module")
def filled():
    """Return the stand-in that makes up all else."""
    return github.service(fill=True)


def test_the_outcome_follows_from_the_type(facts):
    """Null if the type allows it, else empty, false or generated; each is listed."""
    result = facts.execute(
        f"""{{ {LINUX} {{ name description isTemplate issues {{ totalCount }} createdAt
          owner {{ ... on User {{
            contributionsCollection {{ totalCommitContributions }} }} }} }} }}"""
    )
    assert result.errors == ()
    found = result["repository"]
    count = found.pop("owner")["contributionsCollection"]["totalCommitContributions"]
    assert isinstance(count, int)
    assert found.pop("createdAt")
    assert found == {
        "name": "linux",
        "description": None,
        "isTemplate": False,
        "issues": {"totalCount": 0},
    }
    assert result.extensions == {
        "standIn": {
            "Repository.description": "null",
            "Repository.isTemplate": "false",
            "Repository.issues": "empty",
            "Repository.createdAt": "generated for most",
            "User.contributionsCollection": "generated",
            "ContributionsCollection.totalCommitContributions": "generated",
        }
    }


def test_facts_alone_have_no_extensions(facts):
    """The documented query of star searches is answered from the snapshot alone."""
    result = facts.execute(
        """{ search(query: "stars:>400000", type: REPOSITORY, first: 2) { repositoryCount
          nodes { ... on Repository { name owner { login } stargazers { totalCount }
            primaryLanguage { name } forkCount pushedAt url } } } }"""
    )
    assert (result.errors, dict(result.extensions)) == ((), {})


def test_partial_and_derived_fields_are_listed_too(facts):
    """Each field that ``extensions`` name is in ``synthetic`` under the same outcome."""
    result = facts.execute(
        f"""{{ {LINUX} {{ createdAt updatedAt isFork isArchived languages(first: 1) {{ totalCount }}
          stargazers(first: 1) {{ edges {{ cursor }} nodes {{ id }} }} }} }}"""
    )
    noted = result.extensions["standIn"]
    assert len(noted) == 7
    for place, outcome in noted.items():
        kind, _, name = place.partition(".")
        group = facts.synthetic[f"{kind}: {outcome}"]
        assert name in group.removeprefix("Not in the data: ").rstrip(".").split(", ")


def test_the_documentation_of_a_field_says_that_it_is_no_fact(facts, filled):
    """Exactly for the fields that ``synthetic`` lists, with the outcome."""
    for service in (facts, filled):
        listed, described = set(), set()
        for group, text in service.synthetic.items():
            kind, colon, outcome = group.partition(": ")
            for name in text.removeprefix("Not in the data: ").rstrip(".").split(", "):
                if colon:
                    listed.add((kind, name, outcome))
        for kind in service.graphql.type_map.values():
            for name, field in kind.fields.items() if is_object_type(kind) else ():
                _, found, rest = (field.description or "").partition(" Not in the snapshot (")
                if found:
                    described.add((kind.name, name, rest.removesuffix(").")))
        assert described == listed
    kind = facts.graphql.type_map["Repository"]
    assert kind.fields["description"].description == (
        "The description. Not in the snapshot (null)."
    )
    assert (
        "snapshot" not in github.schema().graphql.type_map["Repository"].fields["name"].description
    )


def test_nullable_fields_without_a_fact_are_null(facts):
    """No nullable field of a repository has a generated value."""
    kind = facts.graphql.type_map["Repository"]
    nulls = facts.synthetic["Repository: null"].removeprefix("Not in the data: ").rstrip(".")
    plain = [
        name
        for name in nulls.split(", ")
        if not kind.fields[name].args
        and not hasattr(get_nullable_type(kind.fields[name].type), "fields")
    ]
    assert len(plain) > 10
    assert not any(is_non_null_type(kind.fields[name].type) for name in plain)
    found = facts.execute(f"{{ {LINUX} {{ {' '.join(plain)} }} }}")
    assert set(found["repository"].values()) == {None}


@pytest.mark.parametrize("connection", ["issues", "releases", "watchers", "stargazers"])
@pytest.mark.parametrize("service", ["facts", "filled"])
def test_an_empty_connection_checks_its_page_size_as_github_does(connection, service, request):
    """A missing page size, and one over 100, are refused."""
    service = request.getfixturevalue(service)
    for arguments, kind in (("", "MISSING_PAGINATION_BOUNDARIES"), ("(first: 101)", "EXCESSIVE")):
        text = f"{{ {LINUX} {{ {connection}{arguments} {{ nodes {{ id }} }} }} }}"
        errors = service.execute(text).errors
        assert errors[0]["type"].startswith(kind)
    page = f"{{ {LINUX} {{ {connection}(first: 2) {{ totalCount pageInfo {{ hasNextPage }} }} }} }}"
    assert service.execute(page).errors == ()


def test_stargazers_have_a_count_but_no_items(facts):
    """The number is a fact; the accounts are not in the data."""
    text = f"{{ {LINUX} {{ stargazers(first: 1) {{ totalCount edges {{ starredAt }} }} }} }}"
    result = facts.execute(text)
    assert result["repository"]["stargazers"] == {"totalCount": 243608, "edges": []}
    assert result.extensions["standIn"] == {"StargazerConnection.edges": "empty"}


def test_languages_have_githubs_colors(facts):
    """Name and color are facts; a repository has only its primary language."""
    text = f"{{ {LINUX} {{ languages(first: 5) {{ totalCount nodes {{ name color }} }} }} }}"
    result = facts.execute(text)
    assert result["repository"]["languages"]["nodes"] == [{"name": "C", "color": "#555555"}]
    assert result.extensions["standIn"] == {"Repository.languages": "the primary language alone"}


def test_licenses_are_found_by_their_keys(facts):
    """The list is a fact; a repository's licence is not in the data."""
    result = facts.execute('{ licenses { key } license(key: "MIT") { name spdxId } }')
    assert {"mit", "apache-2.0", "gpl-3.0"} <= {it["key"] for it in result["licenses"]}
    assert result["license"] == {"name": "MIT License", "spdxId": "MIT"}


def test_accounts_are_found_by_login(facts):
    """A search of type USER finds owners; qualifiers about more than logins are refused."""
    text = """query ($q: String!) { search(query: $q, type: USER, first: 50) { userCount
      repositoryCount
      nodes { __typename ... on User { login } ... on Organization { login } } } }"""
    found = facts.execute(text, {"q": "microsoft type:org"})["search"]
    assert found["userCount"] == len(found["nodes"]) > 0
    assert found["repositoryCount"] == 0
    assert all("microsoft" in node["login"].lower() for node in found["nodes"])
    assert {node["__typename"] for node in found["nodes"]} == {"Organization"}
    (error,) = facts.execute(text, {"q": "mona followers:>10"}).errors
    assert "followers:>10 is not in this stand-in" in error["message"]


@pytest.mark.parametrize(
    "term", ["-torvalds", "-type:org", "foo:bar", "NOT", "OR", "in:email", "type:bot", "repos:>9"]
)
def test_a_term_that_logins_cannot_answer_is_refused(facts, term):
    """A search for accounts has no rows of which a condition was ignored."""
    text = "query ($q: String!) { search(query: $q, type: USER, first: 9) { userCount } }"
    (error,) = facts.execute(text, {"q": f"torvalds {term}"}).errors
    assert error["type"] == "UNPROCESSABLE"
    assert f"{term} is not in this stand-in" in error["message"]
    found = facts.execute(text, {"q": "TORVALDS in:login,name sort:followers"})
    assert found["search"]["userCount"] == 1


def test_a_search_for_issues_is_empty_without_fill(facts, filled):
    """``extensions`` give the reason; with fill it returns generated issues."""
    text = '{ search(query: "is:open", type: ISSUE, first: 3) { issueCount nodes { __typename } } }'
    result = facts.execute(text)
    assert result["search"] == {"issueCount": 0, "nodes": []}
    assert result.extensions["standIn"] == {"Query.search(type: ISSUE)": "empty"}
    assert [it["__typename"] for it in filled.execute(text)["search"]["nodes"]] == ["Issue"] * 3


def test_fill_generates_every_value_that_is_not_a_fact(filled):
    """Generated values are plausible, reproducible and listed."""
    text = f"""{{ {LINUX} {{ stargazerCount description licenseInfo {{ name }}
      issues(first: 2) {{ totalCount nodes {{ title author {{ login }} }} }} }} }}"""
    result = filled.execute(text)
    found = result["repository"]
    assert result.errors == ()
    assert found["stargazerCount"] == 243608
    assert found["description"]
    assert len(found["issues"]["nodes"]) == 2
    assert github.service(fill=True).execute(text).data == result.data
    assert result.extensions["standIn"]["Repository.description"] == "generated"
    assert "Repository.stargazerCount" not in result.extensions["standIn"]


def test_fill_generates_unknown_repositories_and_accounts(filled, facts):
    """Also by their ids; other unknown objects are NOT_FOUND."""
    text = """{ repository(owner: "me", name: "tool") { id nameWithOwner stargazerCount
      owner { login } } user(login: "me") { login __typename } }"""
    found = filled.execute(text)
    assert found.errors == ()
    assert found["repository"]["nameWithOwner"] == "me/tool"
    assert found["user"] == {"login": "me", "__typename": "User"}
    again = filled.execute(
        "query ($id: ID!) { node(id: $id) { ... on Repository { nameWithOwner stargazerCount } } }",
        {"id": found["repository"]["id"]},
    )["node"]
    assert again["stargazerCount"] == found["repository"]["stargazerCount"]
    assert {error["type"] for error in facts.execute(text).errors} == {"NOT_FOUND"}


def test_a_custom_schema_has_facts_and_generated_values():
    """Invalid SDL gives an error or a note."""
    sdl = "type Query { viewer: User! moon: String! } type User { login: String! }"
    service = github.service(sdl=sdl, viewer="mona")
    result = service.execute("{ viewer { login } moon }")
    assert result["viewer"] == {"login": "mona"}
    assert result.extensions["standIn"] == {"Query.moon": "generated"}
    with pytest.raises(SchemaError):
        github.service(sdl="type Query {")
    with pytest.raises(OptionError, match="fill= takes True or False"):
        github.service(fill="no")
