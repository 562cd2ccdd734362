"""Property tests of completion: allowed names are proposed at any cursor position.

Schemas and documents are made from numbers. `COMPLETION_CASES=5000` asks for more of them,
`COMPLETION_SEED=123` for one.
"""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from graphql import (
    GraphQLError,
    GraphQLScalarType,
    TypeInfo,
    TypeInfoVisitor,
    Visitor,
    get_named_type,
    parse,
    specified_rules,
    validate,
    validation,
    visit,
)

from gqlnb.notebook.completion.completion_list import complete_at_cursor, find_at_cursor
from gqlnb.notebook.completion.cursor_parser import tokenize
from tests.property.differential import documents, schemas
from tests.property.differential.chance import Chance

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphql import GraphQLSchema, Node

CASES = int(os.environ.get("COMPLETION_CASES", "150"))
SEED = os.environ.get("COMPLETION_SEED")
RULES = (
    validation.FieldsOnCorrectTypeRule,
    validation.FragmentsOnCompositeTypesRule,
    validation.KnownArgumentNamesRule,
    validation.KnownDirectivesRule,
    validation.KnownFragmentNamesRule,
    validation.KnownTypeNamesRule,
    validation.NoUndefinedVariablesRule,
    validation.PossibleFragmentSpreadsRule,
    validation.UniqueArgumentNamesRule,
    validation.UniqueInputFieldNamesRule,
    validation.ValuesOfCorrectTypeRule,
    validation.VariablesAreInputTypesRule,
    validation.VariablesInAllowedPositionRule,
)
RUBBISH = ("", "}", " } }", ")", "{ a", '"', " # x", "$", "...", "]", "\n\nquery {", "@", ": 3)")


class Place(NamedTuple):
    """A name of a document that the schema or the document knows.

    Attributes
    ----------
    name
        The name.
    start
        Where it begins.
    first
        Where the node begins at which graphql-core reports what is wrong with it.
    elsewhere
        Whether the document defines it, in a place that may come later.
    """

    name: str
    start: int
    first: int
    elsewhere: bool = False


class Names(Visitor):
    """Collects the places of a document."""

    def __init__(self, info: TypeInfo) -> None:
        super().__init__()
        self.info = info
        self.found: list[Place] = []

    def add(self, name: Any, owner: Any) -> None:
        """Enter a name, with the node that graphql-core would blame."""
        elsewhere = owner.kind in ("fragment_spread", "variable")
        self.found.append(Place(name.value, name.loc.start, owner.loc.start, elsewhere))

    def add_named(self, node: Any, *_: Any) -> None:
        """Enter the name of a node."""
        self.add(node.name, node)

    enter_field = enter_argument = enter_directive = enter_fragment_spread = add_named

    def enter_named_type(self, node: Any, key: Any, parent: Any, *_: Any) -> None:
        """Enter its name; of a type condition graphql-core blames the fragment."""
        inline = getattr(parent, "kind", "") == "inline_fragment"
        self.add(node.name, parent if inline else node)

    def enter_object_field(self, node: Any, *_: Any) -> None:
        """Enter its name, where the schema knows it."""
        if self.info.get_parent_input_type() and not self.free(self.info.get_parent_input_type()):
            self.add(node.name, node)

    def enter_enum_value(self, node: Any, *_: Any) -> None:
        """Enter it, where the schema knows it."""
        if not self.free(self.info.get_input_type()):
            self.add(node, node)

    def enter_variable(self, node: Any, key: Any, parent: Any, *_: Any) -> None:
        """Record the use of a variable."""
        if getattr(parent, "kind", "") != "variable_definition":
            self.add(node.name, node)

    @staticmethod
    def free(kind: Any) -> bool:
        """Return whether any value is valid for a type."""
        return kind is None or isinstance(get_named_type(kind), GraphQLScalarType)


def places(schema: GraphQLSchema, document: Node) -> list[Place]:
    """Return the places of a valid document."""
    info = TypeInfo(schema)
    names = Names(info)
    visit(document, TypeInfoVisitor(info, names))
    return names.found


