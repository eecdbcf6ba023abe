# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Costs of a call through the interface host, against three baselines written here.

    ./run bench rpc [--json]

Client and servers share one core ("pinned") or not; the figures are ratios of medians of GB_BENCH_ROUNDS rounds
within this one run. FastAPI and torch figures are null where those are not installed.
"""

from __future__ import annotations

import argparse
import array
import base64
import http.server
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
ROUNDS = int(os.environ.get("GB_BENCH_ROUNDS", "5"))
CALLS = 2000
OWN = "application/vnd.glovebox+json"

INTERFACE = """
import array, ctypes, time

@expose
def add(a: int, b: int) -> int:
    return a + b

@expose
def floats():
    return VALUES

@expose
def spin(seconds: float):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass

@expose
def stuck(seconds: float):
    ctypes.CDLL(None).sleep(int(seconds))

VALUES = [i * 1.000001 for i in range(1_000_000)]
"""
ARRAYS = """
import numpy as np
DATA = np.array(VALUES, dtype=np.float32)

@expose(tensors="binary")
def array():
    return DATA

@expose(tensors="binary")
def matrix():
    return np.random.default_rng(1).standard_normal((10_000, 10_000), dtype=np.float32)
"""


class StdlibBaseline(http.server.BaseHTTPRequestHandler):
    """What one writes in ten minutes: a JSON body in, a JSON body out, a connection per call."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        result = VALUES if body["fn"] == "floats" else sum(body["args"])
        text = json.dumps({"ok": True, "result": result}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: Any) -> None:
        pass


VALUES: list[float] = []


def serve_stdlib() -> None:
    global VALUES
    VALUES = [i * 1.000001 for i in range(1_000_000)]
    server = http.server.HTTPServer(("127.0.0.1", 0), StdlibBaseline)
    print(server.server_port, flush=True)
    server.serve_forever()


def serve_fastapi() -> None:
    import uvicorn
    from fastapi import FastAPI, Request

    app = FastAPI()

    @app.post("/")
    async def call(request: Request) -> dict[str, Any]:
        body = await request.json()
        return {"ok": True, "result": sum(body["args"])}

    # Named in full: asyncio turns Nagle off only for a socket that says it is TCP.
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.bind(("127.0.0.1", 0))
    print(sock.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False, timeout_keep_alive=600)).run([sock])


class Keep:
    """The client of the generated library in short: one connection, no delay, standard library."""

    def __init__(self, port: int, token: str = "", path: str = "/") -> None:
        self.sock = socket.create_connection(("127.0.0.1", port))
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.head = (
            f"Host: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
        ).encode()
        self.path = path

    def request(self, method: str, path: str, body: bytes = b"", extra: bytes = b"") -> bytes:
        self.sock.sendall(
            b"%s %s HTTP/1.1\r\n%s%sContent-Length: %d\r\n\r\n%s"
            % (method.encode(), path.encode(), self.head, extra, len(body), body)
        )
        data = self.sock.recv(65536)
        at = data.find(b"\r\n\r\n") + 4
        while at < 4:
            part = self.sock.recv(65536)
            if not part:
                raise ConnectionError("the server closed the connection")
            data += part
            at = data.find(b"\r\n\r\n") + 4
        mark = data.lower().find(b"content-length: ") + 16
        size = int(data[mark : data.find(b"\r", mark)])
        if len(data) - at >= size:
            return data[at:]
        whole = bytearray(size)
        whole[: len(data) - at] = data[at:]
        view = memoryview(whole)[len(data) - at :]
        while view:
            view = view[self.sock.recv_into(view) :]
        return bytes(whole)

    def call(self, fn: str, *args: Any) -> Any:
        return json.loads(
            self.request("POST", self.path, json.dumps({"fn": fn, "args": args, "kwargs": {}}).encode())
        )


    def floats(self, fn: str) -> Any:
        """As the generated library asks for a result and reads the long lists of numbers in it."""
        accept = b"Accept: application/vnd.glovebox+json, application/vnd.glovebox.floats+json\r\n"
        return json.loads(self.request("POST", "/v1/calls", b'{"fn":"%s"}' % fn.encode(), accept),
                          object_hook=revive)["result"]


