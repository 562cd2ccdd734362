"""Results as instances of model classes: those of a document, or of the user.

The classes of a document are frozen Structs of msgspec, one for each selection set. Models of
pydantic, which is not imported here, are taken too.
"""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, Union, get_args

import msgspec
from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLEnumType,
    GraphQLSchema,
    GraphQLType,
    NamedTypeNode,
    OperationDefinitionNode,
    SelectionNode,
    SelectionSetNode,
    get_named_type,
    is_composite_type,
    is_list_type,
    is_non_null_type,
    print_ast,
)

from gqlnb.document import scalars
from gqlnb.document.scalar_values import OtherFormError, WiderError, convert_seconds, to_nanoseconds
from gqlnb.document.scalars import Scalar, recognize_scalar
from gqlnb.document.selections import MAX_SELECTIONS, build_expansion_error
from gqlnb.errors import AnswerError, SchemaError, describe_path, sanitize_text
from gqlnb.result.shape import Shape, get_conditions, get_field_type, get_object_names, is_included

if TYPE_CHECKING:
    from gqlnb.document.document import Document

# A type that msgspec converts to: a class, a union, a generic alias. Before PEP 747 type checkers
# have no type for all of them.
MsgspecType: TypeAlias = Any
JSONValue: TypeAlias = Any
BUILT_IN_TYPES = {"Int": int, "Float": float, "String": str, "Boolean": bool}
# By the Arrow type of a column of the scalar, and else by its dtype.
ARROW_TYPES: dict[str | None, type] = {
    "date32": date,
    "time64[us]": time,
    "zoned time": time,
    "decimal128": Decimal,
    "decimal128(38)": int,  # of more than 64 bits
    "duration": timedelta,
    "seconds": timedelta,
}
DTYPES = {
    "string": str,
    "Int64": int,
    "Float64": float,
    "boolean": bool,
    "datetime64[us, UTC]": datetime,
    "datetime64[us]": datetime,
}
TYPENAME = "__typename"
# A class for several types of a union or an interface has a tag that begins so, and the type of an
# object under this key: neither can be a name of GraphQL.
SHARED_TAG, TYPENAME_KEY = "*", "*type"
VALUE_SHOWN = 80


def to_pascal_case(name: str) -> str:
    """Return a name of GraphQL in the form of Python's class names."""
    words = re.split(r"[\W_]+", name, flags=re.ASCII)
    joined = "".join(word[:1].upper() + word[1:] for word in words)
    return joined if joined.isidentifier() else f"Model{joined}"


def name_attributes(keys: Iterable[str]) -> dict[str, str]:
    """Return the attribute of a class for each response name.

    They equal the response names, but keywords and private names, which Python treats specially,
    end with underscores.
    """

    def is_free(key: str) -> bool:
        plain = key.isascii() and key.isidentifier() and not key.startswith("__")
        return plain and not keyword.iskeyword(key)

    distinct = dict.fromkeys(keys)
    names = {key: key for key in distinct if is_free(key)}
    used = set(names)
    for key in [key for key in distinct if key not in names]:
        name = re.sub(r"\W", "_", key, flags=re.ASCII)
        stem = name.strip("_") if name.startswith("__") else name
        stem = stem if stem[:1].isalpha() or stem[:1] == "_" else f"field_{stem}"
        name = f"{stem}__" if name.startswith("__") else f"{stem}_"
        while name in used:
            name += "_"
        used.add(name)
        names[key] = name
    return names


class SelectionPart(NamedTuple):
    """A selection set on a type, and whether no unknown condition stands before it."""

    node: SelectionSetNode
    parent: Any
    certain: bool = True


class FieldPart(NamedTuple):
    """One selection of a field: its node, parent type, and the object types it is selected for."""

    node: FieldNode
    parent: Any
    types: frozenset[str]
    certain: bool


