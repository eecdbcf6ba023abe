# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Frames of the worker link: two big-endian lengths, a JSON object, raw bytes, descriptors beside them."""

from __future__ import annotations

import array
import json
import socket
import struct
import threading
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

MAX_JSON = 1 << 20
MAX_ATTACHMENT = 1 << 30
# A block this small costs the allocator nothing; what is longer goes straight into its own.
_FIRST_READ = 4096

Bytes = Union[bytes, bytearray, memoryview]
Frame = Tuple[Dict[str, Any], bytes]

_LENGTHS = struct.Struct(">II")


def make_decode(decoder: json.JSONDecoder) -> Callable[[str], Any]:
    """``decoder.decode`` without its search for space around the value, of which the keeper writes none."""
    scan, decode = decoder.scan_once, decoder.decode

    def quick(text: str) -> Any:
        try:
            value, end = scan(text, 0)
        except StopIteration:
            return decode(text)
        return value if end == len(text) else decode(text)

    return quick


_decode = make_decode(json.JSONDecoder())
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


class LinkError(Exception):
    """The other end broke the format."""


def encode_header(header: Dict[str, Any]) -> bytes:
    # Messages of exceptions may hold lone surrogates, which UTF-8 cannot.
    return _encode(header).encode("utf-8", "replace")


class Link:
    """One end of the socket pair. One thread reads at a time; any thread that cannot be interrupted may send."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.closed = False
        self._rest = b""
        self._lock = threading.Lock()
        self._recv = sock.recv
        self._sendmsg = sock.sendmsg

    def fileno(self) -> int:
        return self.sock.fileno()

    def has_rest(self) -> bool:
        """Whether bytes lie here that poll() on the socket would not tell of."""
        return bool(self._rest)

    def read(self) -> Optional[Frame]:
        """The next frame, or None at the end of the link."""
        data = self._rest or self._recv(_FIRST_READ)
        while len(data) < 8:
            more = self._recv(_FIRST_READ)
            if not more:
                return None
            data += more
        json_size, attachment_size = _LENGTHS.unpack_from(data)
        if json_size > MAX_JSON or attachment_size > MAX_ATTACHMENT:
            raise LinkError(f"a frame of {json_size} + {attachment_size} bytes")
        middle = 8 + json_size
        end = middle + attachment_size
        if len(data) < end:
            data = self._read_until(data, end)
            if data is None:
                return None
        self._rest = data[end:]
        header = _decode(data[8:middle].decode("utf-8"))
        if type(header) is not dict:
            raise LinkError("a frame without an object")
        return header, data[middle:end]

    def _read_until(self, start: bytes, size: int) -> Optional[bytes]:
        whole = bytearray(size)
        whole[: len(start)] = start
        view = memoryview(whole)[len(start) :]
        while view:
            count = self.sock.recv_into(view)
            if count == 0:
                return None
            view = view[count:]
        return bytes(whole)

    def send(self, header: Dict[str, Any], attachment: Bytes = b"", fds: Optional[List[int]] = None) -> None:
        self.send_raw(encode_header(header), attachment, fds)

    def send_raw(self, header: bytes, attachment: Bytes = b"", fds: Optional[List[int]] = None) -> None:
        """Must not be called where an asynchronous exception can arrive: it could cut a frame in two."""
        if self.closed:
            return
        lengths = _LENGTHS.pack(len(header), len(attachment))
        total = 8 + len(header) + len(attachment)
        with self._lock:
            if fds:
                rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))]
                sent = self._sendmsg([lengths, header, attachment], rights)
            else:
                sent = self._sendmsg([lengths, header, attachment])
            if sent < total:
                whole = b"".join((lengths, header, attachment))
                self.sock.sendall(memoryview(whole)[sent:])

    def forget(self) -> None:
        """In a forked child: the link belongs to the parent, whose end must show when the parent dies."""
        self.closed = True
        self._lock = threading.Lock()
        self.sock.close()
