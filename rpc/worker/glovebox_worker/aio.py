# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""``async def`` functions: one event loop on a thread of its own, so that what they share lives in one loop."""

from __future__ import annotations

import inspect
import threading
from typing import Any, Optional

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
        self._ident: Optional[int] = None

    def run(self, coroutine: Any, call: Call) -> Any:
        """Run to its end on the loop's thread; the calling thread waits. Cancelling cancels the task."""
        import asyncio

        call.interruptible = False  # this thread only waits; the task is what gets cancelled
        self._start()

        async def watched() -> Any:
            call.task = asyncio.current_task()
            if call.cancel_requested:
                coroutine.close() if hasattr(coroutine, "close") else None
                raise Cancelled
            return await coroutine

        try:
            return asyncio.run_coroutine_threadsafe(watched(), self._loop).result()
        finally:
            call.task = None

    def cancel(self, call: Call) -> None:
        task = call.task
        if task is not None:
            self._loop.call_soon_threadsafe(task.cancel)

    def _start(self) -> None:
        import asyncio

        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._run, name="glovebox-async", daemon=True).start()

    def _run(self) -> None:
        import asyncio

        asyncio.set_event_loop(self._loop)
        self._ident = threading.get_ident()
        while True:
            try:
                self._loop.run_forever()
            except Cancelled:
                continue
