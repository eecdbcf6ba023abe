# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Interfaces and calls through real daemons and real interface hosts, with deaths at bad moments."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.request
import uuid
from pathlib import Path
from typing import Any, Callable, Iterator

import glovebox
import pytest
from host_process import Control

ROOT = Path(__file__).resolve().parents[3]
INTERFACE = '''
import time

@expose
def add(a: int, b: int = 2) -> int:
    """Adds."""
    return a + b

@expose
def slow(seconds: float) -> str:
    print("begun", flush=True)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(0.02)
    return "slept"

@expose
def fail() -> None:
    raise ValueError("no")

@expose
def big(n: int) -> str:
    return "x" * n

@expose
def odd() -> dict:
    return {str(i): i for i in range(6000)}
'''


class Host:
    """One interface host that outlives whoever started it."""

    def __init__(self, home: Any, source: Path, lifeline: bool = False, python: str = sys.executable) -> None:
        config = {"interface": str(source), "name": "tools", "python": python,
                  "worker_package": str(ROOT / "rpc/worker/glovebox_worker"),
                  "data_folder": home.environment["GLOVEBOX_HOME"], "detached": not lifeline}
        self.process = subprocess.Popen([home.bin / "glovebox-host", "--config-fd", "0"], env=home.environment,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        stderr=open(home.folder / "host.log", "a"))
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(config) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, (home.folder / "host.log").read_text()
        self.ready = json.loads(line)
        while self.health()["state"] == "loading":  # a detached one says where it is before that is over
            time.sleep(0.02)

    def health(self) -> Any:
        token = Path(self.ready["token_file"]).read_text().strip()
        asked = urllib.request.Request(self.ready["url"] + "/v1/health", headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(asked, timeout=30) as answer:
            return json.load(answer)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def __getitem__(self, key: str) -> Any:
        return self.ready[key]


@pytest.fixture
def source(home: Any) -> Path:
    path: Path = home.folder / "interface.py"
    path.write_text(INTERFACE)
    return path


@pytest.fixture
def host(home: Any, source: Path) -> Iterator[Host]:
    made = Host(home, source)
    yield made
    made.kill()


def kill_daemon(client: glovebox.Client) -> int:
    pid: int = client.daemon.status()["pid"]
    os.kill(pid, signal.SIGKILL)
    return pid


def test_an_interface_is_registered_and_called(client: glovebox.Client, host: Host, source: Path) -> None:
    item = client.interfaces.register(host["control"])
    assert (item["id"], item["name"], item["state"], item["functions"]) == (host["id"], "tools", "ready", 5)
    assert client.interfaces.register(host["control"])["id"] == item["id"]
    assert [one["id"] for one in client.interfaces.list()] == [item["id"]]
    names = [one["name"] for one in client.interfaces.schema("tools")["schema"]["functions"]]
    assert names == ["add", "slow", "fail", "big", "odd"]
    shown = client.interfaces.source("tools")
    assert (shown["path"], shown["text"]) == (str(source), INTERFACE)

    answer = client.calls.run("tools", "add", [40], {"b": 2})
    assert answer.value() == 42
    assert answer.record["caller"]["kind"] == "script" and answer.record["caller"]["name"] == "test"
    assert answer.record["run"] == host["run"]
    failed = client.calls.run("tools", "fail")
    assert failed.record["state"] == "error" and failed.record["error"]["type"] == "ValueError"
    assert failed.value() is None
    with pytest.raises(glovebox.GloveboxError) as caught:
        client.calls.run("tools", "none")
    assert caught.value.code == "unknown_function"
    with pytest.raises(glovebox.GloveboxError) as caught:
        client.calls.run("no tools", "add", [1])
    assert caught.value.code == "interfaces.unknown"


def test_calls_become_history(client: glovebox.Client, host: Host, eventually: Callable[..., Any]) -> None:
    client.interfaces.register(host["control"])
    first = client.calls.run("tools", "add", [1], pin=True).record["id"]
    client.calls.run("tools", "fail")
    calls = eventually(lambda: len(client.calls.list()["calls"]) == 2 and client.calls.list()["calls"])
    assert [call["fn"] for call in calls] == ["fail", "add"]
    assert calls[1]["preview"] == "3"
    got = client.calls.get(first)
    assert got.value() == 3 and got.record["args"]["args"] == [1]
    eventually(lambda: client.calls.list("pinned:yes")["calls"])
    client.calls.annotate(first, comment="mine")
    assert client.calls.list("fn:add")["calls"][0]["comment"] == "mine"
    assert client.calls.list("-fn:add", interface=host["id"])["calls"][0]["fn"] == "fail"
    page = client.calls.list(limit=1)
    assert client.calls.list(limit=1, before=page["next"])["calls"][0]["id"] == first
    run = eventually(lambda: client.runs.get(host["run"])["calls"] == 2 and client.runs.get(host["run"]))
    assert (run["kind"], run["state"], run["errors"]) == ("hands-on", "live", 1)


def test_an_answered_call_can_be_looked_up_at_once(client: glovebox.Client, host: Host) -> None:
    client.interfaces.register(host["control"])
    for number in range(30):
        call = client.calls.run("tools", "add", [number]).record["id"]
        assert client.calls.get(call).value() == number + 2
    with pytest.raises(glovebox.GloveboxError) as caught:
        client.calls.get(str(uuid.uuid4()))
    assert caught.value.code == "calls.unknown"


def test_large_and_odd_results_come_whole(client: glovebox.Client, host: Host,
                                          eventually: Callable[..., Any]) -> None:
    client.interfaces.register(host["control"])
    size = 3_000_000
    assert client.calls.run("tools", "big", [size]).value() == "x" * size
    odd = client.calls.run("tools", "odd")
    assert len(odd.value()) == 6000
    eventually(lambda: len(client.calls.list()["calls"]) == 2)
    assert len(client.calls.get(odd.record["id"]).value()) == 6000
    assert client.calls.run("tools", "big", kwargs={"n": 1_500_000}).value() == "x" * 1_500_000


def test_a_running_call_is_seen_and_cancelled(client: glovebox.Client, host: Host,
                                              eventually: Callable[..., Any]) -> None:
    client.interfaces.register(host["control"])
    events: list[str] = []
    answers: list[glovebox.Answer] = []
    caller = threading.Thread(target=lambda: answers.append(
        client.calls.run("tools", "slow", [60], on_event=lambda event: events.append(event["event"]))))
    caller.start()

    def running() -> Any:
        items = client.state.subscribe(["calls"])["calls"]["items"].values()
        return next((item for item in items if item["state"] == "running"), None)

    item = eventually(running)
    assert item["fn"] == "slow" and item["interface"] == host["id"]
    assert client.calls.cancel(item["id"])
    caller.join(30)
    assert answers[0].record["state"] == "cancelled"
    assert "started" in events
    eventually(lambda: not client.state.subscribe(["calls"])["calls"]["items"])
    assert not client.calls.cancel(item["id"])


def test_a_killed_daemon_finds_its_interfaces_and_calls_again(client: glovebox.Client, host: Host,
                                                              eventually: Callable[..., Any]) -> None:
    client.interfaces.register(host["control"])
    answers: list[glovebox.Answer] = []
    caller = threading.Thread(target=lambda: answers.append(client.calls.run("tools", "slow", [1.5])))
    caller.start()
    eventually(lambda: client.state.subscribe(["calls"])["calls"]["items"])
    kill_daemon(client)
    caller.join(60)
    # The client sent the call again under its op; it ran once.
    assert answers[0].value() == "slept"
    eventually(lambda: client.interfaces.list()[0]["state"] == "ready")
    assert client.calls.run("tools", "add", [1]).value() == 3
    eventually(lambda: len(client.calls.list()["calls"]) == 2)
    assert len(client.calls.list("fn:slow")["calls"]) == 1


def test_a_repeated_op_runs_nothing_again(client: glovebox.Client, host: Host) -> None:
    client.interfaces.register(host["control"])
    params = {"interface": "tools", "fn": "add", "args": [1], "op": str(uuid.uuid4())}
    first = client.request("calls.run", params, mutates=True)
    again = client.request("calls.run", params, mutates=True)
    kill_daemon(client)
    later = client.request("calls.run", params, mutates=True)
    assert first[0]["id"] == again[0]["id"] == later[0]["id"] == params["op"]
    assert first[1] == again[1] == later[1] == b"3"


def test_a_call_whose_op_was_lost_runs_once(client: glovebox.Client, host: Host, home: Any,
                                            eventually: Callable[..., Any]) -> None:
    """An op of a call is recorded beside it, so a killed daemon may have lost it: the host knows the call."""
    client.interfaces.register(host["control"])
    params = {"interface": "tools", "fn": "slow", "args": [1.0], "op": str(uuid.uuid4())}
    answers: list[Any] = []
    caller = threading.Thread(target=lambda: answers.append(client.request("calls.run", params, mutates=True)))
    caller.start()
    eventually(lambda: client.state.subscribe(["calls"])["calls"]["items"])
    # Over its own link, since the daemon would wait with the first: the host takes no second call of this id.
    with pytest.raises(RuntimeError, match="params.id"):
        Control(host["control"]).call("keeper.call", b'{"args":[1.0]}', fn="slow", call=params["op"])
    caller.join(30)
    with pytest.raises(RuntimeError, match="params.id"):
        Control(host["control"]).call("keeper.call", b'{"args":[1.0]}', fn="slow", call=params["op"])
    eventually(lambda: len(client.calls.list()["calls"]) == 1)
    client.daemon.stop(force=True)
    with sqlite3.connect(next(Path(home.environment["GLOVEBOX_HOME"]).rglob("index.db"))) as index:
        assert index.execute("DELETE FROM ops WHERE op = ?", [params["op"]]).rowcount == 1
    index.close()
    assert client.request("calls.run", params, mutates=True)[1] == answers[0][1] == b'"slept"'
    assert len(client.calls.list()["calls"]) == 1


def test_records_wait_for_a_daemon(home: Any, client: glovebox.Client, host: Host,
                                   eventually: Callable[..., Any]) -> None:
    client.interfaces.register(host["control"])
    client.daemon.stop(force=True)
    client.close()
    # Straight to the host, over HTTP, while there is no daemon.
    token = Path(host["token_file"]).read_text().strip()
    import urllib.request

    for number in range(5):
        body = json.dumps({"fn": "add", "args": [number]}).encode()
        request = urllib.request.Request(f"{host['url']}/v1/calls", body,
                                         {"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
        assert json.load(urllib.request.urlopen(request))
    eventually(lambda: len(client.calls.list()["calls"]) == 5)


def test_a_killed_host_is_gone_and_its_records_are_kept(client: glovebox.Client, home: Any, host: Host,
                                                        eventually: Callable[..., Any]) -> None:
    client.interfaces.register(host["control"])
    failures: list[glovebox.GloveboxError] = []

    def call() -> None:
        try:
            client.calls.run("tools", "slow", [60])
        except glovebox.GloveboxError as error:
            failures.append(error)

    caller = threading.Thread(target=call)
    caller.start()
    eventually(lambda: client.state.subscribe(["calls"])["calls"]["items"])
    host.kill()
    caller.join(30)
    assert [error.code for error in failures] == ["calls.lost"]
    assert client.interfaces.list()[0]["state"] == "gone"
    eventually(lambda: client.runs.get(host["run"])["state"] == "ended")
    eventually(lambda: not (Path(home.environment["GLOVEBOX_HOME"]) / "hosts" / host["id"]).exists())
    assert client.daemon.status()["alive"] == []


def test_more_interfaces_go_at_once_than_stay_listed(client: glovebox.Client, home: Any, source: Path,
                                                     eventually: Callable[..., Any]) -> None:
    pid = client.daemon.status()["pid"]
    hosts = [Host(home, source, python="/bin/false") for _ in range(30)]  # no worker takes its time
    for host in hosts:
        client.interfaces.register(host["control"])
    assert {item["state"] for item in client.interfaces.list()} == {"failed"}
    for host in hosts:
        host.process.kill()
    for host in hosts:
        host.process.wait()
    items = eventually(lambda: (items := client.interfaces.list()) and len(items) <= 20 and items)
    assert {item["state"] for item in items} == {"gone"}
    assert [item["id"] for item in items] == sorted(host["id"] for host in hosts)[-len(items):]
    assert client.daemon.status()["pid"] == pid


def test_a_load_that_fails_stands_in_the_run(client: glovebox.Client, host: Host, home: Any, source: Path,
                                             eventually: Callable[..., Any]) -> None:
    def failures(run: str) -> list[Any]:
        events = client.events.read(run, 1)["events"]
        return [event["data"] for event in events if event["type"] == "interface.failed"]

    client.interfaces.register(host["control"])
    source.write_text("x = 1\nraise RuntimeError('no such weights')\n")
    broken = Host(home, source)
    try:
        client.interfaces.register(broken["control"])
        (first,) = eventually(lambda: failures(broken["run"]))
        assert (first["interface"], first["kind"]) == (broken["id"], "load_failed")
        assert "no such weights" in first["message"] and failures(host["run"]) == []
        # Once for each time, not for each look at it.
        client.interfaces.register(broken["control"])
        kill_daemon(client)
        eventually(lambda: [item["state"] for item in client.interfaces.list()] == ["ready", "failed"])
        source.write_text("raise RuntimeError('nor these')\n")
        with pytest.raises(glovebox.GloveboxError):
            client.interfaces.reload(broken["id"])
        eventually(lambda: len(failures(broken["run"])) == 2)
        assert "nor these" in failures(broken["run"])[1]["message"]
        source.write_text(INTERFACE)
        client.interfaces.reload(broken["id"])
        assert len(failures(broken["run"])) == 2
    finally:
        broken.kill()


def test_what_a_dead_host_left_is_imported(client: glovebox.Client, home: Any, source: Path,
                                           eventually: Callable[..., Any]) -> None:
    data = Path(home.environment["GLOVEBOX_HOME"])
    client.daemon.stop()
    host = Host(home, source)
    token = Path(host["token_file"]).read_text().strip()
    import urllib.request

    request = urllib.request.Request(f"{host['url']}/v1/calls", b'{"fn": "odd"}',
                                     {"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
    urllib.request.urlopen(request).read()
    host.kill()
    folder = data / "hosts" / host["id"]
    old = time.time() - 3600
    os.utime(folder, (old, old))
    calls = eventually(lambda: client.calls.list()["calls"])
    assert len(client.calls.get(calls[0]["id"]).value()) == 6000
    eventually(lambda: not folder.exists())
    eventually(lambda: client.runs.get(host["run"])["state"] == "ended")


def test_an_interface_is_loaded_again_and_stopped(client: glovebox.Client, host: Host, source: Path,
                                                  eventually: Callable[..., Any]) -> None:
    client.interfaces.register(host["control"])
    source.write_text(INTERFACE + "\n@expose\ndef more() -> int:\n    return 7\n")
    client.interfaces.reload("tools")
    eventually(lambda: client.interfaces.list()[0]["functions"] == 6)
    assert client.calls.run("tools", "more").value() == 7
    client.interfaces.stop("tools")
    eventually(lambda: client.interfaces.list()[0]["state"] == "gone")
    with pytest.raises(glovebox.GloveboxError) as caught:
        client.calls.run(host["id"], "add", [1])
    assert caught.value.code == "interfaces.gone"
    assert len(client.calls.list()["calls"]) == 1


def test_parts_of_a_tensor_come_by_handle(client: glovebox.Client, home: Any) -> None:
    numpy = pytest.importorskip("numpy")
    path = home.folder / "tensors.py"
    path.write_text("import numpy\n\n@expose(tensors=\"binary\")\ndef make():\n"
                    "    return numpy.arange(24, dtype='float32').reshape(2, 3, 4)\n")
    host = Host(home, path)
    try:
        client.interfaces.register(host["control"])
        made = client.calls.run("tools", "make")
        assert made.record["state"] == "ok", made.record["error"]
        handle = made.value()["handle"]
        described, _ = client.calls.tensor("tools", handle, "stats")
        assert described["shape"] == [2, 3, 4] and described["stats"]["max"] == 23
        _, part = client.calls.tensor("tools", handle, "slice", slice="1,:,2")
        assert numpy.frombuffer(part, "float32").tolist() == [14, 18, 22]
        tile, planes = client.calls.tensor("tools", handle, "tile",
                                           tile={"rows": 3, "cols": 4, "lead": 1, "row0": 1, "row1": 3})
        assert (tile["row0"], tile["row1"]) == (1, 3)
        mean = numpy.frombuffer(planes, "float32").reshape(tile["shape"])[0]
        assert mean.tolist() == numpy.arange(24).reshape(2, 3, 4)[1, 1:3].tolist()
    finally:
        host.kill()


def test_a_preview_of_an_exposure_makes_no_token(client: glovebox.Client, host: Host) -> None:
    client.interfaces.register(host["control"])
    for form in ("library", "mcp", "skill"):
        seen = client.request("interfaces.expose", {"interface": "tools", "form": form, "preview": True})[0]
        made = client.interfaces.expose("tools", form)
        assert "token_id" in made and "token_id" not in seen
        assert seen["tokens"] > 0
