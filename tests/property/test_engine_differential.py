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

import graphql
import pytest

import gqlnb.engine
from tests.property.differential import coverage, mutants
from tests.property.differential.case import MODES, Case, close_loop
from tests.property.differential.report import describe, shrunk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.property.differential.case import Execute

CASES = {"sync": 400, "ready": 150, "gated": 150}
MORE = int(os.environ.get("ENGINE_CASES", "0"))
SEED = os.environ.get("ENGINE_SEED")
FAILURES = int(os.environ.get("ENGINE_FAILURES", "3"))
BLOCK = 50
LONGEST_HUNT = 400  # cases


@pytest.fixture(scope="module", autouse=True)
def _event_loop() -> Iterator[None]:
    yield
    close_loop()


@pytest.fixture(autouse=True)
def _forgotten_coroutines() -> Iterator[None]:
    """Drop here what graphql-core never awaits beside an error, and what Python says about it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)
        yield
        gc.collect()


def seeds(mode: str) -> list[tuple[int, ...]]:
    """Return the numbers of the cases of a mode, in blocks."""
    if SEED is not None:
        return [(int(SEED),)]
    count = MORE * CASES[mode] // sum(CASES.values()) if MORE else CASES[mode]
    block = max(BLOCK, count // 40)
    return [tuple(range(start, min(start + block, count))) for start in range(0, count, block)]


def blocks() -> list[Any]:
    """Return all blocks of cases as parameters of a test."""
    return [
        pytest.param(mode, block, id=f"{mode}-{block[0]}")
        for mode in MODES
        for block in seeds(mode)
    ]


def compare(mode: str, block: tuple[int, ...], candidate: Execute) -> None:
    """Fail with what is different in a block of cases, one report for each kind of difference."""
    found: dict[str, str] = {}
    kinds: Counter[str] = Counter()
    for seed in block:
        for difference in Case(seed, mode).differences(graphql.execute, candidate):
            kinds[difference.signature] += 1
            if difference.signature not in found and len(found) < FAILURES:
                smaller = shrunk(difference, graphql.execute, candidate)
                found[difference.signature] = describe(smaller)
    reports = "\n\n".join(found.values())
    assert not found, f"{kinds.total()} differences: {dict(kinds)}\n\n{reports}"


@pytest.mark.parametrize(("mode", "block"), blocks())
def test_our_executor_equals_the_reference(mode: str, block: tuple[int, ...]) -> None:
    """Data, key order, leaf types, errors with all details, and calls of resolvers are the same."""
    compare(mode, block, gqlnb.engine.execute)


@pytest.mark.parametrize("mode", MODES)
def test_the_reference_equals_itself(mode: str) -> None:
    """No case depends on anything but its number: otherwise the comparison would prove nothing."""
    compare(mode, tuple(range(1000, 1060)), graphql.execute)


@pytest.mark.parametrize("name", mutants.MUTANTS)
def test_a_wrong_executor_is_found(name: str) -> None:
    """Each of these executors, wrong in one thing, differs from the reference within some cases."""
    mutant = mutants.MUTANTS[name]
    for seed in range(LONGEST_HUNT):
        case = Case(seed, mutant.mode)
        if next(case.differences(graphql.execute, mutant.make()), None) is not None:
            return
    pytest.fail(f"{LONGEST_HUNT} cases do not show what is wrong with: {name}")


def test_the_cases_reach_what_they_promise() -> None:
    """The ordinary run holds every feature of documents, data and answers that is on the list."""
    seen: Counter[str] = Counter()
    for mode in MODES:
        for seed in range(CASES[mode]):
            seen.update(coverage.features(Case(seed, mode)))
    missing = [name for name in coverage.PROMISED if not seen[name]]
    assert not missing, f"never seen: {missing}"
    assert seen["valid"] > 0.5 * sum(CASES.values())
    assert seen["no errors"] > 0.35 * sum(CASES.values())