class ModelBuilder:
    """Builds the classes of an operation.

    Parameters
    ----------
    schema
        The schema against which the documents were validated.
    conditions
        The values of Boolean variables for ``@skip`` and ``@include``; None if they are not known.
    needs_typenames
        Whether ``__typename`` will be added where it is needed and absent: `typename_places` then
        has the positions in the text. Otherwise one class has the fields of all types there.
    """

    def __init__(
        self,
        schema: GraphQLSchema,
        conditions: Mapping[str, bool] | None = None,
        *,
        needs_typenames: bool = False,
    ) -> None:
        self.schema = schema
        self.conditions = conditions
        self.needs_typenames = needs_typenames
        self.typename_places: set[int] = set()
        self._names: set[str] = set()
        self._fragments: Mapping[str, FragmentDefinitionNode] = {}
        self._shared: dict[str, MsgspecType] = {}  # the type of a place with one fragment, by name
        self._leaves: dict[str, MsgspecType] = {}
        self._remaining = MAX_SELECTIONS

    def build_operation(
        self, operation: OperationDefinitionNode, fragments: Mapping[str, FragmentDefinitionNode]
    ) -> MsgspecType:
        """Return the class of an operation."""
        self._fragments = fragments
        kind = operation.operation
        name = operation.name.value if operation.name else kind.value
        root = self.schema.get_root_type(kind)
        sets = [SelectionPart(operation.selection_set, root)]
        return self._build_object(sets, get_object_names(self.schema, root), to_pascal_case(name))

    def _reserve_name(self, name: str) -> str:
        """Return the name, or the name with a number if another class has it."""
        free, number = name, 2
        while free in self._names:
            free, number = f"{name}{number}", number + 1
        self._names.add(free)
        return free

    # -- places of objects

    def _build_object(
        self, sets: list[SelectionPart], types: frozenset[str], name: str
    ) -> MsgspecType:
        """Return the type of a place: a class, or a union of classes."""
        fragment = self._find_only_fragment(sets, types)
        if fragment is None:
            return self._build_variants(sets, types, name)
        shared = self._shared.get(fragment)
        if shared is None:
            node = self._fragments[fragment]
            parent = self.schema.get_type(node.type_condition.name.value)
            only = [SelectionPart(node.selection_set, parent)]
            if len(types) == 1:
                # With a tag also where it is not needed: other places may be unions.
                own = self._reserve_name(to_pascal_case(fragment))
                shared = self._build_class(only, types, own, tag=next(iter(types)))
            else:
                shared = self._build_object(only, types, to_pascal_case(fragment))
            self._shared[fragment] = shared
        return shared

    def _get_fragment(self, node: SelectionNode) -> Any:  # noqa: ANN401 - of two kinds of nodes
        """Return the fragment of a spread, or an inline fragment itself."""
        return self._fragments[node.name.value] if isinstance(node, FragmentSpreadNode) else node

    def _find_object_names(self, condition: NamedTypeNode) -> frozenset[str]:
        return get_object_names(self.schema, self.schema.get_type(condition.name.value))

    def _find_only_fragment(self, sets: list[SelectionPart], types: frozenset[str]) -> str | None:
        """Return the name of the fragment that is all that is selected for these types."""
        if len(sets) != 1 or not sets[0].certain:
            return None
        spreads = []
        for node in sets[0].node.selections:
            if isinstance(node, FieldNode):
                if len(types) > 1 or print_ast(node) != TYPENAME:
                    return None
                continue
            on = self._get_fragment(node).type_condition
            names = types if on is None else self._find_object_names(on)
            if names & types:
                is_whole = names == types and not node.directives
                if not is_whole or not isinstance(node, FragmentSpreadNode):
                    return None
                spreads.append(node.name.value)
        return spreads[0] if len(spreads) == 1 else None

    def _build_variants(
        self, sets: list[SelectionPart], types: frozenset[str], name: str
    ) -> MsgspecType:
        """Return a class, or one for each group of types for which the same fields are selected."""
        conditions = self._find_conditions(sets, types)
        groups: dict[tuple[str, ...], set[str]] = {}
        for type_name in sorted(types):
            of_type = tuple(on for on, names in conditions.items() if type_name in names)
            groups.setdefault(of_type, set()).add(type_name)
        if len(groups) > 1 and not all(
            self._has_typename(sets, frozenset(group)) for group in groups.values()
        ):
            if self.needs_typenames:
                self.typename_places.update(
                    part.node.loc.start + 1 for part in sets if part.node.loc
                )
            else:
                groups = {(): set(types)}
        base = self._reserve_name(name)
        if len(groups) < 2:
            return self._build_class(sets, types, base)
        variants = []
        shared_tags: dict[str | None, str] = {}  # by type; of None for types without a class
        for of_type, members in groups.items():
            group = frozenset(members)
            label = tag = next(iter(group))
            shared = None
            if len(group) > 1:
                label, tag = "".join(of_type) or "Other", SHARED_TAG + "&".join(of_type)
                shared = tuple(sorted(group)) if of_type else ()
                shared_tags |= dict.fromkeys(shared or (None,), tag)
            elif self._find_only_fragment(sets, group) is not None:
                variants.append(self._build_object(sets, group, ""))
                continue
            own = self._reserve_name(base + to_pascal_case(label))
            variants.append(self._build_class(sets, group, own, tag=tag, shared=shared))
        union: Any = Union[*variants]
        return _make_union_hook(union, shared_tags) if shared_tags else union

    def _find_conditions(
        self, sets: Iterable[SelectionPart], types: frozenset[str]
    ) -> dict[str, frozenset[str]]:
        """Return the type conditions that only some of the types fulfil, with those."""
        conditions: dict[str, frozenset[str]] = {}
        seen: set[str] = set()
        waiting = [part.node for part in sets][::-1]
        while waiting:
            for node in waiting.pop().selections:
                if isinstance(node, FieldNode):
                    continue
                if isinstance(node, FragmentSpreadNode):
                    if node.name.value in seen:
                        continue
                    seen.add(node.name.value)
                fragment = self._get_fragment(node)
                waiting.append(fragment.selection_set)
                if on := fragment.type_condition:
                    names = self._find_object_names(on) & types
                    if names and names != types:
                        conditions[on.name.value] = names
        return conditions

    def _has_typename(self, sets: Iterable[SelectionPart], types: frozenset[str]) -> bool:
        parts = self._collect_fields(sets, types).get(TYPENAME, ())
        return any(part.certain and part.types == types for part in parts) and all(
            part.node.name.value == TYPENAME for part in parts
        )

    def _collect_fields(
        self, sets: Iterable[SelectionPart], types: frozenset[str]
    ) -> dict[str, list[FieldPart]]:
        """Return the fields selected for some of the types, by response name."""
        fields: dict[str, list[FieldPart]] = {}

        def collect(part: SelectionPart, of: frozenset[str]) -> None:
            for node in part.node.selections:
                self._remaining -= 1
                if self._remaining < 0:
                    raise build_expansion_error(MAX_SELECTIONS)
                included = is_included(node, self.conditions)
                if included is False:
                    continue
                deferred = any(
                    directive.name.value == "defer" for directive in node.directives or ()
                )
                certain = part.certain and included is True and not deferred
                if isinstance(node, FieldNode):
                    key = (node.alias or node.name).value
                    fields.setdefault(key, []).append(FieldPart(node, part.parent, of, certain))
                    continue
                fragment = self._get_fragment(node)
                on = fragment.type_condition
                inner = self.schema.get_type(on.name.value) if on else part.parent
                fitting = of & get_object_names(self.schema, inner)
                if fitting:
                    collect(SelectionPart(fragment.selection_set, inner, certain), fitting)

        for part in sets:
            collect(part, types)
        return fields

    # -- classes

    def _build_class(
        self,
        sets: list[SelectionPart],
        types: frozenset[str],
        name: str,
        *,
        tag: str = "",
        shared: tuple[str, ...] | None = None,
    ) -> MsgspecType:
        """Return a class.

        Parameters
        ----------
        sets, types
            The selection sets of the place, and the types of its objects that the class is for.
        name
            Its name.
        tag
            The name of the object type that tells it from others of a union; with an asterisk first
            for a class of several types; empty for a class that stands alone.
        shared
            The names of those types; empty for all that have no other class.
        """
        selected = self._collect_fields(sets, types)
        attributes = name_attributes([TYPENAME, *selected])
        fields: list[Any] = []
        namespace = {}
        if shared is not None:
            kind = Literal[*shared] if shared else str
            fields.append((attributes[TYPENAME], kind, msgspec.field(name=TYPENAME_KEY)))
        elif tag:
            namespace[attributes[TYPENAME]] = tag
        for key, parts in selected.items():
            if tag and key == TYPENAME:
                continue
            kind = self._find_field_type(parts, f"{name}{to_pascal_case(key)}")
            always = (
                frozenset[str]().union(*(part.types for part in parts if part.certain)) == types
            )
            if always:
                default = msgspec.field(name=key)
            else:
                kind, default = kind | None, msgspec.field(name=key, default=None)
            fields.append((attributes[key], kind, default))
        options: dict[str, Any] = {"tag_field": TYPENAME, "tag": tag} if tag else {}
        return msgspec.defstruct(
            name,
            fields,
            module="gqlnb.models",
            namespace=namespace,
            frozen=True,
            kw_only=True,
            **options,
        )

    def _find_field_type(self, parts: list[FieldPart], name: str) -> MsgspecType:
        declared = get_field_type(parts[0].node, parts[0].parent)
        kind = get_named_type(declared)
        types = frozenset[str]().union(*(part.types for part in parts))
        if parts[0].node.name.value == TYPENAME:
            return Literal[*types] if len(types) == 1 else str
        if not is_composite_type(kind):
            if kind.name not in self._leaves:
                self._leaves[kind.name] = build_leaf_type(kind)
            return wrap_type(declared, self._leaves[kind.name])
        sets, below = [], frozenset[str]()
        for part in parts:
            inner: Any = get_named_type(get_field_type(part.node, part.parent))
            below |= get_object_names(self.schema, inner)
            if part.node.selection_set is not None:
                # An object may come from another selection, which lacks the fields of this one.
                is_whole = len(parts) == 1 or (part.certain and part.types == types)
                sets.append(SelectionPart(part.node.selection_set, inner, is_whole))
        return wrap_type(declared, self._build_object(sets, below, name))


