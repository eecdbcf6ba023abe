# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""The way out of a sandbox whose network is a list of hosts. Servers on loopback are the internet here."""

from __future__ import annotations

import http.server
import json
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from box_process import BoxProcess

pytestmark = pytest.mark.as_user


class Server(http.server.ThreadingHTTPServer):
    """Counts who came; /elsewhere redirects."""

    daemon_threads = True

    def __init__(self, family: int = socket.AF_INET, host: str = "127.0.0.1") -> None:
        self.address_family = family
        self.asked: list[str] = []
        self.elsewhere = ""
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked.append(f"{self.headers['Host']} {self.path}")
                redirected = self.path == "/elsewhere"
                body = b"hello from outside"
                self.send_response(302 if redirected else 200)
                if redirected:
                    self.send_header("Location", server.elsewhere)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: Any) -> None: ...

        super().__init__((host, 0), Handler)
        self.port: int = self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()


@pytest.fixture(scope="module")
def listed() -> Iterator[Server]:
    server = Server()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def unlisted() -> Iterator[Server]:
    server = Server()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory, listed: Server) -> Iterator[BoxProcess]:
    hosts = [{"host": "localhost", "port": listed.port, "private": True},
             {"host": "*.sub.invalid", "port": listed.port}]
    process = BoxProcess(tmp_path_factory.mktemp("box"), network={"hosts": hosts})
    yield process
    process.close()


ASK = """
import os, socket, sys, urllib.parse
def ask(head):
    proxy = urllib.parse.urlsplit(os.environ["HTTPS_PROXY"])
    connection = socket.create_connection((proxy.hostname, proxy.port), 20)
    connection.sendall(head)
    connection.settimeout(20)
    said = b""
    while piece := connection.recv(65536):
        said += piece
        is_open = said.startswith(b"HTTP/1.1 200 Connection") and said.endswith(b"\\r\\n\\r\\n")
        if is_open and said.count(b"\\r\\n\\r\\n") == 1 and b"GET" not in head:
            connection.sendall(b"GET /tunnel HTTP/1.1\\r\\nHost: inside\\r\\nConnection: close\\r\\n\\r\\n")
    return said
sys.stdout.write(ask(eval(sys.argv[1])).decode())
"""


def ask(box: BoxProcess, head: bytes) -> str:
    outcome = box.link.follow(box.link.exec("/usr/bin/python3", "-I", "-c", ASK, repr(head)))
    assert outcome["code"] == 0, outcome["stderr"]
    return outcome["stdout"].decode()


