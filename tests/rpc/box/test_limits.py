# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""What ends a sandbox, and what is left of it then: nothing but the reason."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from box_process import PYTHON, BoxProcess, BoxRefused, wait_for

pytestmark = pytest.mark.as_user


def processes_of(box: BoxProcess) -> list[int]:
    """bwrap, process 1, and a command that another one left behind; by their numbers outside."""
    box.link.run("sleep 1000 >/dev/null 2>&1 &")
    wait_for(lambda: len(descendants(box.process.pid)) == 3)
    return descendants(box.process.pid)


def descendants(pid: int) -> list[int]:
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            for child in Path(f"/proc/{pid}/task/{task}/children").read_text().split():
                found += [int(child), *descendants(int(child))]
        except OSError:
            pass
    return found


def alive(pids: list[int]) -> list[int]:
    def state(pid: int) -> str:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return "gone"
    return [pid for pid in pids if state(pid) not in ("gone", "Z", "X")]


def test_stop_ends_everything_and_says_so(start: Callable[..., BoxProcess]) -> None:
    box = start()
    watching = box.connect()
    watching.call("box.hello", protocol=1)
    pids = processes_of(box)
    assert alive(pids) == pids
    box.link.call("box.stop")
    assert watching.next("box.ended")["reason"] == "stopped"
    with pytest.raises(ConnectionError):
        watching.read()
    # By the time the connection closes nothing runs any more.
    assert alive(pids) == []
    assert box.ended()["reason"] == "stopped"
    assert not os.path.exists(box.ready["control"])


def test_a_killed_keeper_takes_everything_along(start: Callable[..., BoxProcess]) -> None:
    box = start()
    pids = processes_of(box)
    assert alive(pids) == pids
    box.process.kill()
    box.process.wait()
    wait_for(lambda: not alive(pids), seconds=10)
    assert not (box.box_folder / "ended.json").exists()


def test_a_signal_ends_it_in_order(start: Callable[..., BoxProcess]) -> None:
    box = start()
    pids = processes_of(box)
    box.process.send_signal(signal.SIGTERM)
    assert box.ended()["reason"] == "signal" and alive(pids) == []


def test_the_end_of_process_one_is_the_end(start: Callable[..., BoxProcess]) -> None:
    box = start()
    pids = processes_of(box)
    os.kill(descendants(box.process.pid)[0], signal.SIGKILL)
    assert box.ended()["reason"] == "exited" and alive(pids) == []


def test_the_timeout_warns_can_be_moved_and_ends(start: Callable[..., BoxProcess]) -> None:
    box = start(timeout=2)
    ends_at = box.link.call("box.hello", protocol=1)["ends_at"]
    warning = box.link.next("box.ending")
    assert warning["reason"] == "timeout" and warning["seconds"] == 1
    moved = box.link.call("box.extend", seconds=2)["ends_at"]
    assert moved == ends_at + 2000 == box.link.call("box.hello", protocol=1)["ends_at"]
    assert box.link.next("box.ending")["reason"] == "timeout"
    assert box.link.next("box.ended")["reason"] == "timeout"
    ended = box.ended()
    assert ended["reason"] == "timeout" and ended["at"] >= moved


def test_without_a_timeout_nothing_is_to_be_moved(box: BoxProcess) -> None:
    for seconds, code in [(60, "sandbox.no_timeout")]:
        with pytest.raises(BoxRefused) as refused:
            box.link.call("box.extend", seconds=seconds)
        assert refused.value.code == code


def test_a_command_is_use_and_its_end_is_not(start: Callable[..., BoxProcess]) -> None:
    box = start(idle_timeout=1)
    assert box.link.run("sleep 2; echo whole")["stdout"] == b"whole\n"
    assert box.ended()["reason"] == "idle"


def test_looking_at_the_meters_is_no_use(start: Callable[..., BoxProcess]) -> None:
    box = start(idle_timeout=1)
    with pytest.raises((ConnectionError, BoxRefused)):
        while True:
            box.link.call("box.meters")
    assert box.ended()["reason"] == "idle"


def test_too_much_memory(start: Callable[..., BoxProcess]) -> None:
    box = start(memory=150 << 20)
    how = box.link.call("box.hello", protocol=1)["limits"]["memory"]
    assert box.link.python("x = bytearray(b'x' * (20 << 20)); print(len(x))")["code"] == 0
    command = box.link.exec(PYTHON, "-c", "x = bytearray(b'x' * (300 << 20)); import time; time.sleep(1000)")
    if how == "watched":
        assert box.link.next("box.ended")["reason"] == "memory"
        assert box.ended()["reason"] == "memory"
        return
    # In a group of its own the kernel ends what takes too much, and the rest goes on.
    assert how == "enforced" and box.link.follow(command)["signal"] == signal.SIGKILL
    assert box.link.run("echo still here")["stdout"] == b"still here\n"
    # One in version 2; in version 1 one for the memory and where possible one for the number of processes.
    groups = list(Path("/sys/fs/cgroup").rglob(f"glovebox-{box.id}"))
    assert groups and all((group / "cgroup.procs").read_text().split() for group in groups)
    box.link.call("box.stop")
    box.ended()
    assert not any(group.exists() for group in groups)


