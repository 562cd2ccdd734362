"""Child processes whose output can be waited for."""

from __future__ import annotations

import re
import signal
import subprocess
from threading import Condition, Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

START_SECONDS = 60  # a start takes 1 to 5 s on an idle machine


class LoggedProcess:
    """A running child process, and everything it has written to both output streams.

    Attributes
    ----------
    output
        The text written so far.
    """

    def __init__(self, command: Sequence[str], **options: Any) -> None:
        self.output = ""
        self._command = command
        self._has_ended = False
        self._output_changed = Condition()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            **options,
        )
        self._reader = Thread(target=self._read_output, daemon=True)
        self._reader.start()

    def _read_output(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with self._output_changed:
                self.output += line
                self._output_changed.notify_all()
        with self._output_changed:
            self._has_ended = True
            self._output_changed.notify_all()

    def wait_for(self, pattern: str, seconds: float = START_SECONDS) -> re.Match[str]:
        """Wait until the output matches a pattern, and return the match.

        Raises
        ------
        RuntimeError
            If the process ends, or `seconds` pass, without a match; the message has the output.
        """
        with self._output_changed:
            self._output_changed.wait_for(
                lambda: self._has_ended or re.search(pattern, self.output, re.MULTILINE), seconds
            )
            match = re.search(pattern, self.output, re.MULTILINE)
        if match is None:
            state = "ended" if self._has_ended else f"was not ready after {seconds} s"
            msg = f"{self._command[0]} {state} without printing {pattern!r}. Output:\n{self.output}"
            raise RuntimeError(msg)
        return match

    def stop(self, stop_signal: signal.Signals = signal.SIGTERM, seconds: float = 20) -> None:
        """Ask the process to end, wait for it, and kill it if it does not."""
        if self._process.poll() is None:
            self._process.send_signal(stop_signal)
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(seconds)
        finally:
            self._reader.join(seconds)
            assert self._process.stdout is not None
            self._process.stdout.close()