def wrap_type(declared: GraphQLType, inner: MsgspecType) -> MsgspecType:
    """Return a type with the lists and nullability of a type of GraphQL."""
    kind: Any = declared
    is_nullable = not is_non_null_type(kind)
    kind = kind if is_nullable else kind.of_type
    if is_list_type(kind):
        inner = list.__class_getitem__(wrap_type(kind.of_type, inner))
    return inner | None if is_nullable else inner


def build_leaf_type(kind: Any) -> MsgspecType:  # noqa: ANN401 - an enum or a scalar
    """Return the type of the values of a scalar or an enum."""
    if isinstance(kind, GraphQLEnumType):
        return Literal[*kind.values]
    if kind.name in BUILT_IN_TYPES:
        return BUILT_IN_TYPES[kind.name]
    like = recognize_scalar(kind.name, kind.specified_by_url, kind.description)
    scalar = scalars.get_scalar(Shape(kind.name, like=like))
    python_type = get_python_type(scalar)
    if python_type is str and kind.name != "ID":  # endpoints may send a number for an ID
        return str
    return _make_leaf_hook(scalar, kind.name, python_type)


def get_python_type(kind: Scalar) -> MsgspecType:
    """Return the Python type of the values of a scalar."""
    return ARROW_TYPES.get(kind.arrow) or DTYPES.get(kind.dtype, Any)


