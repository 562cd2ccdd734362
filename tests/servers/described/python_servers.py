"""Servers of Python, one by name: ``python python_servers.py '{"name": ..., "data": ...}'``."""

import datetime as dt
import json
import os
import socket
import sqlite3
import sys
import tempfile
import threading
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

OPTIONS = json.loads(sys.argv[1])
ROWS = json.loads(Path(OPTIONS["data"]).read_text(encoding="utf-8"))
COLUMNS = ["id", "name", "day", "local", "moment", "price", "big", "ratio", "extra"]
PARTS = [{**part, "row_id": row["id"]} for row in ROWS for part in row["parts"]]
NAN = float("nan")


def convert(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with Python values."""

    def read(kind: Any, value: Any) -> Any:
        return None if value is None else kind(value)

    return {
        **row,
        "day": read(dt.date.fromisoformat, row["day"]),
        "local": read(dt.datetime.fromisoformat, row["local"]),
        "moment": read(dt.datetime.fromisoformat, row["moment"]),
        "price": read(Decimal, row["price"]),
        "big": read(int, row["big"]),
    }


def announce(port: int) -> None:
    """Write the port, and end this process when its standard input does."""
    sys.stdout.write(f"listening on port {port}\n")
    sys.stdout.flush()

    def wait() -> None:
        sys.stdin.read()
        os._exit(0)

    threading.Thread(target=wait, daemon=True).start()


def run_asgi(app: Any) -> None:
    """Serve an ASGI application with uvicorn."""
    import uvicorn

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)  # before uvicorn does, as the port is announced now
    announce(listener.getsockname()[1])
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run([listener])


def run_wsgi(app: Any) -> None:
    """Serve a WSGI application with the standard library."""
    from wsgiref.simple_server import WSGIRequestHandler, make_server

    WSGIRequestHandler.log_message = lambda *_: None
    server = make_server("127.0.0.1", 0, app)
    announce(server.server_port)
    server.serve_forever()


def write_database() -> str:
    """Write the rows into a SQLite file, and return its path."""
    path = Path(tempfile.mkdtemp(), "rows.db")
    with sqlite3.connect(path) as database:
        database.execute(
            "create table rows (id integer primary key, name text, day date, local timestamp,"
            " moment timestamp, price decimal, big integer, ratio real, extra json)"
        )
        database.execute(
            "create table parts (id integer primary key, label text,"
            " row_id integer references rows(id))"
        )
        values = [
            [json.dumps(row[c]) if c == "extra" and row[c] is not None else row[c] for c in COLUMNS]
            for row in ROWS
        ]
        database.executemany("insert into rows values (?,?,?,?,?,?,?,?,?)", values)
        parts = [(part["id"], part["label"], part["row_id"]) for part in PARTS]
        database.executemany("insert into parts values (?,?,?)", parts)
    return str(path)


def start_graphene() -> None:
    """Graphene: connections of its relay module."""
    import graphene
    from graphene import relay
    from starlette_graphene3 import GraphQLApp

    class Part(graphene.ObjectType):
        id = graphene.ID(required=True)
        label = graphene.String()

    class PartConnection(relay.Connection):
        class Meta:
            node = Part

    class Row(graphene.ObjectType):
        id = graphene.ID(required=True)
        name = graphene.String()
        day = graphene.Date()
        moment = graphene.DateTime()
        local = graphene.DateTime()
        price = graphene.Decimal()
        big = graphene.BigInt()
        ratio = graphene.Float()
        extra = graphene.JSONString()
        parts = relay.ConnectionField(PartConnection)

        def resolve_parts(self, _info: Any, **_: Any) -> Any:
            return [Part(**part) for part in self.parts]

    class RowConnection(relay.Connection):
        class Meta:
            node = Row

    rows = [Row(**convert(row)) for row in ROWS]

    class Query(graphene.ObjectType):
        rows = relay.ConnectionField(RowConnection, above=graphene.BigInt(), since=graphene.Date())
        nan = graphene.Float(default_value=NAN)

        def resolve_rows(self, _info: Any, **_: Any) -> Any:
            return rows

    run_asgi(GraphQLApp(graphene.Schema(query=Query)))


def start_strawberry() -> None:
    """Strawberry: connections of its relay module."""
    import strawberry
    from graphql import version_info
    from strawberry import relay
    from strawberry.asgi import GraphQL
    from strawberry.schema.config import StrawberryConfig

    @strawberry.type
    class Part(relay.Node):
        id: relay.NodeID[int]
        label: str

    @strawberry.type
    class Row(relay.Node):
        id: relay.NodeID[int]
        name: str
        day: dt.date | None
        local: dt.datetime | None
        moment: dt.datetime | None
        price: Decimal | None
        ratio: float | None
        inner: strawberry.Private[object]

        @relay.connection(relay.ListConnection[Part])
        def parts(self) -> list[Part]:
            return [Part(**part) for part in self.inner]

    names = {field.name for field in Row.__strawberry_definition__.fields}
    rows = []
    for row in ROWS:
        values = convert(row)
        wanted = {k: v for k, v in values.items() if k in names and k != "parts"}
        rows.append(Row(**{"id": row["id"], **wanted}, inner=row["parts"]))

    @strawberry.type
    class Query:
        @relay.connection(relay.ListConnection[Row])
        def rows(self, since: dt.date | None = None, above: Decimal | None = None) -> list[Row]:
            return rows

        @strawberry.field
        def nan(self) -> float | None:
            return NAN

    globals().update(Part=Part, Row=Row)
    # graphql-core executes in parts from 3.3 on.
    config = StrawberryConfig(enable_experimental_incremental_execution=version_info >= (3, 3))
    run_asgi(GraphQL(strawberry.Schema(Query, config=config)))


def start_ariadne() -> None:
    """Ariadne: a schema in SDL, pages by offset without any limit."""
    from ariadne import QueryType, ScalarType, make_executable_schema
    from ariadne.asgi import GraphQL

    sdl = """
    scalar Date scalar LocalDateTime scalar DateTime scalar Decimal scalar BigInt scalar JSON
    type Part { id: ID! label: String! }
    type Row { id: ID! name: String! day: Date local: LocalDateTime moment: DateTime
      price: Decimal big: BigInt ratio: Float extra: JSON parts: [Part!]! }
    type Query { rows(top: Int = 30, skip: Int = 0, above: BigInt): [Row!]! nan: Float }
    """
    query = QueryType()
    query.set_field("nan", lambda *_: NAN)
    query.set_field("rows", lambda *_, top, skip, **__: ROWS[skip:][:top])
    scalars = [ScalarType(n) for n in ("Date", "LocalDateTime", "DateTime", "Decimal", "JSON")]
    big = ScalarType("BigInt", serializer=int)
    run_asgi(GraphQL(make_executable_schema(sdl, query, *scalars, big)))


def set_up_django(*apps: str) -> Any:
    """Return a module with two models on a database with the rows."""
    import django
    from django.conf import settings

    path = write_database()
    settings.configure(
        DEBUG=False,
        SECRET_KEY="x",
        ALLOWED_HOSTS=["*"],
        ROOT_URLCONF=__name__,
        USE_TZ=True,
        DEFAULT_AUTO_FIELD="django.db.models.AutoField",
        INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", *apps],
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": path}},
    )
    django.setup()
    from django.db import models

    class Row(models.Model):
        name = models.TextField()
        day = models.DateField(null=True)
        moment = models.DateTimeField(null=True)
        price = models.DecimalField(max_digits=20, decimal_places=4, null=True)
        big = models.BigIntegerField(null=True)
        ratio = models.FloatField(null=True)
        extra = models.JSONField(null=True)

        class Meta:
            app_label, db_table, ordering = "auth", "rows", ["id"]

    class Part(models.Model):
        label = models.TextField()
        row = models.ForeignKey(Row, models.CASCADE, related_name="parts")

        class Meta:
            app_label, db_table, ordering = "auth", "parts", ["id"]

    return SimpleNamespace(Row=Row, Part=Part)


def run_django(view: Any) -> None:
    """Serve a view at ``/graphql``."""
    from django.core.wsgi import get_wsgi_application
    from django.urls import path
    from django.views.decorators.csrf import csrf_exempt

    globals()["urlpatterns"] = [path("graphql", csrf_exempt(view))]
    run_wsgi(get_wsgi_application())


def start_graphene_django() -> None:
    """Graphene-Django: connections of models."""
    found = set_up_django("graphene_django")
    import graphene
    from graphene import relay
    from graphene_django import DjangoObjectType
    from graphene_django.fields import DjangoConnectionField
    from graphene_django.views import GraphQLView

    class PartNode(DjangoObjectType):
        class Meta:
            model, interfaces, fields = found.Part, (relay.Node,), "__all__"

    class RowNode(DjangoObjectType):
        class Meta:
            model, interfaces, fields = found.Row, (relay.Node,), "__all__"

    class Query(graphene.ObjectType):
        rows = DjangoConnectionField(RowNode, since=graphene.Date(), above=graphene.BigInt())
        nan = graphene.Float(default_value=NAN)

        def resolve_rows(self, _info: Any, **_: Any) -> Any:
            return found.Row.objects.all()

    run_django(GraphQLView.as_view(schema=graphene.Schema(query=Query)))


def start_strawberry_django() -> None:
    """strawberry-django: an offset page and a connection of models."""
    found = set_up_django("strawberry_django")
    import strawberry
    import strawberry_django
    from strawberry import auto
    from strawberry.django.views import GraphQLView
    from strawberry_django.pagination import OffsetPaginated

    @strawberry_django.type(found.Part)
    class PartType:
        id: auto
        label: auto

    @strawberry_django.type(found.Row, pagination=True)
    class RowType:
        id: auto
        name: auto
        day: auto
        moment: auto
        price: auto
        ratio: auto
        extra: auto
        parts: list[PartType] = strawberry_django.field(pagination=True)

    globals().update(PartType=PartType, RowType=RowType, OffsetPaginated=OffsetPaginated)

    @strawberry.type
    class Query:
        rows: list[RowType] = strawberry_django.field(pagination=True)
        pages: OffsetPaginated[RowType] = strawberry_django.offset_paginated()

        @strawberry.field
        def nan(self) -> float | None:
            return NAN

    run_django(GraphQLView.as_view(schema=strawberry.Schema(Query)))


def start_datasette() -> None:
    """datasette-graphql: a schema from a SQLite file."""
    from datasette.app import Datasette

    run_asgi(Datasette([write_database()]).app())


def start_graphique() -> None:
    """graphique: a schema from an Arrow table."""
    import ibis
    import pyarrow as pa
    from graphique import GraphQL

    columns = [c for c in COLUMNS if c != "extra"]
    rows = [{**{c: convert(row)[c] for c in columns}, "nan": NAN} for row in ROWS]
    source = ibis.memtable(pa.Table.from_pylist(rows))
    run_asgi(GraphQL(type("Query", (), {"rows": source})))


def build_models() -> Any:
    """Return models of SQLAlchemy for the rows, and an engine."""
    import sqlalchemy as sa
    from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

    class Base(DeclarativeBase):
        pass

    class Row(Base):
        __tablename__ = "rows"
        id: Mapped[int] = mapped_column(primary_key=True)
        name: Mapped[str]
        day: Mapped[dt.date | None]
        price: Mapped[Decimal | None] = mapped_column(sa.Numeric(20, 4))
        big: Mapped[int | None] = mapped_column(sa.BigInteger)
        ratio: Mapped[float | None]
        extra: Mapped[dict[str, Any] | None] = mapped_column(sa.JSON)
        parts: Mapped[list["Part"]] = relationship(back_populates="row")

    class Part(Base):
        __tablename__ = "parts"
        id: Mapped[int] = mapped_column(primary_key=True)
        label: Mapped[str]
        row_id: Mapped[int] = mapped_column(sa.ForeignKey("rows.id"))
        row: Mapped[Row] = relationship(back_populates="parts")

    globals().update(Row=Row, Part=Part)
    return SimpleNamespace(Base=Base, Row=Row, Part=Part, path=write_database())


def start_graphene_sqlalchemy() -> None:
    """Graphene-SQLAlchemy: connections of models."""
    import graphene
    from graphene import relay
    from graphene_sqlalchemy import SQLAlchemyConnectionField, SQLAlchemyObjectType
    from sqlalchemy import create_engine
    from sqlalchemy.orm import scoped_session, sessionmaker
    from starlette_graphene3 import GraphQLApp

    found = build_models()
    session = scoped_session(sessionmaker(bind=create_engine(f"sqlite:///{found.path}")))
    found.Base.query = session.query_property()

    class PartNode(SQLAlchemyObjectType):
        class Meta:
            model, interfaces = found.Part, (relay.Node,)

    class RowNode(SQLAlchemyObjectType):
        class Meta:
            model, interfaces = found.Row, (relay.Node,)

    class Query(graphene.ObjectType):
        rows = SQLAlchemyConnectionField(RowNode.connection)
        nan = graphene.Float(default_value=NAN)

    run_asgi(GraphQLApp(graphene.Schema(query=Query)))


def start_graphql_server() -> None:
    """graphql-server on Flask: a schema in SDL."""
    from flask import Flask
    from graphql import build_schema
    from graphql_server.flask.views import GraphQLView

    schema = build_schema(
        """
        scalar Date scalar LocalDateTime scalar DateTime scalar Decimal scalar BigInt scalar JSON
        type Row { id: ID! name: String! day: Date local: LocalDateTime moment: DateTime
          price: Decimal big: BigInt ratio: Float extra: JSON }
        type Query { rows(start: Int = 0, end: Int = 40): [Row!]! nan: Float }
        """
    )
    query: Any = schema.query_type
    query.fields["nan"].resolve = lambda *_: NAN
    query.fields["rows"].resolve = lambda *_, start, end: ROWS[start:end]
    app = Flask(__name__)
    app.add_url_rule("/graphql", view_func=GraphQLView.as_view("graphql", schema=schema))
    run_wsgi(app)


globals()["start_" + OPTIONS["name"].replace("-", "_")]()
