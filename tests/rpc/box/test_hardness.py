# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""A keeper against what lives inside and against whoever speaks nonsense on its socket. Every "cannot" here has
beside it the same thing done where it can be."""

from __future__ import annotations

import json
import os
import socket
import stat
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from box_process import PYTHON, WORKER, BoxProcess, BoxRefused, wait_for
from host_process import frame

pytestmark = pytest.mark.as_user

SECRET = "se-cret-abcd-0002"


@pytest.fixture(scope="module")
def keeping(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BoxProcess]:
    """A full sandbox: commands get the secrets."""
    box = BoxProcess(tmp_path_factory.mktemp("secrets"), secrets={"TOKEN": SECRET}, secrets_in_exec=True)
    yield box
    box.close()


def test_a_secret_is_seen_by_who_asked_and_nowhere_else(keeping: BoxProcess) -> None:
    assert keeping.link.run("echo $TOKEN")["stdout"].decode().strip() == SECRET
    link = keeping.connect()
    assert link.call("box.worker", python=PYTHON, package=WORKER)["env"] == {"TOKEN": SECRET}
    # Process 1 and the worker, looked at by a command that itself has no secret but can see a sibling's variables.
    keeping.link.exec("sleep", "1000", env={"TOKEN": "", "SIBLING": "sibling-value"})
    look = ("for p in /proc/[0-9]*; do tr '\\0' '\\n' <$p/environ; tr '\\0' ' ' <$p/cmdline; done 2>/dev/null; "
            "cat /proc/1/environ 2>&1; cat /proc/1/mem 2>&1 | head -c 10")
    seen = keeping.link.run(look, env={"TOKEN": ""})["stdout"].decode()
    assert "sibling-value" in seen and "glovebox_worker" in seen and SECRET not in seen
    assert "/proc/1/environ: Permission denied" in seen
    files = [path for path in keeping.folder.rglob("*") if path.is_file() and "commands" not in path.parts]
    texts = {path.name: path.read_bytes() for path in files if os.access(path, os.R_OK)}
    assert "keeper.log" in texts and not [name for name, text in texts.items() if SECRET.encode() in text]
    # Outside: neither the keeper's own arguments nor its environment.
    of_keeper = Path(f"/proc/{keeping.process.pid}")
    assert b"--config-fd" in (of_keeper / "cmdline").read_bytes()
    assert SECRET.encode() not in (of_keeper / "cmdline").read_bytes()
    if os.geteuid() == 0:
        assert b"MARK_OF_KEEPER" in (of_keeper / "environ").read_bytes()
        assert SECRET.encode() not in (of_keeper / "environ").read_bytes()
    link.close()


def test_secrets_stay_out_of_commands_where_they_are_not_given(start: Callable[..., BoxProcess]) -> None:
    box = start(secrets={"TOKEN": SECRET})
    assert box.link.run("env")["stdout"].count(b"TOKEN") == 0
    assert box.link.call("box.hello", protocol=1)["secrets"] == ["TOKEN"]


def test_another_process_of_the_person_cannot_look_into_the_keeper(box: BoxProcess) -> None:
    if os.geteuid() == 0:
        # Root may: what counts is that the kernel counts it as not to be looked at.
        assert os.stat(f"/proc/{box.process.pid}/environ").st_uid == 0
        return
    assert os.access(f"/proc/{os.getpid()}/environ", os.R_OK)
    with pytest.raises(PermissionError):
        Path(f"/proc/{box.process.pid}/environ").read_bytes()


def test_a_command_has_three_descriptors(box: BoxProcess, tmp_path: Path) -> None:
    look = "import os; print(sorted(int(n) for n in os.listdir('/proc/self/fd')))"
    # The one more is the folder that is being read.
    assert box.link.python(look)["stdout"] == b"[0, 1, 2, 3]\n"
    assert box.link.python(look, stdin=True)["stdout"] == b"[0, 1, 2, 3]\n"
    extra = "import os; os.open('/', os.O_RDONLY); " + look
    assert box.link.python(extra)["stdout"] == b"[0, 1, 2, 3, 4]\n"


def test_nothing_of_the_keepers_environment_is_inside(box: BoxProcess) -> None:
    assert b"MARK_OF_KEEPER" not in box.link.run("env; cat /proc/self/environ")["stdout"]
    assert b"MARK=1" in box.link.run("env", env={"MARK": "1"})["stdout"]


def test_the_socket_is_ours_only(box: BoxProcess) -> None:
    path = Path(box.ready["control"])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE((box.box_folder / "commands").stat().st_mode) == 0o700


@pytest.mark.parametrize("noise", [
    struct.pack(">II", 0, 0), struct.pack(">II", 0xFFFFFFFF, 0) + b"x" * 100,
    struct.pack(">II", 2, 0xFFFFFFFF) + b"{}",
    struct.pack(">II", 2, (1 << 20) + 1) + b"{}", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", os.urandom(4096),
], ids=["empty", "huge text", "huge attachment", "large attachment", "http", "noise"])
def test_who_breaks_the_format_is_let_go(box: BoxProcess, noise: bytes) -> None:
    other = box.connect()
    try:
        other.socket.sendall(noise)
        other.socket.shutdown(socket.SHUT_WR)
        while other.socket.recv(1 << 16):
            pass
    except (BrokenPipeError, ConnectionResetError):
        pass
    other.close()
    assert box.link.run("echo still here")["stdout"] == b"still here\n"


def test_wrong_messages_are_answered(box: BoxProcess) -> None:
    other = box.connect()
    for text in (b"[]", b"nonsense", b'{"jsonrpc":"1.0"}', b"[" * 1000, b'{"jsonrpc":"2.0","id":1,"method":5}'):
        other.socket.sendall(struct.pack(">II", len(text), 0) + text)
        message, _ = other.read()
        assert "error" in message and message["id"] is None
    wrong = [("box.unknown", {}, "rpc.unknown_method"), ("box.put", {"path": "relative"}, "init.path"),
             ("box.put", {"path": "/x", "chunks": 10**6}, "params.chunks"), ("box.stat", {}, "init.path"),
             ("box.output", {"command": "x"}, "sandbox.no_command"), ("box.worker", {}, "params.missing"),
             ("box.signal", {"command": "x", "signal": "NOTHING"}, "params.range"),
             ("box.get", {"path": "/etc/passwd", "from": -1}, "init.offset"),
             ("box.exec", {"argv": ["a\0b"]}, "init.argv"), ("box.put", {"path": "/a\0b"}, "init.path")]
    for method, params, code in wrong:
        with pytest.raises(BoxRefused) as refused:
            other.call(method, **params)
        assert refused.value.code == code, method
    deep: dict = {}
    for _ in range(100):
        deep = {"a": deep}
    other.socket.sendall(frame({"jsonrpc": "2.0", "id": 5, "method": "box.hello", "params": deep}))
    assert other.read()[0]["error"]
    other.socket.sendall(frame({"jsonrpc": "2.0", "method": "chunk", "params": {"of": 999, "n": 0}}, b"x"))
    assert other.call("box.hello", protocol=1)["id"] == box.id
    other.close()


def test_a_half_sent_frame_holds_up_nobody(box: BoxProcess) -> None:
    other = box.connect()
    other.socket.sendall(struct.pack(">II", 16 << 20, 1 << 20) + b"{")
    assert box.link.run("echo still here")["stdout"] == b"still here\n"
    other.close()


def test_who_asks_and_never_reads_is_let_go(box: BoxProcess) -> None:
    box.link.call("box.put", b"x" * (1 << 20), path="/workspace/large")
    other = box.connect()
    other.socket.settimeout(60)
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        while True:
            for _ in range(50):
                other.ask("box.get", path="/workspace/large")
            box.link.call("box.hello", protocol=1)
    other.close()
    assert box.link.run("echo still here")["stdout"] == b"still here\n"


FORK_BOMB = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"


def test_a_fork_bomb_grows_as_far_as_it_may(start: Callable[..., BoxProcess]) -> None:
    # The control of the test below: it is the limit that holds the bomb, and nothing else does.
    box = start(launch={"processes": 600})
    command = box.link.exec(PYTHON, "-c", FORK_BOMB)
    wait_for(lambda: box.link.call("box.meters")["processes"] > 300)
    box.link.call("box.signal", command=command, signal=9)
    box.link.call("box.stop")
    assert box.ended()["reason"] == "stopped"


def test_a_fork_bomb_ends_inside(start: Callable[..., BoxProcess]) -> None:
    box = start(launch={"processes": 200})
    command = box.link.exec(PYTHON, "-c", FORK_BOMB)

    def refused() -> bool:
        try:
            box.link.exec("true")
        except BoxRefused:
            return True
        return False

    # What needs no process is answered, and what cannot be had is refused.
    wait_for(refused)
    assert box.link.call("box.stat", path="/workspace")["kind"] == "folder"
    assert 150 <= box.link.call("box.meters")["processes"] <= 205
    box.link.call("box.signal", command=command, signal=9)
    box.link.call("box.stop")
    assert box.ended()["reason"] == "stopped"


def test_output_bombs_of_many_commands_stay_bounded(start: Callable[..., BoxProcess]) -> None:
    box = start()
    commands = [box.link.exec("sh", "-c", "yes & yes >&2", output_limit=100_000) for _ in range(10)]
    other = box.connect()
    wait_for(lambda: all(other.call("box.wait", command=command, timeout_ms=0)["dropped"] > 10**6
                         for command in commands))
    for command in commands:
        other.call("box.signal", command=command, signal=9)
    sizes = [path.stat().st_size for path in (box.box_folder / "commands").iterdir()]
    assert max(sizes) == 100_000 and len(sizes) == 20


def test_loud_commands_share_the_way_out(start: Callable[..., BoxProcess]) -> None:
    box = start()
    commands = [box.link.exec("sh", "-c", "yes & yes >&2", output_limit=100_000) for _ in range(10)]

    def dropped() -> list[int]:
        return [box.link.call("box.wait", command=command, timeout_ms=0)["dropped"] for command in commands]

    wait_for(lambda: max(dropped()) > 200 * 10**6, 60)
    # Not only who was there first; and one that says little is heard beside them.
    seen = dropped()
    assert min(seen) * 10 > max(seen), seen
    assert box.link.run("echo heard")["stdout"] == b"heard\n"
    for command in commands:
        box.link.call("box.signal", command=command, signal=9)


def test_a_folder_full_of_names_is_listed_in_parts(box: BoxProcess) -> None:
    box.link.python("import os\nos.mkdir('/workspace/many')\n"
                    "for n in range(4500): open(f'/workspace/many/{n:05}', 'w').close()")
    names: list[str] = []
    while True:
        answer = box.link.call("box.list", path="/workspace/many", after=names[-1] if names else "")
        names += [entry["name"] for entry in answer["entries"]]
        if not answer["more"]:
            break
    assert names == [f"{number:05}" for number in range(4500)]


def test_the_keeper_tells_its_end_in_a_file_that_only_we_read(start: Callable[..., BoxProcess]) -> None:
    box = start()
    box.link.call("box.stop")
    ended = box.ended()
    assert set(ended) == {"reason", "at"}
    assert stat.S_IMODE((box.box_folder / "ended.json").stat().st_mode) == 0o600
    lines = [json.loads(line) for line in box.log_file.read_text().splitlines()]
    assert lines[-1]["reason"] == "stopped"
