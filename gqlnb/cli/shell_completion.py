"""``gqlnb completion``: a script by which a shell completes commands, options and files."""

from __future__ import annotations

import sys
from argparse import _SubParsersAction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import shtab

if TYPE_CHECKING:
    from argparse import ArgumentParser

__all__ = ["print_completion"]


def print_completion(parser: ArgumentParser, shell: str) -> int:
    """Print the script that completes a command line.

    Parameters
    ----------
    parser
        The parser of the command line.
    shell
        ``"bash"``, ``"zsh"`` or ``"tcsh"``.
    """
    mark_files(parser)
    sys.stdout.write(f"{shtab.complete(parser, shell=shell)}\n")
    return 0


def mark_files(parser: ArgumentParser) -> None:
    """Have the names of files completed wherever a path is read."""
    for action in parser._actions:  # noqa: SLF001 - argparse has no public list of them
        marked: Any = action
        if isinstance(action, _SubParsersAction):
            for command in action.choices.values():
                mark_files(command)
        elif action.type is Path:
            marked.complete = shtab.FILE
