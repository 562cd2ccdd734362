"""The page of front ends in the documentation."""

from __future__ import annotations

import subprocess
import sys


def test_the_page_has_a_row_for_each_test(root):
    """The page equals the one that a run of all tests writes."""
    command = [sys.executable, "-m", "tests.frontends.table", "--check"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