def connect(box: BoxProcess, authority: str) -> str:
    return ask(box, f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n".encode("latin-1"))


def test_a_listed_host_is_reached(box: BoxProcess, listed: Server) -> None:
    for name in ("localhost", "LocalHost"):
        answer = connect(box, f"{name}:{listed.port}")
        assert answer.startswith("HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.0 200"), answer
        assert answer.endswith("hello from outside")
    assert "inside /tunnel" in listed.asked
    # What is sent without waiting for the answer goes on as well.
    early = f"CONNECT localhost:{listed.port} HTTP/1.1\r\n\r\nGET /early HTTP/1.0\r\n\r\n"
    assert ask(box, early.encode()).endswith("hello from outside") and any("/early" in line for line in listed.asked)


def test_programs_find_the_way_by_themselves(box: BoxProcess, listed: Server, unlisted: Server) -> None:
    code = "import urllib.request, sys; print(urllib.request.urlopen(sys.argv[1], timeout=20).read().decode())"
    listed.elsewhere = f"http://localhost:{unlisted.port}/secret"

    def fetch(url: str) -> dict[str, Any]:
        return box.link.follow(box.link.exec("/usr/bin/python3", "-I", "-c", code, url))

    good = fetch(f"http://localhost:{listed.port}/plain?a=b")
    assert good["stdout"] == b"hello from outside\n", good["stderr"]
    assert f"localhost:{listed.port} /plain?a=b" in listed.asked
    redirected = fetch(f"http://localhost:{listed.port}/elsewhere")
    assert b"is not on the network list of this sandbox" in redirected["stderr"]
    assert not unlisted.asked
    # The control: the other server is there, and the redirection leads to it.
    with socket.create_connection(("127.0.0.1", unlisted.port), 20) as direct:
        direct.sendall(b"GET /control HTTP/1.0\r\n\r\n")
        assert direct.recv(10)
    assert unlisted.asked == ["None /control"]
    unlisted.asked.clear()


@pytest.mark.parametrize("spelling", [
    "localhost:{other}", "localhost:443", "127.0.0.1:{port}", "127.1:{port}", "2130706433:{port}",
    "0x7f000001:{port}", "0177.0.0.1:{port}", "[::1]:{port}", "[::ffff:127.0.0.1]:{port}",
    "localhost.:{port}", "user@localhost:{port}", "other@localhost:{port}", "localhost:{port}@other:443",
    "localhost%00.sub.invalid:{port}", "localhost\0.sub.invalid:{port}", "localhost\0:{port}", "localhost:0{port}x",
    "localhost", "localhost:", ":{port}", "localhost:{port}:443", "evillocalhost:{port}", "sub.invalid:{port}",
    "evilsub.invalid:{port}", "localhost :{port}", "localhost\t:{port}",
    "l\u00f6calhost:{port}",
])
def test_everything_else_is_refused(box: BoxProcess, listed: Server, unlisted: Server, spelling: str) -> None:
    before = len(listed.asked)
    answer = connect(box, spelling.format(port=listed.port, other=unlisted.port))
    assert answer.startswith(("HTTP/1.1 403 ", "HTTP/1.1 400 ")), answer
    assert len(listed.asked) == before and not unlisted.asked


@pytest.mark.parametrize("head", [
    "GET /plain HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n",
    "GET http://localhost/ HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n",
    "GET http://127.0.0.1:{port}/ HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n",
    "GET http://user@localhost:{port}/ HTTP/1.1\r\n\r\n",
    "GET http://localhost:{port}\\@other/ HTTP/1.1\r\n\r\n",
    "GET https://localhost:{port}/ HTTP/1.1\r\n\r\n", "GET ftp://localhost:{port}/ HTTP/1.1\r\n\r\n",
    "POST http://localhost:{port}/ HTTP/1.1\r\nContent-Length: 1\r\n\r\nx",
    "GET http://localhost:{port}/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "GET http://localhost:{port}/ HTTP/1.1\r\nContent-Length: 4\r\n\r\nabcd",
    "GET http://localhost:{port}/ HTTP/1.1\r\nA: b\nHost: other\r\n\r\n",
    "GET http://localhost:{port}/ HTTP/1.1\r\n folded\r\n\r\n",
    "CONNECT localhost:{port}\r\n\r\n", "CONNECT localhost:{port} HTTP/2.0\r\n\r\n",
    "CONNECT localhost:{port} HTTP/1.1\nHost: x\r\n\r\n", "\x16\x03\x01\r\n\r\n",
])
def test_no_other_request_is_handed_on(box: BoxProcess, listed: Server, head: str) -> None:
    before = len(listed.asked)
    answer = ask(box, head.format(port=listed.port).encode("latin-1"))
    assert answer.startswith(("HTTP/1.1 403 ", "HTTP/1.1 400 ")), answer
    assert len(listed.asked) == before
    assert ask(box, f"GET http://localhost:{listed.port}/ HTTP/1.1\r\n\r\n".encode()).endswith("hello from outside")


def test_a_head_without_end_is_not_kept(box: BoxProcess) -> None:
    assert ask(box, b"CONNECT localhost:1 HTTP/1.1\r\n" + b"A: b\r\n" * 5000).startswith("HTTP/1.1 431 ")


def test_there_is_no_other_way(box: BoxProcess, listed: Server) -> None:
    tries = {"tcp": f"socket.create_connection(('127.0.0.1', {listed.port}), 5)",
             "tcp to others": "socket.create_connection(('192.0.2.1', 443), 5)",
             "udp": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53))",
             "dns": "socket.getaddrinfo('glovebox.invalid', 443)",
             "tcp6": "socket.create_connection(('2001:db8::1', 443), 5)"}
    for name, code in tries.items():
        said = box.link.python(f"import socket\ntry: {code}; print('yes')\nexcept OSError: print('no')")
        assert said["stdout"] == b"no\n", name
    # The control: the same connection from out here.
    socket.create_connection(("127.0.0.1", listed.port), 20).close()
    own = ("import socket\ns = socket.create_server(('127.0.0.1', 0)); "
           "socket.create_connection(s.getsockname()); print('yes')")
    assert box.link.python(own)["stdout"] == b"yes\n"


