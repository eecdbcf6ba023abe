# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments kept as files beside the interface file, also when somebody else has been at the files."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Iterator

import glovebox
import pytest

TEXT = '''
@expose
def add(a: int) -> int:
    """Adds."""
    return a + 1
'''


@pytest.fixture
def client(home: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[glovebox.Client]:
    for name, value in home.environment.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "sums.py").write_text(TEXT)
    home.serve(tmp_path / "sums.py")
    with glovebox.connect() as made:
        yield made


def names(client: glovebox.Client) -> list[str]:
    return [preset["name"] for preset in client.presets.list("sums", "add")]


def test_kept_renamed_deleted(client: glovebox.Client, tmp_path: Path) -> None:
    assert client.presets.list("sums", "add") == []
    path = client.presets.save("sums", "add", "two, größer", {"b": [1], "a": 2})
    assert Path(path) == tmp_path / "presets/add/two, größer.json"
    # A person reads it, in the order of the arguments.
    assert Path(path).read_text() == '{\n  "b": [\n    1\n  ],\n  "a": 2\n}\n'
    with pytest.raises(glovebox.GloveboxError) as refused:
        client.presets.save("sums", "add", "two, größer", {"a": 3})
    assert refused.value.code == "presets.exists"
    client.presets.save("sums", "add", "two, größer", {"a": 3}, replace=True)
    client.presets.rename("sums", "add", "two, größer", "three")
    (preset,) = client.presets.list("sums", "add")
    assert preset["name"] == "three" and preset["arguments"] == {"a": 3} and preset["modified"] > 0
    client.presets.save("sums", "add", "other", {})
    with pytest.raises(glovebox.GloveboxError):
        client.presets.rename("sums", "add", "other", "three")
    client.presets.rm("sums", "add", "three")
    client.presets.rm("sums", "add", "three")
    assert names(client) == ["other"]


@pytest.mark.parametrize("name", ["", ".hidden", "../up", "a/b", "a\nb", " a", "x" * 101, "\u202etxt"])
def test_names_that_lead_elsewhere_or_mislead(client: glovebox.Client, tmp_path: Path, name: str) -> None:
    before = sorted(tmp_path.rglob("*.json"))
    for change in (
        lambda: client.presets.save("sums", "add", name, {}),
        lambda: client.presets.save("sums", name, "ok", {}),
        lambda: client.presets.rm("sums", "add", name),
        lambda: client.presets.list("sums", name),
    ):
        with pytest.raises(glovebox.GloveboxError) as refused:
            change()
        assert refused.value.code == "presets.name"
    assert sorted(tmp_path.rglob("*.json")) == before


def test_hostile_files_are_listed_with_the_reason(client: glovebox.Client, tmp_path: Path) -> None:
    folder = tmp_path / "presets/add"
    folder.mkdir(parents=True)
    (folder / "good.json").write_text('{"a": 1}')
    (folder / "list.json").write_text("[1]")
    (folder / "broken.json").write_text('{"a": ')
    (folder / "deep.json").write_text("[" * 100_000)
    (folder / "large.json").write_text(json.dumps({"a": "x" * 2_000_000}))
    (folder / "notes.txt").write_text("not ours")
    os.mkfifo(folder / "pipe.json")
    (folder / "link.json").symlink_to("/etc/passwd")
    (folder / "folder.json").mkdir()
    with open(os.fsencode(folder) + b"/\xff.json", "w") as odd:
        odd.write("{}")
    found = {preset["name"]: preset for preset in client.presets.list("sums", "add")}
    assert found.pop("good")["arguments"] == {"a": 1}
    assert set(found) == {"list", "broken", "deep", "large", "pipe", "link", "folder"}
    assert all("arguments" not in preset and preset["problem"] for preset in found.values())
    # Saving replaces the link, not what it points to; a folder is left alone.
    client.presets.save("sums", "add", "link", {"a": 2}, replace=True)
    assert not (folder / "link.json").is_symlink()
    client.presets.rm("sums", "add", "folder")
    assert (folder / "folder.json").is_dir()


def test_a_linked_folder_is_not_entered(client: glovebox.Client, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine.json").write_text("{}")
    (tmp_path / "presets").symlink_to(elsewhere)
    for change in (
        lambda: client.presets.list("sums", "add"),
        lambda: client.presets.save("sums", "add", "x", {}),
        lambda: client.presets.rm("sums", "add", "mine"),
    ):
        with pytest.raises(glovebox.GloveboxError) as refused:
            change()
        assert refused.value.code == "presets.folder"
    assert [path.name for path in elsewhere.iterdir()] == ["mine.json"]
