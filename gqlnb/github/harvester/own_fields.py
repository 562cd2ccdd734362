"""The caller's own fields of a harvest: a selection on Repository, checked against the schema."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import msgspec
from graphql import (
    REMOVE,
    SKIP,
    DocumentNode,
    EnumValueNode,
    FieldNode,
    FragmentSpreadNode,
    GraphQLError,
    InlineFragmentNode,
    OperationDefinitionNode,
    OperationType,
    SelectionSetNode,
    VariableNode,
    Visitor,
    is_abstract_type,
    visit,
)

from gqlnb.document.document import Document
from gqlnb.document.syntax import (
    find_nodes,
    find_position,
    normalize_document,
    parse_source,
)
from gqlnb.errors import Problem, QueryError, sanitize_text
from gqlnb.github.query_cost import iter_fields
from gqlnb.result.shape import Shape, build_response_shape

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from graphql import FragmentDefinitionNode, GraphQLSchema, SelectionNode

NODE_TYPE = "Repository"
#: The prefix of the response names of the harvest's own fields, beside those of the caller.
ALIAS_PREFIX = "harvest_"
#: The member of a node's JSON with the reasons of the errors in its fields.
ERRORS_KEY = f"{ALIAS_PREFIX}errors"
BASE_COLUMNS = ("name", "owner", "stargazers", "created_at", "id")
_SAME_FIELDS = {"name": "name", "id": "id"}  # columns that a field of the caller may repeat
_HEAD = f'{{ search(query: "", type: REPOSITORY, first: 1) {{ nodes {{ ... on {NODE_TYPE} {{\n'
_TAIL = "\n} } } }"
_DOCUMENT_START = re.compile(r"(?:\s|,|#[^\n]*)*(?:\{|(?:query|mutation|subscription|fragment)\b)")


class RowShape(msgspec.Struct, omit_defaults=True):
    """The part of a :class:`Shape` that decides about columns, as it is written to a folder."""

    type: str | None = None
    lists: int = 0
    values: tuple[str, ...] = ()
    children: dict[str, RowShape] = {}
    field: str = ""
    like: str = ""

    @classmethod
    def extract(cls, shape: Shape) -> RowShape:
        """Return the part of a shape and of the shapes below it."""
        children = {name: cls.extract(child) for name, child in shape.children.items()}
        return cls(shape.type, shape.lists, shape.values, children, shape.field_name, shape.like)

    def restore(self) -> Shape:
        """Return a shape in which everything may be null."""
        children = {name: child.restore() for name, child in self.children.items()}
        return Shape(
            self.type,
            self.lists,
            self.values,
            children,
            composite=bool(children),
            field_name=self.field,
            like=self.like,
        )


class OwnFields(msgspec.Struct, frozen=True):
    """Fields that a harvest fetches of each repository, beside its own.

    Attributes
    ----------
    text
        The selection on one line, without fragments and comments.
    shape
        The shape of a repository with them.
    """

    text: str
    shape: RowShape


def parse_fields(text: str, schema: GraphQLSchema, source: str) -> OwnFields:
    """Check fields against the schema of an endpoint.

    Parameters
    ----------
    text
        A selection on Repository; or a query with ``search(type: REPOSITORY)``, of which the
        selection on Repository is taken, with its fragments inlined.
    schema
        The schema of the endpoint.
    source
        The endpoint, as it is shown.

    Returns
    -------
    OwnFields
        The selection and its shape.

    Raises
    ------
    QueryError
        If the text has an error, with line, column and caret; if it uses variables, or names that
        the harvest needs.
    """
    if not str(text).strip() or type(text) is not str:
        msg = (
            "fields= takes a selection on Repository, such as 'forkCount pushedAt', "
            f"not {sanitize_text(repr(text), 80)}."
        )
        raise QueryError(msg)
    if NODE_TYPE not in schema.type_map:
        msg = f"The schema of {source} is not GitHub-shaped: it has no type {NODE_TYPE!r}."
        raise QueryError(msg)
    document = _parse_whole_query(text, schema) if _DOCUMENT_START.match(text) else None
    if document is None:
        document = _parse_selection(text, schema)
    found = build_response_shape(document, {}).children["search"].children["nodes"]
    _check_names(found)
    (search,) = document.operation.selection_set.selections
    return OwnFields(_print_selections(_get_repository_set(search)), RowShape.extract(found))


# -- a selection


def _parse_selection(text: str, schema: GraphQLSchema) -> Document:
    """Return the document of a search with a selection on Repository, with or without braces."""
    text = remove_braces(text)
    try:
        document = Document.parse(f"{_HEAD}{text}{_TAIL}", schema)
        (search,) = document.operation.selection_set.selections
        _get_repository_set(search)
    except QueryError as error:
        problems = [_move_problem(problem, text) for problem in error.problems]
    except ValueError:  # braces that close those around the text
        problems = [Problem("Syntax Error: the fields have a '}' too many.")]
    else:
        return document
    raise QueryError(text=text, problems=problems)


def remove_braces(text: str) -> str:
    """Return a selection with spaces instead of the braces around it."""
    stripped = text.strip()
    if stripped.startswith("{") and stripped.endswith("}"):
        text = text.replace("{", " ", 1)
        text = " ".join(text.rsplit("}", 1))
    return text


def _move_problem(problem: Problem, text: str) -> Problem:
    """Return a problem of the document around a text at its place in the text."""
    if "Variable" in problem.message and "is not defined" in problem.message:
        problem = replace(problem, hint="fields= takes no variables: write the value itself.")
    if problem.line is None:
        return problem
    lines = text.split("\n")
    if problem.line - 1 > len(lines):  # the parser did not meet its end where the text ends
        fault = "have a '}' too many"
        if text.count("}") <= text.count("{"):
            fault = "end too early, with an open '{' or '('"
        message = f"Syntax Error: the fields {fault}."
        return replace(problem, message=message, line=len(lines), column=len(lines[-1]) + 1)
    return replace(problem, line=max(1, problem.line - 1))


def _get_repository_set(search: SelectionNode) -> SelectionSetNode:
    """Return the selections on Repository of the search that surrounds them.

    Raises
    ------
    ValueError
        If it is another search.
    """
    node: Any = search
    for _ in range(2):
        (node,) = node.selection_set.selections
    selections: SelectionSetNode = node.selection_set
    return selections


def _print_selections(selections: SelectionSetNode) -> str:
    operation = OperationDefinitionNode(operation=OperationType.QUERY, selection_set=selections)
    return normalize_document(DocumentNode(definitions=(operation,)))[2:-2]


def _check_names(repository: Shape) -> None:
    """Raise QueryError if a response name is needed by the harvest."""
    for name, child in repository.children.items():
        # The rows of a connection are in the column with its name.
        items = [child.children[key] for key in ("nodes", "edges") if key in child.children]
        is_list = child.lists or any(each.lists for each in items)
        is_column = name in BASE_COLUMNS and (is_list or not child.composite)
        if is_column and child.field_name != _SAME_FIELDS.get(name):
            msg = f"{name!r} is a column of every harvest. Give {child.field_name!r} an alias."
        elif name.startswith(ALIAS_PREFIX):
            msg = f"{name!r}: names with {ALIAS_PREFIX!r} are the harvest's own. Choose another."
        else:
            continue
        raise QueryError(msg)


def drop_fields(text: str, names: Collection[str]) -> str:
    """Return a selection without the fields of these response names; the id is always left."""

    class Dropper(Visitor):
        def enter_field(self, node: FieldNode, *_: object) -> object:
            return REMOVE if (node.alias or node.name).value in names else SKIP

        def leave_inline_fragment(self, node: InlineFragmentNode, *_: object) -> object:
            return None if node.selection_set.selections else REMOVE

    (operation,) = parse_source(f"{{ {text} {ALIAS_PREFIX}id: id }}").definitions
    selections = cast("OperationDefinitionNode", operation).selection_set
    return _print_selections(visit(selections, Dropper()))


# -- a whole query


def _parse_whole_query(text: str, schema: GraphQLSchema) -> Document | None:
    """Return the document with the selection of a query; None if the text is a selection."""
    try:
        ast = parse_source(text)
    except GraphQLError:
        ast = None
    if ast is not None and not any(_iterate_searches(ast)) and text.lstrip().startswith("{"):
        return None  # a selection in braces
    document = Document.parse(text, schema)
    searches = _iterate_searches(visit(document.ast, _SpreadInliner(document.fragments)))
    selections = tuple(_iterate_repository(next(searches, None), schema))
    if not selections:
        msg = (
            "fields= is a query without the selection to take. It needs: "
            f"search(type: REPOSITORY, ...) {{ nodes {{ ... on {NODE_TYPE} {{ ... }} }} }}"
        )
        raise QueryError(msg)
    taken = SelectionSetNode(selections=selections)
    hint = "fields= takes no variables: write the value itself."
    problems = []
    for node in find_nodes(taken, VariableNode):
        line, column = find_position(node) or (None, None)
        problems.append(Problem(f"Variable '${node.name.value}' in fields=.", line, column, hint))
    if problems:
        raise QueryError(text=text, problems=problems)
    return _parse_selection(_print_selections(taken), schema)


def _iterate_searches(ast: DocumentNode) -> Iterator[FieldNode]:
    """Yield the searches for repositories of all operations."""
    for definition in ast.definitions:
        if not isinstance(definition, OperationDefinitionNode):
            continue
        for node in definition.selection_set.selections:
            if isinstance(node, FieldNode) and node.name.value == "search":
                kinds = [it.value for it in node.arguments or () if it.name.value == "type"]
                if any(isinstance(it, EnumValueNode) and it.value == "REPOSITORY" for it in kinds):
                    yield node


def _iterate_repository(search: FieldNode | None, schema: Any) -> Iterator[SelectionNode]:  # noqa: ANN401 - of both versions of graphql-core
    """Yield the selections of a search that apply to repositories."""
    for path in (("nodes",), ("edges", "node")):
        sets = [search.selection_set] if search and search.selection_set else []
        for name in path:
            sets = [
                node.selection_set
                for node in iter_fields(sets, {}, {})
                if node.name.value == name and node.selection_set
            ]
        for node in (node for each in sets for node in each.selections):
            on = getattr(node, "type_condition", None)
            kind = schema.get_type(NODE_TYPE if on is None else on.name.value)
            if on is not None and kind.name == NODE_TYPE and not node.directives:
                yield from cast("InlineFragmentNode", node).selection_set.selections
            elif kind.name == NODE_TYPE or (
                is_abstract_type(kind) and schema.is_sub_type(kind, schema.get_type(NODE_TYPE))
            ):
                yield node


class _SpreadInliner(Visitor):
    """Replaces spreads of named fragments by inline fragments."""

    def __init__(self, fragments: Mapping[str, FragmentDefinitionNode]) -> None:
        super().__init__()
        self._fragments = fragments

    def enter_fragment_spread(self, node: FragmentSpreadNode, *_: object) -> InlineFragmentNode:
        fragment = self._fragments[node.name.value]
        return InlineFragmentNode(
            type_condition=fragment.type_condition,
            directives=node.directives,
            selection_set=fragment.selection_set,
        )
