"""A simulation of GitHub's search for issues and users, independent of the stand-in."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import gqlnb

SDL = """
scalar DateTime
enum SearchType { DISCUSSION ISSUE REPOSITORY USER }
type Query { search(query: String!, type: SearchType!, first: Int, after: String): Found! }
type Found {
  issueCount: Int! userCount: Int! discussionCount: Int! repositoryCount: Int!
  nodes: [Item] pageInfo: PageInfo!
}
type PageInfo { hasNextPage: Boolean! endCursor: String }
interface Node { id: ID! }
union Item = Issue | PullRequest | Discussion | User
type Repository { nameWithOwner: String! }
type Actor { login: String! }
type Category { name: String! }
type Issue implements Node {
  id: ID! createdAt: DateTime! updatedAt: DateTime! closedAt: DateTime number: Int! title: String!
  state: String! author: Actor repository: Repository! comments: Comments!
}
type PullRequest implements Node { id: ID! createdAt: DateTime! updatedAt: DateTime! }
type Discussion implements Node {
  id: ID! createdAt: DateTime! updatedAt: DateTime! number: Int! title: String!
  author: Actor repository: Repository! category: Category
}
type Comments { totalCount: Int! }
type User implements Node {
  id: ID! login: String! name: String location: String company: String
  createdAt: DateTime! updatedAt: DateTime!
}
"""
RANGE = re.compile(r"(created|updated):(\S+)\.\.(\S+)")


@dataclass
class Search:
    """The rows of a search: `id`, and the times `created` and `updated` in seconds.

    Attributes
    ----------
    rows
        The times by id.
    drift
        Called before each request.
    texts
        The search expressions so far.
    """

    rows: dict[str, dict[str, int]]
    cap: int = 1000
    drift: Callable[[], None] | None = None
    texts: list[str] = field(default_factory=list)

    def build_schema(self) -> gqlnb.Schema:
        """Return the schema with its resolvers."""
        return gqlnb.Schema(SDL, {"Query": {"search": self.resolve_search}})

    def resolve_search(self, _root: object, args: dict[str, Any], _context: object) -> object:
        """Return a page."""
        if self.drift is not None:
            self.drift()
        text, kind = args["query"], args["type"]
        self.texts.append(text)
        (column, low, high), *others = RANGE.findall(text)
        assert not others
        least = -1 if low == "*" else datetime.fromisoformat(low).timestamp()
        most = 10**12 if high == "*" else datetime.fromisoformat(high).timestamp()
        found = [key for key, row in self.rows.items() if least <= row[column] <= most]
        found.sort(key=lambda key: (self.rows[key][column], key))
        start = int(args.get("after") or 0)
        stop = min(start + (args.get("first") or 30), self.cap)
        nodes = [build_node(key, self.rows[key], kind) for key in found[start:stop]]
        counts = dict.fromkeys(("issue", "user", "discussion", "repository"), 0)
        counts[kind.lower()] = len(found)
        return {
            **{f"{name}Count": count for name, count in counts.items()},
            "nodes": nodes,
            "pageInfo": {"hasNextPage": stop < min(len(found), self.cap), "endCursor": str(stop)},
        }


def build_node(key: str, row: dict[str, int], kind: str) -> dict[str, Any]:
    """Return a node of a search type."""
    times = {f"{name}At": datetime.fromtimestamp(row[name], UTC) for name in ("created", "updated")}
    times = {name: f"{moment:%Y-%m-%dT%H:%M:%SZ}" for name, moment in times.items()}
    name = {"ISSUE": "Issue", "USER": "User", "DISCUSSION": "Discussion"}[kind]
    return {
        "__typename": name,
        "id": key,
        **times,
        "number": int(key[1:]),
        "title": f"Title of {key}",
        "state": "OPEN",
        "login": key,
        "author": {"login": "somebody"},
        "repository": {"nameWithOwner": "a/b"},
        "comments": {"totalCount": row["updated"] % 7},
    }