def add_typenames(document: Document) -> str:
    """Return the text of a document with ``__typename`` where its models need it."""
    if document.schema is None:
        return document.text
    builder = ModelBuilder(document.schema, needs_typenames=True)
    builder.build_operation(document.operation, document.fragments)
    parts, end, text = [], 0, document.text
    for place in sorted(builder.typename_places):  # after opening braces
        parts += [text[end:place], f" {TYPENAME}"]
        end = place
    return "".join([*parts, text[end:]])


def build_model(document: Document | None, shape: Shape | None, variables: object) -> type:
    """Return the model class of a document; the shape keeps it.

    Raises
    ------
    SchemaError
        If the schema is not known.
    """
    if document is None or document.schema is None or shape is None:
        msg = (
            "The schema of this answer is not known, and its models depend on it. A client takes "
            "it from Client(..., schema=), and client.schema says why an endpoint's is not known."
        )
        raise SchemaError(msg)
    values = variables if isinstance(variables, Mapping) else None
    builder = ModelBuilder(document.schema, get_conditions(document, values))
    build = partial(builder.build_operation, document.operation, document.fragments)
    model: type = shape.get_cached(("model", scalars.get_version()), build)
    return model


def convert_data(data: object, model: type) -> Any:  # noqa: ANN401 - an instance of `model`
    """Return the data of an answer as an instance of a model class.

    Raises
    ------
    AnswerError
        If a value does not fit its class; the message has its path.
    """
    advice = "If the schema has changed, client.refresh_schema() loads it."
    try:
        if hasattr(model, "model_validate"):  # of pydantic
            return model.model_validate(data)
        if hasattr(model, "__pydantic_validator__"):
            # A data class of pydantic: msgspec takes it for one of the standard library, and would
            # leave out its validators and limits, and fill fields with an alias with their default.
            return sys.modules["pydantic"].TypeAdapter(model).validate_python(data)
        return msgspec.convert(data, model, dec_hook=_run_hook)
    except msgspec.ValidationError as error:
        # Of objects in objects, the innermost path first.
        text, *places = str(error).split(" - at `$")
        path = "".join(place.removesuffix("`") for place in reversed(places)).removeprefix(".")
        at = f" at {path}" if path else ""
        reason = f"{text}{at}"
        if isinstance(error.__cause__, _ScalarError):
            reason = f"the value{at} is {text}"
            advice = (
                "If the endpoint has such values, gqlnb.scalar(NAME, like='String') makes them "
                "text."
            )
    except ValueError as error:
        first = error.errors(include_url=False)[0]  # type: ignore[attr-defined] # of pydantic
        reason = f"{first['msg']}{describe_path(first['loc'])}"
    msg = (
        f"The answer does not fit the class {model.__name__}: {sanitize_text(reason, 300)}. "
        f"{advice}"
    )
    raise AnswerError(msg)


