"""Changes between two schemas, and the queries that they may break."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING

from graphql import (
    DirectiveNode,
    FieldNode,
    GraphQLArgument,
    GraphQLError,
    GraphQLInputField,
    GraphQLSchema,
    OperationDefinitionNode,
    OperationType,
    TypeInfo,
    TypeInfoVisitor,
    Visitor,
    find_breaking_changes,
    find_dangerous_changes,
    get_named_type,
    is_input_object_type,
    parse,
    print_ast,
    visit,
)
from graphql.utilities.print_schema import print_deprecated, print_input_value

from gqlnb.document.document import find_errors
from gqlnb.document.schema_text import SchemaPart, list_applied_directives
from gqlnb.errors import format_count, join_names, sanitize_text
from gqlnb.result.renderer import Grid

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd

BREAKING, DANGEROUS, SAFE = "breaking", "dangerous", "safe"
Places = dict[str, dict[str, str | None]]  # the facts of each coordinate
MAX_SHOWN = 50  # changes
MAX_NAMES = 3  # operations named beside a change
MAX_LABEL = 40  # characters of an operation without a name
# The places of changes, parsed from the sentences of graphql-core 3.2 and 3.3: neither gives
# schema coordinates.
OF_DIRECTIVE = (r"@(\w+)", r"on directive (\w+)", r"removed from (\w+)", r"^(\w+) was removed")
OF_DIRECTIVE_ARG = re.compile(
    r"A required arg (?P<arg>\w+) on directive (?P<directive>\w+)"
    r"|(?P<removed>\w+) was removed from (?P<other>\w+)"
)
# The first that matches counts; the last one is for sentences about a whole type.
PLACE_PATTERNS = tuple(
    map(
        re.compile,
        (
            r"arg (?P<arg>\w+) on (?P<type>\w+)\.(?P<member>\w+)",
            r"field (?P<member>\w+) on input type (?P<type>\w+)",
            r"(?P<member>\w+) was (?:added to|removed from) enum type (?P<type>\w+)",
            r"was (?:added to|removed from) union type (?P<type>\w+)",
            r"implemented by (?P<type>\w+)",
            r"(?P<type>\w+)\.(?P<member>\w+)(?:\((?P<arg>\w+):\)| arg (?P<other>\w+))?",
            r"^(?:Standard scalar )?(?P<type>\w+)",
        ),
    )
)


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
            (change.severity, change.kind, change.place, change.description, list(change.touches))
            for change in self.changes
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
            listed = " and ".join([", ".join(parts[:-1]), parts[-1]] if parts[1:] else parts)
            return f"{listed or 'No change'} from {self.source}."
        if not parts:
            return f"No breaking and no dangerous change in the schema of {self.source}."
        touching = sum(bool(change.touches) for change in self.changes)
        used = f"{touching} of them" if touching else "None of them"
        sentence = f"{' and '.join(parts)} in the schema of {self.source}."
        return f"{sentence} {used} touch{'es' if touching == 1 else ''} operations of this session."

    def _list_broken(self) -> list[str]:
        return [f"{name} is wrong now: {why}" for name, why in self.broken.items()][:MAX_SHOWN]

    def _list_rest(self) -> list[str]:
        more = len(self.changes) - MAX_SHOWN
        return [f"… and {more:,} more; .frame() has all."] if more > 0 else []

    def _build_grid(self) -> Grid:
        rows = [
            [
                change.severity,
                sanitize_text(change.description, 120),
                join_names(change.touches, MAX_NAMES),
            ]
            for change in self.changes[:MAX_SHOWN]
        ]
        index = [sanitize_text(change.place, 60) for change in self.changes[:MAX_SHOWN]]
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
    differences = [
        *((BREAKING, *change) for change in find_breaking_changes(before, now)),
        *((DANGEROUS, *change) for change in find_dangerous_changes(before, now)),
    ]
    # The places are looked up in the schema before, as a removed field is not in the new one.
    used: dict[str, frozenset[str]] = {}
    for text in texts:
        name = label_operation(text)
        used[name] = used.get(name, frozenset()) | find_used_places(text, before)
    changes = [
        build_change(level, kind.name, locate_change(kind.name, sentence), sentence, used)
        for level, kind, sentence in differences
    ]
    # Introspection has no applied directives: only two schemas from SDL can be compared in them.
    ignored = "" if is_from_sdl(before) and is_from_sdl(now) else "directives"
    old, new = describe_places(before), describe_places(now)
    for level, kind, place, sentence in tuple(find_further_changes(old, new, changes, ignored)):
        if is_diff or level != SAFE:
            changes.append(build_change(level, kind, place, sentence, used))
    changes = [
        replace(change, severity=BREAKING) if is_required_now(change, new) else change
        for change in changes
    ]
    ranks = BREAKING, DANGEROUS, SAFE
    changes.sort(key=lambda change: (not change.touches, ranks.index(change.severity)))
    broken = {
        label_operation(text): why
        for text in texts
        if (why := find_first_error(text, now)) and not find_first_error(text, before)
    }
    return SchemaChanges(tuple(changes), broken, source, is_diff=is_diff)


# graphql-core 3.2 finds no safe changes, 3.3 neither `@oneOf`, `@specifiedBy` nor the types of
# operations. By coordinates they are what remains beside the others.
def find_further_changes(
    old: Places, new: Places, changes: Sequence[SchemaChange], ignored: str
) -> Iterator[tuple[str, str, str, str]]:
    """Yield severity, kind, place and sentence of what is not among the changes of graphql-core.

    Changes of the fact that is `ignored` are left out.
    """
    reported = {(change.place, find_changed_fact(change.kind)) for change in changes}
    for place, facts in new.items():
        parent = place.partition("(")[0] if "(" in place else place.rpartition(".")[0]
        if (parent or place, "TYPE_CHANGED_KIND") in reported:
            continue
        if place not in old:
            # A new type is reported once, without its members.
            if (not parent or parent in old) and (place, "") not in reported:
                yield SAFE, "ADDED", place, f"{place} was added."
            continue
        for fact in {**old[place], **facts}:
            values = old[place].get(fact), facts.get(fact)
            if values[0] != values[1] and fact != ignored and (place, fact) not in reported:
                yield from judge_fact(place, fact, *values)


def is_required_now(change: SchemaChange, new: Places) -> bool:
    """Return whether an input lost its default and has to be given now.

    graphql-core and graphql-inspector call it dangerous, as they do a default of another value.
    """
    if not change.kind.endswith("DEFAULT_VALUE_CHANGE"):
        return False
    facts = new[change.place]
    return facts["default"] is None and (facts["type"] or "").endswith("!")


def find_changed_fact(kind: str) -> str:
    """Return the fact that a change of graphql-core is about; "" for an addition or removal."""
    if kind == "TYPE_CHANGED_KIND":
        return kind
    return "type" if "CHANGED_KIND" in kind else "default" if "DEFAULT" in kind else ""


# The severities of a fact that is added, changed and removed; None where graphql-core reports it.
# They are those of graphql-inspector, but for `@oneOf`: a client that sends one member of a former
# one-of type finds the others null.
SEVERITIES: dict[str, tuple[str | None, str | None, str | None]] = {
    "type": (None, SAFE, None),
    "default": (DANGEROUS, DANGEROUS, DANGEROUS),
    "description": (SAFE, SAFE, SAFE),
    "deprecation": (SAFE, SAFE, SAFE),
    "repeatable": (SAFE, None, None),
    "location": (SAFE, None, None),
    "@oneOf": (BREAKING, None, DANGEROUS),
    "@specifiedBy": (DANGEROUS, DANGEROUS, DANGEROUS),
    "directives": (DANGEROUS, DANGEROUS, DANGEROUS),
    "query": (SAFE, BREAKING, BREAKING),
    "mutation": (SAFE, BREAKING, BREAKING),
    "subscription": (SAFE, BREAKING, BREAKING),
}


def judge_fact(
    place: str, fact: str, before: str | None, now: str | None
) -> Iterator[tuple[str, str, str, str]]:
    """Yield severity, kind, place and sentence of a change, unless graphql-core reports it."""
    if before is None:
        number, word, sentence = 0, "ADDED", f"{place} has a new {fact}{now and f': {now}'}."
    elif now is None:
        number, word, sentence = 2, "REMOVED", f"{place} has no {fact} any more."
    else:
        number, word = 1, "CHANGED"
        sentence = f"{place} changed {fact} from {before} to {now}."
    name = fact.split(" ", 1)[0]
    severity = SEVERITIES[name][number]
    if fact == "type" and place.startswith("@") and not is_wider(before or "", now or ""):
        severity = BREAKING  # graphql-core 3.2 does not look at the arguments of directives
    kind = f"{name.lstrip('@').upper()}_{word}"
    if fact == "default":
        kind = f"{'ARG' if '(' in place else 'INPUT_FIELD'}_DEFAULT_VALUE_CHANGE"
    elif severity == BREAKING and fact == "type":
        kind = "ARG_CHANGED_KIND"
    if severity is not None:
        yield severity, kind, place, sentence


def is_wider(before: str, now: str) -> bool:
    """Return whether an input type takes all values of another one: it is less non-null."""
    pattern = "".join(f"{mark}?" if mark == "!" else re.escape(mark) for mark in before)
    return re.fullmatch(pattern, now) is not None


def is_from_sdl(schema: GraphQLSchema) -> bool:
    """Return whether a schema was made from SDL."""
    return any(kind.ast_node is not None for kind in schema.type_map.values())


def describe_places(schema: GraphQLSchema) -> Places:
    """Return the coordinates of a schema, each with its facts; None or missing for none."""
    kinds = {name.value: schema.get_root_type(name) for name in OperationType}
    places = {"schema": describe_member(schema)}
    places["schema"] |= {
        f"{name} type": None if kind is None else kind.name for name, kind in kinds.items()
    }
    for directive in schema.directives:
        place = f"@{directive.name}"
        places[place] = {f"location {location.name}": "" for location in directive.locations}
        places[place] |= describe_member(directive)
        places[place]["repeatable flag"] = "" if directive.is_repeatable else None
        places |= {f"{place}({name}:)": describe_input(arg) for name, arg in directive.args.items()}
    for name, kind in schema.type_map.items():
        if name.startswith("__"):
            continue
        places[name] = describe_member(kind)
        places[name]["@oneOf"] = "" if getattr(kind, "is_one_of", False) else None
        places[name]["@specifiedBy"] = getattr(kind, "specified_by_url", None)
        for value_name, value in getattr(kind, "values", {}).items():
            places[f"{name}.{value_name}"] = describe_member(value)
        for field_name, member in getattr(kind, "fields", {}).items():
            place = f"{name}.{field_name}"
            if is_input_object_type(kind):
                places[place] = describe_input(member)
                continue
            places[place] = {"type": str(member.type), **describe_member(member)}
            for argument, taken in member.args.items():
                places[f"{place}({argument}:)"] = describe_input(taken)
    return places


def describe_member(member: SchemaPart) -> dict[str, str | None]:
    """Return what any part of a schema may have."""
    return {
        "description": member.description or None,
        "deprecation": getattr(member, "deprecation_reason", None),
        "directives": " ".join(map(print_ast, list_applied_directives(member))) or None,
    }


def describe_input(taken: GraphQLArgument | GraphQLInputField) -> dict[str, str | None]:
    """Return the facts of an argument or an input field."""
    # Printed, since graphql-core 3.3 keeps defaults in another attribute than 3.2.
    text = print_input_value("", taken).removeprefix(f": {taken.type}")  # type: ignore[arg-type]
    default = text.removesuffix(print_deprecated(taken.deprecation_reason)).removeprefix(" = ")
    return {"type": str(taken.type), "default": default or None, **describe_member(taken)}


def build_change(
    severity: str, kind: str, place: str, sentence: str, used: dict[str, frozenset[str]]
) -> SchemaChange:
    """Return a change with the operations that it touches."""
    key = place.partition("(")[0]
    if kind.endswith(("_ENUM", "INPUT_FIELD_ADDED")):
        key = key.partition(".")[0]  # every use of the type may send or receive the new value
    touches = tuple(name for name, places in used.items() if key in places)
    return SchemaChange(severity, kind, place, sentence, touches)


def locate_change(kind: str, sentence: str) -> str:
    """Return the coordinate of a change: of a type or ``@directive``, a member, an argument."""
    if match := re.search(r"@\w+\(\w+:\)", sentence):
        return match[0]
    if match := re.match(OF_DIRECTIVE_ARG, sentence) if "DIRECTIVE_ARG" in kind else None:
        return f"@{match['directive'] or match['other']}({match['arg'] or match['removed']}:)"
    if "DIRECTIVE" in kind:
        matches = (match for pattern in OF_DIRECTIVE if (match := re.search(pattern, sentence)))
        match = next(matches, None)
        return f"@{match[1]}" if match else sentence
    for pattern in PLACE_PATTERNS:
        if match := pattern.search(sentence):
            groups = match.groupdict()
            place = ".".join(filter(None, (groups["type"], groups.get("member"))))
            arg = groups.get("arg") or groups.get("other")
            return f"{place}({arg}:)" if arg else place
    return sentence


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
        parent = self.types.get_parent_type()
        if parent is not None:
            self.found |= {parent.name, f"{parent.name}.{node.name.value}"}
        self.enter_inline_fragment()

    def enter_inline_fragment(self, *_: object) -> None:
        """Add the type of a field, or the type condition of a fragment."""
        kind = get_named_type(self.types.get_type())
        if kind is not None:
            self.found.add(kind.name)

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


def find_first_error(text: str, schema: GraphQLSchema) -> str:
    """Return the first error in a document; "" if it is valid."""
    errors = find_errors(text, parse(text), schema, None, introspection=True)
    return sanitize_text(errors[0].message, 120) if errors else ""
