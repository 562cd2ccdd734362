"""GitHub: a stand-in of its GraphQL API with embedded data, star searches, and harvests.

Importing this package loads nothing; its functions are imported when they are first used.

Examples
--------
>>> import gqlnb
>>> sample = gqlnb.connect(gqlnb.github.service())
>>> sample.execute('{ search(query: "stars:>500000", type: REPOSITORY) { repositoryCount } }').data
{'search': {'repositoryCount': 1}}
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gqlnb.github.harvester.estimate import Estimate
    from gqlnb.github.harvester.harvests import Harvest, harvest
    from gqlnb.github.standin.github_schema import schema, service
    from gqlnb.github.standin.http_app import app, serve
    from gqlnb.github.standin.repository_columns import Population
    from gqlnb.github.standin.simulation import Simulation
    from gqlnb.github.standin.synthetic_data import population
    from gqlnb.github.star_results import stars

__all__ = [
    "Estimate",
    "Harvest",
    "Population",
    "Simulation",
    "app",
    "harvest",
    "population",
    "schema",
    "serve",
    "service",
    "stars",
]

_MODULE_BY_NAME = {
    "Estimate": "gqlnb.github.harvester.estimate",
    "Harvest": "gqlnb.github.harvester.harvests",
    "Population": "gqlnb.github.standin.repository_columns",
    "Simulation": "gqlnb.github.standin.simulation",
    "app": "gqlnb.github.standin.http_app",
    "harvest": "gqlnb.github.harvester.harvests",
    "population": "gqlnb.github.standin.synthetic_data",
    "serve": "gqlnb.github.standin.http_app",
    "schema": "gqlnb.github.standin.github_schema",
    "service": "gqlnb.github.standin.github_schema",
    "stars": "gqlnb.github.star_results",
}


def __getattr__(name: str) -> Any:
    if name == "rest":
        return import_module("gqlnb.github.rest")
    if name not in _MODULE_BY_NAME:
        message = f"module 'gqlnb.github' has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(import_module(_MODULE_BY_NAME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
