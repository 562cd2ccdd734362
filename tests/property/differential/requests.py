"""Documents with variables, as they are sent to a mock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gqlnb import QueryError, Schema
from gqlnb.document.variables import check_variables
from tests.property.differential import documents, inputs

if TYPE_CHECKING:
    from gqlnb.document.document import Document
    from tests.property.differential.chance import Chance
    from tests.property.differential.schemas import Made

DOCUMENTS = 8  # for a schema


def make_request(schema: Schema, made: Made, chance: Chance) -> tuple[Document, Any] | None:
    """Return a document and variables that fit a schema; None where one of them is wrong."""
    try:
        written = documents.Writer(made, chance.branch("document"), valid=True).write()
        given = {
            each.name: inputs.json(each.kind, chance.branch(each.name), 0)
            for each in written.variables
        }
        document = schema.parse_document(written.text, written.operation)
        check_variables(document, given)
    except (QueryError, KeyError):  # KeyError: a scalar without values to choose from
        return None
    return document, given
