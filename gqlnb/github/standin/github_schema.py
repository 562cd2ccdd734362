"""A stand-in for GitHub's GraphQL API: its schema over a population, without a network."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from graphql import DocumentNode, OperationDefinitionNode, SelectionSetNode
from graphql.execution.values import get_variable_values

from gqlnb.document.document import Document
from gqlnb.engine.schema import Schema
from gqlnb.errors import OptionError, Problem, QueryError
from gqlnb.github.option_checks import check_boolean, raise_option_error
from gqlnb.github.query_cost import MAX_NODES, collect_variable_defaults, compute_cost, iter_fields
from gqlnb.github.repositories import SNAPSHOT_DATE, Owner, load_snapshot
from gqlnb.github.standin.rate_limits import CURRENT_METER, RequestMeter
from gqlnb.github.standin.repository_columns import Population
from gqlnb.github.standin.simulation import Simulation
from gqlnb.github.standin.standin_resolvers import StandInResolvers, require_boundary
from gqlnb.result.result import Result

if TYPE_CHECKING:
    from collections.abc import Awaitable

__all__ = ["StandIn", "load_snapshot_population", "schema", "service"]

SNAPSHOT_SOURCE = f"embedded snapshot of {SNAPSHOT_DATE}"
_ERROR_MEMBERS = ("type", "path", "extensions", "locations", "message")

SNAPSHOT_RULES: Mapping[str, str] = MappingProxyType(
    {
        "owner.__typename": (
            "User or Organization; taken from the sources for 748 of 2,893 owners, else chosen by "
            "the SHA-256 of the login, in the proportion of those that are known."
        ),
        "createdAt": (
            "The year is from the sources for 276 of 3,449 repositories; the rest of it, and all "
            "of the others', is chosen by the SHA-256 of owner and name, between GitHub's opening "
            "on 2008-04-10 and the last push."
        ),
        "updatedAt": "The last push.",
        "isArchived": "Where nothing was pushed for the five years before the snapshot.",
        "isFork": "Never: the sources are top lists, and searches leave forks out.",
        "id": "Made from owner and name, login or language; none of them is an id of GitHub's.",
        "viewer": "An account of the stand-in's own, named by service(viewer=...).",
    }
)


class StandIn(Schema):
    """A GitHub-shaped service in this process; :func:`service` makes one.

    Attributes
    ----------
    source
        What the answers are made from, in words.
    synthetic
        What is not taken from the sources but made, and by which rule, by field.
    simulation
        Which of GitHub's faults it shows.
    """

    def __init__(self, population: Population, viewer: Owner, simulation: Simulation) -> None:
        answers = StandInResolvers(population, viewer, simulation)
        super().__init__(_load_sdl(), answers.build_resolvers())
        self.source = population.source
        self.synthetic = population.synthetic
        self.simulation = simulation
        for place, resolve in answers.build_connection_resolvers().items():
            kind, name = place.split(".")
            made: Any = self.graphql.type_map[kind]
            made.fields[name].resolve = require_boundary(name, resolve)

    def execute_document(
        self, document: Document, variables: Mapping[str, Any], **options: Any
    ) -> Result | Awaitable[Result]:
        """Do as a Schema: priced before, and with errors in GitHub's form.

        Raises
        ------
        QueryError
            If it asks for more than 500,000 nodes, or costs more points than are left.
        """
        meter = CURRENT_METER.get() or RequestMeter()
        token = CURRENT_METER.set(meter)
        try:
            given = self._coerce_for_cost(document, variables)
            dry = None if given is None else _charge_operation(meter, document, given)
            begun = super().execute_document(dry or document, variables, **options)
        finally:
            CURRENT_METER.reset(token)
        if isinstance(begun, Result):
            return _format_result(begun, document)
        return _format_awaited_result(begun, document)

    def _coerce_for_cost(
        self, document: Document, variables: Mapping[str, Any]
    ) -> Mapping[str, Any] | None:
        """Return the values that resolvers will see; None where some will be refused."""
        declared = document.operation.variable_definitions
        if not declared:
            return variables
        found: Any = get_variable_values(self.graphql, declared, dict(variables), max_errors=1)
        if isinstance(found, list):
            return None
        values: Mapping[str, Any] = getattr(found, "coerced", found)  # an object since 3.3
        return values

    def __repr__(self) -> str:
        return f"StandIn({self.source!r})"


def _charge_operation(
    meter: RequestMeter, document: Document, given: Mapping[str, Any]
) -> Document | None:
    """Price an operation and take the price; return what a dry run executes in its place."""
    meter.cost = compute_cost(document, given)
    dry = _make_dry_run_document(document, given)
    meter.is_free = dry is not None
    if dry is None:
        _check_node_limit(meter, document)
    _charge_budget(meter, document)
    return dry


def _check_node_limit(meter: RequestMeter, document: Document) -> None:
    """Refuse what asks for too many nodes."""
    if meter.cost.nodes <= MAX_NODES:
        return
    message = (
        f"This query requests up to {meter.cost.nodes:,} possible nodes which exceeds the "
        f"maximum limit of {MAX_NODES:,}."
    )
    raise _make_refusal(meter, document, "MAX_NODE_LIMIT_EXCEEDED", message)


def _charge_budget(meter: RequestMeter, document: Document) -> None:
    """Take the price from the budget, or refuse."""
    if not meter.charge_cost():
        raise _make_refusal(meter, document, "RATE_LIMITED", "API rate limit exceeded.")


def _make_refusal(meter: RequestMeter, document: Document, kind: str, message: str) -> QueryError:
    """Return the error of what is not executed, and leave it with the meter as GitHub writes it."""
    meter.refusal = {"type": kind, "message": message}
    result = Result(None, (meter.refusal,), document=document)
    return QueryError(text=document.text, problems=[Problem(message)], result=result)


def _make_dry_run_document(document: Document, variables: Mapping[str, Any]) -> Document | None:
    """Return a document that asks for ``rateLimit`` alone, if this one is a dry run."""
    given = collect_variable_defaults(document) | dict(variables)
    operation = document.operation
    top = [operation.selection_set]
    fields = [
        field
        for field in iter_fields(top, document.fragments, given)
        if field.name.value == "rateLimit"
    ]
    values = [argument.value for field in fields for argument in field.arguments or ()]
    if not any(_is_true(value, given) for value in values):
        return None
    narrow = OperationDefinitionNode(
        operation=operation.operation,
        name=operation.name,
        variable_definitions=operation.variable_definitions,
        directives=operation.directives,
        selection_set=SelectionSetNode(selections=tuple(fields)),
    )
    ast = DocumentNode(definitions=(narrow, *document.fragments.values()))
    return Document(document.text, ast, narrow, document.schema)


def _is_true(value: Any, variables: Mapping[str, Any]) -> bool:
    """Tell whether a literal, or the variable in its place, is true."""
    name = getattr(value, "name", None)
    return (variables.get(name.value) if name else getattr(value, "value", None)) is True


async def _format_awaited_result(begun: Awaitable[Result], document: Document) -> Result:
    return _format_result(await begun, document)


def _format_result(result: Result, document: Document) -> Result:
    """Return a result with its errors in GitHub's form, of the document that was asked."""
    if not result.errors and result.document is document:
        return result
    return replace(result, errors=tuple(map(_format_error, result.errors)), document=document)


