# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""A generated library against a real host."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Iterator

import pytest
from exposedhost import ExposedHost, load

INTERFACE = '''
"""Tools for tests."""
import os
import time

state = {"calls": 0}

@expose
def add(a: int, b: int = 2) -> int:
    """Adds two numbers."""
    return a + b

@expose
def echo(value):
    return value

@expose
def place(first, /, second=2, *rest, scale=1.5, **more):
    return [first, second, list(rest), scale, more]

MISSING = object()

@expose
def unsaid(a, b=MISSING, *, c=MISSING):
    return [b is MISSING, c is MISSING]

@expose
def special() -> list:
    return [float("nan"), float("inf"), -float("inf"), 2**80, {"$gb": "mine", "$$gb": 1}]

@expose
def count(n: int):
    for i in range(n):
        yield i * i

@expose
def endless():
    i = 0
    try:
        while True:
            yield i
            i += 1
            time.sleep(0.005)
    finally:
        state["ended"] = True

@expose
def ended() -> bool:
    return state.get("ended", False)

@expose
def bad(text: str) -> dict:
    raise ValueError("no " + text)

@expose
def missing_key() -> dict:
    return {}["x"]

@expose
def slow(seconds: float) -> str:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if cancelled():
            return "stopped"
        time.sleep(0.005)
    return "done"

@expose(concurrency=8)
def wait_a_little(seconds: float) -> float:
    time.sleep(seconds)
    return seconds

@expose
def pid() -> int:
    return os.getpid()

@expose
def numbers(n: int) -> dict:
    return {"many": [i / 7 for i in range(n)] + [-0.0, 5e-324], "nan": [float("nan")] + [0.5] * n, "few": [1, 2.5]}

@expose
def large(n: int) -> str:
    return "é" * n

@expose
def len(value):
    return 7

@expose
def open() -> str:
    return "opened"
'''


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExposedHost]:
    served = ExposedHost(tmp_path_factory.mktemp("host"), INTERFACE)
    yield served
    served.close()


@pytest.fixture(scope="module")
def tools(host: ExposedHost) -> Any:
    return host.library()


def test_calls_look_like_local_ones(tools: Any) -> None:
    assert tools.add(1) == 3 and tools.add(1, 5) == 6 and tools.add(a=1, b=1) == 2
    assert tools.place(1) == [1, 2, [], 1.5, {}]
    assert tools.place(1, 3, 4, 5, scale=2, x=1) == [1, 3, [4, 5], 2, {"x": 1}]
    assert tools.len([1]) == 7 and tools.open() == "opened"
    assert tools.add.__doc__ == "Adds two numbers." and "Tools for tests" in tools.__doc__


def test_a_default_that_only_the_host_knows_is_left_to_it(tools: Any) -> None:
    assert tools.unsaid(1) == [True, True]
    assert tools.unsaid(1, None) == [False, True]
    assert tools.unsaid(1, c=0) == [True, False]


@pytest.mark.parametrize("value", [
    None, True, -1, 1.5, "é\u2028\U0001f600\"\\", [], {}, [1, [2, {"a": None}]], {"$gb": 1}, {"$$gb": {"$gb": "nan"}},
    float("inf"), 2**63, -(2**63), 2**64, 10**300, [10**40, {"x": -float("inf")}], {"k": 2**70}, "$gb",
])
def test_values_come_back_as_they_went(tools: Any, value: Any) -> None:
    back = tools.echo(value)
    assert back == value and type(back) is type(value)


def test_values_json_has_no_word_for(tools: Any) -> None:
    nan, inf, minus, big, own = tools.special()
    assert nan != nan and inf == float("inf") and minus == -inf and big == 2**80
    assert own == {"$gb": "mine", "$$gb": 1}
    assert tools.echo((1, Path("/x"), {2})) == [1, "/x", [2]]
    with pytest.raises(TypeError, match="cannot be an argument"):
        tools.echo(object())
    with pytest.raises(ValueError):
        tools.echo("\ud800")
    loop: list = []
    loop.append(loop)
    with pytest.raises(ValueError):
        tools.echo(loop)


def test_long_lists_of_numbers_are_lists_of_numbers(tools: Any) -> None:
    got = tools.numbers(1000)
    assert got["many"] == [i / 7 for i in range(1000)] + [-0.0, 5e-324] and str(got["many"][-2]) == "-0.0"
    assert set(map(type, got["many"])) == {float} and list(map(type, got["few"])) == [int, float]
    assert got["nan"][0] != got["nan"][0] and got["nan"][1:] == [0.5] * 1000


def test_a_large_text_arrives_whole(tools: Any) -> None:
    assert tools.large(3_000_000) == "é" * 3_000_000
    assert tools.echo("x" * 3_000_000) == "x" * 3_000_000


def test_errors_carry_the_remote_traceback_and_their_common_type(tools: Any) -> None:
    with pytest.raises(tools.RemoteError) as caught:
        tools.bad("luck")
    error = caught.value
    assert isinstance(error, ValueError) and error.type == "ValueError" and error.message == "no luck"
    assert 'raise ValueError("no " + text)' in error.remote_traceback and "On the host" in str(error)
    with pytest.raises(KeyError):
        tools.missing_key()
    with pytest.raises(TypeError, match="'a'"):
        tools.add("x")


