"""Our SDL says nothing that GitHub's schema does not say."""

from pathlib import Path

import pytest
from graphql import build_schema, get_introspection_query, is_introspection_type
from graphql.utilities import find_breaking_changes

from gqlnb import QueryError, github

SLICE = Path(__file__).with_name("github_slice.graphql")


def test_what_is_valid_on_ours_is_valid_on_github():
    """Going over from our schema to GitHub's breaks no query."""
    theirs = build_schema(SLICE.read_text(encoding="utf-8"))
    assert find_breaking_changes(github.schema().graphql, theirs) == []


def test_the_proof_notices_what_github_lacks():
    """A field, an argument or a nullability that GitHub does not have is found."""
    theirs = build_schema(SLICE.read_text(encoding="utf-8"))
    sdl = github.schema().sdl
    for ours in (
        sdl.replace("  repositoryCount: Int!", "  repositoryCount: Int!\n  stars: Int"),
        sdl.replace("  pushedAt: DateTime\n", "  pushedAt: DateTime!\n"),
        sdl.replace("  REPOSITORY\n", "  REPOSITORY\n  GALAXY\n"),
    ):
        assert ours != sdl
        assert find_breaking_changes(build_schema(ours), theirs)


def test_everything_is_described_in_one_line():
    """Every type, field, argument and value has one line of description of its own."""
    bare = []
    for kind in github.schema().graphql.type_map.values():
        if is_introspection_type(kind) or kind.name in {"String", "Int", "Boolean", "ID"}:
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
        github.schema().document('{ repository(owner: "a", name: "b") { nmae } }')
    assert github.schema().execute('{ repository(owner: "git", name: "git") { name } }').data == {
        "repository": None
    }


def test_introspection_answers():
    """Tools can read the schema from the service."""
    types = github.service().execute(get_introspection_query())["__schema"]["types"]
    assert {"Repository", "SearchResultItem", "RepositoryOwner"} <= {t["name"] for t in types}
