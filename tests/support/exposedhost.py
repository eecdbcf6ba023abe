# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""A real glovebox-host and libraries connected to it."""

from __future__ import annotations

import importlib.util
import itertools
import json
import sys
import types
from pathlib import Path
from typing import Any, Dict

from exposetool import run_tool
from host_process import HostProcess

_numbers = itertools.count()


class ExposedHost(HostProcess):
    def __init__(self, folder: Path, source: str, **config: Any) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.source = source
        self.given = {"name": "model_tools", **config}
        super().__init__(folder, source, **self.given)
        assert self.ready["state"] == "ready", self.ready

    def kill(self) -> None:
        self.process.kill()
        self.close()

    def start_again(self) -> None:
        super().__init__(self.folder, self.source, **self.given)

    def ask(self, method: str, **params: Any) -> Any:
        """One request on the control socket."""
        control = self.control()
        try:
            return control.call(method, **params)[0]
        finally:
            control.close()

    def schema(self) -> Dict[str, Any]:
        return self.ask("keeper.schema")["schema"]

    def write_library(self, folder: Path, module: str = "", token: str = "") -> Path:
        """The generated library and its access file, connected to this host."""
        [line] = run_tool("library", text=json.dumps(self.schema()) + "\n").splitlines()
        path = folder / ((module or f"model_tools_{next(_numbers)}") + ".py")
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(json.loads(line)["text"], encoding="utf-8")
        self.write_access(path, token)
        return path

    def write_access(self, library: Path, token: str = "") -> None:
        where = {"socket": self.ready["socket"]} if self.ready["socket"] else {"url": self.ready["url"]}
        file = library.with_suffix(".host.json")
        file.touch(0o600)
        file.write_text(json.dumps({**where, "token": token or self.token}))

    def library(self) -> types.ModuleType:
        return load(self.write_library(self.folder / "workspace"))


def load(path: Path) -> types.ModuleType:
    specification = importlib.util.spec_from_file_location(path.stem, path)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[path.stem] = module
    specification.loader.exec_module(module)
    return module
