"""``--dry-run``: what would be sent, and how much it asks for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from gqlnb.errors import plain
from gqlnb.github.pricing import NODES, price
from gqlnb.leaks import masked
from gqlnb.model.document import type_text
from gqlnb.model.measures import measure, total, unrolled
from gqlnb.model.render import CLASSES
from gqlnb.notebook.shown import counted

if TYPE_CHECKING:
    from gqlnb.client.client import Client
    from gqlnb.model.document import Document

__all__ = ["DryRun", "dry_run"]

METER = "rateLimit"  # the field by which GitHub, and whoever speaks as it does, tells its budget
SHOWN = 120  # characters of a variable


@dataclass(frozen=True, slots=True, repr=False)
class DryRun:
    """An operation that was checked and not sent.

    Attributes
    ----------
    text
        The text as it is sent.
    variables
        The JSON-like values sent with it.
    source
        Where it would be sent.
    title
        The kind and the name of the operation.
    types
        The declared types of its variables, by name.
    checked
        Whether the schema is known, so that it was checked against it.
    depth
        Levels of fields.
    fields
        How many are selected, those of fragments wherever they are spread.
    nodes
        The most items that the pages it asks for can hold, each page as often as it is asked for.
    points
        What it costs of GitHub's budget for an hour; None elsewhere.
    """

    text: str
    variables: Mapping[str, Any]
    source: str
    title: str
    types: Mapping[str, str]
    checked: bool
    depth: int
    fields: int
    nodes: int
    points: int | None

    def _lines(self) -> list[str]:
        known = "" if self.checked else " Its schema is not known: only the syntax was checked."
        asks = [counted(self.depth, "level deep", "levels deep"), counted(self.fields, "field")]
        if self.nodes:
            asks.append(f"up to {counted(self.nodes, 'node')}")
        lines = [f"Not sent: {self.title} to {self.source}.{known}", f"  {', '.join(asks)}"]
        if self.points is not None:
            lines.append(f"  {counted(self.points, 'point')} of the budget for an hour")
            if self.nodes > NODES:
                lines.append(f"  GitHub refuses more than {NODES:,} nodes")
        return [*lines, *(f"  {line}" for line in self._given())]

    def _given(self) -> list[str]:
        return [
            f"${name}: {self.types[name]} = "
            + masked(plain(json.dumps(value, ensure_ascii=False), SHOWN))
            for name, value in self.variables.items()
        ]

    def __repr__(self) -> str:
        return "\n".join([*self._lines(), "", self.text.strip("\n")])

    def _repr_html_(self) -> str:
        head = "<br>".join(escape(line) for line in self._lines())
        body = f'<pre style="white-space:pre-wrap">{escape(self.text.strip())}</pre>'
        return f'<div class="{CLASSES}"><p style="margin:2px 0">{head}</p>{body}</div>'


def dry_run(client: Client, document: Document, variables: Mapping[str, Any]) -> DryRun:
    """Return what an operation would send and asks for.

    Parameters
    ----------
    client
        Who would be asked.
    document
        The document, valid.
    variables
        Its JSON-like values, checked.
    """
    measures = {name: measure(node) for name, node in document.fragments.items()}
    size = total(measure(document.operation), unrolled(measures))
    cost = price(document, variables)
    return DryRun(
        document.text,
        variables,
        client.source,
        f"{document.kind} {document.name or ''}".strip(),
        {name: type_text(node) for name, node in document.variables.items()},
        document.schema is not None,
        size.depth,
        size.fields,
        cost.nodes,
        cost.points if metered(client, document) else None,
    )


def metered(client: Client, document: Document) -> bool:
    """Tell whether an endpoint counts as GitHub does."""
    from gqlnb.github.entry import ENDPOINT

    query = document.schema.query_type if document.schema is not None else None
    return client.source == ENDPOINT or (query is not None and METER in query.fields)
