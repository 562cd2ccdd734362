"""Find and remove tokens in notebooks, recordings, logs and other text files."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gqlnb.config import replace_file
from gqlnb.errors import GqlnbError, TargetError, format_count, sanitize_text
from gqlnb.option_checks import explain_keywords
from gqlnb.redact import (
    MASK,
    SecretMatch,
    abbreviate_secret,
    find_secrets,
    hide_locals,
    replace_secrets,
    widen_to_json_values,
)
from gqlnb.tokens import collect_secrets

if TYPE_CHECKING:
    from collections.abc import Iterator

    JSONPath = tuple[str | int | None, ...]  # keys and indexes of a JSON value

# In folders: notebooks and their exports, recordings, logs. Not settings and programs, which may
# contain a token on purpose.
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
CHECKPOINT_FOLDER = ".ipynb_checkpoints"  # hidden, but with copies of notebooks
SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__"})
STRING_PATTERN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},]')
WIDGET_STATE_PATH = ("metadata", "widgets", "application/vnd.jupyter.widget-state+json", "state")
MAX_PASSES = 3  # removing one secret may reveal another one
RECORDING_PREFIX = '{"gqlnb":"recording"'  # the lines of a recording must remain JSON
MIN_PASSWORD_LENGTH = 8  # characters; shorter passwords are not searched for elsewhere


@dataclass(frozen=True, slots=True)
class Finding:
    """A secret in a file.

    Attributes
    ----------
    path
        The file.
    where
        Cell number, from 1, and part of the cell; in other files the line number, from 1.
    kind
        Kind of the secret, in a few words.
    shown
        Its first letters if they are the same for all tokens of this kind, and nothing else of it.
    """

    path: Path
    where: str
    kind: str
    shown: str

    def __str__(self) -> str:
        return f"{self.path}: {self.where}: {self.kind} {self.shown}"


@dataclass(frozen=True, slots=True, repr=False)
class ScrubReport:
    """The secrets that :func:`scrub` found; false if there are none.

    Attributes
    ----------
    findings
        The secrets, in the order of files and positions.
    files
        Number of files read.
    dry_run
        Whether the files were left unchanged.
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


@explain_keywords
@hide_locals
def scrub(path: str | os.PathLike[str], *, dry_run: bool = False) -> ScrubReport:
    """Find tokens in notebooks and other text files, and remove them.

    Tokens are found by prefix (``ghp_``, ``github_pat_``, ``glpat-``, ``xoxb-``, ``AKIA``, JSON Web
    Tokens and others), by context (an ``Authorization`` header, a URL) and by value: those of
    existing :class:`gqlnb.Token` objects, of environment variables such as ``X_TOKEN``, and text
    typed into a ``Password`` widget of ipywidgets. Percent-encoded, escaped and base64 forms are
    found too. Each is replaced by ``***``. All other bytes of a file remain unchanged, and a
    recording can still be replayed.

    Parameters
    ----------
    path
        A file of any name; or a folder, of which notebooks with their checkpoints, exported pages,
        recordings and logs are read (``.ipynb``, ``.html``, ``.md``, ``.txt``, ``.log``, ``.json``,
        ``.jsonl``, ``.ndjson``, ``.har``, ``.yaml``, ``.yml``), including subfolders except hidden
        ones.
    dry_run
        Whether to report the tokens without changing the files.

    Returns
    -------
    ScrubReport
        The tokens with their positions; false if none were found.

    Raises
    ------
    OSError
        If a file cannot be read or written; it is then unchanged.
    TargetError
        If `path` is a binary file.
    GqlnbError
        If a notebook would not be valid JSON without the tokens; it is then unchanged.

    Notes
    -----
    JupyterLab overwrites a file that is open there: close it first, or reload it. IPython also
    stores each cell in its history, which ``%history -g`` shows.

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
    target = Path(path)
    files = [*_walk_files(target)] if target.is_dir() else [target]
    findings: list[Finding] = []
    read = 0
    for file in files:
        data = file.read_bytes()
        # As git decides: a null byte near the beginning means a binary file.
        if b"\0" in data[:8192]:
            if file is target:
                msg = f"{sanitize_text(target, 120)} is a binary file, which scrub() cannot search."
                raise TargetError(msg)
            continue
        read += 1
        clean, in_file = _remove_secrets(file, data)
        findings += in_file
        if in_file and not dry_run:
            # The target of a link, which stays a link.
            replace_file(file.resolve(), clean, private=False)
    return ScrubReport(tuple(findings), read, dry_run)


def _walk_files(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder to search, in alphabetical order."""
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(
            name
            for name in folders
            if name == CHECKPOINT_FOLDER or not (name.startswith(".") or name in SKIPPED_FOLDERS)
        )
        for name in sorted(files):
            file = Path(here, name)
            hidden = name.startswith(".")
            if file.suffix.lower() in SEARCHED_SUFFIXES and not hidden and not file.is_symlink():
                yield file


