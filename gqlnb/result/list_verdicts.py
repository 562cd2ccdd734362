"""Whether one answer holds a whole list: complete, more or unknown, with the evidence."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from graphql import get_named_type
from graphql.utilities import value_from_ast_untyped

from gqlnb.document.paged_fields import WRAPPER_NAMES
from gqlnb.document.paging_conventions import MORE_FLAGS, read_default
from gqlnb.document.suspect_lists import is_count_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gqlnb.document.document import Document

__all__ = ["NO_SIGN", "Verdict", "judge_list"]

NUMERIC_TEXT = re.compile(r"[0-9]{1,9}(\.0)?")  # of a scalar that is sent as text, or a float
INFOS = ("", "pageInfo.", "paginatorInfo.", "pagination.", "page_info.", "meta.")


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


NO_SIGN = Verdict("complete", "no sign suggests that rows are missing")


def judge_list(
    beside: Mapping[str, object],
    path: Sequence[str],
    rows: int,
    document: Document | None = None,
    variables: Mapping[str, Any] | None = None,
) -> Verdict:
    """Judge a list by what was selected beside it, and by the sizes in its query.

    Parameters
    ----------
    beside
        The values beside the list, by dotted response name.
    path
        The response names that lead to the list.
    rows
        The number of rows that came.
    document
        The query; None if it is not known.
    variables
        The values of its variables.

    Examples
    --------
    >>> beside = {"search.repositoryCount": 1067, "search.pageInfo.hasNextPage": True}
    >>> str(judge_list(beside, ("search", "nodes"), 100))
    'more: `repositoryCount` counts 1,067'
    >>> str(judge_list({"orders.totalPrice": 999}, ("orders", "rows"), 7))
    'complete: no sign suggests that rows are missing'
    """
    start = ".".join(path[:-1]) + "."
    siblings = {name.removeprefix(start): v for name, v in beside.items() if name.startswith(start)}
    flags = {f"{info}{flag}" for info in INFOS for flag in MORE_FLAGS} & siblings.keys()
    more = next((name for name in sorted(flags) if siblings[name] is True), None)
    # What counts in the object of a page, or beside a list that goes on, counts its rows.
    is_page = more is not None or path[-1] in WRAPPER_NAMES
    counts = {
        name: value
        for name, value in siblings.items()
        if (is_count_name(name, path[-1:]) or (is_page and name.endswith("Count")))
        and isinstance(value, int)
        and not isinstance(value, bool)
    }
    for name, count in counts.items():
        if count > rows:
            return Verdict("more", f"`{name}` counts {count:,}", count)
    if more is not None:
        return Verdict("more", f"`{more}` is true")
    end = next((name for name in sorted(flags) if siblings[name] is False), None)
    if end is not None:
        return Verdict("complete", f"`{end}` is false")
    reached = None
    if rows and document is not None:
        sizes = _iterate_numbers(document, path, variables or {})
        reached = next((name for name, value in sizes if value == rows), None)
    equal = next((name for name, count in counts.items() if count == rows), None)
    # A count that equals the size, too, may be that of the page.
    if equal is not None and reached is None:
        return Verdict("complete", f"`{equal}` counts as many rows")
    return NO_SIGN if reached is None else Verdict("unknown", f"`{reached}: {rows}` is reached")


def _iterate_numbers(
    document: Document, path: Sequence[str], variables: Mapping[str, Any]
) -> Iterator[tuple[str, int]]:
    """Yield the numbers in the arguments of the fields that lead to a list, defaults included."""
    kind: Any = None if document.schema is None else document.schema.query_type
    declarations = document.variables.items()
    defaults = {name: node.default_value for name, node in declarations if node.default_value}
    values = {name: value_from_ast_untyped(node) for name, node in defaults.items()}
    values |= variables
    for depth in range(1, len(path) + 1):
        node = document.find_field(path[:depth])
        if node is None:
            return
        given = {
            argument.name.value: value_from_ast_untyped(argument.value, values)
            for argument in node.arguments or ()
        }
        declared = getattr(kind, "fields", {}).get(node.name.value)
        if declared is not None:
            unset = {name: arg for name, arg in declared.args.items() if name not in given}
            given |= {name: read_default(argument) for name, argument in unset.items()}
            for name, argument in declared.args.items():
                if get_named_type(argument.type).name == "ID":
                    given.pop(name)
        kind = None if declared is None else get_named_type(declared.type)
        for name, value in given.items():
            yield from _iterate_leaves(name, value)


def _iterate_leaves(name: str, value: object) -> Iterator[tuple[str, int]]:
    if isinstance(value, dict):
        for member, inner in value.items():
            yield from _iterate_leaves(f"{name}.{member}", inner)
    elif isinstance(value, str | float) and NUMERIC_TEXT.fullmatch(str(value)):
        yield name, int(float(value))
    elif isinstance(value, int) and not isinstance(value, bool):
        yield name, value
