"""What Windows does otherwise than POSIX systems, simulated."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
from threading import Event
from types import SimpleNamespace

import pyarrow as pa
import pytest

import gqlnb
from gqlnb import background, config
from gqlnb.client.recording import cassette
from gqlnb.lists import store
from gqlnb.lists.list_harvest import ListStore

SDL = "type Query { name: String }"
NAME = "Zoë → 日本"


@pytest.fixture
def schema():
    """Return a schema with a text that cp1252 cannot encode."""
    return gqlnb.Schema(SDL, {"Query": {"name": lambda *_: NAME}})


def test_files_are_synced_by_descriptors_for_writing(tmp_path, monkeypatch):
    """Windows refuses others."""
    synced: list[int] = []

    def sync(descriptor: int) -> None:
        if fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        synced.append(descriptor)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(store, "sync_folder", lambda folder: None)
    harvest = ListStore(tmp_path)
    harvest._new.append(store.Part([(0, 1)], pa.table({"a": [1]})))
    harvest.save_state()  # a part and the log
    config.replace_file(tmp_path / "settings", b"line", private=True)
    assert len(synced) == 3
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"part-00000.parquet", store.LOG_NAME, "settings"}


def test_waits_are_short_enough_for_ctrl_c(monkeypatch):
    """Windows handles Ctrl-C only after a wait has ended."""

    class Signalled(Event):
        """An event during whose third wait Ctrl-C is pressed."""

        def __init__(self) -> None:
            super().__init__()
            self.waits: list[float | None] = []

        def wait(self, timeout: float | None = None) -> bool:
            self.waits.append(timeout)
            if len(self.waits) == 3:
                raise KeyboardInterrupt
            return False

    event = Signalled()
    with pytest.raises(KeyboardInterrupt):
        background.wait_for_event(event)
    assert event.waits == [background.POLL_SECONDS] * 3
    monkeypatch.setattr(background, "POLL_SECONDS", 0.001)
    assert not background.wait_for_event(Event(), 0.003)
    assert not background.wait_for_event(Event(), 0)


@pytest.mark.parametrize("locked", [True, False])
def test_processes_do_not_harvest_into_one_folder(locked, tmp_path, monkeypatch):
    """The lock of a folder is that of Windows where there is no fcntl."""
    calls: list[tuple[int, int]] = []

    def lock(descriptor: int, mode: int, count: int) -> None:
        assert os.fstat(descriptor).st_size == 0
        calls.append((mode, count))
        if locked:
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(store, "fcntl", None)
    monkeypatch.setattr(store, "msvcrt", SimpleNamespace(LK_NBLCK=2, locking=lock))
    folder = store.lock_folder(tmp_path)
    if locked:
        with pytest.raises(gqlnb.OptionError, match="Another harvest is writing"):
            folder.__enter__()
    else:
        with folder:
            pass
    assert calls == [(2, 1)]


def test_recordings_are_written_without_locks(schema, tmp_path, monkeypatch):
    """Nor are they opened again because their identity seems to change."""
    monkeypatch.setattr(cassette, "fcntl", None)
    monkeypatch.setattr(os.path, "samestat", lambda one, other: False)
    for _ in range(2):
        with gqlnb.recorded(tmp_path / "names.jsonl"):
            assert gqlnb.connect(schema).execute("{ name }").data == {"name": NAME}
    assert (tmp_path / "names.jsonl").read_bytes().count(b"\n") == 2  # a header and an answer


def test_piped_output_is_utf_8(schema):
    """Windows would take an encoding that lacks most characters."""
    with gqlnb.serve(schema, port=0) as server:
        done = subprocess.run(
            [sys.executable, "-m", "gqlnb", "query", "-c", server.url, "{ name }"],
            env=os.environ | {"PYTHONIOENCODING": "cp1252"},
            capture_output=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert NAME in done.stdout.decode("utf-8")
