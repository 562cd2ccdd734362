"""The stories with this package."""

import duckdb

import gqlnb


def read_table(url):
    return gqlnb.connect(url).frame("{ users(first: 20) { nodes { id name plan joined age } } }")


def read_all_pages(url):
    text = "{ users(first: 100) { nodes { id name plan joined age } } }"
    return gqlnb.connect(url).frame(text, pages="all")


def read_nested_rows(url):
    text = "{ users(first: 20) { nodes { name orders { id total } } } }"
    return gqlnb.connect(url).frame(text, explode="orders")


def read_tidy_tables(url):
    text = "{ users(first: 20) { nodes { id name orders { id total } } } }"
    return gqlnb.connect(url).execute(text).frames


def read_many_ids(url, ids):
    text = "query($id: ID!) { user(id: $id) { name plan age } }"
    frame = gqlnb.connect(url).map(text, ids, short=True)
    return frame, frame.errors[["id", "message"]]


def extend_polars_frame(url, people):
    text = "query($id: ID!) { user(id: $id) { name plan joined } }"
    return gqlnb.connect(url).map(text, people, short=True).to_polars()


def insert_rows(url, rows):
    text = "mutation($rows: [NewUser!]!) { addUsers(rows: $rows) { id name } }"
    return gqlnb.connect(url).map(text, rows, batch_size=200)[["id", "name"]]


def read_partial_answer(url):
    result = gqlnb.connect(url).execute("{ users(first: 50) { nodes { id balance } } }")
    return result.df, result.errors_frame()[["row", "message"]]


def read_exact_amounts(url):
    return gqlnb.connect(url).frame("{ payments(first: 20) { id amount day } }")


def concat_endpoints(urls):
    text = "{ users(first: 20) { nodes { id name plan joined age } } }"
    return gqlnb.concat(gqlnb.connect(url).frame(text) for url in urls)


def write_parquet(url, file):
    text = "{ users(first: 100) { nodes { id name plan joined age } } }"
    gqlnb.connect(url).execute_all(text).to_parquet(file)


def write_excel(url, file):
    text = "{ users(first: 20) { nodes { id name joined orders { id total } } } }"
    gqlnb.connect(url).execute(text).to_excel(file)


def query_sql(url):
    text = "{ users(first: 20) { nodes { plan orders { total } } } }"
    orders = gqlnb.connect(url).frame(text, explode="orders", short=True)
    return duckdb.sql("select plan, sum(total) from orders group by plan order by plan").fetchall()


def join_endpoints(url, other_url):
    users = gqlnb.connect(url).frame("{ users(first: 20) { nodes { id name plan joined } } }")
    payments = gqlnb.connect(other_url).frame("{ payments(first: 20) { userId amount day } }")
    return payments.merge(users, left_on="userId", right_on="id")


def remember_answer(url):
    text = "{ users(first: 20) { nodes { id name } } }"
    return gqlnb.connect(url, cache="1h").frame(text)


def resume_pages(url, wait):
    client = gqlnb.connect(url)
    result = client.execute_all("{ users(first: 100) { nodes { id name plan } } }")
    while not result.report.complete:
        wait()
        result = client.resume(result)
    return result.df


def replay_answer(url, file):
    text = "{ users(first: 20) { nodes { id name plan joined age } } }"
    return gqlnb.connect(url, recording=file).frame(text)


def follow_events(url):
    text = "subscription { joined { id name plan joined age } }"
    return gqlnb.connect(url).subscribe(text).frame(5, short=True)


def search_stars(url):
    return gqlnb.stars(">50000", limit=250, client=url)


def search_schema(url):
    return gqlnb.SchemaView(url).search("day").frame()[["place", "description"]]
