# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""tqdm's bars become the progress of the call that shows them."""

from __future__ import annotations

import importlib.util
import io
import sys
from typing import Any

from .call import DONE, current


class _Nowhere(io.StringIO):
    """Looks like a terminal, because libraries hide their bars elsewhere."""

    def write(self, text: str) -> int:
        return len(text)

    def isatty(self) -> bool:
        return True


class _Finder:
    """Waits for the one import that matters and then steps aside."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "tqdm.std":
            return None
        sys.meta_path.remove(self)  # type: ignore[arg-type]
        spec = importlib.util.find_spec(name)
        loader: Any = spec.loader if spec is not None else None
        if loader is None or not hasattr(loader, "exec_module"):
            return spec
        original = loader.exec_module

        def exec_module(module: Any) -> None:
            original(module)
            try:
                _patch(module.tqdm)
            except (AttributeError, TypeError):
                return  # a version that looks different keeps drawing its bars

        loader.exec_module = exec_module
        return spec


def watch_for_tqdm() -> None:
    sys.meta_path.insert(0, _Finder())  # type: ignore[arg-type]


def _patch(cls: Any) -> None:
    original_init, original_display = cls.__init__, cls.display

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        call = current.get()
        if call is not None and call.state != DONE and kwargs.get("file") is None:
            self._glovebox_call = call
            kwargs["file"] = _Nowhere()
        original_init(self, *args, **kwargs)

    def display(self: Any, msg: Any = None, pos: Any = None) -> Any:
        call = self.__dict__.get("_glovebox_call")
        if call is None:
            return original_display(self, msg, pos)
        if getattr(self, "pos", 0) == 0:  # of nested bars the outermost
            total = self.total if type(self.total) in (int, float) else None
            call.progress = (self.n, total, (self.desc or "").rstrip(": "))
        return True

    __init__.__wrapped__ = original_init  # type: ignore[attr-defined]
    cls.__init__ = __init__
    cls.display = display
