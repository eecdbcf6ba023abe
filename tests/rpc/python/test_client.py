# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""The Python client against a real daemon."""

from __future__ import annotations

import inspect
import os
import re
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import glovebox
import pytest
from glovebox import groups

ROOT = Path(__file__).resolve().parents[3]
PYTHON_TYPES = {"string": "str", "integer": "int", "boolean": "bool", "array": "Sequence", "object": "Mapping",
                "any": "Any"}


def methods_of(client: glovebox.Client) -> dict[str, Any]:
    found = {}
    for group, holder in vars(client).items():
        if not isinstance(holder, groups._Group):
            continue
        for name, function in inspect.getmembers(type(holder), inspect.isfunction):
            if not name.startswith("_") and not hasattr(function, "beyond_the_api"):
                found[f"{group}.{name}"] = function
    return found


def test_every_method_of_the_api_is_one_here(client: glovebox.Client) -> None:
    table = {method["name"]: method for method in client.daemon.methods()}
    ours = methods_of(client)
    assert sorted(ours) == sorted(table)
    for name, method in table.items():
        given = {key: value for key, value in inspect.signature(ours[name]).parameters.items()
                 if key != "self" and value.kind is not inspect.Parameter.KEYWORD_ONLY}
        wanted = {param["name"]: param for param in method["params"]}
        assert sorted(given) == sorted(wanted), name
        for key, param in wanted.items():
            assert (given[key].default is inspect.Parameter.empty) == param["required"], f"{name} {key}"
            assert re.search(rf"\b{PYTHON_TYPES[param['type']]}\b", given[key].annotation), f"{name} {key}"


def test_mutating_methods_send_an_op(client: glovebox.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: dict[str, bool] = {}

    def note(method: str, params: Any, mutates: bool = False, *rest: Any, **more: Any) -> Any:
        sent[method] = mutates
        raise glovebox.GloveboxError("noted", "")

    monkeypatch.setattr(client, "request", note)
    table = {method["name"]: method["op"] for method in glovebox.connect().daemon.methods()}
    for name, function in methods_of(client).items():
        values = [None for key, value in inspect.signature(function).parameters.items()
                  if key != "self" and value.default is inspect.Parameter.empty]
        holder = getattr(client, name.split(".")[0])
        values = [[] if key in ("events", "topics") else value
                  for key, value in zip([k for k in inspect.signature(function).parameters if k != "self"], values)]
        with pytest.raises(glovebox.GloveboxError, match="noted"):
            function(holder, *values)
    assert sent == table


def test_errors_have_codes(client: glovebox.Client) -> None:
    with pytest.raises(glovebox.GloveboxError) as caught:
        client.settings.get("no.such")
    assert caught.value.code == "settings.unknown"
    assert caught.value.data == {"key": "no.such"}


def test_settings_can_be_restored(client: glovebox.Client) -> None:
    assert client.settings.set("window.theme", "dark")["value"] == "dark"
    assert client.settings.set("window.theme", None)["value"] == "system"


def test_events_survive_a_killed_daemon(client: glovebox.Client) -> None:
    seen: list[int] = []

    def follow() -> None:
        for event in client.events.follow("daemon", 1):
            seen.append(event["data"])
            if len(seen) == 30:
                return

    follower = threading.Thread(target=follow)
    follower.start()
    for number in range(30):
        if number in (10, 20):
            os.kill(client.daemon.status()["pid"], signal.SIGKILL)
        client.events.append("daemon", [{"type": "test", "data": number}])
    follower.join(30)
    assert seen == list(range(30))


def test_a_read_is_asked_again(client: glovebox.Client) -> None:
    os.kill(client.daemon.status()["pid"], signal.SIGKILL)
    assert client.runs.list() == []


def test_state_is_watched(client: glovebox.Client) -> None:
    states = client.state.watch(["daemon"])
    topic, items = next(states)
    assert topic == "daemon" and items["daemon"]["pid"] == client.daemon.status()["pid"]
    with glovebox.connect(name="another"):
        assert any(items["daemon"]["clients"] >= 3 for _, items in [next(states)])
    states.close()


def test_threads_do_not_wait_for_each_other(client: glovebox.Client, eventually: Any) -> None:
    stuck = client.events.follow("daemon", -1)
    waiting = threading.Thread(target=lambda: next(stuck))
    waiting.start()
    assert client.runs.list() == []

    def is_over() -> bool:  # the other thread may not follow yet when the first event comes
        client.events.append("daemon", [{"type": "test", "data": 0}])
        return not waiting.is_alive()

    eventually(is_over)


def test_without_a_daemon(home: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLOVEBOX_HOME", str(home.folder / "none"))
    with pytest.raises(glovebox.Disconnected) as caught:
        glovebox.connect(start=False)
    assert caught.value.code == "api.no_daemon"


def test_only_the_standard_library_is_used() -> None:
    known = {"__future__", "collections", "dataclasses", "enum", "hashlib", "json", "os", "pathlib", "re", "shutil",
             "socket", "stat", "struct", "subprocess", "threading", "time", "types", "typing", "uuid", "warnings"}
    for file in (ROOT / "rpc/python/glovebox").glob("*.py"):
        for name in re.findall(r"^(?:from|import) ([a-z_]+)", file.read_text(), re.MULTILINE):
            assert name in known, f"{file.name} imports {name}"
    assert known - {"__future__"} <= set(getattr(sys, "stdlib_module_names", known))


def test_the_package_has_the_programs_version() -> None:
    version = (ROOT / ".cmake/version").read_text().strip()
    assert f'version = "{version}"' in (ROOT / "rpc/python/pyproject.toml").read_text().splitlines()
