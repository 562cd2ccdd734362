"""Requests without gqlnb, against which the lines of a report are checked."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gqlnb.client.endpoint_report.report import EndpointReport, ReportLine
    from tests.servers.described.table import KnownList

__all__ = ["RawEndpoint", "list_faults"]

MEDIA_TYPES = "application/graphql-response+json, application/json;q=0.9"
REQUESTS: dict[str, Any] = {
    "syntax error": {"query": "{"},
    "invalid document": {"query": "{ gqlnbNoSuchField }"},
    "unknown operation": {"query": "query A { __typename }", "operationName": "C"},
    "wrong variable": {
        "query": "query ($x: Boolean!) { __typename @skip(if: $x) }",
        "variables": {"x": "no"},
    },
    "missing variable": {"query": "query ($x: Boolean!) { __typename @skip(if: $x) }"},
    "arrays of requests": [{"query": "{ __typename }"}] * 2,
}


class RawEndpoint:
    """An endpoint, asked with the standard library.

    Parameters
    ----------
    url
        Its address.
    """

    def __init__(self, url: str) -> None:
        self.url = url

    def send(self, members: Any, accept: str = MEDIA_TYPES) -> tuple[int, Any]:
        """Return the status and the JSON of a response, None if it has none."""
        status, text = self.post(members, accept)
        return status, read_json(text)

    def get(self, query: str) -> tuple[int, Any]:
        """Return the status and the JSON of a response to a GET."""
        request = urllib.request.Request(f"{self.url}?query={urllib.request.quote(query)}")
        status, text = self._read(request)
        return status, read_json(text)

    def post(self, members: Any, accept: str = MEDIA_TYPES) -> tuple[int, str]:
        """Return the status and the body of a response."""
        headers = {"Content-Type": "application/json", "Accept": accept}
        return self._read(urllib.request.Request(self.url, json.dumps(members).encode(), headers))

    def _read(self, request: urllib.request.Request) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode(errors="replace")

    def read_nan(self, query: str) -> str:
        """Return how the response to a query writes a Float that is NaN."""
        if not query.startswith("{"):
            return query
        status, text = self.post({"query": query})
        bare = list[str]()
        try:
            answer = json.loads(text, parse_constant=bare.append)
        except ValueError:
            return f"HTTP {status}, no JSON"
        if bare:
            return f"bare {bare[0]}, which is not JSON"
        value = answer.get("data")
        while isinstance(value, dict | list):
            value = next(iter(value.values() if isinstance(value, dict) else value))
        if not answer.get("errors"):
            return json.dumps(value)
        message = str(answer["errors"][0]["message"]).splitlines()[0]
        return f"{json.dumps(value)} and an error, HTTP {status}: {message:.80}"

    def describe_parts(self, query: str) -> str:
        """Return how the response to a query with ``@defer`` or ``@stream`` comes."""
        _, text = self.post({"query": query}, "multipart/mixed, application/json")
        if re.search(r'"hasNext":\s*true', text):
            return "in parts"
        return "refused" if '"errors"' in text or '"data"' not in text else "in one answer"

    def describe_null(self, known: KnownList, argument: str) -> str:
        """Return what an explicit null as an argument of a list does."""
        rows = self.list_ids(known, write(argument, "null"))
        return "refused" if rows is None else f"{len(rows)} rows"

    def list_ids(self, known: KnownList, arguments: str = "") -> list[str] | None:
        """Return the ids of the rows of a list; None if there is no list in the answer."""
        text = known.text.replace("()", f"({arguments})" if arguments else "")
        _, value = self.send({"query": text})
        value = value.get("data") if isinstance(value, dict) else None
        path = [step for step in known.path if step != "node"]
        for step in path:
            value = value.get(step) if isinstance(value, dict) else None
        if not isinstance(value, list):
            return None
        rows = [row["node"] for row in value] if known.path[-1] == "node" else value
        return [str(next(iter(row.values()))) for row in rows]


def read_json(text: str) -> Any:
    """Return the JSON in a text; None if it has none."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def list_faults(report: EndpointReport, url: str, lists: dict[str, KnownList]) -> Iterator[str]:
    """Yield the lines of a report that requests without gqlnb contradict."""
    raw = RawEndpoint(url)
    lines = {line.subject: line for line in report}
    yield from check_protocol(lines, raw)
    yield from check_parts(lines, raw, lists)
    for name, known in lists.items():
        own = {
            subject.removeprefix(f"{name}: "): line
            for subject, line in lines.items()
            if subject.startswith(f"{name}: ")
        }
        for fault in check_list(own, raw, known):
            yield f"{name}: {fault}"


def check_protocol(lines: dict[str, ReportLine], raw: RawEndpoint) -> Iterator[str]:
    """Yield the wrong lines on the protocol."""
    for subject, members in REQUESTS.items():
        status, value = raw.send(members)
        finding = lines[subject].finding
        if isinstance(members, list):
            is_right = (
                finding == "answered"
                if isinstance(value, list) and status == 200
                else (finding == f"refused, HTTP {status}")
            )
        else:
            names = set(value) & {"data", "errors"} if isinstance(value, dict) else set()
            is_right = finding.startswith(f"HTTP {status}") and all(it in finding for it in names)
        if not is_right:
            yield f"{subject}: {finding!r}, and the answer is HTTP {status} {value!s:.80}"
    status, value = raw.get("{ __typename }")
    is_answered = isinstance(value, dict) and bool(value.get("data"))
    if (lines["GET"].finding == "answered") != is_answered:
        yield f"GET: {lines['GET'].finding!r}, and the answer is HTTP {status}"