def has_decimals(model: type) -> bool:
    """Return whether a class of the user has fields of decimals, which floats do not represent."""
    return _find_decimals(model, set())


def _find_decimals(kind: Any, seen: set[object]) -> bool:
    """Return whether Decimal is in an annotation, or in those of the fields of its classes."""
    if kind is Decimal or kind in seen:
        return kind is Decimal
    seen.add(kind)
    below = [*get_args(kind)]
    below += [field.annotation for field in _find_pydantic_fields(kind).values()]
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        below += [field.type for field in msgspec.structs.fields(kind)]
    return any(_find_decimals(inner, seen) for inner in below)


def _find_pydantic_fields(kind: object) -> Mapping[str, Any]:
    """Return the fields of a model or a data class of pydantic; empty for another class."""
    fields: Mapping[str, Any] | None = getattr(kind, "model_fields", None)
    return fields or getattr(kind, "__pydantic_fields__", {})


# -- values that msgspec does not know
#
# msgspec checks and builds the objects, and calls `_run_hook` for a type that it does not know:
# scalars are converted by the functions that frames use, and an object of a type that has no class
# of its own gets the tag of the class for the others.


class _HookType(type):
    """The class of types whose values `convert` makes, and msgspec takes as they are."""

    convert: Callable[[JSONValue], object]

    def __instancecheck__(cls, _: object) -> bool:
        return True


