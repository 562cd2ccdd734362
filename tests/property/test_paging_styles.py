"""For every style of paging all rows come, or the report says that this is not known.

Services with the conventions of `paging_styles.STYLES` are drawn at random: rows with or without
identifiers, page sizes, nested lists, and at most one fault. If a report is complete, the rows must
be those of the service; if the service has no fault, the report must be complete.
"""

from __future__ import annotations

import asyncio
import os
import warnings
from collections import Counter
from math import ceil
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from gqlnb import Client, GqlnbError, serve
from gqlnb.client.paging.completeness import SHARED_LIMIT
from tests.property.paging_styles import (
    STYLES,
    Counting,
    Service,
    World,
    make_schema,
    make_text,
    page_size,
    read_rows,
)

FAULTS = (
    *("ignores", "overlaps", "deletes", "inserts", "appends", "hides", "gap", "nulls", "fails"),
    *("counts less", "counts more", "counts page", "stops", "goes on"),
)
INNER = ("relay", "relay, no count, nodes", "hasura", "postgraphile", "hotchocolate", "bare")
EXCESSES = ("clamp", "default", "400", "errors", "null", "mute")
# How rows that a key identifies are asked for again.
LOOKUPS = {"id": ("node", "id", "pk", ""), "nodeId": ("nodeId", ""), "none": ("pair", "")}
SEVERAL = ("id", "id", "id", "nodeId", "none", "equal", "union", "interface", "apart", "twice")
APART = frozenset({"id", "nodeId", "none", "apart", "union", "interface"})  # no rows are alike
# A change is judged by the same worlds each time; elsewhere every run finds others.
IS_GATE = "CI" in os.environ
UNPROVED = frozenset({"bare", "deep", "limit", "first, said"})  # nothing shows that all came
# Faults that lists in which rows stand at a number cannot show: nothing in the pages is wrong.
UNSEEN = frozenset({"deletes", "gap"})


@st.composite
def worlds(draw: st.DrawFn, *, plain: bool = False) -> World:
    """Draw a service and a query; a plain service has no fault, and shows that all rows came."""
    style = draw(st.sampled_from(sorted(set(STYLES) - (UNPROVED if plain else set()))))
    keyed = draw(st.sampled_from([each for each in SEVERAL if not plain or each in APART]))
    fault = draw(st.sampled_from(["", "", *FAULTS])) if style != "bare" and not plain else ""
    size = draw(st.sampled_from([None, 1, 2, 3, 5, 10, 25, 100]))
    most = draw(st.sampled_from([None, None, 5, 8, 10, 20]))
    if plain and size is not None and most is not None:
        most = max(size, most)
    excess = draw(st.sampled_from(EXCESSES[: -1 if plain else None]))
    if size is None and excess in {"400", "errors", "null"}:
        most = None  # no service refuses the size that it chooses itself
    start = draw(st.sampled_from([None, None, None, 0, 4]))
    lookup, inner = "", ""
    if keyed in LOOKUPS:
        inner = draw(st.sampled_from(["", "", *INNER]))
        lookup = draw(st.sampled_from(LOOKUPS[keyed][: -1 if plain else None]))
    return World(
        style,
        draw(st.sampled_from([0, 1, 3, 9, 10, 11, 20, 37, 60])),
        keyed,
        size,
        start if STYLES[style].starts and fault != "ignores" else None,
        most,
        excess,
        draw(st.sampled_from([5, 10])),
        fault,
        inner,
        draw(st.sampled_from([0, 2, 7])) if inner else 0,
        draw(st.sampled_from([None, 1, 2, 5])) if inner else None,
        lookup,
        secretive=not plain and draw(st.sampled_from([False] * 9 + [True])),
        toys=draw(st.sampled_from([0, 3])) if inner else 0,
        required=not inner and draw(st.booleans()),
    )


# -- expectations


def shorten(world: World, rows: list[Any]) -> list[Any]:
    """Return the rows of an answer as tuples of the name and the names of nested rows."""
    inner = STYLES.get(world.inner)
    short = []
    for row in rows:
        if row is None:
            short.append(None)
            continue
        assert row.keys() <= {"name", "kids"}, f"fields of ours show: {row}"
        kids = [] if inner is None else read_rows(inner, row["kids"])
        names = [row["name"]]
        for kid in kids:
            assert kid.keys() <= {"name", "toys"}, f"fields of ours show: {kid}"
            toys = read_rows(inner, kid["toys"]) if inner and world.toys else []
            assert all(toy.keys() == {"name"} for toy in toys), f"fields of ours show: {toys}"
            names += [kid["name"], *(toy["name"] for toy in toys)]
        short.append(tuple(names))
    return short