def cases() -> Iterator[tuple[int, GraphQLSchema, str, list[Place]]]:
    """Yield numbers with schemas, valid documents and their places."""
    for seed in [int(SEED)] if SEED else range(CASES):
        made = schemas.made(seed // 10, waits=False)
        text = documents.Writer(made, Chance("completion", seed)).write().text
        try:
            document = parse(text)
            errors = validate(made.schema, document, specified_rules)
        except GraphQLError:  # also of a rule, of graphql-core 3.2, that executes something
            continue
        if not errors and all(rooted(made.schema, it) for it in document.definitions):
            yield seed, made.schema, text, places(made.schema, document)


def rooted(schema: GraphQLSchema, definition: Any) -> bool:
    """Tell whether there is a type for a definition; graphql-core 3.2 has no rule for that."""
    operation = getattr(definition, "operation", None)
    return operation is None or schema.get_root_type(operation) is not None


def proposed(schema: GraphQLSchema, text: str, offset: int) -> set[str]:
    """Return the names that completion proposes."""
    return {found.name for found in complete_at_cursor(schema, text, offset).proposals}


def refused(schema: GraphQLSchema, text: str, place: Place, name: str) -> list[str]:
    """Return graphql-core's error for another name at a place."""
    other = text[: place.start] + name + text[place.start + len(place.name) :]
    here = range(place.first, place.start + 1)
    errors = validate(schema, parse(other), RULES, max_errors=None)
    return [error.message for error in errors if {*(error.positions or [])} & {*here}]


def test_a_truncated_name_is_completed():
    """At the cut, with and without the rest of the document."""
    checked = 0
    for seed, schema, text, found in cases():
        dice = random.Random(seed)
        for place in found:
            offset = place.start + dice.randint(0, len(place.name))
            for tail in (text[offset:], "", dice.choice(RUBBISH)):
                broken = text[:offset] + tail
                if tail[:1].isalnum() and tail != text[offset:]:
                    continue
                if tail != text[offset:] and place.elsewhere:
                    continue  # what defines it was cut off too
                assert place.name in proposed(schema, broken, offset), (seed, place, broken)
                checked += 1
    assert SEED or checked > 5 * CASES


def test_every_proposal_is_valid():
    """Inserting a proposed name causes no validation error about that name."""
    checked = 0
    for seed, schema, text, found in cases():
        dice = random.Random(seed)
        for place in dice.sample(found, min(4, len(found))):
            names = sorted(proposed(schema, text, place.start))
            for name in dice.sample(names, min(5, len(names))):
                if name == "on":
                    continue
                assert refused(schema, text, place, name) == [], (seed, place, name, text)
                checked += 1
    assert SEED or checked > 5 * CASES


def test_every_name_has_documentation():
    """At its position in a valid document."""
    for seed, schema, text, found in cases():
        for place in found:
            thing = find_at_cursor(schema, text, place.start)
            assert thing is not None, (seed, place, text)
            assert thing.name == place.name, (seed, place, text)


def test_completion_accepts_any_mangled_document():
    """No exception, and no proposals from outside the schema and the text."""
    for seed, schema, text, _ in cases():
        dice = random.Random(seed)
        known = {*schema.type_map, *(name for name, *_ in names_of(schema))}
        for _ in range(20):
            broken = mangled(text, dice)
            offset = dice.randint(0, len(broken))
            names = proposed(schema, broken, offset)
            strange = {name.removeprefix("$") for name in names} - known - words(broken)
            assert not strange, (seed, broken, offset)
            find_at_cursor(schema, broken, offset)
            complete_at_cursor(None, broken, offset)


def mangled(text: str, dice: random.Random) -> str:
    """Return a text with pieces left out, doubled or put elsewhere."""
    pieces = [token.text for token in tokenize(text)]
    for _ in range(dice.randint(1, 4)):
        place = dice.randrange(len(pieces) + 1)
        change = dice.randrange(3)
        if change == 0:
            pieces[place : place + 1] = []
        elif change == 1:
            pieces[place:place] = dice.choice(pieces or [""])
        else:
            pieces[place:place] = [dice.choice(RUBBISH)]
    return " ".join(pieces)


def words(text: str) -> set[str]:
    """Return the names of a text."""
    return {token.text for token in tokenize(text) if token.kind == "name"}


def names_of(schema: GraphQLSchema) -> Iterator[tuple[str, Any]]:
    """Yield all names that a schema defines, and those of the language."""
    for name in ("query", "mutation", "subscription", "fragment", "on", "true", "false", "null"):
        yield name, None
    for name in ("__typename", "__schema", "__type"):
        yield name, None
    for directive in schema.directives:
        yield directive.name, directive
        yield from directive.args.items()
    for kind in schema.type_map.values():
        for name, field in getattr(kind, "fields", {}).items():
            yield name, field
            yield from getattr(field, "args", {}).items()
        yield from getattr(kind, "values", {}).items()


@pytest.mark.parametrize(
    "text", ["", " ", "{", "}", "((((", "$", "@", "...", '"""', "#", "query ("]
)
def test_without_a_schema_only_keywords_are_proposed(text):
    """No exception is raised."""
    names = {found.name for found in complete_at_cursor(None, text, len(text)).proposals}
    assert names <= {"query", "mutation", "subscription", "fragment", "on"}
