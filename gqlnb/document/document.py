"""A document: query text, parsed, checked against a schema, with its operation chosen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from graphql import (
    ExecutableDefinitionNode,
    ExecutableDefinitionsRule,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    OperationDefinitionNode,
    TypeInfo,
    TypeInfoVisitor,
    Visitor,
    get_named_type,
    is_abstract_type,
    is_composite_type,
    is_input_object_type,
    is_leaf_type,
    is_required_argument,
    print_ast,
    validate,
    visit,
)
from graphql import NoSchemaIntrospectionCustomRule as NoIntrospectionRule
from graphql.pyutils import did_you_mean, suggestion_list

from gqlnb.document.complexity import check_limits, parse_within_limits
from gqlnb.document.syntax import parse_source
from gqlnb.document.validation import FiniteFloatsRule, can_be_infinite, validate_document
from gqlnb.errors import Problem, QueryError, sanitize_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from graphql import (
        ASTValidationRule,
        DirectiveNode,
        DocumentNode,
        GraphQLAbstractType,
        GraphQLSchema,
        ObjectFieldNode,
        VariableDefinitionNode,
    )

    from gqlnb.document.limits import Limits

__all__ = [
    "INCREMENTAL_DIRECTIVES",
    "Document",
    "build_problems",
    "find_errors",
    "find_selected_field",
    "format_variable_type",
    "locate_response_path",
    "parse_document",
]

MAX_FIELDS_SHOWN = 12  # two lines of a notebook cell; the schema browser shows the rest
MAX_EXAMPLE_FIELDS = 3
MAX_COMPARED_LENGTH = 80  # characters
MAX_COMPARED_NAMES = 100
INCREMENTAL_DIRECTIVES = ("defer", "stream")
FAMILIAR_FIELDS = frozenset({"id", "name", "title", "login"})  # what most begin with


@dataclass(frozen=True, eq=False, slots=True)
class Document:
    """Query text that has been parsed, with the one operation to run.

    Attributes
    ----------
    text
        The text as it was written.
    ast
        graphql-core's document node.
    operation
        The operation to run.
    schema
        The schema it was checked against; None if it was not.
    name
        The name of the operation; None if it has none.
    kind
        ``"query"``, ``"mutation"`` or ``"subscription"``.
    variables
        The variables the operation declares, by name without the ``$``.
    builtin_leaves
        Whether its answers hold enums and the five scalars that GraphQL names alone; None until
        the engine has looked.
    """

    text: str
    ast: DocumentNode = field(repr=False)
    operation: OperationDefinitionNode = field(repr=False)
    schema: GraphQLSchema | None = field(default=None, repr=False)
    name: str | None = field(init=False)
    kind: str = field(init=False)
    variables: Mapping[str, VariableDefinitionNode] = field(init=False, repr=False)
    builtin_leaves: bool | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        """Read from the operation what every execution asks for."""
        node = self.operation
        declared = {v.variable.name.value: v for v in node.variable_definitions or ()}
        object.__setattr__(self, "name", node.name.value if node.name else None)
        object.__setattr__(self, "kind", node.operation.value)
        object.__setattr__(self, "variables", declared)

    @classmethod
    def parse(
        cls,
        text: str,
        schema: GraphQLSchema | None = None,
        operation: str | None = None,
        limits: Limits | None = None,
        introspection: bool = True,
    ) -> Document:
        """Parse `text`, check it against `schema` if there is one, and choose the operation.

        Parameters
        ----------
        text
            One or more operations with their fragments.
        schema
            What to check against; None checks the syntax alone.
        operation
            The name of the operation to run; None where there is only one.
        limits
            How much the text may ask for, which is found before it is checked; None for no limit.
        introspection
            Whether ``__schema`` and ``__type`` may be asked for; ``__typename`` always may.

        Raises
        ------
        QueryError
            With a line, a column and a caret for everything that is wrong, or the first limit that
            is passed.
        """
        ast = parse_document(text, limits)
        if schema is not None and (found := find_errors(text, ast, schema, limits, introspection)):
            hints = collect_hints(ast, schema) if introspection else None
            raise QueryError(text=text, problems=build_problems(found, hints))
        return cls(text, ast, select_operation(ast, text, operation), schema)

    @property
    def fragments(self) -> Mapping[str, FragmentDefinitionNode]:
        """The fragments of the document by name."""
        return {
            node.name.value: node
            for node in self.ast.definitions
            if isinstance(node, FragmentDefinitionNode)
        }

    @property
    def incremental_directives(self) -> Sequence[DirectiveNode]:
        """Its ``@defer`` and ``@stream``: where it has any, its answer may come in parts."""
        found: list[DirectiveNode] = []

        class DirectiveCollector(Visitor):
            def enter_directive(self, node: DirectiveNode, *_: object) -> None:
                if node.name.value in INCREMENTAL_DIRECTIVES:
                    found.append(node)

        visit(self.ast, DirectiveCollector())
        return found


def parse_document(text: str, limits: Limits | None = None) -> DocumentNode:
    """Parse query text.

    Raises
    ------
    QueryError
        If it has a syntax error, is nested deeper than a parser can follow, or passes a limit.
    """
    if not isinstance(text, str):
        msg = f"A query is text; got {type(text).__name__}."
        raise QueryError(msg)
    if not text.strip():
        msg = "The query is empty. Write one, for example: { __typename }"
        raise QueryError(msg)
    try:
        ast = parse_source(text) if limits is None else parse_within_limits(text, limits)
    except GraphQLError as error:
        found = error
    except RecursionError:
        found = GraphQLError("The query is nested too deeply to parse.")
    else:
        if limits is not None:
            check_limits(ast, text, limits)
        return ast
    raise QueryError(text=text, problems=build_problems([found]))


def find_errors(
    text: str,
    ast: DocumentNode,
    schema: GraphQLSchema,
    limits: Limits | None,
    introspection: bool,
) -> list[GraphQLError]:
    """Return the errors of a parsed text on a schema, no more than `limits` lets be told."""
    most = None if limits is None else limits.errors
    if not all(isinstance(node, ExecutableDefinitionNode) for node in ast.definitions):
        # The other rules would compare names with those of the text's own types, character by
        # character: two names of 40 kB take a quarter of an hour.
        return validate(schema, ast, [ExecutableDefinitionsRule])[:most]
    more: list[type[ASTValidationRule]] = []
    if can_be_infinite(text):
        more.append(FiniteFloatsRule)
    if not introspection:
        more.append(NoIntrospectionRule)
    if most is None:
        return validate_document(schema, ast, more=more)
    # Cut: one error more says that there are more.
    return validate_document(schema, ast, more=more, max_errors=most)[:most]


def select_operation(ast: DocumentNode, text: str, name: str | None) -> OperationDefinitionNode:
    """Return the operation to run.

    Raises
    ------
    QueryError
        If there is none of that name, none at all, or several and no name.
    """
    if not isinstance(name, (str, type(None))):
        msg = f"The name of an operation is text; got {type(name).__name__}."
        raise QueryError(msg)
    found = [node for node in ast.definitions if isinstance(node, OperationDefinitionNode)]
    names = [node.name.value for node in found if node.name]
    if name is None and len(found) == 1:
        return found[0]
    if name is not None:
        for node in found:
            if node.name and node.name.value == name:
                return node
        message = f"Unknown operation named '{name}'.{did_you_mean(suggest_names(name, names))}"
        hint = f"The document has: {', '.join(names) or 'no named operation'}."
    elif found:
        message = "Must provide operation name if query contains multiple operations."
        hint = f"Name one of: {', '.join(names)}."
    else:
        message = "Must provide an operation."
        hint = "The document holds only fragments or definitions. Add an operation: query { ... }"
    raise QueryError(text=text, problems=[Problem(message, hint=hint)])


def suggest_names(name: str, names: Sequence[str]) -> list[str]:
    """Return the names that may have been meant.

    Comparing two names takes the product of their lengths, so long names, and more than some, are
    not compared.
    """
    if len(name) > MAX_COMPARED_LENGTH:
        return []
    return suggestion_list(
        name, [n for n in names if len(n) <= MAX_COMPARED_LENGTH][:MAX_COMPARED_NAMES]
    )


def build_problems(
    errors: Sequence[GraphQLError | Mapping[str, Any]],
    hints: Mapping[tuple[int, int], str] | None = None,
) -> list[Problem]:
    """Return errors of graphql-core, or of a response, as problems with a place."""
    return [_build_problem(_get_error_members(error), hints or {}) for error in errors]


def _get_error_members(error: GraphQLError | Mapping[str, Any]) -> Mapping[str, Any]:
    return dict(error.formatted) if isinstance(error, GraphQLError) else error


def _build_problem(error: Mapping[str, Any], hints: Mapping[tuple[int, int], str]) -> Problem:
    message = error.get("message")
    places = error.get("locations")
    first = places[0] if isinstance(places, (list, tuple)) and places else None
    line, column = (first.get("line"), first.get("column")) if isinstance(first, dict) else (0, 0)
    text = message if isinstance(message, str) else "The endpoint gave an error without a message."
    if not (isinstance(line, int) and isinstance(column, int) and line > 0 and column > 0):
        return Problem(text, hint=_get_hint(error))  # GitHub sends line 0, or no location
    return Problem(text, line, column, hints.get((line, column)) or _get_hint(error))


def _get_hint(error: Mapping[str, Any]) -> str | None:
    """Return the hint that our own server puts beside an error."""
    extensions = error.get("extensions")
    hint = extensions.get("hint") if isinstance(extensions, dict) else None
    return sanitize_text(hint) if isinstance(hint, str) else None


class _HintVisitor(Visitor):
    """Finds selections left out, and input fields that do not exist; says what there is."""

    def __init__(
        self, schema: GraphQLSchema, types: TypeInfo, hints: dict[tuple[int, int], str]
    ) -> None:
        super().__init__()
        self.schema = schema
        self.types = types
        self.hints = hints

    def enter_field(self, node: FieldNode, *_: object) -> None:
        kind = self.types.get_type()
        named = get_named_type(kind) if kind is not None else None
        if node.selection_set is not None or not is_composite_type(named) or node.loc is None:
            return
        fields = getattr(named, "fields", None)  # a union has none
        said = [f"{named} has: {_join_names(list(fields))}."] if fields else []
        if is_abstract_type(named):
            said.extend(_describe_possible_types(named, self.schema))
        place = node.loc.start_token
        self.hints[place.line, place.column] = " ".join(said)

    def enter_object_field(self, node: ObjectFieldNode, *_: object) -> None:
        kind = self.types.get_parent_input_type()
        named = get_named_type(kind) if kind is not None else None
        if not is_input_object_type(named) or node.name.value in named.fields or node.loc is None:
            return
        place = node.loc.start_token
        self.hints[place.line, place.column] = f"{named} has: {_join_names(list(named.fields))}."


def _join_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_FIELDS_SHOWN} more" if len(names) > MAX_FIELDS_SHOWN else ""
    return f"{', '.join(names[:MAX_FIELDS_SHOWN])}{more}"


def _describe_possible_types(kind: GraphQLAbstractType, schema: GraphQLSchema) -> Iterator[str]:
    """Say which object types a union or an interface may be, and how to choose from one."""
    kinds = schema.get_possible_types(kind)
    if not kinds:
        return
    yield f"{kind.name} is one of: {_join_names([str(each) for each in kinds])}."
    example = max(kinds, key=lambda each: len(each.fields))  # it has most to choose from
    leaves = [
        name
        for name, field in example.fields.items()
        if is_leaf_type(get_named_type(field.type))
        and not any(map(is_required_argument, field.args.values()))
    ]
    leaves.sort(key=lambda name: name not in FAMILIAR_FIELDS)  # stable: the rest as it is declared
    shown = leaves[:MAX_EXAMPLE_FIELDS] or ["__typename"]
    more = ", ..." if example.fields.keys() - set(shown) else ""
    yield f"Choose with: ... on {example} {{ {', '.join(shown)}{more} }}"


def collect_hints(ast: DocumentNode, schema: GraphQLSchema) -> dict[tuple[int, int], str]:
    """Return the fields to choose from where one is missing or wrong, by line and column."""
    hints: dict[tuple[int, int], str] = {}
    types = TypeInfo(schema)
    visit(ast, TypeInfoVisitor(types, _HintVisitor(schema, types, hints)))
    return hints


def format_variable_type(node: VariableDefinitionNode) -> str:
    """Return the declared type of a variable as GraphQL text."""
    return print_ast(node.type)


def find_selected_field(document: Document, path: Any) -> FieldNode | None:
    """Return the field that a response path leads to, or the last one on the way that is known.

    Parameters
    ----------
    document
        What was executed.
    path
        Names of the response and positions in lists, as an error gives them; anything else has no
        field.
    """
    if not isinstance(path, Sequence) or isinstance(path, str):
        return None
    sets: list[Any] = [document.operation.selection_set]
    found: FieldNode | None = None
    for step in path:
        if not isinstance(step, str):
            continue
        here = [
            node
            for node in iterate_selected_fields(document, sets)
            if (node.alias or node.name).value == step
        ]
        if not here:
            break
        found = here[0]
        sets = [node.selection_set for node in here if node.selection_set is not None]
    return found


def iterate_selected_fields(document: Document, sets: list[Any]) -> Iterator[FieldNode]:
    """Yield the fields of selection sets, those of their fragments too."""
    fragments, seen, waiting = document.fragments, set[str](), list(reversed(sets))
    while waiting:
        for node in waiting.pop().selections:
            if isinstance(node, FieldNode):
                yield node
            elif not isinstance(node, FragmentSpreadNode):
                waiting.append(node.selection_set)
            elif node.name.value in fragments and node.name.value not in seen:
                seen.add(node.name.value)
                waiting.append(fragments[node.name.value].selection_set)


def locate_response_path(
    document: Document, path: Any, above: int, place: str, own: int | None = None
) -> str:
    """Return where a text selects what a response path leads to; "" if that is unknown.

    Parameters
    ----------
    document, path
        As for :func:`find_selected_field`.
    above
        How many lines stand above the text.
    place
        The word before a line number.
    own
        How many lines of the text were written there; below them are saved fragments.
    """
    node = find_selected_field(document, path)
    if node is None or node.loc is None:
        return ""
    line = node.loc.start_token.line
    if own is None or line <= own:
        return f"{place} {line + above}"
    within = [
        name
        for name, fragment in document.fragments.items()
        if fragment.loc is not None and fragment.loc.start <= node.loc.start < fragment.loc.end
    ]
    return f"saved fragment {within[0]}" if within else ""
