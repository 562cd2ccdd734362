"""The front-end code: its own tests, run by Node where there is one."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

TESTS = sorted(Path(__file__).with_name("js").glob("*.test.mjs"))


def test_the_front_end_code_passes_its_tests():
    """Node's test runner finds the test files, and no test fails."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("No Node on this machine")
    done = subprocess.run(
        [node, "--test", *map(str, TESTS)], capture_output=True, text=True, timeout=120, check=False
    )
    assert TESTS
    assert done.returncode == 0, done.stdout + done.stderr
