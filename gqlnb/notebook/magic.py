"""The magics ``%%graphql`` and ``%graphql``."""

from __future__ import annotations

import inspect
import sys
from collections import ChainMap
from collections.abc import Mapping, MutableMapping
from threading import Lock
from typing import TYPE_CHECKING

from IPython.core.magic import (
    Magics,
    line_cell_magic,
    magics_class,
    needs_local_scope,
    no_var_expand,
    output_can_be_silenced,
)

from gqlnb.errors import OptionError, find_user_line, sanitize_text, suggest
from gqlnb.notebook.display import HelpText
from gqlnb.notebook.magic_options import (
    CellSettings,
    find_inline_operation,
    get_cell_parser,
    has_stored_text,
    read_line,
    refuse_secrets,
)

if TYPE_CHECKING:
    from argparse import Namespace
    from types import FrameType

    from IPython.core.interactiveshell import InteractiveShell

    from gqlnb.notebook.notebook_state import NotebookState

# Until Python 3.12 a comprehension has a frame of its own, between the magic and its function.
COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>"})
CALLERS = frozenset({"run_line_magic", "run_cell_magic"})


class CellInterrupt(KeyboardInterrupt):
    """A KeyboardInterrupt that displays without the frames of the package."""

    def _render_traceback_(self) -> list[str]:
        return ["KeyboardInterrupt", *(f"  {line}" for line in self.args)]


CellInterrupt.__name__ = KeyboardInterrupt.__name__  # the error name that a notebook saves


