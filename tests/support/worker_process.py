# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""The keeper's end of the worker link, as small as a test needs it."""

from __future__ import annotations

import array
import functools
import json
import os
import queue
import signal
import socket
import struct
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Tuple

ROOT = Path(__file__).resolve().parents[2]
WORKER = ROOT / "rpc" / "worker" / "glovebox_worker"
# The compiled encoder, where it was built.
SPEED = Path(os.environ.get("GB_BIN", ROOT / ".build/dev/bin")).resolve().parent / "share/glovebox/speed"
SPEED_MODULE = SPEED / "glovebox_speed.abi3.so"
PYTHON = os.environ.get("GLOVEBOX_TEST_PYTHON", sys.executable)
PATIENCE = 30.0


@functools.lru_cache(maxsize=None)
def has_module(name: str) -> bool:
    """Whether the worker's Python has it, which need not be ours."""
    code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({name!r}) is None)"
    return subprocess.run([PYTHON, "-c", code], check=False).returncode == 0


class Frame:
    def __init__(self, header: Dict[str, Any], attachment: bytes, fds: List[int]) -> None:
        self.header = header
        self.attachment = attachment
        self.fds = fds

    def __getitem__(self, key: str) -> Any:
        return self.header[key]

    @property
    def value(self) -> Any:
        return json.loads(self.attachment)


class WorkerProcess:
    """A real worker over a real socket pair. Frames that a test does not wait for stay in ``seen``."""

    def __init__(
        self, folder: Path, source: str, start: bool = True, speed: str = "", python: str = PYTHON, **init: Any
    ) -> None:
        self.folder = folder
        self.path = folder / "interface.py"
        self.write(source)
        ours, theirs = socket.socketpair()
        self.sock = ours
        command = [python, str(WORKER / "__main__.py"), "--fd", str(theirs.fileno())]
        command += ["--speed", speed] if speed else []
        self.process = subprocess.Popen(
            command,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )  # fmt: skip
        theirs.close()
        self.seen: List[Frame] = []
        self._frames: "queue.Queue[Optional[Frame]]" = queue.Queue()
        self._fds: List[int] = []
        self._next = 0
        threading.Thread(target=self._read, daemon=True).start()
        self.hello = self.wait(lambda f: f["t"] == "hello")
        if start:
            self.init(**init)

    def write(self, source: str) -> None:
        self.path.write_text(textwrap.dedent(source), encoding="utf-8")

    def init(self, **fields: Any) -> Frame:
        self.send({"t": "init", "interface": str(self.path), "name": "tools", "generation": 1, **fields})
        self.loaded = self.wait(lambda f: f["t"] in ("loaded", "load_failed"))
        return self.loaded

    @property
    def schema(self) -> Dict[str, Any]:
        return self.loaded.value

    def function(self, name: str) -> Dict[str, Any]:
        return next(f for f in self.schema["functions"] if f["name"] == name)

    def send(self, header: Dict[str, Any], attachment: bytes = b"") -> None:
        text = json.dumps(header).encode()
        self.sock.sendall(struct.pack(">II", len(text), len(attachment)) + text + attachment)

    def start(self, fn: str, *args: Any, fields: Optional[Dict[str, Any]] = None, **kwargs: Any) -> int:
        self._next += 1
        payload = json.dumps({"args": args, "kwargs": kwargs}).encode()
        self.send({"t": "call", "id": self._next, "fn": fn, **(fields or {})}, payload)
        return self._next

    def start_raw(self, fn: str, payload: bytes) -> int:
        self._next += 1
        self.send({"t": "call", "id": self._next, "fn": fn}, payload)
        return self._next

    def result(self, call: int) -> Frame:
        return self.wait(lambda f: f["t"] == "result" and f["id"] == call)

    def call(self, fn: str, *args: Any, fields: Optional[Dict[str, Any]] = None, **kwargs: Any) -> Any:
        """The value; an error raises."""
        frame = self.result(self.start(fn, *args, fields=fields, **kwargs))
        assert frame["ok"], frame["error"]
        return frame.value

    def error(self, fn: str, *args: Any, **kwargs: Any) -> Dict[str, Any]:
        frame = self.result(self.start(fn, *args, **kwargs))
        assert not frame["ok"], frame.attachment
        return frame["error"]

    def wait(self, wanted: Callable[[Frame], bool]) -> Frame:
        for index, seen in enumerate(self.seen):
            if seen["t"] not in ("output", "item") and wanted(seen):
                return self.seen.pop(index)
        while True:
            try:
                frame = self._frames.get(timeout=PATIENCE)
            except queue.Empty:
                raise AssertionError("nothing came any more: " + self.errors()) from None
            assert frame is not None, "the worker went away: " + self.errors()
            if wanted(frame):
                return frame
            self.seen.append(frame)

    def output(self, call: Optional[int], stream: str = "stdout") -> str:
        parts = [f.attachment for f in self.seen if f["t"] == "output" and f["id"] == call and f["stream"] == stream]
        return b"".join(parts).decode()

    def errors(self) -> str:
        """What it wrote to descriptor 2, and where its threads stand."""
        self.process.send_signal(signal.SIGABRT)
        return self.process.communicate()[1].decode()

    def ping(self) -> None:
        self._next += 1
        number = self._next
        self.send({"t": "ping", "id": number})
        self.wait(lambda f: f["t"] == "pong" and f["id"] == number)

    def close(self) -> None:
        if self.process.returncode is not None:
            return
        self.sock.shutdown(socket.SHUT_RDWR)
        self.sock.close()
        try:
            self.process.wait(PATIENCE)
        finally:
            self.process.kill()
            self.process.communicate()

    def __enter__(self) -> "WorkerProcess":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _read(self) -> None:
        data = b""
        while True:
            try:
                frame, data = self._read_frame(data)
            except OSError:
                frame = None
            self._frames.put(frame)
            if frame is None:
                return

    def _read_frame(self, data: bytes) -> Tuple[Optional[Frame], bytes]:
        while True:
            if len(data) >= 8:
                json_size, attachment_size = struct.unpack_from(">II", data)
                size = 8 + json_size + attachment_size
                if len(data) >= size:
                    break
            more, fds = self._receive()
            self._fds += fds
            if not more:
                return None, b""
            data += more
        header = json.loads(data[8 : 8 + json_size])
        announced = sum(1 for tensor in header.get("tensors", []) if tensor["fd"]) + (1 if header.get("fd") else 0)
        fds, self._fds = self._fds[:announced], self._fds[announced:]
        return Frame(header, data[8 + json_size : size], fds), data[size:]

    def _receive(self) -> Tuple[bytes, List[int]]:
        fds = array.array("i")
        data, ancillary, _, _ = self.sock.recvmsg(1 << 20, socket.CMSG_SPACE(250 * fds.itemsize))
        for level, kind, raw in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                fds.frombytes(raw[: len(raw) - len(raw) % fds.itemsize])
        return data, list(fds)
