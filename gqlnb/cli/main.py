"""The command line: its commands, and the exit codes of their errors."""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import get_completion_class

from gqlnb.errors import GqlnbError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["command_line", "main"]

# Each command is a click.Command of its own name. The modules are imported when a command is run:
# all of them together take about a second.
_COMMAND_MODULES = {
    "lab": "gqlnb.cli.lab",
    "serve": "gqlnb.cli.serve_command",
    "query": "gqlnb.cli.query_commands",
    "schema": "gqlnb.cli.query_commands",
    "stars": "gqlnb.cli.query_commands",
    "scrub": "gqlnb.cli.main",
    "github": "gqlnb.cli.standin_command",
    "completion": "gqlnb.cli.main",
}
# Shells report a process ended by a signal as 128 + its number. Windows has no SIGPIPE.
_EXIT_INTERRUPTED, _EXIT_BROKEN_PIPE = 128 + signal.SIGINT, 128 + 13


class CommandGroup(click.Group):
    """The commands of `gqlnb`, imported when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of the commands, in the order of the help."""
        return list(_COMMAND_MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a command; None if no command has that name."""
        module = _COMMAND_MODULES.get(cmd_name)
        return None if module is None else getattr(import_module(module), cmd_name)

    def invoke(self, ctx: click.Context) -> int:
        """Run the command and return the exit code; our errors are printed to stderr."""
        try:
            code: int = super().invoke(ctx)
            sys.stdout.flush()
        except GqlnbError as error:
            return _print_error(str(error))
        except KeyboardInterrupt:
            return _EXIT_INTERRUPTED
        except BrokenPipeError:
            # Python would fail again when it flushes stdout at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return _EXIT_BROKEN_PIPE
        # A file that cannot be read or written is the user's concern, not a defect: no traceback.
        except OSError as error:
            reason = str(error.strerror or error)
            return _print_error(f"{error.filename}: {reason}" if error.filename else reason)
        return code


def _print_error(text: str) -> int:
    from gqlnb.cli.output import translate_for_shell

    sys.stdout.flush()
    click.echo(f"gqlnb: {translate_for_shell(text)}", err=True)
    return 1


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="gqlnb", message="gqlnb %(version)s")
def command_line() -> None:
    """GraphQL in Jupyter.

    \b
    Exit codes: 0 success, 1 an error (printed to stderr), 2 invalid arguments,
    3 some repositories could not be fetched (stars --all).
    """  # noqa: D301 - click reads \b as a paragraph that keeps its lines


@click.command()
@click.argument(
    "paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option("--dry-run", is_flag=True, help="Print the findings and change nothing.")
def scrub(paths: tuple[Path, ...], *, dry_run: bool) -> int:
    """Remove tokens from notebooks, recordings and logs.

    A PATH is a file, or a folder with all files in it. With --dry-run the exit code is 1 if there
    are tokens: a check before a commit.
    """
    from gqlnb.client.recording import scrubber

    reports = [scrubber.scrub(path, dry_run=dry_run) for path in paths]
    findings = tuple(finding for report in reports for finding in report)
    total = scrubber.ScrubReport(findings, sum(report.files for report in reports), dry_run)
    click.echo(repr(total))
    return 1 if dry_run and findings else 0


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> int:
    """Print a script for shell completion.

    \b
    For one session of bash, or from ~/.bashrc for all of them:
      eval "$(gqlnb completion bash)"
    """  # noqa: D301
    complete = get_completion_class(shell)
    if complete is not None:
        click.echo(complete(command_line, {}, "gqlnb", "_GQLNB_COMPLETE").source())
    return 0


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
    arguments = None if argv is None else list(argv)
    # Not standalone: click would exit by itself, with its own codes for Ctrl-C and a closed pipe.
    try:
        code: int = command_line.main(arguments, prog_name="gqlnb", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    return code
