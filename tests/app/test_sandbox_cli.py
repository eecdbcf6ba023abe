# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Sandboxes from the command line, with the real daemon. They use a Python of this machine: nothing is downloaded."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import shutil
import signal
import socket
import struct
import subprocess
import termios
import time
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest

ROOT = Path(__file__).resolve().parents[2]
HELLO = ROOT / "resources/examples/hello/interface.py"
PYTHON = shutil.which("python3", path="/usr/bin:/bin") or "python3"


@pytest.fixture(scope="module")
def box(shared_home: Any) -> Iterator[Any]:
    """A home with a running sandbox called box, for tests that do it no harm."""
    shared_home.extra["BOX_SECRET"] = "a secret value"
    shared_home.cli("sandbox", "start", "--name", "box", "--python", PYTHON, "--secret", "BOX_SECRET",
                    "--env", "COLOUR=blue")
    yield shared_home
    shared_home.cli("sandbox", "stop", "--all", code=None)


def run(home: Any, *words: str, text: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([home.bin / "glovebox", *words], env=home.environment, input=text, capture_output=True,
                          timeout=60)


def live(home: Any) -> list[str]:
    return [item["name"] for item in home.json("sandbox", "ls")["sandboxes"] if item["state"] not in
            ("stopped", "failed")]


def test_exec_is_as_if_it_ran_here(box: Any) -> None:
    done = run(box, "sandbox", "exec", "box", "sh", "-c", "cat; echo to-error >&2; exit 7", text=b"typed\n")
    assert (done.returncode, done.stdout, done.stderr) == (7, b"typed\n", b"to-error\n")
    everything = bytes(range(256)) * 5000
    assert run(box, "sandbox", "exec", "box", "cat", text=everything).stdout == everything
    assert run(box, "sandbox", "exec", "box", "sh", "-c", "kill -9 $$").returncode == 128 + 9
    # What stands behind the command is the command's, whatever it looks like.
    done = run(box, "sandbox", "exec", "--cwd", "/tmp", "box", "echo", "--json", "--", "--help")
    assert done.stdout == b"--json -- --help\n"
    done = run(box, "sandbox", "exec", "--timeout", "1s", "--json", "--no-input", "box", "sleep", "60")
    assert (done.returncode, b'"timed_out":true' in done.stdout) == (128 + 9, True), done


def test_exec_sees_what_was_handed_over(box: Any) -> None:
    done = run(box, "sandbox", "exec", "--env", "SIZE=3", "box", "sh", "-c", "echo $BOX_SECRET, $COLOUR, $SIZE; pwd")
    assert done.stdout.decode().splitlines() == ["a secret value, blue, 3", "/workspace"]
    assert "a secret value" not in box.cli("sandbox", "show", "box", "--json")


def test_exec_json_is_one_object(box: Any) -> None:
    done = run(box, "sandbox", "exec", "--json", "box", "sh", "-c", "echo out; echo err >&2; exit 3")
    assert done.returncode == 3
    assert done.stdout.count(b"\n") == 1
    assert (b'"stdout":"out\\n"' in done.stdout, b'"stderr":"err\\n"' in done.stdout) == (True, True)


class Typist:
    """Somebody at a terminal of a given size."""

    def __init__(self, home: Any, *words: str, rows: int = 30, columns: int = 100) -> None:
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.execve(home.bin / "glovebox", ["glovebox", *words], home.environment)
        self.seen = ""

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text: str) -> None:
        os.write(self.terminal, text.encode())

    def wait_for(self, text: str, seconds: float = 30) -> None:
        until = time.monotonic() + seconds
        while text not in self.seen:
            assert time.monotonic() < until, f"waited for {text!r}, saw {self.seen!r}"
            if select.select([self.terminal], [], [], 0.2)[0]:
                try:
                    self.seen += os.read(self.terminal, 65536).decode(errors="replace")
                except OSError:
                    assert text in self.seen, f"it ended without {text!r}: {self.seen!r}"

    def exit_code(self) -> int:
        try:
            while os.read(self.terminal, 65536):
                pass
        except OSError:
            pass  # its last end was closed
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.terminal)
        return code


