"""GitHub: a stand-in of its GraphQL API with embedded data, star searches, and harvests.

Importing this package loads nothing; its functions are imported when they are first used.

Examples
--------
>>> import gqlnb
>>> sample = gqlnb.connect(gqlnb.github.service())
>>> sample.execute('{ search(query: "stars:>500000", type: REPOSITORY) { repositoryCount } }').data
{'search': {'repositoryCount': 1}}

Names, each with its own ``help()``:

* ``stars`` and ``harvest`` search repositories, within GitHub's limit of 1,000 results and beyond;
  ``harvest_nodes`` searches issues, discussions and users; ``estimate`` and ``estimate_nodes`` say
  what that costs; ``open`` reads the folder of a harvest. They return frames, ``Harvest``,
  ``HarvestFolder`` and ``Estimate``.
* ``serve``, ``app``, ``service`` and ``schema`` are the stand-in: as a server, an ASGI application,
  a schema with data, and a schema without; ``Simulation`` has its rate limits and failures.
* ``population`` makes a ``Population``, synthetic repositories for it.
* ``rest`` is a small REST service over the same data, for comparison.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gqlnb.github.harvester.harvests import Estimate, Harvest, estimate, harvest
    from gqlnb.github.harvester.node_harvest import estimate_nodes, harvest_nodes
    from gqlnb.github.harvester.storage import HarvestFolder
    from gqlnb.github.harvester.storage import open_folder as open  # noqa: A004 - github.open()
    from gqlnb.github.standin.github_schema import schema, service
    from gqlnb.github.standin.http_app import app, serve
    from gqlnb.github.standin.repository_search import Population
    from gqlnb.github.standin.simulation import Simulation
    from gqlnb.github.standin.synthetic_data import population
    from gqlnb.github.star_results import stars

__all__ = [
    "Estimate",
    "Harvest",
    "HarvestFolder",
    "Population",
    "Simulation",
    "app",
    "estimate",
    "estimate_nodes",
    "harvest",
    "harvest_nodes",
    "open",
    "population",
    "schema",
    "serve",
    "service",
    "stars",
]

_MODULE_BY_NAME = {
    "Estimate": "gqlnb.github.harvester.harvests",
    "Harvest": "gqlnb.github.harvester.harvests",
    "HarvestFolder": "gqlnb.github.harvester.storage",
    "Population": "gqlnb.github.standin.repository_search",
    "Simulation": "gqlnb.github.standin.simulation",
    "app": "gqlnb.github.standin.http_app",
    "estimate": "gqlnb.github.harvester.harvests",
    "estimate_nodes": "gqlnb.github.harvester.node_harvest",
    "harvest_nodes": "gqlnb.github.harvester.node_harvest",
    "harvest": "gqlnb.github.harvester.harvests",
    "open": "gqlnb.github.harvester.storage",
    "population": "gqlnb.github.standin.synthetic_data",
    "serve": "gqlnb.github.standin.http_app",
    "schema": "gqlnb.github.standin.github_schema",
    "service": "gqlnb.github.standin.github_schema",
    "stars": "gqlnb.github.star_results",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public name
    if name == "rest":
        return import_module("gqlnb.github.rest")
    if name not in _MODULE_BY_NAME:
        message = f"module 'gqlnb.github' has no attribute {name!r}"
        raise AttributeError(message)
    # `open_folder` does not shadow the builtin in its own module.
    attribute = "open_folder" if name == "open" else name
    value = getattr(import_module(_MODULE_BY_NAME[name]), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    from gqlnb.interactive import is_called_by_pydoc

    return [] if is_called_by_pydoc() else list(__all__)
