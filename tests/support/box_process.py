# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""A real keeper of a real sandbox ("use my Python": nothing to build) and its control socket."""

from __future__ import annotations

import array
import json
import os
import pwd
import shutil
import socket
import struct
import subprocess
import time
import uuid
from pathlib import Path
from typing import Any, Callable

from host_process import BIN, ROOT, frame

PYTHON = "/usr/bin/python3"
WORKER = "/run/glovebox/worker/glovebox_worker"
SMALL = 64 << 20


def id_map() -> list[list[int]]:
    """The map that the launcher makes for this user (rpc/launch/launchspec.cpp)."""
    if os.geteuid() == 0:
        return [[0, 1000000000, 65536]]
    user = pwd.getpwuid(os.geteuid()).pw_name
    for line in Path("/etc/subuid").read_text().splitlines():
        owner, first, count = line.split(":")
        if owner == user and int(count) >= 65536:
            return [[0, int(first), 1000], [1000, os.geteuid(), 1], [1001, int(first) + 1000, 64535]]
    raise AssertionError(f"{user} has no subordinate ids")


def launch_spec(folder: Path, **changes: Any) -> dict[str, Any]:
    store, etc = folder / "store", folder / "etc"
    store.mkdir(mode=0o700)
    etc.mkdir()
    if os.geteuid() == 0:
        os.chown(store, 1000000000, 1000000000)
    (etc / "passwd").write_text("root:x:0:0:root:/home/box:/bin/sh\n")
    (etc / "group").write_text("root:x:0:\n")
    binds = [["/usr", "/usr", False], [str(ROOT / "rpc/worker/glovebox_worker"), WORKER, False],
             ["workspace", "/workspace", True]]
    binds += [[f"/etc/{name}", f"/etc/{name}", False] for name in ("ssl", "ld.so.cache", "alternatives")
              if os.path.exists(f"/etc/{name}")]
    binds += [[str(etc / name), f"/etc/{name}", False] for name in ("passwd", "group")]
    links = []
    for name in ("bin", "sbin", "lib", "lib64", "lib32"):
        if os.path.islink(f"/{name}"):
            links.append([os.readlink(f"/{name}"), f"/{name}"])
        elif os.path.isdir(f"/{name}"):
            binds.append([f"/{name}", f"/{name}", False])
    tmpfs = [["/tmp", SMALL, 0o1777], ["/run", SMALL, 0o755], ["/dev/shm", SMALL, 0o1777],
             ["/home/box", SMALL, 0o755]]
    return {"store": str(store), "uids": [], "gids": [], "folders": ["workspace"], "lowers": [], "upper": "",
            "work": "", "binds": binds, "tmpfs": tmpfs, "links": links, "empty_folders": [], "network": False,
            "read_only_root": True, "capabilities": [], "hostname": "box", "processes": 4096, "file_bytes": 0,
            "groups": [], "processors": [], "host_command": [], "host_env": {}, **changes}


class BoxRefused(Exception):
    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error.get("message", ""))
        data = error.get("data", {})
        self.code: str = data.get("code", error.get("code", ""))