def truth(world: World, rows: list[Any]) -> list[Any]:
    """Return the rows of a service as such tuples."""
    found = []
    for row in rows:
        names = [] if row is None else [row["name"]]
        for kid in row["kids"] if row is not None and world.inner else []:
            names += [kid["name"], *(toy["name"] for toy in kid["toys"])]
        found.append(None if row is None else tuple(names))
    return found


def is_right(world: World, service: Service, rows: list[Any]) -> bool:
    """Return whether rows are those of the service; while they change, those that stayed."""
    there = truth(world, service.expected())
    if not service.gone and not service.came:
        return rows == there
    stayed = Counter(truth(world, [r for r in service.asked if r not in service.gone]))
    known = Counter(truth(world, [*service.rows, *service.gone]))
    return not stayed - Counter(rows) and not Counter(rows) - known


def is_hidden(world: World) -> bool:
    """Return whether no client can notice the fault."""
    style = STYLES[world.style]
    counted = style.counts and not world.start and not world.secretive
    if world.fault in {"counts less", "counts page"}:
        # A count of as many rows proves a list, unless its size is reached, too.
        is_reached = world.size is not None and world.size <= (world.most or world.size)
        is_proof = not is_reached if world.fault == "counts page" else not style.relay
        return is_proof or world.style in {"strapi, pages", "magento"}  # both counts are wrong
    if world.fault == "hides" and world.style in {"deep", "limit", "first, said"}:
        return True  # a shorter list is the end
    if world.fault == "inserts":
        return world.style == "relay, backward"  # rows in front shift its offsets
    if world.fault in {"ignores", "overlaps"} and world.style == "relay, backward":
        # Its first page is the wrong one, and lacks the last row.
        return world.fault == "ignores" or not counted
    if world.fault == "stops":
        return not counted
    empty = world.fault == "hides" and page_size(world) == 1
    # A list shorter than the one size, and of a length at which services cut none, is whole.
    is_cut = world.style in {"limit", "first, said"} and world.most is not None
    return is_cut or (
        (world.fault in UNSEEN or empty)
        and not counted
        and not (style.flags and world.fault != "deletes")
    )


def is_plain(world: World) -> bool:
    """Return whether the service has no fault, and shows that all rows came."""
    limited = world.most is not None and world.excess == "mute"
    reachable = bool(world.lookup) or not world.kids or world.inner == "bare"
    if world.toys and world.lookup == "":
        reachable = world.inner == "bare" or not world.kids
    within = world.most is None or (world.size or 0) <= world.most
    known = not world.secretive and world.style not in UNPROVED
    # Nothing tells a page from a filter; and a count beside no rows speaks against a place.
    unclear = world.start and (page_size(world) == 1 or world.total <= world.start)
    behaves = not world.fault and not limited and within and not unclear
    return behaves and known and reachable and world.keyed in APART


def name_rows(world: World) -> str:
    """Return the dotted name of the list of a world's rows."""
    style = STYLES[world.style]
    return "rows" if style.relay else ".".join(("rows", *style.steps))


def bound_requests(world: World) -> int:
    """Return the number of requests that suffices for a service."""
    size = max(1, min(page_size(world), world.most or 10**6))
    if world.most is not None and world.excess == "default":
        size = min(size, world.default)
    kids = ceil(world.kids / (world.inner_size or 10)) + 1 if world.inner else 0
    pages = ceil((world.total + 2) / size)
    toys = ceil(world.toys / (world.inner_size or 10)) + 1 if world.toys else 0
    lists = world.total * (kids + world.kids * toys)
    return 9 + 2 * pages + ceil(lists / 10) + pages * (kids + toys)


def ask(world: World, way: str = "all") -> tuple[Any, Service, Counting, list[str]]:
    """Return the answer to the query of a world, the service, the transport, and the warnings."""
    service = Service(world)
    transport = Counting(service, 3 * bound_requests(world) + 20)
    client = Client(transport, schema=None if world.secretive else transport.served)
    with warnings.catch_warnings(record=True, action="always") as said:
        text = make_text(world)
        if way == "all":
            answer: Any = client.execute_all(text, progress=False, follow="all")
        elif way == "aall":
            answer = asyncio.run(client.aexecute_all(text, progress=False, follow="all"))
        else:
            answer = list(client.pages(text, progress=False, follow="all"))
    return answer, service, transport, [str(each.message) for each in said]


