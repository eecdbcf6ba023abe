# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""``async def`` functions: one event loop on a thread of its own, so that what they share lives in one loop."""

from __future__ import annotations

import inspect
import threading
from typing import Any

from .call import Call
from .errors import Cancelled


def is_awaitable(value: Any) -> bool:
    return inspect.iscoroutine(value)


def is_async_generator(value: Any) -> bool:
    return inspect.isasyncgen(value)


class LoopThread:
    def __init__(self) -> None:
        self._loop: Any = None
        self._lock = threading.Lock()

    def run(self, coroutine: Any, call: Call) -> Any:
        """Run to its end on the loop's thread; the calling thread waits. Cancelling cancels the task."""
        call.interruptible = False  # this thread only waits; the task is what gets cancelled
        import asyncio

        self._start()

        async def watched() -> Any:
            call.thread = threading.get_ident()
            call.task = asyncio.current_task()
            call.interruptible = True
            try:
                if call.cancel_requested:  # asked for before the task could be seen
                    coroutine.close()
                    raise Cancelled
                return await coroutine
            finally:
                call.settle()

        try:
            return asyncio.run_coroutine_threadsafe(watched(), self._loop).result()
        finally:
            call.task = None

    def cancel(self, call: Call) -> None:
        task = call.task
        if task is not None:
            self._loop.call_soon_threadsafe(task.cancel)

    def strike(self, call: Call) -> None:
        """For a task that does not let go of the loop; one that waits has been cancelled already."""
        import asyncio

        task = call.task
        if task is not None and asyncio.current_task(self._loop) is task:
            call.strike()

    def _start(self) -> None:
        import asyncio

        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._run, name="glovebox-async", daemon=True).start()

    def _run(self) -> None:
        import asyncio

        asyncio.set_event_loop(self._loop)
        while True:
            try:
                self._loop.run_forever()
            except Cancelled:
                continue
