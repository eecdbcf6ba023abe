# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""One worker for every Python of this machine from 3.8 on, with and without the compiled encoder."""

from __future__ import annotations

from typing import Any

import pytest
from interpreters import interpreters
from worker_process import SPEED, SPEED_MODULE, WorkerProcess

PYTHONS = interpreters()

SOURCE = '''
import asyncio, dataclasses
from typing import Dict, List, Optional

@dataclasses.dataclass
class Point:
    x: float
    y: float = 0.0

kept: List[str] = []

@expose
def version() -> list:
    import sys
    return list(sys.version_info[:2])

@expose
def typed(p: Point, *rest: int, name: Optional[str] = None, **more: float) -> dict:
    """Say it back.

    Args:
        p: where
    """
    kept.append(name or "")
    return {"p": [p.x, p.y], "rest": list(rest), "name": name, "more": more, "kept": len(kept)}

@expose
def values() -> Dict[str, list]:
    return {"a": [0.1, 1e5, -0.0, 5e-324], "b": [float("nan"), 2**70], "c": [1.5] * 3000}

@expose
def count(n: int):
    for i in range(n):
        progress(i + 1, n, "counting")
        yield i

@expose
async def later(n: int) -> int:
    await asyncio.sleep(0)
    return n

@expose
def spin():
    print("spinning", flush=True)
    while True:
        pass

@expose
def fails():
    raise ValueError("no good")
'''


def use(worker: WorkerProcess) -> Any:
    """A little of everything a call can do; returns the values as they stood on the wire."""
    assert worker.function("typed")["parameters"][0]["description"] == "where"
    assert worker.function("typed")["input_schema"]["properties"]["p"]["required"] == ["x"]
    said = worker.call("typed", {"x": 1}, 2, 3, name="n", z=4)
    assert said == {"p": [1.0, 0.0], "rest": [2, 3], "name": "n", "more": {"z": 4.0}, "kept": 1}
    assert worker.error("typed", {"x": "1"})["where"] == "p.x"
    assert worker.call("count", 3) == [0, 1, 2] and worker.call("later", 7) == 7
    assert any(frame["t"] == "progress" and frame["total"] == 3 for frame in worker.seen)
    call = worker.start("spin")
    worker.wait(lambda frame: frame["t"] == "started" and frame["id"] == call)
    worker.send({"t": "cancel", "id": call})
    assert worker.result(call)["error"]["kind"] == "cancelled"
    error = worker.error("fails")
    assert error["message"] == "no good" and error["frames"][-1]["source"] == 'raise ValueError("no good")'
    worker.write(SOURCE.replace('"kept": len(kept)', '"kept": 100 + len(kept)'))
    worker.send({"t": "reload"})
    assert worker.wait(lambda frame: frame["t"] in ("loaded", "load_failed"))["how"] == "bodies"
    assert worker.call("typed", {"x": 1})["kept"] == 102
    return worker.result(worker.start("values")).attachment


def test_there_are_two() -> None:
    if len(PYTHONS) < 2:
        pytest.skip(f"there is one Python of 3.8 or newer here: {', '.join(PYTHONS)}")
    assert len(set(PYTHONS.values())) >= 2


@pytest.mark.parametrize("version", PYTHONS)
def test_every_python_with_and_without_the_encoder(serve: Any, version: str) -> None:
    plain = serve(SOURCE, python=PYTHONS[version])
    assert plain.hello["speed"] is False and plain.call("version") == [int(part) for part in version.split(".")]
    written = use(plain)
    assert b'{"$gb":"nan"}' in written and b"5e-324" in written
    if not SPEED_MODULE.exists():
        pytest.skip("built without Python's headers")
    quick = serve(SOURCE, python=PYTHONS[version], speed=str(SPEED))
    assert quick.hello["speed"] is True
    assert use(quick) == written