class _ScalarError(ValueError):
    """A value that is not of its scalar."""


def _run_hook(kind: Any, value: JSONValue) -> object:
    """Return a value of a type that msgspec does not know; it checks one of a class of the user."""
    if not isinstance(kind, _HookType):
        return value
    try:
        return kind.convert(value)
    except msgspec.ValidationError as error:
        # msgspec adds the path to the value to another ValueError only.
        reason = _ScalarError if isinstance(error.__cause__, _ScalarError) else ValueError
        raise reason(str(error)) from None


def _make_union_hook(union: MsgspecType, shared_tags: Mapping[str | None, str]) -> MsgspecType:
    """Return the type of a union with classes for several types, given their tags by type."""
    by_tag = {kind.__struct_config__.tag: kind for kind in get_args(union)}

    def convert(value: JSONValue) -> object:
        tag = name = value.get(TYPENAME) if isinstance(value, Mapping) else None
        if isinstance(name, str) and name not in by_tag:
            tag = shared_tags.get(name, shared_tags.get(None))
            value = value if tag is None else {**value, TYPENAME: tag, TYPENAME_KEY: name}
        # A class, which msgspec prepares once; the union for its message.
        kind = by_tag.get(tag, union) if isinstance(tag, str) else union
        return msgspec.convert(value, kind, dec_hook=_run_hook)

    return _HookType("Union", (), {"convert": staticmethod(convert)})


def _make_leaf_hook(kind: Scalar, name: str, python_type: MsgspecType) -> MsgspecType:
    """Return the type of the values of a scalar."""
    if kind.arrow in {"duration", "seconds"}:
        convert_span = convert_seconds if kind.arrow == "seconds" else to_nanoseconds
        kind = replace(kind, convert=lambda value: _read_timedelta(convert_span(value)))
    if kind.convert is None:
        return python_type
    # Arrow parses text of times itself; msgspec gets a datetime.
    exact = kind.exact_types if kind.dtype in DTYPES and "datetime" not in kind.dtype else ()

    def convert(value: JSONValue) -> object:
        if value is not None and type(value) not in exact:
            try:
                value = _convert_value(kind, value)
            except Exception as error:  # noqa: BLE001 - a registered parser may raise anything
                because = f" ({error})" if str(error) else ""
                shown = sanitize_text(repr(value), VALUE_SHOWN)
                msg = f"{shown}, which is not a {name}{because}"
                raise _ScalarError(msg) from None
        return value if type(value) is python_type else msgspec.convert(value, python_type)

    return _HookType(name, (), {"convert": staticmethod(convert)})


def _convert_value(kind: Scalar, value: JSONValue) -> object:
    """Convert a value; one in another form of its scalar only if that has the same Python type."""
    convert: Any = kind.convert
    try:
        return convert(value)
    except OtherFormError as error:
        other = kind.other_forms.get(error.form)
        second = None if other is None else other.scalar
        failure: ValueError = error
    except WiderError as error:
        second, failure = kind.wider, error
    same = second is not None and get_python_type(second) == get_python_type(kind)
    convert = second.convert if second is not None and same else None
    if convert is None:
        raise failure
    return convert(value)


def _read_timedelta(nanoseconds: int) -> timedelta:
    if nanoseconds % 1000:
        message = "it has nanoseconds"
        raise ValueError(message)
    return timedelta(microseconds=nanoseconds // 1000)
