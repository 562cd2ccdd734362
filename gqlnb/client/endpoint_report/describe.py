"""The report of an endpoint: its sections in order, the values of custom scalars, and advice."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from graphql import (
    get_named_type,
    is_abstract_type,
    is_scalar_type,
    is_specified_directive,
    is_specified_scalar_type,
)
from msgspec.structs import replace

from gqlnb.client.endpoint import ListSettings
from gqlnb.client.endpoint_report import protocol
from gqlnb.client.endpoint_report.list_queries import ListQuery, find_list_queries, parse_list
from gqlnb.client.endpoint_report.lists import MAX_REQUESTS, ListExaminer, choose_count
from gqlnb.client.endpoint_report.report import (
    NOT_TRIED,
    SECTIONS,
    EndpointReport,
    MeteredClient,
    ReportLine,
    RequestLimitError,
    add_line,
)
from gqlnb.document.paging_conventions import format_argument
from gqlnb.errors import (
    AuthError,
    GqlnbError,
    OptionError,
    QueryError,
    TransportError,
    format_count,
    sanitize_text,
    suggest,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphql import GraphQLSchema

    from gqlnb.client.endpoint import Endpoint
    from gqlnb.client.endpoint_report.report import AddLine
    from gqlnb.client.request_sender import RequestSender
    from gqlnb.client.schema_store import SchemaStore


MAX_LISTS = 3
MAX_CANDIDATES = 3 * MAX_LISTS  # lists that are asked for a first page, until that many have rows
MAX_INTROSPECTION = 12
SLOW_SECONDS = 20.0  # of the 60 that a client waits
SPECIFIED_NAMES = frozenset({"Int", "Float", "String", "Boolean", "ID"})
MANY_TYPES = 8  # names that are shown


def describe_endpoint(
    endpoint: Endpoint,
    sender: RequestSender,
    store: SchemaStore,
    names: Sequence[str] | None,
    *,
    max_requests: int,
    dry_run: bool,
) -> EndpointReport:
    """Return the report of :meth:`gqlnb.Client.describe`.

    Parameters
    ----------
    endpoint
        The endpoint.
    sender
        Sends the requests.
    store
        The schema store of the client, for an endpoint that refuses introspection.
    names
        The lists to examine; None for the first ones that have rows.
    max_requests
        The most requests to send.
    dry_run
        Whether to send nothing.
    """
    client = MeteredClient(endpoint, sender, max_requests)
    if dry_run:
        return plan_report(client, names)
    lines, measured = list[ReportLine](), list[ListExaminer]()
    add_to = {section: partial(add_line, lines, section) for section in SECTIONS}
    schema, texts, begun = None, "", time.monotonic()
    try:
        schema = read_schema(client, store, add_to["protocol"])
        texts = protocol.report_protocol(client, schema, add_to["protocol"])
        if schema is not None:
            report_schema(schema, add_to["schema"])
            kept = min(MAX_SCALAR_REQUESTS, (client.meter.most - client.meter.sent) // 3)
            client.meter.most -= kept
            examine_lists(client, schema, names, measured, lines)
            client.meter.most += kept
            report_scalars(client, measured, add_to["scalars"])
    except RequestLimitError:
        reason = f"the report may send {client.meter.most} requests"
        add_to["lists"]("the rest", NOT_TRIED, reason)
    if client.http is not None:
        protocol.report_headers(client, texts, add_to["protocol"])
    advise(client, measured, lines, add_to["advice"])
    seconds, settings = time.monotonic() - begun, collect_settings(measured)
    return EndpointReport(client.source, tuple(lines), client.meter.sent, seconds, lists=settings)


def plan_report(client: MeteredClient, names: Sequence[str] | None) -> EndpointReport:
    """Return the report of a dry run: the most requests of each section."""
    planned = {
        "protocol": protocol.MAX_REQUESTS if client.http is not None else 0,
        "schema": 0 if client.is_in_process else MAX_INTROSPECTION,
        "lists": MAX_REQUESTS * (MAX_LISTS if names is None else len(names)),
        "scalars": MAX_SCALAR_REQUESTS,
    }
    why = "planned, nothing was sent"
    lines = [ReportLine(k, "requests", f"at most {most}", why) for k, most in planned.items()]
    most = min(client.meter.most, sum(planned.values()))
    return EndpointReport(client.source, lines, most, is_planned=True)


def read_schema(client: MeteredClient, store: SchemaStore, add: AddLine) -> GraphQLSchema | None:
    """Return the schema, requested anew; else that of the client, or None."""
    if client.is_in_process:
        return client.store.get_schema()
    before = client.meter.sent
    try:
        schema = client.store.refresh()
    except AuthError:
        raise
    except GqlnbError as error:
        if isinstance(error, TransportError) and error.status is None:
            raise  # nothing answers there
        add("introspection", "refused", sanitize_text(error, 200))
        with suppress(GqlnbError):
            client.store.set_schema(store.get_schema())
            return client.store.get_schema()
        return None
    missing = [note for note in client.store.notes if "leave" in note or "without" in note]
    evidence = f"{len(schema.type_map)} types in "
    evidence += format_count(client.meter.sent - before, "request")
    add("introspection", "; ".join(missing) or "whole", evidence)
    return schema


def report_schema(schema: GraphQLSchema, add: AddLine) -> None:
    """Report the size and the features of a schema."""
    kinds = [kind for name, kind in schema.type_map.items() if not name.startswith("__")]
    roots = schema.query_type, schema.mutation_type, schema.subscription_type
    for word, root in zip(("queries", "mutations", "subscriptions"), roots, strict=True):
        count = 0 if root is None else len(root.fields)
        add(word, count or "none", "" if root is None else f"fields of {root.name}")
    add("types", len(kinds), "without those of introspection")
    scalar_types = [it for it in kinds if is_scalar_type(it) and not is_specified_scalar_type(it)]
    unreachable = find_unreachable_types(schema) - SPECIFIED_NAMES
    directives = {f"@{it.name}": it for it in schema.directives}
    found = {
        "oneOf": [it.name for it in kinds if getattr(it, "is_one_of", False)],
        "specifiedBy": [it.name for it in kinds if getattr(it, "specified_by_url", None)],
        "directives": [k for k, it in directives.items() if not is_specified_directive(it)],
        "repeatable directives": [k for k, it in directives.items() if it.is_repeatable],
        "deprecated arguments": [
            f"{kind.name}.{name}({argument})"
            for kind in kinds
            for name, declared in getattr(kind, "fields", {}).items()
            for argument, definition in getattr(declared, "args", {}).items()
            if definition.deprecation_reason is not None
        ],
        "custom scalars": [it.name for it in scalar_types],
        "types without a path": [it.name for it in kinds if it.name in unreachable],
        "root lists without arguments": [query.name for query in find_list_queries(schema)],
    }
    for subject, names in found.items():
        more = ", ..." if len(names) > MANY_TYPES else ""
        add(subject, len(names) or "none", f"{', '.join(names[:MANY_TYPES])}{more}")


def find_unreachable_types(schema: GraphQLSchema) -> set[str]:
    """Return the types to which no field, argument or member leads from the root types."""
    pending: list[Any] = [schema.query_type, schema.mutation_type, schema.subscription_type]
    pending += [it.type for directive in schema.directives for it in directive.args.values()]
    missing = {name for name in schema.type_map if not name.startswith("__")}
    while pending:
        kind: Any = get_named_type(pending.pop())
        if kind is None or kind.name not in missing:
            continue
        missing.remove(kind.name)
        for member in getattr(kind, "fields", {}).values():
            pending += [member.type, *(it.type for it in getattr(member, "args", {}).values())]
        pending += getattr(kind, "interfaces", ())
        pending += schema.get_possible_types(kind) if is_abstract_type(kind) else ()
    return missing


def examine_lists(
    client: MeteredClient,
    schema: GraphQLSchema,
    names: Sequence[str] | None,
    measured: list[ListExaminer],
    lines: list[ReportLine],
) -> None:
    """Report on lists, and collect what was measured; without names those that have rows."""
    add, empty = partial(add_line, lines, "lists"), list[str]()
    for query in choose_lists(schema, names):
        before, examiner = len(lines), ListExaminer(client, schema, query, add)
        try:
            if not examiner.request_first():
                continue
            if names is None and not examiner.first.ids:
                del lines[before:]
                empty.append(query.name)
                continue
            measured.append(examiner)
            examiner.run()
        except RequestLimitError:
            spent = "the report has sent all of its requests"
            examiner.add("further experiments", NOT_TRIED, spent)
            break
        if names is None and len(measured) == MAX_LISTS:
            break
    if empty:
        add("lists without rows", len(empty), ", ".join(empty))
    elif not any(line.section == "lists" for line in lines):
        add("lists", NOT_TRIED, "none was found that needs no argument; name some")


def choose_lists(schema: GraphQLSchema, names: Sequence[str] | None) -> list[ListQuery]:
    """Return the lists to examine; raise OptionError if there is none of a name."""
    available = {query.name: query for query in find_list_queries(schema)}
    if names is None:
        return list(available.values())[:MAX_CANDIDATES]
    chosen = []
    for name in names:
        try:
            chosen.append(available.get(name) or parse_list(schema, name))
        except (ValueError, QueryError) as error:
            reason = str(error).partition("\n")[0]
            msg = f"lists= {sanitize_text(repr(name), 80)}: {reason}.{suggest(name, available)}"
            raise OptionError(msg) from None
    return chosen


def advise(
    client: MeteredClient, measured: list[ListExaminer], lines: list[ReportLine], add: AddLine
) -> None:
    """Add the options to set, by the lines above."""
    found = {line.subject: line for line in lines}
    nothing = ReportLine("", "", "", "")
    for each in measured:
        name, default = each.query.name, len(each.first.ids)
        if each.limit is not None and each.limit > default:
            effect = f"fewer requests than with pages of {default}"
            add(f"{name}: page_size={each.limit}", effect, found[f"{name}: largest page"].evidence)
        add(f"{name}: execute_all()", describe_paging(each), f"{name}, see lists")
    arrays = found.get("arrays of requests", nothing)
    if arrays.finding == "answered":
        add("batch=10", "execute_many() and map() send arrays", arrays.evidence)
    if client.meter.slowest > SLOW_SECONDS:
        seconds = round(client.meter.slowest * 5)
        evidence = f"the slowest answer took {client.meter.slowest:.1f} s"
        add(f"timeout={seconds}", "for larger answers than these", evidence)
    introspection = found.get("introspection", nothing)
    if introspection.finding == "refused":
        add("schema=FILE", "texts are not checked without one", introspection.evidence)
    # A harvest pays for lists whose last rows no page shows.
    capped = [it.query.name for it in measured if it.is_capped]
    counts = {it.query.name: found.get(f"{it.query.name}: count", nothing) for it in measured}
    reached = [name for name, line in counts.items() if line.finding.endswith(", agrees")]
    for name in capped:
        add(f"{name}: harvest()", "may fetch more than its pages", f"{name}: count, see lists")
    if reached:
        add("harvest", f"not needed for {', '.join(reached)}", "all counted rows can be reached")
    if not (capped or reached):
        add("harvest", NOT_TRIED, "whether a list has a cap shows only beyond its last page")


def describe_paging(measured: ListExaminer) -> str:
    """Return what paging does with a list."""
    if measured.kind == "none":
        return "takes the one page as all" if measured.is_whole else "reports the list as doubtful"
    counts, size = measured.first.counts, measured.limit or 100
    pages = f", about {-(-counts[choose_count(counts)] // size)} pages" if counts else ""
    return f"follows it by {measured.kind}{pages}"


def collect_settings(measured: list[ListExaminer]) -> dict[str, ListSettings]:
    """Return the roles and sizes that paging can use, by the type and name of the field."""
    found = {}
    for each in measured:
        settings = ListSettings(*each.role) if each.role is not None else ListSettings()
        found[".".join(each.suspect.coordinate)] = replace(settings, largest=each.limit)
    return {name: settings for name, settings in found.items() if settings != ListSettings()}


MAX_SCALAR_REQUESTS = 10
EXACT = 2**53  # the integers up to here are exact as Float
FORMS = (
    ("timestamp with a zone", r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*(?:Z|[+-]\d\d(?::?\d\d)?)"),
    ("timestamp without a zone", r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?"),
    ("date", r"\d{4}-\d\d-\d\d"),
    ("time", r"\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?"),
    ("UUID", r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"),
    ("duration", r"-?P(?=.)[\dYMWDTHS.]*"),
    ("whole number as text", r"[+-]?\d+"),
    ("decimal as text", r"[+-]?\d*\.\d+(?:[eE][+-]?\d+)?"),
)


def name_form(value: object) -> str:
    """Return a noun for the form of a JSON value.

    Examples
    --------
    >>> name_form("2024-02-29"), name_form("12.50"), name_form(2**60)
    ('date', 'decimal as text', 'integer above 2**53')
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer above 2**53" if abs(value) > EXACT else "integer"
    if isinstance(value, str):
        return next((name for name, form in FORMS if re.fullmatch(form, value)), "text")
    if isinstance(value, list):
        return "list"
    return "object" if isinstance(value, dict) else "number"


