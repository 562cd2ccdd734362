"""Run cells in a real kernel and read their messages."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from jupyter_client.manager import start_new_kernel

if TYPE_CHECKING:
    from collections.abc import Iterator

SECONDS = 120
UNSHOWN = frozenset({"status", "execute_input"})


class Kernel:
    """A kernel; `client` asks it everything else."""

    def __init__(self) -> None:
        self.manager, self.client = start_new_kernel(kernel_name="python3", startup_timeout=60)

    def start(self, code: str, *, attended: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
        """Begin to run a cell; return an iterator of its outputs and other messages.

        If nobody attends, the kernel cannot ask for input.
        """
        return self._read(self.client.execute(code, allow_stdin=attended))

    def _read(self, request: str) -> Iterator[tuple[str, dict[str, Any]]]:
        while True:
            message = self.client.get_iopub_msg(timeout=SECONDS)
            kind, content = message["msg_type"], message["content"]
            if message["parent_header"].get("msg_id") != request:
                continue
            if kind == "status" and content["execution_state"] == "idle":
                return
            if kind not in UNSHOWN:
                yield kind, content

    def run(self, code: str) -> list[tuple[str, dict[str, Any]]]:
        """Run a cell, and return its messages: outputs, and those of widgets."""
        return list(self.start(code))

    def show(self, code: str) -> str:
        """Run a cell, and return the text of its outputs."""
        texts = []
        for kind, content in self.run(code):
            if kind == "error":
                texts += content["traceback"]
            else:
                texts.append(content.get("text") or content["data"]["text/plain"])
        return "\n".join(texts)


@contextmanager
def run_kernel(*cells: str) -> Iterator[Kernel]:
    """Run a kernel in which some cells have run; they have no output."""
    kernel = Kernel()
    try:
        for cell in cells:
            outputs = kernel.run(cell)
            assert outputs == [], outputs
        yield kernel
    finally:
        kernel.client.stop_channels()
        kernel.manager.shutdown_kernel(now=True)
