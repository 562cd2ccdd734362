"""The published audits of GraphQL over HTTP, npm graphql-http, against the server as it is.

They are installed once, by hand or by CI::

    npm install --prefix FOLDER --ignore-scripts --no-package-lock   # FOLDER has our package.json
    GRAPHQL_HTTP_AUDITS=FOLDER pytest tests/server/test_audits.py

Without the variable they are looked for in ``tests/server/audits``.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from gqlnb.http.server_rules import Access
from gqlnb.server.background_server import serve

HERE = Path(__file__).with_name("audits")
COUNT = 61
# MAY accept GET; and audits that ask by GET, to which 405 is right.
WITHOUT_GET = 3


@pytest.fixture(scope="module")
def command():
    """Return the command that audits a URL, or skip."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("No Node on this machine")
    folder = Path(os.environ.get("GRAPHQL_HTTP_AUDITS", HERE))
    if not (folder / "node_modules" / "graphql-http").is_dir():
        pytest.skip("npm's graphql-http is not installed; GRAPHQL_HTTP_AUDITS says where it is")
    return [node, str(HERE / "run.mjs")], str(folder)


@pytest.fixture
def audit(command, schema):
    """Return a function that audits a server with some access."""
    program, folder = command

    def run(access):
        with serve(schema, port=0, access=access) as server:
            done = subprocess.run(
                [*program, server.url, folder],
                capture_output=True,
                text=True,
                timeout=120,
                check=True,
            )
        found = json.loads(done.stdout)
        assert len({one["id"] for one in found}) == COUNT
        return found

    return run


def other(found):
    """Return the audits that are not ok."""
    return [one for one in found if one["status"] != "ok"]


def test_all_audits_pass_with_get_enabled(audit):
    """Every MUST, SHOULD and MAY audit is ok."""
    assert other(audit(Access(get=True))) == []


def test_no_audit_warns_with_get_disabled(audit):
    """The specification does not require a server to support GET."""
    left = other(audit(None))
    assert {one["status"] for one in left} == {"notice"}
    assert all(one["name"].startswith("MAY") for one in left)
    assert len(left) == WITHOUT_GET


def test_the_draft_profile_passes_every_must_audit(audit):
    """It may differ where an audit says SHOULD."""
    counts = Counter(one["status"] for one in audit(Access(get=True, profile="draft")))
    assert set(counts) <= {"ok", "notice", "warn"}
    assert counts["ok"] >= COUNT / 2
