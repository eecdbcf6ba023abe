# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""What the interface file's ``@expose`` collects: functions with their options, one record each."""

from __future__ import annotations

import inspect
import queue
import threading
from typing import Any, Callable, Dict, List, Optional

from .binding import Binder

TENSOR_MODES = ("list", "binary")


class Exposed:
    """One exposed function, ready to be called."""

    __slots__ = (
        "name", "fn", "concurrency", "read_only", "timeout", "tensors", "show", "line",
        "is_async", "is_generator", "asks", "bind", "pool",
    )  # fmt: skip

    def __init__(self, name: str, fn: Callable[..., Any], options: Dict[str, Any]) -> None:
        self.name = name
        self.fn = fn
        self.concurrency: int = options["concurrency"]
        self.read_only: bool = options["read_only"]
        self.timeout: Optional[float] = options["timeout"]
        self.tensors: Optional[str] = options["tensors"]
        self.show: Any = options["show"]
        self.bind: Binder = None  # type: ignore[assignment]  # set once the annotations are read
        self.pool: Optional[Pool] = None  # where concurrency > 1
        self.refresh()

    def refresh(self) -> None:
        """What the code itself says, also after its body was exchanged."""
        inner: Any = inspect.unwrap(self.fn)
        if inner is not self.fn and getattr(inner, "__doc__", None):
            self.fn.__doc__ = inner.__doc__
        code = getattr(inner, "__code__", None)
        # A function that mentions cancelled() is given the time to notice even before it first asked.
        self.asks = code is not None and "cancelled" in code.co_names
        self.line: int = code.co_firstlineno if code is not None else 0
        self.is_async = inspect.iscoroutinefunction(self.fn) or inspect.isasyncgenfunction(self.fn)
        self.is_generator = inspect.isgeneratorfunction(self.fn) or inspect.isasyncgenfunction(self.fn)


class Registry:
    """The exposed functions in the order of the file. Closed once the file has been run."""

    def __init__(self) -> None:
        self.functions: Dict[str, Exposed] = {}
        self.warnings: List[Dict[str, Any]] = []
        self.closed = False

    def warn(self, code: str, message: str, line: int = 0, function: Optional[str] = None) -> None:
        self.warnings.append({"line": line, "function": function, "code": code, "message": message})

    def add(self, fn: Any, options: Dict[str, Any]) -> None:
        if self.closed:
            raise RuntimeError("@expose works only while the interface file is being loaded")
        _check_target(fn)
        name = options["name"] if options["name"] is not None else getattr(fn, "__name__", None)
        _check_name(name)
        _check_options(options)
        exposed = Exposed(name, fn, options)
        if name in self.functions:
            earlier = self.functions.pop(name).line
            message = f"{name!r} is exposed twice (first at line {earlier}); the last one counts"
            self.warn("name_clash", message, exposed.line, name)
        self.functions[name] = exposed


def _check_target(fn: Any) -> None:
    if isinstance(fn, type):
        raise TypeError(f"@expose works on functions, not on the class {fn.__name__}")
    if isinstance(fn, (staticmethod, classmethod, property)):
        raise TypeError("@expose works on functions at the top of the file, not on methods")
    if not callable(fn):
        raise TypeError(f"@expose works on functions, not on a {type(fn).__name__}")


def _check_name(name: Any) -> None:
    if not isinstance(name, str) or not name.isidentifier() or name.startswith("__") or len(name) > 100:
        raise ValueError(f"@expose: {name!r} cannot be the name of a function")


def _check_options(options: Dict[str, Any]) -> None:
    concurrency = options["concurrency"]
    if type(concurrency) is not int or not 1 <= concurrency <= 256:
        raise ValueError(f"@expose: concurrency is a whole number from 1 to 256, not {concurrency!r}")
    timeout = options["timeout"]
    if timeout is not None and (type(timeout) not in (int, float) or not 0 < timeout < 1e7):
        raise ValueError(f"@expose: timeout is a number of seconds, not {timeout!r}")
    if options["tensors"] not in (None,) + TENSOR_MODES:
        raise ValueError("@expose: tensors is 'list' or 'binary', not {!r}".format(options["tensors"]))
    if type(options["read_only"]) is not bool:
        raise ValueError("@expose: read_only is True or False, not {!r}".format(options["read_only"]))


def make_expose(registry: Registry) -> Callable[..., Any]:
    """The decorator itself, bare or with options."""

    def expose(
        fn: Optional[Callable[..., Any]] = None,
        *,
        name: Optional[str] = None,
        concurrency: int = 1,
        read_only: bool = False,
        timeout: Optional[float] = None,
        tensors: Optional[str] = None,
        show: Any = None,
    ) -> Any:
        """Let the other side call this function."""
        options = {
            "name": name, "concurrency": concurrency, "read_only": read_only, "timeout": timeout,
            "tensors": tensors, "show": show,
        }  # fmt: skip

        def register(target: Callable[..., Any]) -> Callable[..., Any]:
            registry.add(target, options)
            return target

        return register if fn is None else register(fn)

    return expose


class Pool:
    """The threads of one function with ``concurrency`` > 1; they start when first needed."""

    def __init__(self, size: int, work: Callable[[Any], None]) -> None:
        self._size = size
        self._work = work
        self._threads = 0
        self._calls: "queue.SimpleQueue[Any]" = queue.SimpleQueue()

    def put(self, call: Any) -> None:
        # Only the thread that reads the link puts, so the count of threads needs no lock.
        if self._threads < self._size:
            self._threads += 1
            threading.Thread(target=self._run, name="glovebox-call", daemon=True).start()
        self._calls.put(call)

    def _run(self) -> None:
        while True:
            self._work(self._calls.get())
