"""A stand-in for GitHub's GraphQL API: GitHub's schema over a population, without a network."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from graphql import (
    BooleanValueNode,
    DocumentNode,
    GraphQLSchema,
    OperationDefinitionNode,
    SelectionSetNode,
    VariableNode,
    build_ast_schema,
    parse,
)
from graphql.execution.values import get_variable_values
from graphql.type import is_abstract_type

from gqlnb.document.document import UNKNOWN_NAME_HINT, Document, build_problems
from gqlnb.engine.mock.mock_schema import MockOptions, build_mock_schema
from gqlnb.engine.schema import Schema
from gqlnb.engine.schema_adapters import SchemaAdapter
from gqlnb.engine.schema_builder import bind_type_resolver
from gqlnb.errors import OptionError, Problem, QueryError
from gqlnb.github.query_cost import (
    MAX_NODES,
    QueryCost,
    collect_variable_defaults,
    compute_cost,
    iter_fields,
)
from gqlnb.github.repositories import SNAPSHOT_DATE, Owner, load_snapshot
from gqlnb.github.standin.engine_rules import find_engine_errors
from gqlnb.github.standin.repository_search import Population
from gqlnb.github.standin.simulation import CURRENT_METER, RequestMeter, Simulation
from gqlnb.github.standin.standin_resolvers import StandInResolvers, bind_fields, resolve_type_name
from gqlnb.http.server_rules import GUIDES_EXTENSION, TokenGuides
from gqlnb.option_checks import check_boolean, explain_keywords, raise_option_error
from gqlnb.result.result import Result

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from gqlnb.engine.execution_budget import ExecutionBudget
    from gqlnb.limits import Limits

SNAPSHOT_SOURCE = f"embedded snapshot of {SNAPSHOT_DATE}"
_CACHED_PRICES = 256  # of one document for each of its page sizes
_UNKNOWN_NAME = "It is not in this stand-in for a part of GitHub's schema; GitHub may have it."
DOCS_URL = "https://docs.github.com/graphql"
AUTHENTICATION_URL = f"{DOCS_URL}/guides/forming-calls-with-graphql#authenticating-with-graphql"
_TOKEN_GUIDES = TokenGuides(missing=AUTHENTICATION_URL, wrong=DOCS_URL)
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
        A description of the data.
    synthetic
        The rules by which data that are not from the sources were generated, by field.
    simulation
        The faults of GitHub that it shows.
    """

    def __init__(
        self,
        population: Population,
        viewer: Owner,
        simulation: Simulation,
        *,
        fill: bool = False,
        sdl: str | None = None,
    ) -> None:
        if sdl is None:
            graphql = build_ast_schema(_parse_sdl(), assume_valid=True, assume_valid_sdl=True)
            graphql.extensions = {**graphql.extensions, UNKNOWN_NAME_HINT: _UNKNOWN_NAME}
        else:
            graphql, self.notes = build_mock_schema(sdl, MockOptions(simulation.seed), None)
            fill = True
        graphql.extensions = {**graphql.extensions, GUIDES_EXTENSION: _TOKEN_GUIDES}
        facts = StandInResolvers(population, viewer, simulation, fill=fill).build_facts()
        for kind in graphql.type_map.values():
            if is_abstract_type(kind):
                bind_type_resolver(graphql, kind.name, resolve_type_name)
        outcomes = bind_fields(graphql, facts, fill=fill, seed=simulation.seed)
        self._set_adapter(StandInAdapter(graphql))
        self.source = population.source
        self.synthetic = MappingProxyType({**population.synthetic, **_group_outcomes(outcomes)})
        self.simulation = simulation

    def __repr__(self) -> str:
        return f"StandIn({self.source!r})"


