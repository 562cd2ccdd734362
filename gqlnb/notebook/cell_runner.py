"""One cell on its way: text, document, variables, answer, and what is shown of it."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from gqlnb.errors import GqlnbError, OptionError, QueryError, advise_if_strict, sanitize_text
from gqlnb.notebook.cell_errors import (
    PAGES_NAME,
    clear_positions,
    describe_incomplete,
    explain_partial_pages,
    get_partial_pages,
    require_query,
)
from gqlnb.notebook.cell_variables import (
    add_missing_variable_hint,
    check_variables,
    collect_variables,
    suggest_similar_names,
)
from gqlnb.notebook.display import Note, format_count, show, to_json_text
from gqlnb.notebook.saved_cells import HistoryEntry
from gqlnb.result.result import detach_schema_loader

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping

    from gqlnb.document.document import Document
    from gqlnb.errors import Problem
    from gqlnb.notebook.clients import CellTarget
    from gqlnb.notebook.magic import GraphQLMagic
    from gqlnb.result.result import Result

__all__ = ["CellRunner", "convert_result"]

NO_STRICT_HINT = "Add --no-strict to keep what does not fit as it came."
# Warnings of frames that the cell's own notes say already.
REPEATED_WARNINGS = ("The answer is partial", "The result may be incomplete")


class CellRunner:
    """The run of one cell.

    Parameters
    ----------
    magic
        The magic, with what it keeps from cell to cell.
    options
        Those of the cell.
    text
        The text below them.
    lines_above
        How many lines of the cell stand above the text; None for a text on the magic's own line.
    """

    def __init__(
        self, magic: GraphQLMagic, options: Namespace, text: str, above: int | None
    ) -> None:
        self.magic = magic
        self.options = options
        self.lines_above, self.place = above or 0, "line" if above is None else "cell line"
        self.text = self._find_text(text)
        self.line_count = self.text.count("\n") + 1
        self.full_text = magic.snippets.add_fragments(self.text)
        self.kind = options.type or magic.type
        self.target: CellTarget
        self.document: Document
        self.names = magic.names  # of the caller; a control moved later still sees them
        self._last_error: QueryError | None = None
        self._similar_names_shown = False

    def _find_text(self, text: str) -> str:
        """Return the text to run: the cell's, that of a file, or that of a saved cell."""
        file, name = self.options.file, self.options.operation
        if file is not None:
            if not is_blank(text):
                msg = f"--file {sanitize_text(file, 80)}: the cell has a text of its own; leave out one."
                raise OptionError(msg)
            self.lines_above, self.place = 0, f"{sanitize_text(file, 80)} line"
            return read_file(file)
        if name is not None and is_blank(text):
            saved = self.magic.snippets.find_operation(name)
            if saved is None:
                msg = (
                    f"--operation {sanitize_text(name, 40)}: the cell is empty, and no saved cell has an "
                    "operation of that name. %graphql snippets lists them."
                )
                raise OptionError(msg)
            self.lines_above, self.place = 0, "line"
            if name not in find_operation_names(saved):
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
        from gqlnb.client.auth_headers import parse_header_options
        from gqlnb.notebook.output_options import check_export_path

        path = None
        if self.options.export_to is not None:
            path = check_export_path(self.options.export_to)
        headers = parse_header_options(self.options.header)
        self.target = self._open_client(headers, fresh=self.options.no_cache)
        try:
            try:
                return self._run_operation(path)
            except QueryError:
                if not self._is_schema_outdated():
                    raise
            self.target = self._open_client(headers, fresh=True)
            return self._run_operation(path)
        except QueryError as error:
            self._locate_error(error)
            raise
        finally:
            if self.target.single_use and not self.options.interact:
                self.target.client.close()

    def _open_client(self, headers: Mapping[str, str], *, fresh: bool) -> CellTarget:
        target = self.options.connection or self.options.target
        return self.magic.clients.open(target, headers, fresh=fresh, names=self.names)

    def _is_schema_outdated(self) -> bool:
        """Tell whether the schema that refused the text may be no longer that of the endpoint.

        As of a server on this machine, which is started anew while somebody works on it.
        """
        from gqlnb.client.urls import is_loopback

        opened, asked = self.target, self.magic.introspect == "ask"
        found = (
            hasattr(self, "document") or not opened.cached or opened.client.local_schema is not None
        )
        return asked and not found and is_loopback(opened.client.source)

    def _run_operation(self, path: Path | None) -> Any:
        from gqlnb.notebook.saved_cells import check_fragments, has_operation

        client, options = self.target.client, self.options
        known = self.magic.find_schema(client)
        if not options.silent and (why := self.magic.clients.take_schema_notice(client)):
            show(Note([why.replace(client.source, self.target.name, 1)]))
        if options.save is not None and not has_operation(self.full_text):
            check_fragments(self.full_text, known)
            return self._save_snippet()
        self.document = client.parse_document(self.full_text, options.operation)
        if options.paginate:
            require_query("--paginate", self.document)
        elif options.max_results is not None and self.document.kind != "subscription":
            msg = "%%graphql: --max-results says how far to page; add --paginate."
            raise OptionError(msg)
        given = self._collect_variables()
        if options.interact:
            return self._show_controls(given)
        if options.no_execute or options.dry_run or options.explain:
            value = self._check_without_sending(given)
            self._save_snippet()
            return self._store_or_return(value)
        if self.document.kind == "subscription":
            from gqlnb.notebook.subscription_cell import follow_subscription

            value = follow_subscription(self, given, path)
            self._save_snippet()
            return self._store_or_return(value)
        if options.profile:
            return self._store_or_return(
                self._require_local_schema("--profile").profile(
                    self.full_text, given, **self._get_operation_argument()
                )
            )
        return self._execute_and_convert(given, path)

    def _collect_variables(self) -> dict[str, Any]:
        """Return the Python values of the variables; say which ones are perhaps misspelled."""
        by_name = self.magic.variables == "by name"
        shell, options = self.magic.shell, self.options
        given = collect_variables(
            options, self.document, self.names, by_name=by_name, global_ns=shell.user_global_ns
        )
        if by_name and not options.silent and not self._similar_names_shown:
            hidden = shell.user_ns_hidden
            lines = suggest_similar_names(
                self.document, {*given, *options.interact}, self.names, hidden
            )
            if lines:
                show(Note(lines, wrong=True))
                self._similar_names_shown = True
        return given

    def _get_operation_argument(self) -> dict[str, Any]:
        return {"operation": self.options.operation}

    def _check_without_sending(self, given: Mapping[str, Any]) -> Any:
        """Check all there is to check, and return what an option asks for instead of an answer."""
        from gqlnb.notebook.output_options import prepare_dry_run

        if self.options.explain:
            return self._require_local_schema("--explain").explain(
                self.full_text, given, **self._get_operation_argument()
            )
        values = check_variables(self.document, given, self.names)
        return (
            prepare_dry_run(self.target.client, self.document, values)
            if self.options.dry_run
            else None
        )

    def _require_local_schema(self, option: str) -> Any:
        schema = self.target.client.local_schema
        if schema is not None:
            return schema
        msg = (
            f"{option} looks into the engine of this process, and {self.target.client.source} "
            "executes elsewhere. Name a schema of the notebook."
        )
        raise OptionError(msg)

    def _execute(self, given: Mapping[str, Any]) -> Result:
        """Run the operation, page by page if that is asked for, and note it in the history."""
        outcome = "interrupted"
        try:
            result = self._fetch_result(given)
            outcome = describe_outcome(result)
        except GqlnbError as error:
            outcome = type(error).__name__
            raise
        finally:
            self.record_history(outcome)
        return result.in_cell(self.lines_above, self.place, self.line_count)

    def record_history(self, outcome: str) -> None:
        """Note in the history what was asked, and what came of it."""
        said = f"{self.document.kind} {self.document.name or ''}".strip()
        self.magic.history.add(HistoryEntry(self.target.name, said, outcome, self.text.strip("\n")))

    def _fetch_result(self, given: Mapping[str, Any]) -> Result:
        client, options = self.target.client, self.options
        if not options.paginate:
            return client.execute(self.full_text, given, **self._get_operation_argument())
        try:
            most = options.max_results
            return client.collect_pages(
                self.full_text, given, **self._get_operation_argument(), max_results=most
            )
        except (GqlnbError, KeyboardInterrupt) as error:
            pages = get_partial_pages(error)
            if pages is not None:
                name = options.output or PAGES_NAME
                self.magic.shell.user_ns[name] = pages.in_cell(
                    self.lines_above, self.place, self.line_count
                )
                explain_partial_pages(error, name, self._write_target())
            raise

    def _write_target(self) -> str:
        """Return what was asked as an expression of Python."""
        opened, named = self.target, self.options.connection or self.options.target
        if named in self.names and not opened.cached:
            return str(named)
        return repr(opened.name)

    def _execute_and_convert(self, given: Mapping[str, Any], path: Path | None) -> Any:
        from gqlnb.notebook.output_options import export_result

        begun = perf_counter()
        result = self._execute(given)
        if self.magic.introspect != "ask":
            detach_schema_loader(result)
        seconds = perf_counter() - begun
        self._save_snippet()
        quiet = self.options.silent
        # Incomplete data are never silent: -q, an output name and ; hide the result's own lines.
        hides = quiet or self.kind != "result" or self.options.output or self.options.hidden
        if hides and (lines := describe_incomplete(result)):
            show(Note(lines, wrong=True))
        if path is not None:
            with advise_if_strict(NO_STRICT_HINT):
                said = export_result(result, path, strict=not self.options.no_strict)
            if not quiet:
                show(Note([said]))
        if self.options.stats or self.magic.stats:
            from gqlnb.notebook.output_options import format_stats

            show(Note([format_stats(result, seconds)]))
        return self._store_or_return(self._convert(result, quiet=quiet))

    def _convert(self, result: Result, *, quiet: bool = False) -> Any:
        """Return the value of a result, and say what that value does not show."""
        if result.errors and self.magic.partial == "raise":
            result.raise_for_errors()
        if result.errors and not quiet and (self.kind != "result" or self.options.output):
            from gqlnb.result.renderer import format_errors

            show(Note(format_errors(result), wrong=True))
        with advise_if_strict(NO_STRICT_HINT):
            return convert_result(result, self.kind, strict=not self.options.no_strict)

    def _store_or_return(self, value: Any) -> Any:
        """Store a value under the name of ``--output``, or return it to be shown."""
        if self.options.output is not None:
            self.magic.shell.user_ns[self.options.output] = value
            return None
        return None if self.options.silent else value

    def _save_snippet(self) -> None:
        """Keep a text that has turned out to be valid."""
        if self.options.save is not None:
            self.magic.snippets.save(self.options.save, self.text)

    def _show_controls(self, given: Mapping[str, Any]) -> None:
        from gqlnb.notebook.cell_variables import (
            Interaction,
            build_controls,
            check_interact_variables,
        )

        wanted = list(dict.fromkeys(self.options.interact))
        check_interact_variables(self.document, wanted)

        def run_with_values(values: Mapping[str, Any]) -> Any:
            try:
                result = self._execute({**given, **values})
            except QueryError as error:
                self._locate_error(error)
                raise
            value = self._convert(result, quiet=True)
            if self.options.output is not None:
                self.magic.shell.user_ns[self.options.output] = value
            wrong = result.errors or describe_incomplete(result)
            return result if wrong else value  # the result shows what is wrong in the same place

        ranges = {name: given.get(name, self.names.get(name)) for name in wanted}
        Interaction(build_controls(self.document, wanted, ranges), run_with_values).show()
        self._save_snippet()

    def _locate_error(self, error: QueryError) -> None:
        """Let an error say which line of the cell it is about, and what a variable could be."""
        from gqlnb.client.arguments import add_target_hint

        if error is self._last_error:
            return
        self._last_error = error
        if self.options.paginate:
            clear_positions(error, self.full_text)
        result: Any = error.result
        errors = getattr(result, "errors", ())
        paths = [one.get("path") for one in errors] if len(errors) == len(error.problems) else []
        problems = [
            add_missing_variable_hint(problem, {}, self.names) for problem in error.problems
        ]
        if paths:
            problems = [
                locate_problem(problem, path, result.document)
                for problem, path in zip(problems, paths, strict=True)
            ]
        error.problems = tuple(map(self._name_saved_fragment, problems))
        if result is None:
            add_target_hint(error, self.target.chosen_by)
        error.in_cell(self.lines_above)
        error.line_label = self.place

    def _name_saved_fragment(self, problem: Problem) -> Problem:
        """Return a problem that names the saved fragment it is in, if it is not in the cell."""
        if problem.line is None or problem.line <= self.line_count:
            return problem
        name = self.magic.snippets.find_fragment_at(self.text, self.full_text, problem.line)
        message = f"In the saved fragment {name}: {problem.message}" if name else problem.message
        return replace(problem, message=message, line=None, column=None)