def _format_error(error: Mapping[str, Any]) -> dict[str, Any]:
    """Return an error with ``type`` beside the message, its members in GitHub's order."""
    extensions = dict(error.get("extensions") or {})
    members = {**error, "extensions": extensions, "type": extensions.pop("type", None)}
    return {name: members[name] for name in _ERROR_MEMBERS if members.get(name)}


def service(
    *,
    population: Population | None = None,
    viewer: str = "demo",
    restricted: bool = False,
    simulation: Simulation | None = None,
) -> StandIn:
    """Return a stand-in for GitHub's GraphQL API.

    Parameters
    ----------
    population
        What it answers from: of :func:`gqlnb.github.population`, or by default the embedded
        snapshot of real repositories.
    viewer
        The login that ``{ viewer { login } }`` answers: the account the token in use belongs to. A
        user of the population, who then owns what is theirs, or anybody who is not in it.
    restricted
        Whether ``stargazers`` is refused with FORBIDDEN, as GitHub has refused it since mid-2026
        for repositories that the viewer does not administer: here, own. ``stargazerCount`` is
        answered always.
    simulation
        Which of GitHub's faults it shows; by default none. Those of HTTP are shown where it is
        served: by :func:`gqlnb.github.app`, :func:`gqlnb.github.serve`, or ``gqlnb github``.

    Returns
    -------
    StandIn
        A :class:`~gqlnb.engine.schema.Schema`: execute it here, give it to a client, serve it.

    Raises
    ------
    OptionError
        If `viewer` is no login, or an organization's, or an option is not of its kind.

    Notes
    -----
    The snapshot is made of top lists: the counts of its searches are not GitHub's. Without a
    simulation the service keeps no state, and ``rateLimit`` tells of a whole budget always.

    Examples
    --------
    >>> github = service()
    >>> github.execute('{ repository(owner: "torvalds", name: "linux") { stargazerCount } }').data
    {'repository': {'stargazerCount': 243608}}
    """
    for name, value, kind in (
        ("population", population, Population),
        ("simulation", simulation, Simulation),
    ):
        if value is not None and not isinstance(value, kind):
            raise_option_error(
                name, value, f"a github.{kind.__name__}; {_OPTION_MAKERS[name]} makes one"
            )
    made = simulation or Simulation()
    if check_boolean("restricted", restricted):
        made = replace(made, restricted=True)
    chosen = load_snapshot_population() if population is None else population
    return StandIn(chosen, _find_viewer(viewer, chosen), made)


_OPTION_MAKERS = {"population": "github.population(n)", "simulation": "github.Simulation(...)"}
# GitHub's logins have 39 characters at most; those of enterprises an underscore, those of
# applications an ending of their own.
_LOGIN_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,38}(\[bot\])?")


def _find_viewer(login: Any, population: Population) -> Owner:
    """Return the account of a login: the population's user, or a new one.

    Raises
    ------
    OptionError
        If it is no login, or an organization's.
    """
    if not isinstance(login, str) or not _LOGIN_PATTERN.fullmatch(login):
        raise_option_error("viewer", login, "a login such as 'mona': letters, digits and hyphens")
    found = population.find_owner(login)
    if found is None:
        return Owner(login, "User")
    if found.kind != "User":
        msg = (
            f"viewer={login!r} is an organization of the {population.source}, and a token belongs "
            "to a user. Name a user of it, or anybody who is not in it, such as 'demo'."
        )
        raise OptionError(msg)
    return found


def schema() -> Schema:
    """Return the schema of the stand-in without resolvers: to check queries and to look around.

    Examples
    --------
    >>> import gqlnb
    >>> sorted(gqlnb.github.schema().graphql.query_type.fields)[:3]
    ['node', 'nodes', 'organization']
    """
    return Schema(_load_sdl())


@lru_cache(1)
def load_snapshot_population() -> Population:
    """Return the embedded snapshot as columns."""
    return Population.from_repositories(
        load_snapshot(), source=SNAPSHOT_SOURCE, synthetic=SNAPSHOT_RULES
    )


@lru_cache(1)
def _load_sdl() -> str:
    return (files("gqlnb.github") / "schema.graphql").read_text(encoding="utf-8")
