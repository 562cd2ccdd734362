"""Taking tokens out of notebooks, recordings and what else is kept as text."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gqlnb.auth import collect_secrets
from gqlnb.config import replace_file
from gqlnb.errors import GqlnbError, TargetError, sanitize_text
from gqlnb.redact import (
    MASK,
    SecretMatch,
    abbreviate_secret,
    find_secrets,
    hide_locals,
    replace_secrets,
    widen_to_json_values,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    JSONPath = tuple[str | int | None, ...]  # keys and indexes that lead to a value of JSON

__all__ = ["Finding", "ScrubReport", "scrub"]

# What a folder is searched for: notebooks, what they are exported to, recordings, logs. Not
# settings and programs: those may be where a token is kept on purpose.
SEARCHED_SUFFIXES = frozenset(
    {
        ".ipynb",
        ".html",
        ".md",
        ".txt",
        ".log",
        ".json",
        ".jsonl",
        ".ndjson",
        ".har",
        ".yaml",
        ".yml",
    }
)
CHECKPOINT_FOLDER = ".ipynb_checkpoints"  # the one hidden folder with copies of notebooks
SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__"})
STRING_PATTERN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},]')
WIDGET_STATE_PATH = ("metadata", "widgets", "application/vnd.jupyter.widget-state+json", "state")
MAX_PASSES = 3  # a secret may come to light when the one around it is gone
RECORDING_PREFIX = '{"gqlnb":"recording"'  # how a recording begins; its lines have to stay JSON
MIN_PASSWORD_LENGTH = 8  # characters of a password that is looked for in the rest of its notebook


@dataclass(frozen=True, slots=True)
class Finding:
    """A secret in a file.

    Attributes
    ----------
    path
        The file.
    where
        The cell, counted from 1, and what of it; else the line, counted from 1.
    kind
        What it is, in a few words.
    shown
        Its first letters where they tell the kind, and no more.
    """

    path: Path
    where: str
    kind: str
    shown: str

    def __str__(self) -> str:
        return f"{self.path}: {self.where}: {self.kind} {self.shown}"


@dataclass(frozen=True, slots=True, repr=False)
class ScrubReport:
    """What :func:`scrub` found; empty, and so false, if that is nothing.

    Attributes
    ----------
    findings
        The secrets, in the order of files and places.
    files
        How many files were read.
    dry_run
        Whether the files were left as they were.
    """

    findings: tuple[Finding, ...]
    files: int
    dry_run: bool

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __repr__(self) -> str:
        read = format_count(self.files, "file")
        if not self.findings:
            return f"No token in {read}."
        did = "Found" if self.dry_run else "Removed"
        into = "in" if self.dry_run else "from"
        holding = len({finding.path for finding in self.findings})
        head = f"{did} {format_count(len(self), 'token')} {into} {holding} of {read}."
        rows = [f"  {sanitize_text(finding, 200)}" for finding in self.findings]
        return "\n".join([head, *rows, "Revoke those that were real: there may be other copies."])


@hide_locals
def scrub(path: str | os.PathLike[str], *, dry_run: bool = False) -> ScrubReport:
    """Find tokens in notebooks and other text files, and remove them.

    Found are tokens by their first letters (``ghp_``, ``github_pat_``, ``glpat-``, ``xoxb-``,
    ``AKIA``, JSON Web Tokens and others) and by what stands around them (an ``Authorization``
    header, an address), those that living Tokens hold or environment variables such as ``X_TOKEN``
    name, and what was typed into ipywidgets' ``Password``; also where they are percent-encoded,
    escaped or in base64. Each becomes ``***``. The rest of a file stays byte for byte what it was;
    a recording can still be replayed.

    Parameters
    ----------
    path
        A file, whatever its name; or a folder, whose notebooks, their checkpoints, exported pages,
        recordings and logs are read (``.ipynb``, ``.html``, ``.md``, ``.txt``, ``.log``, ``.json``,
        ``.jsonl``, ``.ndjson``, ``.har``, ``.yaml``, ``.yml``), with its folders but hidden ones.
    dry_run
        Whether to leave the files as they are and tell alone.

    Returns
    -------
    Scrubbed
        What was found where; false if nothing was.

    Raises
    ------
    OSError
        If a file can't be read or written; it is then as it was.
    TargetError
        If `path` is a file that holds no text.

    Notes
    -----
    A file that is open in JupyterLab is written again from there: close it first, or reload it.
    IPython keeps each cell in its history, too: ``%history -g`` shows it.

    Examples
    --------
    >>> import gqlnb, tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = Path(folder, "service.log")
    ...     _ = log.write_text("GET /graphql authorization: Bearer s3cret-of-mine")
    ...     found = gqlnb.scrub(folder)
    ...     len(found), log.read_text()
    (1, 'GET /graphql authorization: Bearer ***')
    """
    named = Path(path)
    files = [*_walk_files(named)] if named.is_dir() else [named]
    findings: list[Finding] = []
    read = 0
    for file in files:
        data = file.read_bytes()
        if b"\0" in data[:8192]:
            if file is named:
                msg = (
                    f"{sanitize_text(named, 120)} holds no text, so it is not searched for tokens."
                )
                raise TargetError(msg)
            continue
        read += 1
        clean, in_file = _remove_secrets(file, data)
        findings += in_file
        if in_file and not dry_run:
            replace_file(file.resolve(), clean, keep_mode=True)
    return ScrubReport(tuple(findings), read, dry_run)


def _walk_files(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder that are searched, in alphabetical order."""
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(
            name
            for name in folders
            if name == CHECKPOINT_FOLDER or not (name.startswith(".") or name in SKIPPED_FOLDERS)
        )
        for name in sorted(files):
            file = Path(here, name)
            wanted = file.suffix.lower() in SEARCHED_SUFFIXES and not name.startswith(".")
            if wanted and not file.is_symlink():
                yield file


