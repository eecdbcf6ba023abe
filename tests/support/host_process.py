# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""A real glovebox-host for tests: HTTP through http.client or raw sockets, and its control socket."""

from __future__ import annotations

import http.client
import json
import os
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("GB_BIN", ROOT / ".build/dev/bin"))


class HostProcess:
    def __init__(self, folder: Path, source: str, **config: Any) -> None:
        self.folder = folder
        self.file = folder / "interface.py"
        self.file.write_text(source)
        self.config = {
            "interface": str(self.file),
            "python": sys.executable,
            "worker_package": str(ROOT / "rpc/worker/glovebox_worker"),
            "data_folder": str(folder / "data"),
            **config,
        }
        self.log = open(folder / "host.log", "wb")
        self.process = subprocess.Popen(
            [BIN / "glovebox-host", "--config-fd", "0"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
        )
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps(self.config).encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, (folder / "host.log").read_text()
        self.ready: dict[str, Any] = json.loads(line)
        self.token = Path(self.ready["token_file"]).read_text().strip()
        self.port = int(self.ready["url"].rsplit(":", 1)[1]) if self.ready["url"] else 0

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def spool(self) -> Path:
        return self.folder / "data/hosts" / self.ready["id"] / "spool"

    def headers(self, **extra: str) -> dict[str, str]:
        return {
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            **{key.replace("_", "-"): value for key, value in extra.items()},
        }

    def request(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None, **extra: str
    ) -> tuple[int, bytes, dict[str, str]]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        connection.request(method, path, data, headers if headers is not None else self.headers(**extra))
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, text, {key.lower(): value for key, value in answer.getheaders()}

    def call(self, fn: str, *args: Any, accept: str = "application/json", **kwargs: Any) -> dict[str, Any]:
        body = {"fn": fn, "args": list(args), "kwargs": kwargs}
        status, text, _ = self.request("POST", "/v1/calls", body, Accept=accept)
        assert status == 200, text
        return json.loads(text)

    def result(self, fn: str, *args: Any, **kwargs: Any) -> Any:
        answer = self.call(fn, *args, **kwargs)
        assert answer["ok"], answer
        return answer["result"]

    def get(self, path: str, **extra: str) -> Any:
        status, text, _ = self.request("GET", path, **extra)
        assert status == 200, text
        return json.loads(text)

    def raw(self, data: bytes, timeout: float = 10, close: bool = False) -> bytes:
        """What comes back on one connection until the host closes it or falls silent."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as sock:
            try:
                sock.sendall(data)
                if close:
                    sock.shutdown(socket.SHUT_WR)
            except (BrokenPipeError, ConnectionResetError):
                pass
            return read_answer(sock)

    def head(self, method: str = "POST", path: str = "/v1/calls", **fields: str) -> bytes:
        """A request's head for raw(); fields replace or add to the good ones, None leaves one out."""
        good: dict[str, str | None] = {"Host": self.host, **self.headers()}
        good.update({key.replace("_", "-"): value for key, value in fields.items()})
        lines = [
            f"{method} {path} HTTP/1.1",
            *(f"{key}: {value}" for key, value in good.items() if value is not None),
        ]
        return ("\r\n".join(lines) + "\r\n\r\n").encode()

    def records(self) -> list[dict[str, Any]]:
        return read_spool(self.spool)

    def wait(self, condition: Any, seconds: float = 15) -> None:
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "it did not happen"
            time.sleep(0.01)

    def control(self) -> Control:
        return Control(self.ready["control"])

    def close(self) -> None:
        if self.process.stdin:
            self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()
        self.log.close()


def read_answer(sock: socket.socket) -> bytes:
    data = b""
    try:
        while True:
            part = sock.recv(65536)
            if not part:
                break
            data += part
            if _complete(data):
                break
    except (ConnectionResetError, TimeoutError):
        pass
    return data


def _complete(data: bytes) -> bool:
    head, mark, body = data.partition(b"\r\n\r\n")
    if head.startswith(b"HTTP/1.1 100"):
        head, mark, body = body.partition(b"\r\n\r\n")
    if not mark:
        return False
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            return len(body) >= int(line.split(b":")[1])
    return False


def status_of(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else 0


def frame(message: dict[str, Any], attachment: bytes = b"") -> bytes:
    text = json.dumps(message).encode()
    return struct.pack(">II", len(text), len(attachment)) + text + attachment


def read_spool(folder: Path) -> list[dict[str, Any]]:
    """As the daemon imports a spool: frames of keeper.record in the order of the segments' names."""
    records = []
    for segment in sorted(folder.glob("*.seg")):
        data = segment.read_bytes()
        while data:
            size, extra = struct.unpack_from(">II", data)
            params = json.loads(data[8 : 8 + size])["params"]
            record, texts = params["record"], data[8 + size : 8 + size + extra]
            for name, length in params.get("attached", {}).items():
                record[name], texts = json.loads(texts[:length]), texts[length:]
            records.append(record)
            data = data[8 + size + extra :]
    return records


class Control:
    def __init__(self, path: str) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(20)
        self.sock.connect(path)
        self.next = 1
        self.notes: list[tuple[dict[str, Any], bytes]] = []

    def read(self) -> tuple[dict[str, Any], bytes]:
        size, extra = struct.unpack(">II", self._exactly(8))
        return json.loads(self._exactly(size)), self._exactly(extra)

    def _exactly(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            part = self.sock.recv(size - len(data))
            if not part:
                raise ConnectionError("the keeper closed the link")
            data += part
        return bytes(data)

    def call(self, method: str, attachment: bytes = b"", **params: Any) -> tuple[dict[str, Any], bytes]:
        """The answer's result (an error is raised) and its text, chunks put together."""
        number, self.next = self.next, self.next + 1
        self.sock.sendall(frame({"jsonrpc": "2.0", "id": number, "method": method, "params": params}, attachment))
        while True:
            message, text = self.read()
            if message.get("id") == number:
                break
            self.notes.append((message, text))
        if "error" in message:
            raise RuntimeError(message["error"]["data"]["code"])
        result = message["result"]
        for _ in range(result.get("chunks", 0)):
            while True:
                message, part = self.read()
                if message.get("method") == "chunk":
                    break
                self.notes.append((message, part))
            text += part
        return result, text

    def notified(self, method: str, accept: Any = lambda params: True) -> tuple[dict[str, Any], bytes]:
        while True:
            for message, text in self.notes:
                if message.get("method") == method and accept(message["params"]):
                    self.notes.remove((message, text))
                    return message["params"], text
            self.notes.append(self.read())

    def close(self) -> None:
        self.sock.close()