def check(world: World) -> str:
    """Check the answer to the query of a world; return its classification."""
    try:
        result, service, transport, said = ask(world)
    except GqlnbError:
        if is_plain(world):
            raise
        return "error"
    report = result.report
    rows = shorten(world, read_rows(STYLES[world.style], (result.data or {}).get("rows")))
    right = is_right(world, service, rows)
    assert report.requests == transport.sent
    if report.complete:
        assert right or is_hidden(world), f"silently wrong: {rows}"
        assert not said, said
    else:
        assert len(said) == 1, said
    if is_plain(world):
        assert right, f"wrong: {report} {report.doubts} {rows}"
        assert report.complete, f"needlessly incomplete: {report} {report.doubts}"
        assert transport.sent <= bound_requests(world), f"{transport.sent} requests"
    if rows:
        with warnings.catch_warnings(action="ignore"):
            frame = result.frame(name_rows(world), strict=False)
        assert frame.attrs["partial"] == (not report.complete or bool(result.errors))
        assert len(frame) == len([row for row in rows if row is not None])
        assert not [name for name in frame if "gqlnb" in name or name == "__typename"]
    return "complete" if report.complete else "incomplete"


@settings(max_examples=200, deadline=None, derandomize=IS_GATE)
@given(worlds())
@example(World("hasura", 9, "equal", size=2, default=5, fault="hides"))
@example(World("appsync", 20, size=25, most=20, excess="null", default=5))
@example(World("pages from 0", 11, "equal", size=1, start=4, default=5))
@example(World("directus", 20, size=10, default=5, fault="hides"))
@example(World("deep", 9, "equal", size=3, start=4, default=5))
@example(World("strawberry django", 9, "equal", default=5, fault="hides"))
@example(World("postgraphile", 10, size=10, start=4, most=5, default=5))
@example(World("deep", 9, size=2, start=4, default=5, fault="overlaps"))
@example(World("pages from 0", 9, "twice", size=3, start=4, default=5))
@example(World("pages from 0", 4, "equal", size=1, default=5))
@example(World("directus", 3, "none", size=1, default=5, lookup="pair"))
@example(World("deep", 10, "equal", size=2, start=4, default=5))
@example(World("pages from 0", 3, size=2, default=5, lookup="node"))
@example(World("deep", 37, "equal", size=3, start=4, default=5))
def test_a_complete_report_means_all_rows(world):
    """If rows may be missing, the report is incomplete."""
    check(world)


@settings(max_examples=40, deadline=None, derandomize=IS_GATE)
@given(worlds(plain=True).filter(is_plain))
def test_every_paging_method_gives_the_same_rows(world):
    """One result, single pages, with and without an event loop."""
    style = STYLES[world.style]
    whole, service, _, _ = ask(world)
    expected = truth(world, service.expected())
    again, _, _, _ = ask(world, "aall")
    assert again.data == whole.data
    assert again.report == whole.report
    pages, _, _, said = ask(world, "pages")
    # Page by page, lists that have together as many rows as one may have are not requested again.
    assert not [text for text in said if SHARED_LIMIT not in text]
    parts = [shorten(world, read_rows(style, page.data["rows"])) for page in pages]
    backward = world.style == "relay, backward"
    assert [row for part in (parts[::-1] if backward else parts) for row in part] == expected
    assert not any(page.report.complete for page in pages[:-1])


@settings(max_examples=40, deadline=None, derandomize=IS_GATE)
@given(worlds(plain=True).filter(is_plain))
def test_pages_in_the_middle_do_not_warn(world):
    """They are incomplete only because more pages follow."""
    pages, _, _, _ = ask(world, "pages")
    for page in pages:
        rows = read_rows(STYLES[world.style], page.data["rows"])
        with warnings.catch_warnings(action="error"):
            frame = page.frame(name_rows(world)) if rows else None
        if frame is not None:
            assert frame.attrs["partial"] == (page is not pages[-1] or not page.report.complete)


@settings(max_examples=8, deadline=None)
@given(worlds(plain=True).filter(is_plain))
def test_a_new_client_over_http_finds_the_same_rows(world):
    """The client loads the schema and follows the same lists."""
    whole, _, _, _ = ask(world)
    schema = make_schema(Service(world))
    with serve(schema, port=0) as server, Client(server.url) as client:
        result = client.execute_all(make_text(world), progress=False, follow="all")
    assert result.data == whole.data
    assert result.report.complete == whole.report.complete