def test_who_may_make_groups_gets_one(start: Callable[..., BoxProcess]) -> None:
    """So that the test above does not quietly take the other way everywhere."""
    own = [line.split(":") for line in Path("/proc/self/cgroup").read_text().splitlines()]
    folders = [Path("/sys/fs/cgroup/memory") / path.strip("/") for _, names, path in own if names == "memory"]
    if not any(os.access(folder / "cgroup.procs", os.W_OK) and os.access(folder, os.W_OK) for folder in folders):
        pytest.skip("this user may make no group here")
    limits = start(memory=1 << 30).link.call("box.hello", protocol=1)["limits"]
    assert limits == {"memory": "enforced", "cpu": "none", "disk": "none"}


def may_group(controller: str) -> bool:
    """Whether this user may make a group of version 1 with this controller."""
    own = [line.split(":") for line in Path("/proc/self/cgroup").read_text().splitlines()]
    folders = [Path("/sys/fs/cgroup") / controller / path.strip("/") for _, names, path in own
               if controller in names.split(",")]
    return any(os.access(folder / "cgroup.procs", os.W_OK) and os.access(folder, os.W_OK) for folder in folders)


SPINNER = """
import time
begin, used = time.monotonic(), time.process_time()
while time.monotonic() < begin + 1:
    pass
print((time.process_time() - used) / (time.monotonic() - begin))
"""


def processors_used(box: BoxProcess) -> float:
    return float(box.link.python(SPINNER)["stdout"])


def test_processors(start: Callable[..., BoxProcess]) -> None:
    limited, free = start(cpu=0.1), start()
    kept = limited.link.call("box.hello", protocol=1)["limits"]["cpu"]
    assert kept == ("enforced" if may_group("cpu") else kept) and kept in ("enforced", "pinned")
    if kept == "pinned":  # whole processors, the smallest number of which is one
        inside = limited.link.python("import os; print(len(os.sched_getaffinity(0)))")
        assert inside["stdout"] == b"1\n"
        return
    assert processors_used(limited) < 0.2
    # The machine may be busy with other things; but one that is free to takes more than the limited.
    wait_for(lambda: processors_used(free) > 0.25, seconds=120)


CHOOSE = """
import os
mine = os.sched_getaffinity(0)
try:
    os.sched_setaffinity(0, range({count}))
    print(len(mine), "chosen", len(os.sched_getaffinity(0)))
except PermissionError:
    print(len(mine), "refused")
"""


def test_who_is_pinned_stays_so(start: Callable[..., BoxProcess]) -> None:
    """Pinning is what is left where no group can be made, so it is tried by name here."""
    count = len(os.sched_getaffinity(0))
    first = min(os.sched_getaffinity(0))
    choose = CHOOSE.format(count=os.cpu_count())
    assert start().link.python(choose)["stdout"].decode() == f"{count} chosen {count}\n"
    pinned = start(launch={"processors": [first]})
    assert pinned.link.python(choose)["stdout"].decode() == "1 refused\n"
    assert pinned.link.run(f"taskset -p -c 0-{count} 1")["code"] != 0


def test_an_early_end_for_memory_is_not_the_reason_of_a_later_one(start: Callable[..., BoxProcess]) -> None:
    box = start(memory=150 << 20)
    if box.link.call("box.hello", protocol=1)["limits"]["memory"] != "enforced":
        pytest.skip("the kernel keeps no limit here")
    bomb = "x = bytearray(b'x' * (300 << 20))"
    assert box.link.python(bomb)["signal"] == signal.SIGKILL
    os.kill(descendants(box.process.pid)[0], signal.SIGKILL)
    assert box.ended()["reason"] == "exited"
    # The control: process 1 is the first to go where the kernel is told so. Files in memory are nobody's.
    box = start(memory=150 << 20)
    for pid in descendants(box.process.pid):
        try:
            Path(f"/proc/{pid}/oom_score_adj").write_text("1000")
        except PermissionError:
            pytest.skip("only root may choose what the kernel ends first")
    fill = "for folder in /tmp /dev/shm /home/box; do head -c 60M /dev/zero > $folder/fill; done; sleep 1000"
    box.link.call("box.exec", script="echo 0 > /proc/self/oom_score_adj; " + fill)
    assert box.ended()["reason"] == "memory"


