# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Who reads the link, who runs what, and the clock that everything slow depends on.

Calls run on Python's main thread, one at a time. While it is idle the main thread reads the link itself, so a
short call costs no switch between threads. A second thread, the standby, looks on; a call that is still running
at its second look makes it take over the reading, so that cancel and ping are heard. ``_role`` is held by
whoever reads. The standby also keeps the clock: it sends what calls printed and ends calls that run too long.
"""

from __future__ import annotations

import os
import queue
import select
import threading
from time import monotonic
from typing import Callable, Dict, Optional

from .call import Call
from .errors import report_own_failure
from .link import Frame, Link, LinkError

_LOOK = 0.002
_TICK = 0.05
_LOOKS_BEFORE_SLEEP = 25

Job = Callable[[], None]


class Dispatcher:
    """``handle`` gets each frame and may return a job for the main thread; ``tick`` gets the time."""

    def __init__(
        self,
        link: Link,
        handle: Callable[[Frame], Optional[Job]],
        tick: Callable[[float], None],
        live: Dict[int, Call],
        ended: Callable[[], None],
    ) -> None:
        self._link = link
        self._handle = handle
        self._tick = tick
        self._live = live
        self._ended = ended
        self._queue: "queue.SimpleQueue[Job]" = queue.SimpleQueue()
        self._role = threading.Lock()
        self._busy = False
        self._seq = 0
        self._asleep = False
        self._stopping = False
        self._wake_read, self._wake_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)

    def run_main(self) -> None:
        """The main thread's life: until ``stop`` or the end of the link."""
        threading.Thread(target=self._run_standby, name="glovebox-standby", daemon=True).start()
        role, jobs = self._role, self._queue
        while not self._stopping:
            if jobs.empty() and role.acquire(False):
                if not jobs.empty():  # put by the standby just before it gave the role back
                    role.release()
                    continue
                job = self._read_until_job()
                role.release()
                if job is None:
                    return
            else:
                job = jobs.get()
            self._seq += 1
            self._busy = True
            if self._asleep:
                self.wake()
            try:
                job()
            except BaseException:  # a job reports its own errors; whatever comes here is this package's fault
                report_own_failure("a job failed")
            self._busy = False

    def stop(self) -> None:
        self._stopping = True
        self._queue.put(lambda: None)

    def post(self, job: Job) -> None:
        self._queue.put(job)

    def wake(self) -> None:
        """Make the standby look now. One system call, so it may be used from the author's code."""
        try:
            os.write(self._wake_write, b"w")
        except OSError:
            return  # full: it will look anyway

    def _read_until_job(self) -> Optional[Job]:
        read, handle = self._link.read, self._handle
        while not self._stopping:
            frame = self._read_safely(read)
            if frame is None:
                return None
            job = handle(frame)
            if job is not None:
                return job
        return None

    def _read_safely(self, read: Callable[[], Optional[Frame]]) -> Optional[Frame]:
        try:
            frame = read()
        except (OSError, LinkError, ValueError):
            report_own_failure("the link broke")
            frame = None
        if frame is None:
            self._ended()
        return frame

    def _run_standby(self) -> None:
        calm = select.poll()
        calm.register(self._wake_read, select.POLLIN)
        reading = select.poll()
        reading.register(self._wake_read, select.POLLIN)
        reading.register(self._link.fileno(), select.POLLIN)
        mine = False
        seen, looks = -1, 0
        timeout: Optional[float] = 0
        while True:
            ready = [] if mine and self._link.has_rest() else (reading if mine else calm).poll(timeout)
            if any(fd == self._wake_read for fd, _ in ready):
                os.read(self._wake_read, 4096)
            self._tick_safely()
            if mine:
                if self._link.has_rest() or any(fd != self._wake_read for fd, _ in ready):
                    mine = self._read_one()
                timeout = _TICK * 1000 if self._busy or self._live else None
                seen, looks = self._seq, 0
                continue
            if self._busy and seen == self._seq and self._role.acquire(False):
                mine = True
                timeout = 0
                continue
            looks = 0 if self._busy or seen != self._seq else looks + 1
            seen = self._seq
            timeout = self._patience(looks)

    def _patience(self, looks: int) -> Optional[float]:
        """In milliseconds; None once nothing has happened for a while."""
        if looks < _LOOKS_BEFORE_SLEEP:
            return _LOOK * 1000
        self._asleep = True
        if self._busy:  # it began between the look and the line above
            self._asleep = False
            return _LOOK * 1000
        return _TICK * 1000 if self._live else None

    def _read_one(self) -> bool:
        """As the reader: one frame. False when the role went back to the main thread together with a job."""
        frame = self._read_safely(self._link.read)
        if frame is None:
            os._exit(0)
        job = self._handle(frame)
        if job is None:
            return True
        idle = not self._busy and self._queue.empty()
        self._queue.put(job)
        if idle:
            self._role.release()
        return not idle

    def _tick_safely(self) -> None:
        self._asleep = False
        try:
            self._tick(monotonic())
        except Exception:
            report_own_failure("the clock failed")
