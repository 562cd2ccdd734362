"""The entry point of the command line: its help and version, and the exit codes.

Importing click takes longer than four starts of the interpreter. So `--help` and `--version` are
answered here, from plain text.
"""

from __future__ import annotations

import os
import sys

from gqlnb.cli.help import COMPLETION_VARIABLE, HELP

TYPE_CHECKING = False  # as `typing` has it; importing that takes as long as starting Python
if TYPE_CHECKING:
    from collections.abc import Sequence

STDOUT_CLOSED = (
    "gqlnb: Standard output is closed, so nothing can be printed. To discard what is printed, "
    "redirect it: >/dev/null\n"
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv
        The arguments; by default those of the process.

    Returns
    -------
    int
        Exit code: 0 success, 1 an error that was printed to stderr, 2 invalid arguments, 3 an
        incomplete harvest, 130 interrupted, 141 the reader of stdout has closed it.
    """
    if sys.stdout is None:  # closed, as by `>&-`
        if sys.stderr is not None:
            sys.stderr.write(STDOUT_CLOSED)
        return 1
    arguments = sys.argv[1:] if argv is None else list(argv)
    text = ""
    if COMPLETION_VARIABLE not in os.environ:
        if arguments in ([], ["-h"], ["--help"]):
            text = HELP
        elif arguments == ["--version"]:
            # The package itself is above this layer, and loaded in any case.
            text = f"gqlnb {sys.modules['gqlnb'].__version__}\n"
    fault = None
    if text:
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except OSError as error:
            fault = error
        else:
            return 0
    from gqlnb.cli.command_group import report_os_error, run_command_line

    return run_command_line(arguments) if fault is None else report_os_error(fault)
