"""Looking into the engine: how an operation is executed, and where its time goes."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphql import (
    get_named_type,
    get_nullable_type,
    is_abstract_type,
    is_leaf_type,
    is_list_type,
)

from gqlnb import background
from gqlnb.document.document import build_problems
from gqlnb.engine.compiled_execution import build_plan, build_result
from gqlnb.engine.compiler.executor import PlanExecutor
from gqlnb.engine.compiler.plans import (
    DocumentFacts,
    FieldPlan,
    OperationPlan,
    SelectionPlan,
    collect_facts,
)
from gqlnb.errors import QueryError

if TYPE_CHECKING:
    import pandas as pd
    from graphql import GraphQLSchema

    from gqlnb.document.document import Document
    from gqlnb.result.result import Result

__all__ = ["Explanation", "Profile", "explain_operation", "profile_operation"]

NOT_COMPILED = (
    "graphql-core executes it: incremental delivery (@defer, @stream) and variables of fragments "
    "are not compiled."
)
BAR_WIDTH = 24  # characters of the longest bar


@dataclass(frozen=True, slots=True)
class Explanation:
    """How an operation is executed.

    Attributes
    ----------
    compiled
        Whether a compiled plan executes it.
    plan
        The fields in order, each with its type and what answers it; or why it is handed over.
    source
        The Python source made for it, for sources that are dicts; empty if it is not compiled.
    """

    compiled: bool
    plan: str
    source: str

    def __repr__(self) -> str:
        return f"{self.plan}\n\n{self.source}" if self.source else self.plan


def explain_operation(
    schema: GraphQLSchema, document: Document, variables: Mapping[str, Any]
) -> Explanation:
    """Explain how an operation is executed, without executing it.

    Raises
    ------
    QueryError
        If a variable does not fit its type.
    """
    known = collect_facts(document.ast)
    title = f"{document.kind} {document.name or ''}".strip()
    if not known.plannable:
        return Explanation(False, f"{title}: {NOT_COMPILED}", "")
    plan = build_fresh_run(schema, document, variables, None, None, known).plan
    top = plan.get_root_selection(plan.sample)
    lines = list(outline_selection(plan, top, 1))
    sources = [plan.compiler.write_selection_source(top), *iterate_row_sources(plan, top)]
    head = f"{title}: compiled" + (", its fields one after the other" if plan.serial else "")
    return Explanation(True, "\n".join([head, *lines]), "\n".join(sources))


def build_fresh_run(
    schema: GraphQLSchema,
    document: Document,
    variables: Mapping[str, Any],
    root: Any,
    context: Any,
    known: DocumentFacts,
    *,
    timed: bool = False,
) -> Any:
    """Return a run with a plan of its own.

    Raises
    ------
    QueryError
        If a variable does not fit its type.
    """
    built = PlanExecutor.build(schema, document.ast, root, context, dict(variables), document.name)
    if isinstance(built, list):
        raise QueryError(text=document.text, problems=build_problems(built))
    build_plan(built, known, timed=timed)
    return built


def outline_selection(plan: OperationPlan, selection: SelectionPlan, depth: int) -> Iterator[str]:
    """Yield a line for each field of a selection and of those below it."""
    for field in selection.fields:
        alias = f" as {field.name}" if field.name != field.head[0] else ""
        place = f"{field.parent.name}.{field.head[0]}{alias}: {field.type}"
        yield f"{'  ' * depth}{place}  {describe_answer(field)}"
        abstract = is_abstract_type(get_named_type(field.type))
        for below in list_selections(plan, field):
            if abstract and below.fields:
                yield f"{'  ' * (depth + 1)}on {below.kind.name}"
            yield from outline_selection(plan, below, depth + 1 + abstract)


def list_selections(plan: OperationPlan, field: FieldPlan) -> list[SelectionPlan]:
    """Return the selections below a field, one for each object type it may be of."""
    kind: Any = get_named_type(field.type)
    if is_leaf_type(kind):
        return []
    possible = plan.list_possible_types(kind) if is_abstract_type(kind) else [kind]
    return [plan.get_selection_below(plan.sample, each, field.group) for each in possible]


def describe_answer(field: FieldPlan) -> str:
    """Return what answers a field, in words."""
    if field.head[0] == "__typename":
        return "known beforehand"
    arguments = f", arguments {field.constants}" if field.constants else ""
    if field.constants is None:
        arguments = ", arguments from variables"
    if field.default:
        return f"looked up in its parent{arguments}"
    function = field.native or field.resolve
    call = "(root, args, context)" if field.native else "(source, info, **args)"
    return f"{name_function(function)}{call}{describe_location(function)}{arguments}"


def name_function(function: Any) -> str:
    """Return the name of a function."""
    return getattr(function, "__qualname__", None) or type(function).__name__


def describe_location(function: Any) -> str:
    """Return where a function begins, where that is known."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return f" line {code.co_firstlineno}" if code is not None else ""


