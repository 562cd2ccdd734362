"""Notes of an endpoint on its answers, in their ``extensions``: missing data, and warnings.

The stand-in for GitHub lists fields that its data do not contain in ``extensions.standIn``; GitHub
lists deprecated ids, among others, in ``extensions.warnings``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import TYPE_CHECKING, Any

from gqlnb.errors import join_names, sanitize_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = [
    "MAX_NOTES",
    "MISSING",
    "WARNINGS",
    "count_nullified",
    "describe_missing",
    "explain_absence",
    "format_notes",
    "iterate_warnings",
    "list_notes",
    "merge_extensions",
    "merge_notes",
    "read_missing_fields",
    "read_notes",
    "summarize_notes",
]

MAX_NOTES = 20  # of one client or harvest; an endpoint may make up new ones for ever
NOTES_SHOWN = 5
FIELDS_SHOWN = 3
MISSING = "Not in the data of the stand-in: "
STAND_IN, WARNINGS = "standIn", "warnings"
NULLIFIED = "NULLIFIED_NUMBERS"
DERIVED = "derived"  # from facts by a documented rule, so that nothing is missing
ABSENT = ("empty", "null")


def read_missing_fields(extensions: Mapping[str, Any]) -> dict[str, str]:
    """Return the fields without data, by place, with the value they have instead.

    Parameters
    ----------
    extensions
        The extensions of an answer.

    Returns
    -------
    dict
        Such as ``{"Repository.issues": "empty"}``. Values that a rule derives from facts are left
        out.
    """
    listed = extensions.get(STAND_IN)
    fields = listed.items() if isinstance(listed, Mapping) else ()
    return {str(place): str(outcome) for place, outcome in fields if outcome != DERIVED}


def count_nullified(count: int) -> dict[str, Any]:
    """Return the warning about numbers of an answer that are read as null."""
    form = "number was" if count == 1 else "numbers were"
    message = f"{count:,} {form} NaN or Infinity, which JSON does not have, and read as null."
    return {"type": NULLIFIED, "message": message, "count": count}


def iterate_warnings(extensions: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the kind and the text of each warning; GitHub's ids would make every text another."""
    listed = extensions.get(WARNINGS)
    for item in listed if isinstance(listed, list) else ():
        members = item if isinstance(item, Mapping) else {"message": item}
        message = members.get("message")
        if isinstance(message, str) and message:
            kind = members.get("type")
            link = members.get("link")
            more = f" See {link}" if isinstance(link, str) else ""
            yield kind if isinstance(kind, str) else message, sanitize_text(message + more, 400)


def read_notes(extensions: Mapping[str, Any]) -> dict[str, str]:
    """Return the notes on an answer as sentences, by a key that is the same for equal notes."""
    if not extensions:
        return {}
    missing = read_missing_fields(extensions)
    notes = {f"{STAND_IN} {place}": describe_missing({place: missing[place]}) for place in missing}
    for kind, text in iterate_warnings(extensions):
        notes.setdefault(f"{WARNINGS} {kind}", f"The endpoint warns: {text}")
    return notes


def is_count(item: object) -> bool:
    """Return whether a warning is one of :func:`count_nullified`."""
    return isinstance(item, Mapping) and item.get("type") == NULLIFIED


def list_notes(extensions: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the notes on an answer as sentences, with one for all missing fields."""
    if not extensions:
        return ()
    missing = read_missing_fields(extensions)
    warned = read_notes({WARNINGS: extensions.get(WARNINGS)}).values()
    return (describe_missing(missing), *warned) if missing else tuple(warned)


def describe_missing(missing: Mapping[str, str]) -> str:
    """Return a sentence about fields without data, as of :func:`read_missing_fields`."""
    named = [
        f"{sanitize_text(place, 120)} ({sanitize_text(outcome, 60)})"
        for place, outcome in missing.items()
    ]
    return f"{MISSING}{join_names(named, FIELDS_SHOWN)}."


def explain_absence(extensions: Mapping[str, Any]) -> str:
    """Return a sentence about fields that are empty or null for lack of data; empty without."""
    missing = read_missing_fields(extensions)
    absent = {place: outcome for place, outcome in missing.items() if outcome in ABSENT}
    return describe_missing(absent) if absent else ""


def format_notes(notes: Sequence[str], more_in: str) -> list[str]:
    """Return the lines to show below a report; `more_in` names the place of the others."""
    more = len(notes) - NOTES_SHOWN
    return [*notes[:NOTES_SHOWN], *([f"{more} more notes: see {more_in}."] if more > 0 else [])]


def summarize_notes(notes: Sequence[str], more_in: str) -> list[str]:
    """Return the text of one warning about all notes; none without notes."""
    fields = [note.removeprefix(MISSING).removesuffix(".") for note in notes if MISSING in note]
    others = [note for note in notes if MISSING not in note]
    joined = [f"{MISSING}{', '.join(fields[:NOTES_SHOWN])}."] if fields else []
    more = max(0, len(fields) - NOTES_SHOWN) + max(0, len(others) - NOTES_SHOWN)
    rest = [f"{more} more notes: see {more_in}."] if more else []
    return [" ".join([*joined, *others[:NOTES_SHOWN], *rest])] if notes else []


def merge_notes(answers: Iterable[Mapping[str, Any]]) -> dict[Any, Any]:
    """Return the notes of several answers, from their extensions, as ``attrs`` of a frame."""
    notes = list_notes(reduce(merge_extensions, answers, {}))
    return {"notes": list(notes)} if notes else {}


def merge_extensions(before: Mapping[str, Any], new: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the extensions of several answers as those of one.

    Parameters
    ----------
    before, new
        The extensions of the answers so far, and of the next one.

    Returns
    -------
    mapping
        The missing fields and the kinds of warnings of both; other members as they came last.
    """
    if not before or not new:
        return new or before
    merged = {**before, **new}
    if isinstance(before.get(STAND_IN), Mapping):
        newer = new.get(STAND_IN)
        merged[STAND_IN] = dict(before[STAND_IN])
        for place, outcome in newer.items() if isinstance(newer, Mapping) else ():
            # What one answer lacks is missing from the whole, whatever the next one derives.
            if outcome != DERIVED or place not in merged[STAND_IN]:
                merged[STAND_IN][place] = outcome
    if isinstance(before.get(WARNINGS), list):
        kinds = {kind for kind, _ in iterate_warnings(before)}
        newer = new.get(WARNINGS)
        newer = newer if isinstance(newer, list) else []
        merged[WARNINGS] = [*before[WARNINGS]]
        counts = [item["count"] for item in [*before[WARNINGS], *newer] if is_count(item)]
        if counts:
            merged[WARNINGS] = [it for it in before[WARNINGS] if not is_count(it)]
            merged[WARNINGS].append(count_nullified(sum(counts)))
            kinds.add(NULLIFIED)
        for item in newer:
            kind = next((kind for kind, _ in iterate_warnings({WARNINGS: [item]})), None)
            if kind is not None and kind not in kinds and len(kinds) < MAX_NOTES:
                kinds.add(kind)
                merged[WARNINGS].append(item)
    return merged