def test_generators_stream_and_stop(host: ExposedHost, tools: Any) -> None:
    assert list(tools.count(100)) == [i * i for i in range(100)]
    seen = []
    for item in tools.endless():
        seen.append(item)
        if item == 3:
            break
    assert seen == [0, 1, 2, 3]
    host.wait(tools.ended)


def test_a_timeout_stops_the_call_and_only_it(tools: Any) -> None:
    tools.settings.timeout = 0.2
    try:
        with pytest.raises(tools.CallTimeout) as caught:
            tools.slow(30)
        assert isinstance(caught.value, TimeoutError)
        # One at a time is the rule, so this would wait if the first one still ran.
        tools.settings.timeout = 10
        assert tools.add(1) == 3
    finally:
        tools.settings.timeout = 600


def test_interrupting_cancels_on_the_host(host: ExposedHost, tools: Any, tmp_path: Path) -> None:
    library = host.write_library(tmp_path, "interrupted")
    # Whoever runs the tests in the background has them ignore SIGINT.
    code = ("import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
            "import interrupted\nprint(1, flush=True)\ninterrupted.slow(60)")
    program = subprocess.Popen([sys.executable, "-c", code], cwd=library.parent, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    assert program.stdout is not None and program.stdout.readline() == "1\n"
    time.sleep(0.5)
    program.send_signal(signal.SIGINT)
    _, errors = program.communicate(timeout=10)
    assert "KeyboardInterrupt" in errors

    def ended() -> list:
        return [record for record in host.records() if '"seconds": 60' in json.dumps(record["args"])]

    host.wait(ended)
    [record] = ended()
    assert record["state"] == "cancelled" or record["result"] == "stopped"


def test_threads_share_a_library(tools: Any) -> None:
    wrong = []

    def work(number: int) -> None:
        for i in range(30):
            if tools.echo([number, i]) != [number, i]:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_forked_child_has_connections_of_its_own(tools: Any) -> None:
    assert tools.add(1) == 3
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        good = all(tools.echo(i) == i for i in range(50))
        os.write(writer, b"y" if good else b"n")
        os._exit(0)
    mine = all(tools.echo(-i) == -i for i in range(50))
    os.waitpid(child, 0)
    os.close(writer)
    assert mine and os.read(reader, 1) == b"y"
    os.close(reader)


def test_a_restarted_host_is_found_again(tmp_path: Path) -> None:
    first = ExposedHost(tmp_path / "one", INTERFACE)
    library = first.write_library(tmp_path, "survivor")
    tools = load(library)
    before = tools.pid()
    first.kill()
    first.start_again()
    first.write_access(library)
    assert tools.pid() != before
    first.close()
    tools.settings.connect_timeout = 0.2
    with pytest.raises(tools.HostUnreachable):
        tools.pid()


def test_a_host_that_dies_during_a_call_is_not_asked_twice(tmp_path: Path) -> None:
    host = ExposedHost(tmp_path / "one", INTERFACE)
    tools = host.library()
    assert tools.add(1) == 3
    threading.Timer(0.3, host.process.kill).start()
    with pytest.raises(tools.HostUnreachable, match="unknown"):
        tools.slow(20)
    host.close()


def test_a_unix_socket_serves_as_well(tmp_path: Path) -> None:
    host = ExposedHost(tmp_path / "one", INTERFACE, socket=str(tmp_path / "s"))
    tools = host.library()
    assert tools.add(40) == 42 and list(tools.count(3)) == [0, 1, 4]
    host.close()


def test_what_is_missing_is_said(host: ExposedHost, tmp_path: Path) -> None:
    library = host.write_library(tmp_path, "lonely")
    access = library.with_suffix(".host.json")
    assert stat.S_IMODE(access.stat().st_mode) == 0o600
    access.unlink()
    tools = load(library)
    with pytest.raises(tools.HostUnreachable, match="lonely.host.json"):
        tools.add(1)
    access.write_text("{}")
    with pytest.raises(tools.HostUnreachable, match="cannot be used"):
        tools.add(1)
    access.write_text(json.dumps({"url": host.ready["url"], "token": "x" * 43}))
    with pytest.raises(tools.RemoteError, match="token"):
        tools.add(1)


def test_a_token_of_its_own_opens_only_its_functions(host: ExposedHost, tmp_path: Path) -> None:
    minted = host.ask("keeper.tokens.mint", caller={"kind": "agent", "name": "library"}, functions=["add"],
                      max_calls=2)
    library = host.write_library(tmp_path, "limited", minted["token"])
    tools = load(library)
    assert tools.add(1) == 3
    with pytest.raises(tools.RemoteError):
        tools.echo(1)
    assert tools.add(1) == 3
    with pytest.raises(tools.RemoteError):
        tools.add(1)


def test_it_runs_in_a_plain_interpreter_without_site_packages(host: ExposedHost, tmp_path: Path) -> None:
    host.write_library(tmp_path, "plain")
    done = subprocess.run([sys.executable, "-I", "-S", "-W", "error", "-c",
                           "import sys; sys.path.insert(0, '.'); import plain; print(plain.add(1)); "
                           "import pydoc; print(pydoc.plain(pydoc.render_doc(plain.add)))"],
                          cwd=tmp_path, capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("3\n") and "Adds two numbers." in done.stdout
