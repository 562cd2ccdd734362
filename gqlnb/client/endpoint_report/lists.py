"""How an endpoint pages a list: the roles of its arguments, its page sizes, counts and cursors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gqlnb.client.endpoint_report.list_queries import FIRST_SIZE, ListQuery, Reading
from gqlnb.client.endpoint_report.report import NOT_TRIED, RequestLimitError
from gqlnb.client.paging.experiments import Finding, RoleSearch, find_sign_of_cut
from gqlnb.client.paging.page_size import find_size_limit
from gqlnb.document.document import Document
from gqlnb.document.paged_fields import ListRole
from gqlnb.document.paging_conventions import PageArguments, format_argument
from gqlnb.document.paging_plan import PagingPlan
from gqlnb.document.suspect_lists import SIZE_WORDS, is_named_after

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from graphql import GraphQLSchema

    from gqlnb.client.endpoint_report.report import MeteredClient, ReportWriter
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
USUAL_LIMITS = (1000, 500, 250, 200, 100, 50)


class ListExaminer:
    """The experiments on one list, and what they found out, as paging and advice need it.

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

    Attributes
    ----------
    result, first
        The first answer, and its rows, once :meth:`request_first` returned True.
    role
        How it is paged, if experiments found that; None for a convention, and if nothing was found.
    arguments
        The arguments by which it is paged.
    limit
        The number of rows of the largest page; None if no limit was met.
    is_whole
        Whether a page has all rows.
    is_capped
        Whether the last of the rows that a count promises does not come.
    """

    result: Result
    first: Reading
    role: ListRole | None = None
    arguments = PageArguments("none")
    limit: int | None = None
    is_whole = False
    is_capped = False

    def __init__(
        self, client: MeteredClient, schema: GraphQLSchema, query: ListQuery, writer: ReportWriter
    ) -> None:
        self.query = query
        self._client, self._schema, self._writer = client, schema, writer
        self._refusal: list[str] = []

    def add(self, subject: str, finding: object, evidence: str = "") -> None:
        """Add a line about the list."""
        self._writer.add(f"{self.query.name}: {subject}", finding, evidence)

    def request_first(self) -> bool:
        """Request the first page; return whether one came.

        Raises
        ------
        RequestLimitError
            If no request is left.
        """
        try:
            result = self._execute({}) or self._execute_with_size()
        except RequestLimitError:
            self.add("rows", NOT_TRIED, SPENT)
            raise
        if result is None:
            self.add("rows", NOT_TRIED, f"refused: {self._refusal[0]}")
            return False
        self.result, self.first = result, self.query.read(result.data)
        self._largest = self.first
        return True

    def run(self) -> None:
        """Report on the list, whose first page came."""
        try:
            self._report_first()
            self._find_role()
            self._find_largest()
            self._compare_count()
            self._try_ends()
            self._report_nested()
        except RequestLimitError:
            self.add("further experiments", NOT_TRIED, SPENT)

    # -- requests

    def _execute_with_size(self) -> Result | None:
        """Return the first rows of a list that is refused without a size."""
        query, refusal = self.query, self._refusal
        if query.size_name is None or (query.size_name,) in query.base:
            return None
        query.base[query.size_name,] = str(FIRST_SIZE)
        result = self._execute({})
        if result is None:
            self._refusal = refusal
        else:
            self.add("without a size", "refused", refusal[0])
        return result

    def _execute(self, values: Mapping[ArgumentPath, str]) -> Result | None:
        """Return the result with other arguments; None if it was refused."""
        result, messages = self._client.ask(self.query.write(values))
        if result is None or (messages and self.query.read(result.data).rows is None):
            self._refusal = messages
            return None
        return result

    def _ask(self, values: Mapping[ArgumentPath, str]) -> Reading | None:
        result = self._execute(values)
        return None if result is None else self.query.read(result.data)

    def _ask_size(self, size: int) -> Reading | None:
        return self._ask({self.arguments.size: self.arguments.format_size(size)})

    def _ask_position(self, value: int, size: int | None = None) -> Reading | None:
        """Return the page at a number, that of a row or of a page."""
        arguments = self.arguments
        sized = {} if size is None else {arguments.size: arguments.format_size(size)}
        return self._ask({**sized, arguments.position: self._quote(value)})

    def _read_start(self) -> int:
        """Return the position of the first page, that of the query or of its default."""
        written = self.query.base.get(self.arguments.position, "").strip('"')
        return int(written) if written.isdigit() else self.arguments.default_position or 0

    def _quote(self, value: int) -> str:
        return f'"{value}"' if self.arguments.position in self.arguments.quoted else str(value)

    def _ask_behind(self, page: Reading, size: int) -> Reading | None:
        """Return the page behind the cursor of another."""
        arguments, cursor = self.arguments, json.dumps(page.info.get("endCursor"))
        sized = {arguments.size: str(size)} if arguments.size else {}
        return self._ask({**sized, arguments.position: cursor})

    # -- the first page

    def _report_first(self) -> None:
        first, result = self.first, self.result
        base = (f"{format_argument(k)}: {v}" for k, v in self.query.base.items())
        shown = f"{len(first.ids) or 'no'} rows"
        self.add("default page", shown, f"asked {', '.join(base) or 'without a size'}")
        if result.errors:
            status = getattr(result.response, "status", None)
            where = "" if status is None else f"HTTP {status}: "
            message = result.errors[0].get("message", result.errors[0])
            self.add("errors beside data", len(result.errors), f"{where}{message}")
        again = self._ask({})
        if again is None:
            self.add("two readings", "refused", self._refusal[0])
        elif again.ids == first.ids:
            self.add("two readings", "agree", f"the same {len(first.ids)} rows in the same order")
        else:
            other = "order" if sorted(again.ids) == sorted(first.ids) else "rows"
            self.add("two readings", f"other {other}", "the same request, one after the other")

    # -- roles

    def _find_role(self) -> None:
        document = Document.parse(self.query.write(), schema=self._schema)
        plan = PagingPlan(document, roles={})
        paged = next((field for field in plan.fields if field.outer is None), None)
        if paged is not None:
            self.arguments = paged.arguments
            self._name_roles(*self._confirm_convention())
            return
        suspect = next((each for each in plan.suspects if not each.is_nested), None)
        if suspect is None:
            self.add("arguments", NOT_TRIED, "its rows are not recognized as a list")
            return
        data = self.result.data
        rows, counts = suspect.read_rows(data), suspect.read_counts(data)
        if not suspect.leaves:
            sign = find_sign_of_cut(suspect, len(self.first.ids), counts)
            self.is_whole = sign is not None and sign.is_complete
            reason = "it has no scalar arguments"
            self.add("arguments", "none that pages", f"{reason}; {sign.reason}" if sign else reason)
            return
        search = RoleSearch(suspect, rows, counts, data, {})
        finding = self._run_search(search)
        evidence = "; ".join(text.partition(": ")[2] for text in search.trials) or "no request"
        self.role = finding.role
        if finding.role is not None:
            self.arguments = finding.role.arguments
        self.is_whole = finding.is_complete and finding.role is None
        if self.is_whole:
            self.add("paging", "the first page is whole", f"{finding.reason}; {evidence}")
            self._try_names(suspect)
            return
        if self.arguments.position and not self.arguments.size:
            # A size that is at its end: experiments name none that cannot grow.
            size = self._find_named(suspect, SIZE_WORDS, is_size=True)
            self.arguments = replace(self.arguments, size=size)
        self._name_roles(evidence, reason=finding.reason)

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
        self.arguments = PageArguments(kind, position, "Int", size, default_position=0)
        half = len(self.first.ids) // 2
        for path, role, name in ((size, "size", "first"), (position, "offset", "second")):
            if path:
                evidence = f"`{path[-1]}: {half}` brought the {name} half"
                self.add(f"`{format_argument(path)}`", role, evidence)

    def _find_named(self, suspect: SuspectList, words: str, *, is_size: bool) -> ArgumentPath:
        """Return the argument whose half of the rows is that of a size, or of an offset."""
        first, half = self.first.ids, len(self.first.ids) // 2
        for leaf in suspect.leaves if half else ():
            if leaf.is_number and is_named_after(leaf.name, words):
                page = self._ask({leaf.path: leaf.format_value(half)})
                expected = first[:half] if is_size else first[half:]
                if page is not None and page.ids == expected:
                    return leaf.path
        return ()

    def _name_roles(
        self, evidence: str, shown: Sequence[str] = ("position", "size"), *, reason: str = ""
    ) -> None:
        """Report the roles of the arguments; "not tried" for one that is only named like it."""
        arguments = self.arguments
        roles = {"position": arguments.kind, "size": "size"}
        for key, role in roles.items():
            path: ArgumentPath = getattr(arguments, key)
            is_shown = key in shown
            article = "an" if role == "offset" else "a"
            why = evidence if is_shown else f"named like {article} {role}; {evidence}"
            if path:
                self.add(f"`{format_argument(path)}`", role if is_shown else NOT_TRIED, why)
        if not arguments.position and not arguments.size:
            self.add("paging", "none found", f"{reason}; {evidence}")
        known = {arguments.position[:1], arguments.size[:1]}
        others = [name for name in self.query.declared.args if (name,) not in known]
        if others:
            self.add("other arguments", NOT_TRIED, ", ".join(others))

    def _confirm_convention(self) -> tuple[str, list[str]]:
        """Try the size of a convention, and its cursor; return the evidence, and what it shows."""
        first = self.first.ids
        half = len(first) // 2
        if not half or not self.arguments.size:
            return "there are too few rows" if self.arguments.size else "there is no size", []
        page = self._ask_size(half)
        if page is None:
            return f"asked for {half}: {self._refusal[0]}", []
        if page.ids != first[:half]:
            return f"asked for {half}, and other rows came", []
        evidence, shown = f"asked for {half}, the first {half} came", ["size"]
        kind, where = self.arguments.kind, "after their cursor"
        if kind == "cursor" and isinstance(page.info.get("endCursor"), str):
            behind = self._ask_behind(page, half)
        elif kind in {"offset", "page"}:
            name = format_argument(self.arguments.position)
            value = half if kind == "offset" else self._read_start() + 1
            behind = self._ask_position(value, half)
            if kind == "page" and behind is not None and behind.ids == page.ids:
                self.arguments = replace(self.arguments, default_position=value)
                value += 1
                behind = self._ask_position(value, half)
            where = f"with `{name}: {value}`"
        else:
            return evidence, shown
        is_position = behind is not None and behind.ids[:1] == first[half : half + 1] != []
        shown += ["position"] * is_position
        came = "the rows" if is_position else "other rows than those"
        evidence = f"{evidence}; {where} {came} behind them"
        return evidence, shown

    # -- sizes

    def _find_largest(self) -> None:
        """Report the largest page."""
        if not self.arguments.size or not self.first.ids:
            return
        tried: list[str] = []
        asked, best = len(self.first.ids) + 1, self.first
        while asked <= MAX_SIZE:
            page = self._ask_size(asked)
            if page is None:
                self._report_refused_size(asked, best, tried)
                return
            tried.append(f"asked for {asked}, {len(page.ids)} came")
            if len(page.ids) >= len(best.ids):
                best = page
            if len(page.ids) < asked:
                self._report_short_page(page, tried[-1])
                return
            asked *= 2
        self._largest = best
        self.add("largest page", f"at least {len(best.ids)} rows", tried[-1])

    def _report_refused_size(self, refused: int, best: Reading, tried: list[str]) -> None:
        """Find the largest size below one that was refused."""
        message = self._refusal[0]
        named = find_size_limit(self._refusal, refused, len(best.ids))
        usual = [n for n in USUAL_LIMITS if len(best.ids) < n < refused]
        for asked in [named] if named is not None else usual[:3]:
            page = self._ask_size(asked)
            if page is not None:
                best = page
                tried.append(f"asked for {asked}, {len(page.ids)} came")
                break
        self._largest, count = best, len(best.ids)
        is_exact = self._ask_size(count + 1) is None
        finding = f"{count} rows" if is_exact else f"at least {count} rows"
        self.add("largest page", finding, "; ".join(tried[-2:]) or "of the first answer")
        self.add("above it", "refused", f"asked for {refused}: {message}")
        self.limit = count if is_exact else None

    def _report_short_page(self, page: Reading, tried: str) -> None:
        """Tell a page that the endpoint cut from the end of the list."""
        self._largest, came = page, len(page.ids)
        follows = self._look_behind(page)
        if follows is None and page.count is not None:
            follows = page.count > came
        if follows is None:
            self.add("largest page", NOT_TRIED, f"{tried}: its limit, or all rows")
        elif not follows:
            self.is_whole = True
            self.add("largest page", f"at least {came} rows", f"{tried}, which are all")
        else:
            self.limit = came
            self.add("largest page", f"{came} rows", tried)
            self.add("above it", "cut silently", f"{tried}, and more rows follow")

    def _look_behind(self, page: Reading) -> bool | None:
        """Return whether rows follow a page; None if no argument tells."""
        kind, came = self.arguments.kind, len(page.ids)
        if kind == "cursor" and isinstance(page.info.get("hasNextPage"), bool):
            return bool(page.info["hasNextPage"])
        if kind not in {"offset", "page"}:
            return None
        step, size = (came, None) if kind == "offset" else (1, came)
        behind = self._ask_position(self._read_start() + step, size)
        if behind is not None and behind.ids and {*behind.ids} <= {*page.ids}:
            return None  # some endpoints have the last page behind the last one, too
        return bool(behind and behind.ids)

    # -- counts

    def _compare_count(self) -> None:
        # graphql-sequelize counts only where a size is given.
        counts = [page.count for page in (self.first, self._largest) if page.count is not None]
        count = next(iter(counts), None)
        if count is None:
            null = " and ".join(f"`{name}` is null" for name in self.query.count_names)
            self.add("count", "none", null or "no field beside the rows counts them")
            return
        finding = f"`{self.query.count_names[0]}`: {count}"
        total, how = self._count_rows(count)
        if total is None:
            reason = "unknown, or the list has a cap" if self.is_capped else "not tried"
            self.add("count", finding, f"whether it agrees was {reason}: {how}")
        else:
            verdict = "agrees" if total == count else f"disagrees with {total} rows"
            self.add("count", f"{finding}, {verdict}", how)

    def _count_rows(self, count: int) -> tuple[int | None, str]:
        """Return the number of all rows, with the evidence; None with the reason if unknown."""
        arguments, came = self.arguments, len(self._largest.ids)
        if self.is_whole:
            return came, f"{came} rows came in one answer"
        if arguments.kind == "offset" and count > 0:
            start = (arguments.default_position or 0) + count
            last, behind = self._ask_position(start - 1), self._ask_position(start)
            if last is not None and behind is not None:
                total = count if len(last.ids) == 1 and not behind.ids else None
                self.is_capped = not (last.ids or behind.ids)
                how = f"{format_argument(arguments.position)}: {start - 1} brought "
                how += f"{len(last.ids)} rows, {start} brought {len(behind.ids)}"
                return total, how
        if arguments.kind == "cursor" and came:
            return self._follow_cursors(self._largest)
        return None, "the pages would have to be followed"

    def _follow_cursors(self, page: Reading) -> tuple[int | None, str]:
        size = total = len(page.ids)
        pages = 1
        while page.info.get("hasNextPage") and pages < MAX_PAGES:
            behind = self._ask_behind(page, size)
            if behind is None or not behind.ids:
                return None, "a page behind a cursor did not come"
            page, pages, total = behind, pages + 1, total + len(behind.ids)
        if page.info.get("hasNextPage"):
            return None, f"{pages} pages of {size} rows are not all"
        return total, f"{total} rows came in {pages} pages"

    # -- the ends

    def _try_ends(self) -> None:
        arguments = self.arguments
        if arguments.size:
            page = self._ask_size(0)
            if page is None:
                self.add("size 0", "refused", self._refusal[0])
            else:
                info = page.info.get("hasNextPage")
                more = "" if info is None else f", hasNextPage {str(info).lower()}"
                self.add("size 0", f"{len(page.ids)} rows{more}", f"`{arguments.size[-1]}: 0`")
        name = format_argument(arguments.position)
        subject, text = f"`{name}` beyond the end", self._quote(FAR_OFFSET)
        if arguments.kind == "cursor":
            subject, text = "bad cursor", BAD_CURSOR
        elif arguments.kind != "offset":
            return
        page, asked = self._ask({arguments.position: text}), f"{name}: {text}"
        if page is None:
            self.add(subject, "error", f"{asked}: {self._refusal[0]}")
            return
        finding = f"{len(page.ids)} other rows, silently" if page.ids else "no rows"
        is_first = page.ids and page.ids == self.first.ids
        self.add(subject, "the first page, silently" if is_first else finding, asked)

    # -- lists in the rows

    def _report_nested(self) -> None:
        """Report the length of the first list in the rows, and whether a larger size extends it."""
        nested = self.query.find_nested()
        if nested is None:
            return
        longest = self._measure_nested(nested, "")
        if longest is None:
            self.add(nested.name, NOT_TRIED, f"refused: {self._refusal[0]}")
            return
        came = f"the longest of the page has {longest} items"
        asked = f"{nested.size_name}: {2 * longest}"
        finding = NOT_TRIED
        if nested.size_name is None or not longest:
            why = f"{came}, and no argument for a number is named like a size"
        elif (larger := self._measure_nested(nested, asked)) is None:
            finding = f"at most {longest} items"
            why = f"{2 * longest} were refused: {self._refusal[0]}"
        elif larger > longest:
            finding, why = f"cut at {longest} items", f"{came}, {larger} with {asked}"
        else:
            why = f"{came}, no more with {asked}: its limit, or all"
        self.add(f"{nested.name}, in each row", finding, why)

    def _measure_nested(self, nested: ListQuery, arguments: str) -> int | None:
        """Return the length of the longest nested list; None if it was refused."""
        body = nested.write_field(arguments, next(iter(nested.leaves), "__typename"))
        result, messages = self._client.ask(self.query.write(nested=body))
        if result is None or messages:
            self._refusal = messages
            return None
        rows = self.query.read(result.data).rows or ()
        return max((len(nested.read(row).ids) for row in rows), default=0)
