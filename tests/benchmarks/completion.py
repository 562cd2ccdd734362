"""How long completion takes: a schema of GitHub's size, at every offset of a document.

Run it: ``python tests/benchmarks/completion.py [SDL]``; SDL is the file of GitHub's public schema,
``schema.graphql`` of npm's ``@octokit/graphql-schema``. The figures are milliseconds of the
processor; the goal, 5 ms for 99 of 100 key strokes, is what a person does not notice. At each
offset the name that was cut off must be among the proposals, before anything is timed.
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING

from graphql import build_schema

if __name__ == "__main__":  # run as a file: the house is two folders up
    sys.path.insert(0, str(Path(__file__).parents[2]))

from gqlnb.notebook.completion.completion_list import complete_at_cursor
from gqlnb.notebook.completion.cursor_parser import tokenize
from tests.benchmarks.big_schema import big_sdl

if TYPE_CHECKING:
    from graphql import GraphQLSchema

LINES = 60
GOAL = 5.0  # milliseconds
GITHUB_PART = """  s%d: search(query: $q, type: REPOSITORY, first: $n) {
    nodes {
      ... on Repository {
        id
        owner { ... on User { id } login }
        issues(first: 2, states: [OPEN], orderBy: {field: CREATED_AT, direction: DESC}) {
          totalCount
          nodes { id title comments(last: 1) { nodes { id } } }
        }
      }
    }
  }"""


def document(schema: GraphQLSchema) -> str:
    """Return a document of 60 lines: look-ups with connections in them, and an inline fragment."""
    lines = ["query Lookups($id: ID!, $n: Int = 10) {"]
    assert schema.query_type is not None
    for place, (name, field) in enumerate(schema.query_type.fields.items()):
        if len(lines) > LINES - 6 or "id" not in field.args:
            break
        lines += [
            f"  a{place}: {name}(id: $id) {{",
            "    id",
            "    ... on Node { __typename }",
            "  }",
        ]
    lines += ["  everything(first: $n) {", "    totalCount", "    nodes { id }", "  }", "}"]
    return "\n".join(lines)


def measured(schema: GraphQLSchema, text: str, step: int = 1) -> list[float]:
    """Return the milliseconds of each key stroke, in order of their length.

    Raises
    ------
    AssertionError
        If a field, argument or type that was cut off is not proposed.
    """
    for token in tokenize(text):
        if token.text in ("id", "nodes", "Node") and text[token.start - 1] != "$":
            found = complete_at_cursor(schema, text, token.start + 1)
            assert token.text in {proposal.name for proposal in found.proposals}
    costs = []
    for offset in range(0, len(text) + 1, step):
        for cut in (text, text[:offset]):
            begun = process_time()
            complete_at_cursor(schema, cut, offset)
            costs.append((process_time() - begun) * 1000)
    return sorted(costs)


def main() -> None:
    """Print the figures."""
    if sys.argv[1:]:
        schema = build_schema(Path(sys.argv[1]).read_text(), assume_valid=True)
        parts = [GITHUB_PART % number for number in range(LINES // 12)]
        text = "\n".join(["query Search($q: String!, $n: Int = 10) {", *parts, "}"])
    else:
        schema = build_schema(big_sdl())
        text = document(schema)
    gc.collect()
    costs = measured(schema, text)
    lines = [f"{len(schema.type_map):,} types, {text.count(chr(10)) + 1} lines"]
    for share in (0.5, 0.99, 1.0):
        lines += [f"{share:>5.0%}  {costs[int(share * (len(costs) - 1))]:.2f} ms (goal {GOAL:g})"]
    sys.stdout.write("\n".join([*lines, ""]))


if __name__ == "__main__":
    main()
