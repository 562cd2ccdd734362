"""The group of all commands, the exit codes of their errors, and two small commands."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from gqlnb.cli.help import COMMANDS, COMPLETION_VARIABLE, HELP
from gqlnb.errors import GqlnbError, LiteralSecretError, OptionError, sanitize_text, suggest_or_list

_EXIT_USAGE = click.UsageError.exit_code
# Shells report a process ended by a signal as 128 + its number. Windows has no SIGPIPE.
_EXIT_INTERRUPTED, _EXIT_BROKEN_PIPE = 128 + signal.SIGINT, 128 + 13


class CommandGroup(click.Group):
    """The commands of `gqlnb`, imported when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of the commands, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a command; None if no command has that name."""
        if cmd_name not in COMMANDS:
            return None
        module, _ = COMMANDS[cmd_name]
        command: click.Command = getattr(import_module(module), cmd_name)
        return command

    def get_help(self, ctx: click.Context) -> str:  # noqa: ARG002
        """Return the help, for which no module of a command is imported."""
        return HELP.rstrip()

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name, or suggest one."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            advice = suggest_or_list(name, list(COMMANDS))
            message = f"No such command {sanitize_text(name, 40)!r}.{advice}"
            raise click.UsageError(message, ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> int:
        """Run the command and return the exit code; our errors are printed to stderr."""
        try:
            code: int = super().invoke(ctx)
            sys.stdout.flush()
        except (OptionError, LiteralSecretError) as error:
            return _print_error(str(error), _EXIT_USAGE)
        except GqlnbError as error:
            return _print_error(str(error))
        except KeyboardInterrupt:
            return _EXIT_INTERRUPTED
        except OSError as error:
            return report_os_error(error)
        return code


def report_os_error(error: OSError) -> int:
    """Print the reason why a file cannot be read or written; return the exit code."""
    if isinstance(error, BrokenPipeError):
        # Python would fail again when it flushes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _EXIT_BROKEN_PIPE
    # This is the user's concern, not a defect: no traceback.
    reason = str(error.strerror or error)
    return _print_error(f"{error.filename}: {reason}" if error.filename else reason)


def _print_error(text: str, code: int = 1) -> int:
    from gqlnb.cli.output import translate_for_shell

    with suppress(OSError):  # such as of a full disk
        sys.stdout.flush()
    click.echo(f"gqlnb: {translate_for_shell(text)}", err=True)
    return code


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="gqlnb", message="gqlnb %(version)s")
def command_line() -> None:
    """GraphQL in Jupyter."""


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
        click.echo(complete(command_line, {}, "gqlnb", COMPLETION_VARIABLE).source())
    return 0


def run_command_line(arguments: list[str]) -> int:
    """Run a command, and return its exit code as :func:`gqlnb.cli.main.main` describes it."""
    # Windows would encode what is piped or redirected as cp1252, and end lines with \r\n.
    if isinstance(sys.stdout, TextIOWrapper) and not sys.stdout.isatty():
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    # Not standalone: click would exit by itself, with its own codes for Ctrl-C and a closed pipe.
    try:
        code: int = command_line.main(arguments, prog_name="gqlnb", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    return code
