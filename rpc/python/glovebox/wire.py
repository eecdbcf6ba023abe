# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""JSON-RPC in frames on one socket; used by one thread at a time."""

from __future__ import annotations

import json
import os
import socket
import struct
from collections import deque
from pathlib import Path
from typing import Any, Callable, Deque, Dict, NamedTuple, Optional, Tuple

from .errors import Disconnected, GloveboxError
from .start import client_environment, connect_socket

PROTOCOL = 1
_HEADER = struct.Struct(">II")
_JSON_LIMIT = 16 << 20
_ATTACHMENT_LIMIT = 1 << 20

Json = Dict[str, Any]


class Notification(NamedTuple):
    method: str
    params: Json
    attachment: bytes


Listener = Callable[[Notification], None]


class Connection:
    """A greeted connection to the daemon."""

    def __init__(self, folder: Path, name: str, start: bool) -> None:
        self._socket = connect_socket(folder, start)
        self._next = 1
        self._backlog: Deque[Notification] = deque()
        try:
            self.info, _ = self.request(
                "daemon.hello",
                {
                    "protocol": PROTOCOL,
                    "client": {"name": name, "kind": "script", "pid": os.getpid()},
                    "environment": client_environment(),
                },
            )
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._socket.close()

    def request(
        self, method: str, params: Json, attachment: bytes = b"", listener: Optional[Listener] = None
    ) -> Tuple[Json, bytes]:
        request_id = self._next
        self._next += 1
        self._send_request(request_id, method, params, attachment)
        while True:
            message, data = self._receive()
            if "method" in message:
                self._notified(message, data, listener)
            elif message.get("id") == request_id:
                return self._answer(message, data, listener)
            elif message.get("id") is None and "error" in message:
                raise _error(message["error"])

    def next_notification(self) -> Notification:
        """Waits for the daemon to say something by itself."""
        while not self._backlog:
            message, data = self._receive()
            self._notified(message, data, None)
        return self._backlog.popleft()

    def _notified(self, message: Json, data: bytes, listener: Optional[Listener]) -> None:
        if "method" not in message:
            return
        notification = Notification(message["method"], message.get("params", {}), data)
        if listener is not None:
            listener(notification)
        else:
            self._backlog.append(notification)

    def _answer(self, message: Json, data: bytes, listener: Optional[Listener]) -> Tuple[Json, bytes]:
        if "error" in message:
            raise _error(message["error"])
        result: Json = message["result"]
        chunks = result.pop("chunks", 0)
        pieces = [data]
        while chunks > 0:
            other, piece = self._receive()
            if other.get("method") == "chunk" and other["params"].get("of") == message["id"]:
                pieces.append(piece)
                chunks -= 1
            else:
                self._notified(other, piece, listener)
        return result, b"".join(pieces)

    def _send_request(self, request_id: int, method: str, params: Json, attachment: bytes) -> None:
        chunks = []
        if len(attachment) > _ATTACHMENT_LIMIT:
            starts = range(0, len(attachment), _ATTACHMENT_LIMIT)
            chunks = [attachment[at : at + _ATTACHMENT_LIMIT] for at in starts]
            params = {**params, "chunks": len(chunks)}
            attachment = b""
        message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
        self._send(message, attachment)
        for number, piece in enumerate(chunks):
            params = {"of": request_id, "n": number}
            self._send({"jsonrpc": "2.0", "method": "chunk", "params": params}, piece)

    def _send(self, message: Json, attachment: bytes) -> None:
        text = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
        if len(text) > _JSON_LIMIT:
            raise GloveboxError("rpc.too_large", "the message does not fit into a frame; use an attachment")
        try:
            self._socket.sendall(_HEADER.pack(len(text), len(attachment)) + text + attachment)
        except OSError as error:
            raise Disconnected("api.disconnected", f"the daemon went away: {error}") from error

    def _receive(self) -> Tuple[Json, bytes]:
        json_size, attachment_size = _HEADER.unpack(self._read(_HEADER.size))
        if json_size > _JSON_LIMIT or attachment_size > _ATTACHMENT_LIMIT:
            raise Disconnected("rpc.invalid", "the daemon broke the frame format")
        message: Json = json.loads(self._read(json_size))
        return message, self._read(attachment_size)

    def _read(self, size: int) -> bytes:
        pieces = bytearray()
        while len(pieces) < size:
            try:
                piece = self._socket.recv(min(size - len(pieces), 1 << 20))
            except (OSError, ValueError) as error:
                raise Disconnected("api.disconnected", f"the daemon went away: {error}") from error
            if not piece:
                raise Disconnected("api.disconnected", "the daemon went away before it answered")
            pieces += piece
        return bytes(pieces)

    def shut(self) -> None:
        """Ends a wait in another thread."""
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def _error(error: Json) -> GloveboxError:
    data = error.get("data") or {}
    return GloveboxError(data.get("code", "rpc.failed"), error.get("message", ""), data.get("data"))
