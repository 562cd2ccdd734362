"""Texts of a schema: its SDL with applied directives, a diagram in Mermaid, and its pickle."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from types import FunctionType, MethodType
from typing import Any, NoReturn, TypeAlias

from graphql import (
    ConstDirectiveNode,
    DirectiveDefinitionNode,
    GraphQLEnumType,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLSchema,
    SchemaDefinitionNode,
    build_schema,
    get_named_type,
    introspection_types,
    is_enum_type,
    is_input_object_type,
    is_interface_type,
    is_introspection_type,
    is_object_type,
    is_scalar_type,
    is_union_type,
    parse,
    print_ast,
    print_schema,
    print_type,
    specified_directives,
)

from gqlnb.errors import OptionError, SchemaError, TargetError, sanitize_text, suggest


def find_type(schema: GraphQLSchema, name: str) -> GraphQLNamedType:
    """Return a type of a schema.

    Raises
    ------
    TargetError
        If the schema has no such type; the message suggests a similar name.
    """
    kind = schema.type_map.get(name)
    if kind is None:
        known = [it for it in schema.type_map if not it.startswith("__")]
        hint = suggest(str(name), known, abbreviated=True)
        msg = f"The schema has no type {sanitize_text(repr(name), 60)}.{hint}"
        raise TargetError(msg)
    return kind


def print_coordinate(schema: GraphQLSchema, place: str) -> str:
    """Return a type as SDL, or for ``"Type.field"`` the type with that field or value only.

    Raises
    ------
    TargetError
        If the schema has no such type, or the type no such member; the message suggests a similar
        name.
    """
    owner, _, member = place.partition(".")
    kind = find_type(schema, owner)
    if not member:
        return print_type(kind)
    attribute = "values" if isinstance(kind, GraphQLEnumType) else "fields"
    members = getattr(kind, attribute, {})
    if member not in members:
        hint = suggest(member, members, abbreviated=True)
        msg = f"{owner} has no member {sanitize_text(repr(member), 60)}.{hint}"
        raise TargetError(msg)
    part = copy(kind)
    setattr(part, attribute, {member: members[member]})
    return print_type(part)


SchemaPart: TypeAlias = Any  # a schema, a directive, a type or one of their members
SchemaNode: TypeAlias = Any  # a definition, or a node in one
SPECIFIED_NAMES = frozenset(directive.name for directive in specified_directives)


def list_applied_directives(part: SchemaPart) -> list[ConstDirectiveNode]:
    """Return the directives that SDL applies to a part of a schema.

    Those of the specification, such as ``@deprecated``, are not among them: the part itself has
    their values. There are none for a schema that was not made from SDL.
    """
    nodes = [part.ast_node, *(getattr(part, "extension_ast_nodes", None) or ())]
    applied = [node for each in nodes if each is not None for node in each.directives or ()]
    return [node for node in applied if node.name.value not in SPECIFIED_NAMES]


def print_sdl(schema: GraphQLSchema) -> str:
    """Return the SDL of a schema, with the applied directives that graphql-core leaves out."""
    text = print_schema(schema)
    if not any(map(list_applied_directives, iterate_parts(schema))):
        return text
    document = parse(text, no_location=True)
    for definition in document.definitions:
        if not isinstance(definition, SchemaDefinitionNode):
            apply_directives(definition, find_part(schema, definition))
    texts = [print_ast(document)]
    if applied := list_applied_directives(schema):
        texts.append(f"extend schema {' '.join(map(print_ast, applied))}")
    return "\n\n".join(texts)


def find_part(schema: GraphQLSchema, definition: SchemaNode) -> SchemaPart:
    """Return the type or the directive that a definition in the SDL of a schema defines."""
    name = definition.name.value
    if isinstance(definition, DirectiveDefinitionNode):
        return schema.get_directive(name)
    return schema.type_map[name]


def iterate_members(part: SchemaPart) -> Iterator[tuple[str, SchemaPart]]:
    """Yield the fields, arguments or values of a part, each with its name."""
    for kind in ("fields", "args", "values"):
        yield from getattr(part, kind, {}).items()


def iterate_parts(part: SchemaPart) -> Iterator[SchemaPart]:
    """Yield a part and all those in it."""
    yield part
    types = [*part.directives, *part.type_map.values()] if hasattr(part, "type_map") else ()
    for member in (*types, *(member for _, member in iterate_members(part))):
        yield from iterate_parts(member)


def apply_directives(node: SchemaNode, part: SchemaPart) -> None:
    """Add the applied directives of a part, and of those in it, to their nodes."""
    directives = (*(node.directives or ()), *list_applied_directives(part))
    object.__setattr__(node, "directives", directives)  # nodes of graphql-core 3.3 are frozen
    members = dict(iterate_members(part))
    for name in ("fields", "arguments", "values"):
        for member in getattr(node, name, None) or ():
            apply_directives(member, members[member.name.value])


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


# graphql-core would pickle these types with their fields, and Strawberry adds a field to the
# `__Type` of the whole process with a local function as resolver, which cannot be pickled.
class _SchemaPickler(pickle.Pickler):
    """A pickler that stores graphql-core's introspection types by name, and no resolvers."""

    def reducer_override(self, obj: Any) -> Any:  # noqa: ANN401 - the signature of pickle
        name = getattr(obj, "name", None)
        if isinstance(name, str) and introspection_types.get(name) is obj:
            return _get_introspection_type, (name,)
        # Resolvers and parsers of scalars: those of a notebook, and local ones, can't be pickled.
        if isinstance(obj, (FunctionType, MethodType)) and _is_foreign(obj):
            return _get_missing_function, ()
        return NotImplemented


def _is_foreign(function: FunctionType | MethodType) -> bool:
    """Return whether a function is neither of graphql-core nor of this module."""
    name = str(function.__module__)
    return name != __name__ and name.partition(".")[0] != "graphql"


def _get_missing_function() -> Callable[..., NoReturn]:
    return _missing_function


def _missing_function(*_: object, **__: object) -> NoReturn:
    msg = "The schema of a pickled document or result has types only; its functions are missing."
    raise SchemaError(msg)


def _get_introspection_type(name: str) -> GraphQLNamedType:
    """Return the type of this process."""
    return introspection_types[name]


def dump_schema(schema: GraphQLSchema) -> bytes:
    """Pickle a schema."""
    file = io.BytesIO()
    try:
        _SchemaPickler(file, protocol=5).dump(schema)
    except RecursionError:  # of a large schema such as GitHub's, whose types refer to each other
        return pickle.dumps(print_sdl(schema))
    return file.getvalue()


def load_schema(pickled: bytes) -> GraphQLSchema:
    """Return the schema of :func:`dump_schema`."""
    # Part of a pickle that is being loaded, so no less trusted than that.
    loaded: GraphQLSchema | str = pickle.loads(pickled)  # noqa: S301
    return build_schema(loaded, assume_valid=True) if isinstance(loaded, str) else loaded
