"""The stories with gql and pandas, as briefly as they can be written without losing anything."""

from decimal import Decimal
from itertools import islice

import duckdb
import pandas as pd
import polars as pl
import vcr
from gql import Client, gql
from gql.transport.exceptions import TransportQueryError
from gql.transport.requests import RequestsHTTPTransport
from gql.transport.websockets import WebsocketsTransport


def read_table(url):
    query = gql("{ users(first: 20) { nodes { id name plan joined age } } }")
    data = Client(transport=RequestsHTTPTransport(url)).execute(query)
    frame = pd.DataFrame(data["users"]["nodes"])
    frame["joined"] = pd.to_datetime(frame["joined"]).astype("datetime64[us, UTC]")
    plans = pd.CategoricalDtype(["FREE", "PRO"])
    return frame.astype({"id": "string", "name": "string", "plan": plans, "age": "Int64"})


def read_all_pages(url):
    client = Client(transport=RequestsHTTPTransport(url))
    query = gql(
        "query($after: String) { users(first: 100, after: $after) {"
        " nodes { id name plan joined age } pageInfo { hasNextPage endCursor } } }"
    )
    nodes, after = [], None
    while True:
        query.variable_values = {"after": after}
        page = client.execute(query)["users"]
        nodes += page["nodes"]
        if not page["pageInfo"]["hasNextPage"]:
            break
        after = page["pageInfo"]["endCursor"]
    frame = pd.DataFrame(nodes)
    frame["joined"] = pd.to_datetime(frame["joined"]).astype("datetime64[us, UTC]")
    plans = pd.CategoricalDtype(["FREE", "PRO"])
    return frame.astype({"id": "string", "name": "string", "plan": plans, "age": "Int64"})


def read_nested_rows(url):
    query = gql("{ users(first: 20) { nodes { name orders { id total } } } }")
    data = Client(transport=RequestsHTTPTransport(url)).execute(query)
    frame = pd.DataFrame(data["users"]["nodes"]).explode("orders", ignore_index=True)
    orders = pd.json_normalize(frame.pop("orders")).add_prefix("orders.")
    kinds = {"name": "string", "orders.id": "string", "orders.total": "Float64"}
    return frame.join(orders).astype(kinds)


def read_tidy_tables(url):
    query = gql("{ users(first: 20) { nodes { id name orders { id total } } } }")
    nodes = Client(transport=RequestsHTTPTransport(url)).execute(query)["users"]["nodes"]
    users = pd.DataFrame(nodes)[["id", "name"]].astype("string")
    orders = pd.json_normalize(nodes, "orders", ["id"], meta_prefix="users.")
    orders = orders[["users.id", "id", "total"]]
    kinds = {"users.id": "string", "id": "string", "total": "Float64"}
    return {"users": users, "users.orders": orders.astype(kinds)}


def read_many_ids(url, ids):
    query = gql("query($id: ID!) { user(id: $id) { name plan age } }")
    rows, errors = [], []
    with Client(transport=RequestsHTTPTransport(url, retries=3)) as session:
        for each in ids:
            query.variable_values = {"id": each}
            try:
                data = session.execute(query)
            except TransportQueryError as error:
                data = error.data or {}
                errors += [{"id": each, "message": it["message"]} for it in error.errors]
            row = data.get("user") or {"name": None, "plan": None, "age": None}
            rows.append({"id": each, **row})
    plans = pd.CategoricalDtype(["FREE", "PRO"])
    kinds = {"id": "string", "name": "string", "plan": plans, "age": "Int64"}
    return pd.DataFrame(rows).astype(kinds), pd.DataFrame(errors).astype("string")


def extend_polars_frame(url, people):
    query = gql("query($id: ID!) { user(id: $id) { name plan joined } }")
    rows = []
    with Client(transport=RequestsHTTPTransport(url, retries=3)) as session:
        for person in people.iter_rows(named=True):
            query.variable_values = {"id": person["id"]}
            rows.append({**person, **session.execute(query)["user"]})
    times = pl.col("joined").str.to_datetime(time_zone="UTC")
    return pl.DataFrame(rows).with_columns(pl.col("plan").cast(pl.Categorical), times)


