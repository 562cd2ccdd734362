"""Selections as a tree of picks: fragments unrolled, easy to add to, and to write again in part.

graphql-core's nodes cannot be changed, and a fragment may stand in several places that are to be
asked for differently. Here each place has picks of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from graphql import FieldNode, FragmentSpreadNode, Node, VariableNode, get_named_type, print_ast

from gqlnb.errors import QueryError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from graphql import GraphQLSchema, SelectionSetNode

    from gqlnb.model.document import Document

__all__ = [
    "PREFIX",
    "Hidden",
    "Pick",
    "Writer",
    "added",
    "flat",
    "grouped",
    "hidden",
    "picks_of",
    "variables_in",
]

PREFIX = "gqlnb_"  # of every name that is added to a text
UNROLLED = 20_000  # picks; a kilobyte of fragments can spell millions


@dataclass(slots=True, eq=False)
class Pick:
    """A field, or a fragment written out where it is spread.

    Attributes
    ----------
    name
        The field's own name; empty for a fragment.
    key
        Its response name; empty for a fragment.
    arguments
        The value nodes by name.
    directives
        As text, with a blank in front of each.
    uses
        The variables in the directives.
    inner
        What is selected below; None for a leaf.
    kind
        The named type below: of the field, or the type condition. None without a schema.
    declared
        The field as the schema declares it; None for fragments, and without a schema.
    on
        The type condition of a fragment; empty for none.
    added
        Whether it is ours, so that it never shows.
    """

    name: str = ""
    key: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    directives: str = ""
    uses: frozenset[str] = frozenset()
    inner: list[Pick] | None = None
    kind: Any = None
    declared: Any = None
    on: str = ""
    added: bool = False


def picks_of(document: Document) -> list[Pick]:
    """Return the picks of a document's operation.

    Raises
    ------
    QueryError
        If its fragments spell more than can be handled, or hold themselves.
    """
    schema = document.schema
    top = None if schema is None else schema.get_root_type(document.operation.operation)
    unroller = _Unroller(schema, document.fragments)
    return unroller.selection(document.operation.selection_set, top, ())


class _Unroller:
    """Makes picks of selection sets."""

    def __init__(self, schema: GraphQLSchema | None, fragments: Mapping[str, Any]) -> None:
        self.schema = schema
        self.fragments = fragments
        self.left = UNROLLED

    def selection(self, node: SelectionSetNode, parent: Any, within: tuple[str, ...]) -> list[Pick]:
        """Return the picks of a selection set on a type; `within` names the fragments around it."""
        made = []
        for each in node.selections:
            self.left -= 1
            if self.left < 0:
                msg = f"The fragments of the query spell more than {UNROLLED:,} fields."
                raise QueryError(msg)
            is_field = isinstance(each, FieldNode)
            pick = self.field(each, parent, within) if is_field else self.part(each, parent, within)
            made.append(pick)
        return made

    def field(self, node: Any, parent: Any, within: tuple[str, ...]) -> Pick:
        declared = getattr(parent, "fields", {}).get(node.name.value)
        kind = None if declared is None else get_named_type(declared.type)
        pick = Pick(
            node.name.value,
            (node.alias or node.name).value,
            {each.name.value: each.value for each in node.arguments or ()},
            *_directives(node),
            kind=kind,
            declared=declared,
        )
        if node.selection_set is not None:
            pick.inner = self.selection(node.selection_set, kind, within)
        return pick

    def part(self, node: Any, parent: Any, within: tuple[str, ...]) -> Pick:
        fragment = node
        if isinstance(node, FragmentSpreadNode):
            name = node.name.value
            if name not in self.fragments or name in within:
                msg = f"The fragment '{name}' is not there, or holds itself."
                raise QueryError(msg)
            fragment, within = self.fragments[name], (*within, name)
        on = fragment.type_condition.name.value if fragment.type_condition else ""
        kind = self.schema.get_type(on) if on and self.schema is not None else parent
        text, uses = _directives(node)
        inner = self.selection(fragment.selection_set, kind, within)
        return Pick(directives=text, uses=uses, inner=inner, kind=kind, on=on)


def _directives(node: Any) -> tuple[str, frozenset[str]]:
    nodes = node.directives or ()
    text = "".join(f" {print_ast(each)}" for each in nodes)
    return text, frozenset(name for each in nodes for name in variables_in(each))


def variables_in(node: Any) -> Iterator[str]:
    """Yield the names of the variables in a value or a directive."""
    if isinstance(node, VariableNode):
        yield node.name.value
    elif isinstance(node, Node):
        for name in ("arguments", "fields"):
            for each in getattr(node, name, None) or ():
                yield from variables_in(each.value)
        for each in getattr(node, "values", None) or ():
            yield from variables_in(each)


def flat(
    picks: Iterable[Pick], around: tuple[Pick, ...] = ()
) -> Iterator[tuple[Pick, tuple[Pick, ...]]]:
    """Yield the fields of a selection with the fragments around each, outermost first."""
    for pick in picks:
        if pick.name:
            yield pick, around
        else:
            yield from flat(pick.inner or (), (*around, pick))


def grouped(picks: Iterable[Pick]) -> dict[str, list[Pick]]:
    """Return the fields of a selection by response name: several of one name are one field."""
    found: dict[str, list[Pick]] = {}
    for pick, _ in flat(picks):
        found.setdefault(pick.key, []).append(pick)
    return found


def added(picks: list[Pick], name: str, below: Sequence[str] = (), on: str = "") -> str:
    """Return the response name of a field of a selection, which is added where it is absent.

    Parameters
    ----------
    picks
        The selection.
    name
        The field's own name.
    below
        The leaves needed in it.
    on
        The type it is asked of, where that is not the type of the selection.
    """
    for pick in () if on else picks:
        if pick.name != name or pick.directives:
            continue
        there = {each.key for each in pick.inner or () if each.name == each.key}
        if there >= set(below) and not any(each.directives for each in pick.inner or ()):
            return pick.key
    key = PREFIX + name.strip("_")
    made = Pick(name, key, inner=[Pick(each, each) for each in below] or None, added=True)
    if not on:
        picks.append(made)
    elif not any(pick.on == on and key in grouped(pick.inner or ()) for pick in picks):
        picks.append(Pick(inner=[made], on=on))
    return key


@dataclass(slots=True)
class Hidden:
    """What must not show of an object: the names that were added, and objects that have some."""

    names: list[str] = field(default_factory=list)
    below: dict[str, Hidden] = field(default_factory=dict)

    def strip(self, value: Any) -> None:
        """Take it out of a value: an object, or lists of them."""
        if isinstance(value, list):
            for item in value:
                self.strip(item)
        elif isinstance(value, dict):
            for name in self.names:
                value.pop(name, None)
            for name, inner in self.below.items():
                inner.strip(value.get(name))


def hidden(picks: Iterable[Pick]) -> Hidden | None:
    """Return what of the answer to a selection must not show; None for nothing."""
    made = Hidden()
    for key, pieces in grouped(picks).items():
        if all(pick.added for pick in pieces):
            made.names.append(key)
            continue
        inner = hidden(each for pick in pieces for each in pick.inner or ())
        if inner is not None:
            made.below[key] = inner
    return made if made.names or made.below else None


class Writer:
    """Writes picks as text, some of them with other arguments.

    Parameters
    ----------
    edits
        Arguments to put in the place of a pick's own, as GraphQL text by name, by the pick's `id`.

    Attributes
    ----------
    used
        The variables of the operation that were written.
    """

    def __init__(self, edits: Mapping[int, Mapping[str, str]] | None = None) -> None:
        self.edits: dict[int, Mapping[str, str]] = dict(edits or {})
        self.used: set[str] = set()

    def selection(self, picks: Iterable[Pick]) -> str:
        """Return a selection set."""
        return f"{{ {' '.join(self.whole(pick) for pick in picks)} }}"

    def whole(self, pick: Pick) -> str:
        """Return a pick with all that is in it."""
        below = f" {self.selection(pick.inner)}" if pick.inner is not None else ""
        return self.head(pick) + below

    def head(self, pick: Pick) -> str:
        """Return what stands before the braces of a pick."""
        self.used |= pick.uses
        if not pick.name:
            return f"...{f' on {pick.on}' if pick.on else ''}{pick.directives}"
        edited = self.edits.get(id(pick), {})
        written = {name: print_ast(node) for name, node in pick.arguments.items()}
        written.update(edited)
        for name, node in pick.arguments.items():
            if name not in edited:
                self.used.update(variables_in(node))
        inside = ", ".join(f"{name}: {text}" for name, text in written.items())
        alias = f"{pick.key}: " if pick.key != pick.name else ""
        return f"{alias}{pick.name}{f'({inside})' if inside else ''}{pick.directives}"

    def way(self, picks: Iterable[Pick], steps: Sequence[str], shared: Mapping[int, str]) -> str:
        """Return what of a selection leads along response names, the last of them whole.

        `shared` names the fragments that hold what is in some picks, by the picks' `id`.
        """
        written = []
        for pick in picks:
            if pick.name and pick.key == steps[0]:
                if len(steps) == 1:
                    spread = shared.get(id(pick))
                    head = f"{self.head(pick)} {{ ...{spread} }}"
                    written.append(self.whole(pick) if spread is None else head)
                    continue
                below = self.way(pick.inner or (), steps[1:], shared)
            else:
                below = "" if pick.name else self.way(pick.inner or (), steps, shared)
            if below:
                written.append(f"{self.head(pick)} {{ {below} }}")
        return " ".join(written)