@magics_class
class GraphQLMagic(Magics, CellSettings):
    """The magics of the package.

    Parameters
    ----------
    shell
        The shell of the notebook.
    """

    shell: InteractiveShell

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self._state: NotebookState | None = None
        self._lock = Lock()

    @property
    def state(self) -> NotebookState:
        """The state that the cells share, created on first use since it imports the client."""
        with self._lock:  # a cell and the thread of the completer may both be the first
            if self._state is None:
                from gqlnb.notebook.notebook_state import NotebookState

                self._state = NotebookState(self.shell, self)
            return self._state

    def close(self) -> None:
        """Close all clients of the cells."""
        if self._state is not None:
            self._state.clients.close()

    @needs_local_scope
    # The names are those of the caller, and text with $x stays GraphQL.
    @no_var_expand  # IPython would replace $x and {x} in the line
    @output_can_be_silenced
    @line_cell_magic
    def graphql(
        self, line: str, cell: str | None = None, local_ns: Mapping[str, object] | None = None
    ) -> object:
        """Run a GraphQL operation; its $variables are taken by name from the notebook.

        In a function, its local names take precedence over those of the notebook.

        ::

            %%graphql [connection] [name <<] [options]
            query Stars($n: Int!) { search(query: "stars:>100000", type: REPOSITORY, first: $n) {
              nodes { ... on Repository { name stargazerCount } } } }

        The connection is a name (``%graphql connections`` lists them), an object of the notebook
        (a Schema; a schema of graphql-core, Strawberry, Ariadne or Graphene; a Client, Server, ASGI
        app) or an address. Without one: the current connection, else GQLNB_URL, else the newest
        server of this notebook, else http://127.0.0.1:4000/graphql.

        Where the answer goes::

            -c, --connection NAME     the connection, as an option
            -o, --output NAME         keep the answer under this name and show nothing (or: NAME <<)
            -t, --type KIND           type of the value: result (rows as a table), frame or
                                      pandas (a DataFrame), frames (one for each list), json (the
                                      data), arrow (a pyarrow.Table), polars (its DataFrame), raw
                                      (the response as JSON text)
            --no-strict               keep the received values of a column in which a value does not
                                      fit the type, instead of an error (all types but
                                      result, json and raw; --export-to)
            --no-validate             send text and variables as they are: the endpoint decides
                                      whether they are valid
            --export-to FILE          write it too: rows to .csv, .parquet or .xlsx, the data to
                                      .json, the text that was sent to .graphql
            --stats                   time, bytes, rows, and what is left of the endpoint's budget
            -q, --silent              show nothing; a ; at the end of the cell does the same

        How much of it::

            --paginate                all pages of the query's connections, as one answer; cursors
                                      and page sizes are added where the text has none
            --max-results N           with --paginate: at most so many items of an outermost
                                      connection; of a subscription at most so many events

            --map NAME                once for each input of a DataFrame, list or Series of the
                                      notebook: one frame with the inputs beside the answers, and
                                      .errors; its columns are variables, or its items values of
                                      the only variable
            --batch N                 with --map: N inputs in one request, as a list
            --resume NAME             with --map: send only what this frame of --map lacks

        Pages received before a failure or an interrupt are kept under the name of -o, else as
        _pages; the error explains how to continue.

        A subscription shows its last 1,000 rows (``%config GraphQLMagic.live_rows``) while they
        arrive, until it ends or the interrupt button is pressed; then the cell's value is a
        LiveFrame with .frame and .results. After a failure the rows are kept under the name of -o,
        else as _live.

        The request::

            -p, --param NAME=EXPR     a variable, from a Python expression: -p n=len(names)
                                      -p s='a b'; white space may stand in its quotes and brackets
            -v, --vars MAPPING        variables, from a mapping of the notebook
            -H, --header NAME=env:VAR a header, such as X-Api-Key, whose value is in the environment
                                      variable VAR, or keyring:NAME in the keyring; may be repeated
            --operation NAME          the operation to run, if the text has several; without a text
                                      the saved one: %graphql -c demo --operation Stars
            -f, --file FILE           run the text of a file: %graphql -c demo -f stars.graphql
            -S, --save NAME           keep this cell if it is valid: later cells may spread its
                                      fragments (...Name) and run its operation; %graphql snippets
            --interact VARIABLE       a slider or box for a variable of a query; moving it runs the
                                      query again. A tuple of that name is the range of the slider,
                                      a list the values to choose from. May be repeated
            --no-cache                connect again, and request the schema again
            --cache AGE               remember answers to queries on disk, and use those that are
                                      not older than 90s, 15min, 1h, 7d; for every cell:
                                      %config GraphQLMagic.cache = "1h"
            --refresh                 send the request all the same, and remember its new answer

        Recordings, which hold no tokens, for notebooks that run without network::

            --record FILE             send the requests, and keep the answers in FILE
            --replay FILE             answer from FILE: nothing is sent, no token is needed; for
                                      every cell: %config GraphQLMagic.replay = "FILE", or
                                      GQLNB_REPLAY=FILE in the environment

        Instead of sending it::

            -N, --no-execute          check text and variables, and do nothing else
            --dry-run                 show the request that would be sent: text, variables, depth,
                                      nodes, and the cost at GitHub
            --explain                 show how the engine of this process would execute it
            --profile                 execute it here and show the time spent per field

        Without a cell (``%graphql`` alone lists the words, ``%graphql WORD --help`` explains one)::

            %graphql { hello }                       a short operation
            %graphql connections                     the available connections, and the current one
            %graphql connect NAME [ADDRESS] [--token env:NAME] [-H NAME=env:VAR] [--keep]
                                                     --keep: in your settings, for later notebooks
            %graphql use NAME | close NAME
            %graphql schema [NAME] [Type[.field]]    the documentation of a schema, a type, a field
            %graphql schema --changes [FILE]         changes that may break queries since the start
                                                     of the session, or since a file; yours first
            %graphql search [NAME] WORDS [--limit N] types, fields, arguments and descriptions
            %graphql endpoint [NAME] [--list FIELD]  how an endpoint pages, counts and fails, found
                                                     out by requests
            %graphql stars >100000 [--limit N]       repositories above a number of stars: 1000
                                                     means >1000, 1000..1000 exactly 1000; also
                                                     with language:python sort:forks --limit all
            %graphql cache [list | clear]            the remembered answers of --cache and cache=
            %graphql history [NUMBER]                past operations, or the text of one
            %graphql snippets [NAME]                 saved cells, or the text of one
            %graphql serve NAME [--port N] | stop    a schema of the notebook on /graphql

        If the schema is known, errors are found before anything is sent, up to ten at a time, each
        with its line of the cell. Settings for all cells: ``%config GraphQLMagic``, and the table
        [tool.gqlnb] of pyproject.toml; connections in [tool.gqlnb.connections.NAME], with
        url = "https://..." and token = "env:NAME".
        """
        refuse_secrets(line, cell)
        names = collect_visible_names(self.shell.user_ns, local_ns)
        try:
            if cell is None:
                return self._run_line(line.strip(), names)
            if asks_for_help(line):
                return self._build_help()
            options = read_line(get_cell_parser(), line)
            text = cell.rstrip()
            return self._run_cell(options, text, names, above=self._count_lines_above(text))
        except KeyboardInterrupt as interrupt:
            place = find_user_line(interrupt)
            lines = [place.strip()] if place else []
            lines += getattr(interrupt, "notes", ())
        # Outside the except block, so that the interrupt has no context to display.
        raise CellInterrupt(*lines)

    def _count_lines_above(self, text: str) -> int:
        """Return how many lines of the cell stand above the text: ``%%time`` may be one of them."""
        history = self.shell.history_manager
        source = history.input_hist_raw[-1].rstrip() if history is not None else ""
        return source.removesuffix(text).count("\n") if source.endswith(text) else 1

    def _build_help(self) -> HelpText:
        """Return the help of the magic."""
        # Without the marks of reStructuredText, which IPython's `?` shows as they are.
        text = inspect.cleandoc(str(type(self).graphql.__doc__))
        return HelpText(text.replace("\n::\n", "").replace("::\n", ":\n").replace("``", ""))

    def _run_line(self, line: str, names: MutableMapping[str, object]) -> object:
        from gqlnb.notebook import subcommands

        text, line, known = line, line.removesuffix(";"), subcommands.SUBCOMMANDS
        word, _, rest = line.partition(" ")
        if asks_for_help(line):
            return subcommands.describe_subcommand(word) if word in known else self._build_help()
        start = find_inline_operation(line)
        has_operation = start is not None or has_stored_text(line)
        # An object of the notebook may have the name of a subcommand.
        is_target = has_operation and word in names and ("{" in line or start is None)
        if word in known and not is_target:
            replay = self.state.settings.replay if word in subcommands.REPLAYABLE else ""
            with self.state.select_recording(None, None, replay):
                return subcommands.run_subcommand(self.state, names, word, rest)
        if not line:
            return subcommands.list_subcommands(self.state)
        if not has_operation:
            msg = (
                f"%graphql: {sanitize_text(word, 40)!r} is neither an operation such as "
                f"{{ hello }} nor one of: {', '.join(known)}.{suggest(word, known)}"
            )
            raise OptionError(msg)
        end = len(line) if start is None else start
        options = read_line(get_cell_parser(), line[:end])
        return self._run_cell(options, text[end:], names, above=None)

    def _run_cell(
        self, options: Namespace, text: str, names: MutableMapping[str, object], above: int | None
    ) -> object:
        from gqlnb.notebook.cell_runner import run_cell

        return run_cell(self.state, options, text, names, above)


