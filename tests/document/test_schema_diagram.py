"""Class diagrams of schemas in Mermaid."""

from __future__ import annotations

import pytest

from gqlnb import Client, OptionError, Schema, TargetError, connect

SDL = """
interface Node { id: ID! }
enum Color { RED GREEN }
input Filter { q: String and: [Filter!] }
union Either = Cat | Dog
type Cat implements Node { id: ID! friends(first: Int): [Dog!]! }
type Dog { color: Color }
scalar Date
type Query { either(filter: Filter): Either node: Node day: Date }
"""


def test_a_diagram_has_all_types_and_relations():
    """Of every kind but scalars; an own schema and a client of it draw the same."""
    text = Schema(SDL).diagram().text
    assert text.startswith("classDiagram\n")
    assert "class Cat {\n  id ID!\n  friends(first) [Dog!]!\n}\n" in text
    assert "class Color {\n  <<enumeration>>\n  RED\n  GREEN\n}\n" in text
    relations = {line for line in text.splitlines() if " : " in line or "<|.." in line}
    assert relations == {
        "Filter --> Filter : and",
        "Either <|.. Cat",
        "Either <|.. Dog",
        "Cat --> Dog : friends",
        "Node <|.. Cat",
        "Dog --> Color : color",
        "Query --> Either : either",
        "Query --> Node : node",
    }
    assert "class Date" not in text
    assert Client(Schema(SDL)).diagram().text == text


def test_named_types_are_drawn_with_what_is_between_them():
    """Nothing else."""
    text = connect("demo").diagram(["Repository", "RepositoryOwner"]).text
    assert text.count("class ") == 2
    assert "Repository --> RepositoryOwner : owner" in text


def test_jupyterlab_draws_it_by_its_media_type():
    """The text is there for other programs."""
    diagram = Schema(SDL).diagram(["Cat"])
    assert diagram._repr_mimebundle_() == {
        "text/vnd.mermaid": diagram.text,
        "text/plain": repr(diagram),
    }


@pytest.mark.parametrize(
    ("types", "reason"),
    [
        (None, "178 types"),
        (["Repositry"], "Did you mean 'Repository'?"),
        ([3], "The schema has no type 3."),
    ],
)
def test_what_cannot_be_drawn_is_refused(types, reason):
    """Too many types, and unknown ones."""
    with pytest.raises((OptionError, TargetError)) as caught:
        connect("demo").diagram(types)
    assert reason in str(caught.value)
