# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Workers that crash, hang, leave or cannot load; callers that lose patience or go away."""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from host_process import HostProcess, read_answer


@pytest.mark.parametrize(
    ("fn", "args", "said"),
    [("crash", [], "SIGSEGV"), ("leave", [7], "exit code 7"), ("leave", [0], "exit code 0")],
)
def test_a_dead_worker_is_replaced(host: HostProcess, fn: str, args: list, said: str) -> None:
    before = host.get("/v1/health")["generation"]
    answer = host.call(fn, *args)
    assert answer["error"]["kind"] == "worker_died" and said in answer["error"]["message"]
    if fn == "crash":
        assert "Fatal Python error: Segmentation fault" in answer["error"]["worker"]["stderr"]
    assert host.result("add", 1) == 2
    assert host.get("/v1/health")["generation"] == before + 1
    assert host.records()[-1]["generation"] == before + 1


def test_sys_exit_is_only_an_error(start: Callable[..., HostProcess]) -> None:
    host = start("import sys\n@expose\ndef quit():\n    sys.exit(3)\n")
    assert host.call("quit")["error"]["kind"] == "function_error"
    assert host.get("/v1/health")["generation"] == 1


def test_waiting_calls_survive_the_death_of_another(host: HostProcess) -> None:
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(host.call, "spin", 0.4)
        host.wait(lambda: host.get("/v1/health")["running"] == 1)
        death = pool.submit(host.call, "leave", 3)
        host.wait(lambda: host.get("/v1/health")["waiting"] == 1)
        last = pool.submit(host.call, "add", 1)
        assert first.result()["ok"] and death.result()["error"]["kind"] == "worker_died"
        assert last.result()["result"] == 2


def test_health_answers_while_python_spins(host: HostProcess) -> None:
    with ThreadPoolExecutor(1) as pool:
        spinning = pool.submit(host.call, "spin", 1.0)
        host.wait(lambda: host.get("/v1/health")["running"] == 1)
        for _ in range(20):
            assert host.get("/v1/health")["running"] == 1
            assert host.request("GET", "/")[0] == 200
        assert not spinning.done() and spinning.result()["ok"]


def test_an_impatient_caller_costs_nobody_the_worker(host: HostProcess) -> None:
    before = host.get("/v1/health")["generation"]
    status, text, _ = host.request("POST", "/v1/calls", {"fn": "spin", "args": [30], "timeout_ms": 150})
    assert status == 200 and json.loads(text)["error"]["kind"] == "timeout"
    assert host.get("/v1/health")["generation"] == before
    assert host.result("add", 1) == 2


def test_force_and_the_functions_own_limit_end_the_worker(start: Callable[..., HostProcess]) -> None:
    host = start(limits={"grace_ms": 200})
    call = "018f0000-0000-7000-8000-0000000000aa"
    with ThreadPoolExecutor(1) as pool:
        stuck = pool.submit(host.request, "POST", "/v1/calls", {"fn": "stuck", "args": [60], "id": call})
        host.wait(lambda: host.get("/v1/health")["running"] == 1)
        assert host.request("POST", f"/v1/calls/{call}/cancel", {"force": True})[0] == 200
        answer = json.loads(stuck.result()[1])
    assert answer["state"] in ("killed", "cancelled")
    assert host.result("add", 1) == 2
    assert host.call("limited")["error"]["kind"] == "timeout"
    assert host.result("add", 1) == 2


def test_a_caller_that_goes_away_cancels_its_own_call_only(host: HostProcess) -> None:
    body = json.dumps({"fn": "spin", "args": [30]}).encode()
    sock = socket.create_connection(("127.0.0.1", host.port), timeout=10)
    sock.sendall(host.head(Content_Length=str(len(body))) + body)
    host.wait(lambda: host.get("/v1/health")["running"] == 1)
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(host.call, "add", 4)
        host.wait(lambda: host.get("/v1/health")["waiting"] == 1)
        sock.close()
        assert other.result()["result"] == 5
    assert [r["state"] for r in host.records()[-2:]] == ["cancelled", "ok"]


def test_output_flood_is_cut(start: Callable[..., HostProcess]) -> None:
    host = start(limits={"output_bytes": 100_000})
    host.call("flood", 5000)
    record = host.records()[-1]
    assert sum(len(part["text"]) for part in record["output"]) <= 101_000
    assert record["output_cut"] or "output cut" in record["output"][-1]["text"]
    assert host.result("add", 1) == 2


def test_too_large_a_reply_is_an_error(start: Callable[..., HostProcess]) -> None:
    host = start(limits={"result_bytes": 10_000})
    assert host.call("large", 100_000)["error"]["kind"] == "reply_too_large"
    assert host.call("large", 10)["ok"]


