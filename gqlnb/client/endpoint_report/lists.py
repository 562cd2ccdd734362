"""How an endpoint pages a list: the roles of its arguments, its page sizes, counts and cursors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from gqlnb.client.endpoint_report.list_queries import FIRST_SIZE, ListQuery, NestedList, Reading
from gqlnb.client.endpoint_report.meter import RequestLimitError
from gqlnb.client.endpoint_report.report import NOT_TRIED
from gqlnb.client.paging.experiments import Finding, RoleSearch, find_sign_of_cut
from gqlnb.client.paging.page_size import find_size_limit, list_messages
from gqlnb.document.document import Document
from gqlnb.document.paged_fields import ListRole
from gqlnb.document.paging_conventions import PageArguments, format_argument
from gqlnb.document.paging_plan import PagingPlan
from gqlnb.document.suspect_lists import SIZE_WORDS, is_named_after
from gqlnb.errors import GqlnbError, sanitize_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphql import GraphQLSchema

    from gqlnb.client.endpoint_report.meter import MeteredClient
    from gqlnb.client.endpoint_report.report import ReportWriter
    from gqlnb.document.paging_conventions import ArgumentPath, PagingKind
    from gqlnb.document.suspect_lists import SuspectList
    from gqlnb.result.result import Result

MAX_REQUESTS = 30  # for one list
MAX_SIZE = 10_000  # rows asked for
MAX_PAGES = 6  # that are followed to compare a count
BAD_CURSOR = '"gqlnb-unknown-cursor"'
FAR_OFFSET = 1_000_000  # rows; a page that no list has
OFFSET_WORDS = "offset skip start"
SPENT = "the report has sent all of its requests"
HALVES = {"size": "first", "offset": "second"}
USUAL_LIMITS = (1000, 500, 250, 200, 100, 50)


class MeasuredList(NamedTuple):
    """What the experiments found out about a list, as paging and advice need it.

    Attributes
    ----------
    query
        The list.
    role
        How it is paged, if experiments found that; None for a convention, and if nothing was found.
    arguments
        The arguments by which it is paged.
    result
        The first answer.
    default
        The number of rows of a page without a size.
    largest
        The number of rows of the largest page; None if no limit was met.
    total
        The count beside the rows; None if there is none.
    is_whole
        Whether the first page has all rows.
    """

    query: ListQuery
    role: ListRole | None
    arguments: PageArguments
    result: Result
    default: int
    largest: int | None
    total: int | None
    is_whole: bool


class ListExaminer:
    """The experiments on one list.

    Parameters
    ----------
    client
        Sends the queries.
    schema
        The schema.
    query
        The list.
    writer
        Takes the lines.
    """

    def __init__(
        self,
        client: MeteredClient,
        schema: GraphQLSchema,
        query: ListQuery,
        writer: ReportWriter,
    ) -> None:
        self._client, self._schema, self._query, self._writer = client, schema, query, writer
        self._first = Reading([], None, {}, [], [])
        self._refusal: list[str] = []
        self._arguments = PageArguments("none")
        self._largest: Reading | None = None
        self._is_whole = False  # whether `_largest` has all rows
        self.is_empty = False  # whether the first page has no rows

    def add(self, subject: str, finding: object, evidence: str = "") -> None:
        """Add a line about the list."""
        self._writer.add(f"{self._query.name}: {subject}", finding, evidence)

    def run(self, *, may_be_empty: bool = True) -> MeasuredList | None:
        """Report on the list; return what was measured, or None if it cannot be queried.

        A list without rows, which tells little, ends it unless `may_be_empty`; see `is_empty`.
        """
        try:
            result = self._execute({}) or self._execute_with_size()
        except RequestLimitError:
            self.add("rows", NOT_TRIED, SPENT)
            raise
        if result is None:
            self.add("rows", NOT_TRIED, f"refused: {self._refusal[0]}")
            return None
        self._first = self._read(result)
        self.is_empty = not self._first.ids
        if self.is_empty and not may_be_empty:
            return None
        role, limit = None, None
        try:
            self._report_first(result)
            role = self._find_role(result)
            limit = self._find_largest()
            self._compare_count()
            self._try_ends()
            self._report_nested()
        except RequestLimitError:
            self.add("further experiments", NOT_TRIED, SPENT)
        default = len(self._first.ids)
        count = self._first.count
        return MeasuredList(
            self._query, role, self._arguments, result, default, limit, count, self._is_whole
        )

    # -- requests

    def _execute_with_size(self) -> Result | None:
        """Return the first rows of a list that is refused without a size."""
        query, refusal = self._query, self._refusal
        name = next((it for it in query.declared.args if is_named_after(it, SIZE_WORDS)), None)
        if name is None or (name,) in query.base:
            return None
        query.base[name,] = str(FIRST_SIZE)
        result = self._execute({})
        if result is None:
            self._refusal = refusal
        else:
            self.add("without a size", "refused", refusal[0])
        return result

    def _execute(self, values: Mapping[ArgumentPath, str]) -> Result | None:
        """Return the result with other arguments; None if it was refused."""
        try:
            result = self._client.execute(self._query.write(values))
        except GqlnbError as error:
            self._refusal = [sanitize_text(text, 200) for text in list_messages(error)]
            return None
        if not self._query.has_rows(result.data) and result.errors:
            messages = [str(it.get("message", "")) for it in result.errors]
            self._refusal = [sanitize_text(text, 200) for text in messages]
            return None
        return result

    def _read(self, result: Result) -> Reading:
        return self._query.read(result.data, list(result.errors))

    def _ask(self, values: Mapping[ArgumentPath, str]) -> Reading | None:
        result = self._execute(values)
        return None if result is None else self._read(result)

    # -- the first page

    def _report_first(self, result: Result) -> None:
        first = self._first
        asked = "without a size"
        if self._query.base:
            asked = ", ".join(f"{format_argument(k)}: {v}" for k, v in self._query.base.items())
        shown = "no rows" if not first.ids else f"{len(first.ids)} rows"
        self.add("default page", shown, f"asked {asked}")
        if first.errors:
            status = getattr(result.response, "status", None)
            where = "" if status is None else f"HTTP {status}: "
            self.add("errors beside data", len(first.errors), f"{where}{first.errors[0]}")
        again = self._ask({})
        if again is None:
            self.add("two readings", "refused", self._refusal[0])
        elif again.ids == first.ids:
            self.add("two readings", "agree", f"the same {len(first.ids)} rows in the same order")
        else:
            is_same = sorted(again.ids) == sorted(first.ids)
            finding = "other order" if is_same else "other rows"
            self.add("two readings", finding, "the same request, one after the other")

    # -- roles

    def _find_role(self, result: Result) -> ListRole | None:
        document = Document.parse(self._query.write(), schema=self._schema)
        plan = PagingPlan(document, roles={})
        paged = next((field for field in plan.fields if field.outer is None), None)
        if paged is not None:
            self._arguments = paged.arguments
            self._confirm_convention(is_connection=paged.is_connection)
            return None
        suspect = next((each for each in plan.suspects if not each.is_nested), None)
        if suspect is None:
            self.add("arguments", NOT_TRIED, "its rows are not recognized as a list")
            return None
        rows, counts = suspect.read_rows(result.data), suspect.read_counts(result.data)
        if not suspect.leaves:
            sign = find_sign_of_cut(suspect, len(self._first.ids), counts)
            self._is_whole = sign is not None and sign.is_complete
            reason = "it has no scalar arguments"
            self.add("arguments", "none that pages", f"{reason}; {sign.reason}" if sign else reason)
            return None
        search = RoleSearch(suspect, rows, counts, result.data, {})
        finding = self._run_search(search)
        evidence = "; ".join(text.partition(": ")[2] for text in search.trials) or "no request"
        if finding.role is not None:
            self._arguments = finding.role.arguments
        self._is_whole = finding.is_complete and finding.role is None
        if self._is_whole:
            self.add("paging", "the first page is whole", f"{finding.reason}; {evidence}")
            self._try_names(suspect)
        else:
            if self._arguments.position and not self._arguments.size:
                # A size that is at its end: experiments name none that cannot grow.
                size = self._find_named(suspect, SIZE_WORDS, is_size=True)
                self._arguments = replace(self._arguments, size=size)
            self._name_roles(evidence, finding.reason)
        return finding.role

    def _run_search(self, search: RoleSearch) -> Finding:
        """Send the requests of the experiments, and return their finding."""
        trials, answer = search.run(), None
        try:
            while True:
                trial = trials.send(answer)
                values = {leaf.path: leaf.format_value(v) for leaf, v in trial.values.items()}
                reply = self._execute(values)
                if reply is None:
                    search.refusal, answer = f": {self._refusal[0]}", None
                else:
                    answer = search.suspect.read_rows(reply.data)
                    search.new_counts = search.suspect.read_counts(reply.data)
        except StopIteration as stop:
            finding: Finding = stop.value
        return finding

    def _try_names(self, suspect: SuspectList) -> None:
        """Try the arguments of a whole list that are named like a size or an offset."""
        size = self._find_named(suspect, SIZE_WORDS, is_size=True)
        position = self._find_named(suspect, OFFSET_WORDS, is_size=False)
        kind: PagingKind = "offset" if position else "none"
        self._arguments = PageArguments(kind, position, "Int", size, default_position=0)
        for path, role in ((size, "size"), (position, "offset")):
            if path:
                half = len(self._first.ids) // 2
                evidence = f"`{path[-1]}: {half}` brought the {HALVES[role]} half"
                self.add(f"`{format_argument(path)}`", role, evidence)

    def _find_named(self, suspect: SuspectList, words: str, *, is_size: bool) -> ArgumentPath:
        """Return the argument whose half of the rows is that of a size, or of an offset."""
        first, half = self._first.ids, len(self._first.ids) // 2
        for leaf in suspect.leaves if half else ():
            if leaf.is_number and is_named_after(leaf.name, words):
                page = self._ask({leaf.path: leaf.format_value(half)})
                expected = first[:half] if is_size else first[half:]
                if page is not None and page.ids == expected:
                    return leaf.path
        return ()

    def _name_roles(
        self, evidence: str, reason: str = "", *, is_size: bool = True, is_position: bool = True
    ) -> None:
        """Report the roles of the arguments; "not tried" for one that is only named like it."""
        arguments = self._arguments
        for path, role, is_shown in (
            (arguments.position, arguments.kind, is_position),
            (arguments.size, "size", is_size),
        ):
            if path:
                why = evidence if is_shown else f"named like a {role}; {evidence}"
                self.add(f"`{format_argument(path)}`", role if is_shown else NOT_TRIED, why)
        if not arguments.position and not arguments.size:
            self.add("paging", "none found", f"{reason}; {evidence}")
        known = {arguments.position[:1], arguments.size[:1]}
        others = [name for name in self._query.declared.args if (name,) not in known]
        if others:
            self.add("other arguments", NOT_TRIED, ", ".join(others))

    def _confirm_convention(self, *, is_connection: bool) -> None:
        """Try the arguments of a convention: a small page, and the page behind it."""
        arguments, first = self._arguments, self._first
        half = len(first.ids) // 2
        if not half or not arguments.size:
            why = "there are too few rows" if arguments.size else "there is no size"
            self._name_roles(why, is_size=False, is_position=False)
            return
        page = self._ask({arguments.size: str(half)})
        if page is None or page.ids != first.ids[:half]:
            why = f"asked for {half}, and other rows came"
            self._name_roles(why, is_size=False, is_position=False)
            return
        evidence, is_position = f"asked for {half}, the first {half} came", False
        if is_connection and isinstance(page.info.get("endCursor"), str):
            cursor = sanitize_literal(page.info["endCursor"])
            behind = self._ask({arguments.size: str(half), arguments.position: cursor})
            rest = first.ids[half : half + 1]
            is_position = behind is not None and bool(rest) and behind.ids[:1] == rest
            came = "the rows" if is_position else "other rows than those"
            evidence = f"{evidence}; after their cursor {came} behind them"
        self._name_roles(evidence, is_position=is_position)

    # -- sizes

    def _find_largest(self) -> int | None:
        """Report the largest page; return its number of rows, None if no limit was met."""
        size, first = self._arguments.size, self._first
        if not size or not first.ids:
            return None
        tried: list[str] = []
        asked, best = len(first.ids) + 1, first
        while asked <= MAX_SIZE:
            page = self._ask({size: self._arguments.format_size(asked)})
            if page is None:
                return self._report_refused_size(asked, best, tried)
            tried.append(f"asked for {asked}, {len(page.ids)} came")
            if len(page.ids) >= len(best.ids):
                best = page
            if len(page.ids) < asked:
                return self._report_short_page(page, tried)
            asked *= 2
        self._largest = best
        self.add("largest page", f"at least {len(best.ids)} rows", tried[-1])
        return None

    def _report_refused_size(self, refused: int, best: Reading, tried: list[str]) -> int | None:
        """Find the largest size below one that was refused."""
        message, size = self._refusal[0], self._arguments.size
        named = find_size_limit(self._refusal, refused, len(best.ids))
        usual = [n for n in USUAL_LIMITS if len(best.ids) < n < refused]
        for asked in [named] if named is not None else usual[:3]:
            page = self._ask({size: self._arguments.format_size(asked)})
            if page is not None:
                best = page
                tried.append(f"asked for {asked}, {len(page.ids)} came")
                break
        above = self._ask({size: self._arguments.format_size(len(best.ids) + 1)})
        self._largest = best
        is_exact = above is None
        finding = f"{len(best.ids)} rows" if is_exact else f"at least {len(best.ids)} rows"
        self.add("largest page", finding, "; ".join(tried[-2:]) or "of the first answer")
        self.add("above it", "refused", f"asked for {refused}: {message}")
        return len(best.ids) if is_exact else None

    def _report_short_page(self, page: Reading, tried: list[str]) -> int | None:
        """Tell a page that the endpoint cut from the end of the list."""
        came = len(page.ids)
        self._largest = page
        follows = self._look_behind(page)
        if follows is None and page.count is not None:
            follows = page.count > came
        if follows is None:
            self.add("largest page", NOT_TRIED, f"{tried[-1]}: its limit, or all rows")
            return None
        if not follows:
            self._is_whole = True
            self.add("largest page", f"at least {came} rows", f"{tried[-1]}, which are all")
            return None
        self.add("largest page", f"{came} rows", tried[-1])
        self.add("above it", "cut silently", f"{tried[-1]}, and more rows follow")
        return came

    def _look_behind(self, page: Reading) -> bool | None:
        """Return whether rows follow a page; None if no argument tells."""
        kind, came = self._arguments.kind, len(page.ids)
        if kind == "cursor" and isinstance(page.info.get("hasNextPage"), bool):
            return bool(page.info["hasNextPage"])
        start = self._arguments.default_position or 0
        if kind == "offset":
            behind = self._ask({self._arguments.position: self._quote(start + came)})
            return bool(behind and behind.ids)
        if kind == "page":
            size = self._arguments.format_size(came)
            following = {self._arguments.position: self._quote(start + 1)}
            behind = self._ask({self._arguments.size: size, **following})
            return bool(behind and behind.ids)
        return None

    def _quote(self, value: int) -> str:
        is_quoted = self._arguments.position in self._arguments.quoted
        return f'"{value}"' if is_quoted else str(value)

    # -- counts

    def _compare_count(self) -> None:
        count, largest = self._first.count, self._largest or self._first
        if count is None:
            self.add("count", "none", "no field beside the rows counts them")
            return
        name = self._query.count_names[0]
        total, how = self._count_rows(largest)
        if total is None:
            self.add("count", f"`{name}`: {count}", f"whether it agrees was not tried: {how}")
        else:
            verdict = "agrees" if total == count else f"disagrees with {total} rows"
            self.add("count", f"`{name}`: {count}, {verdict}", how)

    def _count_rows(self, largest: Reading) -> tuple[int | None, str]:
        """Return the number of all rows, with the evidence; None with the reason if unknown."""
        count, arguments = self._first.count or 0, self._arguments
        if self._is_whole:
            return len(largest.ids), f"{len(largest.ids)} rows came in one answer"
        if arguments.kind == "offset" and count > 0:
            start = (arguments.default_position or 0) + count
            last = self._ask({arguments.position: self._quote(start - 1)})
            behind = self._ask({arguments.position: self._quote(start)})
            if last is not None and behind is not None:
                total = count if len(last.ids) == 1 and not behind.ids else None
                how = f"{format_argument(arguments.position)}: {start - 1} brought "
                how += f"{len(last.ids)} rows, {start} brought {len(behind.ids)}"
                return total, how
        if arguments.kind == "cursor" and largest.ids:
            return self._follow_cursors(largest)
        return None, "the pages would have to be followed"

    def _follow_cursors(self, page: Reading) -> tuple[int | None, str]:
        size = str(len(page.ids))
        total, pages = len(page.ids), 1
        while page.info.get("hasNextPage") and pages < MAX_PAGES:
            cursor = page.info.get("endCursor")
            after = {self._arguments.position: sanitize_literal(cursor)}
            behind = self._ask({self._arguments.size: size, **after})
            if behind is None or not behind.ids:
                return None, "a page behind a cursor did not come"
            page, pages, total = behind, pages + 1, total + len(behind.ids)
        if page.info.get("hasNextPage"):
            return None, f"{pages} pages of {size} rows are not all"
        return total, f"{total} rows came in {pages} pages"

    # -- the ends

    def _try_ends(self) -> None:
        arguments = self._arguments
        if arguments.size:
            page = self._ask({arguments.size: arguments.format_size(0)})
            if page is None:
                self.add("size 0", "refused", self._refusal[0])
            else:
                info = page.info.get("hasNextPage")
                more = "" if info is None else f", hasNextPage {str(info).lower()}"
                self.add("size 0", f"{len(page.ids)} rows{more}", f"`{arguments.size[-1]}: 0`")
        if arguments.kind == "cursor":
            self._report_end("bad cursor", {arguments.position: BAD_CURSOR})
        elif arguments.kind == "offset":
            far = {arguments.position: self._quote(FAR_OFFSET)}
            self._report_end(f"`{format_argument(arguments.position)}` beyond the end", far)

    def _report_end(self, subject: str, values: Mapping[ArgumentPath, str]) -> None:
        page = self._ask(values)
        asked = ", ".join(f"{format_argument(path)}: {text}" for path, text in values.items())
        if page is None:
            self.add(subject, "error", f"{asked}: {self._refusal[0]}")
        elif not page.ids:
            self.add(subject, "no rows", asked)
        elif page.ids == self._first.ids:
            self.add(subject, "the first page, silently", asked)
        else:
            self.add(subject, f"{len(page.ids)} other rows, silently", asked)

    # -- lists in the rows

    def _report_nested(self) -> None:
        """Report the length of the first list in the rows, and whether a larger size extends it."""
        nested = self._query.find_nested()
        if nested is None:
            return
        longest = self._measure_nested(nested, "")
        if longest is None:
            self.add(nested.name, NOT_TRIED, f"refused: {self._refusal[0]}")
            return
        subject = f"{nested.name}, in each row"
        came = f"the longest of the page has {longest} items"
        if nested.size is None or not longest:
            self.add(subject, NOT_TRIED, f"{came}, and no argument is named like a size")
            return
        asked = 2 * longest
        larger = self._measure_nested(nested, f"{nested.size}: {asked}")
        if larger is None:
            why = f"{asked} were refused: {self._refusal[0]}"
            self.add(subject, f"at most {longest} items", why)
        elif larger > longest:
            why = f"{came}, {larger} with {nested.size}: {asked}"
            self.add(subject, f"cut at {longest} items", why)
        else:
            why = f"{came}, no more with {nested.size}: {asked}: its limit, or all"
            self.add(subject, NOT_TRIED, why)

    def _measure_nested(self, nested: NestedList, arguments: str) -> int | None:
        """Return the length of the longest nested list; None if it was refused."""
        text = self._query.write(nested=nested.write(arguments))
        try:
            result = self._client.execute(text)
        except GqlnbError as error:
            self._refusal = [sanitize_text(text, 200) for text in list_messages(error)]
            return None
        if result.errors:
            self._refusal = [sanitize_text(result.errors[0].get("message", ""), 200)]
            return None
        rows = self._query.read(result.data, []).rows
        return max((nested.measure(row) for row in rows), default=0)


def sanitize_literal(value: Any) -> str:  # noqa: ANN401 - JSON
    """Return a cursor as a GraphQL literal."""
    import json

    return json.dumps(value)
