"""Documents: query text that is parsed, validated, and has its operation selected."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from graphql import (
    ArgumentNode,
    ASTValidationRule,
    DirectiveNode,
    DocumentNode,
    EnumValueNode,
    ExecutableDefinitionsRule,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLAbstractType,
    GraphQLError,
    GraphQLSchema,
    IntValueNode,
    NameNode,
    Node,
    ObjectFieldNode,
    OperationDefinitionNode,
    OperationType,
    SelectionNode,
    SelectionSetNode,
    StringValueNode,
    TypeInfo,
    TypeInfoVisitor,
    VariableDefinitionNode,
    Visitor,
    get_location,
    get_named_type,
    is_abstract_type,
    is_composite_type,
    is_enum_type,
    is_input_object_type,
    is_leaf_type,
    is_required_argument,
    print_ast,
    validate,
    visit,
)
from graphql import NoSchemaIntrospectionCustomRule as NoIntrospectionRule
from graphql.pyutils import suggestion_list
from graphql.pyutils.suggestion_list import LexicalDistance

from gqlnb.document.error_details import explain_message
from gqlnb.document.limit_checks import check_limits, parse_within_limits
from gqlnb.document.schema_text import dump_schema, load_schema
from gqlnb.document.syntax import find_nodes, find_syntax_hint, has_tokens, parse_source
from gqlnb.document.validation import FiniteFloatsRule, can_be_infinite, validate_document
from gqlnb.errors import (
    MAX_COMPARED_LENGTH,
    Problem,
    QueryError,
    join_names,
    sanitize_text,
    suggest,
)

if TYPE_CHECKING:
    from gqlnb.limits import Limits

MAX_FIELDS_SHOWN = 12  # two lines of a notebook cell; the schema browser shows the rest
MAX_EXAMPLE_FIELDS = 3
INCREMENTAL_DIRECTIVES = ("defer", "stream")
# The extension of a schema with a hint for unknown fields and arguments, such as that the schema is
# a part of a larger one.
UNKNOWN_NAME_HINT = "unknownNameHint"
EXECUTABLE_NODES = frozenset({OperationDefinitionNode, FragmentDefinitionNode})
QUOTED_NAME = re.compile(r"'(\w+)'")
FAMILIAR_FIELDS = frozenset({"id", "name", "title", "login"})  # listed first in examples


@dataclass(frozen=True, eq=False, slots=True)
class Document:
    """Parsed query text with the operation to run.

    Attributes
    ----------
    text
        The query text.
    ast
        graphql-core's document node.
    operation
        The operation to run.
    schema
        The schema it was validated against; None if it was not validated.
    name
        The name of the operation; None if it is anonymous.
    kind
        ``"query"``, ``"mutation"`` or ``"subscription"``.
    variables
        The variable definitions of the operation, by name without the ``$``.
    fragments
        The fragments of the document by name.
    fault
        The error for which the text is not validated though a schema is known; else empty.
    incremental_directives
        The ``@defer`` and ``@stream`` directives; with any, the response may come in parts.
    has_builtin_leaves
        Whether the engine knows that the selected leaves are enums and built-in scalars only.
    reads_columns
        A note for the engine: whether long frames of its answers are read, and not their data;
        None until either is.
    watch
        The engine's :class:`~gqlnb.engine.schema_watch.SchemaWatch` of the parts of the schema that
        the document uses; None if the document was not parsed by an executable schema.
    """

    text: str
    ast: DocumentNode = field(repr=False)
    operation: OperationDefinitionNode = field(repr=False)
    schema: GraphQLSchema | None = field(default=None, repr=False)
    fault: str = field(default="", repr=False)
    name: str | None = field(init=False)
    kind: str = field(init=False)
    variables: Mapping[str, VariableDefinitionNode] = field(init=False, repr=False)
    fragments: Mapping[str, FragmentDefinitionNode] = field(init=False, repr=False)
    incremental_directives: Sequence[DirectiveNode] = field(init=False, repr=False)
    has_builtin_leaves: bool = field(default=False, init=False, repr=False)
    reads_columns: bool | None = field(default=None, init=False, repr=False)
    watch: Any = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        """Set the attributes that are derived from the operation."""
        node = self.operation
        declared = {v.variable.name.value: v for v in node.variable_definitions or ()}
        object.__setattr__(self, "name", node.name.value if node.name else None)
        object.__setattr__(self, "kind", node.operation.value)
        object.__setattr__(self, "variables", declared)
        fragments = {
            one.name.value: one
            for one in self.ast.definitions
            if isinstance(one, FragmentDefinitionNode)
        }
        object.__setattr__(self, "fragments", fragments)
        directives: Sequence[DirectiveNode] = ()
        if "@" in self.text:  # most texts have no directives, and need no search
            nodes = find_nodes(self.ast, DirectiveNode)
            directives = [one for one in nodes if one.name.value in INCREMENTAL_DIRECTIVES]
        object.__setattr__(self, "incremental_directives", directives)

    def __copy__(self) -> Document:
        return self  # it is immutable

    def __deepcopy__(self, memo: object) -> Document:
        return self

    def __getstate__(self) -> list[object]:
        """Return the values to pickle, with the schema in a form that can always be pickled."""
        pickled = None if self.schema is None else dump_schema(self.schema)
        return [self.text, self.ast, self.operation, pickled, self.fault]

    def __setstate__(self, state: list[Any]) -> None:
        """Restore pickled values; those of earlier versions hold the schema itself, and more."""
        text, ast, operation, schema = state[:4]
        loaded = load_schema(schema) if isinstance(schema, bytes) else schema
        fault = state[4] if len(state) == 5 else ""
        Document.__init__(self, text, ast, operation, loaded, fault)

    def note_reading(self, *, columns: bool) -> None:
        """Note that the frame of an answer was read, or its data; one reading of data decides."""
        if not columns or self.reads_columns is None:
            object.__setattr__(self, "reads_columns", columns)

    @classmethod
    def parse(
        cls,
        text: str,
        schema: GraphQLSchema | None = None,
        operation: str | None = None,
        limits: Limits | None = None,
        *,
        introspection: bool = True,
    ) -> Document:
        """Parse and validate a text, and select the operation.

        Parameters
        ----------
        text
            One or more operations with their fragments.
        schema
            The schema to validate against; None to check only the syntax.
        operation
            The name of the operation to run; None if the text has only one.
        limits
            Limits on the complexity of the text, checked before validation; None for no limits.
        introspection
            Whether ``__schema`` and ``__type`` are allowed; ``__typename`` always is.

        Raises
        ------
        QueryError
            With line, column and caret for each error, or for the first limit exceeded.
        """
        ast = parse_document(text, limits)
        errors = []
        if schema is not None:
            errors = find_errors(text, ast, schema, limits, introspection=introspection)
        if schema is not None and errors:
            hints = collect_hints(ast, schema, errors) if introspection else None
            raise QueryError(text=text, problems=build_problems(errors, hints))
        return cls(text, ast, select_operation(ast, text, operation), schema)

    @classmethod
    def parse_unchecked(cls, text: str, operation: str | None = None, fault: str = "") -> Document:
        """Read a text of which the endpoint decides whether it is valid.

        Parameters
        ----------
        text
            The text. If it cannot be parsed, or has no such operation, the document has neither
            fields nor variables, and the kind that the words of the text suggest.
        operation
            The name of the operation to run; None where there is only one.
        fault
            The error for which it is not validated.

        Raises
        ------
        QueryError
            If it is empty, or not a string.
        """
        try:
            ast = parse_document(text)
            return cls(text, ast, select_operation(ast, text, operation), fault=fault)
        except QueryError as error:
            given: object = text
            if not isinstance(given, str) or not text.strip():
                raise
            fault = fault or str(error)
        # A query may be sent twice, so a text with the word of another kind is not taken for one.
        words = re.findall(r"\b(?:mutation|subscription)\b", text)
        node = OperationDefinitionNode(
            operation=OperationType(words[0] if words else "query"),
            name=None if operation is None else NameNode(value=operation),
            selection_set=SelectionSetNode(selections=()),
        )
        return cls(text, DocumentNode(definitions=()), node, fault=fault)

    @property
    def is_parsed(self) -> bool:
        """Whether the fields and variables are known; False for a text that cannot be parsed."""
        return bool(self.ast.definitions)

    @property
    def root_fields(self) -> frozenset[str]:
        """The names of the root fields of the operation, those in fragments included."""
        return frozenset(
            node.name.value
            for node in iterate_fields([self.operation.selection_set], self.fragments)
        )

    def find_field(self, path: object) -> FieldNode | None:
        """Return the field at a response path, or the last known field on the way.

        Parameters
        ----------
        path
            Response names and list indices, as in the path of an error; anything else returns None.
        """
        if not isinstance(path, Sequence) or isinstance(path, str):
            return None
        sets: list[SelectionSetNode] = [self.operation.selection_set]
        field: FieldNode | None = None
        for step in path:
            if not isinstance(step, str):
                continue
            matching = [
                node
                for node in iterate_fields(sets, self.fragments)
                if (node.alias or node.name).value == step
            ]
            if not matching:
                break
            field = matching[0]
            sets = [node.selection_set for node in matching if node.selection_set is not None]
        return field

    def locate_path(
        self, path: object, above: int, label: str = "line", own: int | None = None
    ) -> str:
        """Return the line that selects the field at a response path, as text; "" if unknown.

        Parameters
        ----------
        path
            As in :meth:`find_field`.
        above
            The number of lines above the text in its notebook cell.
        label
            The word before the line number.
        own
            The number of lines of the text that are in the cell; saved fragments follow them. None
            for all lines.
        """
        node = self.find_field(path)
        if node is None or node.loc is None:
            return ""
        line = get_location(node.loc.source, node.loc.start).line
        if own is None or line <= own:
            return f"{label} {line + above}"
        for name, fragment in self.fragments.items():
            if fragment.loc and fragment.loc.start <= node.loc.start < fragment.loc.end:
                return f"saved fragment {name}"
        return ""


def iterate_fields(
    sets: Iterable[SelectionSetNode],
    fragments: Mapping[str, FragmentDefinitionNode],
    includes: Callable[[SelectionNode], bool] | None = None,
) -> Iterator[FieldNode]:
    """Yield the fields of selection sets and of the fragments spread in them.

    Parameters
    ----------
    sets
        The selection sets.
    fragments
        The fragments by name; each is entered once.
    includes
        Returns whether a selection with directives is included; by default each is.
    """
    entered, waiting = set[str](), [*sets][::-1]
    while waiting:
        for node in waiting.pop().selections:
            if includes is not None and node.directives and not includes(node):
                continue
            if isinstance(node, FieldNode):
                yield node
            elif not isinstance(node, FragmentSpreadNode):
                waiting.append(node.selection_set)  # type: ignore[attr-defined]
            elif node.name.value in fragments and node.name.value not in entered:
                entered.add(node.name.value)
                waiting.append(fragments[node.name.value].selection_set)


def parse_document(text: str, limits: Limits | None = None) -> DocumentNode:
    """Parse query text.

    Raises
    ------
    QueryError
        If it has a syntax error, is nested too deeply for the parser, or exceeds a limit.
    """
    if not isinstance(text, str):
        msg = f"A query must be a string, not {type(text).__name__}."
        raise QueryError(msg)
    if not has_tokens(text):
        msg = "The query is empty. Write one, for example: { __typename }"
        raise QueryError(msg)
    try:
        ast = parse_source(text) if limits is None else parse_within_limits(text, limits)
    except GraphQLError as error:
        # Its traceback would refer to this frame, and keep what was parsed alive.
        failure = error.with_traceback(None)
    else:
        if limits is not None:
            check_limits(ast, text, limits)
        return ast
    raise QueryError(text=text, problems=build_problems([failure], find_syntax_hint(text, failure)))


def find_errors(
    text: str,
    ast: DocumentNode,
    schema: GraphQLSchema,
    limits: Limits | None,
    *,
    introspection: bool,
) -> list[GraphQLError]:
    """Return the validation errors of a parsed text, at most `limits.errors` of them."""
    most = None if limits is None else limits.errors
    if not EXECUTABLE_NODES.issuperset(map(type, ast.definitions)):
        # The other rules would look for similar names among the types defined in the text, by
        # edit distance: two names of 40 kB take a quarter of an hour.
        return validate(schema, ast, [ExecutableDefinitionsRule])[:most]
    more: list[type[ASTValidationRule]] = []
    if can_be_infinite(text):
        more.append(FiniteFloatsRule)
    if not introspection:
        more.append(NoIntrospectionRule)
    stop = {} if most is None else {"max_errors": most}
    problems = validate_document(schema, ast, more=more, **stop)
    return problems[:most]  # graphql-core appends one more error to say that it stopped


def select_operation(ast: DocumentNode, text: str, name: str | None) -> OperationDefinitionNode:
    """Return the operation with a name, or the only operation.

    Raises
    ------
    QueryError
        If the name is unknown, or is missing although there are several operations, or if there is
        no operation.
    """
    if not isinstance(name, (str, type(None))):
        msg = f"The name of an operation must be a string, not {type(name).__name__}."
        raise QueryError(msg)
    operations = [node for node in ast.definitions if isinstance(node, OperationDefinitionNode)]
    if name is None and len(operations) == 1:
        return operations[0]
    names = [node.name.value for node in operations if node.name]
    if name is not None:
        for node in operations:
            if node.name and node.name.value == name:
                return node
        message = f"Unknown operation named '{name}'.{suggest(name, names)}"
        hint = f"The document has: {', '.join(names) or 'no named operation'}."
    elif operations:
        message = "Must provide operation name if query contains multiple operations."
        hint = f"Name one of: {', '.join(names)}."
    else:
        message = "Must provide an operation."
        hint = "The document has only fragments or definitions. Add an operation: query { ... }"
    raise QueryError(text=text, problems=[Problem(message, hint=hint)])


def build_problems(
    errors: Iterable[GraphQLError | Mapping[str, Any]],
    hints: Mapping[int, str] | None = None,
) -> list[Problem]:
    """Return GraphQL errors as problems.

    Parameters
    ----------
    errors
        Errors of graphql-core, or of a response.
    hints
        Hints by offset in the text, for errors of graphql-core; they take precedence over a hint
        in the error's extensions.
    """
    problems = []
    for error in errors:
        members: Any = error.formatted if isinstance(error, GraphQLError) else error
        message = "The endpoint gave an error without a message."
        if isinstance(members.get("message"), str):
            message = explain_message(members)
        extensions = members.get("extensions")
        inner = extensions.get("errors") if isinstance(extensions, dict) else None
        if isinstance(inner, list) and any(isinstance(e, dict) and "locations" in e for e in inner):
            # Directus puts all errors of validation into one without a location.
            plain = ({**member, "extensions": None} for member in inner if isinstance(member, dict))
            problems += build_problems(plain)
            continue
        hint = extensions.get("hint") if isinstance(extensions, dict) else None
        hint = sanitize_text(hint) if isinstance(hint, str) else None
        if hints and isinstance(error, GraphQLError):
            hint = hints.get(next(iter(error.positions or ()), -1), hint)
        match members.get("locations"):
            case [{"line": int(line), "column": int(column)}, *_] if line > 0 and column > 0:
                problems.append(Problem(message, line, column, hint))
            case _:  # GitHub sends line 0 where it has no location
                problems.append(Problem(message, hint=hint))
    return problems


class _HintVisitor(Visitor):
    """Collects hints for missing selection sets, unknown names, and variables in strings."""

    def __init__(self, schema: GraphQLSchema, types: TypeInfo, suggested: Container[int]) -> None:
        super().__init__()
        self.schema = schema
        self.types = types
        self.suggested = suggested
        self.hints: dict[int, str] = {}
        self.names_in_strings: set[str] = set()  # after a dollar sign

    def _add_hint(self, node: Node, *sentences: str) -> None:
        if node.loc is not None and any(sentences):
            self.hints[node.loc.start] = " ".join(filter(None, sentences))

    def _add_name_hint(self, node: FieldNode | ArgumentNode, names: str) -> None:
        assert node.loc is not None  # noqa: S101 - every parsed node has its place
        unknown = "" if node.loc.start in self.suggested else UNKNOWN_NAME_HINT
        self._add_hint(node, names, self.schema.extensions.get(unknown, ""))

    def enter_argument(self, node: ArgumentNode, *_: object) -> None:
        definition = self.types.get_field_def()
        if definition is not None and self.types.get_argument() is None:
            names = _list_names(node.name.value, definition.args)
            self._add_name_hint(node, names and f"The arguments are: {names}.")

    def enter_field(self, node: FieldNode, *_: object) -> None:
        parent = self.types.get_parent_type()
        if self.types.get_field_def() is None and parent is not None:
            names = _list_names(node.name.value, getattr(parent, "fields", ()))
            self._add_name_hint(node, names and f"{parent} has: {names}.")
            return
        named = get_named_type(self.types.get_type())
        if node.selection_set is not None or not is_composite_type(named):
            return
        fields = getattr(named, "fields", None)  # a union has none
        sentences = [f"{named} has: {join_names(fields, MAX_FIELDS_SHOWN)}."] if fields else []
        if is_abstract_type(named):
            sentences.extend(_describe_possible_types(named, self.schema))
        self._add_hint(node, *sentences)

    def enter_object_field(self, node: ObjectFieldNode, *_: object) -> None:
        named = get_named_type(self.types.get_parent_input_type())
        if is_input_object_type(named) and node.name.value not in named.fields:
            self._add_hint(node, f"{named} has: {join_names(named.fields, MAX_FIELDS_SHOWN)}.")

    def enter_enum_value(
        self, node: EnumValueNode | IntValueNode | StringValueNode, *_: object
    ) -> None:
        named = get_named_type(self.types.get_input_type())
        if is_enum_type(named) and node.value not in named.values:
            names = _list_names(node.value, named.values)
            self._add_hint(node, names and f"{named} has: {names}.")

    enter_int_value = enter_enum_value

    def enter_string_value(self, node: StringValueNode, *_: object) -> None:
        self.names_in_strings |= set(re.findall(r"\$(\w+)", node.value))
        self.enter_enum_value(node)

    def leave_document(self, node: DocumentNode, *_: object) -> None:
        # At the definition, to which the error about an unused variable points.
        for definition in node.definitions:
            for variable in getattr(definition, "variable_definitions", None) or ():
                name = variable.variable.name.value
                if name in self.names_in_strings:
                    self._add_hint(
                        variable,
                        f"${name} inside quotes is text, not the variable. Use ${name} in place of "
                        "the whole string, and put the other words into its value.",
                    )


def _list_names(wrong: str, names: Collection[str]) -> str:
    """Return the names that a wrong one may stand for; "" if the error suggests some of them."""
    if suggestion_list(wrong, names):
        return ""
    # Of `price`, `priceRange` is the first: services rename a field by adding a word.
    likely = sorted(names, key=lambda name: wrong.lower() not in name.lower())
    return join_names(likely, MAX_FIELDS_SHOWN)


def _describe_possible_types(kind: GraphQLAbstractType, schema: GraphQLSchema) -> Iterator[str]:
    """Yield the object types of a union or an interface, and an example of a selection."""
    kinds = schema.get_possible_types(kind)
    if not kinds:
        return
    yield f"{kind.name} is one of: {join_names(map(str, kinds), MAX_FIELDS_SHOWN)}."
    example = max(kinds, key=lambda possible: len(possible.fields))
    leaves = [
        name
        for name, declared in example.fields.items()
        if is_leaf_type(get_named_type(declared.type))
        and not any(map(is_required_argument, declared.args.values()))
    ]
    leaves.sort(key=lambda name: name not in FAMILIAR_FIELDS)  # stable: then in declared order
    selected = leaves[:MAX_EXAMPLE_FIELDS] or ["__typename"]
    more = ", ..." if example.fields.keys() - set(selected) else ""
    yield f"Choose with: ... on {example} {{ {', '.join(selected)}{more} }}"


def suggests_near_name(message: str) -> bool:
    """Return whether an error of graphql-core about an unknown name suggests what was meant.

    Its suggestions may be far-fetched: ``releases`` for ``rulesets``. A misspelling differs from
    the name in a letter, or in one of five.
    """
    said, _, suggested = message.partition("Did you mean ")
    words = QUOTED_NAME.findall(said)
    if suggested.startswith("to use an inline fragment"):
        return True
    if not words or len(words[0]) > MAX_COMPARED_LENGTH:
        return False
    distance, most = LexicalDistance(words[0]), 1 + len(words[0]) // 5
    return any(distance.measure(name, most) is not None for name in QUOTED_NAME.findall(suggested))


def collect_hints(
    ast: DocumentNode, schema: GraphQLSchema, errors: Iterable[GraphQLError]
) -> dict[int, str]:
    """Return lists of valid fields for missing or unknown ones, by offset in the text."""
    types = TypeInfo(schema)
    suggested = {
        place
        for error in errors
        if suggests_near_name(error.message)
        for place in error.positions or ()
    }
    visitor = _HintVisitor(schema, types, suggested)
    visit(ast, TypeInfoVisitor(types, visitor))
    return visitor.hints


def format_variable_type(node: VariableDefinitionNode) -> str:
    """Return the declared type of a variable as GraphQL text."""
    return print_ast(node.type)