def test_too_many_calls_at_once(start: Callable[..., HostProcess]) -> None:
    host = start(limits={"calls": 2})
    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(host.call, "spin", 0.6) for _ in range(2)]
        host.wait(lambda: sum(host.get("/v1/health")[k] for k in ("running", "waiting")) == 2)
        status, text, _ = host.request("POST", "/v1/calls", {"fn": "add", "args": [1]})
        assert status == 429 and json.loads(text)["error"]["kind"] == "busy"
        assert all(call.result()["ok"] for call in running)
    assert host.result("add", 1) == 2


def test_a_broken_file_keeps_the_host_up(start: Callable[..., HostProcess]) -> None:
    host = start("import nothing_of_this_name\n")
    assert host.ready["state"] == "failed" and host.ready["error"]["frames"]
    status, text, _ = host.request("POST", "/v1/calls", {"fn": "add"})
    assert status == 503 and json.loads(text)["error"]["kind"] == "not_loaded"
    host.file.write_text("@expose\ndef add(a: int) -> int:\n    return a + 1\n")
    assert json.loads(host.request("POST", "/v1/reload", {})[1])["ok"]
    assert host.result("add", 1) == 2


def test_a_reload_that_gets_no_worker_is_answered(start: Callable[..., HostProcess]) -> None:
    host = start("raise ValueError('no such luck')\n")
    control = host.control()
    control.call("keeper.hello")
    usual = resource.prlimit(host.process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(host.process.pid, resource.RLIMIT_NOFILE, (3, usual[1]))  # no further descriptor
    with pytest.raises(RuntimeError, match="load_failed"):
        control.call("keeper.reload")
    resource.prlimit(host.process.pid, resource.RLIMIT_NOFILE, usual)
    host.file.write_text("@expose\ndef one() -> int:\n    return 1\n")  # the control
    control.call("keeper.reload")
    assert host.result("one") == 1
    control.close()


def test_reload_swaps_bodies_or_starts_afresh(start: Callable[..., HostProcess]) -> None:
    source = "state = []\n@expose\ndef add(a: int) -> int:\n    state.append(a)\n    return len(state)\n"
    host = start(source)
    assert [host.result("add", 1), host.result("add", 1)] == [1, 2]
    host.file.write_text(source.replace("len(state)", "100 + len(state)"))
    answer = json.loads(host.request("POST", "/v1/reload", {})[1])
    assert answer["reload"]["how"] == "bodies" and host.result("add", 1) == 103
    host.file.write_text(source.replace("state = []", "state = [0, 0]"))
    assert json.loads(host.request("POST", "/v1/reload", {})[1])["reload"]["how"] == "initial"
    assert host.result("add", 1) == 3 and host.get("/v1/health")["generation"] == 2


def test_watch(start: Callable[..., HostProcess]) -> None:
    source = "@expose\ndef add(a: int) -> int:\n    return a + 1\n"
    host = start(source, watch=True)
    host.file.write_text(source.replace("+ 1", "+ 5"))
    host.wait(lambda: host.result("add", 1) == 6)


def test_ends(start: Callable[..., HostProcess]) -> None:
    for end in (lambda h: h.process.stdin.close(), lambda h: os.kill(h.process.pid, signal.SIGTERM)):
        host = start()
        caller = threading.Thread(target=lambda h=host: _ignore(lambda: h.call("stuck", 30)))
        caller.start()
        host.wait(lambda h=host: h.get("/v1/health")["running"] == 1)
        worker = int(open(f"/proc/{host.process.pid}/task/{host.process.pid}/children").read().split()[0])
        end(host)
        assert host.process.wait(10) == 0
        caller.join(10)
        assert host.records()[-1]["state"] in ("lost", "cancelled")
        assert not os.path.exists(host.ready["token_file"]) and not os.path.exists(f"/proc/{worker}")


def test_a_killed_host_takes_its_worker_along(start: Callable[..., HostProcess]) -> None:
    host = start()
    worker = int(open(f"/proc/{host.process.pid}/task/{host.process.pid}/children").read().split()[0])
    host.process.kill()
    host.process.wait()
    end = time.monotonic() + 10
    while _alive(worker):
        assert time.monotonic() < end
        time.sleep(0.02)


def _alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def _ignore(run: Callable[[], object]) -> None:
    try:
        run()
    except Exception:  # noqa: BLE001 - the host is being ended
        return


def test_health_answers_while_a_large_body_is_checked(start: Callable[..., HostProcess]) -> None:
    host = start()
    body = b'{"fn":"leave","args":[[' + b"1," * (28 << 20) + b'1],{"a":1,"a":2}]}'
    with socket.create_connection(("127.0.0.1", host.port), timeout=30) as large:
        large.sendall(host.head(Content_Length=str(len(body))) + body)
        answered = 0
        # Were it checked in the loop, only what is asked while the last bytes arrive would be answered.
        while answered < 20 and not select.select([large], [], [], 0)[0]:
            assert host.get("/v1/health")["ok"]
            answered += 1
        answer = read_answer(large)
    assert answered == 20
    assert answer.startswith(b"HTTP/1.1 400") and b"json.duplicate_key" in answer


def test_no_call_runs_where_its_record_finds_no_room(start: Callable[..., HostProcess]) -> None:
    host = start(limits={"spool_bytes": 20_000})
    control = host.control()
    control.call("keeper.hello", protocol=1)
    ran = 0
    while True:
        status, text, _ = host.request("POST", "/v1/calls", {"fn": "echo", "args": ["x" * 1000]})
        if status != 200:
            break
        ran += 1
        assert ran < 100
    assert status == 503 and json.loads(text)["error"]["kind"] == "no_room"
    assert ran > 5 and len(host.records()) < ran  # the last one waits in the host
    control.call("keeper.records", since=0)
    for seq in range(1, ran):
        assert control.notified("keeper.record")[0]["seq"] == seq
    control.call("keeper.ack", seq=ran - 1)
    assert host.result("add", 1) == 2
    assert control.notified("keeper.record", lambda p: p["seq"] == ran)[0]["record"]["fn"] == "echo"
    assert control.notified("keeper.record", lambda p: p["seq"] == ran + 1)[0]["record"]["fn"] == "add"


class MemoryGroup:
    """A control group with a limit, where this machine lets us make one."""

    def __init__(self, megabytes: int) -> None:
        name, limit = f"gb-test-{os.getpid()}", str(megabytes << 20)
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, kinds, path = line.split(":", 2)
            if kinds == "memory":
                self.folder = Path("/sys/fs/cgroup/memory") / path.strip("/") / name
                files = {"memory.limit_in_bytes": limit}
                break
            if kinds == "" and "memory" in _text(Path("/sys/fs/cgroup/cgroup.controllers")):
                self.folder = Path("/sys/fs/cgroup") / path.strip("/") / name
                files = {"memory.max": limit, "memory.swap.max": "0"}
                break
        else:
            raise OSError("there is no memory controller")
        self.folder.mkdir()
        try:
            for file, value in files.items():
                (self.folder / file).write_text(value)
        except OSError:
            self.folder.rmdir()
            raise

    def take(self, pid: int) -> None:
        (self.folder / "cgroup.procs").write_text(str(pid))

    def remove(self) -> None:
        self.folder.rmdir()


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


MEMORY = """
import os, signal
pid = os.getpid()

@expose
def worker() -> int:
    return pid

@expose
def take(megabytes: int) -> int:
    return len(b"x" * (megabytes << 20))

@expose
def stop():
    os.kill(pid, signal.SIGKILL)
"""


def test_a_worker_without_memory_is_replaced_and_the_record_says_why(start: Callable[..., HostProcess]) -> None:
    if "oom_kill " not in _text(Path("/proc/vmstat")):
        pytest.skip("this kernel does not count what it ends")
    try:
        group = MemoryGroup(160)
    except OSError as error:
        pytest.skip(f"no memory group can be made here: {error}")
    try:
        host = start(MEMORY)
        group.take(host.process.pid)
        group.take(host.result("worker"))
        assert host.result("take", 20) == 20 << 20
        error = host.call("take", 400)["error"]
        assert error["kind"] == "worker_died" and "memory ran out" in error["message"]
        assert error["worker"]["out_of_memory"] is True and error["worker"]["most_memory"] > 20 << 20
        assert host.result("take", 20) == 20 << 20
        assert "memory ran out" in host.records()[-2]["error"]["message"]
        # Another's SIGKILL is not called that.
        error = host.call("stop")["error"]
        assert "SIGKILL" in error["message"] and "memory" not in error["message"]
        assert host.result("take", 1) == 1 << 20
        host.close()
    finally:
        group.remove()


def test_memory_that_python_itself_does_not_get_is_an_error(start: Callable[..., HostProcess]) -> None:
    limit = "import resource\nresource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))\n"
    host = start(limit + MEMORY)
    assert host.call("take", 3000)["error"]["type"] == "MemoryError"
    assert host.result("take", 20) == 20 << 20 and host.get("/v1/health")["generation"] == 1
