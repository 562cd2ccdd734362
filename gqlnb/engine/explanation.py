"""Explanations and profiles of the execution of an operation."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
from graphql import get_named_type, get_nullable_type, is_abstract_type, is_leaf_type, is_list_type

from gqlnb import background
from gqlnb.document.document import build_problems
from gqlnb.engine.compiled_execution import build_result
from gqlnb.engine.compiler.conditions import collect_facts
from gqlnb.engine.compiler.executor import PlanExecutor
from gqlnb.engine.compiler.lazy_functions import PlanCompiler, format_source
from gqlnb.engine.compiler.plans import FieldPlan, OperationPlan, SelectionPlan
from gqlnb.engine.compiler.python_types import DICT, find_user_function
from gqlnb.engine.compiler.source_writer import SourceWriter
from gqlnb.engine.graphql_compat import Value
from gqlnb.engine.schema_watch import SchemaWatch
from gqlnb.errors import QueryError
from gqlnb.result.renderer import COLUMNS_STYLE, render_lines

if TYPE_CHECKING:
    from graphql import GraphQLSchema

    from gqlnb.document.document import Document
    from gqlnb.result.result import Result

NOT_COMPILED = (
    "graphql-core executes it: incremental delivery (@defer, @stream) and variables of fragments "
    "are not compiled."
)
BAR_WIDTH = 24  # characters of the longest bar


@dataclass(frozen=True, slots=True)
class Explanation:
    """The way an operation is executed.

    Attributes
    ----------
    compiled
        Whether a compiled plan executes it.
    plan
        The fields in order, each with its type and its resolver; or the reason why a library
        executes it.
    source
        The Python source generated for parents that are dicts; empty if it is not compiled.
    """

    compiled: bool
    plan: str
    source: str

    def __repr__(self) -> str:
        about = "\n.source is the Python that was generated for it." if self.source else ""
        return f"{self.plan}{about}"

    def _repr_html_(self) -> str:
        return render_lines(repr(self))


def explain_operation(
    schema: GraphQLSchema,
    document: Document,
    variables: Mapping[str, object],
    reason: str | None = None,
) -> Explanation:
    """Explain the execution of an operation, without executing it.

    Parameters
    ----------
    schema, document, variables
        As for an execution.
    reason
        The reason why a library executes it, if one does.

    Raises
    ------
    QueryError
        If a variable does not match its type.
    """
    title = f"{document.kind} {document.name or ''}".strip()
    if reason is not None:
        return Explanation(compiled=False, plan=f"{title}: {reason}.", source="")
    if not collect_facts(document.ast).plannable:
        return Explanation(compiled=False, plan=f"{title}: {NOT_COMPILED}", source="")
    plan = build_fresh_run(schema, document, variables, None, None).plan
    root = plan.get_root_selection(plan.sample)
    lines = list(outline_selection(plan, root, 1))
    label = f"{root.kind.name} of {root.where}"
    source = write_source(plan, label, lambda writer: writer.write_selection(root))
    sources = [source, *iterate_row_sources(plan, root)]
    head = f"{title}: compiled" + (", its fields one after the other" if plan.serial else "")
    return Explanation(compiled=True, plan="\n".join([head, *lines]), source="\n".join(sources))


def build_fresh_run(
    schema: GraphQLSchema,
    document: Document,
    variables: Mapping[str, object],
    root: object,
    context: object,
    *,
    timed: bool = False,
    library: type | None = None,
) -> PlanExecutor:
    """Return a run with a plan of its own, which no other execution uses."""
    run = PlanExecutor.build(schema, document.ast, root, context, dict(variables), document.name)
    if isinstance(run, list):
        raise QueryError(text=document.text, problems=build_problems(run))
    facts = collect_facts(document.ast)
    OperationPlan(run, facts, PlanCompiler, SchemaWatch(), timed=timed, library=library)
    return run  # type: ignore[no-any-return]


def outline_selection(plan: OperationPlan, selection: SelectionPlan, depth: int) -> Iterator[str]:
    """Yield a line for each field of a selection and of those below it."""
    for field in selection.fields:
        alias = f" as {field.name}" if field.name != field.field_name else ""
        place = f"{field.parent.name}.{field.field_name}{alias}: {field.type}"
        yield f"{'  ' * depth}{place}  {describe_answer(field)}"
        abstract = is_abstract_type(get_named_type(field.type))
        for below in list_selections(plan, field):
            if abstract and below.fields:
                yield f"{'  ' * (depth + 1)}on {below.kind.name}"
            yield from outline_selection(plan, below, depth + 1 + abstract)


def list_selections(plan: OperationPlan, field: FieldPlan) -> list[SelectionPlan]:
    """Return the selections below a field, one for each possible object type."""
    kind: Any = get_named_type(field.type)
    if is_leaf_type(kind):
        return []
    possible = plan.list_possible_types(kind) if is_abstract_type(kind) else [kind]
    return [plan.get_selection_below(plan.sample, type_, field.group) for type_ in possible]


def describe_answer(field: FieldPlan) -> str:
    """Return the source of a field's value, in words."""
    if field.field_name == "__typename":
        return "known beforehand"
    arguments = f", arguments {field.constants}" if field.constants else ""
    if field.constants is None:
        arguments = ", arguments from variables"
    if field.default or field.attribute is not None:
        return f"looked up in its parent{arguments}"
    own = find_user_function(field.definition)
    function = own or field.native or field.resolve
    name = getattr(function, "__qualname__", None) or type(function).__name__
    # The functions around it say nothing to a reader, and the line finds it.
    name = name.rpartition("<locals>.")[2].replace("<lambda>", "lambda")
    call = "(root, args, context)" if field.native else "(source, info, **args)"
    if own is not None:
        call = f"({', '.join(inspect.signature(own).parameters)})"
    code = getattr(inspect.unwrap(function), "__code__", None)
    line = f" line {code.co_firstlineno}" if code is not None else ""
    module = getattr(inspect.unwrap(function), "__module__", None)
    if line and module not in {None, "__main__"}:  # a cell has no name worth showing
        line += f" of {module}"
    return f"{name}{call}{line}{arguments}"


