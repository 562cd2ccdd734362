"""The data that all servers hold: made from a seed, read by each server from one JSON file."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

from tests.servers.scalars import APOLLO, ARIADNE, STRAWBERRY, describe

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["make_library", "write_library"]

SEED = 22
GENRES = ("NOVEL", "POETRY", "ESSAY", "DRAMA", "SCIENCE")
AUTHORS, BOOKS, USERS, MEASUREMENTS, MARKS = 40, 1000, 60, 100_000, 500
TEXTS = ("Good.", "Zu lang; größtenteils gut 🎉", 'Quotes " and \\ and\nlines', "", None)


def make_library() -> dict[str, Any]:
    """Return authors, books, users, reviews, measurements and scalar values as JSON values.

    ``number`` identifies a row of its kind on every server; ``id`` is its key, which Strawberry
    encodes. The first author has many books, some books have no review and some have a dozen.
    """
    random = Random(SEED)
    authors = [
        {
            "id": f"Author:{n}",
            "number": n,
            "name": f"Author {n}",
            "born": f"19{n + 10}-0{n % 9 + 1}-15",
        }
        for n in range(1, AUTHORS + 1)
    ]
    users = [{"id": f"User:{n}", "number": n, "name": f"User {n}"} for n in range(1, USERS + 1)]
    books, reviews = [], []
    for n in range(1, BOOKS + 1):
        author = 1 if n % 8 == 0 else random.randint(1, AUTHORS)
        books.append(
            {
                "id": f"Book:{n}",
                "number": n,
                "title": f"Title {n}",
                "genre": random.choice(GENRES),
                "pages": None if n % 17 == 0 else random.randint(40, 900),
                "rating": None if n % 13 == 0 else round(random.uniform(1, 5), 2),
                "inPrint": random.random() < 0.7,
                "author": author,
            }
        )
        for _ in range(random.choice((0, 0, 1, 1, 2, 3, 3, 4, 12))):
            number = len(reviews) + 1
            reviews.append(
                {
                    "id": f"Review:{number}",
                    "number": number,
                    "stars": random.randint(1, 5),
                    "text": random.choice(TEXTS),
                    "book": n,
                    "user": random.randint(1, USERS),
                }
            )
    return {
        "authors": authors,
        "users": users,
        "books": books,
        "reviews": reviews,
        "measurements": [
            {"number": n, "value": None if n % 101 == 0 else round(random.gauss(0, 1), 4)}
            for n in range(1, MEASUREMENTS + 1)
        ],
        "marks": [{"value": random.randint(0, 9)} for _ in range(MARKS)],
        "scalars": {
            "apollo": describe(APOLLO),
            "strawberry": describe(STRAWBERRY),
            "ariadne": describe(ARIADNE),
        },
    }


def write_library(path: Path) -> Path:
    """Write the data as JSON, and return the path."""
    path.write_text(json.dumps(make_library(), ensure_ascii=False), encoding="utf-8")
    return path