def report_scalars(client: MeteredClient, measured: Sequence[ListExaminer], add: AddLine) -> None:
    """Report each custom scalar among the fields of the rows."""
    seen: set[str] = set()
    budget = client.meter.sent + MAX_SCALAR_REQUESTS
    for each in measured:
        for name, kind in each.query.leaves.items():
            if not is_scalar_type(kind) or is_specified_scalar_type(kind) or kind.name in seen:
                continue
            cells = [row.get(name) for row in each.list_rows() if isinstance(row, dict)]
            values = [v for cell in cells for v in (cell if isinstance(cell, list) else [cell])]
            sample = next((value for value in values if value is not None), None)
            if sample is None:
                continue
            seen.add(kind.name)
            forms = Counter(map(name_form, values)).items()
            described = ", ".join(f"{form} ({count})" for form, count in forms)
            add(kind.name, described, f"{each.query.name}.{name}, such as {show_value(sample)}")
            add(f"{kind.name}: dtype", find_dtype(each, name), "column of that answer")
            if client.meter.sent < budget:
                report_variable(client, measured, kind.name, sample, add)
    if not seen:
        add("custom scalars", "none seen", "no field of the lists has one with a value")


def show_value(value: object) -> str:
    """Return the beginning of a JSON value."""
    return sanitize_text(json.dumps(value, default=str, ensure_ascii=False), 60)


