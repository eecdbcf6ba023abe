# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Models a spec names come before the sandbox starts: the queue's one download, a shared cache, no second copy."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import glovebox
import pytest

pytestmark = pytest.mark.as_user

PYTHON = shutil.which("python3", path="/usr/bin:/bin") or "python3"
ADAPTER = '{"base_model_name_or_path": "org/base"}'
SLOW_BYTES = 24_000_000  # at 500 kB/s of each connection there is time to look


class Hub:
    """A scripted hub with small models, one large one and a gated one."""

    def __init__(self, home: Any, folder: Path) -> None:
        plain, adapter = folder / "plain", folder / "adapter"
        plain.mkdir()
        adapter.mkdir()
        (plain / "config.json").write_text('{"model_type": "llama"}')
        (adapter / "adapter_config.json").write_text(ADAPTER)
        made = ["--folder", str(plain), "--make", "model.safetensors"]
        self.child = subprocess.Popen(
            [home.bin / "gb_hubtool", "serve", "org/small", *made, "300000", "--model", "org/slow", *made,
             str(SLOW_BYTES), "--model", "org/base", *made, "200000", "--model", "org/adapter", "--folder",
             str(adapter), "--make", "adapter_model.safetensors", "5000", "--model", "org/gated", *made, "9000",
             "--gated", "--rate", "500000"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.child.stdout
        self.about = json.loads(self.child.stdout.readline())
        self.url = self.about["url"]
        self.cache = folder / "cache"

    def sent(self) -> int:
        assert self.child.stdin and self.child.stdout
        self.child.stdin.write("\n")
        self.child.stdin.flush()
        return int(json.loads(self.child.stdout.readline())["sent"])

    def close(self) -> None:
        assert self.child.stdin
        self.child.stdin.close()
        self.child.wait(20)


@pytest.fixture
def hub(home: Any, tmp_path: Path) -> Iterator[Hub]:
    made = Hub(home, tmp_path)
    home.extra.update(HF_ENDPOINT=made.url, HF_HUB_CACHE=str(made.cache), HF_HUB_OFFLINE="0", HF_TOKEN="")
    yield made
    home.cli("sandbox", "stop", "--all", code=None)
    made.close()


def words(*models: str, name: str = "box") -> list[str]:
    named = (word for model in models for word in ("--model", model))
    return ["sandbox", "start", "--name", name, "--python", PYTHON, *named]


def begin(home: Any, *models: str, name: str = "box") -> subprocess.Popen[str]:
    return subprocess.Popen([home.bin / "glovebox", *words(*models, name=name)], env=home.environment,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def refused(home: Any, *models: str) -> dict[str, Any]:
    error: dict[str, Any] = json.loads(home.cli(*words(*models), "--json", code=1))["error"]
    return error


@contextmanager
def client_of(home: Any) -> Iterator[glovebox.Client]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in home.environment.items():
            patch.setenv(name, value)
        with glovebox.connect(name="test") as made:
            yield made


def downloads(home: Any) -> list[dict[str, Any]]:
    with client_of(home) as client:
        _, items = next(iter(client.state.watch(["models"])))
        return list(items.values())


def wait_for_bytes(home: Any, eventually: Callable[..., Any]) -> dict[str, Any]:
    def moving() -> Any:
        return [item for item in downloads(home) if item["state"] == "downloading" and item["done"] > 0]

    found: dict[str, Any] = eventually(moving, seconds=60, what="bytes of the download")[0]
    return found


def part(home: Any) -> dict[str, Any]:
    """What the step under way tells of itself."""
    with client_of(home) as client:
        _, jobs = next(iter(client.state.watch(["jobs"])))
    found: dict[str, Any] = next((job["progress"].get("part", {}) for job in jobs.values()
                                  if job["kind"] == "sandboxes.start" and job["state"] == "running"), {})
    return found


def states(home: Any) -> dict[str, str]:
    return {item["name"]: item["state"] for item in home.json("sandbox", "ls")["sandboxes"]}


def test_what_is_missing_comes_and_is_bound(home: Any, hub: Hub) -> None:
    plan = ["sandbox", "plan", *words("org/small")[2:]]
    step = next(step for step in home.json(*plan)["steps"] if step["kind"] == "model")
    assert (step["title"], step["reused"], step["bytes"]) == ("Model org/small", False, 300_023)
    assert "fetch  Model org/small  300.0 kB" in home.cli(*plan)
    child = begin(home, "org/small")
    said = child.communicate(timeout=120)[1]
    assert child.returncode == 0, said
    lines = said.splitlines()
    assert "Model org/small" in lines and "\r" not in said
    assert any(line.startswith("  downloading  ") or line.startswith("  ready") for line in lines), said
    # The very bytes of the cache, read-only.
    weights = next(hub.cache.glob("models--org--small/snapshots/*/model.safetensors")).resolve()
    seen = home.cli("sandbox", "exec", "box", "sh", "-c",
                    "cd /models/org--small && cat config.json && stat -c ' %i %s' model.safetensors")
    about = weights.stat()
    assert seen.split("}")[1].split() == [str(about.st_ino), "300000"]
    failed = subprocess.run([home.bin / "glovebox", "sandbox", "exec", "box", "sh", "-c",
                             "echo x > /models/org--small/model.safetensors"], env=home.environment,
                            capture_output=True, timeout=60)
    assert failed.returncode != 0 and b"Read-only" in failed.stderr
    copies = [path for path in home.folder.rglob("*") if path.is_file() and path.stat().st_size == 300_000]
    assert copies == []
    assert [item["state"] for item in downloads(home)] == ["ready"]
    # The next one finds it.
    step = next(step for step in home.json(*plan)["steps"] if step["kind"] == "model")
    assert (step["reused"], step["bytes"]) == (True, 300_023)
    # Nobody deletes it under the sandbox.
    error = home.json("models", "rm", "org/small", code=1)["error"]
    assert (error["code"], error["data"]["sandboxes"]) == ("models.in_use", ["box"])
    home.cli("models", "rm", "--force", "org/small")
    assert home.cli("sandbox", "exec", "box", "wc", "-c", "/models/org--small/model.safetensors").startswith("300000")


def test_an_adapter_brings_its_base(home: Any, hub: Hub) -> None:
    spec = {"name": "box", "interpreter": PYTHON,
            "models": [{"name": "org/adapter", "is_peft": True, "base_model": "org/base"}]}
    with client_of(home) as client:
        step = next(step for step in client.sandboxes.plan(spec)["steps"] if step["kind"] == "model")
        started = client.sandboxes.ready(client.sandboxes.start(spec))
    assert step["bytes"] == 5000 + 200_000 + len('{"model_type": "llama"}') + len(ADAPTER)
    assert started["state"] == "ready", started
    listed = home.cli("sandbox", "exec", "box", "sh", "-c", "ls /models/org--adapter /models/org--base")
    assert {"adapter_model.safetensors", "model.safetensors"} <= set(listed.split())
    (one,) = downloads(home)
    assert [part["role"] for part in one["parts"]] == ["adapter", "base"]
    assert home.json("models", "rm", "org/base", code=1)["error"]["code"] == "models.in_use"


def test_a_download_that_runs_is_joined(home: Any, hub: Hub, eventually: Callable[..., Any]) -> None:
    home.cli("models", "get", "--detach", "org/slow")
    first = wait_for_bytes(home, eventually)
    child = begin(home, "org/slow")
    eventually(lambda: states(home).get("box") == "building", what="the start")
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=60)
    # Somebody else wants it: it goes on, and is the same one.
    (still,) = downloads(home)
    assert still["id"] == first["id"] and still["state"] in ("downloading", "verifying", "ready")
    # One that was paused goes on with the start, which also waits while somebody pauses it.
    home.cli("models", "pause", "org/slow")
    child = begin(home, "org/slow", name="next")
    wait_for_bytes(home, eventually)
    home.cli("models", "pause", "org/slow")
    eventually(lambda: part(home).get("state") == "paused", what="the start to tell of the pause")
    home.cli("models", "resume", "org/slow")
    said = child.communicate(timeout=180)[1]
    assert child.returncode == 0, said
    (ended,) = downloads(home)
    assert (ended["id"], ended["state"], states(home)["next"]) == (first["id"], "ready", "ready")


def test_a_cancelled_start_leaves_nothing_running(home: Any, hub: Hub, eventually: Callable[..., Any]) -> None:
    child = begin(home, "org/slow")
    wait_for_bytes(home, eventually)
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=60)
    assert child.returncode == 130
    eventually(lambda: downloads(home) == [], what="the download to leave the list")
    eventually(lambda: states(home)["box"] == "stopped", what="the end")
    # What came is kept.
    home.cli(*words("org/slow", name="next"), timeout=180)
    assert hub.sent() < SLOW_BYTES * 1.9
    assert home.cli("sandbox", "exec", "next", "wc", "-c", "/models/org--slow/model.safetensors").split()[0] == str(
        SLOW_BYTES)


def test_what_cannot_come_says_why_before_anything_is_made(home: Any, hub: Hub) -> None:
    error = refused(home, "org/gated")
    assert (error["code"], error["data"]["field"]) == ("hub.gated", "models")
    assert error["data"]["page"] == f"{hub.url}/org/gated" and error["data"]["page"] in error["message"]
    plan = home.json("sandbox", "plan", *words("org/gated")[2:])
    assert next(step for step in plan["steps"] if step["kind"] == "model")["page"] == f"{hub.url}/org/gated"
    assert [problem["severity"] for problem in plan["problems"]] == ["error"]
    error = refused(home, "org/nothing")
    assert (error["code"], error["data"]["field"]) == ("hub.model_not_found", "models")
    assert "page" not in error["data"]
    home.extra["HF_HUB_OFFLINE"] = "1"
    error = refused(home, "org/small")
    assert (error["code"], error["data"]["field"]) == ("hub.offline", "models")
    assert "HF_HUB_OFFLINE" in error["message"] and "path" in error["data"]["fix"]
    plan = home.json("sandbox", "plan", *words("org/small")[2:])
    assert [problem["field"] for problem in plan["problems"]] == ["models[0].name"]
    home.extra["HF_HUB_OFFLINE"] = "0"
    shown = home.json("sandbox", "ls")["sandboxes"]
    assert {(item["state"], item["reason"]) for item in shown} == {
        ("failed", "hub.gated"), ("failed", "hub.model_not_found"), ("failed", "hub.offline")}
    assert not list((home.folder / "data/boxes").glob("*/box.json"))
    # The control: with the token that opens it, here one that was given to be kept, the same spec starts.
    subprocess.run([home.bin / "glovebox", "secrets", "set", "HF_TOKEN"], env=home.environment, input=b"secret",
                   check=True, timeout=60)
    home.cli(*words("org/gated"))


def test_a_full_disk_is_said_in_the_step(home: Any, hub: Hub) -> None:
    home.cli("settings", "set", "models.keep_free_bytes", str(1 << 50))
    home.cli("daemon", "stop")  # the queue reads it when it opens
    error = refused(home, "org/small")
    assert (error["code"], error["data"]["field"]) == ("io.disk_full", "models")
    shown = home.json("sandbox", "show", "box")
    assert [step["state"] for step in shown["steps"] if step["kind"] == "model"] == ["failed"]
    assert not list(hub.cache.glob("models--org--small/snapshots/*/model.safetensors"))


def test_a_hub_that_is_away(home: Any, hub: Hub) -> None:
    home.extra["HF_ENDPOINT"] = "http://127.0.0.1:1"
    plan = home.json("sandbox", "plan", *words("org/small")[2:])
    step = next(step for step in plan["steps"] if step["kind"] == "model")
    assert (step["reused"], "bytes" in step, plan["problems"]) == (False, False, [])
    assert "fetch  Model org/small  size not known" in home.cli("sandbox", "plan", *words("org/small")[2:])
    error = refused(home, "org/small")
    assert (error["code"].split(".")[0], error["data"]["field"]) == ("net", "models"), error
    assert downloads(home) == []


def test_a_killed_daemon_leaves_no_half_made_sandbox(home: Any, hub: Hub, eventually: Callable[..., Any]) -> None:
    child = begin(home, "org/slow")
    wait_for_bytes(home, eventually)
    os.kill(home.daemon_pid(), signal.SIGKILL)
    child.communicate(timeout=60)
    assert child.returncode != 0
    eventually(lambda: states(home).get("box") == "failed", what="the next daemon to look")
    shown = home.json("sandbox", "show", "box")
    assert (shown["reason"], shown["error"]["code"]) == ("interrupted", "sandbox.interrupted")
    home.cli(*words("org/slow", name="next"), timeout=180)
    assert states(home)["next"] == "ready" and len(downloads(home)) == 1
    assert hub.sent() < SLOW_BYTES * 1.9
