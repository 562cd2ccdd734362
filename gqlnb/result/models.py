"""Results as instances of model classes: those of a document, or of the user.

The classes are Structs of msgspec or models of pydantic, which is not imported here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, get_args

import msgspec
from msgspec import inspect

from gqlnb.document import scalars
from gqlnb.document.scalar_values import OtherFormError, WiderError, convert_seconds, to_nanoseconds
from gqlnb.errors import AnswerError, SchemaError, describe_path, sanitize_text
from gqlnb.result.model_classes import (
    DTYPES,
    IMPORTS,
    TYPENAME,
    TYPENAME_KEY,
    ModelBuilder,
    get_python_type,
)
from gqlnb.result.shape import Shape, get_conditions

if TYPE_CHECKING:
    from gqlnb.document.document import Document
    from gqlnb.document.known_scalars import Scalar

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
    found: type | None = shape.cache.get(key)
    if found is None:
        values = variables if isinstance(variables, Mapping) else None
        builder = ModelBuilder(document.schema, get_conditions(document, values))
        name = builder.add_operation(document.operation, document.fragments)
        space: dict[str, Any] = {"__name__": "gqlnb.models"}
        # Identifiers are checked, and names of the schema are in string literals.
        text = f"{IMPORTS}\n{builder.format()}"
        code = compile(text, "<models>", "exec", dont_inherit=True)  # annotations are classes
        exec(code, space)  # noqa: S102
        found = shape.cache[key] = space[name]
    return found


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
        _find_decimals(it, seen) for it in [*get_args(kind), *(f.annotation for f in fields)]
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
        found = scalars.get_scalar(Shape(extra.get("scalar"), like=extra.get("like", "")))
        kinds.append(found)
        return _build_leaf_step(found, extra.get("scalar", ""))
    if isinstance(kind, inspect.ListType):
        item = _build_step(kind.item_type, kinds)
        return None if item is None else _build_list_step(item)
    if isinstance(kind, inspect.StructType):
        return _build_object_step([kind], kinds)
    if isinstance(kind, inspect.UnionType):
        structs = [each for each in kind.types if isinstance(each, inspect.StructType)]
        if structs:
            return _build_object_step(structs, kinds)
        steps = [_build_step(each, kinds) for each in kind.types]
        return next((step for step in steps if step is not None), None)
    return None


def _build_list_step(item: Prepare) -> Prepare:
    def prepare(value: JSONValue) -> JSONValue:
        if not isinstance(value, (list, tuple)):
            return value
        prepared: list[Any] = []
        try:
            for each in value:
                # Its length is the index of the failing value, unlike with a comprehension.
                prepared.append(None if each is None else item(each))  # noqa: PERF401
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
            kind = {each.encode_name: each.type for each in struct.fields}.get(TYPENAME_KEY)
            if isinstance(kind, inspect.LiteralType):
                by_type |= {str(name): struct.tag for name in kind.values}
            elif kind is not None:
                other = struct.tag
        return cls(by_type, other)


def _build_object_step(structs: list[inspect.StructType], kinds: list[Scalar]) -> Prepare | None:
    by_tag: dict[object, dict[str, Prepare]] = {}
    for struct in structs:
        steps = {each.encode_name: _build_step(each.type, kinds) for each in struct.fields}
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
        found = prepared.get(key)
        if found is not None:
            try:
                prepared[key] = step(found)
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
