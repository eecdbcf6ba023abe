# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""`glovebox serve` with all it can be told, and calls of what it serves."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable
from urllib.parse import urlsplit

import pytest

SOURCE = '''
import os, time

@expose
def look(name: str) -> str:
    """One of our variables."""
    return os.environ.get(name, "")

@expose
def where(model: str) -> str:
    """A model's folder."""
    return get_model_path(model)

@expose
def count(n: int, until: str = "") -> list:
    """Yields whole numbers, the last one once a file is there."""
    for i in range(n):
        while i == n - 1 and until and not os.path.exists(until):
            time.sleep(0.01)
        yield i

@expose
def large(n: int) -> list:
    """Yields texts."""
    for i in range(3):
        yield str(i) * n

@expose
def halfway() -> list:
    """Yields one and fails."""
    yield 1
    raise ValueError("no more")
'''


@pytest.fixture
def source(home: Any) -> Path:
    path: Path = home.folder / "tools.py"
    path.write_text(SOURCE)
    return path


def post(url: str, body: dict[str, Any], headers: dict[str, str]) -> Any:
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.netloc, timeout=30)
    connection.request("POST", address.path or "/", json.dumps(body),
                       {"Content-Type": "application/json", **headers})
    answer = connection.getresponse()
    text = answer.read()
    assert answer.status == 200, text
    return json.loads(text)


def test_everything_it_can_be_told(home: Any, source: Path, eventually: Callable[..., Any]) -> None:
    (home.folder / "model").mkdir()
    home.extra["TOLD"] = "by name"
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    child, ready = home.serve(source, "--name", "mine", "--port", str(port), "--python", sys.executable, "--model",
                              f"org/m={home.folder / 'model'}", "--env", "TOLD", "--compat", "--watch")
    assert set(ready) >= {"url", "socket", "token_file", "pid", "functions", "compat_url"}
    assert ready["url"] == f"http://127.0.0.1:{port}" and ready["name"] == "mine"
    os.kill(ready["pid"], 0)
    token = {"Authorization": f"Bearer {Path(ready['token_file']).read_text().strip()}"}
    assert post(ready["url"], {"fn": "look", "args": ["TOLD"]}, token)["result"] == "by name"
    # Through the address that carries a token of its own, as a client of the original format does it.
    assert post(ready["compat_url"], {"fn": "where", "args": ["org/m"]}, {})["result"] == str(home.folder / "model")
    assert home.json("interfaces")["interfaces"][0]["name"] == "mine"

    source.write_text(SOURCE.replace('return os.environ.get(name, "")', 'return "watched"'))
    eventually(lambda: post(ready["url"], {"fn": "look", "args": ["TOLD"]}, token)["result"] == "watched")
    child.send_signal(signal.SIGINT)
    assert child.wait(20) == 0
    log = [line for line in (home.folder / "serve.log").read_text().splitlines() if line]
    assert log and all({"at", "level", "room", "text"} <= set(json.loads(line)) for line in log)
    assert not Path(ready["token_file"]).exists()


def test_on_a_unix_socket(home: Any, source: Path) -> None:
    path = home.folder / "calls.sock"
    _, ready = home.serve(source, "--socket", str(path), "--no-daemon")
    assert (ready["url"], ready["socket"]) == ("", str(path)) and "compat_url" not in ready
    token = Path(ready["token_file"]).read_text().strip()
    body = b'{"fn": "look", "args": ["NOT_SET"]}'
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(20)
        sock.connect(str(path))
        sock.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
                     b"Authorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s" % (token.encode(), len(body), body))
        assert b'"result": ""' in b"".join(iter(lambda: sock.recv(65536), b""))
    assert home.json("daemon", "status")["running"] is False


@pytest.mark.parametrize(("words", "said"), [
    (["--env", "NOT_SET_ANYWHERE"], "NOT_SET_ANYWHERE"), (["--env", "A=b"], "name of a variable"),
    (["--model", "x=/no/such/folder"], "/no/such/folder"), (["--python", "/no/such/python"], "/no/such/python"),
    (["--port", "many"], "--port"),
])
def test_what_it_cannot_do_it_says(home: Any, source: Path, words: list[str], said: str) -> None:
    done = subprocess.run([home.bin / "glovebox", "serve", source, *words], env=home.environment, timeout=60,
                          capture_output=True, text=True)
    assert done.returncode in (1, 2) and said in done.stderr


def test_check_loads_nothing(home: Any, source: Path) -> None:
    mark = home.folder / "loaded"
    source.write_text(f"open({str(mark)!r}, 'w')\n@expose\ndef f(x) -> int:\n    return input()\n")
    done = subprocess.run([home.bin / "glovebox", "serve", "--check", source], env=home.environment, timeout=60,
                          capture_output=True, text=True)
    assert done.returncode == 1 and ":4" in done.stdout and "input()" in done.stdout
    found = home.json("serve", "--check", str(source), code=1)["findings"]
    assert ("input", 4) in [(one["code"], one["line"]) for one in found]
    assert not mark.exists() and home.json("daemon", "status")["running"] is False
    source.write_text(SOURCE)
    home.cli("serve", "--check", str(source))


