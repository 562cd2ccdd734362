"""The benchmark of imports: every client answers."""

from __future__ import annotations

import sys

import pytest

from gqlnb import reference_schema, serve
from tests.benchmarks.imports import ANSWER, QUERIES, measure_program, write_query_program


def test_programs_of_all_clients_print_the_same_answer():
    """Their CPU times are printed."""
    with serve(reference_schema(), port=0) as server:
        programs = {name: write_query_program(name, server.url) for name in QUERIES}
        done = {name: measure_program(code) for name, code in programs.items()}
    assert {name: output for name, (_, output) in done.items()} == dict.fromkeys(QUERIES, ANSWER)
    sys.stdout.writelines(f"{name}: {seconds:.3f} s\n" for name, (seconds, _) in done.items())


def test_a_program_that_fails_is_an_error():
    """A client that cannot be imported has no figure."""
    with pytest.raises(Exception, match="exit status 1"):
        measure_program("import gql.transport.no_such_transport")
