"""One cell on its way: text, document, variables, answer, and what is shown of it."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from gqlnb.errors import GqlnbError, OptionError, QueryError, plain
from gqlnb.model.learning import settled
from gqlnb.model.strict import way_out
from gqlnb.notebook.binding import checked, gathered, hinted, similar_names
from gqlnb.notebook.history import Asked
from gqlnb.notebook.paging import KEPT, only_queries, paused, pausing, placeless, unfinished
from gqlnb.notebook.shown import Note, counted, raw, show

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping

    from gqlnb.errors import Problem
    from gqlnb.model.document import Document
    from gqlnb.model.result import Result
    from gqlnb.notebook.clients import Opened
    from gqlnb.notebook.magic import GraphQLMagic

__all__ = ["Run", "shaped"]

WAY_OUT = "Add --no-strict to keep what does not fit as it came."
# Warnings of frames that the cell's own notes say already.
SAID = ("The answer is partial", "The result may be incomplete")


class Run:
    """The run of one cell.

    Parameters
    ----------
    magic
        The magic, with what it keeps from cell to cell.
    options
        Those of the cell.
    text
        The text below them.
    above
        How many lines of the cell stand above the text; None for a text on the magic's own line.
    """

    def __init__(
        self, magic: GraphQLMagic, options: Namespace, text: str, above: int | None
    ) -> None:
        self.magic = magic
        self.options = options
        self.above, self.place = above or 0, "line" if above is None else "cell line"
        self.text = self._source(text)
        self.own = self.text.count("\n") + 1
        self.full = magic.snippets.completed(self.text)
        self.kind = options.type or magic.type
        self.opened: Opened
        self.document: Document
        self.names = magic.names  # of the caller; a control moved later still sees them
        self._last: QueryError | None = None
        self._noted = False

    def _source(self, text: str) -> str:
        """Return the text to run: the cell's, that of a file, or that of a saved cell."""
        file, name = self.options.file, self.options.operation
        if file is not None:
            if not blank(text):
                msg = f"--file {plain(file, 80)}: the cell has a text of its own; leave out one."
                raise OptionError(msg)
            self.above, self.place = 0, f"{plain(file, 80)} line"
            return contents(file)
        if name is not None and blank(text):
            saved = self.magic.snippets.operation(name)
            if saved is None:
                msg = (
                    f"--operation {plain(name, 40)}: the cell is empty, and no saved cell has an "
                    "operation of that name. %graphql snippets lists them."
                )
                raise OptionError(msg)
            self.above, self.place = 0, "line"
            if name not in defined(saved):
                self.options.operation = None  # it is the name of the cell
            return saved
        return text

    def __call__(self) -> Any:
        """Run it, and return the value of the cell.

        Raises
        ------
        GqlnbError
            If it fails; what came is stored where the answer would have been.
        """
        from gqlnb.client.secrets import headers_of
        from gqlnb.notebook.exporting import exportable

        path = None
        if self.options.export_to is not None:
            path = exportable(self.options.export_to)
        headers = headers_of(self.options.header)
        self.opened = self._open(headers, fresh=self.options.no_cache)
        try:
            try:
                return self._value(path)
            except QueryError:
                if not self._outdated():
                    raise
            self.opened = self._open(headers, fresh=True)
            return self._value(path)
        except QueryError as error:
            self._placed(error)
            raise
        finally:
            if self.opened.own and not self.options.interact:
                self.opened.client.close()

    def _open(self, headers: Mapping[str, str], *, fresh: bool) -> Opened:
        target = self.options.connection or self.options.target
        return self.magic.clients.open(target, headers, fresh=fresh, names=self.names)

    def _outdated(self) -> bool:
        """Tell whether the schema that refused the text may be no longer that of the endpoint.

        As of a server on this machine, which is started anew while somebody works on it.
        """
        from gqlnb.client.addresses import loopback

        opened, asked = self.opened, self.magic.introspect == "ask"
        found = hasattr(self, "document") or not opened.kept or opened.client.local is not None
        return asked and not found and loopback(opened.client.source)

    def _value(self, path: Path | None) -> Any:
        from gqlnb.notebook.snippets import check_fragments, has_operation

        client, options = self.opened.client, self.options
        known = self.magic.schema_of(client)
        if not options.silent and (why := self.magic.clients.unsaid(client)):
            show(Note([why.replace(client.source, self.opened.name, 1)]))
        if options.save is not None and not has_operation(self.full):
            check_fragments(self.full, known)
            return self._save()
        self.document = client.document(self.full, options.operation)
        if options.paginate:
            only_queries("--paginate", self.document)
        elif options.max_results is not None and self.document.kind != "subscription":
            msg = "%%graphql: --max-results says how far to page; add --paginate."
            raise OptionError(msg)
        given = self._gather()
        if options.interact:
            return self._interact(given)
        if options.no_execute or options.dry_run or options.explain:
            value = self._unsent(given)
            self._save()
            return self._kept(value)
        if self.document.kind == "subscription":
            from gqlnb.notebook.following import followed

            value = followed(self, given, path)
            self._save()
            return self._kept(value)
        if options.profile:
            return self._kept(self._local("--profile").profile(self.full, given, **self._named()))
        return self._answer(given, path)

    def _gather(self) -> dict[str, Any]:
        """Return the Python values of the variables; say which ones are perhaps misspelled."""
        by_name = self.magic.variables == "by name"
        shell, options = self.magic.shell, self.options
        given = gathered(
            options, self.document, self.names, by_name=by_name, global_ns=shell.user_global_ns
        )
        if by_name and not options.silent and not self._noted:
            hidden = shell.user_ns_hidden
            lines = similar_names(self.document, {*given, *options.interact}, self.names, hidden)
            if lines:
                show(Note(lines, wrong=True))
                self._noted = True
        return given

    def _named(self) -> dict[str, Any]:
        return {"operation": self.options.operation}

    def _unsent(self, given: Mapping[str, Any]) -> Any:
        """Check all there is to check, and return what an option asks for instead of an answer."""
        from gqlnb.notebook.dryrun import dry_run

        if self.options.explain:
            return self._local("--explain").explain(self.full, given, **self._named())
        values = checked(self.document, given, self.names)
        return dry_run(self.opened.client, self.document, values) if self.options.dry_run else None

    def _local(self, option: str) -> Any:
        schema = self.opened.client.local
        if schema is not None:
            return schema
        msg = (
            f"{option} looks into the engine of this process, and {self.opened.client.source} "
            "executes elsewhere. Name a schema of the notebook."
        )
        raise OptionError(msg)

    def _ask(self, given: Mapping[str, Any]) -> Result:
        """Run the operation, page by page if that is asked for, and note it in the history."""
        outcome = "interrupted"
        try:
            result = self._result(given)
            outcome = told(result)
        except GqlnbError as error:
            outcome = type(error).__name__
            raise
        finally:
            self.asked(outcome)
        return result.in_cell(self.above, self.place, self.own)

    def asked(self, outcome: str) -> None:
        """Note in the history what was asked, and what came of it."""
        said = f"{self.document.kind} {self.document.name or ''}".strip()
        self.magic.history.add(Asked(self.opened.name, said, outcome, self.text.strip("\n")))

    def _result(self, given: Mapping[str, Any]) -> Result:
        client, options = self.opened.client, self.options
        if not options.paginate:
            return client.execute(self.full, given, **self._named())
        try:
            most = options.max_results
            return client.collect_pages(self.full, given, **self._named(), max_results=most)
        except (GqlnbError, KeyboardInterrupt) as error:
            pages = paused(error)
            if pages is not None:
                name = options.output or KEPT
                self.magic.shell.user_ns[name] = pages.in_cell(self.above, self.place, self.own)
                pausing(error, name, self._target())
            raise

    def _target(self) -> str:
        """Return what was asked as an expression of Python."""
        opened, named = self.opened, self.options.connection or self.options.target
        if named in self.names and not opened.kept:
            return str(named)
        return repr(opened.name)

    def _answer(self, given: Mapping[str, Any], path: Path | None) -> Any:
        from gqlnb.notebook.exporting import export

        begun = perf_counter()
        result = self._ask(given)
        if self.magic.introspect != "ask":
            settled(result)
        seconds = perf_counter() - begun
        self._save()
        quiet = self.options.silent
        # Incomplete data are never silent: -q, an output name and ; hide the result's own lines.
        hides = quiet or self.kind != "result" or self.options.output or self.options.hidden
        if hides and (lines := unfinished(result)):
            show(Note(lines, wrong=True))
        if path is not None:
            with way_out(WAY_OUT):
                said = export(result, path, strict=not self.options.no_strict)
            if not quiet:
                show(Note([said]))
        if self.options.stats or self.magic.stats:
            from gqlnb.notebook.stats import stats

            show(Note([stats(result, seconds)]))
        return self._kept(self._shaped(result, quiet=quiet))

    def _shaped(self, result: Result, *, quiet: bool = False) -> Any:
        """Return the value of a result, and say what that value does not show."""
        if result.errors and self.magic.partial == "raise":
            result.raise_for_errors()
        if result.errors and not quiet and (self.kind != "result" or self.options.output):
            from gqlnb.model.render import error_lines

            show(Note(error_lines(result), wrong=True))
        with way_out(WAY_OUT):
            return shaped(result, self.kind, strict=not self.options.no_strict)

    def _kept(self, value: Any) -> Any:
        """Store a value under the name of ``--output``, or return it to be shown."""
        if self.options.output is not None:
            self.magic.shell.user_ns[self.options.output] = value
            return None
        return None if self.options.silent else value

    def _save(self) -> None:
        """Keep a text that has turned out to be valid."""
        if self.options.save is not None:
            self.magic.snippets.save(self.options.save, self.text)

    def _interact(self, given: Mapping[str, Any]) -> None:
        from gqlnb.notebook.interacting import Interaction, controls, interactive

        wanted = list(dict.fromkeys(self.options.interact))
        interactive(self.document, wanted)

        def ask(values: Mapping[str, Any]) -> Any:
            try:
                result = self._ask({**given, **values})
            except QueryError as error:
                self._placed(error)
                raise
            value = self._shaped(result, quiet=True)
            if self.options.output is not None:
                self.magic.shell.user_ns[self.options.output] = value
            wrong = result.errors or unfinished(result)
            return result if wrong else value  # the result shows what is wrong in the same place

        ranges = {name: given.get(name, self.names.get(name)) for name in wanted}
        Interaction(controls(self.document, wanted, ranges), ask).show()
        self._save()

    def _placed(self, error: QueryError) -> None:
        """Let an error say which line of the cell it is about, and what a variable could be."""
        from gqlnb.client.checks import locate

        if error is self._last:
            return
        self._last = error
        if self.options.paginate:
            placeless(error, self.full)
        result: Any = error.result
        errors = getattr(result, "errors", ())
        paths = [one.get("path") for one in errors] if len(errors) == len(error.problems) else []
        problems = [hinted(problem, {}, self.names) for problem in error.problems]
        if paths:
            problems = [
                selected(problem, path, result.document)
                for problem, path in zip(problems, paths, strict=True)
            ]
        error.problems = tuple(map(self._own, problems))
        if result is None:
            locate(error, self.opened.whence)
        error.in_cell(self.above)
        error.place = self.place

    def _own(self, problem: Problem) -> Problem:
        """Return a problem that names the saved fragment it is in, if it is not in the cell."""
        if problem.line is None or problem.line <= self.own:
            return problem
        name = self.magic.snippets.fragment_line(self.text, self.full, problem.line)
        message = f"In the saved fragment {name}: {problem.message}" if name else problem.message
        return replace(problem, message=message, line=None, column=None)


