# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""What the window's program does with options that name nothing."""

import subprocess
from pathlib import Path
from typing import Any

import pytest


def window(home: Any, *options: str) -> subprocess.CompletedProcess[str]:
    program = home.bin / "glovebox-gui"
    if not program.exists():
        pytest.skip("built without the window")
    return subprocess.run([program, *options], env=home.environment, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("option", ["--page", "--shot"])
def test_a_page_that_is_none_is_refused_with_the_list(home: Any, tmp_path: Path, option: str) -> None:
    ended = window(home, option, "inspektor", "--out", str(tmp_path / "out.png"))
    assert ended.returncode == 2
    assert "there is no page inspektor; the pages are home, sandbox, models, inspector" in ended.stderr
    assert not (tmp_path / "out.png").exists()


def test_a_theme_that_is_none_is_refused(home: Any) -> None:
    ended = window(home, "--theme", "blue")
    assert ended.returncode == 2 and "the themes are dark, light" in ended.stderr


def test_what_there_is_is_drawn(home: Any, tmp_path: Path) -> None:
    ended = window(home, "--shot", "settings", "--out", str(tmp_path / "out.png"), "--theme", "dark")
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