def _remove_secrets(file: Path, data: bytes) -> tuple[bytes, list[Finding]]:
    """Return the bytes of a file without secrets, and those it held."""
    text = data.decode("utf-8", "surrogateescape")  # back to the same bytes, whatever they are
    recorded = text.startswith(RECORDING_PREFIX)
    findings: list[Finding] = []
    for _ in range(MAX_PASSES):
        notebook = _parse_notebook(file, text)
        here = list(find_secrets(text, collect_secrets()))
        if notebook is not None:
            here += _find_passwords(notebook, text)
        clean, leaks = replace_secrets(text, widen_to_json_values(text, here) if recorded else here)
        if not leaks:
            break
        if notebook is not None and _parse_notebook(file, clean) is None:
            msg = f"{file} would be no notebook without the tokens in it. Remove them by hand."
            raise GqlnbError(msg)
        for leak, where in zip(leaks, _locate_leaks(text, leaks, notebook), strict=True):
            findings.append(
                Finding(
                    file,
                    where,
                    leak.kind,
                    abbreviate_secret(text[leak.start : leak.end], leak.kind),
                )
            )
        text = clean
    return text.encode("utf-8", "surrogateescape"), findings


def _parse_notebook(file: Path, text: str) -> dict[str, Any] | None:
    """Return the JSON of a notebook; None if the file is none, or broken."""
    if file.suffix != ".ipynb":
        return None
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return read if isinstance(read, dict) else None


def _find_passwords(notebook: dict[str, Any], text: str) -> Iterator[SecretMatch]:
    """Yield where what was typed into a Password of ipywidgets stands in a notebook."""
    models: Any = notebook
    for key in WIDGET_STATE_PATH:
        models = models.get(key) if isinstance(models, dict) else None
    held: dict[JSONPath, str] = {}
    for name, model in models.items() if isinstance(models, dict) else ():
        match model:
            case {"model_name": "PasswordModel", "state": {"value": str(value)}} if value:
                held[*WIDGET_STATE_PATH, name, "state", "value"] = value
    if not held:
        return
    for place, start, end in _iterate_strings(text):
        if held.get(place, MASK) != MASK:
            yield SecretMatch(start + 1, end - 1, "typed password")
    longer = (value for value in held.values() if len(value) >= MIN_PASSWORD_LENGTH)
    yield from (
        leak._replace(kind="typed password") for leak in find_secrets(text, longer, patterns=False)
    )


def _iterate_strings(text: str) -> Iterator[tuple[JSONPath, int, int]]:
    """Yield each string of a JSON text: the way to it, its start, its end; quotes included.

    The way to a key ends in None.
    """
    way: list[str | int | None] = []  # None: in an object, and its next string is a key
    for match in STRING_PATTERN.finditer(text):
        match match[0][0]:
            case "{":
                way.append(None)
            case "[":
                way.append(0)
            case "}" | "]":
                way.pop()
            case ",":
                way[-1] = way[-1] + 1 if isinstance(way[-1], int) else None
            case _:
                key = bool(way) and way[-1] is None
                yield tuple(way), *match.span()
                if key:
                    way[-1] = json.loads(match[0])


def _locate_leaks(
    text: str, leaks: list[SecretMatch], notebook: dict[str, Any] | None
) -> list[str]:
    """Return in words where secrets are, in their order."""
    if notebook is None:
        return [f"line {text.count(chr(10), 0, leak.start) + 1}" for leak in leaks]
    strings = _iterate_strings(text)
    found_at: list[str] = []
    place: JSONPath = ()
    end = 0
    for leak in leaks:
        while end <= leak.start:
            place, _, end = next(strings, ((), 0, len(text) + 1))
        found_at.append(_describe_path(place))
    return found_at


def _describe_path(place: JSONPath) -> str:
    match place:
        case ("cells", int(cell), "source", int(line), *_):
            return f"cell {cell + 1}, line {line + 1}"
        case ("cells", int(cell), "outputs", int(output), *_):
            return f"cell {cell + 1}, output {output + 1}"
        case ("cells", int(cell), "attachments", *_):
            return f"cell {cell + 1}, attachment"
        case ("cells", int(cell), str(part), *_):
            return f"cell {cell + 1}, {part}"
        case ("metadata", "widgets", *_):
            return "state of the widgets"
    return "metadata"


def format_count(number: int, what: str) -> str:
    """Return a number of things in words."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
