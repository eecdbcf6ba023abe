# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Ways from outside to a port or a socket inside."""

from __future__ import annotations

import os
import socket
import stat
import threading
from collections.abc import Iterator

import pytest
from box_process import PYTHON, BoxProcess, BoxRefused

pytestmark = pytest.mark.as_user

ECHO = """
import os, socket, socketserver, sys
class Echo(socketserver.StreamRequestHandler):
    def handle(self):
        self.wfile.write(b"hello ")
        while piece := self.request.recv(65536):
            self.request.sendall(piece)
        self.wfile.write(b" bye")
class Tcp(socketserver.ThreadingTCPServer):
    request_queue_size = 64
server = (Tcp(("127.0.0.1", 4000), Echo) if sys.argv[1] == "tcp"
          else socketserver.ThreadingUnixStreamServer("/tmp/echo.sock", Echo))
server.daemon_threads = True
print("listening", flush=True)
server.serve_forever()
"""


@pytest.fixture(scope="module")
def echo(box: BoxProcess) -> Iterator[BoxProcess]:
    for kind in ("tcp", "unix"):
        command = box.link.exec(PYTHON, "-c", ECHO, kind)
        box.link.next("box.output", lambda params, command=command: params["command"] == command)
    yield box


def whole(connection: socket.socket, sent: bytes) -> bytes:
    """What comes back for what is sent, both to their ends."""
    def send() -> None:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)

    sender = threading.Thread(target=send)
    sender.start()
    got = bytearray()
    while piece := connection.recv(1 << 16):
        got += piece
    sender.join()
    connection.close()
    return bytes(got)


def connect(port: dict) -> socket.socket:
    if "host" in port:
        return socket.create_connection((port["host"], port["port"]), 20)
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(20)
    connection.connect(port["socket"])
    return connection


@pytest.mark.parametrize("asked", [{"port": 4000}, {"path": "/tmp/echo.sock"}, {"port": 4000, "tcp": True}])
def test_bytes_go_both_ways_to_their_ends(echo: BoxProcess, asked: dict) -> None:
    port = echo.link.call("box.port", **asked)
    data = os.urandom(5 << 20)
    assert whole(connect(port), data) == b"hello " + data + b" bye"
    several = [connect(port) for _ in range(20)]
    assert [whole(connection, b"x") for connection in several] == [b"hello x bye"] * 20
    if "socket" in port:
        assert stat.S_IMODE(os.stat(port["socket"]).st_mode) & 0o077 == 0
        assert stat.S_IMODE(os.stat(os.path.dirname(port["socket"])).st_mode) == 0o700
    else:
        assert port["host"] == "127.0.0.1"


def test_ports_are_listed_and_closed(echo: BoxProcess) -> None:
    port = echo.link.call("box.port", port=4000)
    open_connection = connect(port)
    assert open_connection.recv(6) == b"hello "
    assert port["id"] in [item["id"] for item in echo.link.call("box.ports")["ports"]]
    echo.link.call("box.port_close", id=port["id"])
    assert port["id"] not in [item["id"] for item in echo.link.call("box.ports")["ports"]]
    assert open_connection.recv(1) == b"" and not os.path.exists(port["socket"])
    with pytest.raises(BoxRefused) as refused:
        echo.link.call("box.port_close", id=port["id"])
    assert refused.value.code == "sandbox.no_port"


def test_nobody_behind_a_port_is_a_closed_connection(echo: BoxProcess) -> None:
    assert connect(echo.link.call("box.port", port=4999)).recv(1) == b""
    for wrong in ({"port": 0}, {"port": 70000}, {"path": "relative"}, {}):
        with pytest.raises(BoxRefused) as refused:
            echo.link.call("box.port", **wrong)
        assert refused.value.code == "params.range"