def test_a_refusal_says_how_to_allow_it_and_is_logged(box: BoxProcess) -> None:
    answer = connect(box, "refused.example:8443")
    assert answer.startswith("HTTP/1.1 403 refused.example:8443 is not on the network list of this sandbox\r\n")
    assert 'add "refused.example:8443" to the sandbox\'s network list' in answer
    connect(box, "refused.example:8443")
    log = (box.box_folder / "start.log").read_text()
    assert log.count("network: refused refused.example:8443: is not on the sandbox's network list\n") == 1


def test_a_private_address_needs_its_own_leave(start: Callable[..., BoxProcess], listed: Server) -> None:
    port = listed.port
    for more, allowed in [([], False), ([{"host": "10.0.0.0/8"}], False), ([{"host": "127.0.0.0/8"}], True)]:
        one = start(network={"hosts": [{"host": "localhost", "port": port}, *more]})
        answer = connect(one, f"localhost:{port}")
        assert answer.startswith("HTTP/1.1 200" if allowed else "HTTP/1.1 403"), answer
        assert allowed or "not a public address" in answer
    literal = start(network={"hosts": [{"host": "127.0.0.1", "port": port}]})
    assert connect(literal, f"127.0.0.1:{port}").startswith("HTTP/1.1 200")
    assert connect(literal, f"localhost:{port}").startswith("HTTP/1.1 403")


def test_without_a_list_there_is_no_way_out(start: Callable[..., BoxProcess]) -> None:
    closed = start()
    assert b"PROXY" not in closed.link.run("env")["stdout"]
    listening = "import os; print(sum(' 0A ' in line for line in open('/proc/net/tcp')))"
    assert closed.link.python(listening)["stdout"] == b"0\n"


def test_the_persons_own_proxy_is_asked(start: Callable[..., BoxProcess], listed: Server) -> None:
    """A proxy in front of everything: it gets CONNECT for tunnels and whole addresses for plain requests."""
    heads: list[str] = []
    upstream = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = upstream.accept()
            except OSError:
                return
            with connection:
                head = b""
                while not head.endswith(b"\r\n\r\n"):
                    head += connection.recv(1)
                heads.append(head.decode())
                if head.startswith(b"CONNECT"):
                    connection.sendall(b"HTTP/1.1 200 fine\r\n\r\n")
                    connection.recv(1000)
                connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nfrom the proxy")

    threading.Thread(target=serve, daemon=True).start()
    network = {"hosts": [{"host": "far.example", "port": 443}, {"host": "far.example", "port": 80},
                         {"host": "localhost", "port": listed.port, "private": True}],
               "upstream": {"host": "127.0.0.1", "port": upstream.getsockname()[1], "credentials": "x:y"},
               "direct": ["localhost"]}
    one = start(network=network)
    assert connect(one, "far.example:443").endswith("from the proxy")
    plain = b"GET http://far.example/a HTTP/1.1\r\nProxy-Authorization: mine\r\n\r\n"
    assert ask(one, plain).endswith("from the proxy")
    assert heads == [
        "CONNECT far.example:443 HTTP/1.1\r\nHost: far.example:443\r\nProxy-Authorization: Basic eDp5\r\n\r\n",
        "GET http://far.example/a HTTP/1.1\r\nHost: far.example\r\nConnection: close\r\n"
        "Proxy-Authorization: Basic eDp5\r\n\r\n"]
    assert connect(one, f"localhost:{listed.port}").endswith("hello from outside")
    assert connect(one, "near.example:443").startswith("HTTP/1.1 403") and len(heads) == 2
    upstream.close()


