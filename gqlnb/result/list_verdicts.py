"""Whether one answer holds a whole list: complete, more or unknown, with the evidence."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from graphql import get_named_type

from gqlnb.document.paged_fields import WRAPPER_NAMES
from gqlnb.document.paging_conventions import (
    LAST_FLAGS,
    NEXT_CURSORS,
    PAGE_NAMES,
    PageArguments,
    find_identifier,
    find_page_info,
    format_argument,
    is_limit_name,
    is_pointer,
    iterate_leaves,
    normalize_name,
    read_default,
    read_integer,
    read_sign,
)
from gqlnb.document.selections import merge_defaults, read_values
from gqlnb.document.suspect_lists import (
    CURSOR_WORDS,
    LONG_LIMIT,
    SIZE_WORDS,
    SMALLEST_ROUND,
    is_count_name,
    is_default_limit,
    is_long_limit,
    is_named_after,
    is_of_longer_list,
    is_page,
    is_round,
    is_size_of,
    is_usual,
    list_leaves,
    may_be_short,
    read_whole_number,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gqlnb.document.document import Document
    from gqlnb.document.suspect_lists import ArgumentLeaf

TOTAL = re.compile(r"(?i:count|total)$")  # of all rows; `number` may be that of a page


class Sizes(NamedTuple):
    """The arguments of the fields that lead to a list, as far as they may cut it.

    Attributes
    ----------
    numbers
        The names of numbers, literals, variables and defaults, and their values.
    untried
        The names of arguments for integers, other than those of fields of a row, that have no
        value, or 0 or 1: they may be the size of a page, or its place.
    is_known
        Whether the query is known.
    sign
        What says in the object of the list whether rows follow, and bounds it if it is not
        selected: the cursor of the next page, if an argument takes one, or, where no argument
        shows a bound, a flag; else empty.
    """

    numbers: list[tuple[str, int]]
    untried: list[str]
    is_known: bool
    sign: str = ""


NO_SIZES = Sizes([], [], is_known=False)


class Verdict(NamedTuple):
    """What an answer says about the completeness of a list in it.

    Attributes
    ----------
    state
        ``"complete"``, ``"more"`` or ``"unknown"``.
    evidence
        Why, in words.
    total
        The number of all rows according to the endpoint; 0 if nothing counts them.
    hint
        How to fetch the missing rows; empty if that is not known.
    """

    state: str
    evidence: str
    total: int = 0
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.state}: {self.evidence}"

    @property
    def is_weak(self) -> bool:
        """Whether the list is called complete, and no count of its rows says so."""
        return self.state == STATES[0] and COUNTED not in self.evidence


STATES = ("complete", "unknown", "more")  # the strongest first
PAGE_MEMBERS = "limit size first take offset skip page"
COUNTED = "counts as many rows"
LIMIT = "services often return {:,} rows at most"
ONE_LESS = "one row less came than a size allows, which may be left out of a full page"
NO_SIGN = Verdict("complete", "no sign suggests that rows are missing")


def judge_list(
    beside: Mapping[str, object],
    path: Sequence[str],
    rows: int,
    sizes: Sizes = NO_SIZES,
    *,
    is_null: bool = False,
    longest: int = 0,
) -> Verdict:
    """Judge a list by what was selected beside it, and by the sizes in its query.

    Parameters
    ----------
    beside
        The values beside the list, by the names of their fields, behind those of the path.
    path
        The response names that lead to the list, and the name of its field.
    rows
        The number of rows that came.
    sizes
        The sizes in the query, if it is known.
    is_null
        Whether the list is null, or an object around it, without an error.
    longest
        The number of rows of the longest list beside it, of which a flag or a count may be: where
        the sizes do not tell that, the list is doubted.

    Examples
    --------
    >>> beside = {"search.repositoryCount": 1067, "search.pageInfo.hasNextPage": True}
    >>> str(judge_list(beside, ("search", "nodes"), 100))
    'more: `repositoryCount` counts 1,067'
    >>> str(judge_list({"orders.totalPrice": 999}, ("orders", "rows"), 7))
    'complete: no sign suggests that rows are missing'
    """
    if is_null and (sizes.numbers or sizes.untried or sizes.sign):
        return Verdict("unknown", "the endpoint returned null, and no error")
    # What stands beside a root field says nothing of its list.
    verdict = _judge(beside if len(path) > 1 else {}, path, rows, sizes, is_outermost=True)
    if verdict.state != "more" or longest <= rows:
        return verdict
    own = {
        name: value
        for name, value in beside.items()
        if is_count_name(name, path[-1:]) and not is_count_name(name, ())
    }
    allowed = [value for name, value in sizes.numbers if is_limit_name(name)]
    found = _judge(own, path, rows, sizes, is_outermost=True)
    if found.state == "more" or is_of_longer_list(rows, longest, allowed, verdict.total or None):
        return found
    return Verdict("unknown", f"{verdict.evidence}, perhaps of a longer list beside it")


def _judge(
    beside: Mapping[str, object],
    path: Sequence[str],
    rows: int,
    sizes: Sizes,
    *,
    is_outermost: bool = False,
) -> Verdict:
    start = ".".join([*path[:-1], ""])
    siblings = {name.removeprefix(start): v for name, v in beside.items() if name.startswith(start)}
    if len(path) == 1:  # they stand in a row, which may be the last one itself
        siblings = {name: value for name, value in siblings.items() if name not in LAST_FLAGS}
    reached = next((name for name, value in sizes.numbers if value == rows), None) if rows else None
    is_cut = is_default_limit(rows) and not _has_room(sizes, rows)
    is_reached = reached is not None
    sign = _read_page_signs(siblings, path[-1], rows, is_reached=is_reached, is_cut=is_cut)
    zeros = (name for name, value in sizes.numbers if not value and is_limit_name(name))
    zero = next(zeros, None) if rows <= 1 else None  # Strapi has one row for it
    if zero is not None and (sign is None or sign.is_weak):
        return Verdict("unknown", f"the query has `{zero}: 0`")
    # graphene-sqlalchemy-auto's `limit` cuts the rows of which the Relay connection then pages all.
    is_relay = "first" in [*sizes.untried, *(name for name, _ in sizes.numbers)]
    is_own = reached is None or reached in ("first", "last") or not is_limit_name(reached)
    if sign is not None and not (is_relay and not is_own and sign.is_weak):
        return sign
    if reached is not None:
        return Verdict("unknown", f"`{reached}: {rows}` is reached")
    pointer = next(filter(is_pointer, siblings), None)
    if pointer is not None and not is_round(rows):  # there are endpoints that never fill it
        return Verdict("complete", f"`{pointer}` is null")
    # AppSync and Codex filter a page after they have cut it: short and empty ones are not the last.
    # A name that says nothing of the next page, as Codex's `cursor`, may be that of the last row.
    is_unclear = sizes.sign in NEXT_CURSORS and not is_pointer(sizes.sign)
    is_needed = sizes.sign and sizes.sign not in siblings and not (rows and is_unclear)
    if is_needed or siblings.get(sizes.sign):
        lack = "selected" if is_needed else "null"
        return Verdict("unknown", f"`{sizes.sign}` is not {lack}")
    return _judge_length(rows, sizes, is_outermost=is_outermost)


def _read_page_signs(
    siblings: Mapping[str, object], name: str, rows: int, *, is_reached: bool, is_cut: bool
) -> Verdict | None:
    """Judge a list by the flags, cursors and counts beside it; None if they say nothing."""
    flags = {  # whether rows follow, by the name of each flag
        name: goes_on
        for name, value in sorted(siblings.items())
        if isinstance(value, int) and (goes_on := read_sign(name, value)) is not None
    }
    more = next((name for name, goes_on in flags.items() if goes_on), None)
    # What counts in the object of a page, or beside a list that goes on, counts its rows.
    is_page = more is not None or name in WRAPPER_NAMES
    counts = {
        key: count
        for key, value in siblings.items()
        if (is_count_name(key, [name]) or (is_page and key.endswith("Count")))
        and (count := read_integer(value)) is not None
    }
    larger = next((key for key, count in counts.items() if count > rows), None)
    if larger is not None:
        return Verdict("more", f"`{larger}` counts {counts[larger]:,}", counts[larger])
    if more is not None:
        return Verdict("more", f"`{more}` is {str(siblings[more]).lower()}")
    equal = next((k for k, n in counts.items() if n == rows and not may_be_short(k, n)), None)
    end = next(iter(flags), None)
    if end is not None:
        # Parse Server computes it from a count, which is 0 until PostgreSQL has analyzed the table.
        wrong = next((name for name, n in counts.items() if n < rows and TOTAL.search(name)), None)
        doubt = wrong and f"`{wrong}` counts {counts[wrong]:,}, and {rows:,} rows came"
        # Simulacrum's simulator of GitHub says so of its first 100 rows, where no size is given.
        if equal is None and is_cut and not is_reached and is_long_limit(rows):
            doubt = doubt or LIMIT.format(rows)
        proof = (
            f"`{end}` is {str(siblings[end]).lower()}" if equal is None else f"`{equal}` {COUNTED}"
        )
        return Verdict("unknown" if doubt else "complete", doubt or proof)
    following = next((name for name in siblings if read_sign(name, siblings[name])), None)
    if following is not None:
        return Verdict("more", f"`{following}` is not null")
    # A count that equals the size, or is the only one at a usual length, may be that of the page.
    is_alone = sum(count == rows for count in counts.values()) == 1  # as `totalCount` in TinaCMS
    is_sure = equal is not None and not is_reached and not (is_cut and is_alone)
    return Verdict("complete", f"`{equal}` {COUNTED}") if is_sure else None


def _has_room(sizes: Sizes, rows: int) -> bool:
    """Return whether a size allows more rows than came."""
    return any(value > rows and is_named_after(name, SIZE_WORDS) for name, value in sizes.numbers)


def _judge_length(rows: int, sizes: Sizes, *, is_outermost: bool) -> Verdict:
    """Judge a list by the number of its rows and by what cut it, if nothing stands beside it."""
    # Balboa leaves the row itself out of a page of related rows after it has cut it. One row less
    # than a small size comes by chance: only a request can tell, which is not sent here.
    limits = (value for name, value in sizes.numbers if is_limit_name(name))
    if any(limit == rows + 1 >= LONG_LIMIT for limit in limits):
        return Verdict("unknown", ONE_LESS)
    if _has_room(sizes, rows):
        # Wagtail's Grapple and many others answer a larger size with 100 rows, without a sign.
        return Verdict("unknown", LIMIT.format(rows)) if is_round(rows) else NO_SIGN
    if rows > 1 and sizes.untried and (is_outermost or is_usual(rows)):
        return Verdict("unknown", f"`{sizes.untried[0]}` may bring more rows")
    has_arguments = bool(sizes.numbers or sizes.untried)
    is_limit = is_round(rows) if has_arguments else sizes.is_known and is_default_limit(rows)
    return Verdict("unknown", LIMIT.format(rows)) if is_limit else NO_SIGN


def judge_inner_lists(
    beside: Mapping[str, Sequence[object]],
    path: Sequence[str],
    lengths: Sequence[int],
    sizes: Sizes,
    depth: int,
) -> Verdict:
    """Judge the lists of the rows of another list together.

    Parameters
    ----------
    beside
        For each row of the outer list, the values in it, named as for :func:`judge_list`.
    path, sizes
        As for :func:`judge_list`.
    lengths
        The number of rows in each list.
    depth
        The number of the names in `path` that lead to a row of the outer list.

    Returns
    -------
    Verdict
        The weakest of the verdicts, with the number of lists it holds for.
    """
    inner = path[depth:]
    longest = max(lengths, default=0)
    if not (sizes.numbers or sizes.untried or beside):
        # Lists without arguments are part of the rows that hold them, unless one is long.
        return Verdict("unknown", LIMIT.format(longest)) if is_long_limit(longest) else NO_SIGN
    # nestjs-query limits the query for the lists of all objects, or has one row more.
    shared = next(
        (
            f"`{name}: {value}` may bound all lists together"
            for name, value in sizes.numbers
            if SMALLEST_ROUND <= value <= sum(lengths) <= value + 1 and is_limit_name(name)
        ),
        None,
    )
    # Most lists have equal signs: each combination is judged once.
    signs = zip(lengths, *beside.values(), strict=True)
    verdicts: Counter[Verdict] = Counter()
    for (rows, *values), count in Counter(signs).items():
        # A usual length cuts no list if another one is longer.
        own = sizes if rows == longest else Sizes(sizes.numbers, [], is_known=False)
        verdict = _judge(dict(zip(beside, values, strict=True)), inner, rows, own)
        is_refuted = rows < longest and verdict.evidence in {LIMIT.format(rows), ONE_LESS}
        if shared and verdict.is_weak:
            verdict = Verdict("unknown", shared)
        verdicts[NO_SIGN if is_refuted else verdict] += count
    return choose_weakest(verdicts, "lists") or NO_SIGN


def choose_weakest(verdicts: Mapping[Verdict, int], noun: str) -> Verdict | None:
    """Return the weakest of the verdicts on several lists; None for no list.

    Parameters
    ----------
    verdicts
        The number of lists with each verdict.
    noun
        What the lists are called in the evidence, in the plural.

    Examples
    --------
    >>> more = Verdict("more", "`hasMore` is true")
    >>> str(choose_weakest({NO_SIGN: 3, more: 2}, "answers"))
    'more: 2 of 5 answers: `hasMore` is true'
    """
    state = max((verdict.state for verdict in verdicts), key=STATES.index, default=STATES[0])
    weakest = {verdict: count for verdict, count in verdicts.items() if verdict.state == state}
    first = next(iter(weakest), None)
    if first is None or state == STATES[0]:
        return first
    count, total = sum(weakest.values()), sum(verdicts.values())
    shown = f"{first.evidence}{', in the first of them' if len(weakest) > 1 else ''}"
    return Verdict(state, f"{count:,} of {total:,} {noun}: {shown}")


def collect_sizes(
    document: Document, path: Sequence[str], variables: Mapping[str, Any], above: int = 0
) -> Sizes:
    """Return the arguments of the fields that lead to a list.

    Of the first `above` fields only the sizes that are named after the list are taken.
    """
    kind: Any = None if document.schema is None else document.schema.query_type
    values = merge_defaults(document, variables)
    sizes = Sizes([], [], is_known=True)
    takes_cursor = False
    for depth in range(1, len(path) + 1):
        node, holder = document.find_field(path[:depth]), kind
        if node is None:
            break
        given = read_values({it.name.value: it.value for it in node.arguments or ()}, values)
        declared = getattr(kind, "fields", {}).get(node.name.value)
        arguments = {} if declared is None else declared.args
        leaves = list_leaves({n: a for n, a in arguments.items() if str(a.type) != "Int!"}, given)
        for name, argument in arguments.items():
            if name not in given:
                given[name] = read_default(argument) or None  # 0 by default is no size
            if get_named_type(argument.type).name == "ID":
                given.pop(name)
        members = [str(leaf.path[-1]) for leaf in leaves if len(leaf.path) == 2]
        takes_cursor |= any(is_named_after(name, CURSOR_WORDS) for name in (*arguments, *members))
        kind = None if declared is None else get_named_type(declared.type)
        if depth <= above:  # of a list around it: `takeFlavorTexts` is the size of `flavorTexts`
            wraps = kind is not None and is_page(kind)
            given = {
                name: value
                for name, value in given.items()
                if is_size_of(name, path[-1]) or (wraps and is_limit_name(name))
            }
            leaves = []
        sizes.untried.extend(format_argument(it.path) for it in leaves if _is_untried(it))
        for name, value in given.items():
            sizes.numbers.extend(_iterate_numbers(name, value))
        # Services that build the schema from classes use their defaults without the object.
        sizes.numbers.extend(
            (format_argument(it.path), it.value)
            for it in leaves
            if len(it.path) > 1 and it.value and not given[str(it.path[0])]
        )
    fields = getattr(kind, "fields", {})
    info = find_page_info(holder, PageArguments("cursor")) if takes_cursor else None
    token = "" if info is None else ".".join(info.cursor)
    untried = [name for name in sizes.untried if name not in fields]
    sign = token if is_pointer(token) or "." not in token else ""
    is_bare = not (sign or sizes.numbers or untried) and len(path) - above > 1
    if is_bare and find_identifier(holder) is None:  # an object with one is no page
        flags = (".".join(leaf) for leaf, type_ in iterate_leaves(holder) if type_ == "Boolean")
        sign = next((name for name in flags if read_sign(name, value=True) is not None), "")
    return sizes._replace(untried=untried, sign=sign)


def _is_untried(leaf: ArgumentLeaf) -> bool:
    """Return whether an argument without a value may be the size or the place of a page."""
    # Most other integers in input objects are parts of filters.
    depth = len(leaf.path)
    is_near = depth == 1 or (depth == 2 and is_named_after(leaf.name, PAGE_MEMBERS))
    return is_near and leaf.type.name == "Int" and leaf.value in {None, 0, 1}


def _iterate_numbers(name: str, value: object) -> Iterator[tuple[str, int]]:
    if isinstance(value, dict):
        for member, inner in value.items():
            yield from _iterate_numbers(f"{name}.{member}", inner)
        return
    number = read_whole_number(value)
    if number is not None and normalize_name(name.rpartition(".")[2]) not in PAGE_NAMES:
        yield name, number  # page 1 may have one row