def _remove_secrets(file: Path, data: bytes) -> tuple[bytes, list[Finding]]:
    """Return the bytes of a file without secrets, and the secrets."""
    text = data.decode("utf-8", "surrogateescape")  # encodes to the same bytes again
    is_recording = text.startswith(RECORDING_PREFIX)
    findings: list[Finding] = []
    for _ in range(MAX_PASSES):
        notebook = _parse_notebook(file, text)
        matches = list(find_secrets(text, collect_secrets()))
        if notebook is not None:
            matches += _find_passwords(notebook, text)
        if is_recording:
            matches = widen_to_json_values(text, matches)
        clean, leaks = replace_secrets(text, matches)
        if not leaks:
            break
        # A notebook that does not open any more would be a loss; the token can still be revoked.
        if notebook is not None and _parse_notebook(file, clean) is None:
            msg = f"{file} would not be valid JSON without its tokens. Remove them by hand."
            raise GqlnbError(msg)
        for leak, where in zip(leaks, _locate_leaks(text, leaks, notebook), strict=True):
            abbreviated = abbreviate_secret(text[leak.start : leak.end], leak.kind)
            findings.append(Finding(file, where, leak.kind, abbreviated))
        text = clean
    return text.encode("utf-8", "surrogateescape"), findings


def _parse_notebook(file: Path, text: str) -> dict[str, object] | None:
    """Return the JSON object of a notebook; None for other files and invalid notebooks."""
    if file.suffix != ".ipynb":
        return None
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return notebook if isinstance(notebook, dict) else None


def _find_passwords(notebook: dict[str, object], text: str) -> Iterator[SecretMatch]:
    """Yield the values of Password widgets in the widget state, and elsewhere in a notebook."""
    models: object = notebook
    for key in WIDGET_STATE_PATH:
        models = models.get(key) if isinstance(models, dict) else None
    passwords: dict[JSONPath, str] = {}
    for name, model in models.items() if isinstance(models, dict) else ():
        match model:
            case {"model_name": "PasswordModel", "state": {"value": str(value)}} if value:
                passwords[*WIDGET_STATE_PATH, name, "state", "value"] = value
    if not passwords:
        return
    for path, start, end in _iterate_strings(text):
        if passwords.get(path, MASK) != MASK:
            yield SecretMatch(start + 1, end - 1, "typed password")
    longer = (value for value in passwords.values() if len(value) >= MIN_PASSWORD_LENGTH)
    yield from (
        leak._replace(kind="typed password") for leak in find_secrets(text, longer, patterns=False)
    )


def _iterate_strings(text: str) -> Iterator[tuple[JSONPath, int, int]]:
    """Yield path, start and end of the strings of a JSON text; the path of a key ends in None."""
    # Written by hand, as no JSON parser at hand gives positions.
    path: list[str | int | None] = []  # None: the next string is a key of this object
    for match in STRING_PATTERN.finditer(text):
        match match[0][0]:
            case "{":
                path.append(None)
            case "[":
                path.append(0)
            case "}" | "]":
                path.pop()
            case ",":
                path[-1] = path[-1] + 1 if isinstance(path[-1], int) else None
            case _:
                key = bool(path) and path[-1] is None
                yield tuple(path), *match.span()
                if key:
                    path[-1] = json.loads(match[0])


def _locate_leaks(
    text: str, leaks: list[SecretMatch], notebook: dict[str, object] | None
) -> list[str]:
    """Describe the positions of secrets."""
    if notebook is None:
        return [f"line {text.count(chr(10), 0, leak.start) + 1}" for leak in leaks]
    strings = _iterate_strings(text)
    positions: list[str] = []
    path: JSONPath = ()
    end = 0
    for leak in leaks:
        while end <= leak.start:
            path, _, end = next(strings, ((), 0, len(text) + 1))
        positions.append(_describe_path(path))
    return positions


def _describe_path(path: JSONPath) -> str:
    match path:
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
