"""Our SDL says nothing that GitHub's schema does not say."""

import json

import pytest
from graphql import build_schema, get_introspection_query, is_introspection_type, parse, validate
from graphql.utilities import find_breaking_changes

from gqlnb import QueryError, Schema, github
from gqlnb.github.star_results import FALLBACK_STARS_QUERY, STARS_QUERY


@pytest.mark.slow
def test_documents_valid_on_the_stand_in_are_valid_on_github(theirs):
    """Going over from our schema to GitHub's breaks no query."""
    assert find_breaking_changes(github.schema().graphql, theirs) == []


@pytest.mark.slow
def test_the_comparison_finds_differences_from_github(theirs):
    """A field, an argument or a nullability that GitHub does not have."""
    sdl = github.schema().sdl
    for ours in (
        sdl.replace("  repositoryCount: Int!", "  repositoryCount: Int!\n  stars: Int"),
        sdl.replace("  pushedAt: DateTime\n", "  pushedAt: DateTime!\n"),
        sdl.replace("  REPOSITORY\n", "  REPOSITORY\n  GALAXY\n"),
    ):
        assert ours != sdl
        assert find_breaking_changes(build_schema(ours), theirs)


def test_every_description_is_one_line():
    """For each type, field, argument and enum value."""
    bare = []
    for kind in github.schema().graphql.type_map.values():
        if is_introspection_type(kind) or kind.name in {"String", "Int", "Float", "Boolean", "ID"}:
            continue
        parts = {kind.name: kind}
        for name, part in {**getattr(kind, "fields", {}), **getattr(kind, "values", {})}.items():
            parts[f"{kind.name}.{name}"] = part
            parts |= {f"{kind.name}.{name}({a})": v for a, v in getattr(part, "args", {}).items()}
        bare += [n for n, part in parts.items() if not part.description or "\n" in part.description]
    assert bare == []


def test_the_schema_has_no_resolvers():
    """``github.schema()`` checks queries; fields resolve to nothing of the snapshot."""
    with pytest.raises(QueryError, match="nmae"):
        github.schema().parse_document('{ repository(owner: "a", name: "b") { nmae } }')
    assert github.schema().execute('{ repository(owner: "git", name: "git") { name } }').data == {
        "repository": None
    }


def test_introspection_is_supported():
    """Tools can read the schema from the service."""
    types = github.service().execute(get_introspection_query())["__schema"]["types"]
    assert {"Repository", "SearchResultItem", "RepositoryOwner"} <= {t["name"] for t in types}


@pytest.mark.slow
@pytest.mark.parametrize("text", [STARS_QUERY, FALLBACK_STARS_QUERY])
def test_both_star_searches_are_valid_on_github(text, theirs):
    """Also on the schema of the stand-in."""
    assert validate(github.schema().graphql, parse(text)) == []
    assert validate(theirs, parse(text)) == []


# Requests in the manner of GitHub's documentation and of programs that use its API.
PUBLISHED = [
    '{ node(id: "MDEwOlJlcG9zaXRvcnkxMjk2MjY5") { ... on Repository { nameWithOwner } } }',
    '{ nodes(ids: ["R_1", "R_2", "R_3"]) { ... on Issue { title number } } }',
    '{ search(query: "is:pr", type: ISSUE, first: 5) { edges { node { ...P } } } }'
    " fragment P on PullRequest { title }",
    '{ repositoryOwner(login: "github") { ... on Organization { name description } } }',
    '{ repository(owner: "a", name: "b") { issue(number: 1) { timelineItems(first: 9) { nodes {'
    " ... on CrossReferencedEvent { source { ... on PullRequest { number } } } } } } } }",
    '{ repository(owner: "a", name: "b") { object(expression: "HEAD:a.md") { ... on Blob { text'
    " } } defaultBranchRef { target { ... on Commit { history(first: 3) { nodes { oid } } }"
    " } } } }",
    '{ node(id: "PVT_x") { ... on ProjectV2 { items(first: 5) { nodes { content { ... on Issue {'
    " title } ... on PullRequest { title } } fieldValues(first: 4) { nodes { ... on"
    " ProjectV2ItemFieldTextValue { text } } } } } } } }",
    '{ repository(owner: "a", name: "b") { pullRequest(number: 1) { reviewRequests(first: 5) {'
    " nodes { requestedReviewer { ... on User { login } ... on Team { slug } } } } } } }",
    'mutation { addReaction(input: {subjectId: "x", content: HOORAY}) {'
    " subject { ... on Issue { title } } } }",
]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The text is used in spite")
def test_documents_are_filled_by_a_mock_of_the_public_schema(public_sdl):
    """The types that their fragments name are preferred."""
    schema = Schema.mock(public_sdl, nulls=0)
    for text in PUBLISHED:
        result = schema.execute(text)
        assert not result.errors
        assert "{}" not in json.dumps(result.data), text


@pytest.mark.slow
def test_the_whole_public_schema_can_be_served(public_sdl):
    """With facts and generated values; errors in the SDL are noted."""
    service = github.service(sdl=public_sdl)
    assert len(service.graphql.type_map) > 1_600
    assert "in spite of 2 mistakes" in service.notes[0]
    found = service.execute(
        """{ repository(owner: "torvalds", name: "linux") {
          stargazerCount primaryLanguage { name } vulnerabilityAlerts(first: 2) { totalCount }
          rulesets(first: 1) { nodes { name } } owner { login } }
        search(query: "stars:>400000", type: REPOSITORY, first: 1) { repositoryCount } }"""
    )
    assert found.errors == ()
    assert found["repository"]["stargazerCount"] == 243608
    assert found["repository"]["owner"] == {"login": "torvalds"}
    assert found["search"]["repositoryCount"] == 4
    assert found.extensions["standIn"]["Repository.vulnerabilityAlerts"] == "generated"
