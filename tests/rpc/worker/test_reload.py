# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Reload: bodies are exchanged under a living module, everything else asks for a fresh worker."""

from __future__ import annotations

import pytest

FILE = '''"""Tools."""
import functools
loads = []
loads.append(1)

def logged(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        return [fn(*args, **kwargs), len(loads)]
    return wrapper

def helper(x):
    return x + 1

class Counter:
    def fail(self):
        raise ValueError("in a method")

@expose
@logged
def add(x: int) -> list:
    """Old words."""
    loads.append(1)
    return helper(x)

@expose
def fail():
    Counter().fail()

stable = lambda: 1 / 0

@expose
def divide(x: int = 1) -> float:
    return stable()
'''


def reload(worker):
    worker.send({"t": "reload"})
    return worker.wait(lambda f: f["t"] in ("loaded", "load_failed"))


def test_bodies_are_exchanged_and_state_stays(serve):
    worker = serve(FILE)
    assert worker.call("add", 1) == [2, 2]
    changed = FILE.replace("return x + 1", "# a comment\n    y = 100\n    return x + y").replace(
        "Old words", "New words"
    )
    worker.write("\n\n" + changed)
    frame = reload(worker)
    assert (frame["how"], frame["ms"] < 5000) == ("bodies", True)
    assert [f["summary"] for f in frame.value["functions"]][0] == "New words."
    assert worker.call("add", 1) == [101, 3]
    lines = ("\n\n" + changed).splitlines()
    for name, last in (("fail", 'raise ValueError("in a method")'), ("divide", "stable = lambda: 1 / 0")):
        frame = worker.error(name)["frames"][-1]
        assert frame["source"] == last and lines[frame["line"] - 1].strip() == last


@pytest.mark.parametrize(
    "old, new, reason",
    [
        ("loads.append(1)\n\ndef", "loads.append(2)\n\ndef", "line 4: a statement at the top of the file changed"),
        ("import functools", "import functools, os", "line 2: an import changed"),
        ("def helper(x)", "def helper(x, y=1)", "line 12: the arguments of helper() changed"),
        ("-> float", "-> int", "line 33: the result type of divide() changed"),
        ("@logged\n", "", "line 20: the decorators of add() changed"),
        ("in a method", "in a class", "line 15: the class Counter changed"),
        ("    return stable()\n", "    return stable()\n\nx = 1\n", "line 36: the value of x was added"),
    ],
)
def test_everything_else_needs_a_fresh_worker(serve, old, new, reason):
    worker = serve(FILE)
    assert old in FILE
    worker.write(FILE.replace(old, new, 1))
    frame = reload(worker)
    assert (frame["how"], frame["reason"]) == ("restart_needed", reason)
    assert worker.call("add", 1) == [2, 2]


def test_a_broken_file_leaves_the_old_one_running(serve):
    worker = serve(FILE)
    worker.write(FILE + "\ndef broken(:\n")
    frame = reload(worker)
    assert (frame["t"], frame["how"]) == ("load_failed", "reload")
    assert frame["error"]["type"] == "SyntaxError" and frame["error"]["frames"][-1]["line"] == 36
    assert worker.call("add", 1) == [2, 2]
    worker.write(FILE)
    assert reload(worker)["how"] == "bodies"


def test_a_changed_helper_file_needs_a_fresh_worker(serve, tmp_path):
    (tmp_path / "beside.py").write_text("x = 1\n")
    worker = serve("import beside\n@expose\ndef f() -> int:\n    return beside.x\n")
    assert worker.call("f") == 1
    (tmp_path / "beside.py").write_text("x = 200\n")
    frame = reload(worker)
    assert (frame["how"], frame["reason"]) == ("restart_needed", "beside.py changed")
