# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""The Pythons a person is offered are those of who asks, not of who started the daemon."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import glovebox
import pytest
from glovebox import start

SOURCE = Path(__file__).resolve().parents[3]


def offered(monkeypatch: pytest.MonkeyPatch, **variables: str) -> list[str]:
    with monkeypatch.context() as patch:
        for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
            patch.delenv(name, raising=False)
        for name, value in variables.items():
            patch.setenv(name, value)
        with glovebox.connect() as own:
            [local] = [one for one in own.sandboxes.capabilities() if one["id"] == "local"]
    return [one["path"] for one in local["interpreters"]]


def test_what_is_activated_comes_first(client: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made = tmp_path / "mine"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(made)], check=True)
    python = str(made / "bin/python3")
    # The daemon runs already, and was started without any.
    assert python not in offered(monkeypatch)
    assert offered(monkeypatch, VIRTUAL_ENV=str(made))[0] == python
    assert offered(monkeypatch, CONDA_PREFIX=str(made))[0] == python
    assert offered(monkeypatch, VIRTUAL_ENV=str(made), PATH=f"{made}/bin:/usr/bin").count(python) == 1
    assert "bin/python3" not in offered(monkeypatch, VIRTUAL_ENV="")


def test_both_clients_tell_the_same() -> None:
    text = (SOURCE / "backend/api/daemonstart.cpp").read_text()
    function = text[text.index("Json clientEnvironment()") :]
    exact = re.findall(r'"(\w+)"', function[: function.index("};")])
    assert "VIRTUAL_ENV" in exact and "PATH" in exact
    assert [name for name in exact if not start._CLIENT_VARIABLES.fullmatch(name)] == []
