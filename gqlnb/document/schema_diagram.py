"""A schema as a class diagram in Mermaid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphql import (
    GraphQLInterfaceType,
    GraphQLNamedType,
    get_named_type,
    is_enum_type,
    is_input_object_type,
    is_interface_type,
    is_introspection_type,
    is_object_type,
    is_scalar_type,
    is_union_type,
)

from gqlnb.document.schema_types import find_type
from gqlnb.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from graphql import GraphQLSchema

__all__ = ["Diagram", "build_diagram"]

MAX_TYPES = 60  # drawn unasked; a diagram of more is not legible
MAX_MEMBERS = 30  # of one type


class Diagram:
    """A diagram in Mermaid, which JupyterLab draws.

    Parameters
    ----------
    text
        The diagram in Mermaid's language.

    Attributes
    ----------
    text
        As given.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/vnd.mermaid": self.text, "text/plain": self.text}


def build_diagram(schema: GraphQLSchema, types: Iterable[str] | None = None) -> Diagram:
    """Return the class diagram of types of a schema, and of the fields between them.

    Parameters
    ----------
    schema
        The schema.
    types
        Names of types; None for all but scalars, of which there may be 60.

    Raises
    ------
    OptionError
        If there are too many types.
    TargetError
        If a type does not exist.
    """
    if isinstance(types, str):
        types = [types]
    if types is not None:
        chosen = [find_type(schema, name) for name in dict.fromkeys(types)]
    else:
        chosen = [
            each
            for each in schema.type_map.values()
            if not is_scalar_type(each) and not is_introspection_type(each)
        ]
        if len(chosen) > MAX_TYPES:
            msg = (
                f"The schema has {len(chosen):,} types, and a diagram of more than {MAX_TYPES} is "
                "not legible. Name the types to draw: types=['Query', ...]."
            )
            raise OptionError(msg)
    # Relations to other types are left out: Mermaid would draw those as empty boxes.
    names = {each.name for each in chosen}
    lines = [line for each in chosen for line in describe_type(each, names)]
    return Diagram("\n".join(["classDiagram", *lines]) + "\n")


def describe_type(kind: GraphQLNamedType, names: set[str]) -> Iterator[str]:
    """Yield the lines of one type: its members, then its relations to the other types."""
    relations: list[str] = []
    if is_object_type(kind) or is_interface_type(kind) or is_input_object_type(kind):
        members = []
        for name, field in kind.fields.items():
            arguments = ", ".join(getattr(field, "args", {}))
            arguments = f"({arguments})" if arguments else ""
            members.append(f"{name}{arguments} {field.type}")
            target = get_named_type(field.type).name
            if target in names:
                relations.append(f"{kind.name} --> {target} : {name}")
        interfaces: Sequence[GraphQLInterfaceType] = getattr(kind, "interfaces", ())
        relations += [f"{it.name} <|.. {kind.name}" for it in interfaces if it.name in names]
    elif is_enum_type(kind):
        members = list(kind.values)
    else:
        members = []
        if is_union_type(kind):
            relations = [f"{kind.name} <|.. {it.name}" for it in kind.types if it.name in names]
    yield f"class {kind.name} {{"
    if label := find_label(kind):
        yield f"  <<{label}>>"
    # Behind the limit the relations go on: a field that is not listed still has its arrow.
    yield from (f"  {member}" for member in members[:MAX_MEMBERS])
    if len(members) > MAX_MEMBERS:
        yield f"  … {len(members) - MAX_MEMBERS} more"
    yield "}"
    yield from relations


def find_label(kind: GraphQLNamedType) -> str:
    """Return the word for the kind of a type; "" for an object type."""
    tests = (
        (is_interface_type, "interface"),
        (is_union_type, "union"),
        (is_enum_type, "enumeration"),
        (is_input_object_type, "input"),
        (is_scalar_type, "scalar"),
    )
    return next((label for test, label in tests if test(kind)), "")