def insert_rows(url, rows):
    client = Client(transport=RequestsHTTPTransport(url))
    query = gql("mutation($rows: [NewUser!]!) { addUsers(rows: $rows) { id name } }")
    records = rows.astype(object).where(rows.notna(), None).to_dict("records")
    added = []
    for at in range(0, len(records), 200):
        query.variable_values = {"rows": records[at : at + 200]}
        added += client.execute(query)["addUsers"]
    return pd.DataFrame(added).astype("string")


def read_partial_answer(url):
    query = gql("{ users(first: 50) { nodes { id balance } } }")
    try:
        data, errors = Client(transport=RequestsHTTPTransport(url)).execute(query), []
    except TransportQueryError as error:
        data, errors = error.data, error.errors
    frame = pd.DataFrame(data["users"]["nodes"]).astype({"id": "string", "balance": "Float64"})
    rows = [{"row": it["path"][2], "message": it["message"]} for it in errors]
    kinds = {"row": "Int64", "message": "string"}
    return frame, pd.DataFrame(rows, columns=list(kinds)).astype(kinds)


def read_exact_amounts(url):
    query = gql("{ payments(first: 20) { id amount day } }")
    data = Client(transport=RequestsHTTPTransport(url)).execute(query)
    frame = pd.DataFrame(data["payments"]).astype({"id": "string"})
    frame["amount"] = frame["amount"].map(Decimal, na_action="ignore")
    frame["day"] = pd.to_datetime(frame["day"]).astype("datetime64[us]")
    return frame


def concat_endpoints(urls):
    query = gql("{ users(first: 20) { nodes { id name plan joined age } } }")
    nodes = []
    for url in urls:
        data = Client(transport=RequestsHTTPTransport(url)).execute(query)
        nodes += data["users"]["nodes"]
    frame = pd.DataFrame(nodes)
    frame["joined"] = pd.to_datetime(frame["joined"]).astype("datetime64[us, UTC]")
    plans = pd.CategoricalDtype(["FREE", "PRO"])
    return frame.astype({"id": "string", "name": "string", "plan": plans, "age": "Int64"})


def write_parquet(url, file):
    client = Client(transport=RequestsHTTPTransport(url))
    query = gql(
        "query($after: String) { users(first: 100, after: $after) {"
        " nodes { id name plan joined age } pageInfo { hasNextPage endCursor } } }"
    )
    nodes, after = [], None
    while True:
        query.variable_values = {"after": after}
        page = client.execute(query)["users"]
        nodes += page["nodes"]
        if not page["pageInfo"]["hasNextPage"]:
            break
        after = page["pageInfo"]["endCursor"]
    frame = pd.DataFrame(nodes)
    frame["joined"] = pd.to_datetime(frame["joined"]).astype("datetime64[us, UTC]")
    plans = pd.CategoricalDtype(["FREE", "PRO"])
    frame = frame.astype({"id": "string", "name": "string", "plan": plans, "age": "Int64"})
    frame.to_parquet(file)


def write_excel(url, file):
    query = gql("{ users(first: 20) { nodes { id name joined orders { id total } } } }")
    nodes = Client(transport=RequestsHTTPTransport(url)).execute(query)["users"]["nodes"]
    users = pd.DataFrame(nodes)[["id", "name", "joined"]]
    users["joined"] = pd.to_datetime(users["joined"]).dt.tz_localize(None)
    orders = pd.json_normalize(nodes, "orders", ["id"], meta_prefix="users.")
    with pd.ExcelWriter(file) as writer:
        users.to_excel(writer, sheet_name="users", index=False)
        orders[["users.id", "id", "total"]].to_excel(writer, sheet_name="users.orders", index=False)


def query_sql(url):
    query = gql("{ users(first: 20) { nodes { plan orders { total } } } }")
    data = Client(transport=RequestsHTTPTransport(url)).execute(query)
    orders = pd.json_normalize(data["users"]["nodes"], "orders", ["plan"])
    return duckdb.sql("select plan, sum(total) from orders group by plan order by plan").fetchall()


def join_endpoints(url, other_url):
    query = gql("{ users(first: 20) { nodes { id name plan joined } } }")
    data = Client(transport=RequestsHTTPTransport(url)).execute(query)
    users = pd.DataFrame(data["users"]["nodes"])
    users["joined"] = pd.to_datetime(users["joined"]).astype("datetime64[us, UTC]")
    plans = pd.CategoricalDtype(["FREE", "PRO"])
    users = users.astype({"id": "string", "name": "string", "plan": plans})
    query = gql("{ payments(first: 20) { userId amount day } }")
    data = Client(transport=RequestsHTTPTransport(other_url)).execute(query)
    payments = pd.DataFrame(data["payments"]).astype({"userId": "string"})
    payments["amount"] = payments["amount"].map(Decimal, na_action="ignore")
    payments["day"] = pd.to_datetime(payments["day"]).astype("datetime64[us]")
    return payments.merge(users, left_on="userId", right_on="id")


