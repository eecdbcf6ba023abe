# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Reading, writing and following the text files of an experiment through the daemon."""

from __future__ import annotations

import concurrent.futures
import contextlib
import os
import queue
import subprocess
import threading
import uuid
from pathlib import Path
from typing import Any

import glovebox
import pytest

TEXT = '[sandbox]\nname = "one"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "experiment"
    made.mkdir()
    (made / "experiment.toml").write_text(TEXT)
    return made


def refused(action: Any, *arguments: Any, **named: Any) -> str:
    with pytest.raises(glovebox.GloveboxError) as caught:
        action(*arguments, **named)
    assert "/proc/self" not in str(caught.value)
    return str(caught.value.code)


def test_what_was_read_is_written(client: glovebox.Client, folder: Path) -> None:
    file = folder / "experiment.toml"
    file.chmod(0o640)
    read = client.experiments.read(str(folder))
    assert read["text"] == TEXT and read["path"] == str(file)
    written = client.experiments.write(str(folder), TEXT + "# ü\n", read["etag"])
    assert file.read_text() == TEXT + "# ü\n" and file.stat().st_mode & 0o777 == 0o640
    assert written == {"path": str(file), "etag": client.experiments.read(str(folder))["etag"]}
    assert os.listdir(folder) == ["experiment.toml"]


def test_what_somebody_else_wrote_is_not_lost(client: glovebox.Client, folder: Path) -> None:
    file = folder / "experiment.toml"
    etag = client.experiments.read(str(folder))["etag"]
    file.write_text("# theirs\n")
    assert refused(client.experiments.write, str(folder), TEXT, etag) == "experiments.changed"
    file.unlink()
    assert refused(client.experiments.write, str(folder), TEXT, etag) == "experiments.changed"
    # None there: that is what an empty etag says, and only then.
    assert client.experiments.read(str(folder))["etag"] == ""
    client.experiments.write(str(folder), TEXT, "")
    assert refused(client.experiments.write, str(folder), "", "") == "experiments.changed"
    # What it says already may be said again: a repeat by a client that was cut off.
    client.experiments.write(str(folder), TEXT, etag)
    assert file.read_text() == TEXT


def test_of_ten_with_one_etag_one_writes(client: glovebox.Client, home: Any, folder: Path) -> None:
    etag = client.experiments.read(str(folder))["etag"]

    def write(number: int) -> str:
        with glovebox.connect() as own:
            try:
                own.experiments.write(str(folder), f"# {number}\n" * 1000, etag)
                return f"# {number}\n" * 1000
            except glovebox.GloveboxError as error:
                return error.code

    with concurrent.futures.ThreadPoolExecutor(10) as pool:
        outcomes = list(pool.map(write, range(10)))
    assert sorted(outcomes)[1:] == ["experiments.changed"] * 9
    assert (folder / "experiment.toml").read_text() == min(outcomes)
    assert os.listdir(folder) == ["experiment.toml"]


def test_only_what_lies_in_the_folder(client: glovebox.Client, folder: Path) -> None:
    outside = folder.parent / "outside.txt"
    outside.write_text("theirs")
    (folder / ".env").write_text("TOKEN=value\n")
    (folder / "notes").mkdir()
    (folder / "notes" / "a.md").write_text("mine")
    (folder / "within.md").symlink_to("notes/a.md")
    (folder / "leads-out.md").symlink_to(outside)
    (folder / "relative.md").symlink_to("../outside.txt")
    (folder / "out").symlink_to(folder.parent)
    (folder / "dangling.md").symlink_to("../new.txt")
    (folder / "secret.md").symlink_to(".env")
    (folder / "notes" / "secret.md").symlink_to("../.env")
    os.mkfifo(folder / "pipe")
    # The control: what may be reached is.
    for name in ("notes/a.md", "within.md"):
        read = client.experiments.read(str(folder), name)
        assert read["text"] == "mine"
    client.experiments.write(str(folder), "changed", read["etag"], "within.md")
    assert (folder / "within.md").is_symlink() and (folder / "notes" / "a.md").read_text() == "changed"
    for name in ("../outside.txt", "notes/../../outside.txt", str(outside), "leads-out.md", "relative.md",
                 "out/outside.txt", "dangling.md", "secret.md", "notes/secret.md", ".env", "notes/.hidden", ".", "",
                 "notes/", "a\0b"):  # fmt: skip
        assert refused(client.experiments.read, str(folder), name) == "experiments.outside", name
        assert refused(client.experiments.write, str(folder), "x", "", name) == "experiments.outside", name
    for name in ("pipe", "notes"):
        assert refused(client.experiments.read, str(folder), name) == "io.not_a_file"
        assert refused(client.experiments.write, str(folder), "x", "", name) == "io.not_a_file"
    assert outside.read_text() == "theirs" and not (folder.parent / "new.txt").exists()
    # A folder that is no experiment gives nothing else away.
    assert refused(client.experiments.read, str(folder.parent), "outside.txt") == "experiments.none"
    assert refused(client.experiments.read, "relative/folder") == "experiments.path"
    assert refused(client.experiments.read, str(folder) + "\0/x") == "experiments.path"
    assert refused(client.experiments.read, str(folder / "nowhere")) == "io.not_found"


