"""Our executor answers exactly as graphql-core does, on schemas, documents and data by chance.

Each case is made from a number, so a failure can be seen again. `ENGINE_CASES=20000` asks for more
of them, `ENGINE_SEED=123` for one, `ENGINE_FAILURES=20` for more failures before it stops.
"""

from __future__ import annotations

import gc
import os
import warnings
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from graphql.pyutils import Undefined

import gqlnb.engine.compiler.plans
from tests.engine.comparison import columnar, metered
from tests.examples import count_examples
from tests.property.differential import coverage, mutants, reference
from tests.property.differential.case import MODES, Case, close_loop
from tests.property.differential.report import describe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tests.property.differential.case import Execute

ALL_CASES = {"sync": 300, "ready": 150, "gated": 150}
CASES = {mode: count_examples(most) for mode, most in ALL_CASES.items()}
MORE = int(os.environ.get("ENGINE_CASES", "0"))
SEED = os.environ.get("ENGINE_SEED")
pytestmark = pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
FAILURES = int(os.environ.get("ENGINE_FAILURES", "3"))
BLOCK = 50
LONGEST_HUNT = 400  # cases
# After how many objects a selection is compiled: at once, in the midst of a list, as by default.
HOT = (0, 2, 64)


@pytest.fixture(scope="module", autouse=True)
def _collected():
    """Collect garbage between cases only.

    Beside an error graphql-core leaves coroutines that nobody awaits. Python says so when they are
    collected, and fails to say it in frames without builtins, which named tuples have.
    """
    gc.disable()
    yield
    collect(2)
    gc.enable()
    close_loop()


def cases(mode: str, numbers: Iterable[int]) -> Iterator[Case]:
    """Make cases, and collect what the ones before left."""
    for index, number in enumerate(numbers):
        yield Case(number, mode)
        if index % 10 == 9:
            collect()
    collect()


def collect(generation: int = 1) -> None:
    """Collect garbage without a word about coroutines."""
    if isinstance(Undefined, Exception):  # in graphql-core 3.2, which raises it again and again
        Undefined.__traceback__ = None
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)
        gc.collect(generation)


def seeds(mode: str) -> list[tuple[int, ...]]:
    """Return the numbers of the cases of a mode, in blocks."""
    if SEED is not None:
        return [(int(SEED),)]
    count = MORE * CASES[mode] // sum(CASES.values()) if MORE else CASES[mode]
    block = max(BLOCK, count // 40)
    return [tuple(range(start, min(start + block, count))) for start in range(0, count, block)]


def blocks() -> list[Any]:
    """Return all blocks of cases as parameters of a test, each with a time to compile."""
    return [
        pytest.param(mode, block, hot, id=f"{mode}-{block[0]}-{hot}")
        for mode in MODES
        for index, block in enumerate(seeds(mode))
        for hot in (HOT if SEED else (HOT[index % len(HOT)],))
    ]


def compare(mode: str, block: tuple[int, ...], candidate: Execute) -> None:
    """Fail with what is different in a block of cases, one report for each kind of difference."""
    found: dict[str, str] = {}
    kinds: Counter[str] = Counter()
    for case in cases(mode, block):
        for difference in case.differences(reference.execute, candidate):
            kinds[difference.signature] += 1
            if difference.signature not in found and len(found) < FAILURES:
                found[difference.signature] = describe(difference)
    reports = "\n\n".join(found.values())
    assert not found, f"{kinds.total()} differences: {dict(kinds)}\n\n{reports}"


@pytest.mark.parametrize(("mode", "block", "hot"), blocks())
@pytest.mark.parametrize("execute", [gqlnb.engine.execute, metered], ids=["free", "metered"])
def test_our_executor_equals_the_reference(execute, mode, block, hot, monkeypatch):
    """Data, key order, leaf types, errors with all details, and resolver calls."""
    monkeypatch.setattr("gqlnb.engine.compiler.plans.HOT", hot)
    compare(mode, block, execute)


@pytest.mark.slow
def test_columns_equal_the_reference(monkeypatch):
    """Lists of any length may be columns, which become the same data.

    Few lists of these cases can be; tests/engine/test_row_columns.py has more.
    """
    monkeypatch.setattr("gqlnb.engine.compiler.lazy_functions.MIN_BATCH_ROWS", 1)
    monkeypatch.setattr("gqlnb.engine.compiler.plans.HOT", 0)
    for mode in MODES:
        for block in seeds(mode):
            compare(mode, block, columnar)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_the_reference_equals_itself(mode):
    """Otherwise a case would depend on more than its seed, and the comparison be void."""
    compare(mode, tuple(range(1000, 1060)), reference.execute)


@pytest.mark.slow
@pytest.mark.parametrize("name", mutants.MUTANTS)
def test_a_faulty_executor_is_detected(name):
    """Each of these executors has one fault and differs from the reference in some case."""
    execute, mode = mutants.MUTANTS[name]
    found = (
        next(case.differences(reference.execute, execute), None)
        for case in cases(mode, range(LONGEST_HUNT))
    )
    assert any(found), f"{LONGEST_HUNT} cases do not show what is wrong with it"


@pytest.mark.slow
def test_the_generated_cases_cover_every_feature():
    """Every listed feature of documents, data and responses occurs in CI."""
    seen: Counter[str] = Counter()
    for mode in MODES:
        for case in cases(mode, range(ALL_CASES[mode])):
            seen.update(coverage.features(case))
    missing = [name for name in coverage.PROMISED if not seen[name]]
    assert not missing, f"never seen: {missing}"
    assert seen["no errors"] > 0.35 * sum(ALL_CASES.values())  # most documents are valid
