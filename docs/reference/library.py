"""The schema of the reference pages about cells: a library of three books."""

import gqlnb

schema = gqlnb.Schema(
    """
    "What the library knows."
    type Query {
      "The greeting."
      hello(to: String = "world"): String
      "Books, the oldest first."
      books(first: Int! = 2, since: Date, kind: Kind): [Book!]!
    }
    "A book."
    type Book { title: String!  year: Int!  price: Float }
    enum Kind { NOVEL  POEM }
    scalar Date
    type Mutation { borrow(title: String!): Boolean }
    """
)
BOOKS = [
    {"title": "Emma", "year": 1815, "kind": "NOVEL", "price": 7.5},
    {"title": "Leaves of Grass", "year": 1855, "kind": "POEM", "price": None},
    {"title": "Middlemarch", "year": 1871, "kind": "NOVEL", "price": 12},
]


@schema.resolver("Query.hello")
def hello(root, args, context):
    return f"Hello {args['to']}!"


@schema.resolver("Query.books")
def books(root, args, context):
    since, kind = args.get("since", ""), args.get("kind")
    found = [b for b in BOOKS if str(b["year"]) >= since[:4] and kind in (None, b["kind"])]
    return found[: args["first"]]


@schema.resolver("Book.price")
def price(root, args, context):
    return root["price"] * 1.2  # with tax; fails without a price
