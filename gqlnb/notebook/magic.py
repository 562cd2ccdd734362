"""``%%graphql`` and ``%graphql``."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from IPython.core.magic import (
    Magics,
    line_cell_magic,
    magics_class,
    needs_local_scope,
    no_var_expand,
    output_can_be_silenced,
)
from traitlets import Bool, Enum, Int, Unicode

from gqlnb.errors import GqlnbError, OptionError, find_user_line, sanitize_text
from gqlnb.notebook.clients import CellRecordings, ClientCache
from gqlnb.notebook.magic_options import (
    TYPES,
    check_options,
    find_inline_operation,
    get_cell_parser,
    has_stored_text,
    read_line,
    refuse_secrets,
)
from gqlnb.notebook.namespace import collect_visible_names
from gqlnb.notebook.saved_cells import History, Snippets

if TYPE_CHECKING:
    from argparse import Namespace

    from graphql import GraphQLSchema
    from IPython.core.interactiveshell import InteractiveShell

    from gqlnb.client.client import Client

__all__ = ["GraphQLMagic"]


# Of the magic that runs now: threads, and magics within magics, each have their own.
_visible_names: ContextVar[MutableMapping[str, Any]] = ContextVar("names")


class CellInterrupt(KeyboardInterrupt):
    """The interrupt button, shown without the frames it went through."""

    def _render_traceback_(self) -> list[str]:
        return ["KeyboardInterrupt", *(f"  {place}" for place in self.args)]


CellInterrupt.__name__ = KeyboardInterrupt.__name__  # what a notebook saves as the error's name


@magics_class
class GraphQLMagic(Magics):
    """The magics: they parse a line and call one method.

    Attributes
    ----------
    clients
        The clients that stay open from cell to cell.
    snippets
        The saved cells.
    history
        What was asked.
    recordings
        What cells are answered from, or kept in.
    """

    shell: InteractiveShell

    type = Enum(
        TYPES,
        default_value="result",
        help="What a cell's value is, as --type says for one cell: result, frame, frames, json, "
        "arrow or raw.",
    ).tag(config=True)
    variables = Enum(
        ("by name", "given"),
        default_value="by name",
        help="Where $variables come from: from the notebook's names of the same name and the "
        "options (by name), or from --param and --vars alone (given).",
    ).tag(config=True)
    introspect = Enum(
        ("ask", "never"),
        default_value="ask",
        help="Whether an endpoint is asked for its schema before the first operation, to check "
        "texts before they are sent and to know the dtypes of frames.",
    ).tag(config=True)
    partial = Enum(
        ("show", "raise"),
        default_value="show",
        help="What becomes of an answer with errors beside its data: it is shown with them, or "
        "PartialError is raised.",
    ).tag(config=True)
    replay = Unicode(
        "",
        help="The file of a recording that every cell is answered from, as --replay for one cell; "
        "empty for none.",
    ).tag(config=True)
    live_rows = Int(
        1000,
        min=1,
        help="How many rows of a subscription are kept and shown, the last ones.",
    ).tag(config=True)
    stats = Bool(
        default_value=False, help="Show time, bytes, rows and budget of each cell, as --stats."
    ).tag(config=True)

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self.clients = ClientCache(shell.user_ns)
        self.snippets = Snippets()
        self.history = History()
        self.recordings = CellRecordings()

    @property
    def names(self) -> MutableMapping[str, Any]:
        """The names that the running magic sees: the caller's locals, then the notebook's."""
        return _visible_names.get(self.shell.user_ns)

    @needs_local_scope
    @no_var_expand  # IPython would replace $x and {x} in the line
    @output_can_be_silenced
    @line_cell_magic
    def graphql(
        self, line: str, cell: str | None = None, local_ns: Mapping[str, Any] | None = None
    ) -> Any:
        """Run a GraphQL operation; its $variables are taken by name from the notebook.

        Within a function its local names go before those of the notebook.

        ::

            %%graphql [connection] [name <<] [options]
            query Stars($n: Int!) { search(query: "stars:>100000", type: REPOSITORY, first: $n) {
              nodes { ... on Repository { name stargazerCount } } } }

        The connection is a name (``%graphql connections`` lists them), an object of the notebook
        (a Schema; a schema of graphql-core, Strawberry, Ariadne or Graphene; a Client, Server, ASGI
        app) or an address. None: the current connection, else GQLNB_URL, else the newest server of
        this notebook, else http://127.0.0.1:4000/graphql.

        Where the answer goes::

            -c, --connection NAME     the connection, as an option
            -o, --output NAME         keep the answer under this name and show nothing (or: NAME <<)
            -t, --type KIND           what the answer is: result (rows as a table), frame (a
                                      DataFrame), frames (one for each list), json (the data), arrow
                                      (a pyarrow.Table), raw (the response as JSON text)
            --no-strict               of a column with a value that does not fit its type, keep all
                                      values as they came instead of an error (frame, frames,
                                      arrow, --export-to)
            --export-to FILE          write it too: rows to .csv or .parquet, the data to .json, the
                                      text that was sent to .graphql
            --stats                   time, bytes, rows, and what is left of the endpoint's budget
            -q, --silent              show nothing; a ; at the end of the cell does the same

        How much of it::

            --paginate                all pages of the query's connections, as one answer; cursors
                                      and page sizes are added where the text has none
            --max-results N           with it: at most so many items of an outermost connection; of
                                      a subscription at most so many events

        What came of pages before one failed, or before an interrupt, is kept under the name of -o,
        else as _pages; the error says how to go on.

        A subscription shows its last 1,000 rows (``%config GraphQLMagic.live_rows``) while they
        come, until it ends or the interrupt button is pressed; then the cell's value is a LiveFrame
        with .frame and .results. Where it fails the rows stay, under the name of -o, else as _live.

        What is asked::

            -p, --param NAME=EXPR     a variable, from a Python expression: -p n=len(names)
                                      -p s='a b'; white space may stand in its quotes and brackets
            -v, --vars MAPPING        variables, from a mapping of the notebook
            -H, --header NAME=env:VAR a header, such as X-Api-Key, whose value is in the environment
                                      variable VAR, or keyring:NAME in the keyring; may be repeated
            --operation NAME          which operation to run, where the text has several; without
                                      a text the saved one: %graphql -c demo --operation Stars
            -f, --file FILE           run the text of a file: %graphql -c demo -f stars.graphql
            -S, --save NAME           keep this cell if it is valid: later cells may spread its
                                      fragments (...Name) and run its operation; %graphql snippets
            --interact VARIABLE       a slider or box for a variable of a query; moving it runs the
                                      query again. A tuple of that name is the range of the slider,
                                      a list the values to choose from. May be repeated
            --no-cache                forget what is known of the endpoint: connect anew and ask for
                                      its schema again

        Recordings, which hold no tokens, for notebooks that run without network::

            --record FILE             ask, and keep the answers in FILE
            --replay FILE             answer from FILE: nothing is sent, no token is needed. For
                                      every cell: %config GraphQLMagic.replay = "FILE", or
                                      GQLNB_REPLAY=FILE in the environment

        Instead of asking::

            -N, --no-execute          check text and variables, and do nothing else
            --dry-run                 show what would be sent: text, variables, depth, nodes, and
                                      what it costs at GitHub
            --explain                 show how the engine of this process would execute it
            --profile                 execute it here and show where the time goes

        Without a cell::

            %graphql { hello }                       a short operation
            %graphql connections                     what can be asked, and which is the current one
            %graphql connect NAME [ADDRESS] [--token env:NAME] [-H NAME=env:VAR] [--keep]
                                                     --keep: in your own file, for later notebooks
            %graphql use NAME | close NAME
            %graphql schema [Type | Type.field]      the documentation of a schema, a type, a field
            %graphql schema --changes [FILE]         what may break queries since the session began,
                                                     or since a file; those of this notebook first
            %graphql search WORDS [--limit N]        types, fields, arguments and descriptions
            %graphql stars >100000 [--limit N]       repositories above a number of stars: 1000
                                                     means >1000, 1000..1000 exactly 1000; also
                                                     with language:python sort:forks --limit all
            %graphql history [NUMBER]                what was asked, and the text of one
            %graphql snippets [NAME]                 saved cells, and the text of one
            %graphql serve NAME [--port N] | stop    a schema of the notebook on /graphql

        Errors are found before anything is sent where the schema is known, up to ten at a time,
        each with its line of the cell. What holds for every cell: ``%config GraphQLMagic``, and the
        table [tool.gqlnb] of pyproject.toml; connections in [tool.gqlnb.connections.NAME], with
        url = "https://..." and token = "env:NAME".
        """
        refuse_secrets(line, cell)
        before = _visible_names.set(collect_visible_names(self.shell.user_ns, local_ns))
        try:
            if cell is None:
                return self._run_line(line.strip())
            options = read_line(get_cell_parser(), line)
            return self._run_cell(options, cell.rstrip(), above=1)
        except KeyboardInterrupt as interrupt:
            place = find_user_line(interrupt)
            told = [place.strip()] if place else []
            told += getattr(interrupt, "told", ())
        finally:
            _visible_names.reset(before)
        raise CellInterrupt(*told)  # here: without a context

    def _run_line(self, line: str) -> Any:
        from gqlnb.notebook.subcommands import (
            REPLAYABLE,
            SUBCOMMANDS,
            run_subcommand,
            suggest_subcommand,
        )

        line, given = line.removesuffix(";"), line
        word, _, rest = line.partition(" ")
        start = find_inline_operation(line)
        operation = start is not None or has_stored_text(line)
        named = word in self.names and ("{" in line or start is None)
        if word in SUBCOMMANDS and not (operation and named):
            with self.recordings.select_for_setting(self.replay if word in REPLAYABLE else ""):
                return run_subcommand(self, word, rest)
        if not operation:
            said = f"{sanitize_text(word, 40)!r} is neither" if word else "takes either"
            msg = (
                f"%graphql: {said} an operation such as {{ hello }} {'nor' if word else 'or'} "
                f"one of: {', '.join(SUBCOMMANDS)}.{suggest_subcommand(word)}"
            )
            raise OptionError(msg)
        end = len(line) if start is None else start
        options = read_line(get_cell_parser(), line[:end])
        return self._run_cell(options, given[end:], above=None)

    def _run_cell(self, options: Namespace, text: str, above: int | None) -> Any:
        from gqlnb.notebook.cell_runner import CellRunner

        options.hidden = text.endswith(";")  # IPython drops the value of such a cell
        text = text.removesuffix(";")

        try:
            with self.recordings.select_for_cell(check_options(options), self.replay):
                return CellRunner(self, options, text, above)()
        except GqlnbError as error:
            if options.output is not None and error.result is not None:
                # A failed answer can still be looked at.
                self.shell.user_ns[options.output] = error.result
            raise

    def find_schema(self, client: Client) -> GraphQLSchema | None:
        """Return the schema of what is asked; None where it is not known.

        Raises
        ------
        TransportError
            If there is no endpoint, or it does not answer at all.
        """
        return self.clients.find_schema(client, ask=self.introspect == "ask")

    def close(self) -> None:
        """Give back what is open."""
        self.clients.close()
