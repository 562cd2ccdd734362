#!/usr/bin/env bash
# transmog: rows of a list in a list name the outermost row as their parent, in the table of another list.
#
# Guessed before: the comments of issues and those of the issues' reviews come into two tables, and each
# comment of a review has the `_id` of its review as `_parent_id`.
# What happens: both kinds are in the one table `issues_comments_nodes`, 137 and 548 rows, and nothing
# tells them apart. The comments of both reviews name the issue as their parent, so that none belongs to a
# review, and joining on `_parent_id` gives each issue five comments instead of one. No error says so.
# Versions: transmog 2.0.4, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check transmog==2.0.4
cat >"$folder/main.py" <<'PY'
import transmog


def build_comments(*texts):
    return {"nodes": [{"text": text} for text in texts]}


issues = [
    {
        "number": number,
        "comments": build_comments(f"of issue {number}"),
        "reviews": {
            "nodes": [
                {"state": state, "comments": build_comments(f"{state} a", f"{state} b")}
                for state in ("APPROVED", "DISMISSED")
            ]
        },
    }
    for number in range(137)
]
result = transmog.flatten(issues, name="issues")
comments = result.tables["issues_comments_nodes"]
parents = {row["_parent_id"] for row in comments if not row["text"].startswith("of issue")}
found = [
    f"tables: {', '.join(sorted(result.tables))}",
    f"comments: {len(comments)}",
    f"parents that are reviews: {len(parents & {row['_id'] for row in result.tables['issues_reviews_nodes']})}",
    f"parents that are issues: {len(parents & {row['_id'] for row in result.main})}",
]
print("\n".join(found))
assert found == [
    "tables: issues_comments_nodes, issues_reviews_nodes",
    "comments: 685",
    "parents that are reviews: 0",
    "parents that are issues: 137",
]
PY
"$folder/venv/bin/python" "$folder/main.py"
