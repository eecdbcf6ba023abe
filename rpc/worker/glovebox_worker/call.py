# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""One call on its way through the worker, and how it is stopped from another thread."""

from __future__ import annotations

import contextvars
import ctypes
import time
from typing import Any, Dict, List, Optional

from .errors import Cancelled
from .exposing import Exposed

QUEUED, RUNNING, DONE = 0, 1, 2

_raise_in = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_ulong, ctypes.py_object)(
    ("PyThreadState_SetAsyncExc", ctypes.pythonapi)
)
_take_back = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p)(
    ("PyThreadState_SetAsyncExc", ctypes.pythonapi)
)

current: "contextvars.ContextVar[Optional[Call]]" = contextvars.ContextVar("glovebox_call", default=None)


class Call:
    """What is known of a call while it waits and runs.

    Stopping it is a race between two threads that the interpreter's lock makes orderly: the reader sets
    ``cancel_requested`` and only then looks at ``interruptible``; the thread that runs the call clears
    ``interruptible`` and only then looks at ``cancel_requested``. So either no exception is sent, or
    ``settle`` waits until it has been and takes it away, before anything is written to the link.
    """

    # What most calls never change stands here once.
    timeout: Optional[float] = None
    state = QUEUED
    deadline: Optional[float] = None
    grace: Optional[float] = None
    thread = 0
    task: Any = None
    cancel_requested = False
    interruptible = False
    striking = False
    reason = "cancelled"
    polled = False
    started_sent = False
    began = 0.0
    output_bytes = 0
    output_cut = False
    progress: Any = None
    items = 0

    def __init__(self, header: Dict[str, Any], fn: Exposed, args: bytes) -> None:
        self.id: int = header["id"]
        self.fn = fn
        self.args = args
        self.binary: bool = header.get("binary", False)
        self.stream: bool = header.get("stream", False)
        if "timeout_ms" in header:
            self.timeout = header["timeout_ms"] / 1000.0
        self.output: List[Any] = []
        self.warnings: List[str] = []

    def strike(self) -> None:
        """Send the exception, from the thread that reads the link. ``cancel_requested`` is already set."""
        self.striking = True
        if self.interruptible:
            _raise_in(self.thread, Cancelled)
        self.striking = False

    def settle(self) -> None:
        """After the author's code: from here on no exception arrives any more."""
        while True:
            try:
                self.interruptible = False
                if self.cancel_requested:
                    while self.striking:
                        time.sleep(0.0001)
                    _take_back(self.thread, None)
                return
            except Cancelled:
                continue