def test_what_is_not_a_text(client: glovebox.Client, folder: Path) -> None:
    file = folder / "experiment.toml"
    etag = client.experiments.read(str(folder))["etag"]
    file.write_bytes(b"name = \"caf\xe9\"\n")
    assert refused(client.experiments.read, str(folder)) == "experiments.not_text"
    assert refused(client.experiments.write, str(folder), TEXT, etag) == "experiments.not_text"
    with file.open("wb") as sparse:
        sparse.truncate(1 << 40)
    assert refused(client.experiments.read, str(folder)) == "io.too_large"
    assert refused(client.experiments.write, str(folder), TEXT, etag) == "io.too_large"
    file.write_text(TEXT)
    assert refused(client.experiments.write, str(folder), "x" * (4 << 20) + "x", etag) == "params.value"
    client.experiments.write(str(folder), "x" * (4 << 20), etag)
    assert client.experiments.read(str(folder))["text"] == "x" * (4 << 20)


@pytest.mark.as_user
def test_where_nothing_may_be_written(client: glovebox.Client, folder: Path) -> None:
    file = folder / "experiment.toml"
    etag = client.experiments.read(str(folder))["etag"]
    if os.geteuid() == 0:
        # Nothing is forbidden to root but what the file system itself refuses.
        if subprocess.run(["chattr", "+i", str(file)], capture_output=True).returncode != 0:
            pytest.skip("this file system has no immutable files")
        try:
            assert refused(client.experiments.write, str(folder), "x", etag) == "io.permission"
        finally:
            subprocess.run(["chattr", "-i", str(file)], check=True)
    else:
        folder.chmod(0o500)
        assert refused(client.experiments.write, str(folder), "x", etag) == "io.permission"
        folder.chmod(0o700)
        file.chmod(0o400)
        assert refused(client.experiments.write, str(folder), "x", etag) == "io.permission"
        file.chmod(0o600)
    assert file.read_text() == TEXT and os.listdir(folder) == ["experiment.toml"]
    client.experiments.write(str(folder), "x", etag)


def test_a_repeated_op_writes_once(client: glovebox.Client, folder: Path) -> None:
    etag = client.experiments.read(str(folder))["etag"]
    asked = {"experiment": str(folder), "text": "# first\n", "etag": etag, "op": str(uuid.uuid4())}
    first = client.request("experiments.write", asked, mutates=True)[0]
    (folder / "experiment.toml").write_text("# theirs\n")
    assert client.request("experiments.write", asked, mutates=True)[0] == first
    assert (folder / "experiment.toml").read_text() == "# theirs\n"


def test_changes_are_followed(client: glovebox.Client, folder: Path) -> None:
    seen: queue.Queue[Any] = queue.Queue()

    def watch() -> None:
        with glovebox.connect() as own, contextlib.suppress(glovebox.Disconnected):
            for _, items in own.state.watch(["experiments"]):
                if str(folder) in items:
                    seen.put(items[str(folder)])

    threading.Thread(target=watch, daemon=True).start()

    def until(good: Any) -> Any:
        while True:
            item = seen.get(timeout=60)
            if good(item):
                return item

    etag = client.experiments.read(str(folder))["etag"]
    item = until(lambda one: one["etag"] == etag)
    assert item["path"] == str(folder / "experiment.toml") and item["env"] == [] and "error" not in item
    (folder / ".env").write_text("# no\nexport TOKEN='value'\nOTHER=1\nb\u00e4d=2\n")
    item = until(lambda one: one["env"])
    assert item["env"] == ["OTHER", "TOKEN"] and "value" not in str(item)
    replacement = folder / "next"
    for text in ("# replaced\n", "# again\n"):
        replacement.write_text(text)
        replacement.rename(folder / "experiment.toml")
        etag = until(lambda one, before=etag: one["etag"] not in ("", before))["etag"]
    assert etag == client.experiments.read(str(folder))["etag"]
    (folder / "experiment.toml").write_bytes(b"\xff")
    assert until(lambda one: "error" in one)["error"]["code"] == "experiments.not_text"
    (folder / "experiment.toml").unlink()
    until(lambda one: one["etag"] == "" and "error" not in one)


def test_the_latest_folders_are_followed(client: glovebox.Client, tmp_path: Path) -> None:
    for number in range(40):
        made = tmp_path / f"e{number}"
        made.mkdir()
        (made / "experiment.toml").write_text(TEXT)
        client.experiments.read(str(made))
    items = client.state.subscribe(["experiments"])["experiments"]["items"]
    assert len(items) <= 32 and str(tmp_path / "e0") not in items