def locate_problem(problem: Problem, path: Any, document: Document | None) -> Problem:
    """Return a problem without a place at that of the field which its path leads to."""
    from gqlnb.document.document import find_selected_field

    if problem.line is not None or document is None:
        return problem
    node = find_selected_field(document, path)
    if node is None or node.loc is None:
        return problem
    place = node.loc.start_token
    return replace(problem, line=place.line, column=place.column)


def convert_result(result: Result, kind: str, *, strict: bool = True) -> Any:
    """Return a result as the kind of value that ``--type`` names."""
    if kind == "result":
        return result
    if kind == "json":
        return result.data
    if kind == "raw":
        return to_json_text(result)
    with warnings.catch_warnings():
        for said in REPEATED_WARNINGS:
            warnings.filterwarnings("ignore", said)
        if kind == "arrow":
            return result.arrow(strict=strict)
        if kind == "frame":
            return result.frame(strict=strict)
        return result.frames if strict else result.tables(strict=False)


def describe_outcome(result: Result) -> str:
    """Return what came, in a word or two; data are not decoded for it."""
    return format_count(len(result.errors), "error") if result.errors else "data"


def is_blank(text: str) -> bool:
    """Tell whether a text is white space and comments alone."""
    return all(line.lstrip()[:1] in ("", "#") for line in text.splitlines())


def read_file(name: str) -> str:
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
    msg = f"--file {sanitize_text(name, 80)} cannot be read: {reason}."
    raise OptionError(msg)


def find_operation_names(text: str) -> tuple[str, ...]:
    """Return the names of the operations of a text."""
    from gqlnb.notebook.saved_cells import read_snippet

    return read_snippet("", text).operations
