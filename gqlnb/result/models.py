"""Results as instances of model classes: those of a document, or of the user.

The classes of a document are frozen Structs of msgspec, one for each selection set, written as
Python source. Models of pydantic, which is not imported here, are taken too.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, get_args

import msgspec
from graphql import (
    FieldNode,
    FragmentSpreadNode,
    GraphQLEnumType,
    get_named_type,
    is_composite_type,
    is_list_type,
    is_non_null_type,
    print_ast,
)
from msgspec import inspect

from gqlnb.document import scalars
from gqlnb.document.scalar_values import OtherFormError, WiderError, convert_seconds, to_nanoseconds
from gqlnb.document.scalars import Scalar, recognize_scalar
from gqlnb.document.selections import MAX_SELECTIONS, build_expansion_error
from gqlnb.errors import AnswerError, SchemaError, describe_path, sanitize_text
from gqlnb.result.shape import META_FIELDS, Shape, get_conditions, get_object_names, is_included

if TYPE_CHECKING:
    from graphql import (
        FragmentDefinitionNode,
        GraphQLNamedType,
        GraphQLSchema,
        GraphQLType,
        OperationDefinitionNode,
        SelectionSetNode,
    )

    from gqlnb.document.document import Document


IMPORTS = """\
import datetime
import decimal
from typing import Annotated, Any, ClassVar, Literal

import msgspec
"""
BUILT_IN_TYPES = {"Int": "int", "Float": "float", "String": "str", "Boolean": "bool"}
# By the Arrow type of a column of the scalar, and else by its dtype.
ARROW_TYPES = {
    "date32": "datetime.date",
    "time64[us]": "datetime.time",
    "zoned time": "datetime.time",
    "decimal128": "decimal.Decimal",
    "decimal128(38)": "int",  # of more than 64 bits
    "duration": "datetime.timedelta",
    "seconds": "datetime.timedelta",
}
DTYPES = {
    "string": "str",
    "Int64": "int",
    "Float64": "float",
    "boolean": "bool",
    "datetime64[us, UTC]": "datetime.datetime",
    "datetime64[us]": "datetime.datetime",
}
TYPENAME = "__typename"
# A class for several types of a union or an interface has a tag that begins so, and the type of an
# object under this key: neither can be a name of GraphQL.
SHARED_TAG, TYPENAME_KEY = "*", "*type"
# Names that the bodies of classes and functions use. `datetime` and `decimal` are not among them,
# since classes use the aliases of scalars.
RESERVED_NAMES = frozenset(
    {*keyword.kwlist, "str", "int", "float", "bool", "list", "dict", "object"}
    | {"Annotated", "Any", "ClassVar", "Literal", "msgspec"}
)


def to_pascal_case(name: str) -> str:
    """Return a name of GraphQL in the form of Python's class names."""
    words = re.split(r"[\W_]+", name, flags=re.ASCII)
    joined = "".join(word[:1].upper() + word[1:] for word in words)
    return joined if joined.isidentifier() else f"Model{joined}"


class Names:
    """The names of a module, each given once."""

    def __init__(self) -> None:
        self.taken = {*RESERVED_NAMES}

    def reserve(self, name: str) -> str:
        """Return the name, or the name with a number if another thing has it."""
        free, number = name, 2
        while free in self.taken:
            free, number = f"{name}{number}", number + 1
        self.taken.add(free)
        return free

    def get_attribute_names(self, keys: Iterable[str]) -> dict[str, str]:
        """Return the attribute of a class for each response name.

        They equal the response names, but keywords, names of the module and private names, which
        Python treats specially, end with underscores.
        """

        def is_free(key: str) -> bool:
            plain = key.isascii() and key.isidentifier() and not key.startswith("__")
            return plain and key not in self.taken

        distinct = dict.fromkeys(keys)
        names = {key: key for key in distinct if is_free(key)}
        used = {*names, *self.taken}
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


@dataclass(slots=True)
class ModelField:
    """A field of a model class: response name, annotation, and its default as source, or ""."""

    key: str
    annotation: str
    default: str = ""


