"""The stories with sgqlc's endpoint and pandas, as briefly as they can be written."""

import json
from decimal import Decimal

import duckdb
import pandas as pd
import polars as pl
import vcr
import websocket
from graphql import build_client_schema, get_introspection_query
from sgqlc.endpoint.http import HTTPEndpoint


def read_table(url):
    answer = HTTPEndpoint(url)("{ users(first: 20) { nodes { id name plan joined age } } }")
    if answer.get("errors"):
        raise RuntimeError(answer["errors"])
    frame = pd.DataFrame(answer["data"]["users"]["nodes"])
    frame["joined"] = pd.to_datetime(frame["joined"]).astype("datetime64[us, UTC]")
    plans = pd.CategoricalDtype(["FREE", "PRO"])
    return frame.astype({"id": "string", "name": "string", "plan": plans, "age": "Int64"})


def read_all_pages(url):
    endpoint = HTTPEndpoint(url)
    text = (
        "query($after: String) { users(first: 100, after: $after) {"
        " nodes { id name plan joined age } pageInfo { hasNextPage endCursor } } }"
    )
    nodes, after = [], None
    while True:
        answer = endpoint(text, {"after": after})
        if answer.get("errors"):
            raise RuntimeError(answer["errors"])
        page = answer["data"]["users"]
        nodes += page["nodes"]
        if not page["pageInfo"]["hasNextPage"]:
            break
        after = page["pageInfo"]["endCursor"]
    frame = pd.DataFrame(nodes)
    frame["joined"] = pd.to_datetime(frame["joined"]).astype("datetime64[us, UTC]")
    plans = pd.CategoricalDtype(["FREE", "PRO"])
    return frame.astype({"id": "string", "name": "string", "plan": plans, "age": "Int64"})


def read_nested_rows(url):
    answer = HTTPEndpoint(url)("{ users(first: 20) { nodes { name orders { id total } } } }")
    if answer.get("errors"):
        raise RuntimeError(answer["errors"])
    frame = pd.DataFrame(answer["data"]["users"]["nodes"]).explode("orders", ignore_index=True)
    orders = pd.json_normalize(frame.pop("orders")).add_prefix("orders.")
    kinds = {"name": "string", "orders.id": "string", "orders.total": "Float64"}
    return frame.join(orders).astype(kinds)


def read_tidy_tables(url):
    answer = HTTPEndpoint(url)("{ users(first: 20) { nodes { id name orders { id total } } } }")
    if answer.get("errors"):
        raise RuntimeError(answer["errors"])
    nodes = answer["data"]["users"]["nodes"]
    users = pd.DataFrame(nodes)[["id", "name"]].astype("string")
    orders = pd.json_normalize(nodes, "orders", ["id"], meta_prefix="users.")
    orders = orders[["users.id", "id", "total"]]
    kinds = {"users.id": "string", "id": "string", "total": "Float64"}
    return {"users": users, "users.orders": orders.astype(kinds)}


def read_many_ids(url, ids):
    endpoint = HTTPEndpoint(url)
    text = "query($id: ID!) { user(id: $id) { name plan age } }"
    rows, errors = [], []
    for each in ids:
        answer = endpoint(text, {"id": each})
        for error in answer.get("errors", ()):
            errors.append({"id": each, "message": error["message"]})
        row = (answer.get("data") or {}).get("user") or {"name": None, "plan": None, "age": None}
        rows.append({"id": each, **row})
    plans = pd.CategoricalDtype(["FREE", "PRO"])
    kinds = {"id": "string", "name": "string", "plan": plans, "age": "Int64"}
    return pd.DataFrame(rows).astype(kinds), pd.DataFrame(errors).astype("string")


def extend_polars_frame(url, people):
    endpoint = HTTPEndpoint(url)
    text = "query($id: ID!) { user(id: $id) { name plan joined } }"
    rows = []
    for person in people.iter_rows(named=True):
        answer = endpoint(text, {"id": person["id"]})
        if answer.get("errors"):
            raise RuntimeError(answer["errors"])
        rows.append({**person, **answer["data"]["user"]})
    times = pl.col("joined").str.to_datetime(time_zone="UTC")
    return pl.DataFrame(rows).with_columns(pl.col("plan").cast(pl.Categorical), times)


def insert_rows(url, rows):
    endpoint = HTTPEndpoint(url)
    text = "mutation($rows: [NewUser!]!) { addUsers(rows: $rows) { id name } }"
    records = rows.astype(object).where(rows.notna(), None).to_dict("records")
    added = []
    for at in range(0, len(records), 200):
        answer = endpoint(text, {"rows": records[at : at + 200]})
        if answer.get("errors"):
            raise RuntimeError(answer["errors"])
        added += answer["data"]["addUsers"]
    return pd.DataFrame(added).astype("string")


