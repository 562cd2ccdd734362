"""Sources of schemas: text, files, introspection results, objects, and endpoints."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from graphql import (
    REMOVE,
    FieldNode,
    Visitor,
    get_introspection_query,
    get_location,
    parse,
    print_ast,
    visit,
)

from gqlnb.document.document import build_problems
from gqlnb.document.json_codec import dump_valid_json, load_json
from gqlnb.engine.schema import Schema
from gqlnb.engine.schema_adapters import extract_schema, is_schema
from gqlnb.engine.schema_builder import LoadedSchema, load_introspection, load_text, pause_collector
from gqlnb.errors import (
    AuthError,
    Problem,
    QueryError,
    RateLimited,
    SchemaError,
    TransportError,
    sanitize_text,
)
from gqlnb.result.checked_decoder import CheckedDecoder
from gqlnb.result.shape import Shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from graphql import DocumentNode, Node, VisitorAction

    from gqlnb.result.result import Result

    Execute: TypeAlias = Callable[[str, CheckedDecoder], Result]

ACCEPTED_FORMS = (
    "schema= takes SDL text, the path of a file with SDL or introspection JSON, an introspection "
    "result, or a schema object"
)


def read_schema(given: object) -> LoadedSchema:
    """Return the schema of a ``schema=`` argument.

    Parameters
    ----------
    given
        SDL text; the path of a file with SDL or with introspection JSON; an introspection result,
        with or without the envelope ``data``; any object that :meth:`Schema.adopt` takes.

    Raises
    ------
    SchemaError
        If it has another type, or does not describe a schema.
    """
    if isinstance(given, Schema):
        return LoadedSchema(given.graphql)
    if isinstance(given, Mapping):
        return load_introspection(given, "The introspection result")
    if isinstance(given, os.PathLike) or (isinstance(given, str) and is_path(given)):
        return read_schema_file(Path(os.fspath(given)).expanduser())
    if isinstance(given, str):
        return read_schema_text(given, "The text")
    if not is_schema(given):
        msg = f"{ACCEPTED_FORMS}; got {sanitize_text(type(given).__name__, 80)}."
        raise SchemaError(msg)
    return LoadedSchema(extract_schema(given))


def is_path(text: str) -> bool:
    """Return whether text is a path and not SDL, which has braces."""
    return "{" not in text and "\n" not in text and text.strip() != ""


def read_schema_file(path: Path) -> LoadedSchema:
    """Return the schema in a file; raise SchemaError if it can't be read or has no schema."""
    quoted = sanitize_text(path, 80)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        reason = "it is not UTF-8"
    except (OSError, ValueError) as error:  # ValueError: a null character
        reason = getattr(error, "strerror", None) or "invalid path"
    else:
        return read_schema_text(text, f"The file {quoted}")
    msg = f"schema= does not refer to a readable file: {quoted!r} ({reason}). {ACCEPTED_FORMS}."
    raise SchemaError(msg)


def read_schema_text(text: str, whence: str) -> LoadedSchema:
    """Return the schema in text, which must not be empty; raise SchemaError if it has none."""
    if text.strip():
        return load_text(text, whence)
    msg = f"{whence} is empty. {ACCEPTED_FORMS}."
    raise SchemaError(msg)


def read_introspection(body: bytes) -> dict[str, Any]:
    """Return the introspection result in JSON, with or without its envelope.

    Raises
    ------
    ValueError
        If it is not JSON, or not an introspection result.
    """
    with pause_collector():
        value = load_json(body)  # JSONError is a ValueError
    if isinstance(value, dict):
        return value
    msg = "not a JSON object"
    raise ValueError(msg)


def read_schema_body(body: bytes, whence: str) -> LoadedSchema:
    """Return the schema of an introspection result in JSON; raise ValueError if it has none."""
    with pause_collector():
        return load_introspection(read_introspection(body), whence)


MAX_REQUESTS = 12  # endpoints that name one unknown member at a time are asked for each again
DEEP, SHALLOW = 9, 3  # levels of a type: [[T!]!]! has five, and most schemas three
# Statuses with which endpoints refuse introspection, or some part of it.
REFUSAL_STATUSES = frozenset({400, 403, 413, 422, 500})


class Member(NamedTuple):
    """A field or an argument of introspection that older servers do not know.

    Attributes
    ----------
    type_name, field
        The field.
    argument
        Its argument; empty for the field itself.
    """

    type_name: str
    field: str
    argument: str = ""


