"""A harvest brings what a plain filter of all repositories finds, whatever there is and goes wrong.

``HARVEST_CASES`` in the environment says how many harvests are tried, ``HARVEST_SEED`` from which
on.
"""

import os
from base64 import b64encode
from collections import Counter
from random import Random

import pytest

from gqlnb.github.harvester.scope import Scope
from gqlnb.github.standin.simulation import Simulation
from tests.github.harvester.populations import START, World, crowd, cursor, harvest, truth

CASES = int(os.environ.get("HARVEST_CASES", "30"))
FROM = int(os.environ.get("HARVEST_SEED", "0"))
YEAR = 31_536_000
QUALIFIERS = ("", "", "", "forks:<9", "user:owner-00001", "repo-000", "-repo-0001", "is:public")
CURSORS = (cursor, cursor, str, lambda place: b64encode(b"arrayconnection:%d" % place).decode())


def moments(chance):
    """Return when repositories were made: any time, in bursts, or nearly all at once."""
    kind = chance.choice(["ever", "bursts", "hours", "once"])
    if kind == "bursts":
        return [START + chance.randrange(9 * YEAR) for _ in range(chance.randint(1, 40))]
    if kind == "hours":
        return range(START, START + 7200)
    if kind == "once":
        return [START] * 30 + [START + chance.randrange(9 * YEAR) for _ in range(10)]
    return None


def query(chance, population):
    """Return a threshold or a range, at stars that are there and beside them."""
    stars = [int(chance.choice(population.stars)) + chance.randint(-1, 1) for _ in range(2)]
    low, high = sorted(max(0, each) for each in stars)
    form = chance.choice([">={low}", ">={low}", ">{low}", "{low}..{high}", "{low}", "<={high}"])
    text = f"stars:{form.format(low=low, high=high)} {chance.choice(QUALIFIERS)}"
    if chance.random() < 0.2:
        text += f" created:>={2010 + chance.randrange(10)}"
    return chance.choice(["stars:>=0", "stars:>=0", text, text, text])


def faults(chance, seed):
    """Return some of the faults, or none, or all; stars do not move."""
    if chance.random() < 0.4:
        return Simulation(seed=seed, ties=chance.random() < 0.5)
    share = chance.choice([0.0005, 0.002])
    return Simulation(
        seed=seed,
        ties=True,
        dropped=share * (chance.random() < 0.7),
        duplicated=share * (chance.random() < 0.7),
        resources=chance.choice([None, None, 30, 70]),
    )


@pytest.mark.parametrize("seed", range(FROM, FROM + CASES))
def test_a_harvest_equals_a_filter(seed):
    """Every matching row once, or a reported gap that no search can retrieve."""
    chance = Random(seed)
    top = chance.choice([0, 2, 30, 300, 300, 5_000])
    population = crowd(chance.randint(1, 4_000), seed, top=top, moments=moments(chance))
    text = query(chance, population)
    world = World(population, faults(chance, seed), chance.choice(CURSORS))
    order = chance.choice([None, chance])
    rows, coverage = harvest(Scope.parse(text), world, chance=order, most=4_000)
    found, wanted = Counter(row.id for row in rows), truth(population, text)
    assert set(found.values()) <= {1}
    assert (coverage.expected, coverage.got) == (len(wanted), len(found))
    assert found.keys() <= wanted
    if not any("one second" in gap.why for gap in coverage.gaps):
        assert found.keys() == wanted, coverage
        assert coverage.complete
