"""Run cells in a shell and read their output."""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Any

from IPython.utils.capture import capture_output

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

SECRET = "canary-mag1c"


def run(shell: InteractiveShell, cell: str) -> Any:
    """Run a cell; return its value or raise its exception."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        outcome = shell.run_cell(cell)
    outcome.raise_error()
    return outcome.result


def failure(shell: InteractiveShell, cell: str) -> str:
    """Run a cell that fails; return the lines a person sees."""
    with redirect_stdout(io.StringIO()) as shown, redirect_stderr(io.StringIO()) as errors:
        assert not shell.run_cell(cell).success
    return shown.getvalue() + errors.getvalue()


def beside(shell: InteractiveShell, cell: str) -> list[dict[str, str]]:
    """Run a cell; return the MIME bundles it shows beside its value."""
    with capture_output() as captured:
        outcome = shell.run_cell(cell)
    outcome.raise_error()
    return [output.data for output in captured.outputs]
