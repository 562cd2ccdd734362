"""The programs of this folder have no errors, and no Any where a type is known.

mypy checks them too, as a step of ``.ci/run``. By hand::

    npm install --prefix FOLDER --ignore-scripts --no-package-lock   # FOLDER has our package.json
    PYRIGHT_PACKAGES=FOLDER pytest tests/typing
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PYRIGHT = Path(os.environ.get("PYRIGHT_PACKAGES", HERE)) / "node_modules" / ".bin" / "pyright"


@pytest.mark.slow
@pytest.mark.skipif(
    "PYRIGHT_PACKAGES" not in os.environ and not PYRIGHT.exists(),
    reason="npm's pyright is not installed; PYRIGHT_PACKAGES says where",
)
def test_pyright_finds_no_errors() -> None:
    """A comment that ignores an error which pyright does not find is an error too."""
    run = [str(PYRIGHT), "--pythonpath", sys.executable, "--project", str(HERE)]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.stdout.endswith("0 errors, 0 warnings, 0 informations\n"), done.stdout + done.stderr
