# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Tokens and keys over the API: kept, used, listed, forgotten, and nowhere else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, Iterator

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "rpc" / "python"))

import glovebox  # noqa: E402

VALUE = "hf_ThisIsAWordThatStandsNowhereElse"


@pytest.fixture
def client(home: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[glovebox.Client]:
    for name, value in home.environment.items():
        monkeypatch.setenv(name, value)
    with glovebox.connect(name="test") as connected:
        # The desktop of whoever runs this keeps its own.
        connected.settings.set("secrets.key_store", False)
        yield connected


def files_with(folder: Path, word: str) -> list[str]:
    return sorted(file.name for file in folder.rglob("*") if file.is_file() and word.encode() in file.read_bytes())


def test_a_secret_is_kept_and_never_given_back(client: glovebox.Client, home: Any) -> None:
    client.secrets.set("HF_TOKEN", VALUE)
    listed = client.secrets.list()
    assert [(one["name"], one["store"], one["known"]) for one in listed["secrets"]] == [("HF_TOKEN", "file", True)]
    assert VALUE not in str(listed) + client.diagnostics.get()
    # The control: the file is where the search finds it.
    assert files_with(home.folder / "data", VALUE) == ["secrets.json"]
    assert (home.folder / "data" / "secrets.json").stat().st_mode & 0o777 == 0o600
    client.secrets.clear("HF_TOKEN")
    assert not client.secrets.list()["secrets"] and not files_with(home.folder / "data", VALUE)


def test_what_is_written_is_written_without_it(client: glovebox.Client, home: Any) -> None:
    def append(kind: str, text: str) -> None:
        events = [{"type": kind, "data": {"text": text}}]
        client.request("events.append", {"stream": "daemon", "events": events}, mutates=True)

    append("before", "x" + VALUE)
    client.secrets.set("MY_KEY", VALUE)
    append("after", "y" + VALUE)
    events = client.request("events.read", {"stream": "daemon", "since": 1})[0]["events"]
    texts = [event["data"]["text"] for event in events if event["type"] in ("before", "after")]
    assert texts[0] == "x" + VALUE and texts[1].startswith("y") and VALUE not in texts[1]


def test_names_and_values_are_checked(client: glovebox.Client) -> None:
    wrong = (("A=B", "x", "secrets.name"), ("PATH", "x", "secrets.name"), ("A", "", "secrets.value"))
    for name, value, code in wrong:
        with pytest.raises(glovebox.GloveboxError) as error:
            client.secrets.set(name, value)
        assert error.value.code == code


def test_the_command_line_reads_it_from_standard_input(client: glovebox.Client, home: Any) -> None:
    subprocess.run([home.bin / "glovebox", "secrets", "set", "MY_KEY"], env=home.environment, input=VALUE + "\n",
                   text=True, check=True)
    assert [one["name"] for one in home.json("secrets", "ls")["secrets"]] == ["MY_KEY"]
    assert f'"{VALUE}"' in (home.folder / "data" / "secrets.json").read_text()
    home.cli("secrets", "rm", "MY_KEY")
    home.cli("secrets", "rm", "MY_KEY", code=1)
