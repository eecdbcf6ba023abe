# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""The worker's life: hello, init, the interface file, calls, reloads, the end of the link."""

from __future__ import annotations

import faulthandler
import os
import platform
import signal
import socket
import time
from typing import Any, Dict, List, Optional

from . import PROTOCOL, bars, output, serialise
from .call import Call
from .dispatch import Dispatcher, Job
from .errors import CallError, exception_error
from .execute import Executor, refuse
from .exposing import Pool, Registry, make_expose
from .injected import Models, make_helpers
from .interface import Interface
from .link import Frame, Link, encode_header
from .tensors import sealed_file

_PR_SET_DUMPABLE = 4
_INLINE_BYTES = 65536


def serve(fd: int, speed: str = "") -> int:
    _protect()
    serialise.use_speed(speed)
    link = Link(socket.socket(fileno=fd))
    return Runtime(link).run()


def _protect() -> None:
    """Before any secret arrives: no core dump, no other process of this user may read our memory."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.enable(2)
    try:
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        os.write(2, b"glovebox worker: this Python cannot make itself unreadable to other processes\n")


class Runtime:
    def __init__(self, link: Link) -> None:
        self._link = link
        self._live: Dict[int, Call] = {}
        self._registry = Registry()
        self._functions = self._registry.functions
        self._interface: Optional[Interface] = None
        self._loaded = False
        self._executor = Executor(link, self._live, lambda: self._dispatcher.wake())
        self._dispatcher = Dispatcher(link, self._handle, self._executor.flush, self._live, self._ended)
        self._handlers = {
            "call": self._on_call,
            "cancel": self._on_cancel,
            "ping": self._on_ping,
            "init": self._on_init,
            "reload": self._on_reload,
            "shutdown": self._on_shutdown,
            "tensor.read": self._on_tensor_read,
            "release": self._on_release,
        }

    def run(self) -> int:
        output.install(self._executor.print_text)
        bars.watch_for_tqdm()
        os.register_at_fork(after_in_child=self._link.forget)
        self._link.send(
            {
                "t": "hello",
                "protocol": PROTOCOL,
                "pid": os.getpid(),
                "python": platform.python_version(),
                "speed": serialise.has_speed(),
            }
        )
        self._dispatcher.run_main()
        return 0

    def _ended(self) -> None:
        """The keeper is gone: nobody waits for anything any more."""
        os._exit(0)

    # --- frames; each returns a job for the main thread, or None ----------------------------------------------

    def _handle(self, frame: Frame) -> Optional[Job]:
        header, attachment = frame
        handler = self._handlers.get(header.get("t"))  # type: ignore[arg-type]
        return handler(header, attachment) if handler is not None else None

    def _on_call(self, header: Dict[str, Any], attachment: bytes) -> Optional[Job]:
        fn = self._functions.get(header["fn"]) if self._loaded else None
        if fn is None:
            if self._loaded:
                refuse(
                    self._link,
                    header["id"],
                    "unknown_function",
                    "no function {!r} is exposed".format(header["fn"][:100]),
                )
            else:
                refuse(self._link, header["id"], "not_loaded", "the interface file is not loaded")
            return None
        call = Call(header, fn, attachment)
        self._live[call.id] = call
        if fn.concurrency == 1:
            return lambda: self._executor.execute(call)
        if fn.pool is None:
            fn.pool = Pool(fn.concurrency, self._executor.execute)
        fn.pool.put(call)
        self._dispatcher.wake()
        return None

    def _on_cancel(self, header: Dict[str, Any], attachment: bytes) -> None:
        call = self._live.get(header["id"])
        if call is not None:
            self._executor.cancel(call, "cancelled")

    def _on_ping(self, header: Dict[str, Any], attachment: bytes) -> None:
        self._link.send({"t": "pong", "id": header["id"]})

    def _on_release(self, header: Dict[str, Any], attachment: bytes) -> None:
        self._executor.store.release(header["handle"])

    def _on_tensor_read(self, header: Dict[str, Any], attachment: bytes) -> None:
        answer: Dict[str, Any] = {"t": "tensor.data", "id": header["id"], "ok": False}
        try:
            slices = header["slice"] if header.get("what") == "slice" else None
            captured, data = self._executor.store.read(header["handle"], slices)
        except CallError as error:
            self._link.send({**answer, "error": error.as_json()})
            return
        except Exception as error:  # the device may be out of memory, a slice may be senseless
            self._link.send({**answer, "error": exception_error("function_error", error, self._executor.root)})
            return
        answer.update(captured.as_json(), ok=True, fd=captured.size > _INLINE_BYTES)
        if not answer["fd"]:
            self._link.send(answer, bytes(data))
            return
        fd = sealed_file([data])
        self._link.send(answer, b"", [fd])
        os.close(fd)

    def _on_shutdown(self, header: Dict[str, Any], attachment: bytes) -> None:
        self._dispatcher.stop()

    def _on_init(self, header: Dict[str, Any], attachment: bytes) -> Optional[Job]:
        return lambda: self._load(header)

    def _on_reload(self, header: Dict[str, Any], attachment: bytes) -> Optional[Job]:
        return self._reload

    # --- loading ------------------------------------------------------------------------------------------------

    def _load(self, init: Dict[str, Any]) -> None:
        began = time.perf_counter()
        models: List[Dict[str, Any]] = init.get("models", [])
        configured = Models(models)
        os.environ.update(init.get("env", {}))
        configured.set_variables(models)
        limits = init.get("limits", {})
        self._executor.output_bytes = limits.get("output_bytes", self._executor.output_bytes)
        self._executor.result_bytes = limits.get("result_bytes", self._executor.result_bytes)
        store = self._executor.store
        store.generation = init.get("generation", 0)
        store.budget = limits.get("device_cache_bytes", store.budget)
        helpers = make_helpers(configured, self._executor.enqueue)
        helpers["expose"] = make_expose(self._registry)
        self._interface = Interface(init["interface"], init.get("name", "interface"), self._registry, helpers)
        self._executor.root = self._interface.folder + os.sep
        try:
            self._interface.run()
        except BaseException as error:  # sys.exit at the top of a file is a failed load too
            self._report_failure("initial", error)
            return
        self._registry.closed = True
        self._executor.adopt_context()
        self._loaded = True
        self._send_loaded("initial", began)

    def _reload(self) -> None:
        began = time.perf_counter()
        if self._interface is None or not self._loaded:
            self._send_loaded("restart_needed", began, "the file was not loaded")
            return
        try:
            reason = self._interface.swap_bodies()
        except (SyntaxError, OSError, ValueError) as error:
            self._report_failure("reload", error)
            return
        self._send_loaded("bodies" if reason is None else "restart_needed", began, reason)

    def _report_failure(self, how: str, error: BaseException) -> None:
        failure = exception_error("load_failed", error, self._executor.root)
        self._executor.flush(time.monotonic())
        self._link.send({"t": "load_failed", "how": how, "error": failure})

    def _send_loaded(self, how: str, began: float, reason: Optional[str] = None) -> None:
        schema = self._interface.schema() if self._interface is not None and self._loaded else {}
        header: Dict[str, Any] = {"t": "loaded", "how": how, "ms": int((time.perf_counter() - began) * 1000)}
        if reason is not None:
            header["reason"] = reason
        header["warnings"] = schema.get("warnings", [])
        self._executor.flush(time.monotonic())
        self._link.send(header, encode_header(schema))