def check_parts(
    lines: dict[str, ReportLine], raw: RawEndpoint, lists: dict[str, KnownList]
) -> Iterator[str]:
    """Yield the wrong lines on answers in parts; a directive that is not declared is refused."""
    queries = {"@defer": "{ ... @defer { __typename } }"}
    for known in lists.values():
        *_, name = (step for step in known.path if step != "node")
        text = known.text.replace("()", "")
        queries["@stream"] = re.sub(rf"\b{name}\b", f"{name} @stream", text)
    for subject, query in queries.items():
        finding, came = lines[subject].finding, raw.describe_parts(query)
        if not finding.replace("not declared", "refused").startswith(came):
            yield f"{subject}: {finding!r}, and the answer is {came}"


def check_list(lines: dict[str, ReportLine], raw: RawEndpoint, known: KnownList) -> Iterator[str]:
    """Yield the wrong lines on a list."""
    first = raw.list_ids(known)
    assert first is not None, known
    kinds = {
        line.finding: subject[1:-1] for subject, line in lines.items() if subject.startswith("`")
    }
    shown = lines["default page"].finding
    if shown != f"{len(first)} rows":
        yield f"default page is {len(first)} rows, not {shown!r}"
    size = kinds.get("size")
    yield from check_roles(kinds, raw, known, first)
    if size is not None and "largest page" in lines:
        yield from check_largest(lines, raw, known, size)
    if size is not None and "size 0" in lines:
        none = raw.list_ids(known, write(size, 0))
        finding = lines["size 0"].finding
        expected = "refused" if none is None else f"{len(none)} rows"
        if not finding.startswith(expected):
            yield f"size 0 is {expected}, not {finding!r}"
    yield from check_ends(lines, kinds, raw, known, first)
    count = lines.get("count")
    if count is not None and "agrees" in count.finding and str(known.length) not in count.finding:
        yield f"{known.length} rows, and the count is {count.finding!r}"
    if "paging" in lines and "whole" in lines["paging"].finding and len(first) != known.length:
        yield f"the first page has {len(first)} of {known.length} rows, and is called whole"


def check_ends(
    lines: dict[str, ReportLine],
    kinds: dict[str, str],
    raw: RawEndpoint,
    known: KnownList,
    first: list[str],
) -> Iterator[str]:
    """Yield what is wrong about unknown cursors, and offsets beyond all rows."""
    # Of the length that the report's has: graphql-ruby refuses one that is no base64.
    offset, cursor = kinds.get("offset", ""), kinds.get("cursor", "")
    ends = {
        "bad cursor": (cursor, '"gqlnb-another-cursor"'),
        f"`{offset}` beyond the end": (offset, "900000"),
    }
    for subject, (name, value) in ends.items():
        if subject in lines and name:
            rows = raw.list_ids(known, write(name, value))
            others = (
                "the first page, silently" if rows == first else f"{len(rows or ())} other rows"
            )
            expected = "error" if rows is None else others if rows else "no rows"
            if not lines[subject].finding.startswith(expected):
                yield f"{subject} is {expected}, not {lines[subject].finding!r}"


def check_roles(
    kinds: dict[str, str], raw: RawEndpoint, known: KnownList, first: list[str]
) -> Iterator[str]:
    """Yield the arguments whose role is another one."""
    size, offset, page = (kinds.get(kind) for kind in ("size", "offset", "page"))
    if size is not None and raw.list_ids(known, write(size, 3)) != first[:3]:
        yield f"{size} is not a size"
    if offset is not None:
        rows = raw.list_ids(known, write(offset, 3))
        if rows is None or rows[:5] != first[3:8]:
            yield f"{offset} is not an offset"
    if page is not None and size is not None:
        rows = raw.list_ids(known, f"{write(size, 3)}, {write(page, 2)}")
        zero = raw.list_ids(known, f"{write(size, 3)}, {write(page, 1)}")
        if first[3:6] not in (rows, zero):
            yield f"{page} is not a page number"


def check_largest(
    lines: dict[str, ReportLine], raw: RawEndpoint, known: KnownList, size: str
) -> Iterator[str]:
    """Yield what is wrong about the largest page."""
    finding = lines["largest page"].finding
    match = re.fullmatch(r"(at least )?(\d+) rows", finding)
    if match is None:
        return
    number = int(match[2])
    reached = raw.list_ids(known, write(size, number))
    if reached is None or len(reached) != number:
        yield f"largest page is not {finding!r}: {number} were asked for"
    above = raw.list_ids(known, write(size, number + 1))
    if not match[1] and above is not None and len(above) > number:
        yield f"{number + 1} rows came, and the largest page is {finding!r}"
    if "above it" in lines and (lines["above it"].finding == "refused") != (above is None):
        yield f"above it: {lines['above it'].finding!r}, and the answer has {above and len(above)}"


def write(path: str, value: int | str) -> str:
    """Return a dotted argument with a value, as GraphQL."""
    name, _, rest = path.partition(".")
    return f"{name}: {{{write(rest, value)}}}" if rest else f"{name}: {value}"