def test_a_real_terminal(box: Any) -> None:
    script = ("import os, signal, sys\n"
              "def tell(*_): print('size', *os.get_terminal_size(), flush=True)\n"
              "signal.signal(signal.SIGWINCH, tell)\n"
              "print('terminal', os.isatty(0) and os.isatty(1), flush=True); tell()\n"
              "for line in sys.stdin: print('got', line.strip(), flush=True)\n")
    typist = Typist(box, "sandbox", "exec", "-t", "box", "python3", "-c", script)
    typist.wait_for("terminal True")
    typist.wait_for("size 100 30")
    typist.resize(40, 120)
    typist.wait_for("size 120 40")
    typist.type("hello\r")
    typist.wait_for("got hello")
    typist.type("\x03")  # the command's Ctrl+C, not ours
    typist.wait_for("KeyboardInterrupt")
    assert typist.exit_code() in (1, 130)


def test_ctrl_c_reaches_the_command(box: Any) -> None:
    script = "trap 'echo caught; exit 5' INT; echo ready; while :; do sleep 0.1; done"
    child = subprocess.Popen([box.bin / "glovebox", "sandbox", "exec", "box", "sh", "-c", script],
                             env=box.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"ready\n"
    child.send_signal(signal.SIGINT)
    assert child.stdout.read() == b"caught\n"
    assert child.wait(30) == 5


def test_a_signal_comes_once(box: Any) -> None:
    # In the command's own group and in another of its session. Ten times: two in a row can melt into one.
    script = ("import os, signal, time\n"
              "pid = os.fork()\n"
              "if pid == 0: os.setpgid(0, 0)\n"
              "seen = []\n"
              "signal.signal(signal.SIGINT, lambda *_: seen.append(1))\n"
              "time.sleep(0.05); os.write(1, b'ready\\n')\n"
              "until = time.monotonic() + 20\n"
              "while not seen and time.monotonic() < until: time.sleep(0.01)\n"
              "time.sleep(0.1); os.write(1, b'%d\\n' % len(seen))\n"
              "if pid: os.wait()\n")
    for _ in range(10):
        child = subprocess.Popen([box.bin / "glovebox", "sandbox", "exec", "box", "python3", "-c", script],
                                 env=box.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert child.stdout is not None
        assert [child.stdout.readline() for _ in range(2)] == [b"ready\n"] * 2
        child.send_signal(signal.SIGINT)
        assert child.stdout.read() == b"1\n1\n"
        assert child.wait(30) == 0


def test_files_and_folders_in_and_out(box: Any, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "deep/er").mkdir(parents=True)
    (tree / "deep/er/data.bin").write_bytes(os.urandom(3_000_000))
    (tree / "run.sh").write_text("#!/bin/sh\necho it runs\n")
    (tree / "run.sh").chmod(0o755)
    (tree / "empty").write_bytes(b"")
    (tree / ("long" * 63)).write_text("as long as a name can be, nearly")
    with (tree / "holes").open("wb") as holes:
        holes.truncate(100 << 20)
    (tree / "link").symlink_to("/etc/passwd")
    said = box.json("sandbox", "cp", str(tree), "box:/workspace/")
    assert (said["files"], [Path(name).name for name in said["left_out"]]) == (5, ["link"])
    assert run(box, "sandbox", "exec", "box", "./tree/run.sh").stdout == b"it runs\n"
    # A link made inside, and names that could lead elsewhere, stay inside.
    run(box, "sandbox", "exec", "box", "ln", "-s", "/etc/shadow", "tree/deep/shadow")
    said = box.json("sandbox", "cp", "box:/workspace/tree", str(tmp_path / "back"))
    assert (said["files"], said["left_out"]) == (5, ["/workspace/tree/deep/shadow"])
    back = tmp_path / "back"
    assert (back / "deep/er/data.bin").read_bytes() == (tree / "deep/er/data.bin").read_bytes()
    assert (back / "empty").read_bytes() == b"" and (back / ("long" * 63)).read_text().startswith("as long")
    assert (back / "holes").stat().st_size == 100 << 20 and (back / "holes").stat().st_blocks * 512 < 10 << 20
    assert os.access(back / "run.sh", os.X_OK)
    assert not (back / "deep/shadow").is_symlink()
    assert not list(back.rglob("*.part"))
    box.cli("sandbox", "cp", str(tree / "run.sh"), "box:/workspace/other.sh")
    box.cli("sandbox", "cp", "box:/workspace/other.sh", str(tmp_path))
    assert (tmp_path / "other.sh").read_text() == (tree / "run.sh").read_text()
    box.cli("sandbox", "cp", "box:/workspace/no-such", str(tmp_path), code=1)
    box.cli("sandbox", "cp", str(tree), str(tmp_path / "elsewhere"), code=2)


def test_serve_and_call_inside(box: Any, eventually: Callable[..., Any]) -> None:
    served = box.json("sandbox", "serve", "box", str(HELLO), "--name", "inside")
    assert served["sandbox"] == box.json("sandbox", "show", "box")["id"]
    eventually(lambda: [item for item in box.json("interfaces")["interfaces"] if item["name"] == "inside"
                        and item["state"] == "ready"], what="the interface")
    record = box.json("calls", "run", "--interface", "inside", "greet", "name=Ada", "language=de")
    assert record["result"] == "Hallo, Ada!"


def test_ports(box: Any, eventually: Callable[..., Any]) -> None:
    server = "import socketserver as s\n" \
             "class H(s.StreamRequestHandler):\n def handle(me): me.wfile.write(b'hi ' + me.rfile.readline())\n" \
             "s.TCPServer(('127.0.0.1', 8123), H).serve_forever()"
    box.cli("sandbox", "exec", "--no-input", "box", "sh", "-c",
            f"cat > server.py <<'E'\n{server}\nE\nsetsid python3 server.py >/dev/null 2>&1 &")
    path = box.json("sandbox", "port", "box", "8123")["socket"]

    def ask() -> bytes:
        try:
            with socket.socket(socket.AF_UNIX) as peer:
                peer.settimeout(5)
                peer.connect(path)
                peer.sendall(b"there\n")
                return peer.makefile("rb").readline()
        except OSError:
            return b""  # it does not listen yet

    assert eventually(ask, what="the server inside") == b"hi there\n"
    (port,) = box.json("sandbox", "port", "box")["ports"]
    box.cli("sandbox", "port", "box", "--close", port["id"])
    assert box.json("sandbox", "port", "box")["ports"] == []


def test_lists_and_details(box: Any) -> None:
    assert "box" in box.cli("sandbox", "ls")
    assert "ready" in box.cli("sandbox", "show", "box")
    box.cli("sandbox", "logs", "box")
    box.cli("sandbox", "images")
    plan = box.json("sandbox", "plan", "--python", PYTHON, "--scoped")
    assert plan["steps"]


@pytest.mark.parametrize(("words", "code", "named"), [
    (["start", "--memory", "much"], 1, "memory"),
    (["start", "--name", "no/slash", "--python", PYTHON], 1, "name"),
    (["start", "--python", PYTHON, "--apt", "git"], 1, "system_packages"),
    (["start", "--scoped", "--network", "on", "--python", PYTHON], 1, "network"),
    (["start", "--timeout", "soon"], 2, "--timeout"),
    (["start", "--file", "nowhere"], 2, "--file"),
    (["start", "/no/such/folder"], 1, "experiment.toml"),
    (["exec", "box"], 2, "command"),
    (["exec", "no-such-box", "true"], 1, "no-such-box"),
    (["cp", "a", "b"], 2, "NAME:PATH"),
    (["extend", "box"], 2, "longer"),
    (["stop"], 2, "--all"),
])
def test_what_is_wrong_is_named(box: Any, tmp_path: Path, words: list[str], code: int, named: str) -> None:
    before = len(box.json("sandbox", "ls")["sandboxes"])
    done = subprocess.run([box.bin / "glovebox", "sandbox", *words], env=box.environment, capture_output=True,
                          text=True, timeout=60, cwd=tmp_path)
    assert (done.returncode, named in done.stderr) == (code, True), done.stderr
    assert len(box.json("sandbox", "ls")["sandboxes"]) == before


@pytest.mark.as_user
def test_experiment_from_its_file_to_its_end(home: Any, tmp_path: Path) -> None:
    folder = tmp_path / "first"
    home.cli("experiment", "new", str(folder), "--example", "hello")
    with open(folder / "experiment.toml", "a") as file:
        file.write(f'\n[sandbox]\nname = "from-file"\ninterpreter = "{PYTHON}"\ntimeout = 3600\n')
    started = home.json("sandbox", "start", str(folder), "--serve", str(folder / "interface.py"))
    assert started["name"] == "from-file"
    assert started["served"][0]["sandbox"] == started["id"]
    before = home.json("sandbox", "show", "from-file")["ends_at"]
    assert home.json("sandbox", "extend", "from-file", "30m")["ends_at"] > before
    assert live(home) == ["from-file"]
    home.cli("sandbox", "stop", "from-file")
    assert live(home) == []
    assert home.json("sandbox", "rm", started["id"])["removed"] == [started["id"]]
    assert home.json("sandbox", "ls")["sandboxes"] == []


def test_the_daemon_reads_the_experiment(home: Any, tmp_path: Path) -> None:
    """What it would not give to a window it does not give to the command line."""
    (tmp_path / "theirs.toml").write_text('id = "0b1e9f0c-3f54-4d0e-9a66-0c0d2f7f8a12"\nname = "theirs"\n'
                                          f'[sandbox]\ninterpreter = "{PYTHON}"\n')
    (tmp_path / "in").mkdir()
    file = tmp_path / "in" / "experiment.toml"
    for make, said in ((lambda: file.symlink_to(tmp_path / "theirs.toml"), b"leads out of the experiment's folder"),
                       (lambda: file.write_bytes(b'[sandbox]\nname = "caf\xe9"\n'), b"not text (UTF-8)"),
                       (lambda: file.write_text("[sandbox"), b"line 1")):
        make()
        done = run(home, "sandbox", "plan", str(tmp_path / "in"))
        assert done.returncode == 1 and said in done.stderr, done.stderr
        file.unlink()
    shutil.copy(tmp_path / "theirs.toml", file)  # the control
    home.cli("sandbox", "plan", str(tmp_path / "in"))


def test_an_experiment_from_elsewhere_asks_first(home: Any, tmp_path: Path) -> None:
    folder = tmp_path / "foreign"
    folder.mkdir()
    (folder / "experiment.toml").write_text(
        'id = "0b1e9f0c-3f54-4d0e-9a66-0c0d2f7f8a11"\nname = "foreign"\n[sandbox]\nname = "foreign"\n'
        f'interpreter = "{PYTHON}"\nlocal_dirs = [["{tmp_path}", "/workspace/all"]]\n')
    refused = run(home, "sandbox", "start", str(folder))
    assert refused.returncode == 1
    assert str(tmp_path).encode() in refused.stderr
    assert b"--trust" in refused.stderr
    assert live(home) == []
    home.cli("sandbox", "start", str(folder), "--trust")
    assert live(home) == ["foreign"]
    home.cli("sandbox", "stop", "--all")
    assert live(home) == []


def test_ctrl_c_takes_a_start_back(home: Any, eventually: Callable[..., Any]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # a repository that never answers
        address = f"https://127.0.0.1:{silent.getsockname()[1]}/some/repo"
        child = subprocess.Popen([home.bin / "glovebox", "sandbox", "start", "--name", "stuck", "--python", PYTHON,
                                  "--repo", address], env=home.environment, stderr=subprocess.PIPE, text=True)
        silent.settimeout(60)
        connection, _ = silent.accept()
        child.send_signal(signal.SIGINT)
        assert child.wait(30) == 130
        connection.close()
    eventually(lambda: not live(home), what="nothing to be left of it")


def test_a_plan_runs_nothing_of_an_experiment(home: Any, tmp_path: Path) -> None:
    folder = tmp_path / "foreign"
    folder.mkdir()
    (folder / "python").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nexec {PYTHON} \"$@\"\n")
    (folder / "python").chmod(0o755)
    (folder / "experiment.toml").write_text(
        'id = "0b1e9f0c-3f54-4d0e-9a66-0c0d2f7f8a12"\nname = "foreign"\n[sandbox]\nname = "foreign"\n'
        f'interpreter = "{folder}/python"\n')
    home.cli("sandbox", "plan", str(folder))
    assert not (tmp_path / "ran").exists()
    # Once it is trusted, the wrapper is asked what it runs, and that runs inside.
    home.cli("sandbox", "start", str(folder), "--trust")
    assert (tmp_path / "ran").exists()
    assert run(home, "sandbox", "exec", "foreign", "python3", "-c", "print(6 * 7)").stdout == b"42\n"
    home.cli("sandbox", "stop", "--all")


@pytest.mark.as_user
def test_who_follows_hears_of_the_end(home: Any) -> None:
    home.cli("sandbox", "start", "--name", "brief", "--python", PYTHON, "--timeout", "6s")
    assert "sandbox extend brief" in home.cli("sandbox", "show", "brief")
    log = subprocess.Popen([home.bin / "glovebox", "sandbox", "logs", "brief", "--follow"], env=home.environment,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    done = run(home, "sandbox", "exec", "--no-input", "brief", "sleep", "600")
    assert b"brief ends in" in done.stderr and b"sandbox extend brief 30m" in done.stderr
    log.send_signal(signal.SIGINT)
    assert b"brief ends in" in log.communicate(timeout=60)[1]
