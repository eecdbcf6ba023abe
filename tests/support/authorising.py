# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""A relay that adds a host's token, for test programs that cannot send one."""

from __future__ import annotations

import socket
import threading


class AuthorisingRelay:
    def __init__(self, port: int, token: str) -> None:
        self.target = port
        self.token = token
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            piece = client.recv(65536)
            if not piece:
                client.close()
                return
            head += piece
        lines, _, rest = head.partition(b"\r\n\r\n")
        kept = [line for line in lines.split(b"\r\n") if not line.lower().startswith(b"connection:")]
        # Only the relay's own names are exchanged, so that the host still sees a foreign one.
        port = f":{self.port}".encode()
        kept = [line.replace(port, f":{self.target}".encode()) if line.lower().startswith(b"host:")
                else line.replace(port, b"") if line.lower().startswith(b"origin:") else line for line in kept]
        kept += [b"Authorization: Bearer " + self.token.encode(), b"Connection: close"]
        with socket.create_connection(("127.0.0.1", self.target)) as server, client:
            server.sendall(b"\r\n".join(kept) + b"\r\n\r\n" + rest)
            upward = threading.Thread(target=self._pump, args=(client, server), daemon=True)
            upward.start()
            self._pump(server, client)

    @staticmethod
    def _pump(source: socket.socket, sink: socket.socket) -> None:
        try:
            while True:
                data = source.recv(65536)
                if not data:
                    break
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self) -> None:
        self.listener.close()
