# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Files into and out of a sandbox, and what it says of itself."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from box_process import PYTHON, BoxProcess, BoxRefused, wait_for

pytestmark = pytest.mark.as_user


def test_bytes_and_files_in_and_out(box: BoxProcess, tmp_path: Path) -> None:
    data = os.urandom(3 << 20)
    (tmp_path / "here").write_bytes(data)
    assert box.link.call("box.put", path="/workspace/deep/er/file", file=str(tmp_path / "here"), mode=0o750) == {
        "bytes": len(data)}
    assert box.link.call("box.stat", path="/workspace/deep/er/file")["mode"] == 0o750
    assert box.link.call("box.get", path="/workspace/deep/er/file", file=str(tmp_path / "back")) == {
        "bytes": len(data)}
    assert (tmp_path / "back").read_bytes() == data
    for wrong in ("/workspace/nothing", "/workspace"):
        with pytest.raises(BoxRefused):
            box.link.call("box.get", path=wrong, file=str(tmp_path / "back"))
    assert (tmp_path / "back").read_bytes() == data and len(list(tmp_path.iterdir())) == 2
    assert box.link.call("box.put", b"small", path="/workspace/small") == {"bytes": 5}
    answer, text = box.link.answer(box.link.ask("box.get", path="/workspace/deep/er/file", limit=100,
                                                **{"from": 1 << 20}))
    assert answer["size"] == len(data) and text == data[1 << 20 :][:100]
    assert box.link.text("box.get", path="/workspace/deep/er/file") == data[: 1 << 20]
    assert box.link.text("box.get", path="/workspace/small", **{"from": 5}) == b""


GROW = "truncate -s 100M grow; while [ -e grow ]; do truncate -s +50M grow; done"


def test_holes_stay_and_what_grows_has_an_end(box: BoxProcess, tmp_path: Path) -> None:
    box.link.run("printf begin > holes; truncate -s 100M holes; printf end >> holes")
    size = box.link.call("box.get", path="/workspace/holes", file=str(tmp_path / "holes"))["bytes"]
    text = (tmp_path / "holes").read_bytes()
    assert size == len(text) == (100 << 20) + 3
    assert text.startswith(b"begin\0") and text.endswith(b"\0end") and text.count(b"\0") == len(text) - 8
    assert (tmp_path / "holes").stat().st_blocks * 512 < 10 << 20
    # Faster than anybody reads, and no byte of it is on a disk.
    box.link.call("box.exec", script=GROW)
    wait_for(lambda: box.link.run("stat -c %s grow 2>/dev/null")["stdout"])
    got = box.link.call("box.get", path="/workspace/grow", file=str(tmp_path / "grow"))["bytes"]
    assert got == (tmp_path / "grow").stat().st_size and got % (50 << 20) == 0
    assert box.link.call("box.stat", path="/workspace/grow")["size"] > got
    box.link.run("rm grow")


def test_chunks(box: BoxProcess) -> None:
    text = os.urandom((2 << 20) + 5)
    pieces = [text[at : at + (1 << 20)] for at in range(0, len(text), 1 << 20)]
    assert box.link.call_chunked("box.put", pieces, path="/workspace/chunked") == {"bytes": len(text)}
    assert box.link.call("box.stat", path="/workspace/chunked")["size"] == len(text)


def test_a_folder(box: BoxProcess, tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/c").write_text("text")
    (tmp_path / "link").symlink_to("/etc/passwd")
    box.link.call("box.put_folder", folder=str(tmp_path), path="/workspace/copied")
    assert box.link.text("box.get", path="/workspace/copied/a/b/c") == b"text"
    entries = box.link.call("box.list", path="/workspace/copied")["entries"]
    assert {(entry["name"], entry["kind"]) for entry in entries} == {("a", "folder"), ("link", "link")}
    with pytest.raises(BoxRefused) as refused:
        box.link.call("box.put_folder", folder=str(tmp_path / "none"), path="/workspace/x")
    assert refused.value.code == "sandbox.not_a_folder"


def test_paths_are_resolved_inside(box: BoxProcess, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o777)
    outside.chmod(0o777)
    box.link.run(f"ln -s {outside} /workspace/out")
    with pytest.raises(BoxRefused):
        box.link.call("box.put", b"x", path="/workspace/out/file")
    assert os.listdir(outside) == []
    box.link.run("mkfifo /workspace/pipe")
    with pytest.raises(BoxRefused) as refused:
        box.link.call("box.get", path="/workspace/pipe")
    assert refused.value.code == "init.not_a_file"
    with pytest.raises(BoxRefused) as refused:
        box.link.call("box.put", path="/workspace/x", file=str(tmp_path))
    assert refused.value.code == "sandbox.not_a_file"


def test_folders_and_meters(box: BoxProcess) -> None:
    box.link.call("box.mkdir", path="/workspace/made/here", mode=0o700)
    assert box.link.call("box.stat", path="/workspace/made/here")["kind"] == "folder"
    meters = box.link.call("box.meters")
    assert meters["processes"] >= 1 and meters["memory"] > 0 and "/workspace" in meters["disk"]
    assert not {"t", "ch"} & set(meters)


def test_a_file_that_does_not_fit_leaves_nothing(start: Callable[..., BoxProcess], tmp_path: Path) -> None:
    box = start(launch={"file_bytes": 1 << 20})
    (tmp_path / "fits").write_bytes(b"x" * (1 << 20))
    (tmp_path / "large").write_bytes(b"x" * (3 << 20))
    assert box.link.call("box.put", path="/workspace/fits", file=str(tmp_path / "fits"))["bytes"] == 1 << 20
    with pytest.raises(BoxRefused):
        box.link.call("box.put", path="/workspace/large", file=str(tmp_path / "large"))
    assert [entry["name"] for entry in box.link.call("box.list", path="/workspace")["entries"]] == ["fits"]


def test_a_file_on_its_way_in_cannot_be_taken(box: BoxProcess) -> None:
    look = """
import os, sys
def opened(process):
    count = 0
    for name in os.listdir(f"/proc/{process}/fd"):
        for attempt in (os.readlink, lambda path: os.close(os.open(path, os.O_RDONLY))):
            try:
                attempt(f"/proc/{process}/fd/{name}")
                count += 1
            except OSError:
                pass
    return count
print(opened(1), opened(sys.argv[1]) > 0)
"""
    sibling = box.link.call("box.exec", argv=["sleep", "1000"])
    assert box.link.follow(box.link.exec(PYTHON, "-c", look, str(sibling["pid"])))["stdout"] == b"0 True\n"
    box.link.call("box.signal", command=sibling["command"], signal=9)
