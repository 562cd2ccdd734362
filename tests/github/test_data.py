"""The embedded snapshot is read once, whole, and found by name, owner and id."""

import threading

from gqlnb.github import data
from gqlnb.github.data import Repositories, embedded, owner_kind, read


def test_the_snapshot_holds_its_rows_sorted():
    """All 3,449 repositories are there, most starred first, equal ones by owner and name."""
    rows = embedded().rows
    assert len(rows) == 3449
    keys = [(-row.stars, row.full_name.lower()) for row in rows]
    assert keys == sorted(keys)


def test_the_snapshot_says_how_much_it_holds():
    """Its repr is one short line with the number of repositories."""
    assert repr(embedded()) == "<Repositories: 3,449>"


def test_a_row_reads_as_it_stands_in_the_table():
    """One known repository has the facts of the table."""
    linux = embedded().by_name["torvalds/linux"]
    assert (linux.name, linux.owner.login, linux.owner.kind) == ("linux", "torvalds", "User")
    assert (linux.stars, linux.forks) == (243608, 64026)
    assert linux.language is not None
    assert linux.language.name == "C"
    assert linux.pushed_at == "2026-08-21T20:24:53Z"


def test_an_empty_language_is_none():
    """A repository without a language has None, not an empty one."""
    assert embedded().by_name["sindresorhus/awesome"].language is None


def test_names_are_unique_in_any_case():
    """No two repositories differ by the case of their letters alone."""
    assert len(embedded().by_name) == len(embedded())


def test_ids_are_unique_and_lead_back():
    """Every repository, owner and language is found by its own id."""
    nodes = embedded().by_id
    rows = embedded().rows
    owners = {row.owner for row in rows}
    languages = {row.language for row in rows if row.language}
    assert len(nodes) == len(rows) + len(owners) + len(languages)
    assert all(nodes[node.node_id] is node for node in rows)


def test_an_owner_is_one_value_with_all_its_repositories():
    """The repositories of an owner share one owner value, most starred first."""
    rows = embedded().by_owner["microsoft"]
    assert len(rows) > 1
    assert len({id(row.owner) for row in rows}) == 1
    assert [row.stars for row in rows] == sorted((row.stars for row in rows), reverse=True)


def test_an_owner_is_found_in_any_case():
    """A login is found however it is written; an unknown one is None."""
    found = embedded().owner("TORVALDS")
    assert found is not None
    assert found.login == "torvalds"
    assert embedded().owner("nobody-has-this-login") is None


def test_an_unknown_kind_is_always_chosen_the_same():
    """The rule for unknown kinds is fixed by the login in any case."""
    assert owner_kind("obra") == owner_kind("OBRA") == "Organization"
    assert owner_kind("nilbuild") == "User"


def test_a_kind_in_the_table_wins_over_the_rule():
    """A kind that the table holds is taken, whatever the rule would choose."""
    line = "{},{},{},1,1,,2026-01-01T00:00:00Z"
    lines = ["header", line.format("a", "obra", "User"), line.format("a", "nilbuild", "")]
    by_login = {row.owner.login: row.owner.kind for row in read(lines).rows}
    assert by_login == {"obra": "User", "nilbuild": "User"}


def test_threads_that_begin_together_share_one_snapshot(monkeypatch):
    """Loading from many threads at once reads the table once."""
    monkeypatch.setattr(data, "_loaded", [])
    reads = []
    monkeypatch.setattr(data, "read", lambda lines: reads.append(1) or Repositories(()))
    begin = threading.Barrier(8)
    found = []

    def load():
        begin.wait()
        found.append(embedded())

    threads = [threading.Thread(target=load) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(reads) == 1
    assert len({id(one) for one in found}) == 1