def asks_for_help(line: str) -> bool:
    """Return whether a line has ``--help`` or ``-h`` before its operation."""
    return not {"-h", "--help"}.isdisjoint(line.partition("{")[0].split())


def collect_visible_names(
    user_ns: dict[str, object], local_ns: Mapping[str, object] | None
) -> MutableMapping[str, object]:
    """Collect the names that the caller of a magic sees: its locals, then the notebook's.

    Parameters
    ----------
    user_ns
        The names of the notebook.
    local_ns
        The locals that IPython passes to a magic with ``needs_local_scope``. For a cell magic these
        are always `user_ns`, so the frame is looked up here.
    """
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - as IPython itself does it
    while frame is not None and frame.f_code.co_name not in CALLERS:
        frame = frame.f_back
    while frame is not None and frame.f_code.co_name in CALLERS:  # a shell may override them
        frame = frame.f_back
    scopes: list[dict[str, object]] = []
    while frame is not None:
        found = frame.f_locals
        if found is user_ns or frame.f_code.co_name == "<module>":
            break
        scopes.append(dict(found))
        if frame.f_code.co_name not in COMPREHENSIONS:
            break
        frame = frame.f_back
    if not scopes and local_ns is not None and local_ns is not user_ns:
        scopes.append(dict(local_ns))
    return ChainMap(*scopes, user_ns) if scopes else user_ns
