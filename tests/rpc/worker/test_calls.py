# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
LOOPS = '''
import threading

together = threading.Barrier(4)

@expose
def add(a: int, b: int = 2) -> int:
    """Add two numbers."""
    return a + b

@expose
def hello():
    print("hello from", __name__)
    return {"x": [1, 2.5, None, "é"]}

@expose
def spin():
    while True:
        pass

@expose
def fail():
    raise ValueError("no good")

@expose
async def later(n):
    import asyncio
    await asyncio.sleep(0.01)
    return n

@expose
def count(n):
    for i in range(n):
        yield i
    return "done"

@expose(concurrency=4)
def wait(seconds):
    together.wait(20)
    return seconds
'''


def test_calls(serve):
    worker = serve(LOOPS)
    assert [f["name"] for f in worker.schema["functions"]] == [
        "add",
        "hello",
        "spin",
        "fail",
        "later",
        "count",
        "wait",
    ]
    assert worker.call("add", 1) == 3
    assert worker.call("add", a=1, b=5) == 6
    call = worker.start("hello")
    assert worker.result(call).value == {"x": [1, 2.5, None, "é"]}
    assert worker.output(call) == "hello from __main__\n"
    assert worker.call("later", 7) == 7
    assert worker.call("count", 3) == [0, 1, 2]
    error = worker.error("fail")
    assert error["kind"] == "function_error" and error["message"] == "no good"
    assert [(f["function"], f["user"], f["source"]) for f in error["frames"]] == [
        ("fail", True, 'raise ValueError("no good")')
    ]
    assert "glovebox_worker" not in error["traceback"]
    assert worker.error("nothing")["kind"] == "unknown_function"
    assert worker.error("add")["kind"] == "bad_arguments"


def test_streams_items_before_the_result(serve):
    worker = serve(LOOPS)
    call = worker.start("count", 3, fields={"stream": True})
    assert worker.result(call).value == "done"
    items = [(f["index"], f.value) for f in worker.seen if f["t"] == "item"]
    assert items == [(0, 0), (1, 1), (2, 2)]


def test_cancel_and_ping_while_python_spins(serve):
    worker = serve(LOOPS)
    for _ in range(3):
        call = worker.start("spin")
        worker.wait(lambda f: f["t"] == "started")
        worker.ping()
        waiting = worker.start("add", 1)
        worker.send({"t": "cancel", "id": waiting})
        assert worker.result(waiting)["error"]["kind"] == "cancelled"
        worker.send({"t": "cancel", "id": call})
        assert worker.result(call)["error"]["kind"] == "cancelled"
        assert worker.call("add", 1) == 3


def test_calls_run_in_order_on_the_main_thread(serve):
    worker = serve("""
        import threading
        order = []

        @expose
        def note(n: int) -> list:
            order.append(n)
            return [threading.current_thread() is threading.main_thread(), list(order) == list(range(n + 1))]

        @expose(concurrency=2)
        def beside() -> bool:
            return threading.current_thread() is threading.main_thread()
        """)
    calls = [worker.start("note", n) for n in range(60)]
    assert [worker.result(call).value for call in calls] == [[True, True]] * 60
    assert worker.call("beside") is False


def test_threads_run_beside_each_other(serve):
    worker = serve(LOOPS)
    calls = [worker.start("wait", 0.2) for _ in range(4)]
    assert worker.call("add", 1) == 3
    assert all(worker.result(call)["ok"] for call in calls)


def test_a_call_may_time_out(serve):
    worker = serve(LOOPS)
    call = worker.start("spin", fields={"timeout_ms": 100})
    assert worker.result(call)["error"]["kind"] == "timeout"
    assert worker.call("add", 1) == 3
