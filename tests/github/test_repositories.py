"""The embedded snapshot is read once, and whole."""

import threading
from functools import lru_cache

from gqlnb.github import repositories
from gqlnb.github.repositories import choose_owner_kind, load_snapshot, read_table


def named(full_name):
    """Return the one repository of that name."""
    (found,) = [row for row in load_snapshot() if row.full_name == full_name]
    return found


def test_the_snapshot_is_sorted():
    """All 3,449 repositories by descending stars, then by owner and name."""
    rows = load_snapshot()
    assert len(rows) == 3449
    keys = [(-row.stars, row.full_name.lower()) for row in rows]
    assert keys == sorted(keys)


def test_an_empty_language_is_read_as_missing():
    """A repository without a language has None, not an empty one."""
    assert named("sindresorhus/awesome").language is None


def test_names_are_unique_case_insensitively():
    """No two repositories differ by the case of their letters alone."""
    assert len({row.full_name.lower() for row in load_snapshot()}) == len(load_snapshot())


def test_ids_are_unique():
    """No two repositories, owners or languages share an id."""
    languages = {row.language for row in load_snapshot() if row.language}
    nodes = [*load_snapshot(), *{row.owner for row in load_snapshot()}, *languages]
    assert len({node.node_id for node in nodes}) == len(nodes)


def test_an_unknown_account_type_is_derived_from_the_login():
    """Whatever its case."""
    assert choose_owner_kind("obra") == choose_owner_kind("OBRA") == "Organization"
    assert choose_owner_kind("nilbuild") == "User"


def test_an_account_type_in_the_table_has_priority():
    """Over the rule for unknown ones."""
    line = "{},{},{},1,1,,2026-01-01T00:00:00Z"
    lines = ["header", line.format("a", "obra", "User"), line.format("a", "nilbuild", "")]
    by_login = {row.owner.login: row.owner.kind for row in read_table(lines)}
    assert by_login == {"obra": "User", "nilbuild": "User"}


def test_concurrent_threads_share_one_snapshot(monkeypatch):
    """Many threads read the table once."""
    monkeypatch.setattr(
        repositories, "_read_snapshot", lru_cache(repositories._read_snapshot.__wrapped__)
    )
    reads = []
    monkeypatch.setattr(repositories, "read_table", lambda lines: reads.append(1) or (object(),))
    begin = threading.Barrier(8)
    found = []

    def load():
        begin.wait()
        found.append(load_snapshot())

    threads = [threading.Thread(target=load) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(reads) == 1
    assert len({id(one) for one in found}) == 1
