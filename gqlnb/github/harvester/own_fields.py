"""The caller's own fields of a harvest: a selection on Repository, checked against the schema."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
from graphql import VariableNode, is_abstract_type

from gqlnb.document.document import Document
from gqlnb.document.selections import SelectionWriter, iterate_fields, parse_selections
from gqlnb.document.syntax import find_nodes, parse_source
from gqlnb.errors import Problem, QueryError, sanitize_text
from gqlnb.result.shape import Shape, build_response_shape

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from graphql import GraphQLSchema

    from gqlnb.document.selections import EditableSelection

NODE_TYPE = "Repository"
#: The prefix of the response names of the harvest's own fields, beside those of the caller.
ALIAS_PREFIX = "harvest_"
#: The member of a node's JSON with the reasons of the errors in its fields.
ERRORS_KEY = f"{ALIAS_PREFIX}errors"
BASE_COLUMNS = ("name", "owner", "stargazers", "created_at", "id")
_SAME_FIELDS = {"name": "name", "id": "id"}  # columns that a field of the caller may repeat
_HEAD = f'{{ search(query: "", type: REPOSITORY, first: 1) {{ nodes {{ ... on {NODE_TYPE} {{\n'
_TAIL = "\n} } } }"
NO_VARIABLES = "fields= takes no variables: write the value itself."
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
        The selection, without named fragments and comments.
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
    if _DOCUMENT_START.match(text):
        text = _take_selection(text, schema)
    document = _parse_selection(text, schema)
    found = build_response_shape(document, {}).children["search"].children["nodes"]
    _check_names(found)
    return OwnFields(_write_selections(_get_repository_set(document)), RowShape.extract(found))


# -- a selection


def _parse_selection(text: str, schema: GraphQLSchema) -> Document:
    """Return the document of a search with a selection on Repository, with or without braces."""
    text = remove_braces(text)
    try:
        document = Document.parse(f"{_HEAD}{text}{_TAIL}", schema)
        _get_repository_set(document)
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
        problem = replace(problem, hint=NO_VARIABLES)
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


def _get_repository_set(document: Document) -> Sequence[EditableSelection]:
    """Return the selections on Repository in the search that surrounds them.

    Raises
    ------
    ValueError
        If it is another search.
    """
    selections: Sequence[EditableSelection] = parse_selections(document)
    for _ in range(3):
        (around,) = selections
        selections = around.inner or ()
    return selections


def _write_selections(
    selections: Sequence[EditableSelection], omitted: Collection[int] = ()
) -> str:
    return SelectionWriter(omitted).write_set(selections)[2:-2]


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
    """Return a selection without the fields of these response names; the id is always left.

    The text itself if it has none of them.
    """
    selections = parse_selections(Document.parse(f"{{ {text} {ALIAS_PREFIX}id: id }}"))
    fields = [*iterate_fields(selections)]
    omitted = {id(each) for each, _ in fields if each.key in names}
    if not omitted:
        return text
    for part in (part for _, around in fields for part in around):
        if all(id(each) in omitted for each, _ in iterate_fields(part.inner or ())):
            omitted.add(id(part))
    return _write_selections(selections, omitted)


def _take_selection(text: str, schema: GraphQLSchema) -> str:
    """Return the selection on Repository of a query; or the text itself if it is a selection."""
    if text.lstrip().startswith("{"):
        fields: Collection[str] = ()
        with suppress(QueryError):  # which the selection will have, too
            fields = Document.parse(text).root_fields
        if "search" not in fields:
            return text  # a selection in braces
    search = next(_iterate_searches(parse_selections(Document.parse(text, schema))), None)
    selections = [*_iterate_repository(search, schema)] if search is not None else []
    if not selections:
        msg = (
            "fields= is a query without the selection to take. It needs: "
            f"search(type: REPOSITORY, ...) {{ nodes {{ ... on {NODE_TYPE} {{ ... }} }} }}"
        )
        raise QueryError(msg)
    taken = _write_selections(selections)
    nodes = find_nodes(parse_source(f"{{ {taken} }}"), VariableNode)
    problems = []
    for name in dict.fromkeys(node.name.value for node in nodes):
        lines = text[: text.rindex(f"${name}")].split("\n")  # behind its declaration
        place = len(lines), len(lines[-1]) + 1
        problems.append(Problem(f"Variable '${name}' in fields=.", *place, NO_VARIABLES))
    if problems:
        raise QueryError(text=text, problems=problems)
    return taken


def _iterate_searches(selections: Sequence[EditableSelection]) -> Iterator[EditableSelection]:
    """Yield the searches for repositories."""
    for each, _ in iterate_fields(selections):
        kind = each.arguments.get("type")
        is_search = each.name == "search" and not each.directives
        if is_search and getattr(kind, "value", None) == "REPOSITORY":
            yield each


def _iterate_repository(search: EditableSelection, schema: Any) -> Iterator[EditableSelection]:  # noqa: ANN401 - of both versions of graphql-core
    """Yield the selections of a search that apply to repositories."""
    for path in (("nodes",), ("edges", "node")):
        selections = search.inner or []
        for name in path:
            found = [each for each, _ in iterate_fields(selections) if each.name == name]
            fields = [each for each in found if not each.directives]
            selections = [below for each in fields for below in each.inner or ()]
        for each in selections:
            kind = schema.get_type(each.on or NODE_TYPE)
            if each.on == NODE_TYPE and not each.directives:
                yield from each.inner or ()
            elif kind.name == NODE_TYPE or (
                is_abstract_type(kind) and schema.is_sub_type(kind, schema.get_type(NODE_TYPE))
            ):
                yield each
