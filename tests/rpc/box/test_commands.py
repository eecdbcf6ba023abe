# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Commands in a sandbox, through its keeper: output, input, terminals, ends."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import pytest
from box_process import PYTHON, BoxProcess, BoxRefused, wait_for

pytestmark = pytest.mark.as_user


def test_the_keeper_says_what_it_keeps(box: BoxProcess) -> None:
    hello = box.link.call("box.hello", protocol=1)
    assert (hello["id"], hello["nonce"], hello["pid"]) == (box.id, "nonce", box.process.pid)
    assert hello["state"] == "ready" and "PLAIN" in hello["environment"] and "ends_at" not in hello
    with pytest.raises(BoxRefused) as refused:
        box.link.call("box.hello", protocol=2)
    assert refused.value.code == "rpc.version"


def test_output_and_end(box: BoxProcess) -> None:
    done = box.link.run("echo out; echo err >&2; echo $PLAIN $MORE; pwd; exit 3", env={"MORE": "given"})
    assert done["stdout"] == b"out\nseen given\n/workspace\n" and done["stderr"] == b"err\n"
    assert done["code"] == 3 and done["signal"] == 0 and not done["timed_out"] and done["dropped"] == 0
    assert box.link.run("pwd", cwd="/tmp")["stdout"] == b"/tmp\n"


def test_what_cannot_be_started_says_why(box: BoxProcess) -> None:
    for params, code in [({"argv": ["/no/such/program"]}, "io.not_found"), ({"argv": []}, "params.missing"),
                         ({"argv": ["true", 1]}, "params.type"), ({"argv": ["true"], "env": {"A": 1}}, "params.type"),
                         ({"argv": ["true"], "cwd": "/no/such"}, "io.not_found")]:
        with pytest.raises(BoxRefused) as refused:
            box.link.call("box.exec", **params)
        assert refused.value.code == code, params
    with pytest.raises(BoxRefused) as refused:
        box.link.call("box.wait", command="nobody")
    assert refused.value.code == "sandbox.no_command"


def test_a_timeout_and_a_signal_end_the_whole_session(box: BoxProcess) -> None:
    done = box.link.run("sleep 1000 & sleep 1000", timeout_ms=100)
    assert done["timed_out"] and done["signal"] == signal.SIGKILL
    command = box.link.exec("sleep", "1000")
    box.link.call("box.signal", command=command, signal="SIGTERM")
    assert box.link.follow(command)["signal"] == signal.SIGTERM
    wait_for(lambda: box.link.call("box.meters")["processes"] == 1)


def test_input_flows_as_it_is_taken(box: BoxProcess) -> None:
    command = box.link.exec("sha256sum", stdin=True)
    for _ in range(8):
        box.link.call("box.stdin", b"x" * (1 << 20), command=command)
    box.link.call("box.stdin", command=command, eof=True)
    expected = box.link.run(f"{PYTHON} -c \"print('x' * (8 << 20), end='')\" | sha256sum")["stdout"]
    assert box.link.follow(command)["stdout"] == expected


def test_who_reads_no_input_holds_up_nobody(box: BoxProcess) -> None:
    command = box.link.exec("sleep", "1000", stdin=True)
    waiting = [box.link.ask("box.stdin", b"x" * (1 << 20), command=command) for _ in range(10)]
    assert box.link.run("echo still here")["stdout"] == b"still here\n"
    box.link.call("box.signal", command=command, signal=9)
    with pytest.raises(BoxRefused) as refused:
        box.link.answer(waiting[-1])
    assert refused.value.code == "sandbox.command_ended"


def test_a_terminal(box: BoxProcess) -> None:
    command = box.link.exec("sh", "-c", "stty size; read line; echo got $line; stty size; tty",
                            terminal={"rows": 33, "columns": 99})
    first = box.link.next("box.output")
    assert first["bytes"].strip() == b"33 99"
    box.link.call("box.resize", command=command, rows=40, columns=120)
    box.link.call("box.stdin", b"something\n", command=command)
    text = box.link.text("box.output", command=command, stream="stdout", **{"from": 0})
    box.link.call("box.wait", command=command)
    text = box.link.text("box.output", command=command, stream="stdout", **{"from": 0})
    assert b"got something" in text and b"40 120" in text and b"/dev/pts/" in text
    assert next(item for item in box.link.call("box.commands")["commands"] if item["command"] == command)["terminal"]


def test_waiting_has_a_limit(box: BoxProcess) -> None:
    command = box.link.exec("sleep", "1000")
    assert not box.link.call("box.wait", command=command, timeout_ms=20)["exited"]
    box.link.call("box.signal", command=command, signal=15)
    done = box.link.call("box.wait", command=command)
    assert done["exited"] and done["code"] == 128 + 15
    assert box.link.call("box.wait", command=command, timeout_ms=0) == done


def test_a_lost_connection_neither_ends_nor_loses(box: BoxProcess) -> None:
    other = box.connect()
    command = other.exec("sh", "-c", "echo before; while [ ! -e /tmp/go ]; do sleep 0.01; done; echo after; exit 5")
    other.close()
    box.link.run("touch /tmp/go")
    assert box.link.call("box.wait", command=command)["code"] == 5
    read = box.link.ask("box.output", command=command, stream="stdout", **{"from": 3})
    answer, text = box.link.answer(read)
    assert text == b"ore\nafter\n" and answer["size"] == len(b"before\nafter\n") and answer["exited"]
    assert box.link.text("box.output", command=command, stream="stdout", limit=3, **{"from": 0}) == b"bef"
    assert box.link.text("box.output", command=command, stream="stdout", **{"from": 10**12}) == b""


def test_a_flood_of_output_is_bounded(box: BoxProcess) -> None:
    done = box.link.run("yes | head -c 3000000", output_limit=1000000)
    assert len(done["stdout"]) == 1000000 and done["dropped"] == 2000000
    assert done["sizes"] == {"stdout": 1000000, "stderr": 0}


def test_a_slow_reader_costs_the_keeper_no_memory(start: Callable[..., BoxProcess]) -> None:
    box = start()
    slow = box.connect()
    command = slow.exec("sh", "-c", "yes | head -c 40000000", output_limit=100000000)
    assert box.link.call("box.wait", command=command)["sizes"]["stdout"] == 40000000
    peak = int(next(line for line in open(f"/proc/{box.process.pid}/status") if line.startswith("VmHWM")).split()[1])
    assert peak < 40000, f"{peak} kB"
    assert len(slow.follow(command)["stdout"]) == 40000000


def test_only_so_many_at_a_time_and_the_oldest_are_forgotten(start: Callable[..., BoxProcess]) -> None:
    box = start()
    asked = [box.link.ask("box.exec", argv=["sleep", "1000"]) for _ in range(150)]
    codes = []
    for number in asked:
        try:
            box.link.answer(number)
        except BoxRefused as refused:
            codes.append(refused.code)
    assert codes == ["sandbox.busy"] * 22
    for item in box.link.call("box.commands")["commands"]:
        box.link.call("box.signal", command=item["command"], signal=9)
    for item in box.link.call("box.commands")["commands"]:
        box.link.call("box.wait", command=item["command"])
    first = box.link.exec("echo", "first")
    box.link.follow(first)
    for _ in range(260):
        box.link.run("echo more")
    assert len(box.link.call("box.commands")["commands"]) == 256
    with pytest.raises(BoxRefused):
        box.link.call("box.wait", command=first)
    assert len(os.listdir(box.box_folder / "commands")) <= 256
