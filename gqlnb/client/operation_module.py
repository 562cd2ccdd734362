"""A Python module for the operations of documents: typed functions and model classes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphql import (
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLInputObjectType,
    Node,
    OperationDefinitionNode,
    Visitor,
    get_named_type,
    is_non_null_type,
    is_required_input_field,
    print_ast,
    type_from_ast,
    visit,
)

from gqlnb.document.document import Document, parse_document
from gqlnb.errors import QueryError, sanitize_text
from gqlnb.result.model_classes import (
    ModelBuilder,
    ModelClass,
    ModelField,
    PydanticClass,
    add_typenames,
    to_pascal_case,
)

if TYPE_CHECKING:
    from graphql import GraphQLSchema

__all__ = ["add_document_typenames", "write_module"]

HEADER = '''\
"""Typed operations and their model classes. Written by `gqlnb codegen`; do not edit."""
# fmt: off
# ruff: noqa

from __future__ import annotations

'''
MAX_LINE = 88  # as black and ruff have it


def write_module(
    texts: Mapping[str, str],
    schema: GraphQLSchema,
    likes: Mapping[str, str],
    *,
    pydantic: bool = False,
) -> str:
    """Return the source of a module for the operations of some documents.

    Parameters
    ----------
    texts
        The documents by name, of their file say. A fragment of one may be used in the others.
    schema
        The schema of the endpoint.
    likes
        The known scalars that scalars of the schema are like, by name, beside those recognized.
    pydantic
        Whether the classes are models of pydantic, rather than Structs of msgspec.

    Returns
    -------
    str
        Source that needs gqlnb and the library of its classes. For each operation it has the text,
        the classes of its answer, and functions that execute it.

    Raises
    ------
    QueryError
        If a document is wrong, or there is no operation in any.
    """
    operations, fragments = _read_definitions(texts)
    style = PydanticClass if pydantic else ModelClass
    builder = ModelBuilder(schema, needs_typenames=True, likes=likes, style=style)
    inputs = _InputWriter(builder)
    functions = []
    for operation in operations:
        try:
            document = Document.parse(_compose_text(operation, texts, fragments), schema)
        except QueryError as error:
            msg = f"{sanitize_text(operation.file, 80)}: {error}"
            raise QueryError(msg) from error
        builder.typename_places.clear()
        model = builder.add_operation(document.operation, document.fragments)
        functions.append(_write_functions(document, model, builder, inputs))
    body = "\n\n".join([builder.format(), *inputs.format(), *functions])
    return HEADER + _select_imports(style.imports, body) + "\n" + re.sub(r"\n{3,}", "\n\n\n", body)


def add_document_typenames(document: Document) -> str:
    """Return the text of a document with ``__typename`` where its models need it."""
    if document.schema is None:
        return document.text
    builder = ModelBuilder(document.schema, needs_typenames=True)
    builder.add_operation(document.operation, document.fragments)
    return add_typenames(document.text, builder.typename_places)


# -- definitions of several documents


@dataclass(frozen=True, slots=True)
class Definition:
    """An operation or a fragment, with the name of its document."""

    file: str
    node: Any
    spreads: frozenset[str]


class _SpreadCollector(Visitor):
    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def enter_fragment_spread(self, node: FragmentSpreadNode, *_: object) -> None:
        self.found.add(node.name.value)


def _read_definitions(
    texts: Mapping[str, str],
) -> tuple[list[Definition], dict[str, Definition]]:
    """Return the operations, and the fragments by name; raise QueryError for a repeated name."""
    operations: dict[str, Definition] = {}
    fragments: dict[str, Definition] = {}
    for file, text in texts.items():
        shown = sanitize_text(file, 80)
        try:
            ast = parse_document(text)
        except QueryError as error:
            msg = f"{shown}: {error}"
            raise QueryError(msg) from error
        for node in ast.definitions:
            if not isinstance(node, (OperationDefinitionNode, FragmentDefinitionNode)):
                msg = f"{shown}: only operations and fragments are allowed here."
                raise QueryError(msg)
            collector = _SpreadCollector()
            visit(node, collector)
            known = fragments if isinstance(node, FragmentDefinitionNode) else operations
            name = node.name.value if node.name else ""
            if name in known:
                msg = f"{shown}: {name or 'An operation without a name'} is defined twice."
                raise QueryError(msg)
            known[name] = Definition(file, node, frozenset(collector.found))
    if not operations:
        msg = "There is no operation. Add one, for example: query Viewer { viewer { login } }"
        raise QueryError(msg)
    return list(operations.values()), fragments


# The text has the definitions where they are in their file, so that errors name the right line;
# fragments of other files follow.
def _compose_text(
    operation: Definition, texts: Mapping[str, str], fragments: Mapping[str, Definition]
) -> str:
    """Return the text of an operation with the fragments that it uses, and nothing else."""
    used: dict[str, Definition] = {}
    waiting = sorted(operation.spreads)
    while waiting:
        name = waiting.pop(0)
        if name in fragments and name not in used:
            used[name] = fragments[name]
            waiting += sorted(fragments[name].spreads)
    own = [operation, *(each for each in used.values() if each.file == operation.file)]
    parts, end, text = [], 0, texts[operation.file]
    for node in sorted((each.node for each in own), key=lambda node: node.loc.start):
        parts += [re.sub(r"[^\r\n]", " ", text[end : node.loc.start]), _slice_text(text, node)]
        end = node.loc.end
    others = [each for each in used.values() if each.file != operation.file]
    return "\n".join(["".join(parts), *(_slice_text(texts[it.file], it.node) for it in others)])


def _slice_text(text: str, node: Node) -> str:
    return text[node.loc.start : node.loc.end] if node.loc else print_ast(node)


# -- functions


def _write_functions(
    document: Document, model: str, builder: ModelBuilder, inputs: _InputWriter
) -> str:
    """Return the text constant of an operation and the functions that execute it."""
    names = builder.names
    stem = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", model).lower()
    constant = names.reserve(f"{stem}_text".upper())
    text = add_typenames(document.text, builder.typename_places)
    lines = [line for line in text.splitlines(keepends=True) if line.strip()]
    literals = "".join(f"    {line!r}\n" for line in lines)
    parameters, given = inputs.write_parameters(document)
    head = ["client: Client", *(["*", *parameters] if parameters else [])]
    arguments = f"{constant}, {given}" if given else constant
    parts = [f"{constant} = (\n{literals})\n"]
    is_stream = document.kind == "subscription"
    for prefix in ("", "a"):
        keyword = "async " if prefix else ""
        if is_stream:
            name, answer = names.reserve(f"{prefix}subscribe_{stem}"), f"Iterator[{model}]"
            answer = f"Async{answer}" if prefix else answer
            body = [
                f"{keyword}with client.{prefix}subscribe({arguments}) as events:",
                f"    {keyword}for event in events:",
                f"        yield event.raise_for_errors().models({model})",
            ]
        else:
            name, answer = names.reserve(f"{prefix}execute_{stem}"), model
            wait = "await " if prefix else ""
            body = [
                f"result = {wait}client.{prefix}execute({arguments})",
                f"return result.raise_for_errors().models({model})",
            ]
        signature = f"{keyword}def {name}({', '.join(head)}) -> {answer}:"
        if len(signature) > MAX_LINE:
            listed = "".join(f"    {it},\n" for it in head)
            signature = f"{keyword}def {name}(\n{listed}) -> {answer}:"
        about = "Iterate over the events of" if is_stream else "Execute"
        docstring = f'"""{about} `{constant}`, and return {model}; raise if a field failed."""'
        if is_stream:
            docstring = f'"""{about} `{constant}` as {model}; raise if a field failed."""'
        parts.append("\n    ".join([signature, docstring, *body]) + "\n")
    return "\n\n".join(parts)


class _InputWriter:
    """Writes the parameters of operations, and the classes of their input objects."""

    def __init__(self, builder: ModelBuilder) -> None:
        self._builder = builder
        self._names: dict[str, str] = {}
        self._classes: list[ModelClass] = []

    def format(self) -> list[str]:
        """Return the source of the classes of input objects."""
        return [each.format(self._builder.names) for each in self._classes]

    def write_parameters(self, document: Document) -> tuple[list[str], str]:
        """Return the parameters for the variables of an operation, and the mapping of them.

        Variables that need not be given are `msgspec.UNSET` by default, and then not sent.
        """
        schema: Any = document.schema
        annotations = {}
        for name, node in document.variables.items():
            kind: Any = type_from_ast(schema, node.type)
            required = is_non_null_type(kind) and node.default_value is None
            text = self._annotate(kind)
            if not required:
                text += " | msgspec.UnsetType = msgspec.UNSET"
            annotations[name] = text
        names = self._builder.names.get_attribute_names(annotations, {"client", "result", "events"})
        parameters = [f"{names[key]}: {text}" for key, text in annotations.items()]
        given = ", ".join(f"{key!r}: {name}" for key, name in names.items())
        return parameters, given and f"{{{given}}}"

    def _annotate(self, kind: Any) -> str:  # noqa: ANN401 - an input type
        named = get_named_type(kind)
        is_object = isinstance(named, GraphQLInputObjectType)
        inner = self._add_input(named) if is_object else self._builder.annotate_leaf(named)
        return self._builder.wrap_type(kind, inner)

    def _add_input(self, kind: GraphQLInputObjectType) -> str:
        """Add the class of an input object, which may contain itself, and return its name."""
        name = self._names.get(kind.name)
        if name is None:
            name = self._builder.names.reserve(to_pascal_case(kind.name))
            self._names[kind.name] = name
            model = self._builder.style(name, is_input=True)
            self._classes.append(model)
            for key, each in kind.fields.items():
                annotation, default = self._annotate(each.type), ""
                if not is_required_input_field(each):
                    absent, default = model.absent
                    if not annotation.endswith(f" | {absent}"):
                        annotation += f" | {absent}"
                model.fields.append(ModelField(key, annotation, default))
        return name


def _select_imports(imports: str, body: str) -> str:
    """Return the import statements of a module without the names that its body does not use."""
    words = set(re.findall(r"\w+", body))
    kept = []
    first, last = "from collections.abc import AsyncIterator, Iterator", "from gqlnb import Client"
    for line in f"{first}\n{imports}\n{last}".splitlines():
        head, found, listed = line.partition(" import ")
        if not found:
            if line.removeprefix("import ") in words or not line:
                kept.append(line)
            continue
        names: Iterable[str] = (name for name in listed.split(", ") if name in words)
        if line := ", ".join(names):
            kept.append(f"{head} import {line}")
    return re.sub(r"\n{2,}", "\n\n", "\n".join(kept)).strip() + "\n\n"
