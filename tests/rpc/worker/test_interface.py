# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""What an interface file finds around it, and how the worker keeps itself to itself."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from worker_process import WORKER, has_module


def test_the_documents_way_of_loading_a_model(serve, tmp_path):
    (tmp_path / "helper.py").write_text("def double(x):\n    return 2 * x\n")
    (tmp_path / "schema.py").write_text("mine = True\n")
    worker = serve(
        """
        import os, sys
        import helper, schema

        model_path = get_model_path("google/gemma-2.5-9b")
        cache = {}
        NAMES = ["MODEL_GOOGLE_GEMMA_2_5_9B_PATH", "MODEL_GOOGLE_GEMMA_2.5_9B_PATH", "MODEL_BASE_PATH", "SECRET"]

        @expose
        def info() -> dict:
            return {"path": model_path, "models": list_configured_models(), "name": __name__,
                    "main": sys.modules["__main__"].cache is cache, "own": schema.mine, "two": helper.double(1),
                    "env": [os.environ[name] for name in NAMES],
                    "hidden": [get_model_path("secret/name"), any("SECRET_NAME" in n for n in os.environ)],
                    "argv": sys.argv == [__file__]}

        @expose
        def unknown() -> str:
            return get_model_path("nothing/here")
        """,
        models=[
            {"id": "google/gemma-2.5-9b", "path": "/models/g", "base": "base"},
            {"id": "base", "path": "/models/b"},
            {"id": "secret/name", "alias": "model-a", "hidden": True, "path": "/models/a"},
        ],
        env={"SECRET": "hunter2"},
    )
    assert worker.call("info") == {
        "path": "/models/g", "models": ["google/gemma-2.5-9b", "base", "model-a"], "name": "__main__", "main": True,
        "own": True, "two": 2, "env": ["/models/g", "/models/g", "/models/b", "hunter2"],
        "hidden": ["/models/a", False], "argv": True,
    }  # fmt: skip
    message = worker.error("unknown")["message"]
    assert "no model 'nothing/here'" in message and "'model-a'" in message and "secret/name" not in message


def test_expose_with_options(serve):
    worker = serve("""
        @expose(name="renamed", concurrency=3, read_only=True, timeout=5, show={"as": "table"})
        def f() -> int:
            return 1

        @expose
        def g() -> int:
            return 1

        @expose
        def g() -> int:
            return 2

        @expose
        def late() -> str:
            try:
                expose(lambda: 1)
            except RuntimeError as error:
                return str(error)
        """)
    wanted = {"name": "renamed", "concurrency": 3, "read_only": True, "timeout": 5, "show": {"as": "table"}}
    assert {k: v for k, v in worker.function("renamed").items() if k in wanted} == wanted
    assert worker.call("g") == 2 and [w["code"] for w in worker.schema["warnings"]] == ["name_clash"]
    assert worker.call("late") == "@expose works only while the interface file is being loaded"
    assert worker.error("late2")["kind"] == "unknown_function"


@pytest.mark.parametrize(
    "source, kind, line",
    [
        ("x = 1\nraise ValueError('broken')\n", "ValueError", 2),
        ("def f(:\n", "SyntaxError", 1),
        ("import sys\nsys.exit(3)\n", "SystemExit", 2),
        ("@expose\nclass C:\n    pass\n", "TypeError", 1),
        ("expose(len, name='not a name')\n", "ValueError", 1),
        ("import not_there\n", "ModuleNotFoundError", 1),
    ],
)
def test_a_file_that_does_not_load(serve, source, kind, line):
    worker = serve(source)
    assert (worker.loaded["t"], worker.loaded["how"]) == ("load_failed", "initial")
    error = worker.loaded["error"]
    assert (error["kind"], error["type"]) == ("load_failed", kind)
    # A decorated class begins at its decorator, before 3.10 at the word class.
    assert error["frames"][-1]["line"] in ((1, 2) if "class" in source else (line,))
    assert error["frames"][-1]["user"] and "glovebox_worker" not in error["traceback"]
    assert worker.error("f")["kind"] == "not_loaded"


HELPERS = """
import os, sys, threading

@expose
def telling():
    progress(1, 4, "one")
    log("half", "way", level="warning", loss=0.5, where=os)
    print("from the call")
    print("to stderr", file=sys.stderr)
    thread = threading.Thread(target=print, args=("from its thread",))
    thread.start()
    thread.join()
    return cancelled()

@expose
def polite():
    while not cancelled():
        pass
    return "ended by itself"

@expose
def stubborn():
    try:
        log("inside")
        while True:
            pass
    except BaseException:
        return "caught it"

@expose
def flood(n: int):
    for _ in range(n):
        print("x" * 99)

@expose
def asks():
    return input("name? ")

@expose
def leaves():
    sys.exit("bye")

@expose
def forks():
    pid = os.fork()
    if pid == 0:
        print("in the child")
        return "child"
    return os.waitpid(pid, 0)[1]

@expose
def value(n: int) -> int:
    return n

@expose
async def slow():
    import asyncio
    await asyncio.sleep(60)

@expose
async def greedy():
    while True:
        pass

@expose
async def stream(n: int):
    for i in range(n):
        yield i
"""


def test_progress_log_and_output_belong_to_the_call(serve):
    worker = serve(HELPERS)
    call = worker.start("telling")
    assert worker.result(call).value is False
    assert worker.output(call) == "from the call\nfrom its thread\n"
    assert worker.output(call, "stderr") == "to stderr\n"
    kinds = {f["t"]: f for f in worker.seen}
    assert [kinds["progress"][k] for k in ("id", "done", "total", "message")] == [call, 1, 4, "one"]
    assert kinds["log"]["message"] == "half way" and kinds["log"]["level"] == "warning"
    assert kinds["log"]["fields"]["loss"] == 0.5 and kinds["log"]["fields"]["where"].startswith("<module")