class StandInAdapter(SchemaAdapter):
    """Executes documents of a stand-in, priced before, and with errors in GitHub's form."""

    def __init__(self, graphql: GraphQLSchema) -> None:
        super().__init__(graphql)
        # A crawler asks one document again and again, and pricing it takes a hundred calls.
        self._price_operation = lru_cache(_CACHED_PRICES)(_price_operation)

    def parse(
        self,
        text: str,
        operation: str | None,
        limits: Limits | None = None,
        *,
        introspection: bool = True,
    ) -> Document:
        """Return the document of a text, as strictly validated as GitHub's engine does it."""
        document = super().parse(text, operation, limits, introspection=introspection)
        if "=" in text:  # all that graphql-core accepts and the engine does not has defaults
            errors = find_engine_errors(self.graphql, document.ast)
            if errors:
                raise QueryError(text=text, problems=build_problems(errors))
        return document

    def execute_document(
        self,
        document: Document,
        variables: Mapping[str, Any],
        context: object = None,
        root: object = None,
        budget: ExecutionBudget | None = None,
        extensions: Mapping[str, Any] | None = None,
    ) -> Result | Awaitable[Result]:
        """Execute a document.

        Returns
        -------
        Result, or an awaitable of one
            An awaitable only if a resolver was async.

        Raises
        ------
        QueryError
            If it requests more than 500,000 nodes, or costs more points than are left. If it is a
            subscription, or a variable does not match its type.
        """
        meter = CURRENT_METER.get() or RequestMeter()
        token = CURRENT_METER.set(meter)
        try:
            executed = self._charge_operation(meter, document, variables)
            outcome = super().execute_document(
                executed, variables, context, root, budget, extensions
            )
        finally:
            CURRENT_METER.reset(token)
        if isinstance(outcome, Result):
            return _format_result(outcome, document, meter.outcomes)

        async def format_later() -> Result:
            return _format_result(await outcome, document, meter.outcomes)

        return format_later()

    def _charge_operation(
        self, meter: RequestMeter, document: Document, variables: Mapping[str, Any]
    ) -> Document:
        """Charge an operation to a meter; return the document to execute."""
        values = variables
        declared = document.operation.variable_definitions
        if declared:
            # The resolvers see coerced values, so those decide the price.
            coerced: Any = get_variable_values(
                self.graphql, declared, dict(variables), max_errors=1
            )
            if isinstance(coerced, list):
                return document  # errors, which the execution reports
            values = getattr(coerced, "coerced", coerced)  # an object since graphql-core 3.3
        # Only numbers and switches have a part in the price; a bool is an int.
        numbers = tuple(item for item in values.items() if isinstance(item[1], int))
        meter.cost, dry_run = self._price_operation(document, numbers)
        meter.is_free = dry_run is not None
        if dry_run is None and meter.cost.nodes > MAX_NODES:
            message = (
                f"This query requests up to {meter.cost.nodes:,} possible nodes which exceeds the "
                f"maximum limit of {MAX_NODES:,}."
            )
            meter.refusal = {"type": "MAX_NODE_LIMIT_EXCEEDED", "message": message}
        elif meter.charge_account is not None and not meter.charge_account(meter, forced=False):
            meter.is_over_budget = True
            meter.refusal = {"type": "RATE_LIMITED", "message": "API rate limit exceeded."}
        if meter.refusal is not None:
            result = Result(None, (meter.refusal,), document=document)
            problem = Problem(meter.refusal["message"])
            raise QueryError(text=document.text, problems=[problem], result=result)
        return dry_run or document


def _price_operation(
    document: Document, numbers: tuple[tuple[str, object], ...]
) -> tuple[QueryCost, Document | None]:
    """Return the cost of an operation, and the document to execute if it is a dry run."""
    values = dict(numbers)
    return compute_cost(document, values), _make_dry_run_document(document, values)


def _make_dry_run_document(document: Document, variables: Mapping[str, Any]) -> Document | None:
    """Return a document with the ``rateLimit`` fields alone if this one is a dry run, else None."""
    operation = document.operation
    values = collect_variable_defaults(document) | dict(variables)
    fields = [
        field
        for field in iter_fields([operation.selection_set], document.fragments, values)
        if field.name.value == "rateLimit"
    ]
    arguments = [argument.value for field in fields for argument in field.arguments or ()]
    if not any(
        values.get(node.name.value) is True
        if isinstance(node, VariableNode)
        else isinstance(node, BooleanValueNode) and node.value
        for node in arguments
    ):
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


def _format_result(result: Result, document: Document, outcomes: Mapping[str, str]) -> Result:
    """Return a result of the original document, with its errors in GitHub's form."""
    if outcomes:
        result = replace(result, extensions={**result.extensions, "standIn": dict(outcomes)})
    if not result.errors and result.document is document:
        return result
    errors = []
    for error in result.errors:  # ``type`` beside the message, members in GitHub's order
        extensions = dict(error.get("extensions") or {})
        members = {**error, "extensions": extensions, "type": extensions.pop("type", None)}
        errors.append({name: members[name] for name in _ERROR_MEMBERS if members.get(name)})
    return replace(result, errors=tuple(errors), document=document)


