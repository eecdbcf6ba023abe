# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""The interface file as a module: run once, described, its function bodies exchanged on reload."""

from __future__ import annotations

import ast
import builtins
import linecache
import os
import platform
import sys
import types
from typing import Any, Callable, Dict, List, Optional

from . import reload
from .exposing import Registry
from .schema import Describer


class Interface:
    def __init__(self, path: str, name: str, registry: Registry, helpers: Dict[str, Callable[..., Any]]) -> None:
        self.path = os.path.abspath(path)
        self.folder = os.path.dirname(self.path)
        self._name = name
        self._registry = registry
        self._helpers = helpers
        self._tree = ast.Module(body=[], type_ignores=[])
        self._code: types.CodeType = compile("", path, "exec")
        self._warnings: List[Dict[str, Any]] = []
        self._stamps: Dict[str, reload.Stamp] = {}
        self._descriptions: List[Dict[str, Any]] = []
        # The worker's own __main__ must outlive its place in sys.modules, or its globals would be cleared.
        self._first_main = sys.modules.get("__main__")
        self.module = types.ModuleType("__main__")

    def run(self) -> None:
        """Execute the file. Whatever it raises goes to the caller."""
        sys.path.insert(0, self.folder)
        sys.argv = [self.path]
        source = self._read()
        self._show_source(source)
        self._tree = ast.parse(source, self.path)
        self._code = compile(source, self.path, "exec", dont_inherit=True)
        names = self.module.__dict__
        names.update({"__file__": self.path, "__builtins__": builtins, "__spec__": None, "__cached__": None})
        names.update(self._helpers)
        sys.modules["__main__"] = self.module
        exec(self._code, names)
        self._warnings = list(self._registry.warnings)
        self._stamps = reload.stamps_of_helpers(self.folder, self.path)
        self._describe()

    def _read(self) -> bytes:
        with open(self.path, "rb") as file:
            return file.read()

    def _show_source(self, source: bytes) -> None:
        # Without a time stamp the cache keeps showing the text that runs, whatever the file says by then.
        text = source.decode("utf-8", "replace")
        linecache.cache[self.path] = (len(text), None, text.splitlines(True), self.path)  # type: ignore[assignment]

    def _describe(self) -> None:
        options = self.module.__dict__.get("__glovebox__")
        default = options.get("tensors", "list") if isinstance(options, dict) else "list"
        describer = Describer(self._registry, self.module.__dict__)
        self._descriptions = []
        for exposed in self._registry.functions.values():
            if exposed.tensors is None:
                exposed.tensors = default if default in ("list", "binary") else "list"
            self._descriptions.append(describer.describe(exposed))

    def schema(self) -> Dict[str, Any]:
        return {
            "name": self._name,
            "doc": self.module.__doc__ or "",
            "file": os.path.basename(self.path),
            "python": platform.python_version(),
            "functions": self._descriptions,
            "warnings": self._registry.warnings,
        }

    def swap_bodies(self) -> Optional[str]:
        """Take over what the file says now, or return why that needs a fresh worker."""
        source = self._read()
        tree = ast.parse(source, self.path)
        code = compile(source, self.path, "exec", dont_inherit=True)
        for file, before in self._stamps.items():
            if reload.stamp(file) != before:
                return f"{os.path.relpath(file, self.folder)} changed"
        reason = reload.difference(self._tree, tree) or reload.exchange(self._code, code)
        if reason is not None:
            return reason
        self._tree, self._code = tree, code
        self._show_source(source)
        self.module.__doc__ = ast.get_docstring(tree, clean=False)
        self._registry.warnings[:] = self._warnings
        for exposed in self._registry.functions.values():
            exposed.refresh()
        self._describe()
        return None