def read_partial_answer(url):
    answer = HTTPEndpoint(url)("{ users(first: 50) { nodes { id balance } } }")
    if not answer.get("data"):
        raise RuntimeError(answer["errors"])
    nodes = answer["data"]["users"]["nodes"]
    frame = pd.DataFrame(nodes).astype({"id": "string", "balance": "Float64"})
    errors = answer.get("errors", ())
    rows = [{"row": it["path"][2], "message": it["message"]} for it in errors]
    kinds = {"row": "Int64", "message": "string"}
    return frame, pd.DataFrame(rows, columns=list(kinds)).astype(kinds)


def read_exact_amounts(url):
    answer = HTTPEndpoint(url)("{ payments(first: 20) { id amount day } }")
    if answer.get("errors"):
        raise RuntimeError(answer["errors"])
    frame = pd.DataFrame(answer["data"]["payments"]).astype({"id": "string"})
    frame["amount"] = frame["amount"].map(Decimal, na_action="ignore")
    frame["day"] = pd.to_datetime(frame["day"]).astype("datetime64[us]")
    return frame


def concat_endpoints(urls):
    nodes = []
    for url in urls:
        answer = HTTPEndpoint(url)("{ users(first: 20) { nodes { id name plan joined age } } }")
        if answer.get("errors"):
            raise RuntimeError(answer["errors"])
        nodes += answer["data"]["users"]["nodes"]
    frame = pd.DataFrame(nodes)
    frame["joined"] = pd.to_datetime(frame["joined"]).astype("datetime64[us, UTC]")
    plans = pd.CategoricalDtype(["FREE", "PRO"])
    return frame.astype({"id": "string", "name": "string", "plan": plans, "age": "Int64"})


def write_parquet(url, file):
    endpoint = HTTPEndpoint(url)
    text = (
        "query($after: String) { users(first: 100, after: $after) {"
        " nodes { id name plan joined age } pageInfo { hasNextPage endCursor } } }"
    )
    nodes, after = [], None
    while True:
        answer = endpoint(text, {"after": after})
        if answer.get("errors"):
            raise RuntimeError(answer["errors"])
        page = answer["data"]["users"]
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
    text = "{ users(first: 20) { nodes { id name joined orders { id total } } } }"
    answer = HTTPEndpoint(url)(text)
    if answer.get("errors"):
        raise RuntimeError(answer["errors"])
    nodes = answer["data"]["users"]["nodes"]
    users = pd.DataFrame(nodes)[["id", "name", "joined"]]
    users["joined"] = pd.to_datetime(users["joined"]).dt.tz_localize(None)
    orders = pd.json_normalize(nodes, "orders", ["id"], meta_prefix="users.")
    with pd.ExcelWriter(file) as writer:
        users.to_excel(writer, sheet_name="users", index=False)
        orders[["users.id", "id", "total"]].to_excel(writer, sheet_name="users.orders", index=False)


def query_sql(url):
    answer = HTTPEndpoint(url)("{ users(first: 20) { nodes { plan orders { total } } } }")
    if answer.get("errors"):
        raise RuntimeError(answer["errors"])
    orders = pd.json_normalize(answer["data"]["users"]["nodes"], "orders", ["plan"])
    return duckdb.sql("select plan, sum(total) from orders group by plan order by plan").fetchall()


def join_endpoints(url, other_url):
    answer = HTTPEndpoint(url)("{ users(first: 20) { nodes { id name plan joined } } }")
    if answer.get("errors"):
        raise RuntimeError(answer["errors"])
    users = pd.DataFrame(answer["data"]["users"]["nodes"])
    users["joined"] = pd.to_datetime(users["joined"]).astype("datetime64[us, UTC]")
    plans = pd.CategoricalDtype(["FREE", "PRO"])
    users = users.astype({"id": "string", "name": "string", "plan": plans})
    answer = HTTPEndpoint(other_url)("{ payments(first: 20) { userId amount day } }")
    if answer.get("errors"):
        raise RuntimeError(answer["errors"])
    payments = pd.DataFrame(answer["data"]["payments"]).astype({"userId": "string"})
    payments["amount"] = payments["amount"].map(Decimal, na_action="ignore")
    payments["day"] = pd.to_datetime(payments["day"]).astype("datetime64[us]")
    return payments.merge(users, left_on="userId", right_on="id")