@dataclass
class ModelClass:
    """A model class: a Struct of msgspec.

    Attributes
    ----------
    name
        The name of the class.
    fields
        Its fields.
    tag
        The name of the object type that tells the class from others of a union; with an asterisk
        first for a class of several types; empty for a class that stands alone.
    types
        The names of those types; empty for all that have no other class.
    """

    name: str
    fields: list[ModelField] = field(default_factory=list)
    tag: str = ""
    types: tuple[str, ...] = ()

    def format(self, names: Names) -> str:
        """Return the source of the class."""
        attributes = names.get_attribute_names([TYPENAME, *(part.key for part in self.fields)])
        lines = [self._format_typename(attributes[TYPENAME])] if self.tag else []
        lines += [self._format_field(attributes[part.key], part) for part in self.fields]
        body = "\n".join(f"    {line}" for line in lines or ["pass"])
        tag = f", tag_field={TYPENAME!r}, tag={self.tag!r}" if self.tag else ""
        return f"class {self.name}(msgspec.Struct, frozen=True, kw_only=True{tag}):\n{body}\n"

    def _format_typename(self, attribute: str) -> str:
        """Return the line of the attribute for the type of an object, of a class with a tag."""
        is_shared = self.tag.startswith(SHARED_TAG)
        types = self.types if is_shared else (self.tag,)
        annotation = f"Literal[{', '.join(map(repr, types))}]" if types else "str"
        if is_shared:
            return f"{attribute}: {annotation} = msgspec.field(name={TYPENAME_KEY!r})"
        return f"{attribute}: ClassVar[{annotation}] = {self.tag!r}"

    @staticmethod
    def _format_field(attribute: str, field: ModelField) -> str:
        """Return the line of a field."""
        default = field.default
        if attribute != field.key:
            before = f"default={default}, " if default else ""
            default = f"msgspec.field({before}name={field.key!r})"
        return f"{attribute}: {field.annotation}{f' = {default}' if default else ''}"


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

    @property
    def declared_type(self) -> Any:  # noqa: ANN401 - any output type of graphql-core
        """The type of the field."""
        name = self.node.name.value
        return (META_FIELDS.get(name) or self.parent.fields[name]).type


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

    Attributes
    ----------
    names
        The names of the module.
    classes
        The source of each class and alias, in an order in which each is defined before its use.
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
        self.names = Names()
        self.aliases: list[str] = []
        self.classes: list[ModelClass | str] = []
        self.typename_places: set[int] = set()
        self._fragments: Mapping[str, FragmentDefinitionNode] = {}
        self._shared: dict[str, str] = {}  # the annotation of a place with one fragment, by name
        self._leaves: dict[str, str] = {}
        self._remaining = MAX_SELECTIONS

    def format(self) -> str:
        """Return the source of aliases and classes."""
        parts = [
            item if isinstance(item, str) else item.format(self.names) for item in self.classes
        ]
        return "\n\n".join(["".join(self.aliases), *parts])

    def add_operation(
        self,
        operation: OperationDefinitionNode,
        fragments: Mapping[str, FragmentDefinitionNode],
    ) -> str:
        """Add the classes of an operation, and return the name of the first."""
        self._fragments = fragments
        self._remaining = MAX_SELECTIONS
        kind = operation.operation
        name = operation.name.value if operation.name else kind.value
        root = self.schema.get_root_type(kind)
        sets = [SelectionPart(operation.selection_set, root)]
        return self._add_object(sets, get_object_names(self.schema, root), to_pascal_case(name))

    # -- places of objects

    def _add_object(self, sets: list[SelectionPart], types: frozenset[str], name: str) -> str:
        """Add the classes of a place, and return its annotation."""
        fragment = self._find_only_fragment(sets, types)
        if fragment is None:
            return self._add_variants(sets, types, name)
        shared = self._shared.get(fragment)
        if shared is None:
            node = self._fragments[fragment]
            parent = self.schema.get_type(node.type_condition.name.value)
            only = [SelectionPart(node.selection_set, parent)]
            if len(types) == 1:
                # With a tag also where it is not needed: other places may be unions.
                own = self.names.reserve(to_pascal_case(fragment))
                shared = self._add_class(only, types, ModelClass(own, tag=next(iter(types))))
            else:
                shared = self._add_object(only, types, to_pascal_case(fragment))
            self._shared[fragment] = shared
        return shared

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
            target: Any = node
            if isinstance(node, FragmentSpreadNode):
                target = self._fragments[node.name.value]
            on = target.type_condition
            names = (
                get_object_names(self.schema, self.schema.get_type(on.name.value)) if on else types
            )
            if names & types:
                is_whole = names == types and not node.directives
                if not is_whole or not isinstance(node, FragmentSpreadNode):
                    return None
                spreads.append(node.name.value)
        return spreads[0] if len(spreads) == 1 else None

    def _add_variants(self, sets: list[SelectionPart], types: frozenset[str], name: str) -> str:
        """Add a class, or one for each group of types for which the same fields are selected."""
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
        if len(groups) < 2:
            return self._add_class(sets, types, ModelClass(self.names.reserve(name)))
        alias = self.names.reserve(name)
        variants = []
        for of_type, members in groups.items():
            group = frozenset(members)
            if len(group) == 1:
                label = tag = next(iter(group))
                if self._find_only_fragment(sets, group) is not None:
                    variants.append(self._add_object(sets, group, ""))
                    continue
            else:
                label = "".join(of_type) or "Other"
                tag = SHARED_TAG + "&".join(of_type)
            own = self.names.reserve(alias + to_pascal_case(label))
            shared = tuple(sorted(group)) if of_type and len(group) > 1 else ()
            model = ModelClass(own, tag=tag, types=shared)
            variants.append(self._add_class(sets, group, model))
        self.classes.append(f"{alias} = {' | '.join(variants)}\n")
        return alias

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
                target: Any = node
                if isinstance(node, FragmentSpreadNode):
                    if node.name.value in seen:
                        continue
                    seen.add(node.name.value)
                    target = self._fragments[node.name.value]
                waiting.append(target.selection_set)
                if target.type_condition:
                    on = target.type_condition.name.value
                    names = get_object_names(self.schema, self.schema.get_type(on)) & types
                    if names and names != types:
                        conditions[on] = names
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
                target: Any = node
                if isinstance(node, FragmentSpreadNode):
                    target = self._fragments[node.name.value]
                on = target.type_condition
                inner = self.schema.get_type(on.name.value) if on else part.parent
                fitting = of & get_object_names(self.schema, inner)
                if fitting:
                    collect(SelectionPart(target.selection_set, inner, certain), fitting)

        for part in sets:
            collect(part, types)
        return fields

    # -- classes

    def _add_class(
        self, sets: list[SelectionPart], types: frozenset[str], model: ModelClass
    ) -> str:
        for key, parts in self._collect_fields(sets, types).items():
            if model.tag and key == TYPENAME:
                continue
            annotation = self._annotate_field(parts, f"{model.name}{to_pascal_case(key)}")
            always = (
                frozenset[str]().union(*(part.types for part in parts if part.certain)) == types
            )
            if not always and not annotation.endswith("| None") and annotation != "Any":
                annotation += " | None"
            model.fields.append(ModelField(key, annotation, "" if always else "None"))
        self.classes.append(model)
        return model.name

    def _annotate_field(self, parts: list[FieldPart], name: str) -> str:
        declared = parts[0].declared_type
        kind = get_named_type(declared)
        if parts[0].node.name.value == TYPENAME:
            types = frozenset[str]().union(*(part.types for part in parts))
            return f"Literal[{next(iter(types))!r}]" if len(types) == 1 else "str"
        if not is_composite_type(kind):
            return self.wrap_type(declared, self.annotate_leaf(kind))
        types = frozenset[str]().union(*(part.types for part in parts))
        sets, below = [], frozenset[str]()
        for part in parts:
            inner: Any = get_named_type(part.declared_type)
            below |= get_object_names(self.schema, inner)
            if part.node.selection_set is not None:
                # An object may come from another selection, which lacks the fields of this one.
                is_whole = len(parts) == 1 or (part.certain and part.types == types)
                sets.append(SelectionPart(part.node.selection_set, inner, is_whole))
        return self.wrap_type(declared, self._add_object(sets, below, name))

    def wrap_type(self, declared: GraphQLType, inner: str) -> str:
        """Return an annotation with the lists and nullability of a type of GraphQL."""
        kind: Any = declared
        is_nullable = not is_non_null_type(kind)
        kind = kind if is_nullable else kind.of_type
        text = f"list[{self.wrap_type(kind.of_type, inner)}]" if is_list_type(kind) else inner
        return f"{text} | None" if is_nullable and text != "Any" else text

    def annotate_leaf(self, kind: GraphQLNamedType) -> str:
        """Return the annotation of a scalar or an enum, and define its alias if it needs one."""
        annotation = BUILT_IN_TYPES.get(kind.name) or self._leaves.get(kind.name)
        if annotation is None:
            annotation = self._leaves[kind.name] = self._define_leaf(kind)
        return annotation

    def _define_leaf(self, kind: Any) -> str:  # noqa: ANN401 - an enum or a scalar
        if isinstance(kind, GraphQLEnumType):
            text = f"Literal[{', '.join(map(repr, kind.values))}]"
        else:
            like = recognize_scalar(kind.name, kind.specified_by_url, kind.description)
            inner = get_python_type(scalars.get_scalar(Shape(kind.name, like=like)))
            if inner == "str" and kind.name != "ID":  # endpoints may send a number for an ID
                return "str"
            extra = {"scalar": kind.name} | ({"like": like} if like != kind.name else {})
            text = f"Annotated[{inner}, msgspec.Meta(extra={extra!r})]"
        alias = self.names.reserve(to_pascal_case(kind.name))
        self.aliases.append(f"{alias} = {text}\n")
        return alias


