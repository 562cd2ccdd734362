"""Execution of one cell: text, document, variables, answer, value."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias

from gqlnb.client.credentials import is_loopback, parse_header_options
from gqlnb.client.request_preparer import add_target_hint
from gqlnb.client.response_cache import cached
from gqlnb.document.syntax import find_position
from gqlnb.document.variables import convert_variables
from gqlnb.engine.schema import get_adapter
from gqlnb.errors import (
    GqlnbError,
    OptionError,
    QueryError,
    ReplayError,
    TargetError,
    advise_if_strict,
    format_count,
    sanitize_text,
)
from gqlnb.notebook.cell_variables import (
    Interaction,
    add_missing_variable_hint,
    build_control,
    check_interact_variables,
    check_variables,
    collect_variables,
    describe_missing_values,
    require_query,
)
from gqlnb.notebook.display import Note, add_error_lines, show
from gqlnb.notebook.magic_options import check_options
from gqlnb.notebook.notebook_state import HistoryEntry, check_fragments, has_operation
from gqlnb.notebook.output_options import (
    check_export_path,
    check_map_options,
    export_result,
    find_input_names,
    format_stats,
    map_inputs,
    prepare_dry_run,
    to_json_text,
)
from gqlnb.result.answer_notes import MISSING, format_notes
from gqlnb.result.renderer import format_errors
from gqlnb.result.result import attach_schema_loader, locate_in_cell

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Mapping, MutableMapping

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from gqlnb.document.document import Document
    from gqlnb.engine.schema import Schema
    from gqlnb.errors import Problem
    from gqlnb.notebook.notebook_state import CellTarget, NotebookState
    from gqlnb.result.result import Result

    CellValue: TypeAlias = (
        Result | pd.DataFrame | pl.DataFrame | pa.Table | Mapping[str, object] | str | None
    )

LIMIT_REACHED = "max_results"  # the end of paging that a report gives for a reached limit
PAGES_NAME = "_pages"  # like the names that IPython gives to unnamed values: _, _exit_code
NO_STRICT_HINT = "Add --no-strict to keep values of other types unchanged."
# Warnings of frames that repeat the notes of the cell.
REPEATED_WARNINGS = ("The answer is partial", "The result may be incomplete", MISSING)


def run_cell(
    state: NotebookState,
    options: Namespace,
    text: str,
    names: MutableMapping[str, object],
    above: int | None,
) -> object:
    """Run a cell with its recording and its remembered answers, and return its value.

    The parameters are those of :class:`CellRunner`.

    Raises
    ------
    GqlnbError
        If it fails.
    """
    options.hidden = text.endswith(";")  # IPython discards the value of such a cell
    text = text.removesuffix(";")
    check_options(options)
    settings = state.settings
    cache: AbstractContextManager[object] = nullcontext()
    if options.cache is not None or settings.cache or options.refresh:
        cache = cached(options.cache or settings.cache or None, refresh=options.refresh)
    recording = state.select_recording(options.record, options.replay, settings.replay)
    try:
        with recording, cache:
            return CellRunner(state, options, text, names, above).run()
    except GqlnbError as error:
        if options.output is not None and error.result is not None:
            # A failed answer can still be inspected.
            state.shell.user_ns[options.output] = error.result
        raise


class CellRunner:
    """Runs one cell.

    Parameters
    ----------
    state
        The state of the notebook.
    options
        The options of the cell.
    text
        The text below them.
    names
        The names that the cell sees. A control that is moved later still sees them.
    above
        The number of lines above the text; None for a text on the magic's own line.

    Raises
    ------
    OptionError
        If the text, a file or a header of the options cannot be found.
    TargetError
        If no client can be created for the target.
    """

    def __init__(
        self,
        state: NotebookState,
        options: Namespace,
        text: str,
        names: MutableMapping[str, object],
        above: int | None,
    ) -> None:
        self._state = state
        self._settings = state.settings
        self._options = options
        self._names = names
        self._lines_above = above or 0
        self._line_label = "line" if above is None else "cell line"
        self._text = self._find_text(text)
        self._line_count = self._text.count("\n") + 1
        # Saved fragments that the text spreads are appended to it.
        self._full_text, self._added_fragments = state.snippets.add_fragments(self._text)
        self._kind: str = options.type or self._settings.type
        if options.map is not None:
            check_map_options(options, self._kind)
        self._export_path: Path | None = None
        if options.export_to is not None:
            self._export_path = check_export_path(options.export_to)
        # Checked before a client is opened: a wrong option must not cost a request.
        self._headers = parse_header_options(options.header) if options.header else {}
        self._target = self._open_target(fresh=options.no_cache)
        self._document: Document | None = None  # until the text has been parsed
        # How the client takes the text; None for its own setting.
        validate = False if options.no_validate else None
        self._how: Any = {"operation": options.operation, "validate": validate}
        self._entry: HistoryEntry | None = None
        self._last_error: QueryError | None = None
        self._missing_values_shown = False

    def _find_text(self, text: str) -> str:
        """Return the text to run: the cell's, that of a file, or that of a saved cell."""
        file, name = self._options.file, self._options.operation
        if file is None and name is None:
            return text
        # White space and comments alone do not count as a text.
        is_blank = all(line.lstrip()[:1] in ("", "#") for line in text.splitlines())
        if file is not None:
            label = sanitize_text(file, 80)
            if not is_blank:
                msg = f"--file {label}: the cell has a text of its own; leave out one."
                raise OptionError(msg)
            self._lines_above, self._line_label = 0, f"{label} line"
            return read_file(file)
        if not is_blank:
            return text
        saved = self._state.snippets.find_operation(name)
        if saved is None:
            msg = (
                f"--operation {sanitize_text(name, 40)}: the cell is empty, and no saved cell has "
                "an operation of that name. %graphql snippets lists them."
            )
            raise OptionError(msg)
        self._lines_above, self._line_label = 0, "line"
        if name not in saved.operations:
            self._options.operation = None  # the cell was saved under this name
        return saved.text

    def _open_target(self, *, fresh: bool) -> CellTarget:
        name = self._options.connection or self._options.target
        return self._state.clients.open(name, self._headers, fresh=fresh, names=self._names)

    def run(self) -> object:
        """Run the cell and return its value.

        Raises
        ------
        GqlnbError
            If it fails; the partial answer is stored under the name of ``--output``.
        """
        try:
            try:
                return self._run_operation()
            except QueryError:
                if not self._is_schema_outdated():
                    raise
            # Once: a second refusal is an error of the text.
            self._target = self._open_target(fresh=True)
            return self._run_operation()
        except QueryError as error:
            self._locate_error(error)
            raise
        finally:
            if self._target.single_use and not self._options.interact:
                self._target.client.close()

    def _is_schema_outdated(self) -> bool:
        """Return whether the schema that refused the text may be outdated."""
        # A server on this machine is often restarted with another schema during development.
        client = self._target.client
        return (
            self._settings.introspect == "ask"
            and self._document is None
            and self._target.cached
            and client._local_schema is None
            and is_loopback(client.source)
        )

    def _run_operation(self) -> object:
        client, options, clients = self._target.client, self._options, self._state.clients
        find_schema = partial(clients.find_schema, client, ask=self._settings.introspect == "ask")
        if client._local_schema is None and find_schema() is None and not options.silent:
            notice = clients.take_schema_notice(client)
            if notice:
                show(Note([notice.replace(client.source, self._target.name, 1)]))
        ignored = "" if options.silent else self._target.ignored
        if ignored and clients.is_first_notice(ignored):
            show(Note([ignored]))
        if options.save is not None and not has_operation(self._full_text):
            check_fragments(self._full_text, find_schema())
            self._save_snippet()
            return None
        document = self._document = client.parse_document(self._full_text, **self._how)
        if options.paginate:
            require_query("--paginate", document)
        elif options.max_results is not None and document.kind != "subscription":
            msg = "%%graphql: --max-results limits --paginate or a subscription. Add --paginate."
            raise OptionError(msg)
        # Variables before any mode: --dry-run and --interact need them too.
        variables = self._collect_variables(document)
        if options.interact:
            self._show_controls(document, variables)
            self._save_snippet()
            return None
        start = perf_counter()
        value = self._run_document(document, variables)
        if self._entry is not None:  # something was sent
            self._entry.record_value(value, perf_counter() - start)
        if options.output is None:
            return None if options.silent else value
        self._state.shell.user_ns[options.output] = value
        return None

    def _run_document(self, document: Document, variables: Mapping[str, object]) -> object:
        """Check, follow, map or execute an operation, and return the cell's value."""
        options = self._options
        value: object
        if options.no_execute or options.dry_run or options.explain:
            value = self._check_without_sending(document, variables)
        elif options.map is not None:
            value = self._map_inputs(document, variables)
        elif document.kind == "subscription":
            value = self._follow_subscription(document, variables)
        elif options.profile:
            engine = self._require_local_schema("--profile")
            return engine.profile(self._full_text, variables, operation=options.operation)
        else:
            return self._execute_and_convert(document, variables)
        self._save_snippet()
        return value

    def _save_snippet(self) -> None:
        """Save a text that turned out to be valid."""
        if self._options.save is not None:
            self._state.snippets.save(self._options.save, self._text)

    def _collect_variables(self, document: Document) -> dict[str, object]:
        """Return the values of the variables, and note the optional ones without a value."""
        options, shell = self._options, self._state.shell
        if not document.variables and options.vars is None and not options.param:
            return {}
        by_name = self._settings.variables == "by name"
        variables = collect_variables(
            options, document, self._names, by_name=by_name, global_ns=shell.user_global_ns
        )
        if options.silent or self._missing_values_shown:
            return variables
        bound = {*variables, *options.interact}
        if options.map is not None and not bound.issuperset(document.variables):
            bound |= find_input_names(document, options, self._names)
        own = self._names if by_name else {}
        lines, is_doubtful = describe_missing_values(document, bound, own, shell.user_ns_hidden)
        if lines:
            show(Note(lines, wrong=is_doubtful))
            self._missing_values_shown = True
        return variables

    def _check_without_sending(self, document: Document, variables: Mapping[str, object]) -> object:
        """Check text and variables; return a dry run or an explanation if one is requested."""
        options = self._options
        if options.explain:
            schema = self._require_local_schema("--explain")
            return schema.explain(self._full_text, variables, operation=options.operation)
        try:
            values = check_variables(document, variables, self._names)
        except QueryError:
            if not options.no_validate:
                raise
            values = convert_variables(variables)
        return prepare_dry_run(self._target.client, document, values) if options.dry_run else None

    def _require_local_schema(self, option: str) -> Schema:
        schema: Schema | None = self._target.client._local_schema
        if schema is not None:
            return schema
        msg = (
            f"{option} needs a schema of this notebook, and {self._target.client.source} "
            "executes elsewhere. Name a Schema of the notebook as the connection."
        )
        raise OptionError(msg)

    def _follow_subscription(self, document: Document, variables: Mapping[str, object]) -> object:
        options, shell = self._options, self._state.shell
        if options.profile:
            msg = "--profile measures one execution and cannot be used with a subscription."
            raise OptionError(msg)
        stream = self._target.client.subscribe(document, variables, **self._how)
        from gqlnb.notebook.subscription_cell import follow_subscription  # loads numpy, and more

        with self._record_outcome(document) as entry:
            value, entry.outcome = follow_subscription(
                stream, options, self._settings, self._kind, self._export_path, shell.user_ns
            )
        return value

    def _execute(self, document: Document, variables: Mapping[str, object]) -> Result:
        options = self._options
        with self._record_outcome(document) as entry:
            if options.paginate:
                result = self._collect_pages(document, variables)
            elif document.incremental_directives:
                result = self._follow_parts(document, variables)
            else:
                result = self._target.client.execute(document, variables, **self._how)
            if result.errors:  # without decoding the data
                entry.outcome = format_count(len(result.errors), "error")
        return locate_in_cell(result, self._lines_above, self._line_label, self._line_count)

    @contextmanager
    def _record_outcome(self, document: Document) -> Iterator[HistoryEntry]:
        """Add an operation to the history when it ends."""
        title = f"{document.kind} {document.name or ''}".strip()
        entry = HistoryEntry(self._target.name, title, "data", self._text.strip("\n"))
        try:
            yield entry
        except BaseException as error:
            is_interrupt = isinstance(error, KeyboardInterrupt)
            entry.outcome = "interrupted" if is_interrupt else type(error).__name__
            raise
        finally:
            self._entry = entry
            self._state.history.add(entry)

    def _follow_parts(self, document: Document, variables: Mapping[str, object]) -> Result:
        """Return the merged answer of ``@defer`` and ``@stream``, shown while it arrives."""
        client = self._target.client
        local = client._local_schema
        stream = None
        if local is None or get_adapter(local).delivers_parts:
            # Recordings and transports of one's own carry single answers.
            with suppress(ReplayError, TargetError):
                stream = client.subscribe(document, variables, **self._how)
        if stream is None:
            return client.execute(document, variables, **self._how)
        from gqlnb.notebook.subscription_cell import follow_parts  # as above

        return follow_parts(stream, quiet=self._options.silent)

    def _map_inputs(self, document: Document, variables: Mapping[str, object]) -> object:
        with self._record_outcome(document):
            frame = map_inputs(
                self._target.client,
                document,
                self._options,
                names=self._names,
                variables=variables,
                user_ns=self._state.shell.user_ns,
            )
        if self._kind == "polars":
            return frame.to_polars()
        return frame.to_arrow() if self._kind == "arrow" else frame

    def _collect_pages(self, document: Document, variables: Mapping[str, object]) -> Result:
        options = self._options
        try:
            return self._target.client._collect_pages(
                document, variables, **self._how, max_results=options.max_results
            )
        except (GqlnbError, KeyboardInterrupt) as error:
            pages: Any = getattr(error, "result", None)
            if getattr(pages, "report", None) is not None:
                name = options.output or PAGES_NAME
                self._state.shell.user_ns[name] = locate_in_cell(
                    pages, self._lines_above, self._line_label, self._line_count
                )
                # A Python expression for the target, to continue from there.
                word = options.connection or options.target
                is_object = word in self._names and not self._target.cached
                target = word if is_object else repr(self._target.name)
                extent = f"{pages.report}. They are kept as {name}."
                advice = f"To continue: gqlnb.connect({target}).resume({name})"
                add_error_lines(error, extent, advice)
            raise

    def _execute_and_convert(
        self, document: Document, variables: Mapping[str, object]
    ) -> CellValue:
        options, start = self._options, perf_counter()
        result = self._execute(document, variables)
        self._save_snippet()
        if self._settings.introspect == "never":
            attach_schema_loader(result, None)
        seconds = perf_counter() - start
        # Incomplete data are reported even if -q, -o or ; hide the report of the result itself.
        is_hidden = options.silent or self._kind != "result" or options.output or options.hidden
        if is_hidden and result.report is not None and (lines := describe_incomplete(result)):
            show(Note(lines, wrong=True))
        if is_hidden and not options.silent and result.notes:
            show(Note(format_notes(result.notes, "result.notes")))
        with advise_if_strict(NO_STRICT_HINT):
            if self._export_path is not None:
                line = export_result(result, self._export_path, strict=not options.no_strict)
                if not options.silent:
                    show(Note([line]))
            if options.stats or self._settings.stats:
                show(Note([format_stats(result, seconds)]))
            return self._convert(result, quiet=options.silent)

    def _convert(self, result: Result, *, quiet: bool) -> CellValue:
        """Convert a result to ``--type``, and show the errors that the value does not show."""
        if result.errors and self._settings.partial == "raise":
            result.raise_for_errors()
        if result.errors and not quiet and (self._kind != "result" or self._options.output):
            show(Note(format_errors(result), wrong=True))
        kind, strict = self._kind, not self._options.no_strict
        if kind == "result":
            return result
        if kind in ("json", "raw"):
            return result.data if kind == "json" else to_json_text(result)
        with warnings.catch_warnings():
            for message in REPEATED_WARNINGS:
                warnings.filterwarnings("ignore", message)
            match kind:
                case "arrow":
                    return result.to_arrow(strict=strict)
                case "polars":
                    return result.to_polars(strict=strict)
                case "frames":
                    return result.frames if strict else result.tables(strict=False)
            return result.frame(strict=strict)

    def _show_controls(self, document: Document, variables: Mapping[str, object]) -> None:
        controlled = list(dict.fromkeys(self._options.interact))
        check_interact_variables(document, controlled)

        def run_with_values(values: Mapping[str, object]) -> object:
            try:
                result = self._execute(document, {**variables, **values})
            except QueryError as error:
                self._locate_error(error)
                raise
            with advise_if_strict(NO_STRICT_HINT):
                value = self._convert(result, quiet=True)
            if self._options.output is not None:
                self._state.shell.user_ns[self._options.output] = value
            # The display of a result includes its errors, in the place below the controls.
            is_doubtful = result.errors or result.notes or describe_incomplete(result)
            return result if is_doubtful else value

        controls = {
            name: build_control(document, name, variables.get(name, self._names.get(name)))
            for name in controlled
        }
        Interaction(controls, run_with_values).show()

    def _locate_error(self, error: QueryError) -> None:
        """Add positions in the cell and hints about variables to an error."""
        # The first error of a control arrives twice: from its callback and from run().
        if error is self._last_error:
            return
        self._last_error = error
        if self._options.paginate and error.text not in (None, self._full_text):
            error.text = None  # positions refer to the generated text of a further page
            error.problems = tuple(replace(it, line=None, column=None) for it in error.problems)
        result: Any = error.result
        errors = getattr(result, "errors", ())
        problems = [add_missing_variable_hint(it, {}, self._names) for it in error.problems]
        if errors and len(errors) == len(problems):
            problems = [
                locate_problem(problem, answered.get("path"), result.document)
                for problem, answered in zip(problems, errors, strict=True)
            ]
        for at, problem in enumerate(problems):
            # Lines below the cell's own text belong to saved fragments.
            if problem.line is not None and problem.line > self._line_count:
                line = problem.line - self._line_count
                name = self._state.snippets.find_fragment_at(self._added_fragments, line)
                prefix = f"In the saved fragment {name}: " if name else ""
                message = f"{prefix}{problem.message}"
                problems[at] = replace(problem, message=message, line=None, column=None)
        error.problems = tuple(problems)
        if result is None:
            add_target_hint(error, self._target.chosen_by)
        error.in_cell(self._lines_above)
        error.line_label = self._line_label


def read_file(name: str) -> str:
    """Read the text of ``--file``."""
    try:
        return Path(name).expanduser().read_text(encoding="utf-8-sig")
    except OSError as error:
        reason = error.strerror or type(error).__name__
    except UnicodeDecodeError:
        reason = "it is not UTF-8"
    msg = f"--file {sanitize_text(name, 80)} cannot be read: {reason}."
    raise OptionError(msg)


def describe_incomplete(result: Result) -> list[str]:
    """Return lines about a paging that ended early; empty if it did not, or at the user's limit."""
    report = result.report
    if report is None or report.complete or (report.ended == LIMIT_REACHED and not report.doubts):
        return []
    return report.format_lines()


def locate_problem(problem: Problem, path: object, document: Document | None) -> Problem:
    """Give a problem without a position that of the field at its response path."""
    if problem.line is not None or document is None:
        return problem
    node = document.find_field(path)
    position = None if node is None else find_position(node)
    if position is None:
        return problem
    return replace(problem, line=position.line, column=position.column)