def find_dtype(measured: ListExaminer, name: str) -> str:
    """Return the dtype that a frame of the answer has for a field."""
    for frame in measured.result.tables(strict=False, quiet=True).values():
        for column in frame.columns:
            if str(column).rpartition(".")[2] == name:
                return str(frame[column].dtype)
    return "no column"


def report_variable(
    client: MeteredClient,
    measured: Sequence[ListExaminer],
    scalar: str,
    sample: object,
    add: AddLine,
) -> None:
    """Report whether a variable of a scalar takes a value as it came, and in the other form."""
    places = [(it, leaf) for it in measured for leaf in it.suspect.leaves if not leaf.required]
    places = [(it, leaf) for it, leaf in places if leaf.type.name == scalar]
    if not places:
        add(f"{scalar}: variable", NOT_TRIED, "no argument of these lists takes it")
        return
    examiner, leaf = places[0]
    taken, refused = list[str](), list[str]()
    for value in list_forms(sample):
        result, _ = client.ask(examiner.write_variable(leaf), {"v": value})
        # Errors beside the rows are those of their fields.
        is_taken = result is not None and examiner.suspect.read_rows(result.data)
        (taken if is_taken else refused).append(show_value(value))
    evidence = f"as {examiner.query.name}({format_argument(leaf.path)})"
    evidence += f"; refused: {', '.join(refused)}" if refused else ""
    finding = f"takes {' and '.join(taken)}" if taken else "refused"
    add(f"{scalar}: variable", finding, evidence)


def list_forms(sample: object) -> list[object]:
    """Return a value as it came, and a number as text or the other way round."""
    if isinstance(sample, (int, float)) and not isinstance(sample, bool):
        return [sample, str(sample)]
    if isinstance(sample, str) and re.fullmatch(r"[+-]?\d{1,15}(?:\.\d+)?", sample):
        return [sample, float(sample) if "." in sample else int(sample)]
    return [sample]