def test_what_a_function_yields_is_printed_as_it_comes(home: Any, source: Path,
                                                       eventually: Callable[..., Any]) -> None:
    home.serve(source)
    eventually(lambda: [one for one in home.json("interfaces")["interfaces"] if one["state"] == "ready"])
    mark = home.folder / "go on"
    child = subprocess.Popen([home.bin / "glovebox", "calls", "run", "count", "n=3", f"until={mark}"],
                             env=home.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout
    # The call cannot end before these two were read.
    assert [child.stdout.readline() for _ in range(2)] == ["0\n", "1\n"]
    mark.touch()
    assert child.communicate(timeout=60)[0] == "2\n" and child.returncode == 0

    assert home.json("calls", "run", "count", "n=3")["result"] == [0, 1, 2]
    assert home.cli("calls", "run", "count", "n=0") == "[]\n"
    # Too large for a notification: they come with the result, and once.
    assert home.cli("calls", "run", "large", "n=1500000") == "".join(f'"{str(i) * 1500000}"\n' for i in range(3))
    failed = subprocess.run([home.bin / "glovebox", "calls", "run", "halfway"], env=home.environment, timeout=60,
                            capture_output=True, text=True)
    assert (failed.returncode, failed.stdout) == (1, "1\n") and "no more" in failed.stderr


def test_a_call_outlives_the_daemon(home: Any, source: Path, eventually: Callable[..., Any]) -> None:
    home.serve(source)
    eventually(lambda: [one for one in home.json("interfaces")["interfaces"] if one["state"] == "ready"])
    mark = home.folder / "go on"
    child = subprocess.Popen([home.bin / "glovebox", "calls", "run", "count", "n=3", f"until={mark}"],
                             env=home.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout and child.stderr
    assert [child.stdout.readline() for _ in range(2)] == ["0\n", "1\n"]
    os.kill(home.daemon_pid(), signal.SIGKILL)
    assert "The call goes on" in child.stderr.readline()
    mark.touch()
    assert child.communicate(timeout=60)[0] == "2\n" and child.returncode == 0
    assert len(home.json("calls", "ls")["calls"]) == 1


def test_a_call_is_shown_to_a_person(home: Any, source: Path, eventually: Callable[..., Any]) -> None:
    source.write_text(SOURCE + '''
@expose
def talk(prompt: str, layers: list) -> dict:
    """Says something and gives something back."""
    print("reading\x1b[31m", prompt)
    return {"rows": [{"token": "cat", "score": 0.5}] * 100, "wide": "w" * 5000, "layers": layers}
''')
    home.serve(source)
    eventually(lambda: [one for one in home.json("interfaces")["interfaces"] if one["state"] == "ready"])
    home.cli("calls", "run", "talk", "prompt=a cat", "layers=[1, 2]")
    shown = home.cli("calls", "show", "last")
    call = home.json("calls", "ls")["calls"][0]["id"]
    for line in ("talk  ok", f"call       {call}", "  prompt = \"a cat\"",
                 "  layers = [1,2]", '    {"token":"cat","score":0.5},'):
        assert f"{line}\n" in f"{shown}\n", shown
    assert re.search(r"^when       \d{4}-\d\d-\d\d \d\d:\d\d:\d\d, ", shown, re.M), shown
    assert re.search(r"^by         (person|script) cli$", shown, re.M), shown
    assert re.search(r"^took       .*computed", shown, re.M), shown
    # What it printed steers no terminal; what does not fit is said, with the way to all of it.
    assert "reading\\x1b[31m a cat" in shown and "\x1b" not in shown
    assert re.search(r"^  … \d+ more lines$", shown, re.M) and "w" * 300 not in shown
    assert shown.endswith(f"All of it: glovebox calls show {call} --whole\n")
    whole = home.cli("calls", "show", call, "--whole")
    assert "w" * 5000 in whole and "more lines" not in whole and "All of it" not in whole
    assert home.json("calls", "show", "last")["result"]["layers"] == [1, 2]

    home.cli("calls", "run", "halfway", code=1)
    failed = home.cli("calls", "show", "last")
    assert "halfway  error\n" in failed and "\n  ValueError: no more\n" in failed
    assert re.search(r"^  \S+tools.py:\d+ in halfway\n      raise ValueError", failed, re.M), failed


def test_a_mistyped_function_is_named(home: Any, source: Path, eventually: Callable[..., Any]) -> None:
    home.serve(source)
    eventually(lambda: [one for one in home.json("interfaces")["interfaces"] if one["state"] == "ready"])
    for wanted, said in (("cuont", 'did you mean "count"?'),
                         ("unembed", "there are look, where, count, large and halfway")):
        done = subprocess.run([home.bin / "glovebox", "calls", "run", wanted], env=home.environment, timeout=60,
                              capture_output=True, text=True)
        assert done.returncode == 1 and said in done.stderr and "[unknown_function]" in done.stderr, done.stderr
