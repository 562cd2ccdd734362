"""List repositories by stars, and harvest all."""

from __future__ import annotations

from typing import assert_type

import pandas as pd

import gqlnb
from gqlnb import github

assert_type(gqlnb.stars(">1000 language:python", limit=None), pd.DataFrame)
harvest = github.harvest(">1000", out="stars", fields="forkCount")
assert_type(harvest, github.Harvest)
assert_type(harvest.complete, bool)
assert_type(harvest.frame(explode="languages"), pd.DataFrame)
estimate = github.estimate(">1000")
assert_type(estimate, github.Estimate)
assert_type(estimate.requests, tuple[int, int])
assert_type(github.open("stars").frame(), pd.DataFrame)
gqlnb.stars(">1000", limt=5)  # type: ignore[call-arg]