class BoxProcess:
    def __init__(self, folder: Path, launch: dict[str, Any] | None = None, **config: Any) -> None:
        self.folder = folder
        self.id = str(uuid.uuid4())
        self.data = folder / "data"
        self.store = folder / "store"
        self.launch = launch_spec(folder, **(launch or {}))
        self.config = {
            "id": self.id, "nonce": "nonce", "name": "test", "data_folder": str(self.data), "launch": self.launch,
            "environment": {"PATH": "/usr/bin:/bin", "HOME": "/home/box", "LC_ALL": "C.UTF-8", "PLAIN": "seen"},
            "secrets": {}, "secrets_in_exec": False, "memory": 0, "timeout": 0, "idle_timeout": 0,
            "box_folder": f"boxes/{self.id}", "python": PYTHON, **config,
        }
        self.log_file = folder / "keeper.log"
        with self.log_file.open("wb") as log:
            self.process = subprocess.Popen([BIN / "glovebox-host", "--config-fd", "0"], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=log, env={"MARK_OF_KEEPER": "1"})
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps({"sandbox": self.config, "detached": True}).encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, self.log_file.read_text()
        self.ready: dict[str, Any] = json.loads(line)
        if "error" in self.ready:
            self.close()
            raise BoxRefused(self.ready["error"])
        self.link = BoxLink(self.ready["control"])

    @property
    def box_folder(self) -> Path:
        return self.data / "boxes" / self.id

    def ended(self) -> dict[str, Any]:
        """Why it ended, once the keeper is gone."""
        self.process.wait(20)
        return json.loads((self.box_folder / "ended.json").read_text())

    def connect(self) -> BoxLink:
        return BoxLink(self.ready["control"])

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(20)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                pipe.close()
        self._clean()

    def _clean(self) -> None:
        if os.geteuid() == 0:
            return shutil.rmtree(self.store, ignore_errors=True)
        # What was written inside belongs to subordinate ids: removed under the same map.
        spec = {**self.launch, "uids": id_map(), "gids": id_map(), "binds": [], "folders": [],
                "host_command": ["sh", "-c", "chmod -R u+rwX . ; rm -rf ./*"], "host_env": {"PATH": "/usr/bin:/bin"}}
        reading, writing = os.pipe()
        os.write(writing, json.dumps(spec).encode())
        os.close(writing)
        script = f'exec 3<&{reading} {reading}<&-; exec "$0"'
        subprocess.run(["sh", "-c", script, str(BIN / "glovebox-launcher")], pass_fds=[reading],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        os.close(reading)


class BoxLink:
    """One connection to a keeper. Answers and notifications that come between are kept."""

    def __init__(self, path: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(120)
        self.socket.connect(path)
        self.buffer = b""
        self.number = 0
        self.told: list[tuple[str, dict[str, Any], bytes]] = []
        self.answers: dict[Any, tuple[dict[str, Any], bytes]] = {}
        self.descriptors: list[int] = []

    def close(self) -> None:
        self.socket.close()

    def _exactly(self, size: int) -> bytes:
        while len(self.buffer) < size:
            piece, control, _, _ = self.socket.recvmsg(1 << 18, socket.CMSG_SPACE(16))
            for _, kind, data in control:
                if kind == socket.SCM_RIGHTS:
                    fds = array.array("i")
                    fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
                    self.descriptors += fds
            if not piece:
                raise ConnectionError("the keeper closed the link")
            self.buffer += piece
        out, self.buffer = self.buffer[:size], self.buffer[size:]
        return out

    def read(self) -> tuple[dict[str, Any], bytes]:
        size, attached = struct.unpack(">II", self._exactly(8))
        return json.loads(self._exactly(size)), self._exactly(attached)

    def ask(self, method: str, attachment: bytes = b"", **params: Any) -> int:
        self.number += 1
        message = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        self.socket.sendall(frame(message, attachment))
        return self.number

    def answer(self, number: int) -> tuple[dict[str, Any], bytes]:
        while number not in self.answers:
            self._take()
        message, attachment = self.answers.pop(number)
        if "error" in message:
            raise BoxRefused(message["error"])
        return message["result"], attachment

    def _take(self) -> None:
        message, attachment = self.read()
        if "method" in message:
            self.told.append((message["method"], message["params"], attachment))
        else:
            self.answers[message["id"]] = message, attachment

    def call(self, method: str, attachment: bytes = b"", **params: Any) -> dict[str, Any]:
        return self.answer(self.ask(method, attachment, **params))[0]

    def call_chunked(self, method: str, pieces: list[bytes], **params: Any) -> dict[str, Any]:
        number = self.ask(method, chunks=len(pieces), **params)
        for index, piece in enumerate(pieces):
            message = {"jsonrpc": "2.0", "method": "chunk", "params": {"of": number, "n": index}}
            self.socket.sendall(frame(message, piece))
        return self.answer(number)[0]

    def text(self, method: str, **params: Any) -> bytes:
        return self.answer(self.ask(method, **params))[1]

    def next(self, method: str, wanted: Callable[[dict[str, Any]], bool] = lambda _: True) -> dict[str, Any]:
        """The next notification of this kind; its bytes stand in "bytes"."""
        while True:
            for index, (name, params, attachment) in enumerate(self.told):
                if name == method and wanted(params):
                    del self.told[index]
                    return {**params, "bytes": attachment}
            self._take()

    def follow(self, command: str) -> dict[str, Any]:
        """The end of a command of this connection, with everything it wrote."""
        end = self.next("box.exit", lambda params: params["command"] == command)
        out = {"stdout": bytearray(), "stderr": bytearray()}
        others = []
        for note in self.told:
            name, params, attachment = note
            if name != "box.output" or params["command"] != command:
                others.append(note)
                continue
            assert params["offset"] == len(out[params["stream"]])
            out[params["stream"]] += attachment
        self.told = others
        return {**end, **{stream: bytes(text) for stream, text in out.items()}}

    def exec(self, *argv: str, **params: Any) -> str:
        return self.call("box.exec", argv=list(argv), **params)["command"]

    def run(self, script: str, **params: Any) -> dict[str, Any]:
        return self.follow(self.call("box.exec", script=script, **params)["command"])

    def python(self, code: str, **params: Any) -> dict[str, Any]:
        return self.follow(self.exec(PYTHON, "-I", "-c", code, **params))


def wait_for(condition: Callable[[], Any], seconds: float = 60) -> Any:
    end = time.monotonic() + seconds
    while True:
        if found := condition():
            return found
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)

