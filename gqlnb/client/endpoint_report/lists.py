"""How an endpoint pages a list: the roles of its arguments, its page sizes, counts and cursors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from gqlnb.client.endpoint_report.list_queries import FIRST_SIZE, ListQuery, build_list_query
from gqlnb.client.endpoint_report.report import NOT_TRIED
from gqlnb.client.paging.experiments import Finding, RoleSearch, is_total, rule_out_cut
from gqlnb.client.paging.page_size import find_size_limit
from gqlnb.document.document import Document
from gqlnb.document.paged_fields import ListRole, PagedFieldFinder
from gqlnb.document.paging_conventions import format_argument, get_at_path
from gqlnb.document.paging_plan import PagingPlan
from gqlnb.document.selections import ADDED_PREFIX
from gqlnb.document.suspect_lists import (
    SIZE_WORDS,
    ArgumentLeaf,
    SuspectList,
    find_suspect_lists,
    is_named_after,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from graphql import GraphQLSchema

    from gqlnb.client.endpoint_report.report import AddLine, MeteredClient
    from gqlnb.document.paging_conventions import ArgumentPath, PageArguments, PagingKind
    from gqlnb.result.result import Result

MAX_REQUESTS = 30  # for one list
MAX_SIZE = 10_000  # rows asked for
MAX_PAGES = 6  # that are followed to compare a count
BAD_CURSOR = "gqlnb-unknown-cursor"
FAR_OFFSET = 1_000_000  # rows; a page that no list has
OFFSET_WORDS = "offset skip start"
USUAL_LIMITS = (1000, 500, 250, 200, 100, 50)


class Page(NamedTuple):
    """The rows of one answer.

    Attributes
    ----------
    ids
        The identity of each row.
    counts
        The integers beside them, by name.
    info
        The values of ``pageInfo``.
    """

    ids: list[str]
    counts: Mapping[str, int]
    info: Mapping[str, Any]


def plan_lists(schema: GraphQLSchema, text: str) -> tuple[PagingPlan, list[SuspectList]]:
    """Return the plan of a query, and all its lists, those that a convention pages, too."""
    document = Document.parse(text, schema=schema)
    plan, finder = PagingPlan(document, roles={}), PagedFieldFinder(document)
    root: Any = schema.query_type
    return plan, find_suspect_lists(plan.selections, root, (), finder.read_arguments)


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
    add
        Adds a line to the report.

    Attributes
    ----------
    suspect
        The list, as experiments take it.
    result, first
        The first answer, and its rows, once :meth:`request_first` returned True.
    role
        How it is paged, if experiments found that; None for a convention, and if nothing was found.
    kind, position, size
        How it is paged, and the arguments for that.
    limit
        The number of rows of the largest page; None if no limit was met.
    is_whole
        Whether a page has all rows.
    is_capped
        Whether the last of the rows that a count promises does not come.
    """

    result: Result
    first: Page
    role: ListRole | None = None
    kind: PagingKind = "none"
    position: ArgumentLeaf | None = None
    size: ArgumentLeaf | None = None
    limit: int | None = None
    is_whole = False
    is_capped = False
    _base = 0  # the position of the first row, or page, of the list
    _start = 0  # and that of the first answer

    def __init__(
        self, client: MeteredClient, schema: GraphQLSchema, query: ListQuery, add: AddLine
    ) -> None:
        self._client, self._schema, self._add = client, schema, add
        self._refusal: list[str] = []
        self._set_query(query)

    def _set_query(self, query: ListQuery) -> None:
        self.query = query
        self._plan, (self.suspect, *_) = plan_lists(self._schema, query.write())

    def add(self, subject: str, finding: object, evidence: str = "") -> None:
        """Add a line about the list."""
        self._add(f"{self.query.name}: {subject}", finding, evidence)

    def request_first(self) -> bool:
        """Request the first page, with a size where one is required; return whether one came."""
        given, refusal = self.query.arguments, ""
        sizes = [name for name in self.query.declared.args if is_named_after(name, SIZE_WORDS)]
        added = [{name: str(FIRST_SIZE)} for name in sizes[:1] if name not in given]
        for extra in ({}, *added):
            if extra:
                self._set_query(self.query._replace(arguments={**given, **extra}))
            result = self._execute({})
            if result is not None:
                if extra:
                    self.add("without a size", "refused", refusal)
                self.result, self.first = result, self._read(result)
                self._largest = self.first
                return True
            refusal = refusal or self._refusal[0]
        self.add("rows", NOT_TRIED, f"refused: {refusal}")
        return False

    def run(self) -> None:
        """Report on the list, whose first page came."""
        self._report_first()
        self._find_roles()
        self._find_largest()
        self._compare_count()
        self._try_ends()
        self._report_nested()

    # -- requests

    def _execute(self, values: Mapping[ArgumentLeaf, int | str]) -> Result | None:
        """Return the result with other arguments; None if it was refused."""
        text, _ = self._plan.write_trial(self.suspect, values, {})
        result, messages = self._client.ask(text)
        if result is None or (messages and not self.suspect.read_rows(result.data)):
            self._refusal = messages
            return None
        return result

    def _ask(self, values: Mapping[ArgumentLeaf | None, Any]) -> Page | None:
        """Return the page with other arguments; None if it was refused."""
        result = self._execute({leaf: v for leaf, v in values.items() if leaf and v is not None})
        return None if result is None else self._read(result)

    def _read(self, result: Result) -> Page:
        rows = next(iter(self.suspect.read_rows(result.data).values()), [])
        info = get_at_path(result.data, (*self.suspect.steps, "pageInfo"))
        return Page(rows, self.suspect.read_counts(result.data), info or {})

    def list_rows(self) -> list[Any]:
        """Return the rows of the first answer."""
        path = (*self.suspect.steps, *self.suspect.keys)
        rows = get_at_path(self.result.data, path) or []
        return [get_at_path(row, ("node",)) for row in rows] if self.query.has_edges else rows

    def write_variable(self, leaf: ArgumentLeaf) -> str:
        """Return the text of the query with the variable ``$v`` for an argument."""
        text, _ = self._plan.write_trial(self.suspect, {leaf: BAD_CURSOR}, {})
        text = text.replace(leaf.format_value(BAD_CURSOR), "$v")
        return text.replace("query", f"query ($v: {leaf.type})", 1)

    # -- the first page

    def _report_first(self) -> None:
        first, result = self.first, self.result
        given = ", ".join(f"{name}: {value}" for name, value in self.query.arguments.items())
        asked = f"asked {given or 'without a size'}"
        self.add("default page", f"{len(first.ids) or 'no'} rows", asked)
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

    def _find_roles(self) -> None:
        paged = next(iter(self._plan.fields), None)
        if paged is not None:
            self._set_arguments(paged.arguments)
            self._name_roles(*self._confirm_convention())
        elif self.suspect.leaves:
            self._search_roles()
        else:
            sign = rule_out_cut(self.suspect, len(self.first.ids), self.first.counts)
            self.is_whole = sign is not None and sign.is_complete
            reason = "it has no scalar arguments"
            self.add("arguments", "none that pages", f"{reason}; {sign.reason}" if sign else reason)

    def _search_roles(self) -> None:
        """Find the roles of the arguments by the experiments of paging."""
        ids, half, data = self.first.ids, len(self.first.ids) // 2, self.result.data
        search = RoleSearch(self.suspect, data, {})
        trials = search.run()
        try:
            trial = next(trials)
            while True:
                reply = self._execute(trial)
                answer = (None, self._refusal[0]) if reply is None else (reply.data, "")
                trial = trials.send(answer)
        except StopIteration as stop:
            finding: Finding = stop.value
        evidence = "; ".join(text.partition(": ")[2] for text in search.trials) or "no request"
        self.role, self.is_whole = finding.role, finding.is_complete and finding.role is None
        if finding.role is not None:
            self._set_arguments(finding.role.arguments)
        # A size that is at its end: experiments name none that cannot grow.
        if self.is_whole or (self.position and not self.size):
            self.size = self._find_half(SIZE_WORDS, ids[:half])
        if not self.is_whole:
            self._name_roles(evidence, (self.position, self.size), finding.reason)
            return
        self.add("paging", "the first page is whole", f"{finding.reason}; {evidence}")
        self.position = self._find_half(OFFSET_WORDS, ids[half:])
        self.kind = "offset" if self.position else "none"
        for leaf, role, part in ((self.size, "size", "first"), (self.position, "offset", "second")):
            if leaf is not None:
                brought = f"`{leaf.name}: {half}` brought the {part} half"
                self.add(f"`{format_argument(leaf.path)}`", role, brought)

    def _set_arguments(self, arguments: PageArguments) -> None:
        """Take the arguments of a convention or of a role."""

        def find_leaf(path: ArgumentPath) -> ArgumentLeaf | None:
            # One with a text as its default is no candidate for experiments.
            other = ArgumentLeaf(path, None, None, is_number=False, is_text=False, is_written=False)
            leaves = (leaf for leaf in self.suspect.leaves if leaf.path == path)
            return next(leaves, other) if path else None

        self.kind, self.size = arguments.kind, find_leaf(arguments.size)
        self.position = leaf = find_leaf(arguments.position)
        self._start = self._base = arguments.default_position or 0
        if leaf is not None and leaf.is_written:
            self._start = leaf.value or 0

    def _find_half(self, words: str, half: list[str]) -> ArgumentLeaf | None:
        """Return the argument with a name of `words` that brings half of the rows."""
        for leaf in self.suspect.leaves if len(self.first.ids) > 1 else ():
            if leaf.is_number and is_named_after(leaf.name, words):
                page = self._ask({leaf: len(self.first.ids) // 2})
                if page is not None and page.ids == half:
                    return leaf
        return None

    def _name_roles(
        self, evidence: str, shown: Sequence[ArgumentLeaf | None], reason: str = ""
    ) -> None:
        """Report the roles of the arguments; "not tried" for one that is only named like it."""
        for leaf, role in ((self.position, self.kind), (self.size, "size")):
            if leaf is None:
                continue
            named = f"named like {'an' if role == 'offset' else 'a'} {role}; {evidence}"
            finding, why = (role, evidence) if leaf in shown else (NOT_TRIED, named)
            self.add(f"`{format_argument(leaf.path)}`", finding, why)
        if self.position is self.size is None:
            self.add("paging", "none found", f"{reason}; {evidence}")
        known = {leaf.path[0] for leaf in (self.position, self.size) if leaf is not None}
        others = [name for name in self.query.declared.args if name not in known]
        if others:
            self.add("other arguments", NOT_TRIED, ", ".join(others))

    def _confirm_convention(self) -> tuple[str, list[ArgumentLeaf]]:
        """Try the size of a convention, and its cursor; return the evidence, and what it shows."""
        first, position = self.first.ids, self.position
        half = len(first) // 2
        if not half or self.size is None:
            return "there are too few rows" if self.size else "there is no size", []
        page = self._ask({self.size: half})
        if page is None:
            return f"asked for {half}: {self._refusal[0]}", []
        if page.ids != first[:half]:
            return f"asked for {half}, and other rows came", []
        evidence = f"asked for {half}, the first {half} came"
        if position is None or (self.kind == "cursor" and not page.info.get("endCursor")):
            return evidence, [self.size]
        behind, where = self._ask_behind(page, half)
        if self.kind == "page" and behind is not None and behind.ids == page.ids:
            self._start += 1  # it counts from there
            behind, where = self._ask_behind(page, half)
        is_position = behind is not None and behind.ids[:1] == first[half : half + 1] != []
        came = "the rows" if is_position else "other rows than those"
        shown = [self.size, *[position] * is_position]
        return f"{evidence}; {where} {came} behind them", shown

    def _ask_behind(self, page: Page, size: int) -> tuple[Page | None, str]:
        """Return the page behind another, None if none came; and how it was asked for."""
        if self.position is None or self.kind == "cursor":
            cursor = page.info.get("endCursor")
            return self._ask({self.position: cursor, self.size: size}), "after their cursor"
        value = self._start + (len(page.ids) if self.kind == "offset" else 1)
        where = f"with `{format_argument(self.position.path)}: {value}`"
        return self._ask({self.position: value, self.size: size}), where

    # -- sizes

    def _find_largest(self) -> None:
        """Report the largest page: one more than came is asked for, then twice as many."""
        if self.size is None or not self.first.ids:
            return
        tried: list[str] = []
        asked, best = len(self.first.ids) + 1, self.first
        while asked <= MAX_SIZE:
            page = self._ask({self.size: asked})
            if page is None:
                self._report_refused_size(asked, best, tried)
                return
            tried.append(f"asked for {asked}, {len(page.ids)} came")
            if len(page.ids) < asked:
                self._report_short_page(page, tried[-1])
                return
            asked, best = 2 * asked, page
        self._largest = best
        self.add("largest page", f"at least {len(best.ids)} rows", tried[-1])

    def _report_refused_size(self, refused: int, best: Page, tried: list[str]) -> None:
        """Find the largest size below one that was refused."""
        message = self._refusal[0]
        named = find_size_limit(self._refusal, refused, len(best.ids))
        usual = [n for n in USUAL_LIMITS if len(best.ids) < n < refused]
        for asked in [named] if named is not None else usual[:3]:
            page = self._ask({self.size: asked})
            if page is not None:
                best = page
                tried.append(f"asked for {asked}, {len(page.ids)} came")
                break
        self._largest, count = best, len(best.ids)
        is_exact = self._ask({self.size: count + 1}) is None
        finding = f"{count} rows" if is_exact else f"at least {count} rows"
        self.add("largest page", finding, "; ".join(tried[-2:]) or "of the first answer")
        self.add("above it", "refused", f"asked for {refused}: {message}")
        self.limit = count if is_exact else None

    def _report_short_page(self, page: Page, tried: str) -> None:
        """Tell a page that the endpoint cut from the end of the list."""
        self._largest, came = page, len(page.ids)
        follows = self._look_behind(page)
        if follows is None and page.counts:
            follows = page.counts[choose_count(page.counts)] > came
        if follows is None:
            self.add("largest page", NOT_TRIED, f"{tried}: its limit, or all rows")
        elif not follows:
            self.is_whole = True
            self.add("largest page", f"at least {came} rows", f"{tried}, which are all")
        else:
            self.limit = came
            self.add("largest page", f"{came} rows", tried)
            self.add("above it", "cut silently", f"{tried}, and more rows follow")

    def _look_behind(self, page: Page) -> bool | None:
        """Return whether rows follow a page; None if no argument tells."""
        if self.kind == "cursor" and isinstance(page.info.get("hasNextPage"), bool):
            return bool(page.info["hasNextPage"])
        if self.kind not in {"offset", "page"}:
            return None
        behind, _ = self._ask_behind(page, len(page.ids))
        if behind is not None and behind.ids and {*behind.ids} <= {*page.ids}:
            return None  # some endpoints have the last page behind the last one, too
        return bool(behind and behind.ids)

    # -- counts

    def _compare_count(self) -> None:
        # graphql-sequelize counts only where a size is given.
        counts = self.first.counts or self._largest.counts
        if not counts:
            names = [name.removeprefix(ADDED_PREFIX) for name in self.suspect.counts]
            null = " and ".join(f"`{name}` is null" for name in names)
            self.add("count", "none", null or "no field beside the rows counts them")
            return
        name = choose_count(counts)
        count, finding = counts[name], f"`{name}`: {counts[name]}"
        total, how = self._count_rows(count)
        if total is None:
            reason = "unknown, or the list has a cap" if self.is_capped else "not tried"
            self.add("count", finding, f"whether it agrees was {reason}: {how}")
        else:
            verdict = "agrees" if total == count else f"disagrees with {total} rows"
            self.add("count", f"{finding}, {verdict}", how)

    def _count_rows(self, count: int) -> tuple[int | None, str]:
        """Return the number of all rows, with the evidence; None with the reason if unknown."""
        page, position = self._largest, self.position
        total = size = len(page.ids)
        if self.is_whole:
            return total, f"{total} rows came in one answer"
        if position is not None and self.kind == "offset" and count > 0:
            start = self._base + count
            last, behind = self._ask({position: start - 1}), self._ask({position: start})
            if last is not None and behind is not None:
                self.is_capped = not (last.ids or behind.ids)
                how = f"{format_argument(position.path)}: {start - 1} brought "
                how += f"{len(last.ids)} rows, {start} brought {len(behind.ids)}"
                return count if len(last.ids) == 1 and not behind.ids else None, how
        if self.kind != "cursor" or not size:
            return None, "the pages would have to be followed"
        pages = 1
        while page.info.get("hasNextPage") and pages < MAX_PAGES:
            following, _ = self._ask_behind(page, size)
            if following is None or not following.ids:
                return None, "a page behind a cursor did not come"
            page, pages, total = following, pages + 1, total + len(following.ids)
        if page.info.get("hasNextPage"):
            return None, f"{pages} pages of {size} rows are not all"
        return total, f"{total} rows came in {pages} pages"

    # -- the ends

    def _try_ends(self) -> None:
        if self.size is not None:
            page = self._ask({self.size: 0})
            if page is None:
                self.add("size 0", "refused", self._refusal[0])
            else:
                info = page.info.get("hasNextPage")
                more = "" if info is None else f", hasNextPage {str(info).lower()}"
                self.add("size 0", f"{len(page.ids)} rows{more}", f"`{self.size.name}: 0`")
        if self.position is None or self.kind not in {"cursor", "offset"}:
            return
        name = format_argument(self.position.path)
        value = BAD_CURSOR if self.kind == "cursor" else FAR_OFFSET
        subject = "bad cursor" if self.kind == "cursor" else f"`{name}` beyond the end"
        page = self._ask({self.position: value})
        asked = f"{name}: {self.position.format_value(value)}"
        if page is None:
            self.add(subject, "error", f"{asked}: {self._refusal[0]}")
            return
        finding = f"{len(page.ids)} other rows, silently" if page.ids else "no rows"
        is_first = page.ids and page.ids == self.first.ids
        self.add(subject, "the first page, silently" if is_first else finding, asked)

    # -- lists in the rows

    def _report_nested(self) -> None:
        """Report the length of the first list in the rows, and whether a larger size extends it."""
        fields = getattr(self.query.row_type, "fields", {})
        queries = (build_list_query(*item) for item in fields.items())
        nested = next((it for it in queries if it is not None and not it.arguments), None)
        if nested is None:
            return
        inner = nested.write(next(iter(nested.leaves), "__typename"))[1:-1]
        body = f"{' '.join(self.query.leaves)} {inner}"
        plan, lists = plan_lists(self._schema, self.query.write(body))
        found = next(it for it in lists if it.is_nested)

        def measure(values: Mapping[ArgumentLeaf, int]) -> int | None:
            result, self._refusal = self._client.ask(plan.write_trial(found, values, {})[0])
            if result is None or self._refusal:
                return None
            return max(found.read_lengths(result.data), default=0)

        longest = measure({})
        if longest is None:
            self.add(nested.name, NOT_TRIED, f"refused: {self._refusal[0]}")
            return
        sizes = (it for it in found.leaves if it.is_number and is_named_after(it.name, SIZE_WORDS))
        size = next((it for it in sizes if not it.path[1:]), None)
        came, finding = f"the longest of the page has {longest} items", NOT_TRIED
        if not longest:
            why = came
        elif size is None:
            why = f"{came}, and no argument for a number is named like a size"
        elif (larger := measure({size: 2 * longest})) is None:
            finding = f"at most {longest} items"
            why = f"{2 * longest} were refused: {self._refusal[0]}"
        else:
            asked = f"{size.name}: {2 * longest}"
            why = f"{came}, no more with {asked}: its limit, or all"
            if larger > longest:
                finding, why = f"cut at {longest} items", f"{came}, {larger} with {asked}"
        self.add(f"{nested.name}, in each row", finding, why)


def choose_count(counts: Mapping[str, int]) -> str:
    """Return the name of the count that is most likely that of all rows."""
    return min(counts, key=lambda name: not is_total(name))
