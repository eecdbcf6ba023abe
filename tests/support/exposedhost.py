# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""A real glovebox-host for one interface file, and libraries connected to it."""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import socket
import struct
import subprocess
import sys
import types
from pathlib import Path
from typing import Any, Dict, Optional

from exposetool import ROOT, bin_folder, run_tool

_numbers = itertools.count()


class ExposedHost:
    """Serves the text of an interface file until closed."""

    def __init__(self, folder: Path, text: str, name: str = "model_tools", **config: Any) -> None:
        self.folder = folder
        self.name = name
        folder.mkdir(parents=True, exist_ok=True)
        self.interface = folder / "interface.py"
        self.interface.write_text(text, encoding="utf-8")
        self.config: Dict[str, Any] = {
            "interface": str(self.interface), "name": name, "python": sys.executable,
            "worker_package": str(ROOT / "rpc" / "worker" / "glovebox_worker"), "data_folder": str(folder / "data"),
            **config}
        self.ready: Dict[str, Any] = {}
        self.start()

    def start(self) -> None:
        reader, writer = os.pipe()
        self.log = open(self.folder / "host.log", "ab")
        self.process = subprocess.Popen([str(bin_folder() / "glovebox-host"), "--config-fd", str(reader)],
                                        pass_fds=[reader], stdout=subprocess.PIPE, stderr=self.log)
        os.close(reader)
        self.lifeline = writer
        os.write(writer, json.dumps(self.config).encode() + b"\n")
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, (self.folder / "host.log").read_text()
        self.ready = json.loads(line)
        assert self.ready["state"] == "ready", self.ready

    @property
    def token(self) -> str:
        return Path(self.ready["token_file"]).read_text().strip()

    def control(self, method: str, **params: Any) -> Any:
        """One request on the control socket."""
        with socket.socket(socket.AF_UNIX) as link:
            link.connect(self.ready["control"])
            text = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
            link.sendall(struct.pack(">II", len(text), 0) + text)
            while True:
                head = self._exactly(link, 8)
                size, attached = struct.unpack(">II", head)
                answer = json.loads(self._exactly(link, size))
                self._exactly(link, attached)
                if answer.get("id") == 1:
                    assert "error" not in answer, answer
                    return answer["result"]

    @staticmethod
    def _exactly(link: socket.socket, size: int) -> bytes:
        data = b""
        while len(data) < size:
            piece = link.recv(size - len(data))
            assert piece
            data += piece
        return data

    def schema(self) -> Dict[str, Any]:
        result = self.control("keeper.schema")["schema"]
        return json.loads(result) if isinstance(result, str) else result

    def write_library(self, folder: Path, module: str = "", token: str = "", use_socket: bool = False) -> Path:
        """The generated library and its access file, connected to this host."""
        [line] = run_tool("library", text=json.dumps(self.schema()) + "\n").splitlines()
        path = folder / ((module or f"model_tools_{next(_numbers)}") + ".py")
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(json.loads(line)["text"], encoding="utf-8")
        self.write_access(path, token)
        return path

    def write_access(self, library: Path, token: str = "") -> None:
        access: Dict[str, str] = {"token": token or self.token}
        if self.ready["socket"]:
            access["socket"] = self.ready["socket"]
        else:
            access["url"] = self.ready["url"]
        file = library.with_suffix(".host.json")
        file.touch(0o600)
        file.write_text(json.dumps(access))

    def library(self, folder: Optional[Path] = None) -> types.ModuleType:
        return load(self.write_library(folder or self.folder / "workspace"))

    def kill(self) -> None:
        self.process.kill()
        self._end()

    def close(self) -> None:
        os.close(self.lifeline)
        self._end()

    def _end(self) -> None:
        try:
            self.process.wait(10)
        finally:
            self.process.kill()
            if self.process.stdout:
                self.process.stdout.close()
            self.log.close()


def load(path: Path) -> types.ModuleType:
    specification = importlib.util.spec_from_file_location(path.stem, path)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[path.stem] = module
    specification.loader.exec_module(module)
    return module
