"""What is said of a request that a recording does not answer."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from gqlnb.errors import ReplayError, plain
from gqlnb.wire.json import load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gqlnb.client.tape import Line, Span, Tape

__all__ = ["missed", "used_up"]

WORD = re.compile(r'"(?:[^"\\]|\\.)*"|[\w$@]+|\.\.\.|[^\s,]')
COMPARED = 200  # lines whose texts are compared
TOKENS = 400  # of each text
AROUND = 6  # tokens shown of a difference
NAMES = 5  # variables named that differ
MISSING = object()


def missed(key: bytes, tape: Tape, how: str) -> ReplayError:
    """Return the error for a request without an answer; it shows what comes nearest.

    Parameters
    ----------
    key
        The request.
    tape
        The recording.
    how
        How to record it.
    """
    asked = load(key)
    spans = tape.spans()
    msg = f"{tape.shown} holds no answer to {what(asked)}. "
    if not spans:
        return ReplayError(f"{msg}It is empty. {how}")
    nearest = max(spans, key=_likeness(asked, spans))
    differs = "; ".join(differences(asked, nearest.line))
    return ReplayError(
        f"{msg}The nearest recording, line {nearest.number}, differs in {differs}. {how}"
    )


def used_up(key: bytes, shown: str, count: int) -> ReplayError:
    """Return the error for a mutation that is replayed more often than it was recorded."""
    times = "once" if count == 1 else f"{count} times"
    return ReplayError(
        f"{shown} holds {what(load(key))} {times}, and it was asked for once more. A mutation that "
        "was recorded is sent again with mode='record' alone. To begin with its first answer "
        "again, make the recording, or the client that has it, anew."
    )


def what(asked: dict[str, Any]) -> str:
    """Return in words what was asked."""
    word = "mutation" if asked["query"].startswith("mutation") else "query"
    name = f"{word} {asked['operation']!r}" if asked["operation"] else f"an unnamed {word}"
    return f"{plain(name, 80)} of {plain(repr(asked['connection']), 120)}"


def _likeness(asked: dict[str, Any], spans: Sequence[Span]) -> Any:
    """Return what orders lines by how much they are like a request."""
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(words(asked["query"])[:TOKENS])
    compared = {span.number for span in spans[-COMPARED:]}

    def likeness(span: Span) -> tuple[bool, bool, bool, float, int]:
        line = span.line
        text = line.query == asked["query"]
        ratio = 1.0 if text else 0.0
        if not text and span.number in compared:
            matcher.set_seq1(words(line.query)[:TOKENS])
            ratio = matcher.quick_ratio()
        named = line.operation is not None and line.operation == asked["operation"]
        same = set(line.variables.items() if _plain(line.variables) else ())
        common = len(same & set(asked["variables"].items())) if _plain(asked["variables"]) else 0
        return text, named, line.connection == asked["connection"], ratio, common

    return likeness


def _plain(variables: dict[str, Any]) -> bool:
    return not any(isinstance(value, (dict, list)) for value in variables.values())


def differences(asked: dict[str, Any], line: Line) -> list[str]:
    """Return what is different in a recorded request; no value of a variable is shown."""
    found = []
    if line.connection != asked["connection"]:
        found.append(f"the connection (it is of {plain(repr(line.connection), 120)})")
    if line.query != asked["query"]:
        old, new = words(line.query), words(asked["query"])
        pairs = zip([*old, None], [*new, None], strict=False)
        first = next((n for n, (a, b) in enumerate(pairs) if a != b), 0)
        found.append(f"the document ({_piece(old, first)} there, {_piece(new, first)} here)")
    elif line.operation != asked["operation"]:
        found.append("the operation")
    mine, theirs = asked["variables"], line.variables
    names = [n for n in {**mine, **theirs} if mine.get(n, MISSING) != theirs.get(n, MISSING)]
    if names:
        shown = ", ".join(f"${name}" for name in names[:NAMES])
        word = "the variable" if len(names) == 1 else "the variables"
        found.append(f"{word} {plain(shown, 200)}")
    return found or ["the order of its parts"]


def _piece(tokens: list[str], at: int) -> str:
    """Return the part of a text that is around a difference."""
    start = max(0, at - AROUND // 2)
    piece = " ".join(tokens[start : start + AROUND])
    before, after = "… " * (start > 0), " …" * (len(tokens) > start + AROUND)
    return f"{plain(before + piece + after, 100)!r}"


def words(text: str) -> list[str]:
    """Return the tokens of a document."""
    return WORD.findall(text)