def get_python_type(kind: Scalar) -> str:
    """Return the Python type of the values of a scalar, as source."""
    return ARROW_TYPES.get(kind.arrow or "") or DTYPES.get(kind.dtype, "Any")


def add_typenames(document: Document) -> str:
    """Return the text of a document with ``__typename`` where its models need it."""
    if document.schema is None:
        return document.text
    builder = ModelBuilder(document.schema, needs_typenames=True)
    builder.add_operation(document.operation, document.fragments)
    parts, end, text = [], 0, document.text
    for place in sorted(builder.typename_places):  # after opening braces
        parts += [text[end:place], f" {TYPENAME}"]
        end = place
    return "".join([*parts, text[end:]])


VALUE_SHOWN = 80
# A JSON value, and the value that msgspec gets in its place. Both of any type.
JSONValue: TypeAlias = Any
Prepare: TypeAlias = Callable[[JSONValue], JSONValue]


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
    key = "model", scalars.get_version()
    model: type | None = shape.cache.get(key)
    if model is None:
        values = variables if isinstance(variables, Mapping) else None
        builder = ModelBuilder(document.schema, get_conditions(document, values))
        name = builder.add_operation(document.operation, document.fragments)
        space: dict[str, Any] = {"__name__": "gqlnb.models"}
        # Identifiers are checked, and names of the schema are in string literals.
        text = f"{IMPORTS}\n{builder.format()}"
        code = compile(text, "<models>", "exec", dont_inherit=True)  # annotations are classes
        exec(code, space)  # noqa: S102
        model = shape.cache[key] = space[name]
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
        if _is_pydantic(model):
            return model.model_validate(data)  # type: ignore[attr-defined]
        return msgspec.convert(_get_preparation(model).prepare(data), model)
    except _ValueError as error:
        reason = f"the value{describe_path(error.path)} is {error.args[0]}"
        advice = (
            "If the endpoint has such values, gqlnb.scalar(NAME, like='String') makes them text."
        )
    except msgspec.ValidationError as error:
        text, _, place = str(error).partition(" - at `")
        reason = text + (f" at {place.strip('`').removeprefix('$.')}" if place else "")
    except ValueError as error:
        reason = _describe_pydantic_error(error)
    msg = (
        f"The answer does not fit the class {model.__name__}: {sanitize_text(reason, 300)}. "
        f"{advice}"
    )
    raise AnswerError(msg)