def test_cancelling(serve):
    worker = serve(HELPERS)
    for name, ok in (("polite", "ended by itself"), ("stubborn", "caught it"), ("slow", None), ("greedy", None)):
        call = worker.start(name)
        wanted = "log" if name == "stubborn" else "started"
        worker.wait(lambda f, call=call, wanted=wanted: f["t"] == wanted and f["id"] == call)
        worker.send({"t": "cancel", "id": call})
        frame = worker.result(call)
        assert frame.value == ok if ok else frame["error"]["kind"] == "cancelled"
    worker.send({"t": "cancel", "id": call})
    assert worker.call("value", 5) == 5
    assert worker.call("stream", 3) == [0, 1, 2]


def test_a_late_cancel_never_reaches_the_next_call(serve):
    worker = serve(HELPERS)
    for n in range(200):
        call = worker.start("value", n)
        worker.send({"t": "cancel", "id": call})
        frame = worker.result(call)
        assert frame.value == n if frame["ok"] else frame["error"]["kind"] == "cancelled"
        assert worker.call("value", n) == n


def test_a_flood_of_output_is_cut(serve):
    worker = serve(HELPERS, limits={"output_bytes": 1000})
    call = worker.start("flood", 1000)
    worker.result(call)
    text = worker.output(call)
    assert len(text) < 1100 and text.endswith("[output cut: more than 1000 characters]\n")


def test_input_exit_and_fork(serve):
    worker = serve(HELPERS)
    assert worker.error("asks")["message"].startswith("input() cannot work here")
    error = worker.error("leaves")
    assert (error["kind"], error["message"]) == ("function_error", "the function called sys.exit('bye')")
    assert worker.call("forks") == 0
    assert worker.call("value", 1) == 1


def test_tqdm_becomes_progress(serve):
    if not has_module("tqdm"):
        pytest.skip("tqdm is not installed here")
    worker = serve("""
        from tqdm.auto import tqdm

        @expose
        def f():
            for _ in tqdm(range(50), desc="rows"):
                for _ in tqdm(range(2), desc="inner"):
                    pass
        """)
    call = worker.start("f")
    worker.result(call)
    last = [f for f in worker.seen if f["t"] == "progress"][-1]
    assert [last[k] for k in ("id", "done", "total", "message")] == [call, 50, 50, "rows"]
    assert worker.output(call, "stderr") == ""


def test_output_outside_calls_has_no_call(serve):
    worker = serve("""
        import threading, time
        print("loading")
        go = threading.Event()
        def background():
            go.wait(20)
            print("background")
        threading.Thread(target=background, daemon=True).start()
        @expose
        def f():
            go.set()
        """)
    assert worker.output(None) == "loading\n"
    worker.call("f")
    worker.wait(lambda f: f["t"] == "output" and b"background" in f.attachment and f["id"] is None)


AUDIT = """
import sys
seen = []
watching = False

def hook(event, args):
    if watching and event in ("compile", "exec", "import", "pickle.find_class", "marshal.loads", "open"):
        seen.append(event)

sys.addaudithook(hook)

@expose
def watched(x: float, items: list = [], d: dict = {}) -> dict:
    return {"x": x, "items": items, "d": d}

@expose
def control() -> int:
    return eval("1 + 1")

@expose
def start():
    global watching
    watching = True

@expose
def events() -> list:
    return list(seen)
"""


def test_a_call_runs_no_code_but_the_authors(serve):
    worker = serve(AUDIT)
    worker.call("start")
    worker.call("watched", 1, ["__import__('os').system('x')"], d={"__class__": "os.system"})
    worker.error("watched", "__class__")
    for name in ("__class__", "os.system", "events.__globals__", "", "ｅvents", "x" * 100_000):
        assert worker.error(name)["kind"] == "unknown_function"
    assert worker.call("events") == []
    assert worker.call("control") == 2
    assert worker.call("events") != []


def test_the_process_is_closed_to_others(serve):
    worker = serve("@expose\ndef f() -> int:\n    return 1\n", env={"TOKEN": "hunter2"})
    assert os.stat(f"/proc/{worker.process.pid}/environ").st_uid == 0
    if os.getuid() == 0:
        with open(f"/proc/{worker.process.pid}/environ", "rb") as file:
            assert b"hunter2" not in file.read()
    else:
        with pytest.raises(PermissionError):
            open(f"/proc/{worker.process.pid}/environ", "rb").read()
    os.kill(worker.process.pid, 2)
    assert worker.call("f") == 1


def test_it_ends_with_the_link(serve):
    worker = serve("import time\n@expose\ndef f():\n    while True: pass\n")
    worker.start("f")
    worker.wait(lambda f: f["t"] == "started")
    worker.close()
    assert worker.process.returncode == 0


def test_the_package_is_not_on_the_path(serve):
    worker = serve("""
        import sys
        try:
            import runtime
            found = True
        except ImportError:
            found = False

        @expose
        def f() -> list:
            return [found, sys.path]
        """)
    found, folders = worker.call("f")
    assert not found
    assert not [folder for folder in folders if Path(folder).is_relative_to(WORKER)]


def test_it_needs_nothing_but_the_standard_library():
    for file in WORKER.glob("*.py"):
        text = file.read_text()
        assert not re.search(r"^\s*(import|from) (numpy|torch|pandas|PIL|pickle|yaml|marshal|pydantic)\b", text, re.M)