def selected(problem: Problem, path: Any, document: Document | None) -> Problem:
    """Return a problem without a place at that of the field which its path leads to."""
    from gqlnb.model.locating import selected_at

    if problem.line is not None or document is None:
        return problem
    node = selected_at(document, path)
    if node is None or node.loc is None:
        return problem
    place = node.loc.start_token
    return replace(problem, line=place.line, column=place.column)


def shaped(result: Result, kind: str, *, strict: bool = True) -> Any:
    """Return a result as the kind of value that ``--type`` names."""
    if kind == "result":
        return result
    if kind == "json":
        return result.data
    if kind == "raw":
        return raw(result)
    with warnings.catch_warnings():
        for said in SAID:
            warnings.filterwarnings("ignore", said)
        if kind == "arrow":
            return result.arrow(strict=strict)
        if kind == "frame":
            return result.frame(strict=strict)
        return result.frames if strict else result.tables(strict=False)


def told(result: Result) -> str:
    """Return what came, in a word or two; data are not decoded for it."""
    return counted(len(result.errors), "error") if result.errors else "data"


def blank(text: str) -> bool:
    """Tell whether a text is white space and comments alone."""
    return all(line.lstrip()[:1] in ("", "#") for line in text.splitlines())


def contents(name: str) -> str:
    """Return the text of a file.

    Raises
    ------
    OptionError
        If it cannot be read.
    """
    try:
        return Path(name).expanduser().read_text(encoding="utf-8-sig")
    except OSError as error:
        reason = error.strerror or type(error).__name__
    except UnicodeDecodeError:
        reason = "it is not UTF-8"
    msg = f"--file {plain(name, 80)} cannot be read: {reason}."
    raise OptionError(msg)


def defined(text: str) -> tuple[str, ...]:
    """Return the names of the operations of a text."""
    from gqlnb.notebook.snippets import read

    return read("", text).operations