def iterate_row_sources(plan: OperationPlan, selection: SelectionPlan) -> Iterator[str]:
    """Yield the source of the functions that complete lists below a selection."""
    for field in selection.fields:
        kind: Any = get_nullable_type(field.type)
        if is_list_type(kind):
            yield plan.compiler.write_rows_source(field, kind)
        for below in list_selections(plan, field):
            yield from iterate_row_sources(plan, below)


@dataclass(frozen=True, eq=False, slots=True)
class Profile:
    """Where the time of one execution went.

    Attributes
    ----------
    result
        The result of the execution.
    rows
        Field, calls and seconds; in the seconds are those of the fields below it, and of awaiting.
    """

    result: Result
    rows: tuple[tuple[str, int, float], ...]

    def frame(self) -> pd.DataFrame:
        """Return a DataFrame of field, calls, seconds and microseconds per call, slowest first."""
        import pandas as pd

        made = pd.DataFrame(self.rows, columns=["field", "calls", "seconds"])
        made["microseconds per call"] = made["seconds"] / made["calls"].clip(lower=1) * 1e6
        kinds = {"field": "string", "calls": "Int64", "seconds": "Float64"}
        return made.astype({**kinds, "microseconds per call": "Float64"})

    def __repr__(self) -> str:
        longest = max((seconds for _, _, seconds in self.rows), default=0.0) or 1.0
        wide = max((len(name) for name, _, _ in self.rows), default=0)
        return "\n".join(
            f"{name:<{wide}}  {calls:>8,}  {seconds * 1e3:>10.3f} ms  "
            f"{'█' * max(1, round(BAR_WIDTH * seconds / longest))}"
            for name, calls, seconds in self.rows
        )


def profile_operation(
    schema: GraphQLSchema, document: Document, variables: Mapping[str, Any], context: Any, root: Any
) -> Profile:
    """Execute an operation with clocks in its functions.

    Raises
    ------
    QueryError
        If a variable does not fit its type, or the operation is not compiled.
    """
    known = collect_facts(document.ast)
    if not known.plannable:
        raise QueryError(NOT_COMPILED)
    run = build_fresh_run(schema, document, variables, root, context, known, timed=True)
    outcome = run.plan.execute(run)
    if inspect.isawaitable(outcome):
        outcome = background.run(await_outcome(outcome))
    totals: dict[str, tuple[int, float]] = {}
    for field, (calls, seconds) in run.tallies.items():
        name = f"{field.parent.name}.{field.head[0]}"
        before = totals.get(name, (0, 0.0))
        totals[name] = before[0] + int(calls), before[1] + seconds
    rows = sorted(((name, *total) for name, total in totals.items()), key=lambda row: -row[2])
    result = build_result(outcome, document, variables)
    profile = Profile(result, tuple(rows))
    object.__setattr__(result, "profile", profile)  # nobody else has seen the result yet
    return profile


async def await_outcome(outcome: Any) -> Any:
    """Await an outcome on the background loop."""
    return await outcome
