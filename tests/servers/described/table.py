"""The servers that are described: packages, start scripts, and the lists to examine."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["SERVERS", "DescribedServer", "KnownList"]


class KnownList(NamedTuple):
    """A list of a server.

    Attributes
    ----------
    text
        The text of a query, with ``()`` for its arguments.
    path
        The response names that lead to the rows; ``node`` of edges at the end.
    length
        The number of its rows.
    """

    text: str
    path: tuple[str, ...]
    length: int = 2350


class DescribedServer(NamedTuple):
    """A server.

    Attributes
    ----------
    name
        The name in the start script, and of the folder with its packages.
    title
        The package that is described, whose version is shown.
    script
        The start script in this folder.
    packages
        The packages to install; empty for those of the test environment, or of
        :data:`tests.servers.install.NPM_SERVERS`.
    lists
        The lists to examine, by field.
    folder
        The folder with its packages, if it differs from the name.
    needs_database
        Whether it reads PostgreSQL.
    nan
        A query for a Float that is NaN; a reason if the server cannot hold one.
    """

    name: str
    title: str
    script: str
    packages: tuple[str, ...]
    lists: dict[str, KnownList]
    folder: str = ""
    needs_database: bool = False
    nan: str = "{ nan }"

    @property
    def is_npm(self) -> bool:
        """Whether it runs in Node."""
        return self.script.endswith(".mjs")


OFFSETS = KnownList("{ rows() { items { id } } }", ("rows", "items"))
STARS = KnownList("{ stars() { edges { node { id } } } }", ("stars", "edges", "node"))
SHEET = KnownList("{ sheet() { id } }", ("sheet",))
OWN = {"rows": OFFSETS, "stars": STARS, "sheet": SHEET}
PLAIN = KnownList("{ rows() { id } }", ("rows",))
EDGES = KnownList("{ rows() { edges { node { id } } } }", ("rows", "edges", "node"))
NODES = KnownList("{ rows() { nodes { id } } }", ("rows", "nodes"))
JS, GENERATED, PY = "own.mjs", "generated.mjs", "python_servers.py"

CAPPED = KnownList("{ capped() { nodes { id } } }", ("capped", "nodes"))
ALL_ROWS = KnownList("{ allRows() { id } }", ("allRows",))

SERVERS = (
    DescribedServer("apollo", "@apollo/server", JS, (), OWN),
    DescribedServer("apollo-server-3", "apollo-server", JS,
     ("apollo-server@3.13.0", "graphql@16.15.0"), OWN),
    DescribedServer("yoga", "graphql-yoga", JS, (), OWN),
    DescribedServer("mercurius", "mercurius", JS, (), OWN),
    DescribedServer("express-graphql", "express-graphql", JS,
     ("express-graphql@0.12.0", "graphql@15.11.0", "express@4.22.3"), OWN),
    DescribedServer("graphql-http-16", "graphql", JS, ("graphql@16.15.0", "graphql-http@1.23.1"),
     OWN),
    DescribedServer("graphql-http-17", "graphql", JS, ("graphql@17.1.0", "graphql-http@1.23.1"),
     OWN),
    DescribedServer(
        "pothos",
        "@pothos/core",
        GENERATED,
        (
            *("@pothos/core@4.15.1", "@pothos/plugin-relay@4.8.1", "graphql@16.15.0"),
            "graphql-yoga@5.24.1",
        ),
        {"rows": EDGES},
    ),
    DescribedServer(
        "drizzle",
        "drizzle-graphql",
        GENERATED,
        (
            *("drizzle-graphql@0.8.5", "drizzle-orm@0.44.7", "@electric-sql/pglite@0.5.17"),
            *("graphql@16.15.0", "graphql-yoga@5.24.1"),
        ),
        {"rows": PLAIN},
        nan="{ numbers { nan } }",
    ),
    DescribedServer("json-graphql-server", "json-graphql-server", GENERATED,
     ("json-graphql-server@3.3.2", "express@4.22.3"), {"allRows": ALL_ROWS},
     nan="{ allNumbers { nan } }"),
    DescribedServer(
        "postgraphile-v4",
        "postgraphile",
        GENERATED,
        (),
        {
            "allRows": KnownList("{ allRows() { nodes { id } } }", ("allRows", "nodes")),
            "allRowsList": KnownList("{ allRowsList() { id } }", ("allRowsList",)),
        },
        needs_database=True,
        nan="{ allNumbers { nodes { nan } } }",
    ),
    DescribedServer("postgraphile-v5", "postgraphile", GENERATED, (),
     {"allRows": KnownList("{ allRows() { nodes { rowId } } }", ("allRows", "nodes"))},
     needs_database=True, nan="{ allNumbers { nodes { nan } } }"),
    DescribedServer("strawberry", "strawberry-graphql", PY, (), {"rows": EDGES}),
    DescribedServer("ariadne", "ariadne", PY, (), {"rows": PLAIN}),
    DescribedServer("graphene", "graphene", PY,
     ("graphene==3.4.3", "starlette-graphene3==0.6.0", "uvicorn==0.54.0", "starlette==1.10.0"),
     {"rows": EDGES}),
    DescribedServer("graphene-django", "graphene-django", PY,
     ("graphene-django==3.2.3", "django==5.2.19"), {"rows": EDGES}),
    DescribedServer("strawberry-django", "strawberry-graphql-django", PY,
     ("strawberry-graphql-django==0.93.0", "django==5.2.19"),
     {"rows": PLAIN, "pages": KnownList("{ pages() { results { id } } }", ("pages", "results"))}),
    DescribedServer("datasette", "datasette-graphql", PY,
     ("datasette==0.65.5", "datasette-graphql==2.2"), {"rows": NODES},
     nan="not tried: SQLite stores it as null"),
    DescribedServer(
        "graphene-sqlalchemy",
        "graphene-sqlalchemy",
        PY,
        (
            *("graphene-sqlalchemy==3.0.0rc2", "sqlalchemy==2.1.9", "uvicorn==0.54.0"),
            *("starlette-graphene3==0.6.0", "starlette==1.10.0"),
        ),
        {"rows": EDGES},
    ),
    DescribedServer("graphique", "graphique", PY,
     ("graphique==2.1", "duckdb==2.0.1", "uvicorn==0.54.0"), {}, nan="{ rows { row { nan } } }"),
    DescribedServer("graphql-server", "graphql-server", PY,
     ("graphql-server==3.0.0", "flask==3.1.3", "graphql-core==3.2.14"), {"rows": PLAIN}),
    DescribedServer("graphql-ruby", "ruby-graphql", "ruby_server.rb", (),
     {"rows": NODES, "capped": CAPPED}),
)  # fmt: skip