def revive(value: dict[str, Any]) -> Any:
    if value.get("$gb") != "floats":
        return value
    return array.array("d", base64.b64decode(value["v"])).tolist()


def start(*words: Any) -> tuple[subprocess.Popen[bytes], int]:
    child = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE)
    assert child.stdout
    return child, int(child.stdout.readline())


def seconds(run: Callable[[], Any], count: int = 1) -> float:
    began = time.perf_counter()
    for _ in range(count):
        run()
    return (time.perf_counter() - began) / count


def pin(core: int | None) -> None:
    os.sched_setaffinity(0, {core} if core is not None else CORES)


CORES = os.sched_getaffinity(0)


class Bench:
    def __init__(self, bin_folder: Path) -> None:
        os.environ["GB_BIN"] = str(bin_folder)
        from host_process import HostProcess

        self.bin = bin_folder
        self.make_host = HostProcess
        self.children: list[subprocess.Popen[bytes]] = []
        self.figures: dict[str, Any] = {}
        self.folder = tempfile.TemporaryDirectory()

    def figure(self, name: str, value: float | None, unit: str, goal: str, baseline: str) -> None:
        limit = float(goal.split()[1])
        met = None if value is None else (value >= limit if goal.startswith("≥") else value <= limit)
        shown = None if value is None else round(value, 4)
        self.figures[name] = {"value": shown, "unit": unit, "goal": goal, "met": met, "baseline": baseline}

    def note(self, name: str, value: float, unit: str) -> None:
        self.figures[name] = {"value": round(value, 2), "unit": unit, "goal": None, "met": None, "baseline": ""}

    def servers(self) -> None:
        """All started pinned or not as this process is, since children inherit it."""
        folder = Path(tempfile.mkdtemp(dir=self.folder.name))
        try:
            import numpy  # noqa: F401

            self.numpy = True
        except ImportError:
            self.numpy = False
        self.host = self.make_host(folder, INTERFACE + (ARRAYS if self.numpy else ""))
        self.keep = Keep(self.host.port, self.host.token)
        child, self.stdlib_port = start(sys.executable, __file__, "--serve", "stdlib")
        self.children.append(child)
        child, fixed = start(self.bin / "gb_fixed_reply")
        self.children.append(child)
        self.fixed = Keep(fixed)
        self.fastapi = None
        if subprocess.run([sys.executable, "-c", "import fastapi, uvicorn"], capture_output=True).returncode == 0:
            child, port = start(sys.executable, __file__, "--serve", "fastapi")
            self.children.append(child)
            end = time.monotonic() + 20
            while self.fastapi is None and time.monotonic() < end:
                try:
                    self.fastapi = Keep(port)
                except OSError:
                    time.sleep(0.05)

    def stop(self) -> None:
        self.host.close()
        for child in self.children:
            child.terminate()
            child.wait()
        self.children = []

    def stdlib_call(self, fn: str, *args: Any) -> Any:
        import requests

        return requests.post(f"http://127.0.0.1:{self.stdlib_port}/", json={"fn": fn, "args": args}).json()

    def calls(self) -> dict[str, float]:
        body = json.dumps({"fn": "add", "args": [40, 2], "kwargs": {}}).encode()
        ways: dict[str, tuple[Callable[[], Any], int]] = {
            "ours": (lambda: self.keep.call("add", 40, 2), CALLS),
            "ours_raw": (lambda: self.keep.request("POST", "/", body), CALLS),
            "fixed_raw": (lambda: self.fixed.request("POST", "/", body), CALLS),
            "stdlib": (lambda: self.stdlib_call("add", 40, 2), 200),
        }
        if self.fastapi:
            ways["fastapi_raw"] = (lambda: self.fastapi.request("POST", "/", body), CALLS // 2)
        times: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(ROUNDS):
            for name, (run, count) in ways.items():
                seconds(run, 20)
                times[name].append(seconds(run, count) * 1e6)
        return {name: statistics.median(values) for name, values in times.items()}

    def measure_calls(self) -> None:
        pinned = self.calls()
        base = "pinned to one core, in µs: " + ", ".join(f"{name} {value:.1f}" for name, value in pinned.items())
        self.figure("call_speedup", pinned["stdlib"] / pinned["ours"], "×", "≥ 12", base)
        self.figure("server_vs_fixed", pinned["ours_raw"] / pinned["fixed_raw"], "×", "≤ 3.2", base)
        fastapi = pinned.get("fastapi_raw")
        self.figure("server_vs_fastapi", pinned["ours_raw"] / fastapi if fastapi else None, "×", "≤ 0.5", base)

    def measure_floats(self) -> None:
        import requests

        rounds = max(1, min(3, ROUNDS))
        median = lambda run: statistics.median(seconds(run) for _ in range(rounds))  # noqa: E731
        stdlib = median(lambda: self.stdlib_call("floats"))
        ours = median(lambda: self.keep.floats("floats"))
        base = f"http.server and requests {stdlib * 1e3:.0f} ms; ours {ours * 1e3:.0f} ms"
        self.figure("floats_list_speedup", stdlib / ours, "×", "≥ 2.5", base)
        as_json = binary = None
        as_json_base = base
        if self.numpy:
            import numpy

            as_json = median(lambda: self.keep.call("array"))
            reply = self.keep.request("POST", self.keep.path, b'{"fn":"array","args":[],"kwargs":{}}')
            parse = median(lambda: json.loads(reply))
            as_json_base += f"; of {as_json * 1e3:.0f} ms the client's json.loads takes {parse * 1e3:.0f} ms"

            def fetch() -> Any:
                form = json.loads(
                    self.keep.request(
                        "POST", "/v1/calls", b'{"fn":"array"}', b"Accept: application/vnd.glovebox+json\r\n"
                    )
                )["result"]
                data = self.keep.request("GET", f"/v1/tensors/{form['handle']}")
                return numpy.frombuffer(data, numpy.float32, offset=8 + int.from_bytes(data[:8], "little"))

            binary = median(fetch)
        self.figure("floats_json_f32_speedup", stdlib / as_json if as_json else None, "×", "≥ 6", as_json_base)
        self.figure("floats_binary_speedup", stdlib / binary if binary else None, "×", "≥ 100", base)
        del requests

    def measure_health(self) -> None:
        body = json.dumps({"fn": "spin", "args": [4.0]}).encode()
        spinning = Keep(self.host.port, self.host.token)
        thread = threading.Thread(target=lambda: spinning.request("POST", "/", body))
        thread.start()
        time.sleep(0.2)
        waiting = Keep(self.host.port, self.host.token)
        times: dict[str, list[float]] = {"health": [], "list": [], "cancel": []}
        end = time.monotonic() + 3
        while time.monotonic() < end:
            path = self.waiting_call(waiting)
            for name, request in {
                "health": ("GET", "/v1/health"),
                "list": ("GET", "/"),
                "cancel": ("POST", f"{path}/cancel", b"{}"),
            }.items():
                began = time.perf_counter()
                answer = self.keep.request(*request)
                times[name].append((time.perf_counter() - began) * 1e3)
            assert json.loads(answer)["found"], answer
            assert b"cancelled" in waiting.sock.recv(65536)
            time.sleep(0.001)
        thread.join()
        for name, values in times.items():
            values.sort()
            base = (
                f"one Python thread spins, not pinned; {len(values)} times, median {statistics.median(values):.3f} ms"
            )
            self.figure(f"{name}_p99_ms", values[int(len(values) * 0.99)], "ms", "≤ 1", base)

    def waiting_call(self, client: Keep) -> str:
        """Where a call is found that waits behind the one that runs."""
        call = f"018f0000-0000-7000-9000-{time.time_ns() % 10**12:012d}"
        body = json.dumps({"fn": "add", "args": [1, 2], "id": call}).encode()
        head = b"POST /v1/calls HTTP/1.1\r\n%sContent-Length: %d\r\n\r\n" % (client.head, len(body))
        client.sock.sendall(head + body)
        while b'"queued"' not in self.keep.request("GET", f"/v1/calls/{call}"):
            pass
        return f"/v1/calls/{call}"

    def cancel_time(self, fn: str, force: bool) -> float:
        call = f"018f0000-0000-7000-8000-{time.time_ns() % 10**12:012d}"
        body = json.dumps({"fn": fn, "args": [20.0], "id": call}).encode()
        other = Keep(self.host.port, self.host.token)
        ended = []
        thread = threading.Thread(
            target=lambda: (other.request("POST", "/v1/calls", body), ended.append(time.perf_counter()))
        )
        thread.start()
        time.sleep(0.15)
        began = time.perf_counter()
        self.keep.request("POST", f"/v1/calls/{call}/cancel", b'{"force":true}' if force else b"{}")
        thread.join()
        return ended[0] - began

    def measure_cancel(self) -> None:
        python = statistics.median(self.cancel_time("spin", False) for _ in range(ROUNDS)) * 1e3
        self.figure("cancel_python_ms", python, "ms", "≤ 25", "a loop in pure Python")
        self.figure("cancel_c_s", self.cancel_time("stuck", True), "s", "≤ 3", "asleep in C, forced")
        self.host.result("add", 1, 2)

    def measure_reload(self) -> None:
        text = self.host.file.read_text()
        self.host.file.write_text(text.replace("return a + b", "return a + b + 0"))
        began = time.perf_counter()
        answer = json.loads(self.keep.request("POST", "/v1/reload", b"{}"))
        took = (time.perf_counter() - began) * 1e3
        assert answer["reload"]["how"] == "bodies", answer
        self.figure("reload_ms", took, "ms", "≤ 300", "one body changed")

    def measure_slow_band(self) -> None:
        body = json.dumps({"fn": "add", "args": [40, 2], "kwargs": {}}).encode()
        total = int(os.environ.get("GB_BENCH_BAND_CALLS", "100000"))
        slow = 0
        for _ in range(total):
            began = time.perf_counter()
            self.keep.request("POST", "/", body)
            slow += 0.038 <= time.perf_counter() - began <= 0.048
        self.figure("slow_band_calls", slow, "calls", "≤ 0", f"of {total}: 38 to 48 ms, where delayed ACKs show")

    def numpy_stats(self) -> float:
        import numpy

        data = numpy.random.default_rng(1).standard_normal((10_000, 10_000), dtype=numpy.float32)
        edges = numpy.arange(512) * 10_000 // 512
        began = time.perf_counter()
        numpy.isfinite(data).sum(), data.min(), data.max()
        data.mean(dtype=numpy.float64), data.std(dtype=numpy.float64)
        numpy.histogram(data, 64)
        for reduce in (numpy.add, numpy.minimum, numpy.maximum):
            reduce.reduceat(reduce.reduceat(data, edges, axis=0), edges, axis=1)
        return time.perf_counter() - began

    def measure_stats(self) -> None:
        if not self.numpy:
            self.figure("tensor_stats_speedup", None, "×", "≥ 3", "numpy is not installed")
            return
        theirs = self.numpy_stats()
        form = self.host.call("matrix", accept=OWN)["result"]
        path = f"/v1/tensors/{form['handle']}"

        def ours() -> None:
            self.keep.request("GET", f"{path}/stats")
            self.keep.request("GET", f"{path}/tile?rows=512&cols=512")

        mine = statistics.median(seconds(ours) for _ in range(min(3, ROUNDS)))
        self.keep.request("DELETE", path)
        base = f"numpy {theirs:.2f} s, ours {mine:.2f} s, 10⁸ float32"
        self.figure("tensor_stats_speedup", theirs / mine, "×", "≥ 3", base)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=Path, default=Path(".build/release/bin"))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--serve", choices=["stdlib", "fastapi"])
    options = parser.parse_args()
    if options.serve:
        serve_stdlib() if options.serve == "stdlib" else serve_fastapi()
        return 0
    bench = Bench(options.bin)
    pin(max(CORES))
    bench.servers()
    bench.measure_calls()
    bench.measure_floats()
    bench.stop()
    pin(None)
    bench.servers()
    for name, value in bench.calls().items():
        bench.note(f"unpinned_{name}_us", value, "µs")
    bench.measure_health()
    bench.measure_cancel()
    bench.measure_reload()
    bench.measure_slow_band()
    bench.measure_stats()
    bench.stop()
    if options.json:
        print(json.dumps({"bench": "rpc", "figures": bench.figures}, ensure_ascii=False))
    else:
        for name, figure in bench.figures.items():
            met = {True: "met", False: "NOT MET", None: ""}[figure["met"]]
            print(f"{name:26} {figure['value']} {figure['unit']}  {figure['goal'] or ''} {met}  {figure['baseline']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
