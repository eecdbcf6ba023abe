# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Sandboxes through real daemons and real keepers, with deaths at bad moments. The machine's own Python: nothing has
to be built or fetched."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import struct
import sys
import threading
import uuid
from pathlib import Path
from typing import Any, Callable

import glovebox
import pytest

INTERFACE = '''
import os

@expose
def add(a: int, b: int = 2) -> int:
    """Adds."""
    return a + b

@expose
def where() -> dict:
    return {"processes": os.path.isdir("/proc/1"), "secret": os.environ.get("API_KEY"),
            "shadow": os.path.exists("/etc/shadow"), "cwd_writable": os.access("/workspace", os.W_OK)}
'''

pytestmark = pytest.mark.as_user


def spec(**more: Any) -> dict[str, Any]:
    return {"interpreter": sys.executable, "name": "box", **more}


def running(client: glovebox.Client, **more: Any) -> str:
    return str(client.sandboxes.ready(client.sandboxes.start(spec(**more)))["id"])


def keeper_pid(sandbox: str) -> int:
    (path,) = Path(f"/tmp/glovebox-{os.geteuid()}").glob(f"*/{sandbox}.box")
    with socket.socket(socket.AF_UNIX) as peer:
        peer.connect(str(path))
        pid, _, _ = struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return int(pid)