def has_decimals(model: type) -> bool:
    """Return whether a model class has fields of decimals, which floats do not represent."""
    if _is_pydantic(model):
        return _find_decimals(model, set())
    return _get_preparation(model).has_decimals


# -- classes of pydantic


def _is_pydantic(model: type) -> bool:
    return hasattr(model, "model_validate")


def _find_decimals(kind: Any, seen: set[object]) -> bool:
    """Return whether Decimal is in an annotation, or in those of the fields of its classes."""
    if kind is Decimal or kind in seen:
        return kind is Decimal
    seen.add(kind)
    fields = getattr(kind, "model_fields", {}).values()
    return any(
        _find_decimals(inner, seen) for inner in [*get_args(kind), *(f.annotation for f in fields)]
    )


def _describe_pydantic_error(error: Any) -> str:
    """Return the first reason of a ValidationError."""
    first = error.errors(include_url=False)[0]
    return f"{first['msg']}{describe_path(first['loc'])}"


# -- preparation of the JSON values for msgspec


class _ValueError(ValueError):
    """A value that is not of its scalar; its path is filled from the inside out."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.path: list[str | int] = []


class _Preparation(NamedTuple):
    prepare: Prepare
    has_decimals: bool


def _get_preparation(model: type) -> _Preparation:
    return _build_preparation(model, scalars.get_version())


@lru_cache(maxsize=256)
def _build_preparation(model: type, _version: int) -> _Preparation:
    kinds: list[Scalar] = []
    prepare = _build_step(inspect.type_info(model), kinds)
    return _Preparation(prepare or _keep, any(Decimal in kind.json_types for kind in kinds))


def _keep(value: JSONValue) -> JSONValue:
    return value


# msgspec checks and builds the objects. What it does not know is done before: scalars are converted
# by the functions that frames use, and an object of a type that has no class of its own gets the
# tag of the class for the others. Places without either are not visited.
def _build_step(kind: inspect.Type, kinds: list[Scalar]) -> Prepare | None:
    """Return a function that prepares the values of a place; None if they need nothing."""
    if isinstance(kind, inspect.Metadata):
        extra = kind.extra or {}
        scalar = scalars.get_scalar(Shape(extra.get("scalar"), like=extra.get("like", "")))
        kinds.append(scalar)
        return _build_leaf_step(scalar, extra.get("scalar", ""))
    if isinstance(kind, inspect.ListType):
        item = _build_step(kind.item_type, kinds)
        return None if item is None else _build_list_step(item)
    if isinstance(kind, inspect.StructType):
        return _build_object_step([kind], kinds)
    if isinstance(kind, inspect.UnionType):
        structs = [member for member in kind.types if isinstance(member, inspect.StructType)]
        if structs:
            return _build_object_step(structs, kinds)
        steps = [_build_step(member, kinds) for member in kind.types]
        return next((step for step in steps if step is not None), None)
    return None


def _build_list_step(item: Prepare) -> Prepare:
    def prepare(value: JSONValue) -> JSONValue:
        if not isinstance(value, (list, tuple)):
            return value
        prepared: list[Any] = []
        try:
            for entry in value:
                # Its length is the index of the failing value, unlike with a comprehension.
                prepared.append(None if entry is None else item(entry))  # noqa: PERF401
        except _ValueError as error:
            error.path.insert(0, len(prepared))
            raise
        return prepared

    return prepare


class _SharedTags(NamedTuple):
    """The tags of classes for several types: by type, and of the class for all other types."""

    by_type: dict[str, object]
    other: object

    @classmethod
    def find(cls, structs: list[inspect.StructType]) -> _SharedTags:
        by_type: dict[str, object] = {}
        other: object = None
        for struct in structs:
            kind = {field.encode_name: field.type for field in struct.fields}.get(TYPENAME_KEY)
            if isinstance(kind, inspect.LiteralType):
                by_type |= {str(name): struct.tag for name in kind.values}
            elif kind is not None:
                other = struct.tag
        return cls(by_type, other)


def _build_object_step(structs: list[inspect.StructType], kinds: list[Scalar]) -> Prepare | None:
    by_tag: dict[object, dict[str, Prepare]] = {}
    for struct in structs:
        steps = {field.encode_name: _build_step(field.type, kinds) for field in struct.fields}
        by_tag[struct.tag] = {key: step for key, step in steps.items() if step is not None}
    shared = _SharedTags.find(structs)
    if shared == ({}, None) and not any(by_tag.values()):
        return None
    only = by_tag[structs[0].tag] if len(structs) == 1 else None

    def prepare(value: JSONValue) -> JSONValue:
        if not isinstance(value, Mapping):
            return value
        prepared = dict(value)
        if only is not None:
            _prepare_fields(prepared, only)
            return prepared
        tag = name = value.get(TYPENAME)
        if isinstance(name, str) and name not in by_tag:
            tag = shared.by_type.get(name, shared.other)
            if tag is not None:
                prepared |= {TYPENAME: tag, TYPENAME_KEY: name}
        _prepare_fields(prepared, by_tag.get(tag, {}))
        return prepared

    return prepare


def _prepare_fields(prepared: dict[str, Any], steps: Mapping[str, Prepare]) -> None:
    for key, step in steps.items():
        value = prepared.get(key)
        if value is not None:
            try:
                prepared[key] = step(value)
            except _ValueError as error:
                error.path.insert(0, key)
                raise


def _build_leaf_step(kind: Scalar, name: str) -> Prepare | None:
    if kind.arrow in {"duration", "seconds"}:
        convert = convert_seconds if kind.arrow == "seconds" else to_nanoseconds
        kind = replace(kind, convert=lambda value: _read_timedelta(convert(value)))
    if kind.convert is None:
        return None
    # Arrow parses text of times itself; msgspec gets a datetime.
    exact = kind.exact_types if kind.dtype in DTYPES and "datetime" not in kind.dtype else ()

    def prepare(value: JSONValue) -> JSONValue:
        if type(value) in exact:
            return value
        try:
            return _convert_value(kind, value)
        except Exception as error:  # noqa: BLE001 - a registered parser may raise anything
            because = f" ({error})" if str(error) else ""
        msg = f"{sanitize_text(repr(value), VALUE_SHOWN)}, which is not a {name}{because}"
        raise _ValueError(msg)

    return prepare


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
