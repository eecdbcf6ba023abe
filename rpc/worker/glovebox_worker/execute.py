# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Runs calls: arguments in, the author's code, the result frame out."""

from __future__ import annotations

import os
import threading
import types
from collections import deque
from contextvars import Context, copy_context
from time import monotonic, perf_counter_ns
from typing import Any, Callable, Deque, Dict, List, Optional, Sequence, Tuple

from . import serialise
from .aio import LoopThread, is_async_generator, is_awaitable
from .call import DONE, QUEUED, RUNNING, Call, current
from .errors import CallError, Cancelled, exception_error, plain_error
from .link import Link, encode_header
from .tensors import Captured, TensorStore
from .values import decode_arguments

_OK = (
    b'{"t":"result","id":%d,"ok":true,"ns":{"compute":%d,"serialise":%d},"special":false,"tensors":[],"warnings":[]}'
)
_GRACE = 1.0
_LOOP_GRACE = 0.2
_MAX_WAITING_ITEMS = 4 << 20
_MAX_WARNINGS = 20
_PLAIN = frozenset((int, float, str, bool, dict, list, type(None)))

Arguments = Tuple[List[Any], Dict[str, Any]]


class Executor:
    def __init__(self, link: Link, live: Dict[int, Call], wake: Callable[[], None]) -> None:
        self._link = link
        self._live = live
        self._wake = wake
        # Guards the order of frames: nothing of a call may follow its result.
        self._order = threading.Lock()
        self._loop = LoopThread()
        self._loose: List[Tuple[str, str]] = []
        self._loose_told = False
        self._frames: "Deque[Tuple[Call, Dict[str, Any], bytes, Sequence[Captured], int]]" = deque()
        self._frame_bytes = 0
        self.output_bytes = 1 << 20
        self.result_bytes = 256 << 20
        self.root = ""
        self.store = TensorStore()
        self.base_context: Context = copy_context()

    def adopt_context(self) -> None:
        """Context variables that the file set while loading are there in every call."""
        self.base_context = copy_context()

    # --- running -------------------------------------------------------------------------------------------

    def execute(self, call: Call) -> None:
        with self._order:
            if call.state != QUEUED:
                return
            call.state = RUNNING
        call.thread = threading.get_ident()
        call.began = monotonic()
        if call.timeout is not None or call.fn.timeout is not None:
            limits = [limit for limit in (call.timeout, call.fn.timeout) if limit is not None]
            call.deadline = call.began + min(limits)
        start = perf_counter_ns()
        try:
            args, kwargs = call.fn.bind(*decode_arguments(call.args))
        except CallError as error:
            self._finish_error(call, error.as_json(), 0, 0)
            return
        except Exception as error:  # an author's own class refused its fields
            self._finish_error(call, exception_error("bad_arguments", error, self.root), 0, 0)
            return
        call.args = b""
        value: Any = None
        error: Optional[BaseException] = None  # type: ignore[no-redef]
        try:
            try:
                value = self.base_context.copy().run(self._invoke, call, args, kwargs)
            except BaseException as raised:  # sys.exit, KeyboardInterrupt and Cancelled too: the worker lives on
                error = raised
            call.settle()
        except Cancelled as late:  # it arrived after the author's code had already ended
            call.settle()
            error = error or late
        middle = perf_counter_ns()
        if self._link.closed:  # this is a child that the function forked; the call belongs to its parent
            os._exit(0 if error is None else 1)
        if error is not None:
            self._finish_error(call, self._error_of(call, error), middle - start, 0)
        else:
            self._finish_value(call, value, start, middle)

    def _invoke(self, call: Call, args: List[Any], kwargs: Dict[str, Any]) -> Any:
        current.set(call)
        # Calling an async function runs none of its body; an exception here could only hit an import of asyncio.
        call.interruptible = not call.fn.is_async
        if call.cancel_requested:
            raise Cancelled
        value = call.fn.fn(*args, **kwargs)
        if type(value) in _PLAIN:
            pass
        elif isinstance(value, types.GeneratorType):
            value = self._consume(call, value)
        elif is_awaitable(value):
            value = self._loop.run(value, call)
        elif is_async_generator(value):
            value = self._loop.run(self._consume_async(call, value), call)
        call.interruptible = False
        return value

    def _consume(self, call: Call, generator: Any) -> Any:
        items: List[Any] = []
        try:
            while True:
                try:
                    item = next(generator)
                except StopIteration as stop:
                    return stop.value if call.stream else items
                self._item(call, item, items)
        finally:
            generator.close()

    async def _consume_async(self, call: Call, generator: Any) -> Any:
        items: List[Any] = []
        try:
            async for item in generator:
                self._item(call, item, items)
        finally:
            await generator.aclose()
        return None if call.stream else items

    def _item(self, call: Call, item: Any, items: List[Any]) -> None:
        if not call.stream:
            items.append(item)
            return
        encoded = self._encode(call, item, f"item {call.items}")
        header: Dict[str, Any] = {"t": "item", "id": call.id, "index": call.items, "special": encoded.special}
        if encoded.tensors:
            header["tensors"] = [tensor.as_json() for tensor in encoded.tensors]
        call.items += 1
        call.warnings += encoded.warnings[: _MAX_WARNINGS - len(call.warnings)]
        self.enqueue(call, header, encoded.text, encoded.tensors)

    # --- frames made while the author's code runs ------------------------------------------------------------

    def enqueue(
        self, call: Call, header: Dict[str, Any], attachment: bytes = b"", tensors: Sequence[Captured] = ()
    ) -> None:
        """From the author's thread. An append cannot be cut in two by an exception; the standby sends it."""
        size = len(attachment) + sum(tensor.size for tensor in tensors) + 200
        self._frame_bytes += size
        self._frames.append((call, header, attachment, tensors, size))
        self._wake()
        while self._frame_bytes > _MAX_WAITING_ITEMS and not self._link.closed:
            threading.Event().wait(0.002)

    def print_text(self, call: Optional[Call], stream: str, text: str) -> None:
        if self._link.closed:  # a forked child: the parent's link is not ours, the pipes are
            os.write(1 if stream == "stdout" else 2, text.encode("utf-8", "replace"))
            return
        if call is None:
            self._loose.append((stream, text))
            if not self._loose_told:
                self._loose_told = True
                self._wake()
            return
        if call.output_cut:
            return
        room = self.output_bytes - call.output_bytes
        call.output_bytes += len(text)
        if len(text) > room:
            call.output_cut = True
            text = text[: max(room, 0)] + f"\n[output cut: more than {self.output_bytes} characters]\n"
        call.output.append((stream, text))

    def flush(self, now: float) -> None:
        """The clock's part: send what waits, end what runs too long."""
        with self._order:
            self._flush_loose()
            self._flush_frames()
            for call in list(self._live.values()):
                if call.state != RUNNING:
                    continue
                if not call.started_sent and now - call.began > 0.001:
                    self._send_started(call)
                if call.output or call.progress is not None:
                    self._flush_call(call)
        for call in list(self._live.values()):
            if call.deadline is not None and now >= call.deadline:
                call.deadline = None
                self.cancel(call, "timeout")
            if call.grace is not None and now >= call.grace:
                call.grace = None
                if call.task is not None:
                    self._loop.strike(call)
                else:
                    call.strike()

    def _flush_loose(self) -> None:
        if self._loose:
            self._loose_told = False
            count = len(self._loose)
            waiting, self._loose[:count] = self._loose[:count], []
            for stream, text in _joined(waiting):
                self._link.send({"t": "output", "id": None, "stream": stream}, text)

    def _flush_frames(self) -> None:
        while self._frames:
            call, header, attachment, tensors, size = self._frames.popleft()
            self._frame_bytes -= size
            if call.state == RUNNING:
                self._send_started(call)
                self._flush_call(call)
                self._link.send(header, attachment, [tensor.fd for tensor in tensors if tensor.fd is not None])
            for tensor in tensors:
                tensor.close()
        self._frame_bytes = 0  # threads add to it without a lock, so it may have drifted

    def _send_started(self, call: Call) -> None:
        if not call.started_sent:
            call.started_sent = True
            self._link.send({"t": "started", "id": call.id})

    def _flush_call(self, call: Call) -> None:
        self._send_started(call)
        waiting = len(call.output)
        if waiting:
            parts, call.output[:waiting] = call.output[:waiting], []
            for stream, text in _joined(parts):
                self._link.send({"t": "output", "id": call.id, "stream": stream}, text)
        progress = call.progress
        if progress is not None:
            call.progress = None
            done, total, message = progress
            header = {"t": "progress", "id": call.id, "done": done, "total": total, "message": message}
            self._link.send(header)

    # --- ends ------------------------------------------------------------------------------------------------

    def cancel(self, call: Call, reason: str) -> None:
        """From the thread that reads the link or keeps the clock, never from the call's own."""
        call.reason = reason if not call.cancel_requested else call.reason
        with self._order:
            if call.state == QUEUED:
                self._end(call)
                header = {"t": "result", "id": call.id, "ok": False, "ns": {"compute": 0, "serialise": 0}}
                header["error"] = _cancelled_error(call)
                self._link.send(header)
                return
        again = call.cancel_requested
        call.cancel_requested = True
        if call.task is not None:
            self._loop.cancel(call)
            call.grace = monotonic() + _LOOP_GRACE
        elif (call.polled or call.fn.asks) and not again:
            call.grace = monotonic() + _GRACE  # it asks now and then: let it end by itself
        else:
            call.strike()

    def _error_of(self, call: Call, error: BaseException) -> Dict[str, Any]:
        if call.cancel_requested and _comes_from_cancel(error):
            return _cancelled_error(call)
        if isinstance(error, CallError):
            return error.as_json()
        return exception_error("function_error", error, self.root)

    def _finish_value(self, call: Call, value: Any, start: int, middle: int) -> None:
        try:
            encoded = self._encode(call, value)
        except CallError as error:
            self._finish_error(call, error.as_json(), middle - start, perf_counter_ns() - middle)
            return
        except BaseException as error:  # an author's __str__ or model_dump, or no memory
            failure = exception_error("not_serialisable", error, self.root)
            self._finish_error(call, failure, middle - start, perf_counter_ns() - middle)
            return
        compute, serialised = middle - start, perf_counter_ns() - middle
        with self._order:
            self._flush_rest(call)
            self._end(call)
            if not encoded.special and not encoded.warnings and not call.warnings:
                self._link.send_raw(_OK % (call.id, compute, serialised), encoded.text)
                return
            header = {
                "t": "result", "id": call.id, "ok": True, "ns": {"compute": compute, "serialise": serialised},
                "special": encoded.special, "tensors": [tensor.as_json() for tensor in encoded.tensors],
                "warnings": call.warnings + encoded.warnings,
            }  # fmt: skip
            fds = [tensor.fd for tensor in encoded.tensors if tensor.fd is not None]
            self._link.send_raw(encode_header(header), encoded.text, fds)
        for tensor in encoded.tensors:
            tensor.close()

    def _encode(self, call: Call, value: Any, root: str = "result") -> serialise.Encoded:
        store = self.store if call.fn.tensors == "binary" else None
        encoded = serialise.encode(value, root, store, call.binary)
        if len(encoded.text) > self.result_bytes:
            for tensor in encoded.tensors:
                tensor.close()
            text = f"the {root} is {len(encoded.text)} bytes of JSON, more than the limit of {self.result_bytes}"
            raise CallError("reply_too_large", text)
        return encoded

    def _finish_error(self, call: Call, error: Dict[str, Any], compute: int, serialised: int) -> None:
        header = {"t": "result", "id": call.id, "ok": False, "error": error}
        header["ns"] = {"compute": compute, "serialise": serialised}
        with self._order:
            self._flush_rest(call)
            self._end(call)
            self._link.send(header)

    def _flush_rest(self, call: Call) -> None:
        if self._frames:
            self._flush_frames()
        if call.output or call.progress is not None:
            self._flush_call(call)

    def _end(self, call: Call) -> None:
        call.state = DONE
        self._live.pop(call.id, None)


def refuse(link: Link, call_id: int, kind: str, message: str) -> None:
    header = {"t": "result", "id": call_id, "ok": False, "error": plain_error(kind, message)}
    link.send({**header, "ns": {"compute": 0, "serialise": 0}})


def _joined(parts: List[Tuple[str, str]]) -> "List[Tuple[str, bytes]]":
    """Neighbours of one stream become one text."""
    out: List[Tuple[str, List[str]]] = []
    for stream, text in parts:
        if out and out[-1][0] == stream:
            out[-1][1].append(text)
        else:
            out.append((stream, [text]))
    return [(stream, "".join(texts).encode("utf-8", "replace")) for stream, texts in out]


def _cancelled_error(call: Call) -> Dict[str, Any]:
    if call.reason == "timeout":
        return plain_error("timeout", "the call ran out of time and was stopped")
    return plain_error("cancelled", "the call was cancelled")


def _comes_from_cancel(error: Optional[BaseException]) -> bool:
    """Libraries sometimes turn the exception into one of their own."""
    seen = 0
    while error is not None and seen < 20:
        if isinstance(error, Cancelled) or type(error).__name__ == "CancelledError":
            return True
        error = error.__cause__ or error.__context__
        seen += 1
    return False
