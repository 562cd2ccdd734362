"""State that the cells of a notebook share: clients, saved cells, history and settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gqlnb.notebook.clients import CellRecordings, ClientCache
from gqlnb.notebook.saved_cells import History, Snippets

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["CellSettings", "NotebookState"]


@dataclass(frozen=True, slots=True)
class CellSettings:
    """The settings of ``%config GraphQLMagic`` at one moment; :class:`GraphQLMagic` explains them.

    Attributes
    ----------
    type
        The default of ``--type``.
    by_name
        Whether variables are taken from the names of the notebook.
    introspect
        Whether endpoints are asked for their schema.
    raise_partial
        Whether errors beside data raise PartialError.
    replay
        The recording that answers every cell; "" for none.
    live_rows
        The number of rows that a subscription keeps.
    stats
        Whether every cell shows its statistics.
    """

    type: str = "result"
    by_name: bool = True
    introspect: bool = True
    raise_partial: bool = False
    replay: str = ""
    live_rows: int = 1000
    stats: bool = False


class NotebookState:
    """The state of one notebook.

    Parameters
    ----------
    shell
        The shell of the notebook.

    Attributes
    ----------
    shell
        The shell.
    clients
        The clients that stay open between cells.
    snippets
        The saved cells.
    history
        The operations of the session.
    recordings
        The recordings that cells read or write.
    settings
        The current settings; the magic replaces them when one changes.
    """

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell
        self.clients = ClientCache(shell.user_ns)
        self.snippets = Snippets()
        self.history = History()
        self.recordings = CellRecordings()
        self.settings = CellSettings()
