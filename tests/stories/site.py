"""The service that all stories ask: 250 users with orders, some of whom cannot be read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count

from graphql import GraphQLError

from gqlnb import Schema

SDL = """
"A point in time."
scalar DateTime
"A day."
scalar Date
"An exact number, as text."
scalar Decimal
enum Plan { FREE PRO }
type Order { id: ID! total: Float! }
type User {
  id: ID!
  name: String!
  plan: Plan!
  "When the account was opened."
  joined: DateTime!
  age: Int
  balance: Float
  orders: [Order!]!
}
type Payment { id: ID! userId: ID! amount: Decimal! "The day of the payment." day: Date! }
type PageInfo { hasNextPage: Boolean! endCursor: String }
type UserPage { nodes: [User!]! totalCount: Int! pageInfo: PageInfo! }
input NewUser { name: String! age: Int }
type Query {
  user(id: ID!): User
  users(first: Int!, after: String, plan: Plan): UserPage!
  payments(first: Int!): [Payment!]!
}
type Mutation { addUsers(rows: [NewUser!]!): [User!]! }
type Subscription { joined: User! }
"""
COUNT, MAX_PAGE, MAX_ROWS = 250, 100, 200
ABSENT = frozenset({7, 40})
START = datetime(2026, 1, 1, tzinfo=UTC)


def build_user(number: int) -> dict[str, object]:
    """Return the user of a number."""
    return {
        "id": str(number),
        "name": f"user {number}",
        "plan": "PRO" if number % 3 == 0 else "FREE",
        "joined": (START + timedelta(hours=number)).isoformat(),
        "age": None if number % 5 == 4 else 20 + number % 50,
        "orders": [{"id": f"{number}-{at}", "total": 10.5 * at} for at in range(number % 3)],
    }


def build_payment(number: int) -> dict[str, object]:
    """Return a payment; a float does not hold its amount."""
    day = (START + timedelta(days=number)).date().isoformat()
    amount = f"{number}234567890123.{number:02}"
    return {"id": f"p{number}", "userId": str(number % 7), "amount": amount, "day": day}


def get_balance(user, args, context):
    """Return the balance of a user, if it may be read."""
    number = int(user["id"])
    if number in ABSENT:
        msg = f"balance of {number} is not yours"
        raise GraphQLError(msg)
    return number / 2


class Site:
    """The schema of the service, with the number of its calls and the rows it was sent."""

    def __init__(self) -> None:
        self.calls, self.added, self.broken_page = 0, [], None
        resolvers = {
            "Query": {"user": self.get_user, "users": self.list_users, "payments": list_payments},
            "User": {"balance": get_balance},
            "Mutation": {"addUsers": self.add_users},
            "Subscription": {"joined": lambda root, args, context: map(build_user, count())},
        }
        self.schema = Schema(SDL, resolvers)

    def get_user(self, root, args, context):
        """Return a user, if it may be read."""
        self.calls += 1
        number = int(args["id"])
        if number in ABSENT:
            msg = f"user {number} is not yours"
            raise GraphQLError(msg)
        return build_user(number)

    def list_users(self, root, args, context):
        """Return a page of users."""
        self.calls += 1
        start = int(args.get("after") or 0)
        if self.broken_page is not None and start >= self.broken_page:
            msg = "the database is restarting"
            raise GraphQLError(msg)
        users = list(map(build_user, range(COUNT)))
        users = [user for user in users if args.get("plan") in (None, user["plan"])]
        stop = min(start + min(args["first"], MAX_PAGE), len(users))
        return {
            "nodes": users[start:stop],
            "totalCount": len(users),
            "pageInfo": {"hasNextPage": stop < len(users), "endCursor": str(stop)},
        }

    def add_users(self, root, args, context):
        """Insert rows, not too many at once."""
        if len(args["rows"]) > MAX_ROWS:
            msg = "too many rows"
            raise GraphQLError(msg)
        start = COUNT + len(self.added)
        self.added += args["rows"]
        return [{**build_user(start + at), **row} for at, row in enumerate(args["rows"])]


def list_payments(root, args, context):
    """Return the first payments."""
    return list(map(build_payment, range(args["first"])))
