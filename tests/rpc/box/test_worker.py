# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""An interface host whose worker lives in a sandbox: the host's own side stays what it was."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from box_process import PYTHON, WORKER, BoxProcess, BoxRefused, wait_for
from host_process import BIN, HostProcess

pytestmark = pytest.mark.as_user

SOURCE = '''
import os, signal, sys, time

@expose
def add(a: int, b: int = 1) -> int:
    return a + b

@expose
def where() -> dict:
    return {"file": __file__, "host": os.uname().nodename, "tests": os.path.exists(THIS_TEST),
            "pids": sum(name.isdigit() for name in os.listdir("/proc"))}

@expose
def secret(name: str) -> str:
    return os.environ.get(name, "")

@expose
def leave(code: int):
    os._exit(code)

@expose
def take(megabytes: int, seconds: float = 0) -> int:
    taken = b"x" * (megabytes << 20)
    time.sleep(seconds)
    return len(taken)

@expose
def nap(seconds: float) -> float:
    time.sleep(seconds)
    return seconds

@expose
def shout(text: str) -> str:
    print("shouting", text)
    os.write(2, b"from below\\n")
    return text.upper()
'''.replace("THIS_TEST", repr(__file__))

SECRET = "se-cret-vxyz-0001"


class Served:
    def __init__(self, folder: Path, source: str = SOURCE, box: dict[str, Any] | None = None, **config: Any) -> None:
        (folder / "box").mkdir()
        (folder / "host").mkdir()
        self.box = BoxProcess(folder / "box", **(box or {}))
        via = {"control": self.box.ready["control"], "python": PYTHON}
        try:
            self.host = HostProcess(folder / "host", source, worker_via=via, **config)
        except BaseException:
            self.box.close()
            raise

    def close(self) -> None:
        self.host.close()
        self.box.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    both = Served(tmp_path_factory.mktemp("served"), box={"secrets": {"TOKEN": SECRET}})
    yield both
    both.close()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    all_of_them: list[Served] = []

    def begin(**config: Any) -> Served:
        folder = tmp_path / str(len(all_of_them))
        folder.mkdir()
        all_of_them.append(Served(folder, **config))
        return all_of_them[-1]

    yield begin
    for both in all_of_them:
        both.close()


def test_calls_run_inside(served: Served) -> None:
    assert served.host.result("add", 41) == 42
    inside = served.host.result("where")
    assert inside["host"] == "box" and not inside["tests"] and inside["pids"] < 10
    assert os.path.exists(__file__)
    assert inside["file"] == f"/run/glovebox/interface/{served.host.ready['id']}/interface.py"
    assert served.host.result("shout", "x") == "X"
    record = served.host.records()[-1]
    assert {"stream": "stdout", "text": "shouting x\n"} in record["output"]


def test_secrets_come_over_the_link_only(served: Served) -> None:
    assert served.host.result("secret", "TOKEN") == SECRET
    assert served.host.result("secret", "PLAIN") == "seen"
    # What a command of the sandbox can see of other processes; its own variable is the control.
    look = "cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'"
    seen = served.box.link.run(look, env={"CONTROL": "control-value"})["stdout"].decode()
    assert "control-value" in seen and "glovebox_worker" in seen
    assert SECRET not in seen


def test_a_dead_worker_is_replaced(served: Served) -> None:
    answer = served.host.call("leave", 7)
    assert answer["error"]["kind"] == "worker_died" and "exit code 7" in answer["error"]["message"]
    assert served.host.result("add", 1) == 2


def test_a_worker_that_takes_too_much_memory(serve: Callable[..., Served]) -> None:
    both = serve(box={"memory": 200 << 20})
    how = both.box.link.call("box.hello", protocol=1)["limits"]["memory"]
    assert both.host.result("take", 20) == 20 << 20
    error = both.host.call("leave", 7)["error"]  # the control: another end is not called that
    assert "memory" not in error["message"] and error["worker"]["most_memory"] > 20 << 20
    error = both.host.call("take", 500, 30)["error"]  # where memory is only watched, long enough to be seen
    assert error["kind"] == "worker_died" and error["worker"]["out_of_memory"] is True
    if how == "watched":
        # It ends with the sandbox; the host says why in the answer and in the record, and ends too.
        assert "took more memory than it may" in error["message"] and both.host.process.wait(20) == 0
    else:
        assert "memory ran out" in error["message"] and both.host.result("take", 20) == 20 << 20
    assert [r["error"]["message"] for r in both.host.records() if r["error"]][-1] == error["message"]


