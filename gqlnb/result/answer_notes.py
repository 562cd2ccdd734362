"""Notes of an endpoint on its answers, in their ``extensions``, and the merging of parts.

The stand-in for GitHub lists fields that its data do not contain in ``extensions.standIn``; GitHub
lists deprecated ids, among others, in ``extensions.warnings``. A response that is delivered in
parts, for ``@defer`` and ``@stream``, is merged into one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from gqlnb.errors import join_names, sanitize_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gqlnb.document.document import Document

MAX_NOTES = 20  # of one client or harvest; an endpoint may make up new ones for ever
NOTES_SHOWN = 5
FIELDS_SHOWN = 3
MISSING = "Not in the data of the stand-in: "
STAND_IN, WARNINGS = "standIn", "warnings"
NULLIFIED = "NULLIFIED_NUMBERS"
DERIVED = "derived"  # from facts by a documented rule, so that nothing is missing
ABSENT = ("empty", "null")
# The known scalars of the dtypes that unknown ones may get.
INFERRED_LIKE = {"string": "String", "boolean": "Boolean", "Int64": "Long", "Float64": "Float"}


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


def find_missing_data(notes: Iterable[str]) -> dict[str, str]:
    """Return the note on fields without data, which look like values, by its beginning."""
    # Other notes are about the query, and give no warning each time.
    note = next((note for note in notes if note.startswith(MISSING)), None)
    return {} if note is None else {MISSING: note}


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
        merged[WARNINGS] = [item for item in before[WARNINGS] if not is_count(item)]
        counts = [item["count"] for item in [*before[WARNINGS], *newer] if is_count(item)]
        if counts:
            merged[WARNINGS].append(count_nullified(sum(counts)))
            kinds.add(NULLIFIED)
        for item in newer:
            kind = next((kind for kind, _ in iterate_warnings({WARNINGS: [item]})), None)
            if kind is not None and kind not in kinds and len(kinds) < MAX_NOTES:
                kinds.add(kind)
                merged[WARNINGS].append(item)
    return merged


def describe_inference(source: str | None, document: Document | None) -> str:
    """Return why the dtypes of frames are inferred; "" if the schema has them."""
    source = source or "this answer"
    if document is None or not (document.schema or document.fault):
        return (
            f"No schema is known for {source}: the dtypes of its frames are inferred from the "
            "values. A client takes it from Client(..., schema=), and client.schema says why an "
            "endpoint's is not known; Result.from_bytes takes it from its document."
        )
    if document.schema is None:
        return (
            f"The schema of {source} does not fit a query that was sent to it: the dtypes of its "
            f"frames are inferred from the values. {document.fault}"
        )
    return ""


def describe_scalar_dtype(name: str, dtype: str) -> str:
    """Return the warning about columns of an unknown scalar."""
    return (
        f"The scalar {name!r} is not known, so its columns have the dtype of their values, "
        f"{dtype}, where all are of one kind. gqlnb.scalar({name!r}, "
        f"like={INFERRED_LIKE[dtype]!r}) gives it to pages and to columns without values too; "
        "dtype='object' keeps values as received."
    )


def describe_row_keys(name: str) -> str:
    """Return the warning about a list whose rows have no usable ids."""
    key = name.rpartition(".")[2]
    return (
        f"Ids in a list of {name!r} repeat or are missing, so what is in its rows has the row, "
        f"{f'{key}_index'!r}, as key instead of {f'{key}.id'!r}."
    )


class InvalidPartError(Exception):
    """The server sent an invalid part; the text is the reason, as the end of a sentence."""


class IncrementalResponse:
    """A response that is merged from its parts.

    Attributes
    ----------
    part_count
        Number of parts so far.
    has_next
        Whether more parts follow.
    """

    def __init__(self) -> None:
        self.part_count = 0
        self.has_next = True
        self._members: dict[str, Any] = {}
        self._pending_places: dict[str, tuple[Any, ...]] = {}  # places by id

    def feed(self, part: object) -> Mapping[str, Any]:
        """Merge the next part.

        Returns
        -------
        Mapping
            The members of the response so far. Later parts do not change them: what is merged is
            copied along its path.

        Raises
        ------
        InvalidPartError
            If the part is not an object, or does not fit the parts before it.
        """
        self.part_count += 1
        if not isinstance(part, Mapping):
            msg = f"it is {sanitize_text(repr(part), 40)}, not an object"
            raise InvalidPartError(msg)
        self.has_next = part.get("hasNext") is True
        for pending in _get_list(part, "pending"):
            self._pending_places[str(pending.get("id"))] = _get_path(pending)
        if self.part_count == 1:
            self._members = {name: part[name] for name in ("data", "errors") if name in part}
        elif "path" in part:
            self._add_part(part)
        self._add_extensions(part.get("extensions"))
        for increment in _get_list(part, "incremental"):
            self._add_part(increment)
        for completed in _get_list(part, "completed"):
            self._pending_places.pop(str(completed.get("id")), None)
            self._add_errors(completed)
        return dict(self._members)

    def _add_part(self, part: Mapping[str, Any]) -> None:
        self._add_errors(part)
        self._add_extensions(part.get("extensions"))
        if part.get("items") is not None:
            self._add_items(part, _get_list(part, "items", Any))
        elif "data" in part:
            self._add_data(part["data"], self._find_place(part))

    def _add_data(self, data: object, place: Sequence[Any]) -> None:
        """Merge fields into their object; in the 2020 form also append an item to its list."""
        target = self._get_value(place)
        if isinstance(target, dict) and isinstance(data, Mapping):
            self._set_value(place, _merge_values(target, data))
            return
        row = self._get_value(place[:-1]) if place else None
        if isinstance(row, list) and place[-1] == len(row):
            self._set_value(place[:-1], [*row, data])
        elif data is not None:  # null where it failed
            msg = (
                f"it puts fields into {_format_place(place)}, which is not an object of the answer"
            )
            raise InvalidPartError(msg)

    def _add_items(self, part: Mapping[str, Any], items: list[Any]) -> None:
        """Append items to their list; in the 2022 form the path ends with their index."""
        place, start = self._find_place(part), None
        if "id" not in part and place:
            *place, start = place
        target = self._get_value(place)
        if not isinstance(target, list) or (start is not None and start != len(target)):
            msg = f"it adds items to {_format_place(place)}, which is not a list that ends there"
            raise InvalidPartError(msg)
        self._set_value(place, target + items)

    def _find_place(self, part: Mapping[str, Any]) -> Sequence[Any]:
        if "id" not in part:
            return _get_path(part)
        place = self._pending_places.get(str(part["id"]))
        if place is None:
            name = sanitize_text(repr(part["id"]), 40)
            msg = f"it is for {name}, which was not announced as pending"
            raise InvalidPartError(msg)
        return (*place, *_get_path(part, "subPath"))

    def _get_value(self, place: Sequence[Any]) -> Any:  # noqa: ANN401 - a JSON value
        """Return the value at a path of the data; None if no such path exists."""
        value = self._members.get("data")
        for step in place:
            if isinstance(value, dict):
                value = value.get(step)
            elif isinstance(value, list) and type(step) is int and 0 <= step < len(value):
                value = value[step]
            else:
                return None
        return value

    def _set_value(self, place: Sequence[Any], value: object) -> None:
        """Set the value at an existing path of the data, in copies of the containers above it."""
        if not place:
            self._members["data"] = value
            return
        above = self._members["data"] = self._members["data"].copy()
        for step in place[:-1]:
            above[step] = above[step].copy()
            above = above[step]
        above[place[-1]] = value

    def _add_errors(self, part: Mapping[str, Any]) -> None:
        if errors := _get_list(part, "errors"):
            self._members["errors"] = [*self._members.get("errors", ()), *errors]

    def _add_extensions(self, extensions: object) -> None:
        if isinstance(extensions, Mapping):
            before = self._members.get("extensions", {})
            self._members["extensions"] = merge_extensions(before, extensions)


def _merge_values(old: object, new: object) -> object:
    """Return a value with more fields; objects and lists in both are merged."""
    if isinstance(old, dict) and isinstance(new, Mapping):
        both = {name: _merge_values(old[name], new[name]) for name in new if name in old}
        return {**old, **new, **both}
    # Both lists come from the same field, so items of one index are the same object. Of lists of
    # different lengths that is unknown, and the newer one is taken.
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [_merge_values(*pair) for pair in zip(old, new, strict=True)]
    return new


def _get_list(part: Mapping[str, Any], name: str, kind: type = Mapping) -> list[Any]:
    """Return a list member of a part; empty if it is missing."""
    items = part.get(name)
    if items is None:
        return []
    if isinstance(items, list) and (kind is Any or all(isinstance(item, kind) for item in items)):
        return items
    msg = f"its {name!r} is not a list" + ("" if kind is Any else " of objects")
    raise InvalidPartError(msg)


def _get_path(part: Mapping[str, Any], name: str = "path") -> tuple[Any, ...]:
    """Return the path of a part; empty, for the root, if it is missing."""
    return tuple(_get_list(part, name, Any))


def _format_place(place: Sequence[Any]) -> str:
    return sanitize_text(".".join(map(str, place)), 120) if place else "the root"
