# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""What must not get through the HTTP front. Every refusal stands beside the same request in its good form."""

from __future__ import annotations

import gzip
import http.client
import json
import os
import random
import socket
import time
from collections.abc import Callable

import pytest
from host_process import HostProcess, read_answer, status_of

BODY = b'{"fn":"add","args":[1]}'


def post(host: HostProcess, body: bytes = BODY, path: str = "/v1/calls", **fields: str | None) -> int:
    return status_of(host.raw(host.head(path=path, Content_Length=str(len(body)), **fields) + body))


def test_the_good_request(host: HostProcess) -> None:
    assert post(host) == 200


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"Authorization": None}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": "Basic d3Jvbmc="}, 401),
        ({"Host": "evil.example"}, 403),
        ({"Host": "127.0.0.1.evil.example:{port}"}, 403),
        ({"Host": "127.0.0.1"}, 403),
        ({"Host": None}, 403),
        ({"Host": "localhost:{port}"}, 200),
        ({"Host": "[::1]:{port}"}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:{port}"}, 403),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": None}, 415),
        ({"Content-Type": "application/json; charset=utf-8"}, 200),
        ({"Content-Encoding": "gzip"}, 415),
    ],
)
def test_heads(host: HostProcess, fields: dict[str, str | None], status: int) -> None:
    filled = {key: value and value.format(port=host.port) for key, value in fields.items()}
    assert post(host, **filled) == status


def test_nobody_outside_this_machine(host: HostProcess) -> None:
    """It listens on 127.0.0.1, not on every address."""
    listening = []
    for table, loopback in (("/proc/net/tcp", "0100007F"), ("/proc/net/tcp6", "")):
        for line in open(table).read().splitlines()[1:] if os.path.exists(table) else []:
            address, port = line.split()[1].split(":")
            if line.split()[3] == "0A" and int(port, 16) == host.port:
                listening.append(address == loopback)
    assert listening == [True]
    # Any other address of ours, which 127.0.0.2 always is, finds nobody; the first is the control.
    socket.create_connection(("127.0.0.1", host.port), timeout=10).close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", host.port), timeout=10)


def test_allowed_origin(start: Callable[..., HostProcess]) -> None:
    host = start(origins=["http://good.example"])
    assert post(host, Origin="http://good.example") == 200
    assert post(host, Origin="http://evil.example") == 403


def test_a_token_in_the_address_is_refused(host: HostProcess) -> None:
    assert post(host, path=f"/v1/calls?token={host.token}", Authorization=None) == 400
    assert post(host, path=f"/v1/calls?token={host.token}") == 400
    assert post(host, path="/v1/calls?x=1") == 200
    assert post(host, path=f"/compat/{host.token}/", Authorization=None) == 401  # not made for addresses
    secret = host.ready["compat_url"].rstrip("/").rsplit("/", 1)[1]
    assert post(host, path=f"/compat/{secret}/", Authorization=None) == 200
    assert post(host, path=f"/compat/{secret}/v1/calls", Authorization=None) == 404
    assert post(host, Authorization=f"Bearer {secret}") == 401


def test_no_cors(host: HostProcess) -> None:
    answer = host.raw(host.head("OPTIONS", Origin="http://evil.example"))
    assert status_of(answer) == 403 and b"access-control" not in answer.lower()
    assert b"access-control" not in host.raw(host.head("GET", "/v1/health")).lower()


