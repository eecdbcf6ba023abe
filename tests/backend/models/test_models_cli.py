# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""glovebox models …, against a scripted hub in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest

MODEL = "org/model"


@pytest.fixture
def hub(home: Any, tmp_path: Path) -> Iterator[dict[str, Any]]:
    source = tmp_path / "source"
    source.mkdir()
    (source / "config.json").write_text('{"model_type": "llama"}')
    child = subprocess.Popen(
        [home.bin / "gb_hubtool", "serve", MODEL, "--folder", source, "--make", "model.safetensors", "40000000",
         "--make", "pytorch_model.bin", "1000", "--rate", "1000000"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdin and child.stdout
    about = json.loads(child.stdout.readline())
    home.extra.update(HF_ENDPOINT=about["url"], HF_HUB_CACHE=str(tmp_path / "cache"), HF_HUB_OFFLINE="0",
                      HF_TOKEN="secret")
    yield about
    child.stdin.close()
    child.wait(20)


def test_a_model_from_get_to_rm(home: Any, hub: dict[str, Any], eventually: Callable[..., Any]) -> None:
    shown = home.json("models", "show", MODEL)
    assert [file["path"] for file in shown["files"] if file["chosen"]] == ["config.json", "model.safetensors"]
    assert shown["config"] == {"model_type": "llama"}
    home.cli("models", "get", "--detach", MODEL)

    def file_with(suffix: str) -> list[Path]:
        return list(Path(home.extra["HF_HUB_CACHE"]).glob(f"models--org--model/blobs/*{suffix}"))

    # The daemon is killed in the middle, and a new one goes on; the token is not stored, so it has to come again.
    eventually(lambda: file_with(".pieces") and any(file_with(".pieces")[0].read_bytes()[-5:]), what="a piece")
    os.kill(home.daemon_pid(), signal.SIGKILL)
    home.cli("models", "resume", MODEL)
    progress = home.cli("models", "get", MODEL, timeout=120)
    assert Path(progress.strip(), "model.safetensors").stat().st_size == 40_000_000
    listed = home.json("models", "ls")["models"][0]
    assert (listed["repo"], listed["revisions"][0]["complete"], listed["partials"]) == (MODEL, True, [])
    assert home.json("models", "verify", MODEL)["bad"] == []
    weights = Path(progress.strip(), "model.safetensors").resolve()
    weights.write_bytes(b"x" * 40_000_000)
    assert home.json("models", "verify", MODEL, code=1)["bad"] == ["model.safetensors"]
    assert home.json("models", "rm", MODEL)["freed"] >= 40_000_000
    assert home.json("models", "ls")["models"] == []
    data = home.folder / "data"
    assert not [path for path in data.rglob("*") if path.is_file() and b"secret" in path.read_bytes()]


def test_what_is_refused_says_why(home: Any, hub: dict[str, Any]) -> None:
    assert json.loads(home.cli("models", "get", "--json", "org/nothing", code=1).splitlines()[-1])["error"][
        "code"] == "hub.model_not_found"
    assert home.json("models", "show", "not a name", code=1)["error"]["code"] == "hub.bad_name"
    assert home.json("models", "rm", "org/nothing", code=1)["error"]["code"] == "hub.not_cached"
