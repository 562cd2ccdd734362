"""What the tests of paging share: every way to all pages, and what must hold of what came."""

from __future__ import annotations

import asyncio
import warnings
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from gqlnb import Client

__all__ = ["WAYS", "Pages", "list_items", "page_through"]

WAYS = ("execute_all", "aexecute_all", "pages", "apages", "frame")


class Pages(NamedTuple):
    """What came of all pages.

    Attributes
    ----------
    items
        The items of the one root field, in the order in which they came.
    report
        The last report.
    frame
        The frame, where one was made.
    warnings
        The texts of the warnings.
    """

    items: list[Any]
    report: Any
    frame: pd.DataFrame | None
    warnings: list[str]

    def numbers(self) -> list[int]:
        """Return the number of each item."""
        return [item["number"] for item in self.items]


def list_items(data: Mapping[str, Any]) -> list[Any]:
    """Return the items of the only root field: a list, a connection, or a page with items."""
    (value,) = data.values()
    if isinstance(value, list):
        return value
    if "edges" in value:
        return [edge["node"] for edge in value["edges"]]
    return value["nodes"] if "nodes" in value else value["items"]


async def _collect(client: Client, text: str, variables: Any, options: Any) -> list[Any]:
    return [page async for page in client.apages(text, variables, **options)]


def page_through(
    client: Client, text: str, variables: Any = None, *, way: str = "execute_all", **options: Any
) -> Pages:
    """Ask for all pages of a query in one of :data:`WAYS`.

    Parameters
    ----------
    client
        Which client asks.
    text, variables, **options
        As for :meth:`gqlnb.Client.execute_all`.
    way
        How it is asked. After ``"execute_all"`` the frame of the result is made, too.
    """
    frame = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if way == "frame":
            frame = client.frame(text, variables, pages="all", **options)
            rows = frame.to_dict("records")
            told = {"complete": not frame.attrs["partial"], **frame.attrs["report"]}
            report = SimpleNamespace(**told)
        elif way in ("pages", "apages"):
            asked = client.pages(text, variables, **options) if way == "pages" else None
            loop = asked is None
            pages = asyncio.run(_collect(client, text, variables, options)) if loop else list(asked)
            rows = [item for page in pages for item in list_items(page.data)]
            report = pages[-1].report
        else:
            call = getattr(client, way)(text, variables, **options)
            result = asyncio.run(call) if way == "aexecute_all" else call
            rows, report = list_items(result.data), result.report
            frame = result.frame()
    return Pages(rows, report, frame, [str(it.message) for it in caught])