# graphql-js 15.5 has the argument on fields and not on directives, so each place is its own member.
MEMBERS = {
    Member("__Type", "isOneOf"): "isOneOf",
    Member("__Type", "specifiedByURL"): "specifiedByURL",
    Member("__Directive", "isRepeatable"): "isRepeatable",
    Member("__Field", "args", "includeDeprecated"): "deprecated arguments of fields",
    Member("__Directive", "args", "includeDeprecated"): "deprecated arguments of directives",
    Member("__Type", "inputFields", "includeDeprecated"): "deprecated input fields",
    Member("__InputValue", "isDeprecated"): "isDeprecated of arguments",
    Member("__InputValue", "deprecationReason"): "deprecationReason of arguments",
    Member("__Schema", "description"): "a description of the schema",
    Member("__Type", "fields", "includeDeprecated"): "deprecated fields",
    Member("__Type", "enumValues", "includeDeprecated"): "deprecated enum values",
}
# Without these a schema is hardly of use: they are left out only where a message names them.
BASIC = {member for member in MEMBERS if member.field in ("fields", "enumValues")}
# Every server has these at other places: without the type, a message does not mean the member.
AMBIGUOUS_FIELDS = frozenset({"description", "isDeprecated", "deprecationReason"})
# The types of fields of the introspection query; of all others, and of its fragments, by name.
FIELD_TYPES = {
    "__schema": "__Schema",
    "directives": "__Directive",
    "fields": "__Field",
    "enumValues": "__EnumValue",
}
TOO_DEEP = re.compile(r"depth|deep|nest(?:ed|ing)|complex|cost|tokens?\b", re.IGNORECASE)
# Apollo has a code; graphql-ruby, Hasura and graphql-js name the field; others name the feature.
FORBIDDEN = re.compile(r"INTROSPECTION_DISABLED|__schema\b|__type\b|(?i:introspect)")


class IntrospectionRefusedError(SchemaError):
    """An endpoint refused introspection."""


TEXT_MEMBERS = ("description", "deprecationReason", "specifiedByURL", "defaultValue")


class FetchedSchema(NamedTuple):
    """The schema of an endpoint, as it answered introspection.

    Attributes
    ----------
    described
        The schema, and remarks about it.
    body
        The introspection result in JSON, with the secrets of the client hidden.
    is_free_of_secrets
        Whether no secret is left in it.
    """

    described: LoadedSchema
    body: bytes
    is_free_of_secrets: bool


def fetch_schema(execute: Execute, source: str, redact: Callable[[str], str]) -> FetchedSchema:
    """Fetch the schema of an endpoint.

    Parameters
    ----------
    execute
        Executes a text at the endpoint, and decodes the response by a decoder.
    source
        The endpoint, as it is shown.
    redact
        Hides the secrets of the client in a text.

    Raises
    ------
    IntrospectionRefusedError
        If it refuses, after at most twelve requests.
    SchemaError
        If it described no valid schema.
    TransportError, AuthError, RateLimited, AnswerError
        If it gave no usable answer.
    """
    data, remarks = fetch_introspection(execute, source)
    body = dump_valid_json({"__schema": data["__schema"]})
    if not (is_clean := is_free_of_secrets(body, redact)):  # an endpoint may echo our token
        data = read_introspection(body)
        redact_texts(data, redact)
        body = dump_valid_json(data)
        is_clean = is_free_of_secrets(body, redact)
    described = load_introspection(data, f"The answer of {source}")
    described = LoadedSchema(described.graphql, (*remarks, *described.notes))
    return FetchedSchema(described, body, is_clean)


def is_free_of_secrets(body: bytes, redact: Callable[[str], str]) -> bool:
    """Return whether a response holds no secret of the client, in any spelling."""
    text = body.decode()
    return redact(text) == text


def redact_texts(data: object, hide: Callable[[str], str]) -> None:
    """Hide secrets in descriptions and default values; names are left, equal by chance or not."""
    waiting = [data]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            texts = {name: value[name] for name in TEXT_MEMBERS if isinstance(value.get(name), str)}
            value.update({name: hide(text) for name, text in texts.items()})
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)


def fetch_introspection(execute: Execute, source: str) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """Return the introspection result of an endpoint, and remarks about it.

    Parameters
    ----------
    execute
        Executes a text at the endpoint, and decodes the response by a decoder.
    source
        The endpoint, as it is shown.

    Raises
    ------
    IntrospectionRefusedError
        If it refuses, after at most twelve requests.
    TransportError, AuthError, RateLimited, AnswerError
        If it gave no usable answer.
    """
    # The fullest query first; a refusal names the members that the endpoint does not know.
    members, depth = frozenset(MEMBERS), DEEP
    reason = ""
    for _ in range(MAX_REQUESTS):
        query = build_introspection_query(members, depth)
        response = execute_introspection(execute, query)
        if not isinstance(response, Refusal):
            return response, describe_omissions(members, depth)
        reason = response.reason
        step = reduce_query(response, query, members, depth)
        if step is None:
            break
        members, depth = step
    reason = sanitize_text(reason.removeprefix(f"{source}: "), 200).rstrip(".")
    msg = f"{source} refuses introspection: {reason}."
    raise IntrospectionRefusedError(msg)


class Refusal(NamedTuple):
    """A response to introspection without a schema.

    Attributes
    ----------
    problems
        Its errors, the codes among them in a problem of their own.
    status
        Its HTTP status; None if it had the form of a GraphQL response.
    """

    problems: Sequence[Problem]
    status: int | None = None

    @property
    def reason(self) -> str:
        """All messages."""
        return " ".join(problem.message for problem in self.problems)


