"""Lists whose arguments have no usual names: experiments find how they go on, or say that none did.

Services are drawn at random: paged by an offset, a page number, two bounds, a size alone or the id
of a row, counted from 0 or 1, with names that mean nothing or the usual ones, with filters beside
them, and with largest sizes that are refused or cut. A complete report must mean all rows.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from gqlnb import OptionError
from tests.client.paging.lists import (
    assert_whole,
    build_client,
    build_page,
    build_rows,
    fail,
    fetch,
    read_rows,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gqlnb import Result

KINDS = ("offset", "page", "bounds", "size", "row", "none")
USUAL = {"size": "limit", "offset": "offset", "page": "page", "bounds": "start", "row": "after"}
FILTERS = ("least: Int", "word: String", "depth: Int = 2", "weight: Float = 1.5")
SERVICES = 150  # in each of the tests below


@dataclass
class Service:
    """A service with one list.

    Attributes
    ----------
    kind
        How the list is paged.
    count
        The number of rows.
    size
        The rows of a page without an argument for their number.
    most
        The largest number of rows; None for no limit.
    refuses
        Whether more are refused, and not cut.
    base
        The number of the first row or page.
    has_default
        Whether the schema gives the size as a default.
    is_counted
        Whether a count of all rows is beside the list.
    place, length
        The names of the arguments for the position and the number of rows.
    others
        The arguments beside them.
    """

    kind: str
    count: int
    size: int
    most: int | None
    refuses: bool
    base: int
    has_default: bool
    is_counted: bool
    place: str
    length: str
    others: tuple[str, ...]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """All rows."""
        return [{"id": f"k{n:04}", "weight": n % 7} for n in range(self.count)]

    @property
    def sdl(self) -> str:
        """The schema."""
        arguments = list(self.others)
        if self.kind in {"offset", "page", "size", "row"}:
            default = f" = {self.size}" if self.has_default else ""
            arguments.append(f"{self.length}: Int{default}")
        if self.kind == "bounds":
            arguments.append(f"{self.length}: Int = {self.size + self.base}")
        if self.kind in {"offset", "page", "bounds"}:
            arguments.append(f"{self.place}: Int = {self.base}")
        if self.kind == "row":
            arguments.append(f"{self.place}: String")
        given = f"({', '.join(arguments)})" if arguments else ""
        page = "Page type Page { total: Int! rows: [Row!]! }" if self.is_counted else "[Row!]!"
        row = "type Row { id: ID! weight: Int kids(first: Int, after: String): Nodes! }"
        return f"list{given}: {page} {row}"

    def resolve(self, args: Mapping[str, Any]) -> object:
        """Return the rows that the arguments ask for."""
        rows = [row for row in self.rows if row["weight"] >= (args.get("least") or 0)]
        length, place = args.get(self.length), args.get(self.place)
        is_number = self.kind in {"offset", "page", "bounds"}
        begin = max(0, (place or 0) - self.base) if is_number else 0
        if self.kind == "bounds":
            length = max(0, (length or 0) - self.base - begin)
        size = self.size if length is None or self.kind == "none" else length
        if self.most is not None and size > self.most:
            size = fail("more than this service returns") if self.refuses else self.most
        if self.kind == "page":
            begin *= size
        if self.kind == "row":
            begin = next((n for n, row in enumerate(rows, 1) if row["id"] == place), 0)
        part = rows[begin : begin + size]
        return {"total": len(rows), "rows": part} if self.is_counted else part


def draw_service(seed: int) -> Service:
    """Return one of the services."""
    rng = random.Random(seed)
    kind = rng.choice(KINDS)
    size = rng.choice([10, 20, 25, 30, 50, 100])
    is_usual = rng.random() < 0.3
    return Service(
        kind,
        rng.choice([0, 3, 10, 13, 20, 37, 50, 99, 100, 113, 150, 230, rng.randint(1, 300)]),
        size,
        rng.choice([None, size, size * 2, 100]) if size < 100 else rng.choice([None, 100]),
        rng.random() < 0.3,
        rng.choice([0, 1]),
        rng.random() < 0.7,
        rng.random() < 0.3,
        USUAL.get(kind, "") if is_usual else "blip",
        USUAL["size"] if is_usual else "zork",
        tuple(rng.sample(FILTERS, rng.choice([0, 0, 1, 2]))),
    )


def resolve_kids(row: Any, args: Mapping[str, Any], _context: object) -> object:
    """Return a page of the lists in the rows, which have 0 to 8 rows."""
    rows = [{"id": f"{row['id']} {n}"} for n in range(int(row["id"][1:]) % 9)]
    return build_page(rows, args.get("after"), args.get("first") or 20)


def fetch_all(service: Service, given: str = "", below: str = "", **options: Any) -> Result:
    """Return all pages of the list of a service, with the arguments that the query gives."""
    rows = f"{{ rows {{ id {below} }} }}" if service.is_counted else f"{{ id {below} }}"
    kids = {"Row": {"kids": resolve_kids}}
    return fetch(service.sdl, service.resolve, f"{{ list{given} {rows} }}", kids, **options)


def judge(service: Service, result: Result) -> str:
    """Return whether the rows and the report are right; raise if a report claims too much."""
    got = [row["id"] for row in read_rows(result)]
    whole = [row["id"] for row in service.rows]
    report = result.report
    assert report is not None
    assert set(got) <= set(whole)
    assert len(set(got)) == len(got), (service, report.notes)
    if report.complete:
        assert got == whole, (service, report.notes)
        return "right"
    return "doubted" if got == whole else "short, and said"


@pytest.mark.parametrize("first", [0, 1000, 2000, 3000])
def test_a_complete_report_means_all_rows(first):
    """Whatever the arguments are called; most lists are read whole."""
    found = Counter(
        judge(service, fetch_all(service))
        for service in map(draw_service, range(first, first + SERVICES))
    )
    assert found["right"] >= 0.72 * SERVICES, found
    assert found["doubted"] <= 0.16 * SERVICES, found


@pytest.mark.parametrize("first", [4000, 5000])
def test_a_complete_report_means_all_rows_with_a_written_size(first):
    """Of the size that the service has by default, or at most."""
    services = [
        service
        for service in map(draw_service, range(first, first + SERVICES))
        if service.kind in {"offset", "page", "size", "row"} and service.count
    ]
    found: Counter[str] = Counter()
    for number, service in enumerate(services):
        size = service.most or service.size if number % 2 else service.size
        found[judge(service, fetch_all(service, f"({service.length}: {size})"))] += 1
    assert found["right"] >= 0.4 * len(services), found


@pytest.mark.parametrize("size", [2, 10])
def test_a_complete_report_means_all_rows_that_have_pages_of_their_own(size):
    """The names of arguments prove nothing about the outer list, either."""
    below = f"kids(first: {size}) {{ nodes {{ id }} pageInfo {{ hasNextPage endCursor }} }}"
    services = map(draw_service, range(7000, 7000 + SERVICES))
    found = Counter(judge(service, fetch_all(service, below=below)) for service in services)
    assert found["right"] >= 0.65 * SERVICES, found


def test_without_experiments_a_list_that_may_be_cut_is_doubted():
    """The report says why, and no further request is sent."""
    for service in map(draw_service, range(SERVICES)):
        result = fetch_all(service, experiments=False)
        judge(service, result)
        assert result.report.requests == 1


def test_a_filter_that_looks_like_a_page_number_is_not_followed():
    """The ids of the second season follow those of the first, as those of a second page would."""
    client = build_client(
        "episodes(season: Int = 1): [Row!]! type Row { id: ID! season: Int }",
        lambda args: build_rows(60)[20 * args["season"] - 20 : 20 * args["season"]],
    )
    with pytest.warns(UserWarning, match="20 rows is a usual limit"):
        result = client.execute_all("{ episodes { id } }", progress=False)
    assert len(result.data["episodes"]) == 20
    result = client.execute_all("{ episodes { id } }", progress=False, paging={"season": "page"})
    assert read_rows(result) == build_rows(60)
    with pytest.raises(OptionError, match="paging= takes roles"):
        client.execute_all("{ episodes { id } }", paging={"season": "sides"})


@pytest.mark.parametrize("count", [19, 20, 40, 137, 1000])
@pytest.mark.parametrize(
    ("default", "most", "included"), [(20, 100, 0), (20, 10**6, 1), (100, 100, 0), (10, 50, 1)]
)
def test_an_upper_bound_without_a_value_is_not_taken_for_a_size(count, default, most, included):
    """As of `startRow:` and `endRow:` of AG Grid; a lower one moves the rows, too."""

    def resolve(args: dict[str, Any]) -> Any:
        start, end = args.get("startRow") or 0, args.get("endRow")
        end = start + default if end is None else end + included
        return build_rows(count)[start : min(end, start + most)]

    result = fetch("rows(startRow: Int, endRow: Int): [Row!]!", resolve, "{ rows { id } }")
    got = read_rows(result)
    assert got == build_rows(len(got))
    assert result.report.complete == (len(got) == count)
    assert len(got) == count or most == 100


@pytest.mark.parametrize("holder", ["", "pageInfo"])
@pytest.mark.parametrize("flag", ["", "hasNextPage"])
@pytest.mark.parametrize("arguments", ["", "(limit: 50)"])
@pytest.mark.parametrize("name", ["scrollId", "bookmark"])
def test_a_cursor_may_have_any_name_that_is_the_argument_s_too(name, arguments, flag, holder):
    """Shopee's affiliate reports have `scrollId`, beside a size of 20 by default, 50 at most."""
    fields = f"{name}: String" + (f" {flag}: Boolean" if flag else "")

    def resolve(args: dict[str, Any]) -> Any:
        start, size = int(args.get(name) or 0), min(args.get("limit") or 20, 50)
        end = start + size
        info = {name: str(end) if end < 137 else None, flag: end < 137}
        return {"nodes": build_rows(137)[start:end], **info, holder: info}

    sdl = f"""report(start: String, limit: Int, {name}: String): Page type Info {{ {fields} }}
      type Page {{ nodes: [Row!]! {f"{holder}: Info" if holder else fields} }}"""
    assert_whole(fetch(sdl, resolve, f"{{ report{arguments} {{ nodes {{ id }} }} }}"), range(137))