def write_source(plan: OperationPlan, label: str, write: Callable[[SourceWriter], None]) -> str:
    """Return the source of a function for dicts; `write` writes its body."""
    writer = SourceWriter(plan, plan.compiler.compile_rows, DICT)
    write(writer)
    return format_source(f"{label}, from dicts", writer)


def iterate_row_sources(plan: OperationPlan, selection: SelectionPlan) -> Iterator[str]:
    """Yield the source of the functions that complete lists below a selection."""
    for field in selection.fields:
        kind: Any = get_nullable_type(field.type)
        if is_list_type(kind):
            write = partial(SourceWriter.write_rows, field=field, kind=kind)
            yield write_source(plan, f"list of {field.parent.name}.{field.name}", write)
        for below in list_selections(plan, field):
            yield from iterate_row_sources(plan, below)


@dataclass(frozen=True, eq=False, slots=True)
class Profile:
    """The time of one execution, by field.

    Attributes
    ----------
    result
        The result of the execution.
    rows
        Field, calls and seconds; the seconds include the fields below it, and awaiting.
    """

    result: Result
    rows: tuple[tuple[str, int, float], ...]

    def frame(self) -> pd.DataFrame:
        """Return a DataFrame of field, calls, seconds and microseconds per call, slowest first."""
        frame = pd.DataFrame(self.rows, columns=["field", "calls", "seconds"])
        frame["microseconds per call"] = frame["seconds"] / frame["calls"].clip(lower=1) * 1e6
        kinds = {"field": "string", "calls": "Int64", "seconds": "Float64"}
        return frame.astype({**kinds, "microseconds per call": "Float64"})

    def __repr__(self) -> str:
        longest = max((seconds for _, _, seconds in self.rows), default=0.0) or 1.0
        wide = max((len(name) for name, _, _ in self.rows), default=len("field"))
        lines = [
            f"{name:<{wide}}  {calls:>8,}  {seconds * 1e3:>10.3f} ms  "
            f"{'█' * max(1, round(BAR_WIDTH * seconds / longest))}"
            for name, calls, seconds in self.rows
        ]
        return "\n".join([f"{'field':<{wide}}  {'calls':>8}  {'time':>13}", *lines])

    def _repr_html_(self) -> str:
        return render_lines(repr(self), COLUMNS_STYLE)


def profile_operation(
    schema: GraphQLSchema,
    document: Document,
    variables: Mapping[str, object],
    context: object,
    root: object,
    library: type | None,
) -> Profile:
    """Execute an operation by functions that measure their time.

    The arguments are those of an execution; `library` is an executor class that builds info objects
    of its own, or None.

    Raises
    ------
    QueryError
        If a variable does not match its type, or the operation is not compiled.
    """
    if not collect_facts(document.ast).plannable:
        raise QueryError(NOT_COMPILED)
    # A plan of its own, since the clocks would slow the cached plan down.
    run = build_fresh_run(schema, document, variables, root, context, timed=True, library=library)
    outcome = run.plan.execute(run)
    if inspect.isawaitable(outcome):
        outcome = background.run(_await_outcome(outcome))
    totals: dict[str, tuple[int, float]] = {}
    for field, (calls, seconds) in run.tallies.items():
        name = f"{field.parent.name}.{field.field_name}"
        before = totals.get(name, (0, 0.0))
        totals[name] = before[0] + int(calls), before[1] + seconds
    rows = sorted(((name, *total) for name, total in totals.items()), key=lambda row: -row[2])
    result = build_result(outcome, document, variables)
    profile = Profile(result, tuple(rows))
    object.__setattr__(result, "profile", profile)  # this function has the only reference yet
    return profile


async def _await_outcome(pending: Awaitable[Any]) -> Value:
    return await pending
