"""The values of custom scalars in the answers, the dtypes of their columns, and their variables."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from graphql import get_nullable_type, is_list_type, is_scalar_type, is_specified_scalar_type

from gqlnb.client.endpoint_report.list_queries import ListQuery
from gqlnb.errors import sanitize_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gqlnb.client.endpoint_report.lists import ListExaminer
    from gqlnb.client.endpoint_report.meter import MeteredClient
    from gqlnb.client.endpoint_report.report import ReportWriter

MAX_REQUESTS = 10
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
    budget = client.meter.sent + MAX_REQUESTS
    queries = [measured.query for measured in lists]
    for measured in lists:
        rows = measured.query.read(measured.result.data).rows or ()
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
                report_variable(client, queries, kind.name, sample, writer)
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
    queries: Iterable[ListQuery],
    scalar: str,
    sample: object,
    writer: ReportWriter,
) -> None:
    """Report whether a variable of a scalar takes a value as it came, and in the other form."""
    subject = f"{scalar}: variable"
    places = [(query, find_argument(query.declared.args, scalar)) for query in queries]
    query, place = next((it for it in places if it[1] is not None), (None, None))
    if query is None or place is None:
        writer.skip(subject, "no argument of these lists takes it")
        return
    text = query.write({place: "$v"}).replace("{", f"query ($v: {scalar}) {{", 1)
    taken, refused = list[str](), list[str]()
    for value in list_forms(sample):
        result, _ = client.ask(text, {"v": value})
        shown = sanitize_text(json.dumps(value, ensure_ascii=False, default=str), 60)
        # Errors beside the rows are those of their fields.
        is_taken = result is not None and query.read(result.data).rows is not None
        (taken if is_taken else refused).append(shown)
    evidence = f"as {query.name}({'.'.join(map(str, place))})"
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


def find_argument(
    members: Mapping[str, Any], scalar: str, outer: tuple[str, ...] = ()
) -> tuple[str, ...] | None:
    """Return the path to an argument, or a member of one, that takes a scalar; None if none does.

    Members are at most three levels below their argument.
    """
    for name, member in members.items():
        kind, path = get_nullable_type(member.type), (*outer, name)
        if getattr(kind, "name", "") == scalar:
            return path
        fields = {} if is_list_type(kind) or len(path) > 3 else getattr(kind, "fields", {})
        inner = find_argument(fields, scalar, path)
        if inner is not None:
            return inner
    return None