def test_too_much_on_disk(start: Callable[..., BoxProcess]) -> None:
    limited, free = start(disk=50 << 20, box_folder="workspace"), start()
    assert limited.link.call("box.hello", protocol=1)["limits"]["disk"] == "watched"
    for box in (limited, free):
        # Many small files count as one large does.
        box.link.call("box.exec", script="for i in $(seq 100); do head -c 1M /dev/zero > /workspace/$i; done")
    assert limited.ended()["reason"] == "disk"
    assert free.link.run("ls /workspace | wc -l")["stdout"] == b"100\n"


def test_who_fills_the_disk_is_ended(start: Callable[..., BoxProcess]) -> None:
    """To these the disk is nearly full from the start."""
    still, filling = (start(disk_reserve=1 << 60, box_folder="workspace") for _ in range(2))
    still.link.run("head -c 100M /dev/zero > /workspace/before")  # what it has already is not held against it
    filling.link.call("box.exec", script="while :; do head -c 5M /dev/zero >> /workspace/log; sleep 0.1; done")
    assert filling.ended()["reason"] == "disk"
    assert still.link.run("echo here")["stdout"] == b"here\n"


def test_who_makes_files_without_end_is_ended(start: Callable[..., BoxProcess]) -> None:
    """To these there is room for few more files from the start; none of them takes any space."""
    still, filling = (start(file_reserve=1 << 60, box_folder="workspace") for _ in range(2))
    make = "import os, itertools\nos.mkdir('/workspace/{0}')\n" \
           "for n in {1}: open(f'/workspace/{0}/{{n}}', 'w').close()"
    still.link.python(make.format("before", "range(1000)"))
    filling.link.exec(PYTHON, "-c", make.format("bomb", "itertools.count()"))
    assert filling.ended()["reason"] == "files"
    still.link.python(make.format("after", "range(1000)"))
    assert still.link.run("ls /workspace/*/* | wc -l")["stdout"] == b"2000\n"


@pytest.fixture
def few_files(tmp_path: Path) -> Iterator[Path]:
    """Where the sandboxes lie there can be 4000 files."""
    mounted = ["mount", "-t", "tmpfs", "-o", "size=256m,nr_inodes=4000", "none", str(tmp_path)]
    if os.geteuid() != 0 or subprocess.run(mounted, capture_output=True).returncode != 0:
        pytest.skip("only root makes a small file system")
    yield tmp_path
    subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)


def test_who_has_a_quarter_of_all_files_is_ended(few_files: Path, start: Callable[..., BoxProcess]) -> None:
    """When there is little room, though it was others who made it so: none of these grows."""
    still, holding = (start(file_reserve=2000, box_folder="workspace") for _ in range(2))
    make = "for n in range({0}): open(f'/workspace/{{n}}', 'w').close()"
    still.link.python(make.format(300))
    holding.link.python(make.format(1100))
    assert os.statvfs(few_files).f_favail > 2000 and holding.link.run("echo here")["stdout"] == b"here\n"
    (few_files / "rest").mkdir()
    for number in range(os.statvfs(few_files).f_favail - 1000):
        (few_files / "rest" / str(number)).touch()
    assert holding.ended()["reason"] == "files"
    assert still.link.run("ls /workspace | wc -l")["stdout"] == b"300\n"


BOMB = """
import os, time
while True:
    try:
        os.fork()
    except OSError:
        time.sleep(0.01)
"""


def test_a_fork_bomb_ends_with_its_command(start: Callable[..., BoxProcess]) -> None:
    box = start(launch={"processes": 300})
    bomb = box.link.exec(PYTHON, "-I", "-c", BOMB, timeout_ms=1500)
    assert box.link.follow(bomb)["timed_out"]
    # Of the hundreds nothing is left: process 1 and whoever looks.
    count = "ls /proc | grep -c '^[0-9]'"
    wait_for(lambda: int(box.link.run(count)["stdout"] or b"999") <= 6, seconds=60)


def test_what_cannot_start_says_why_and_leaves_nothing(tmp_path: Path) -> None:
    for launch, config, code in [
        ({"binds": [["/no/such/folder", "/x", False]]}, {}, "io.not_found"),
        ({"host_command": ["true"]}, {}, "config.launch"),
        ({}, {"id": "not-a-uuid"}, "config.id"),
        ({}, {"environment": {"A": 1}}, "config.environment"),
        ({}, {"timeout": -1}, "config.limits"),
    ]:
        folder = tmp_path / code
        folder.mkdir()
        with pytest.raises(BoxRefused) as refused:
            BoxProcess(folder, launch, **config)
        assert refused.value.code == code
