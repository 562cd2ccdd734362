"""The report of an endpoint: its sections in order, the values of custom scalars, and advice."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from graphql import (
    OperationType,
    get_named_type,
    is_abstract_type,
    is_scalar_type,
    is_specified_directive,
    is_specified_scalar_type,
)
from msgspec.structs import replace

from gqlnb.client.endpoint import ListSettings
from gqlnb.client.endpoint_report import lists, protocol
from gqlnb.client.endpoint_report.list_queries import ListQuery, find_list_queries, parse_list
from gqlnb.client.endpoint_report.lists import choose_count
from gqlnb.client.endpoint_report.report import (
    EndpointReport,
    MeteredClient,
    ReportLine,
    ReportWriter,
    RequestLimitError,
)
from gqlnb.document.paging_conventions import format_argument
from gqlnb.errors import (
    AuthError,
    GqlnbError,
    OptionError,
    TransportError,
    format_count,
    sanitize_text,
    suggest,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from graphql import GraphQLSchema

    from gqlnb.client.endpoint import Endpoint
    from gqlnb.client.endpoint_report.lists import ListExaminer
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
    lines, measured = list[ReportLine](), list[lists.ListExaminer]()
    schema, texts, begun = None, "", time.monotonic()
    writer = ReportWriter("protocol", lines)
    try:
        schema = read_schema(client, store, writer)
        texts = protocol.report_protocol(client, schema, writer)
        if schema is not None:
            report_schema(schema, ReportWriter("schema", lines))
            with client.meter.reserve(MAX_SCALAR_REQUESTS):
                examine_lists(client, schema, names, measured, lines)
            report_scalars(client, measured, ReportWriter("scalars", lines))
    except RequestLimitError:
        reason = f"the report may send {client.meter.most} requests"
        ReportWriter("lists", lines).skip("the rest", reason)
    if client.http is not None:
        protocol.report_headers(client, texts, writer)
    advise(client, measured, lines)
    seconds = time.monotonic() - begun
    settings = collect_settings(measured)
    return EndpointReport(client.source, tuple(lines), client.meter.sent, seconds, lists=settings)


def plan_report(client: MeteredClient, names: Sequence[str] | None) -> EndpointReport:
    """Return the report of a dry run: the most requests of each section."""
    count = MAX_LISTS if names is None else len(names)
    planned = {
        "protocol": protocol.MAX_REQUESTS if client.http is not None else 0,
        "schema": 0 if client.is_in_process else MAX_INTROSPECTION,
        "lists": lists.MAX_REQUESTS * count,
        "scalars": MAX_SCALAR_REQUESTS,
    }
    lines = [
        ReportLine(name, "requests", f"at most {requests}", "planned, nothing was sent")
        for name, requests in planned.items()
    ]
    return EndpointReport(
        client.source, lines, min(client.meter.most, sum(planned.values())), is_planned=True
    )


def read_schema(
    client: MeteredClient, store: SchemaStore, writer: ReportWriter
) -> GraphQLSchema | None:
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
        writer.add("introspection", "refused", sanitize_text(error, 200))
        try:
            schema = store.get_schema()
        except GqlnbError:
            return None
        client.store.set_schema(schema)
        return schema
    missing = [note for note in client.store.notes if "leave" in note or "without" in note]
    requests = format_count(client.meter.sent - before, "request")
    writer.add(
        "introspection",
        "; ".join(missing) or "whole",
        f"{len(schema.type_map)} types in {requests}",
    )
    return schema


def report_schema(schema: GraphQLSchema, writer: ReportWriter) -> None:
    """Report the size and the features of a schema."""
    kinds = [kind for name, kind in schema.type_map.items() if not name.startswith("__")]
    words = ("queries", "mutations", "subscriptions")
    for word, operation in zip(words, OperationType, strict=True):
        root = schema.get_root_type(operation)
        count = 0 if root is None else len(root.fields)
        writer.add(word, count or "none", "" if root is None else f"fields of {root.name}")
    writer.add("types", len(kinds), "without those of introspection")
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
        writer.add(subject, len(names) or "none", f"{', '.join(names[:MANY_TYPES])}{more}")


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
    writer, empty = ReportWriter("lists", lines), list[str]()
    for query in choose_lists(schema, names):
        before = len(lines)
        examiner = lists.ListExaminer(client, schema, query, writer)
        if not examiner.request_first():
            continue
        if names is None and not examiner.first.ids:
            del lines[before:]
            empty.append(query.name)
            continue
        measured.append(examiner)
        examiner.run()
        if names is None and len(measured) == MAX_LISTS:
            break
    if empty:
        writer.add("lists without rows", len(empty), ", ".join(empty))
    elif not any(line.section == "lists" for line in lines):
        writer.skip("lists", "none was found that needs no argument; name some")


def choose_lists(schema: GraphQLSchema, names: Sequence[str] | None) -> list[ListQuery]:
    """Return the lists to examine; raise OptionError if there is none of a name."""
    available = {query.name: query for query in find_list_queries(schema)}
    if names is None:
        return list(available.values())[:MAX_CANDIDATES]
    chosen = []
    for name in names:
        try:
            chosen.append(available.get(name) or parse_list(schema, name))
        except ValueError as error:
            msg = f"lists= {sanitize_text(repr(name), 80)}: {error}.{suggest(name, available)}"
            raise OptionError(msg) from None
    return chosen


def advise(client: MeteredClient, measured: list[ListExaminer], lines: list[ReportLine]) -> None:
    """Add the options to set, by the lines above."""
    writer = ReportWriter("advice", lines)
    found = {line.subject: line for line in lines}
    for each in measured:
        name, default = each.query.name, len(each.first.ids)
        if each.limit is not None and each.limit > default:
            effect = f"fewer requests than with pages of {default}"
            writer.add(f"{name}: page_size={each.limit}", effect, found[f"{name}: largest page"][3])
        writer.add(f"{name}: execute_all()", describe_paging(each), f"{name}, see lists")
    arrays = found.get("arrays of requests")
    if arrays is not None and arrays.finding == "answered":
        writer.add("batch=10", "execute_many() and map() send arrays", arrays.evidence)
    if client.meter.slowest > SLOW_SECONDS:
        seconds = round(client.meter.slowest * 5)
        evidence = f"the slowest answer took {client.meter.slowest:.1f} s"
        writer.add(f"timeout={seconds}", "for larger answers than these", evidence)
    introspection = found.get("introspection")
    if introspection is not None and introspection.finding == "refused":
        writer.add("schema=FILE", "texts are not checked without one", introspection.evidence)
    advise_harvest(measured, found, writer)


def advise_harvest(
    measured: list[ListExaminer], found: Mapping[str, ReportLine], writer: ReportWriter
) -> None:
    """Say for which lists a harvest pays: those whose last rows no page shows."""
    counts = {it.query.name: found.get(f"{it.query.name}: count") for it in measured}
    capped = [it.query.name for it in measured if it.is_capped]
    reached = [name for name, it in counts.items() if it and it.finding.endswith(", agrees")]
    for name in capped:
        writer.add(
            f"{name}: harvest()", "may fetch more than its pages", f"{name}: count, see lists"
        )
    if reached:
        writer.add(
            "harvest", f"not needed for {', '.join(reached)}", "all counted rows can be reached"
        )
    if not (capped or reached):
        writer.skip("harvest", "whether a list has a cap shows only beyond its last page")


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
    return "object" if isinstance(value, dict) else "number"


def report_scalars(
    client: MeteredClient, lists: Sequence[ListExaminer], writer: ReportWriter
) -> None:
    """Report each custom scalar among the fields of the rows."""
    seen: set[str] = set()
    budget = client.meter.sent + MAX_SCALAR_REQUESTS
    for measured in lists:
        rows = measured.list_rows()
        for name, kind in measured.query.leaves.items():
            if not is_scalar_type(kind) or is_specified_scalar_type(kind) or kind.name in seen:
                continue
            values = list(iterate_values(rows, name))
            sample = next((value for value in values if value is not None), None)
            if sample is None:
                continue
            seen.add(kind.name)
            forms = Counter(map(name_form, values))
            described = ", ".join(f"{form} ({count})" for form, count in forms.items())
            shown = sanitize_text(json.dumps(sample, default=str, ensure_ascii=False), 60)
            writer.add(kind.name, described, f"{measured.query.name}.{name}, such as {shown}")
            writer.add(f"{kind.name}: dtype", find_dtype(measured, name), "column of that answer")
            if client.meter.sent < budget:
                report_variable(client, lists, kind.name, sample, writer)
    if not seen:
        writer.add("custom scalars", "none seen", "no field of the lists has one with a value")


def iterate_values(rows: Iterable[Any], name: str) -> Iterator[Any]:
    """Yield the values of a field of rows, those of lists one by one."""
    for row in rows:
        value = row.get(name) if isinstance(row, dict) else None
        yield from value if isinstance(value, list) else [value]


def find_dtype(measured: ListExaminer, name: str) -> str:
    """Return the dtype that a frame of the answer has for a field."""
    for frame in measured.result.tables(strict=False, quiet=True).values():
        for column in frame.columns:
            if str(column).rpartition(".")[2] == name:
                return str(frame[column].dtype)
    return "no column"


def report_variable(
    client: MeteredClient,
    measured: Iterable[ListExaminer],
    scalar: str,
    sample: object,
    writer: ReportWriter,
) -> None:
    """Report whether a variable of a scalar takes a value as it came, and in the other form."""
    subject = f"{scalar}: variable"
    places = ((it, leaf) for it in measured for leaf in it.suspect.leaves)
    found = next((it for it in places if it[1].type.name == scalar and not it[1].required), None)
    if found is None:
        writer.skip(subject, "no argument of these lists takes it")
        return
    examiner, leaf = found
    text = examiner.write_variable(leaf)
    taken, refused = list[str](), list[str]()
    for value in list_forms(sample):
        result, _ = client.ask(text, {"v": value})
        shown = sanitize_text(json.dumps(value, ensure_ascii=False, default=str), 60)
        # Errors beside the rows are those of their fields.
        is_taken = result is not None and examiner.suspect.read_rows(result.data)
        (taken if is_taken else refused).append(shown)
    evidence = f"as {examiner.query.name}({format_argument(leaf.path)})"
    if refused:
        evidence += f"; refused: {', '.join(refused)}"
    writer.add(subject, f"takes {' and '.join(taken)}" if taken else "refused", evidence)


def list_forms(sample: object) -> list[object]:
    """Return a value as it came, and a number as text or the other way round."""
    if isinstance(sample, (int, float)) and not isinstance(sample, bool):
        return [sample, str(sample)]
    if isinstance(sample, str) and re.fullmatch(r"[+-]?\d{1,15}(?:\.\d+)?", sample):
        return [sample, float(sample) if "." in sample else int(sample)]
    return [sample]