def test_reload_brings_the_changed_file(served: Served) -> None:
    control = served.host.control()
    served.host.file.write_text(SOURCE.replace("return a + b", "return a * 100 + b"))
    assert control.call("keeper.reload")[0]["how"] == "bodies"
    assert served.host.result("add", 2) == 201
    served.host.file.rename(served.host.file.with_suffix(".away"))
    with pytest.raises(RuntimeError, match="load_failed"):
        control.call("keeper.reload")
    assert served.host.result("add", 2) == 201
    served.host.file.write_text(SOURCE)
    control.call("keeper.reload")
    assert served.host.result("add", 2) == 3
    control.close()


def test_a_file_that_cannot_be_loaded(serve: Callable[..., Served]) -> None:
    both = serve(source="raise ValueError('no such luck')\n")
    assert both.host.ready["state"] == "failed" and "no such luck" in both.host.ready["error"]["message"]
    both.host.file.write_text(SOURCE)
    control = both.host.control()
    control.call("keeper.reload")
    assert both.host.result("add", 1) == 2
    control.close()


def test_the_host_ends_with_the_sandbox_and_keeps_its_records(serve: Callable[..., Served]) -> None:
    both = serve()
    assert both.host.result("add", 1) == 2
    both.box.process.kill()
    assert both.host.process.wait(20) == 0
    assert [record["fn"] for record in both.host.records()] == ["add"]


def test_the_host_ends_with_the_sandbox_though_its_worker_died_before(serve: Callable[..., Served]) -> None:
    dies = "import os\nos._exit(3)\n"
    failed, mended = serve(source=dies), serve(source=dies)
    mended.host.file.write_text(SOURCE)
    control = mended.host.control()
    control.call("keeper.reload")
    control.close()
    assert mended.host.result("add", 1) == 2
    for both in (failed, mended):
        assert both.host.ready["state"] == "failed" and both.host.process.poll() is None
        both.box.process.kill()
        assert both.host.process.wait(60) == 0


def test_a_host_for_a_sandbox_that_is_gone_says_so(tmp_path: Path) -> None:
    (tmp_path / "interface.py").write_text(SOURCE)
    config = {"interface": str(tmp_path / "interface.py"), "data_folder": str(tmp_path / "data"), "detached": True,
              "worker_via": {"control": str(tmp_path / "none.box"), "python": PYTHON}}
    done = subprocess.run([BIN / "glovebox-host", "--config-fd", "0"], input=json.dumps(config) + "\n",
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and json.loads(done.stdout)["error"]["code"] == "sandbox.gone"


def test_the_worker_ends_with_the_host(serve: Callable[..., Served]) -> None:
    both = serve()
    wait_for(lambda: both.box.link.call("box.meters")["processes"] == 2)
    both.host.process.kill()
    wait_for(lambda: both.box.link.call("box.meters")["processes"] == 1)


def test_calls_keep_a_sandbox_from_being_idle(serve: Callable[..., Served]) -> None:
    both = serve(box={"idle_timeout": 1})
    began = time.monotonic()
    assert both.host.result("nap", 2.0) == 2.0
    assert time.monotonic() - began >= 2.0 and both.box.process.poll() is None
    assert both.box.ended()["reason"] == "idle"


def test_one_worker_a_connection(served: Served) -> None:
    link = served.box.connect()
    answer = link.call("box.worker", python=PYTHON, package=WORKER)
    assert answer["env"] == {"TOKEN": SECRET} and len(link.descriptors) == 1
    with pytest.raises(BoxRefused) as refused:
        link.call("box.worker", python=PYTHON, package=WORKER)
    assert refused.value.code == "sandbox.busy"
    link.call("box.worker_signal", signal=15)
    assert link.next("box.worker_exit")["signal"] == 15
    os.close(link.descriptors.pop())
    with pytest.raises(BoxRefused):
        link.call("box.worker", python="/no/such/python", package=WORKER)
    link.close()