def test_a_page_that_repeats_an_argument_is_not_taken_for_one_with_a_cursor():
    """Although the rows of its value are others than those without one."""

    def resolve(args: dict[str, Any]) -> Any:
        rows = [{"id": f"{args.get('tag', 'all')}{n}"} for n in range(20)]
        return {"nodes": rows, "tag": args.get("tag", "blue")}

    sdl = "report(tag: String): Page type Page { nodes: [Row!]! tag: String }"
    result = fetch(sdl, resolve, "{ report { nodes { id } } }")
    assert [row["id"] for row in read_rows(result)] == [f"all{n}" for n in range(20)]
    assert "usual limit" in result.report.doubts[0]


def test_a_sample_is_not_called_complete():
    """Its rows are others in each answer."""
    draw = random.Random(1).sample
    sdl = "samples(amount: Int = 20): [Row!]!"
    result = fetch(sdl, lambda args: draw(build_rows(400), args["amount"]), "{ samples { id } }")
    assert len(read_rows(result)) == 20
    assert not result.report.complete


def test_roles_are_found_once_for_a_client():
    """The second query follows the list without experiments."""
    service = Service("offset", 95, 20, None, False, 0, True, False, "blip", "zork", ())
    client = build_client(service.sdl, service.resolve)
    first, second = (client.execute_all("{ list { id } }", progress=False) for _ in range(2))
    assert first.data == second.data
    assert any("`blip: 1`" in note for note in first.report.notes)
    assert not second.report.notes
    assert second.report.requests < first.report.requests


def test_lists_of_later_pages_are_judged_too():
    """No list of the first page has the usual length at which those of the second are cut."""
    sdl = """shelves(first: Int, after: String): Nodes! type Book { id: ID! }
    type Row { id: ID! books(word: String): [Book!]! }"""

    def resolve_books(shelf: Any, _args: object, _context: object) -> object:
        return build_rows(3 if int(shelf["id"]) < 10 else 20)

    result = fetch(
        sdl,
        lambda args: build_page(build_rows(20), args.get("after"), 10),
        "{ shelves(first: 10) { nodes { books { id } } } }",
        {"Row": {"books": resolve_books}},
    )
    assert "shelves.books: nothing shows that it is whole" in result.report.doubts[0]
    assert len(read_rows(result)) == 20
