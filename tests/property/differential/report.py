"""Telling a difference: all that is needed to see it again."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from graphql import print_schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.property.differential.case import Case, Difference

TEST = "tests/property/test_engine_differential.py"


def describe(difference: Difference) -> str:
    """Return everything that is needed to see a difference again."""
    case, run = difference.case, difference.run
    lines = [
        f"seed {case.seed}, mode {case.mode}, run {run}: {difference.what}",
        f"again: ENGINE_SEED={case.seed} pytest {TEST} -k {case.mode}",
        "",
        print_schema(case.made.schema),
        "",
        case.text,
        "",
        *_options(case, run),
        "",
        "WANT",
        str(difference.want),
        "GOT",
        str(difference.got),
    ]
    return "\n".join(lines)


def _options(case: Case, run: int) -> Iterator[str]:
    async def made() -> dict[str, Any]:
        world = case.world(run)
        options = case.options(run, world)
        world.later.close()
        return options

    for name, value in asyncio.run(made()).items():
        try:
            yield f"{name}={value!r:.1500}"
        except Exception as error:
            yield f"{name}: no text: {error}"