def take(connection: socket.socket, size: int) -> bytes:
    got = b""
    while len(got) < size:
        got += connection.recv(size - len(got)) or b"?" * size
    return got


def socks_proxy(listener: socket.socket, asked: list[bytes], reply: int) -> None:
    """Speaks RFC 1928 with a password, as far as it is needed here."""
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection:
            asked.append(take(connection, 3))
            connection.sendall(b"\5\2")
            asked.append(take(connection, 2))
            asked[-1] += take(connection, asked[-1][1] + 1)
            asked[-1] += take(connection, asked[-1][-1])
            connection.sendall(b"\1\0")
            head = take(connection, 5)
            asked.append(head + take(connection, head[4] + 2))
            connection.sendall(bytes([5, reply, 0, 3, 4]) + b"here" + b"\0\1")
            if reply == 0:
                connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nthrough socks")
                connection.recv(1000)


@pytest.mark.parametrize("reply", [0, 4])
def test_a_socks_proxy_is_asked_by_name(start: Callable[..., BoxProcess], reply: int) -> None:
    asked: list[bytes] = []
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=socks_proxy, args=(listener, asked, reply), daemon=True).start()
    one = start(network={"hosts": [{"host": "far.example", "port": 443}],
                         "upstream": {"kind": "socks5", "host": "127.0.0.1", "port": listener.getsockname()[1],
                                      "credentials": "me:secret"}})
    said = connect(one, "far.example:443")
    assert said.endswith("through socks") if reply == 0 else said.startswith("HTTP/1.1 502") and "SOCKS 4" in said
    assert asked == [b"\5\1\2", b"\1\2me\6secret", b"\5\1\0\3\x0bfar.example\1\xbb"]
    listener.close()


def test_a_proxy_of_another_kind_is_named(start: Callable[..., BoxProcess], listed: Server) -> None:
    hosts = [{"host": "far.example", "port": 443}, {"host": "localhost", "port": listed.port, "private": True}]
    one = start(network={"hosts": hosts, "upstream": {"refused": "HTTPS_PROXY names one"}, "direct": ["localhost"]})
    said = connect(one, "far.example:443")
    assert said.startswith("HTTP/1.1 502") and "HTTPS_PROXY names one" in said
    assert connect(one, f"localhost:{listed.port}").endswith("hello from outside")


def test_bytes_are_carried_whole_and_many_at_once(start: Callable[..., BoxProcess]) -> None:
    echo = socket.create_server(("127.0.0.1", 0), backlog=128)

    def serve() -> None:
        while True:
            try:
                connection, _ = echo.accept()
            except OSError:
                return
            threading.Thread(target=mirror, args=(connection,), daemon=True).start()

    def mirror(connection: socket.socket) -> None:
        with connection:
            while piece := connection.recv(1 << 16):
                connection.sendall(piece)

    threading.Thread(target=serve, daemon=True).start()
    port = echo.getsockname()[1]
    one = start(network={"hosts": [{"host": "127.0.0.1", "port": port}]})
    code = f"""
import json, os, socket, threading, urllib.parse
proxy = urllib.parse.urlsplit(os.environ["HTTPS_PROXY"])
data = os.urandom(1 << 20)
good = []
def one():
    s = socket.create_connection((proxy.hostname, proxy.port), 30)
    s.sendall(b"CONNECT 127.0.0.1:{port} HTTP/1.1\\r\\n\\r\\n")
    head = b""
    while not head.endswith(b"\\r\\n\\r\\n"): head += s.recv(1)
    threading.Thread(target=lambda: (s.sendall(data), s.shutdown(socket.SHUT_WR))).start()
    got = bytearray()
    while piece := s.recv(65536): got += piece
    good.append(got == data)
threads = [threading.Thread(target=one) for _ in range(24)]
[t.start() for t in threads]; [t.join() for t in threads]
print(json.dumps(good))
"""
    outcome = one.link.python(code)
    assert json.loads(outcome["stdout"] or b"[]") == [True] * 24, outcome["stderr"]
    echo.close()
