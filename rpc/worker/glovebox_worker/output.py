# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""What a call prints is attributed to it: sys.stdout and sys.stderr ask which call is running."""

from __future__ import annotations

import io
import sys
import threading
from contextvars import copy_context
from typing import Any, Callable

from .call import DONE, current


class CapturedStream(io.TextIOBase):
    """Takes the place of sys.stdout or sys.stderr. Writing is one append, so it can be interrupted anywhere."""

    def __init__(self, stream: str, raw_fd: int, sink: Callable[[Any, str, str], None]) -> None:
        self._stream = stream
        self._fd = raw_fd
        self._sink = sink
        self.buffer = _BinaryView(self)

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return "utf-8"

    @property
    def errors(self) -> str:  # type: ignore[override]
        return "replace"

    @property
    def name(self) -> str:
        return f"<{self._stream}>"

    def fileno(self) -> int:
        return self._fd

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return False

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        call = current.get()
        if call is not None and call.state == DONE:
            call = None
        self._sink(call, self._stream, text)
        return len(text)

    def flush(self) -> None:
        return None

    def close(self) -> None:
        return None  # the next call still prints


class _BinaryView(io.RawIOBase):
    """``sys.stdout.buffer``."""

    def __init__(self, text: CapturedStream) -> None:
        self._text = text

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        raw = bytes(data)
        self._text.write(raw.decode("utf-8", "replace"))
        return len(raw)

    def fileno(self) -> int:
        return self._text.fileno()


class NoInput(io.TextIOBase):
    """``sys.stdin``: nobody is there to type."""

    def _refuse(self) -> Any:
        raise EOFError("input() cannot work here: nobody can type into an interface; take an argument instead")

    def readline(self, size: Any = -1) -> str:  # type: ignore[override]
        return self._refuse()

    def read(self, size: Any = -1) -> str:
        return self._refuse()

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 0


def install(sink: Callable[[Any, str, str], None]) -> None:
    sys.stdout = CapturedStream("stdout", 1, sink)
    sys.stderr = CapturedStream("stderr", 2, sink)
    sys.stdin = NoInput()
    _follow_threads()


def _follow_threads() -> None:
    """Threads that a call starts belong to it: they run in a copy of its context, as they will from 3.14 on."""
    original = threading.Thread.start

    def start(self: threading.Thread) -> None:
        if current.get() is not None:
            context, run = copy_context(), self.run
            self.run = lambda: context.run(run)  # type: ignore[method-assign]
        original(self)

    threading.Thread.start = start  # type: ignore[method-assign]
