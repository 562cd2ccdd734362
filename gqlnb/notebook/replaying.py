"""Cells that are answered from a recording, or whose answers are kept in one."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from argparse import Namespace

    from gqlnb.client.recordings import Recording

__all__ = ["Recordings"]


class Recordings:
    """The recordings that cells name; a setting's is the same from cell to cell.

    So that several answers to one request come in their order.
    """

    def __init__(self) -> None:
        self._kept: tuple[str, Recording] | None = None

    def chosen(self, options: Namespace, setting: str) -> AbstractContextManager[Any]:
        """Return what a cell runs within.

        Parameters
        ----------
        options
            Those of the cell; they go before the setting.
        setting
            The recording that every cell is answered from; empty for none.

        Raises
        ------
        ReplayError
            If there is nothing to replay.
        """
        from gqlnb.client.recordings import recorded

        if options.record is not None:
            return recorded(options.record, mode="record")
        if options.replay is not None:
            return recorded(options.replay, mode="replay")
        return self.setting(setting)

    def setting(self, setting: str) -> AbstractContextManager[Any]:
        """Return what runs within the recording of a setting; empty for none.

        Raises
        ------
        ReplayError
            If there is nothing to replay.
        """
        from gqlnb.client.recordings import recorded

        if not setting:
            self._kept = None
            return nullcontext()
        if self._kept is None or self._kept[0] != setting:
            self._kept = setting, recorded(setting, mode="replay")
        return self._kept[1]
