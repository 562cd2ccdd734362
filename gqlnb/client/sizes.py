"""How many items a page of each connection has: fewer for a while where that was too much."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gqlnb.model.paging import PAGE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gqlnb.client.extent import Options
    from gqlnb.model.connections import Connection
    from gqlnb.model.paging import Paging

__all__ = ["Sizes"]

CALM = 4  # good answers after which pages grow again
HALVINGS = 7  # of pages of 100, that is one item


class Sizes:
    """The page sizes of the connections that are followed.

    Parameters
    ----------
    paging
        The connections of a query.
    variables
        Its JSON-like variables.
    options
        How far to go.

    Attributes
    ----------
    scale
        How often the sizes are halved at present.
    """

    def __init__(self, paging: Paging, variables: Mapping[str, Any], options: Options) -> None:
        self.scale = self._calm = 0
        self._said = {each: paging.size(each, variables) for each in paging.connections}
        self._wished = {
            each: size
            for each in paging.connections
            if each.followed and (size := self._wish(each, options)) is not None
        }

    def _wish(self, connection: Connection, options: Options) -> int | None:
        """Return the page size of a connection; None where the text says 0, or less."""
        said = self._said[connection]
        if said is not None and said <= 0:
            return None
        size = options.page_size or said or PAGE
        most = options.max_results
        return size if connection.outer is not None or most is None else min(size, most)

    def __contains__(self, connection: object) -> bool:
        return connection in self._wished

    def __bool__(self) -> bool:
        return bool(self._wished)

    def clear(self) -> None:
        """Follow nothing: the text is sent as it is."""
        self._wished.clear()

    def of(self, connection: Connection) -> int:
        """Return the size of a connection's pages, the last one apart."""
        return max(1, self._wished[connection] >> self.scale)

    def edits(self) -> dict[Connection, int]:
        """Return the page sizes that are not what the text says."""
        return {each: size for each in self._wished if (size := self.of(each)) != self._said[each]}

    def inside(self, connection: Connection) -> bool:
        """Tell whether anything in a connection is followed, too."""
        return any(each.outer is connection for each in self._wished)

    @property
    def halved_out(self) -> bool:
        """Whether pages were halved as often as they may be."""
        return self.scale >= HALVINGS

    @property
    def single(self) -> bool:
        """Whether no page has more than one item."""
        return max(self._wished.values(), default=1) >> self.scale <= 1

    def halve(self, scale: int) -> None:
        """Halve the pages, those that were asked for at `scale`: others may be smaller already."""
        self.scale, self._calm = max(self.scale, scale + 1), 0

    def grow(self) -> None:
        """Take in a good answer: after some of them pages are larger again."""
        self._calm += 1
        if self.scale and self._calm >= CALM:
            self.scale, self._calm = self.scale - 1, 0
