# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""The compiled encoder writes what the worker's own writes, and the worker lives without it."""

from __future__ import annotations

import importlib.util
import json
import random
import struct
import sys
import threading
from pathlib import Path
from typing import Any, Callable, Optional

import pytest
from worker_process import SPEED
from worker_process import SPEED_MODULE as MODULE


@pytest.fixture(scope="module")
def encode() -> Callable[[Any], Optional[bytes]]:
    if not MODULE.exists():
        pytest.skip("built without Python's headers")
    spec = importlib.util.spec_from_file_location("glovebox_speed", MODULE)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.encode


def python(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


PLAIN = [
    None, True, False, 0, -1, 2**63, 2**64 - 1, -(2**63), 0.0, -0.0, 1.5, 1e5, 1e15, 1e16, 1e-4, 1e-5, 5e-324, 1e22,
    sys.float_info.max, "", 'quote" back\\ \n\r\t\b\f\x00\x0b\x1f', "é😀\x7f\u2028", [], {}, (), [[], [{}]],
    {"": 1, "a": [1, (2.0, None)], "b$": {"c": "d"}}, [float(i) for i in range(3000)], [0.5] * 2000 + [1],
]  # fmt: skip
LEFT = [
    float("nan"), float("inf"), [0.5] * 2000 + [float("-inf")], 2**64, -(2**63) - 1, {"$gb": 1}, {"$": 1}, {1: 2},
    "\ud800", {"a": {"\udfff": 1}}, b"bytes", {1, 2}, object(), [1, [object()]], type("Own", (dict,), {})(),
]  # fmt: skip


@pytest.mark.parametrize("value", PLAIN, ids=lambda value: repr(value)[:30])
def test_writes_as_python_does(encode: Any, value: Any) -> None:
    assert encode(value) == python(value)


@pytest.mark.parametrize("value", LEFT, ids=lambda value: repr(value)[:30])
def test_leaves_the_rest(encode: Any, value: Any) -> None:
    assert encode(value) is None


def test_doubles_return_bit_for_bit(encode: Any) -> None:
    source = random.Random(1)
    values = [struct.unpack("d", source.randbytes(8))[0] for _ in range(20_000)]
    values = [value for value in values if value - value == 0.0]
    text = encode(values)
    assert text == python(values)
    assert struct.pack(f"{len(values)}d", *json.loads(text)) == struct.pack(f"{len(values)}d", *values)


def test_depth_and_circles_end(encode: Any) -> None:
    nested: Any = []
    for _ in range(56):
        nested = [nested]
    assert encode(nested) == python(nested)
    assert encode([nested]) is None
    nested[0] = nested
    assert encode(nested) is None


def test_containers_may_change_meanwhile(encode: Any) -> None:
    shared: Any = {f"k{i}": [[0.5] * 2000] * 5 for i in range(40)}
    stop = threading.Event()

    def change() -> None:
        while not stop.is_set():
            shared.pop("k20", None)
            shared["k20"] = [[1.5] * 2000]

    thread = threading.Thread(target=change)
    thread.start()
    for _ in range(30):
        json.loads(encode(shared))
    stop.set()
    thread.join()


SOURCE = """
@expose
def values() -> dict:
    return {"a": [0.1, 1e5, 2**64], "b": [1.5] * 2000, "c": float("nan")}

@expose
def plain() -> list:
    return [0.1, 1e5, "x"]
"""


def test_worker_with_and_without(serve: Any, encode: Any, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / MODULE.name).write_bytes(b"no library")
    answers = []
    for folder in (str(SPEED), "", str(broken), str(tmp_path / "absent")):
        worker = serve(SOURCE, speed=folder)
        assert worker.hello["speed"] is (folder == str(SPEED))
        answers.append([worker.result(worker.start(fn)).attachment for fn in ("values", "plain")])
    assert answers[0][1] == b'[0.1,100000.0,"x"]'
    assert answers.count(answers[0]) == 4