@pytest.mark.parametrize(
    "name",
    ["__class__", "os.system", "add.__globals__", "", "add\u200b", "\uff41dd", "add ", "x" * 1_000_000, "expose"],
)
def test_names(host: HostProcess, name: str) -> None:
    assert post(host, json.dumps({"fn": name, "args": [1]}).encode()) == 404


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"[]", 400),
        (b"null", 400),
        (b'{"fn":"add","args":[1]', 400),
        (b'{"fn":"add","args":[1]} {}', 400),
        (b'{"fn":"add","fn":"fails","args":[1]}', 400),
        (b'{"fn":"add","args":[1],"\\u0061rgs":[2]}', 400),
        (b'{"fn":"echo","args":[{"a":1,"a":2}]}', 400),
        (b'{"fn":"echo","args":[{"a":1,"b":2}]}', 200),
        (b'{"fn":"add","args":{"a":1}}', 400),
        (b'{"fn":"add","kwargs":[1]}', 400),
        (b'{"fn":7,"args":[1]}', 400),
        (b'{"fn":"add","args":[1],"caller":{"kind":"person"}}', 400),
        (b'{"fn":"echo","args":["\xff"]}', 400),
        (b'{"fn":"echo","args":["\\ud800"]}', 400),
        (b'{"fn":"echo","args":["\\ud83d\\ude00"]}', 200),
        (b'{"fn":"echo","args":[NaN]}', 400),
        (b'{"fn":"echo","args":[01]}', 400),
        (b'{"fn":"echo","args":[' + b"9" * 5000 + b"]}", 400),
        (b'{"fn":"echo","args":[' + b"9" * 3000 + b"]}", 200),
        (b'{"fn":"echo","args":[' + b"[" * 100000 + b"]" * 100000 + b"]}", 400),
        (b'{"fn":"echo","args":[' + b"[" * 40 + b"]" * 40 + b"]}", 200),
        (b'{"fn":"echo","args":[{' + b",".join(b'"%d":1' % i for i in range(5000)) + b"}]}", 400),
    ],
)
def test_bodies(host: HostProcess, body: bytes, status: int) -> None:
    assert post(host, body) == status


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [([], {}), ([1, 2, 3], {}), ([1], {"c": 1}), (["1"], {}), ([1], {"a": 2}), ([1], {"__class__": 1}), ([1.5], {})],
)
def test_arguments(host: HostProcess, args: list, kwargs: dict) -> None:
    answer = host.call("add", *args, **kwargs)
    assert answer["ok"] is False and answer["error"]["kind"] == "bad_arguments"


def test_text_is_never_evaluated(host: HostProcess, tmp_path) -> None:
    mark = tmp_path / "evaluated"
    for text in (f"__import__('os').system('touch {mark}')", f"!!python/object/apply:os.system ['touch {mark}']"):
        assert host.result("echo", text) == text
        assert host.call("add", text)["ok"] is False
    assert not mark.exists()


def test_limits_before_reading(start: Callable[..., HostProcess]) -> None:
    host = start(limits={"body_bytes": 100_000, "header_bytes": 4096})
    assert post(host, b'{"fn":"echo","args":["' + b"x" * 90_000 + b'"]}') == 200
    # Nothing of the body is sent: the answer cannot have waited for it.
    assert status_of(host.raw(host.head(Content_Length="200000"))) == 413
    assert status_of(host.raw(host.head(Content_Length="200000", Expect="100-continue"))) == 413
    good = host.raw(host.head(Content_Length=str(len(BODY)), Expect="100-continue") + BODY)
    assert good.startswith(b"HTTP/1.1 100") and b"HTTP/1.1 200" in good
    chunked = host.head(Transfer_Encoding="chunked") + b"%x\r\n" % len(BODY) + BODY + b"\r\n0\r\n\r\n"
    assert status_of(host.raw(chunked)) == 200
    endless = host.head(Transfer_Encoding="chunked") + (b"8000\r\n" + b" " * 0x8000 + b"\r\n") * 5
    assert status_of(host.raw(endless)) == 413
    assert status_of(host.raw(host.head(X_Long="x" * 10_000))) == 431
    bomb = gzip.compress(b" " * 50_000_000)
    assert post(host, bomb[:90_000], Content_Encoding="gzip") == 415


def test_two_lengths_are_refused(host: HostProcess) -> None:
    smuggled = b"0\r\n\r\nGET /v1/health HTTP/1.1\r\n\r\n"
    for extra in ({"Transfer_Encoding": "chunked"}, {}):
        head = host.head(Content_Length=str(len(smuggled)), **extra)
        if not extra:
            head = head[:-2] + b"Content-Length: 3\r\n\r\n"
        answer = host.raw(head + smuggled)
        assert status_of(answer) == 400 and answer.count(b"HTTP/1.1") == 1


def test_slow_clients_are_dropped(start: Callable[..., HostProcess]) -> None:
    host = start(limits={"header_ms": 600, "body_ms": 600, "idle_ms": 600, "connections": 8})
    slow = []
    for part in (b"POST /v1/calls HT", host.head(Content_Length="100") + b"{"):
        sock = socket.create_connection(("127.0.0.1", host.port), timeout=10)
        sock.sendall(part)
        slow.append(sock)
    end = time.monotonic() + 5
    dripping = socket.create_connection(("127.0.0.1", host.port), timeout=10)
    dripped = False
    while time.monotonic() < end:
        try:
            dripping.sendall(b"G")
        except OSError:
            dripped = True
            break
        time.sleep(0.1)
    assert dripped
    assert [status_of(read_answer(sock)) for sock in slow] == [408, 408]
    # A call that takes longer than every limit of the connection is not slow.
    assert host.result("spin", 1.5) == 1.5


