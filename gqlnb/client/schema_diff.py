"""Changes between two schemas, and the queries that they may break."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

from graphql import (
    GraphQLError,
    OperationDefinitionNode,
    TypeInfo,
    TypeInfoVisitor,
    Visitor,
    find_breaking_changes,
    find_dangerous_changes,
    get_named_type,
    is_input_object_type,
    parse,
    visit,
)

from gqlnb.document.document import find_errors
from gqlnb.errors import format_count, join_names, sanitize_text
from gqlnb.result.renderer import Grid

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd
    from graphql import DirectiveNode, FieldNode, GraphQLSchema

__all__ = ["SchemaChanges", "compare_schemas"]

BREAKING, DANGEROUS, SAFE = "breaking", "dangerous", "safe"
MAX_SHOWN = 50  # changes
MAX_NAMES = 3  # operations named beside a change
MAX_LABEL = 40  # characters of an operation without a name
# The places of changes, parsed from the sentences of graphql-core 3.2 and 3.3: neither gives
# schema coordinates.
OF_DIRECTIVE = (r"@(\w+)", r"on directive (\w+)", r"removed from (\w+)", r"^(\w+) was removed")
OF_FIELD = re.compile(r"arg (?P<arg>\w+) on (?P<type>\w+)\.(?P<member>\w+)")
OF_TYPE = re.compile(r"(?P<type>\w+)\.(?P<member>\w+)(?:\((?P<arg>\w+):\)| arg (?P<other>\w+))?")
OF_INPUT = re.compile(r"field (?P<member>\w+) on input type (?P<type>\w+)")
OF_ENUM = re.compile(r"(?P<member>\w+) was (?:added to|removed from) enum type (?P<type>\w+)")
OF_UNION = re.compile(r"was (?:added to|removed from) union type (?P<type>\w+)")
OF_INTERFACE = re.compile(r"implemented by (?P<type>\w+)")
FIRST_WORD = re.compile(r"(?:Standard scalar )?(?P<type>\w+)")


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """One change of a schema.

    Attributes
    ----------
    severity
        ``"breaking"``, ``"dangerous"`` or ``"safe"``.
    kind
        Its name in graphql-core, such as ``"FIELD_REMOVED"``.
    place
        A schema coordinate such as ``"Query.stars(first:)"``.
    description
        The change in a sentence.
    touches
        The operations that were sent and use that place: their names, or their first characters.
    """

    severity: str
    kind: str
    place: str
    description: str
    touches: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SchemaChanges:
    """The changes between two schemas; those that touch queries come first.

    It is a sequence of :class:`SchemaChange`.

    Attributes
    ----------
    changes
        All changes.
    broken
        The operations that were sent, were valid, and are invalid in the new schema, each with its
        error.
    source
        The endpoint of the schema.
    is_diff
        Whether two schemas were compared by :func:`gqlnb.diff`, with safe changes too, and not the
        versions of one endpoint.
    first
        Whether the schema was loaded for the first time, so that there was none to compare it with.
    """

    changes: tuple[SchemaChange, ...]
    broken: dict[str, str] = field(default_factory=dict)
    source: str = ""
    first: bool = False
    is_diff: bool = False

    def __len__(self) -> int:
        return len(self.changes)

    def __iter__(self) -> Iterator[SchemaChange]:
        return iter(self.changes)

    def __getitem__(self, index: int) -> SchemaChange:
        return self.changes[index]

    @property
    def breaking(self) -> tuple[SchemaChange, ...]:
        """The changes that break queries that use the place."""
        return tuple(change for change in self.changes if change.severity == BREAKING)

    @property
    def dangerous(self) -> tuple[SchemaChange, ...]:
        """The changes that may surprise a program, such as another default or a new enum value."""
        return tuple(change for change in self.changes if change.severity == DANGEROUS)

    @property
    def safe(self) -> tuple[SchemaChange, ...]:
        """The changes that break no query, such as new fields; only :func:`gqlnb.diff` has them."""
        return tuple(change for change in self.changes if change.severity == SAFE)

    def frame(self) -> pd.DataFrame:
        """Return the changes as a DataFrame, with a column for each attribute."""
        import pandas as pd

        rows = [
            (each.severity, each.kind, each.place, each.description, list(each.touches))
            for each in self.changes
        ]
        return pd.DataFrame(rows, columns=["severity", "kind", "place", "description", "touches"])

    def __repr__(self) -> str:
        lines = [self._summarize(), *self._list_broken()]
        if self.changes:
            lines.append(self._build_grid().to_text())
        return "\n".join([*lines, *self._list_rest()])

    def _repr_html_(self) -> str:
        above = "<br>".join(map(escape, [self._summarize(), *self._list_broken()]))
        table = self._build_grid().to_html() if self.changes else ""
        below = "".join(f"<p>{escape(line)}</p>" for line in self._list_rest())
        return f"<p>{above}</p>{table}{below}"

    def _summarize(self) -> str:
        counts = Counter(change.severity for change in self.changes)
        parts = [
            format_count(counts[word], f"{word} change")
            for word in (BREAKING, DANGEROUS, SAFE)
            if counts[word]
        ]
        if self.first:
            return (
                f"There is no earlier schema of {self.source} to compare with: this is the "
                "first one fetched. Later calls are compared with it."
            )
        if self.is_diff:
            found = " and ".join([", ".join(parts[:-1]), parts[-1]] if parts[1:] else parts)
            return f"{found or 'No change'} from {self.source}."
        if not parts:
            return f"No breaking and no dangerous change in the schema of {self.source}."
        touching = sum(bool(change.touches) for change in self.changes)
        used = f"{touching} of them" if touching else "None of them"
        end = "s" if touching == 1 else ""
        sentence = f"{' and '.join(parts)} in the schema of {self.source}."
        return f"{sentence} {used} touch{'es' if end else ''} operations of this session."

    def _list_broken(self) -> list[str]:
        return [f"{name} is wrong now: {why}" for name, why in self.broken.items()][:MAX_SHOWN]

    def _list_rest(self) -> list[str]:
        more = len(self.changes) - MAX_SHOWN
        return [f"… and {more:,} more; .frame() has all."] if more > 0 else []

    def _build_grid(self) -> Grid:
        rows = [
            [
                each.severity,
                sanitize_text(each.description, 120),
                join_names(each.touches, MAX_NAMES),
            ]
            for each in self.changes[:MAX_SHOWN]
        ]
        index = [sanitize_text(each.place, 60) for each in self.changes[:MAX_SHOWN]]
        return Grid(["severity", "change", "touches"], [False] * 3, rows, index, [])


def compare_schemas(
    before: GraphQLSchema,
    now: GraphQLSchema,
    texts: Sequence[str],
    source: str,
    *,
    is_diff: bool = False,
) -> SchemaChanges:
    """Compare two schemas.

    Parameters
    ----------
    before, now
        The schemas.
    texts
        The documents that were asked while `before` held.
    source
        Whose schemas they are.
    is_diff
        Whether to add safe changes.
    """
    if before is now:
        return SchemaChanges((), {}, source, is_diff=is_diff)
    found = [
        *((BREAKING, *change) for change in find_breaking_changes(before, now)),
        *((DANGEROUS, *change) for change in find_dangerous_changes(before, now)),
    ]
    # The places are looked up in the schema before, as a removed field is not in the new one.
    used: dict[str, frozenset[str]] = {}
    for text in texts if found else ():
        name = label_operation(text)
        used[name] = used.get(name, frozenset()) | find_used_places(text, before)
    changes = [build_change(level, kind.name, sentence, used) for level, kind, sentence in found]
    if is_diff:
        changes += find_safe_changes(before, now, {change.place for change in changes})
    changes.sort(key=lambda change: not change.touches)  # stable: breaking ones first in each part
    broken = dict(find_broken(before, now, texts))
    return SchemaChanges(tuple(changes), broken, source, is_diff=is_diff)


# graphql-core 3.2 finds no safe changes. By coordinates they are what remains beside the others.
def find_safe_changes(
    before: GraphQLSchema, now: GraphQLSchema, known: set[str]
) -> Iterator[SchemaChange]:
    """Yield additions, new deprecations and changed types, but not those of `known` places."""
    old, new = list_places(before), list_places(now)
    for place, (type_, deprecation) in new.items():
        parent = place.partition("(")[0] if "(" in place else place.rpartition(".")[0]
        if place in known or (place not in old and parent and parent not in old):
            continue  # a new type is reported once, without its members
        if place not in old:
            yield SchemaChange(SAFE, "ADDED", place, f"{place} was added.")
            continue
        type_before, deprecation_before = old[place]
        if type_ != type_before:
            sentence = f"{place} changed type from {type_before} to {type_}."
            yield SchemaChange(SAFE, "TYPE_CHANGED", place, sentence)
        if deprecation is not None and deprecation_before is None:
            yield SchemaChange(SAFE, "DEPRECATED", place, f"{place} is deprecated: {deprecation}")
        elif deprecation is None and deprecation_before is not None:
            sentence = f"{place} is not deprecated any more."
            yield SchemaChange(SAFE, "DEPRECATION_REMOVED", place, sentence)


def list_places(schema: GraphQLSchema) -> dict[str, tuple[str, str | None]]:
    """Return the coordinates of a schema, each with its type and the reason of its deprecation."""
    places: dict[str, tuple[str, str | None]] = {
        f"@{it.name}": ("", None) for it in schema.directives
    }
    for name, kind in schema.type_map.items():
        if name.startswith("__"):
            continue
        places[name] = "", None
        for value_name, value in getattr(kind, "values", {}).items():
            places[f"{name}.{value_name}"] = "", value.deprecation_reason
        for field_name, member in getattr(kind, "fields", {}).items():
            place = f"{name}.{field_name}"
            places[place] = str(member.type), member.deprecation_reason
            for argument, taken in getattr(member, "args", {}).items():
                places[f"{place}({argument}:)"] = str(taken.type), taken.deprecation_reason
    return places


def build_change(
    severity: str, kind: str, sentence: str, used: dict[str, frozenset[str]]
) -> SchemaChange:
    """Return a change of graphql-core with its place and the operations that it touches."""
    parent, member, arg = locate_change(kind, sentence)
    keys = {parent} if not member else {f"{parent}.{member}"}
    if kind.endswith(("_ENUM", "INPUT_FIELD_ADDED")):
        keys = {parent}  # every use of the type may send or receive the new value
    touches = tuple(name for name, places in used.items() if not keys.isdisjoint(places))
    place = f"{parent}.{member}" if member else parent
    return SchemaChange(severity, kind, f"{place}({arg}:)" if arg else place, sentence, touches)


def locate_change(kind: str, sentence: str) -> tuple[str, str, str]:
    """Return the place of a change: type or ``@directive``, its member, and its argument."""
    if "DIRECTIVE" in kind:
        found = (match for each in OF_DIRECTIVE if (match := re.search(each, sentence)))
        match = next(found, None)
        return (f"@{match[1]}" if match else sentence), "", ""
    if kind in ("TYPE_REMOVED", "TYPE_CHANGED_KIND"):
        patterns = []
    elif "UNION" in kind or "INTERFACE" in kind:
        patterns = [OF_UNION, OF_INTERFACE]
    else:
        patterns = [OF_FIELD, OF_INPUT, OF_ENUM, OF_TYPE]
    for each in patterns:
        if match := each.search(sentence):
            groups = match.groupdict()
            arg = groups.get("arg") or groups.get("other") or ""
            return groups["type"], groups.get("member") or "", arg
    match = FIRST_WORD.match(sentence)
    return (match["type"] if match else sentence), "", ""


def label_operation(text: str) -> str:
    """Return the name of an operation, or its first characters."""
    try:
        nodes = parse(text, no_location=True).definitions
    except (GraphQLError, RecursionError):
        return sanitize_text(text, MAX_LABEL)
    named = [node.name for node in nodes if isinstance(node, OperationDefinitionNode)]
    names = [name.value for name in named if name is not None]
    return sanitize_text(", ".join(names) or text, MAX_LABEL)


def find_used_places(text: str, schema: GraphQLSchema) -> frozenset[str]:
    """Return the places of a schema that a document uses: types, ``Type.field``, ``@directive``."""
    types = TypeInfo(schema)
    places = PlaceCollector(types)
    try:
        visit(parse(text, no_location=True), TypeInfoVisitor(types, places))
    except (GraphQLError, RecursionError):
        return frozenset()
    return frozenset(places.found)


class PlaceCollector(Visitor):
    """Collects the places of a schema that a document uses.

    Parameters
    ----------
    types
        Follows the visit through the schema.
    """

    def __init__(self, types: TypeInfo) -> None:
        super().__init__()
        self.types = types
        self.found: set[str] = set()

    def enter_field(self, node: FieldNode, *_: object) -> None:
        """Add a field, its parent type and its own type."""
        parent, kind = self.types.get_parent_type(), self.types.get_type()
        if parent is not None:
            self.found |= {parent.name, f"{parent.name}.{node.name.value}"}
        if kind is not None:
            self.found.add(get_named_type(kind).name)

    def enter_inline_fragment(self, *_: object) -> None:
        """Add the type condition of a fragment."""
        kind = self.types.get_type()
        if kind is not None:
            self.found.add(get_named_type(kind).name)

    enter_fragment_definition = enter_inline_fragment

    def enter_directive(self, node: DirectiveNode, *_: object) -> None:
        """Add a directive."""
        self.found.add(f"@{node.name.value}")

    def enter_argument(self, *_: object) -> None:
        """Add the input types of an argument or a variable."""
        kind = self.types.get_input_type()
        waiting = [get_named_type(kind)] if kind is not None else []
        while waiting:
            taken = waiting.pop()
            self.found.add(taken.name)
            if is_input_object_type(taken):
                for name, value in taken.fields.items():
                    inner = get_named_type(value.type)
                    self.found.add(f"{taken.name}.{name}")
                    # Input types may contain themselves.
                    if inner.name not in self.found:
                        waiting.append(inner)


def find_broken(
    before: GraphQLSchema, now: GraphQLSchema, texts: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Yield the documents that were valid and are invalid now, each with its first error."""
    for text in texts:
        why = find_first_error(text, now)
        if why and not find_first_error(text, before):
            yield label_operation(text), why


def find_first_error(text: str, schema: GraphQLSchema) -> str:
    """Return the first error in a document; "" if it is valid."""
    errors = find_errors(text, parse(text), schema, None, introspection=True)
    return sanitize_text(errors[0].message, 120) if errors else ""
