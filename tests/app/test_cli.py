# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""The command line as a person and a script use it."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import subprocess
from pathlib import Path
from typing import Any, Callable

import pytest


def test_help_and_version_need_no_daemon(home: Any) -> None:
    assert "glovebox serve" in home.cli("help")
    assert home.json("version")["version"].count(".") == 2
    assert home.cli("--version").startswith("glovebox ")
    assert home.json("daemon", "status")["running"] is False


def test_the_status_names_who_is_there(home: Any) -> None:
    home.cli("calls", "ls")
    said = home.cli("daemon", "status")
    assert re.search(r"^clients +1: cli$", said, re.M) and re.search(r"^alive +0$", said, re.M), said


@pytest.mark.parametrize("words", [["no-such"], ["daemon"], ["calls", "ls", "--nope"], ["settings", "get"],
                                   ["events", "--since", "x"], ["calls", "ls", "--limit"]])
def test_wrong_use_is_two(home: Any, words: list[str]) -> None:
    home.cli(*words, code=2)


def test_every_command_explains_itself(home: Any) -> None:
    for command in home.json("help")["commands"]:
        text = home.cli(*command["name"].split(), "--help")
        assert command["summary"] in text


def test_help_says_what_an_error_means(home: Any) -> None:
    assert home.cli("help", "presets.exists").startswith("presets.exists: replace it")
    assert "sandbox.no_bwrap" in home.cli("help", "errors")
    codes = [row["code"] for row in home.json("help", "errors", "example.")["errors"]]
    assert "example.model" in codes and all(code.startswith("example.") for code in codes)
    home.cli("help", "no.such", code=2)


def test_completion_is_valid_bash(home: Any) -> None:
    script = home.cli("completion", "bash")
    ask = script + '\nCOMP_WORDS=(glovebox daemon s); COMP_CWORD=2; _glovebox; echo "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["status", "stop"]


def test_settings_survive_the_daemon(home: Any) -> None:
    settings = home.json("settings", "ls")["settings"]
    assert settings, "there are settings"
    number = next(item for item in settings if item["type"] in {"integer", "int", "number"})
    home.cli("settings", "set", number["key"], str(int(number["value"]) + 1))
    home.cli("daemon", "stop")
    assert home.json("settings", "get", number["key"])["value"] == int(number["value"]) + 1
    home.cli("settings", "set", "no.such.setting", "1", code=1)
    home.cli("settings", "set", number["key"], "not a number", code=1)


def test_a_stopped_daemon_has_left(home: Any) -> None:
    for _ in range(3):
        home.cli("settings", "ls")  # starts one; it proves its isolation meanwhile
        home.cli("daemon", "stop")
        with open(home.folder / "data/daemon.lock", "r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_experiments(home: Any, tmp_path: Path) -> None:
    made = home.json("experiment", "new", str(tmp_path / "first"), "--example", "hello")
    assert (tmp_path / "first/interface.py").read_text().startswith('"""Hello, box')
    assert (tmp_path / "first/experiment.toml").exists()
    listed = home.json("experiment", "ls")["experiments"]
    assert [item["path"] for item in listed] == [made["path"]]
    home.cli("experiment", "new", str(tmp_path / "first"), code=1)
    home.cli("experiment", "open", str(tmp_path / "nowhere"), code=1)


def test_ctrl_c_is_130(home: Any, eventually: Callable[..., Any]) -> None:
    child = subprocess.Popen([home.bin / "glovebox", "events", "--follow", "--json"], env=home.environment,
                             stdout=subprocess.PIPE, text=True)
    eventually(lambda: home.daemon_pid(), what="a daemon")
    os.kill(child.pid, signal.SIGINT)
    assert child.wait(10) == 130


def test_diagnostics_hide_what_is_private(home: Any) -> None:
    home.extra["HF_TOKEN"] = "hf_secret"
    text = home.json("diagnostics")["text"]
    assert "hf_secret" not in text
    assert str(home.folder) not in text
