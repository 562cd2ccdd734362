#!/usr/bin/env bash
# graphql-db: in an order of two columns the page behind a cursor repeats rows.
#
# One would expect: behind a cursor come the rows that are larger in the first column, or equal in it
# and larger in the second.
# What happens: each column is compared alone as well, `category > 'b' OR number > 1 OR ...`, so that
# pages bring rows again; in an order of one column the rows with the cursor's value are missing
# from the next page, and nothing says so. `pageInfo.count` counts the rows behind the cursor, not
# the list.
# Versions: graphql-db 1.0.2, graphql-api 2.0.0, graphql-core 3.3.2, SQLAlchemy 2.1.9, Python 3.12.
set -euo pipefail
for python in python3.12 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.12.*/bin/python; do
  if "$python" --version >/dev/null 2>&1; then break; fi
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet graphql-db==1.0.2 graphql-api==2.0.0 graphql-core==3.3.2 \
  SQLAlchemy==2.1.9 2>/dev/null
cat >"$folder/run.py" <<'PYTHON'
from context_helper import ctx
from graphql_api import GraphQLAPI
from graphql_db.order_by import OrderBy
from graphql_db.orm_base import DatabaseManager, ModelBase
from graphql_db.relay_base import relay_connection
from sqlalchemy.orm import Mapped, mapped_column

database = DatabaseManager(url="sqlite://")


class Book(ModelBase):
    __tablename__ = "books"
    number: Mapped[int] = mapped_column()
    category: Mapped[str] = mapped_column()


database.create_all()
Books, api = relay_connection(Book), GraphQLAPI()
ORDERS = {"both": ["category", "number"], "one": ["category"]}


@api.type(is_root_type=True)
class Query:
    @api.field
    def books(self, order: str, first: int, after: str | None = None) -> Books:
        orders = [OrderBy(key) for key in ORDERS[order]]
        return Books(model=Book, order_by=orders, first=first, after=after)


def run() -> dict:
    books = [Book(number=n, category="abc"[n % 3]) for n in range(6)]
    ctx.db_session.add_all(books)
    ctx.db_session.commit()
    found = {}
    for order in ORDERS:
        numbers, counts, after, more = [], [], "null", True
        while more:
            query = "{ books(order: \"%s\", first: 3, after: %s) { %s } }" % (
                order,
                after,
                "pageInfo { count hasNextPage endCursor } edges { node { number } }",
            )
            answer = api.execute(query)
            assert not answer.errors, answer.errors
            page = answer.data["books"]
            info = page["pageInfo"]
            numbers.append([edge["node"]["number"] for edge in page["edges"]])
            counts.append(info["count"])
            after, more = '"%s"' % info["endCursor"], info["hasNextPage"] and len(counts) < 6
        found[order] = numbers, counts
    return found


found = database.with_db_session(run)()
print(found)
assert found == {
    "both": ([[0, 3, 1], [3, 4, 2], [3, 4, 5]], [6, 4, 3]),
    "one": ([[0, 3, 1], [2, 5]], [6, 2]),
}, found
PYTHON
"$folder/venv/bin/python" -W ignore "$folder/run.py"
