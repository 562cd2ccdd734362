"""``%%graphql`` and ``%graphql``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from IPython.core.magic import (
    Magics,
    line_cell_magic,
    magics_class,
    no_var_expand,
    output_can_be_silenced,
)

from gqlnb.errors import GqlnbError, OptionError, QueryError, blame, calling_line, plain
from gqlnb.notebook.options import (
    NAME,
    cell_parser,
    inline,
    read_line,
    refuse_secrets,
)

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping

    from IPython.core.interactiveshell import InteractiveShell

    from gqlnb.client.client import Client
    from gqlnb.model.result import Result

__all__ = ["GraphQLMagics"]


class Interrupted(KeyboardInterrupt):
    """The interrupt button, shown without the frames it went through."""

    def _render_traceback_(self) -> list[str]:
        return ["KeyboardInterrupt", *(f"  {place}" for place in self.args)]


Interrupted.__name__ = KeyboardInterrupt.__name__  # what a notebook saves as the error's name


@magics_class
class GraphQLMagics(Magics):
    """The magics; they parse a line and call one method."""

    shell: InteractiveShell

    @no_var_expand  # IPython would replace $x and {x} in the line
    @output_can_be_silenced
    @line_cell_magic
    def graphql(self, line: str, cell: str | None = None) -> Any:
        """Run a GraphQL operation; its $variables are taken by name from the notebook.

        ::

            %%graphql [connection] [name <<] [options]
            query Stars($n: Int!) { search(query: "stars:>100000", type: REPOSITORY, first: $n) {
              nodes { ... on Repository { name stargazerCount } } } }

        The connection is a name (``%graphql connections`` lists them), an object of the notebook
        (a Schema; a schema of graphql-core, Strawberry, Ariadne or Graphene; a Client, Server, ASGI
        app) or an address. None: the current connection, else GQLNB_URL, else the newest server of
        this notebook, else http://127.0.0.1:4000/graphql.

        -c, --connection NAME     the connection, as an option
        -o, --output NAME         keep the Result under this name and show nothing (or: NAME <<)
        -t, --type KIND           result (rows as a table), frame (a DataFrame), json (the data)
        -p, --param NAME=EXPR     a variable, from a Python expression: -p n=len(names) -p s='a b';
                                  white space may stand in its quotes and brackets
        -v, --vars MAPPING        variables, from a mapping of the notebook
        -H, --header NAME=env:VAR a header, such as X-Api-Key, whose value is in the environment
                                  variable VAR, or keyring:NAME in the keyring; may be repeated
        --operation NAME          which operation to run, where the text has several
        -q, --silent              show nothing; a ; at the end of the cell does the same

        Without a cell::

            %graphql { hello }                       a short operation
            %graphql connections | connect NAME ADDRESS [--token env:NAME] [-H NAME=env:VAR]
            %graphql use NAME | close NAME
            %graphql schema [Type]                   the schema of the connection, or one type
            %graphql stars >100000 [--limit N]       repositories above a number of stars: 1000
                                                     means >1000, 1000..1000 exactly 1000
            %graphql serve NAME [--port N] | stop    a schema of the notebook on /graphql
        """
        refuse_secrets(line, cell)
        try:
            if cell is None:
                return self._line(line.strip().removesuffix(";"))
            options = read_line(cell_parser(), line)
            return self._run(options, cell.rstrip().removesuffix(";"), lines_above=1)
        except KeyboardInterrupt as interrupt:
            place = calling_line(interrupt)
        raise Interrupted(*[place.strip()] if place else [])  # here: without a context

    def _line(self, line: str) -> Any:
        from gqlnb.notebook.subcommands import SUBCOMMANDS, run_subcommand

        word, _, rest = line.partition(" ")
        if word in SUBCOMMANDS:
            return run_subcommand(self, word, rest)
        start = inline(line)
        if start is None:
            msg = (
                f"%graphql: {plain(word, 40)!r} is neither an operation such as {{ hello }} "
                f"nor one of: {', '.join(SUBCOMMANDS)}."
            )
            raise OptionError(msg)
        options = read_line(cell_parser(), line[:start])
        return self._run(options, line[start:], lines_above=0)

    def _run(self, options: Namespace, text: str, lines_above: int) -> Any:
        name = options.output
        if name is not None and not NAME.fullmatch(name):
            msg = f"%%graphql: {plain(name, 40)!r} is no Python name."
            raise OptionError(msg)
        try:
            result = self._execute(options, text)
        except GqlnbError as error:
            if name is not None and error.result is not None:
                self.shell.user_ns[name] = error.result  # a failed answer can still be looked at
            if isinstance(error, QueryError) and lines_above:
                error.in_cell(lines_above)
            raise
        value = shaped(result, options.type)
        if name is not None:
            self.shell.user_ns[name] = value
        return None if name is not None or options.silent else value

    def _execute(self, options: Namespace, text: str) -> Result:
        from gqlnb.client.secrets import headers_of

        headers = headers_of(options.header)
        client = self.client(options.connection or options.target, headers)
        try:
            document = client.document(text, options.operation)
            names = [name for name in document.variables if name in self.shell.user_ns]
            variables = {name: self.shell.user_ns[name] for name in names}
            variables |= self._mapping(options.vars) | self._params(options.param)
            return client.execute(text, variables, operation=options.operation)
        finally:
            if headers:  # it was made for this cell
                client.close()

    def client(self, target: str | None, headers: Mapping[str, str] | None = None) -> Client:
        """Return the client of a connection's name, of an object of the notebook, or an address.

        With headers it is a new one.

        Raises
        ------
        TargetError
            If it is none of these.
        """
        from gqlnb.client import connections
        from gqlnb.client.client import connect
        from gqlnb.github.entry import enter

        enter()
        names = {connection.name for connection in connections.known()}
        if target is not None and target not in names and target in self.shell.user_ns:
            return connect(self.shell.user_ns[target], headers=headers)
        return connect(target, headers=headers)

    def _mapping(self, name: str | None) -> dict[str, Any]:
        if name is None:
            return {}
        value = self.shell.user_ns.get(name)
        if not hasattr(value, "keys"):
            found = "no such name" if name not in self.shell.user_ns else type(value).__name__
            msg = f"--vars takes the name of a mapping; {plain(name, 40)!r} is {found}."
            raise OptionError(msg)
        return dict(value)

    def _params(self, given: list[str]) -> dict[str, Any]:
        found = {}
        for text in given:
            name, equals, expression = text.partition("=")
            if not equals or not NAME.fullmatch(name.strip()):
                msg = (
                    f"--param takes NAME=EXPRESSION without white space, other than in quotes or "
                    f"brackets; got {plain(text, 40)!r}."
                )
                raise OptionError(msg)
            found[name.strip()] = self._value(name.strip(), expression.strip())
        return found

    def _value(self, name: str, expression: str) -> Any:
        """Return the value of an expression of the user's.

        Raises
        ------
        OptionError
            If it fails.
        """
        try:
            return eval(expression, self.shell.user_global_ns, self.shell.user_ns)  # noqa: S307 - the user's own code
        except Exception as error:  # whatever the user's code raises
            reason = blame(error)
        msg = f"--param {name}={plain(expression, 80)}: {reason}"
        raise OptionError(msg)


def shaped(result: Result, kind: str) -> Any:
    """Return a result as the kind of value that ``--type`` names."""
    if kind == "frame":
        return result.frame()
    return result.data if kind == "json" else result
