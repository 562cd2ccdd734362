"""Frames in the libraries for plots and models that docs/howto/plot.md names."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers.processes import VARIABLE

pytestmark = pytest.mark.slow
REPOSITORY = Path(__file__).resolve().parents[2]


def test_every_library_takes_frames_with_the_dtypes_of_numpy() -> None:
    """Three of them do not take nullable dtypes with missing values, which the guide says."""
    packages = Path(os.environ.get(VARIABLE, "")) / "plots"
    if VARIABLE not in os.environ or not packages.is_dir():
        pytest.skip(f"Run: python tests/servers/install.py FOLDER, and set {VARIABLE}=FOLDER")
    path = os.pathsep.join([str(packages), str(REPOSITORY)])
    command = [sys.executable, str(REPOSITORY / "tests" / "servers" / "plots.py")]
    done = subprocess.run(
        command, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=True
    )
    outcomes = json.loads(done.stdout)
    assert {name: plain for name, (_, plain) in outcomes.items()} == dict.fromkeys(outcomes, "")
    failing = {name for name, (nullable, _) in outcomes.items() if nullable}
    assert failing == {"seaborn", "scikit-learn", "statsmodels"}
    guide = (REPOSITORY / "docs" / "howto" / "plot.md").read_text().lower()
    assert [name for name in outcomes if name not in guide] == []