def remember_answer(url):
    import hashlib
    import os
    import time
    from pathlib import Path

    text = "{ users(first: 20) { nodes { id name } } }"
    name = hashlib.sha256(f"{url} {text}".encode()).hexdigest()
    file = Path(os.environ["XDG_CACHE_HOME"]) / name
    if file.exists() and time.time() - file.stat().st_mtime < 3600:
        data = json.loads(file.read_text())
    else:
        answer = HTTPEndpoint(url)(text)
        if answer.get("errors"):
            raise RuntimeError(answer["errors"])
        data = answer["data"]
        with open(os.open(file, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as opened:
            json.dump(data, opened)
    return pd.DataFrame(data["users"]["nodes"]).astype("string")


def resume_pages(url, wait):
    endpoint = HTTPEndpoint(url)
    text = (
        "query($after: String) { users(first: 100, after: $after) {"
        " nodes { id name plan } pageInfo { hasNextPage endCursor } } }"
    )
    nodes, after = [], None
    while True:
        answer = endpoint(text, {"after": after})
        if answer.get("errors"):
            wait()
            continue
        page = answer["data"]["users"]
        nodes += page["nodes"]
        if not page["pageInfo"]["hasNextPage"]:
            break
        after = page["pageInfo"]["endCursor"]
    plans = pd.CategoricalDtype(["FREE", "PRO"])
    return pd.DataFrame(nodes).astype({"id": "string", "name": "string", "plan": plans})


def replay_answer(url, file):
    with vcr.use_cassette(file):
        answer = HTTPEndpoint(url)("{ users(first: 20) { nodes { id name plan joined age } } }")
    if answer.get("errors"):
        raise RuntimeError(answer["errors"])
    frame = pd.DataFrame(answer["data"]["users"]["nodes"])
    frame["joined"] = pd.to_datetime(frame["joined"]).astype("datetime64[us, UTC]")
    plans = pd.CategoricalDtype(["FREE", "PRO"])
    return frame.astype({"id": "string", "name": "string", "plan": plans, "age": "Int64"})


def follow_events(url):
    # sgqlc's WebSocketEndpoint speaks only the older protocol, so the socket is used by hand.
    protocol = ["graphql-transport-ws"]
    socket = websocket.create_connection(url.replace("http", "ws"), subprotocols=protocol)
    socket.send('{"type": "connection_init"}')
    socket.recv()
    payload = {"query": "subscription { joined { id name plan joined age } }"}
    socket.send(json.dumps({"id": "1", "type": "subscribe", "payload": payload}))
    events = [json.loads(socket.recv())["payload"] for _ in range(5)]
    socket.close()
    frame = pd.DataFrame([it["data"]["joined"] for it in events])
    frame["joined"] = pd.to_datetime(frame["joined"]).astype("datetime64[us, UTC]")
    plans = pd.CategoricalDtype(["FREE", "PRO"])
    return frame.astype({"id": "string", "name": "string", "plan": plans, "age": "Int64"})


def search_stars(url):
    endpoint = HTTPEndpoint(url)
    text = (
        "query($first: Int!, $after: String) { search(query: "
        '"stars:>50000 sort:stars-desc", type: REPOSITORY, first: $first, after: $after) {'
        " nodes { ... on Repository { name owner { login } stargazers { totalCount } } }"
        " pageInfo { hasNextPage endCursor } } }"
    )
    rows, after = [], None
    while len(rows) < 250:
        answer = endpoint(text, {"first": min(100, 250 - len(rows)), "after": after})
        if answer.get("errors"):
            raise RuntimeError(answer["errors"])
        found = answer["data"]["search"]
        rows += found["nodes"]
        if not found["pageInfo"]["hasNextPage"]:
            break
        after = found["pageInfo"]["endCursor"]
    frame = pd.json_normalize(rows)
    frame.columns = ["name", "owner", "stargazers"]
    return frame.astype({"name": "string", "owner": "string", "stargazers": "Int64"})


def search_schema(url):
    answer = HTTPEndpoint(url)(get_introspection_query())
    if answer.get("errors"):
        raise RuntimeError(answer["errors"])
    types = build_client_schema(answer["data"]).type_map
    parts = dict(types)
    for name, kind in types.items():
        fields = getattr(kind, "fields", {})
        parts.update((f"{name}.{field}", it) for field, it in fields.items())
    rows = [(place, it.description or "") for place, it in parts.items()]
    frame = pd.DataFrame(rows, columns=["place", "description"])
    return frame[(frame["place"] + " " + frame["description"]).str.contains("day", case=False)]
