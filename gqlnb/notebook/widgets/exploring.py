"""What the Explorer sends: answers and errors as GraphiQL reads them, and the cell that asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gqlnb.errors import GqlnbError, TextError
from gqlnb.notebook.options import NAME, refuse_secrets
from gqlnb.notebook.widgets.base import in_words
from gqlnb.wire.json import JSONError, dump, load
from gqlnb.wire.writing import writable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphql import GraphQLSchema

    from gqlnb.model.result import Result

__all__ = ["answer_of", "cell_of", "failure_of", "introspection_of", "variables_of"]

SHOWN = 4_000_000  # bytes of an answer that an editor in the browser still shows without delay
NAMELESS = (
    "# Name what this is about behind %%graphql: the schema or client, by its name in the notebook."
)


def variables_of(text: str) -> dict[str, Any]:
    """Read variables as they are typed: JSON, or nothing.

    Raises
    ------
    GqlnbError
        If it is anything else.
    """
    if not text.strip():
        return {}
    fault = "they are no object"
    try:
        found = load(text.encode())
    except (JSONError, UnicodeEncodeError) as error:
        fault = str(error)
    else:
        if isinstance(found, dict):
            return found
        if found is None:
            return {}
    msg = f'The variables are not JSON such as {{"name": 1}}: {fault}.'
    raise GqlnbError(msg)


def answer_of(result: Result) -> bytes:
    """Return a result as the JSON of a response; a value without a JSON form becomes an error."""
    members: dict[str, Any] = {"data": result.data}
    if result.errors:
        members = {"errors": list(result.errors), **members}
    if result.extensions:
        members["extensions"] = dict(result.extensions)
    try:
        return bounded(dump(members))
    except (JSONError, TypeError, ValueError):
        faults: list[dict[str, Any]] = []
        data = writable(result.data, (), faults)
        return bounded(dump({"errors": [*map(plainly, result.errors), *faults], "data": data}))


def plainly(error: Mapping[str, Any]) -> dict[str, Any]:
    """Return what can be written of an error for certain: its words."""
    return {"message": str(error.get("message", ""))}


def bounded(answer: bytes) -> bytes:
    """Return an answer, or a sentence about it where it is too large to be shown."""
    if len(answer) <= SHOWN:
        return answer
    message = (
        f"The answer has {len(answer) / 1e6:,.1f} MB, more than is shown here. It is in the "
        "notebook: .result and .frame of this explorer have all of it."
    )
    return dump({"errors": [{"message": message}]})


def failure_of(error: Exception) -> bytes:
    """Return an error as the JSON of a response: what is wrong, where, and what to do."""
    kind = type(error).__name__
    if isinstance(error, TextError) and error.problems:
        errors = [problem.formatted for problem in error.problems]
        for each in errors:
            each["extensions"] = {"type": kind, **each.get("extensions", {})}
        return dump({"errors": errors})
    told = {"message": in_words(error), "extensions": {"type": kind}}
    partial = getattr(error, "result", None)
    if partial is None or partial.data is None:
        return dump({"errors": [told]})
    return bounded(dump({"errors": [told], "data": writable(partial.data, (), [])}))


def introspection_of(schema: GraphQLSchema) -> bytes:
    """Return a schema as the JSON of the answer to GraphiQL's introspection."""
    from graphql import introspection_from_schema

    found = introspection_from_schema(
        schema,
        specified_by_url=True,
        directive_is_repeatable=True,
        schema_description=True,
        input_value_deprecation=True,
    )
    return dump({"data": found})


def cell_of(query: str, variables: Mapping[str, Any], target: str | None) -> str:
    """Return the ``%%graphql`` cell that asks the same.

    Parameters
    ----------
    query
        The text of the document.
    variables
        JSON values by name.
    target
        The word that names what to ask; None where there is none.

    Raises
    ------
    OptionError
        If a variable looks like a token, which would be saved with the notebook.
    """
    # An expression ends at the first white space outside its strings and brackets: a repr has none.
    given = [f"-p {name}={value!r}" for name, value in variables.items() if NAME.fullmatch(name)]
    line = " ".join(["%%graphql", *([target] if target else []), *given])
    refuse_secrets(line, None)
    note = [] if target else [NAMELESS]
    return "\n".join([line, *note, query.strip()])