@pytest.mark.parametrize("pause", [0, 0.05])
def test_a_half_sent_request_ends_with_its_client(start: Callable[..., HostProcess], pause: float) -> None:
    """Not with the time limit: whoever hangs up in the middle must not hold a connection."""
    host = start(limits={"header_ms": 120_000, "body_ms": 120_000, "idle_ms": 120_000})
    whole = host.head(Content_Length=str(len(BODY))) + BODY
    for size in (10, len(whole) - len(BODY), len(whole) - 3):
        with socket.create_connection(("127.0.0.1", host.port), timeout=30) as sock:
            sock.sendall(whole[:size])
            time.sleep(pause)
            sock.shutdown(socket.SHUT_WR)
            assert sock.recv(1000) == b""
    assert status_of(host.raw(whole)) == 200  # the control


def test_many_connections(start: Callable[..., HostProcess]) -> None:
    host = start(limits={"connections": 5})
    held = [socket.create_connection(("127.0.0.1", host.port), timeout=10) for _ in range(5)]
    host.wait(lambda: _refused(host))
    for sock in held:
        sock.close()
    host.wait(lambda: not _refused(host))


def _refused(host: HostProcess) -> bool:
    try:
        return host.request("GET", "/v1/health")[0] != 200
    except (OSError, http.client.HTTPException):
        return True


def test_nothing_else_is_served(host: HostProcess) -> None:
    for path in ("/../../etc/passwd", "/v1/../v1/health", "/%2e%2e/", "/v1", "/v1/calls/..%2f", "//"):
        assert host.request("GET", path)[0] == 404
    assert host.request("GET", "/v1/health")[0] == 200
    assert host.request("DELETE", "/v1/calls")[0] == 405
    assert status_of(host.raw(b"GET http://127.0.0.1/ HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % host.port)) == 400


def test_secrets_stay_out_of_argv_and_records(start: Callable[..., HostProcess]) -> None:
    source = "import os\n@expose\ndef length():\n    return len(os.environ['MY_SECRET'])\n"
    host = start(source, env={"MY_SECRET": "correct-horse-battery"})
    assert host.result("length") == 21
    for pid in (host.process.pid, *_children(host.process.pid)):
        line = open(f"/proc/{pid}/cmdline", "rb").read()
        assert b"correct-horse" not in line and host.token.encode() not in line
    everything = b"".join(p.read_bytes() for p in host.spool.iterdir()) + (host.folder / "host.log").read_bytes()
    assert b"length" in everything
    assert b"correct-horse" not in everything and host.token.encode() not in everything
    assert os.stat(host.ready["token_file"]).st_mode & 0o777 == 0o600
    assert os.stat(host.ready["control"]).st_mode & 0o777 == 0o600


def _children(pid: int) -> list[int]:
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(child) for child in file.read().split()]


def test_fuzzed_requests(host: HostProcess) -> None:
    """Broken requests of every kind; longer with GB_FUZZ_SECONDS."""
    seed = int(os.environ.get("GB_FUZZ_SEED", "1"))
    rng = random.Random(seed)
    good = host.head(Content_Length=str(len(BODY))) + BODY
    end = time.monotonic() + float(os.environ.get("GB_FUZZ_SECONDS", "4"))
    statuses = set()
    while time.monotonic() < end:
        data = bytearray(good)
        for _ in range(rng.randint(1, 6)):
            at = rng.randrange(len(data))
            kind = rng.randrange(4)
            if kind == 0:
                data[at] = rng.randrange(256)
            elif kind == 1:
                del data[at : at + rng.randint(1, 30)]
            elif kind == 2:
                data[at:at] = rng.choice([b"\r\n", b"\x00", b": ", b"{", b'"', b"\xff" * 9, b"chunked", b"-1"])
            else:
                data[at:at] = data[at : at + rng.randint(1, 60)]
        statuses.add(status_of(host.raw(bytes(data), timeout=0.02, close=True)))
    assert host.process.poll() is None, f"seed {seed}"
    assert host.result("add", 1) == 2, f"seed {seed}"
    assert {400, 401} <= statuses