@explain_keywords
def service(
    *,
    population: Population | None = None,
    viewer: str = "demo",
    restricted: bool = False,
    simulation: Simulation | None = None,
    fill: bool = False,
    sdl: str | None = None,
) -> StandIn:
    """Return a stand-in for GitHub's GraphQL API.

    Parameters
    ----------
    population
        The repositories: of :func:`gqlnb.github.population`, or by default the embedded snapshot of
        real repositories.
    viewer
        The login of ``{ viewer { login } }``, the account that the token in use belongs to: a user
        of the population, or any login that is not in it.
    restricted
        Whether ``stargazers`` is refused with FORBIDDEN, as GitHub has refused it since mid-2026
        for repositories that the viewer does not administer: here, own. ``stargazerCount`` is
        always answered.
    simulation
        The faults of GitHub that it shows; by default none. Faults of HTTP are shown where it is
        served: by :func:`gqlnb.github.app`, :func:`gqlnb.github.serve`, or ``gqlnb github``.
    fill
        Whether all that the data do not contain is made up: plausible values, always the same for
        the same `simulation.seed`, also for repositories and accounts that are not in the data, so
        that any program can be developed against it. Otherwise such fields are null, or empty,
        false or a made-up value where their types do not allow null.
    sdl
        Another schema to serve, such as the newest public one of GitHub (``schema.graphql`` of the
        npm package ``@octokit/graphql-schema``), with the facts where they fit; implies `fill`.
        Mistakes in it that can be ignored are in ``notes``.

    Returns
    -------
    StandIn
        A :class:`~gqlnb.engine.schema.Schema`: execute it here, give it to a client, serve it.

    Raises
    ------
    OptionError
        If `viewer` is not a login or is an organization's, or an option is of another type.
    SchemaError
        If `sdl` is not a schema.

    Notes
    -----
    The snapshot was compiled from top lists: the counts of its searches are not GitHub's. Without a
    simulation the service keeps no state, and ``rateLimit`` always reports a full budget. The
    fields of an answer that are not facts are named in its ``extensions.standIn``, each with its
    outcome: null, empty, false, generated, or derived by a rule. ``synthetic`` lists them all.

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
    simulation = simulation or Simulation()
    if check_boolean("restricted", restricted):
        simulation = replace(simulation, restricted=True)
    population = load_snapshot_population() if population is None else population
    fill = check_boolean("fill", fill)
    return StandIn(population, _find_viewer(viewer, population), simulation, fill=fill, sdl=sdl)


_OPTION_MAKERS = {"population": "github.population(n)", "simulation": "github.Simulation(...)"}
# GitHub's logins have at most 39 characters; enterprise accounts have an underscore, applications
# the suffix [bot].
_LOGIN_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,38}(\[bot\])?")


def _find_viewer(login: object, population: Population) -> Owner:
    """Return the account of a login: the population's user, or a new one."""
    if not isinstance(login, str) or not _LOGIN_PATTERN.fullmatch(login):
        raise_option_error("viewer", login, "a login such as 'mona': letters, digits and hyphens")
    owner = population.find_owner(login)
    if owner is not None and owner.kind != "User":
        msg = (
            f"viewer={login!r} is an organization of the {population.source}, and a token belongs "
            "to a user. Name a user of it, or a login that is not in it, such as 'demo'."
        )
        raise OptionError(msg)
    return owner or Owner(login, "User")


@explain_keywords
def schema() -> Schema:
    """Return the schema of the stand-in without resolvers, to validate and explore.

    Returns
    -------
    Schema
        The schema; executing it gives nulls.

    Examples
    --------
    >>> import gqlnb
    >>> "search" in gqlnb.github.schema().graphql.query_type.fields
    True
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


@lru_cache(1)
def _parse_sdl() -> DocumentNode:
    return parse(_load_sdl(), no_location=True)


def _group_outcomes(outcomes: Mapping[str, str]) -> dict[str, str]:
    """Return the fields without facts by type and outcome, a line each."""
    groups: dict[str, list[str]] = {}
    for place, outcome in outcomes.items():
        kind, _, name = place.partition(".")
        groups.setdefault(f"{kind}: {outcome}", []).append(name)
    return {group: f"Not in the data: {', '.join(names)}." for group, names in groups.items()}