def test_from_start_to_stop(client: glovebox.Client, home: Any, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("from outside")
    started = client.sandboxes.start(spec(local_files=[[str(tmp_path / "in.txt"), "/workspace/in.txt"]]))
    assert client.jobs.get(started["job"])["subject"] == started["sandbox"]
    sandbox = client.sandboxes.ready(started)
    assert sandbox["state"] == "ready" and sandbox["warnings"] == []
    assert [step["state"] for step in sandbox["steps"]] == ["done"] * len(sandbox["steps"])
    assert "ready" in client.sandboxes.log("box")["text"]
    assert client.sandboxes.run("box", "cat", "in.txt") == (0, b"from outside", b"")
    assert client.sandboxes.run("box", "sh", "-c", "echo no >&2; exit 3") == (3, b"", b"no\n")
    data = os.urandom(3 << 20)
    client.sandboxes.write("box", "/workspace/deep/data.bin", data)
    got = b""
    while len(got) < len(data):
        info, piece = client.sandboxes.read("box", "/workspace/deep/data.bin", offset=len(got))
        assert info["size"] == len(data)
        got += piece
    assert got == data
    names = [entry["name"] for entry in client.sandboxes.list_files("box", "/workspace")["entries"]]
    assert sorted(names) == ["deep", "in.txt"]
    assert client.sandboxes.meters("box")["processes"] >= 1
    job = client.jobs.wait(client.sandboxes.stop("box"))
    assert job["state"] == "done", job
    assert client.sandboxes.get(sandbox["id"])["state"] == "stopped"
    with pytest.raises(glovebox.GloveboxError, match="no sandbox is called"):
        client.sandboxes.get("another")
    with pytest.raises(glovebox.GloveboxError, match="stopped"):
        client.sandboxes.meters("box")
    again = running(client)  # the name is the living one's, then that of the one that was made last
    assert client.sandboxes.get("box")["id"] == again
    client.jobs.wait(client.sandboxes.stop("box"))
    client.sandboxes.rm("box")
    assert client.sandboxes.get("box")["id"] == sandbox["id"]
    client.sandboxes.rm("box")
    assert client.sandboxes.list() == []
    assert not (home.folder / "data/boxes" / sandbox["id"]).exists()
    assert not (home.folder / "data/images/store/boxes" / sandbox["id"]).exists()


def test_output_is_pushed_until_the_exit(client: glovebox.Client) -> None:
    sandbox = running(client)
    connection = client.open_connection()
    answer, _ = connection.request("sandboxes.exec", {
        "op": str(uuid.uuid4()), "sandbox": sandbox, "stdin": True, "argv": ["cat"]})
    client.sandboxes.stdin(sandbox, answer["command"], data=b"hello ")
    client.sandboxes.stdin(sandbox, answer["command"], data=b"there", eof=True)
    heard = b""
    while (notification := connection.next_notification()).method != "sandboxes.exit":
        assert notification.method == "sandboxes.output" and notification.params["sandbox"] == sandbox
        assert notification.params["offset"] == len(heard)
        heard += notification.attachment
    assert heard == b"hello there" and notification.params["code"] == 0
    assert [one["command"] for one in client.sandboxes.commands(sandbox)] == [answer["command"]]


def test_an_interface_lives_inside(client: glovebox.Client, tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(INTERFACE)
    sandbox = running(client, scoped=True, secrets=["API_KEY"])
    assert any("API_KEY" in warning["message"] for warning in client.sandboxes.get(sandbox)["warnings"])
    item = client.sandboxes.serve(sandbox, str(tmp_path / "tools.py"))
    assert item["sandbox"] == sandbox and item["state"] == "ready", item
    assert client.calls.run(item["id"], "add", [1]).record["state"] == "ok"
    seen = client.calls.run(item["id"], "where").value()
    assert seen == {"processes": True, "secret": None, "shadow": False, "cwd_writable": True}
    assert client.sandboxes.get(sandbox)["interfaces"] == [item["id"]]
    client.jobs.wait(client.sandboxes.stop(sandbox))
    assert [one["state"] for one in client.interfaces.list()] == ["gone"]  # the stop waits for it


def test_secrets_reach_commands_and_nothing_else(client: glovebox.Client, home: Any) -> None:
    started = client.sandboxes.start(spec(secrets=["API_KEY"]), secrets={"API_KEY": "s3cret-value"})
    sandbox = client.sandboxes.ready(started)["id"]
    assert client.sandboxes.run(sandbox, "sh", "-c", "echo $API_KEY")[1] == b"s3cret-value\n"
    for file in (home.folder / "data").rglob("*"):
        if file.is_file() and "commands" not in file.parts:  # what the command itself printed is there
            assert b"s3cret" not in file.read_bytes(), file


def test_a_model_of_the_cache_is_there(home: Any, client: glovebox.Client, tmp_path: Path,
                                       monkeypatch: pytest.MonkeyPatch) -> None:
    # As the official client lays it out: links that lead out of the snapshot.
    commit = "0123456789abcdef0123456789abcdef01234567"
    folder = tmp_path / "models--org--tiny-1.5"
    for name in ("blobs", "refs", f"snapshots/{commit}/sub"):
        (folder / name).mkdir(parents=True)
    (folder / "refs/main").write_text(commit)
    for number, name in enumerate(("config.json", "sub/weights.bin")):
        (folder / f"blobs/{number}").write_text(f"content {number}")
        link = folder / f"snapshots/{commit}" / name
        link.symlink_to(os.path.relpath(folder / f"blobs/{number}", link.parent))
    for path in (tmp_path, *tmp_path.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    with glovebox.connect(name="with a cache") as other:
        (local,) = other.sandboxes.capabilities()
        assert [model["name"] for model in local["models"]] == ["org/tiny-1.5"]
        sandbox = running(other, models=[{"name": "org/tiny-1.5"}])
        script = "cat $MODEL_ORG_TINY_1_5_PATH/config.json /models/tiny-1.5/sub/weights.bin; " \
                 "cat /volumes/org_tiny-1.5/config.json; " \
                 "echo x > /models/tiny-1.5/config.json"
        code, out, errors = other.sandboxes.run(sandbox, "sh", "-c", script)
        assert out == b"content 0content 1content 0" and b"Read-only" in errors and code != 0


def test_a_killed_daemon_leaves_it_running(client: glovebox.Client, home: Any, tmp_path: Path,
                                           eventually: Callable[..., Any]) -> None:
    (tmp_path / "tools.py").write_text(INTERFACE)
    sandbox = running(client)
    item = client.sandboxes.serve(sandbox, str(tmp_path / "tools.py"))
    command = client.sandboxes.exec(sandbox, ["sh", "-c", "sleep 1; echo survived"])["command"]
    os.kill(home.daemon_pid(), signal.SIGKILL)
    # A new daemon, and the same sandbox.
    assert client.sandboxes.get(sandbox)["state"] == "ready"
    eventually(lambda: client.sandboxes.wait(sandbox, command, timeout_ms=1_000)["exited"], what="the command")
    assert client.sandboxes.output(sandbox, command, "stdout")[1] == b"survived\n"
    eventually(lambda: client.interfaces.list()[0]["state"] == "ready", what="the interface")
    assert client.interfaces.list()[0]["sandbox"] == sandbox
    assert client.calls.run(item["id"], "add", [40]).value() == 42
    assert {"kind": "sandbox", "id": sandbox, "title": "box"} in client.daemon.status()["alive"]


def test_a_killed_keeper_is_lost(client: glovebox.Client, eventually: Callable[..., Any]) -> None:
    sandbox = running(client)
    marker = str(uuid.uuid4())
    client.sandboxes.exec(sandbox, ["sh", "-c", f"sleep 1000; : {marker}"])

    def inside() -> bool:
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and marker.encode() in (entry / "cmdline").read_bytes():
                    return True
            except OSError:
                continue
        return False

    eventually(inside, what="the command")
    os.kill(keeper_pid(sandbox), signal.SIGKILL)
    eventually(lambda: not inside(), what="the end of everything inside")
    item = eventually(lambda: (one := client.sandboxes.get(sandbox))["state"] == "failed" and one)
    assert item["reason"] == "lost" and item["error"]["code"] == "sandbox.lost"


def test_time_ends(client: glovebox.Client, eventually: Callable[..., Any]) -> None:
    sandbox = running(client, timeout=1)
    item = eventually(lambda: (one := client.sandboxes.get(sandbox))["state"] == "stopped" and one)
    assert item["reason"] == "timeout" and item["ended"]["reason"] == "timeout"


@pytest.mark.parametrize(("wrong", "field"), [
    ({"interpreter": "/bin/true"}, "interpreter"),
    ({"local_files": [["/nowhere/x", "/workspace/x"]]}, "local_files"),
    ({"gpu": "Z9999"}, "gpu"),
    ({"models": [{"name": "org/none"}]}, "models"),
])
def test_what_cannot_be_is_said_by_plan_and_start(client: glovebox.Client, wrong: Any, field: str) -> None:
    plan = client.sandboxes.plan(spec(**wrong))
    errors = [problem for problem in plan["problems"] if problem["severity"] == "error"]
    assert [problem["field"].split("[")[0] for problem in errors] == [field]
    # A problem has its parts apart; an error's message has them all.
    assert not errors[0]["message"].startswith(field)
    started = client.sandboxes.start(spec(**wrong))
    with pytest.raises(glovebox.GloveboxError) as caught:
        client.sandboxes.ready(started)
    assert caught.value.data["field"] == field
    assert client.sandboxes.get(started["sandbox"])["state"] == "failed"


def test_a_spec_that_is_wrong_creates_nothing(client: glovebox.Client) -> None:
    with pytest.raises(glovebox.GloveboxError) as caught:
        client.sandboxes.start({"memory": -3, "nam": "x"})
    assert caught.value.code == "spec.invalid" and caught.value.data["problems"]
    assert client.sandboxes.list() == []


def test_the_plan_and_the_form(client: glovebox.Client, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("12345")
    files = [[str(tmp_path / "in.txt"), "/workspace/in.txt"]]
    plan = client.sandboxes.plan(spec(local_files=files, secrets=["NO_SUCH"]))
    assert [step["kind"] for step in plan["steps"]] == ["isolation", "layer", "start", "copy"]
    assert plan["steps"][-1]["bytes"] == 5
    assert [problem["severity"] for problem in plan["problems"]] == ["warning"]
    assert plan["needs_trust"] is False and "limits" not in plan
    limited = client.sandboxes.plan(spec(memory="1 GiB", cpu=1, disk="5 GiB"))["limits"]
    assert limited["memory"] in ("enforced", "watched") and limited["cpu"] in ("enforced", "pinned")
    assert limited["disk"] == "watched"
    (local,) = client.sandboxes.capabilities()
    assert local["id"] == "local" and local["available"], local
    assert local["limits"] == limited and local["fields"]["cpu"]["reason"] and local["fields"]["memory"]["reason"]
    assert bool(local["gpus"]) != ("gpu" in local["fields"])
    assert any(one["path"] == "/usr/bin/python3" for one in local["interpreters"])
    assert client.sandboxes.images() == [] and client.sandboxes.collect()["removed"] == []


def test_a_plan_tells_what_took_how_long(client: glovebox.Client, tmp_path: Path) -> None:
    def seconds(**more: Any) -> dict[str, float]:
        steps = client.sandboxes.plan(spec(**more))["steps"]
        return {step["kind"]: step["seconds"] for step in steps if "seconds" in step}

    (tmp_path / "in.txt").write_text("12345")
    files = [[str(tmp_path / "in.txt"), "/workspace/in.txt"]]
    assert seconds() == {}
    limits = running(client, local_files=files, memory="1 GiB", cpu=1)
    known = seconds(local_files=files)
    # The isolation is proved once, and the interpreter is there: no times for what is not to be done.
    assert set(known) == {"start", "copy"} and all(0 < value < 600 for value in known.values())
    assert client.sandboxes.get(limits)["limits"]["cpu"] in ("enforced", "pinned")


def test_an_experiment_from_elsewhere_asks(
    client: glovebox.Client, home: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "UV_INDEX", "UV_DEFAULT_INDEX", "UV_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_INDEX_URL", "https://index.example/simple")
    folder = tmp_path / "experiment"
    client.experiments.new(str(folder))
    own = client.sandboxes.plan(spec(), str(folder))
    assert own["needs_trust"] is False and {"what": "interpreter", "value": sys.executable} in own["reaches"]
    # The same folder, in a data folder that did not make it.
    (home.folder / "data/trust.json").unlink()
    assert client.sandboxes.plan(spec(), str(folder))["needs_trust"] is True
    # With the environment that the tests have now.
    with glovebox.connect(name="again") as asking, pytest.raises(glovebox.GloveboxError) as caught:
        asking.sandboxes.start(spec(network=["data.example"]), str(folder))
    assert caught.value.code == "experiment.untrusted"
    assert {"what": "interpreter", "value": sys.executable} in caught.value.data["reaches"]
    listed, indexes = [reach["value"] for reach in caught.value.data["reaches"] if reach["what"] == "network"]
    assert listed == "data.example" and indexes.startswith("package indexes (index.example")
    with pytest.raises(glovebox.GloveboxError):
        client.sandboxes.start(spec(), str(folder))
    client.sandboxes.ready(client.sandboxes.start(spec(), str(folder), trust=True))
    assert client.sandboxes.plan(spec(), str(folder))["needs_trust"] is False
    # What it names itself is asked about; which indexes are meant is the person's affair and only told.
    url = "https://example.org/mine.whl"
    asked = client.sandboxes.plan(spec(python_packages=[f"mine @ {url}", "numpy"]), str(folder))
    assert asked["needs_trust"] is True and {"what": "network", "value": url} in asked["reaches"]
    assert len(asked["reaches"]) == len(own["reaches"]) + 1
    # The answer was for that list only.
    assert client.sandboxes.plan(spec(secrets=["API_KEY"]), str(folder))["needs_trust"] is True
    (folder / ".env").write_text("# keys\nexport API_KEY='of the folder'\n")
    started = client.sandboxes.start(spec(secrets=["API_KEY"]), str(folder), trust=True)
    sandbox = client.sandboxes.ready(started)["id"]
    assert client.sandboxes.run(sandbox, "sh", "-c", "echo $API_KEY")[1] == b"of the folder\n"
    (folder / "link").symlink_to("/etc/hostname")
    reaches = client.sandboxes.plan(spec(local_files=[["link", "/workspace/x"]]), str(folder))["reaches"]
    assert {"what": "path", "value": "/etc/hostname"} in reaches


def test_answers_about_folders_that_are_gone_go(client: glovebox.Client, home: Any, tmp_path: Path) -> None:
    list_of = home.folder / "data/trust.json"
    before = set(json.loads(list_of.read_text())) if list_of.exists() else set()
    ids = []
    for number in range(3):
        folder = tmp_path / f"brief{number}"
        folder.mkdir()
        ids.append(f"0b1e9f0c-3f54-4d0e-9a66-0c0d2f7f8a2{number}")
        (folder / "experiment.toml").write_text(f'id = "{ids[-1]}"\nname = "brief"\n')
        client.jobs.wait(client.sandboxes.stop(client.sandboxes.start(spec(), str(folder), trust=True)["sandbox"]))
        if number == 0:
            shutil.rmtree(folder)
    assert set(json.loads(list_of.read_text())) - before == set(ids[1:])


def test_a_start_is_cancelled(client: glovebox.Client, tmp_path: Path, eventually: Callable[..., Any]) -> None:
    # A repository whose server takes the connection and says nothing.
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"https://127.0.0.1:{server.getsockname()[1]}/team/tool"
        started = client.sandboxes.start(spec(repos=[{"url": url}]))
        eventually(lambda: client.sandboxes.get(started["sandbox"])["state"] == "starting", what="the clone")
        eventually(lambda: client.jobs.get(started["job"])["message"].startswith("Clone"), what="the clone")
        client.jobs.cancel(started["job"])
        assert client.jobs.wait(started["job"])["state"] == "cancelled"
        item = eventually(lambda: (one := client.sandboxes.get(started["sandbox"]))["state"] == "stopped" and one)
        assert item["reason"] == "cancelled"


def test_a_daemon_killed_while_it_starts_one(client: glovebox.Client, home: Any,
                                             eventually: Callable[..., Any]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"https://127.0.0.1:{server.getsockname()[1]}/team/tool"
        started = client.sandboxes.start(spec(repos=[{"url": url}]))
        eventually(lambda: client.jobs.get(started["job"])["message"].startswith("Clone"), what="the clone")
        keeper = keeper_pid(started["sandbox"])
        os.kill(home.daemon_pid(), signal.SIGKILL)
    item = eventually(lambda: (one := client.sandboxes.get(started["sandbox"]))["state"] == "failed" and one)
    assert item["reason"] == "interrupted"
    assert client.jobs.wait(started["job"])["error"]["code"] == "sandbox.interrupted"
    eventually(lambda: not Path(f"/proc/{keeper}").exists(), what="the keeper's end")


def test_what_loads_long_is_seen_and_can_be_stopped(client: glovebox.Client, tmp_path: Path, eventually: Any) -> None:
    slow = tmp_path / "slow.py"
    slow.write_text("import time\nprint('still at it', flush=True)\ntime.sleep(3600)\n")
    sandbox = client.sandboxes.ready(client.sandboxes.start(spec()))["id"]
    item = client.sandboxes.serve(sandbox, str(slow), "slow", wait=False)
    assert item["state"] == "loading" and client.interfaces.list()[0]["sandbox"] == sandbox
    waiting = threading.Thread(target=lambda: told.append(serve_and_fail(client, sandbox, str(slow))))
    told: list[str] = []
    waiting.start()
    eventually(lambda: len(client.interfaces.list()) == 2)
    for interface in client.interfaces.list():
        client.interfaces.stop(interface["id"])
    waiting.join(60)
    assert told == ["interfaces.gone"]


def serve_and_fail(client: glovebox.Client, sandbox: str, file: str) -> str:
    with pytest.raises(glovebox.GloveboxError) as failed:
        client.sandboxes.serve(sandbox, file)
    return failed.value.code