class IntrospectionReader(CheckedDecoder):
    """Decodes a response to introspection, type by type."""

    def __init__(self) -> None:
        super().__init__(Shape(type_text="anything"))

    def decode_response(self, body: bytes) -> dict[str, Any] | None:
        """Return the members of a response with a schema; None for any other."""
        try:
            members = read_introspection(body)
        except ValueError:
            return None
        data = members.get("data")
        return members if isinstance(data, dict) and data.get("__schema") else None


def build_introspection_query(members: frozenset[Member], depth: int) -> str:
    """Return the introspection query with some of the members, types `depth` levels deep."""
    options = inspect.signature(get_introspection_query).parameters
    one_of = "one_of" if "one_of" in options else "input_object_one_of"  # 3.2
    text = get_introspection_query(
        specified_by_url=True,
        directive_is_repeatable=True,
        schema_description=True,
        input_value_deprecation=True,
        type_depth=depth,
        **{one_of: True},
    )
    ast, unwanted = parse(text), MEMBERS.keys() - members
    omitted = {id(node) for member, node in list_members(ast) if member in unwanted}

    class Remover(Visitor):
        def enter(self, node: Node, *_: object) -> VisitorAction:
            return REMOVE if id(node) in omitted else None

    return print_ast(visit(ast, Remover())) if omitted else text


def list_members(ast: DocumentNode) -> list[tuple[Member, Node]]:
    """Return the fields and arguments of the introspection query, with their nodes."""
    members: list[tuple[Member, Node]] = []

    def search(node: Any, type_name: str) -> None:  # noqa: ANN401 - nodes with a selection set
        for field in node.selection_set.selections:
            if isinstance(field, FieldNode):
                name = field.name.value
                members.append((Member(type_name, name), field))
                members.extend(
                    (Member(type_name, name, part.name.value), part)
                    for part in field.arguments or ()
                )
                if field.selection_set is not None:
                    search(field, FIELD_TYPES.get(name, "__Type"))

    for definition in ast.definitions:
        condition = getattr(definition, "type_condition", None)
        search(definition, condition.name.value if condition else "Query")
    return members


def execute_introspection(execute: Execute, text: str) -> Mapping[str, Any] | Refusal:
    """Return the data of a response, or the refusal."""
    try:
        result = execute(text, IntrospectionReader())
    except QueryError as error:
        problems = error.problems or [Problem(str(error))]
        return Refusal([*problems, *map(Problem, list_error_codes(error.result))])
    except (AuthError, RateLimited):
        raise
    except TransportError as error:
        if error.status not in REFUSAL_STATUSES:
            raise
        return Refusal([Problem(str(error))], error.status)
    if isinstance(result.data, dict) and result.data.get("__schema") is not None:
        return result.data
    problems = [*build_problems(result.errors), *map(Problem, list_error_codes(result))]
    return Refusal(problems or [Problem("its answer holds no __schema.")])


def list_error_codes(result: object) -> list[str]:
    """Return the codes in the extensions of errors, as of Apollo."""
    codes = []
    for error in getattr(result, "errors", ()):
        extensions = error.get("extensions")
        if isinstance(extensions, dict):
            names = ("validationErrorCode", "code")
            codes += [str(extensions[name]) for name in names if name in extensions]
    return codes


def reduce_query(
    refusal: Refusal, query: str, members: frozenset[Member], depth: int
) -> tuple[frozenset[Member], int] | None:
    """Return members and depth of the next query; None if another one would be refused too."""
    # The least first: without the members that the messages name, then with shallower types, and
    # only then without all members.
    named = set().union(
        *(find_named_members(problem, query, members) for problem in refusal.problems)
    )
    if named:
        return members - named, depth
    if TOO_DEEP.search(refusal.reason) and depth > SHALLOW:
        return members, SHALLOW
    if refusal.status == 403 or FORBIDDEN.search(refusal.reason):
        return None
    if members - BASIC:
        return members & BASIC, depth
    return (members, SHALLOW) if depth > SHALLOW else None


def find_named_members(problem: Problem, query: str, members: Iterable[Member]) -> set[Member]:
    """Return the members that an error is about: one, if message or location tell which."""
    words = set(re.findall(r"\w+", problem.message))
    named = {
        one
        for one in members
        if (one.argument or one.field) in words
        and (one.type_name in words or one.field not in AMBIGUOUS_FIELDS)
    }
    if len(named) < 2:
        return named
    # graphql-js names type and field, graphql-ruby the field, HotChocolate the location alone.
    place = problem.line, problem.column
    located = {
        member
        for member, node in list_members(parse(query))
        if node.loc and tuple(get_location(node.loc.source, node.loc.start)) == place
    }
    by_field = {one for one in named if one.field in words}
    return (
        {one for one in by_field if one.type_name in words} or named & located or by_field or named
    )


def describe_omissions(members: frozenset[Member], depth: int) -> tuple[str, ...]:
    """Return a sentence for each part that the query left out."""
    missing = [text for member, text in MEMBERS.items() if member not in members]
    remarks = [f"The endpoint does not describe {', '.join(missing)}."] if missing else []
    if depth < DEEP:
        remarks.append(f"Types are described to {depth} levels, as the endpoint refuses more.")
    return tuple(remarks)