def remember_answer(url):
    import hashlib
    import json
    import os
    import time
    from pathlib import Path

    text = "{ users(first: 20) { nodes { id name } } }"
    name = hashlib.sha256(f"{url} {text}".encode()).hexdigest()
    file = Path(os.environ["XDG_CACHE_HOME"]) / name
    if file.exists() and time.time() - file.stat().st_mtime < 3600:
        data = json.loads(file.read_text())
    else:
        data = Client(transport=RequestsHTTPTransport(url)).execute(gql(text))
        with open(os.open(file, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as opened:
            json.dump(data, opened)
    return pd.DataFrame(data["users"]["nodes"]).astype("string")


def resume_pages(url, wait):
    client = Client(transport=RequestsHTTPTransport(url))
    query = gql(
        "query($after: String) { users(first: 100, after: $after) {"
        " nodes { id name plan } pageInfo { hasNextPage endCursor } } }"
    )
    nodes, after = [], None
    while True:
        query.variable_values = {"after": after}
        try:
            page = client.execute(query)["users"]
        except TransportQueryError:
            wait()
            continue
        nodes += page["nodes"]
        if not page["pageInfo"]["hasNextPage"]:
            break
        after = page["pageInfo"]["endCursor"]
    plans = pd.CategoricalDtype(["FREE", "PRO"])
    return pd.DataFrame(nodes).astype({"id": "string", "name": "string", "plan": plans})


def replay_answer(url, file):
    query = gql("{ users(first: 20) { nodes { id name plan joined age } } }")
    with vcr.use_cassette(file):
        data = Client(transport=RequestsHTTPTransport(url)).execute(query)
    frame = pd.DataFrame(data["users"]["nodes"])
    frame["joined"] = pd.to_datetime(frame["joined"]).astype("datetime64[us, UTC]")
    plans = pd.CategoricalDtype(["FREE", "PRO"])
    return frame.astype({"id": "string", "name": "string", "plan": plans, "age": "Int64"})


def follow_events(url):
    query = gql("subscription { joined { id name plan joined age } }")
    client = Client(transport=WebsocketsTransport(url.replace("http", "ws")))
    frame = pd.DataFrame([it["joined"] for it in islice(client.subscribe(query), 5)])
    frame["joined"] = pd.to_datetime(frame["joined"]).astype("datetime64[us, UTC]")
    plans = pd.CategoricalDtype(["FREE", "PRO"])
    return frame.astype({"id": "string", "name": "string", "plan": plans, "age": "Int64"})


def search_stars(url):
    client = Client(transport=RequestsHTTPTransport(url))
    query = gql(
        "query($first: Int!, $after: String) { search(query: "
        '"stars:>50000 sort:stars-desc", type: REPOSITORY, first: $first, after: $after) {'
        " nodes { ... on Repository { name owner { login } stargazers { totalCount } } }"
        " pageInfo { hasNextPage endCursor } } }"
    )
    rows, after = [], None
    while len(rows) < 250:
        query.variable_values = {"first": min(100, 250 - len(rows)), "after": after}
        found = client.execute(query)["search"]
        rows += found["nodes"]
        if not found["pageInfo"]["hasNextPage"]:
            break
        after = found["pageInfo"]["endCursor"]
    frame = pd.json_normalize(rows)
    frame.columns = ["name", "owner", "stargazers"]
    return frame.astype({"name": "string", "owner": "string", "stargazers": "Int64"})


def search_schema(url):
    with Client(transport=RequestsHTTPTransport(url), fetch_schema_from_transport=True) as session:
        types = session.client.schema.type_map
    parts = dict(types)
    for name, kind in types.items():
        fields = getattr(kind, "fields", {})
        parts.update((f"{name}.{field}", it) for field, it in fields.items())
    rows = [(place, it.description or "") for place, it in parts.items()]
    frame = pd.DataFrame(rows, columns=["place", "description"])
    return frame[(frame["place"] + " " + frame["description"]).str.contains("day", case=False)]
