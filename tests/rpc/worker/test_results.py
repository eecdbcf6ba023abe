# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Results: strict JSON, record forms, where a value cannot be serialised, tensors in sealed files."""

from __future__ import annotations

import fcntl
import os
import struct

import pytest
from faketorch import FAKE_TORCH
from worker_process import has_module

VALUES = """
import collections, dataclasses, datetime, enum, math, pathlib

class Level(enum.Enum):
    HIGH = 3

class Weight(float):
    pass

@dataclasses.dataclass
class Point:
    x: float
    tags: set

Pair = collections.namedtuple("Pair", "a b")
loop = []
loop.append({"again": loop})
deep = []
for _ in range(100):
    deep = [deep]

CASES = {
    "nan": {"x": [1.0, math.nan, math.inf, -math.inf]},
    "big": [2**64 - 1, -2**63, 2**64, -2**70],
    "own": {"$gb": 1, "$$gb": 2, "$other": 3, "gb": 4},
    "rich": [Level.HIGH, Point(1.5, {2, 1}),
             Pair(1, 2), (3, 4), pathlib.Path("/a"), datetime.date(2031, 5, 20), Weight(2)],
    "keys": {1: "one", 2: {3: "three"}},
    "loop": loop, "deep": deep, "bytes": {"a": [b"xx"]}, "badkey": {"a": {(1, 2): 3}},
    "surrogate": ["\\ud800"],
    "object": {"model": [1, object()]}, "function": [print], "class": [int], "clash": {1: 1, "1": 2},
    "generator": {"x": iter([1])}, "text": "é\\u2028\\u0000", "floats": [0.1, 1e300, -0.0, 5e-324],
    "huge": [10**5000],
}

@expose
def get(name: str):
    return CASES[name]
"""


@pytest.mark.parametrize(
    "name, value, special",
    [
        ("nan", {"x": [1.0, {"$gb": "nan"}, {"$gb": "inf"}, {"$gb": "-inf"}]}, True),
        ("big", [2**64 - 1, -(2**63), {"$gb": "int", "v": str(2**64)}, {"$gb": "int", "v": str(-(2**70))}], True),
        ("own", {"$$gb": 1, "$$$gb": 2, "$other": 3, "gb": 4}, True),
        ("rich", [3, {"x": 1.5, "tags": [1, 2]}, {"a": 1, "b": 2}, [3, 4], "/a", "2031-05-20", 2.0], False),
        ("keys", {"1": "one", "2": {"3": "three"}}, False),
        ("text", "é\u2028\x00", False),
        ("floats", [0.1, 1e300, -0.0, 5e-324], False),
    ],
)
def test_record_form(serve, name, value, special):
    worker = serve(VALUES)
    frame = worker.result(worker.start("get", name))
    assert frame["ok"], frame["error"]
    assert (frame.value, frame["special"]) == (value, special)
    warned = {"nan": 'result["x"] has NaN', "keys": "result has whole numbers as keys"}.get(name)
    assert [w.startswith(warned) for w in frame["warnings"]] == [True] if warned else frame["warnings"] == []


@pytest.mark.parametrize(
    "name, message",
    [
        ("loop", 'result[0]["again"] contains itself'),
        ("deep", "is nested more than 56 deep"),
        ("bytes", 'result["a"][0] is 2 bytes: return text'),
        ("badkey", 'result["a"] has the key (1, 2), a tuple'),
        ("surrogate", "result[0] is text with half of a surrogate pair"),
        ("object", 'result["model"][1] is an object, which JSON has no form for'),
        ("function", "result[0] is the function print: call it"),
        ("class", "result[0] is the class int"),
        ("clash", "result[\"1\"] has two keys that become '1'"),
        ("generator", 'result["x"] is a list_iterator: return list(…)'),
        ("huge", "result[0] is a whole number of more than 4000 digits"),
    ],
)
def test_what_cannot_be_serialised_says_where(serve, name, message):
    error = serve(VALUES).error("get", name)
    assert error["kind"] == "not_serialisable" and message in error["message"]


def test_a_result_over_the_limit(serve):
    worker = serve("@expose\ndef f(n: int) -> str:\n    return 'x' * n\n", limits={"result_bytes": 1000})
    assert worker.call("f", 900) == "x" * 900
    assert worker.error("f", 1000)["kind"] == "reply_too_large"


ARRAYS = """
import numpy as np

@expose
def listed():
    return {"embedding": [1, 2, 3, np.zeros(2304)]}

@expose
def scalars():
    return [np.float32(0.5), np.int64(7), np.bool_(True), {np.int32(4): np.str_("s")}, np.float64("nan")]

@expose(tensors="binary")
def arrays():
    base = np.arange(12, dtype="f4").reshape(3, 4)
    return {"plain": base, "strided": base[:, ::2], "zero_d": np.array(True), "empty": np.zeros((0, 3), "i2"),
            "half": np.ones(2, "f2"), "big_endian": np.array([1, 2], ">i4"), "complex": np.array([1j]), "n": 3}

@expose(tensors="binary")
def text():
    return np.array(["a"], dtype=object)
"""


def sealed_bytes(fd):
    try:
        assert fcntl.fcntl(fd, 1034) & 0xF == 0xF
        with pytest.raises(PermissionError):
            os.write(fd, b"x")
        return os.pread(fd, os.fstat(fd).st_size, 0)
    finally:
        os.close(fd)


def needs(*names):
    for name in names:
        if not has_module(name):
            pytest.skip(f"{name} is not installed here")


def test_arrays(serve):
    needs("numpy")
    worker = serve(ARRAYS)
    message = 'result["embedding"][3] is an ndarray of shape [2304]: return .tolist(), or allow tensors'
    assert worker.error("listed")["message"] == message
    assert worker.call("scalars") == [0.5, 7, True, {"4": "s"}, {"$gb": "nan"}]
    frame = worker.result(worker.start("arrays"))
    assert frame["special"] and [t["fd"] for t in frame["tensors"]] == [True] * 7
    data = {t["handle"]: sealed_bytes(fd) for t, fd in zip(frame["tensors"], frame.fds)}
    got = {}
    for name, form in frame.value.items():
        if name != "n":
            assert form["$gb"] == "tensor" and form["bytes"] == len(data[form["handle"]])
            got[name] = (form["dtype"], form["shape"], data[form["handle"]])
    assert got == {
        "plain": ("f32", [3, 4], struct.pack("12f", *range(12))),
        "strided": ("f32", [3, 2], struct.pack("6f", 0, 2, 4, 6, 8, 10)),
        "zero_d": ("bool", [], b"\1"),
        "empty": ("i16", [0, 3], b""),
        "half": ("f16", [2], struct.pack("2e", 1, 1)),
        "big_endian": ("i32", [2], struct.pack("2i", 1, 2)),
        "complex": ("c128", [1], struct.pack("2d", 0, 1)),
    }
    assert worker.error("text")["message"] == "result is an array of object: return .tolist()"


def test_images_and_tables(serve):
    needs("PIL", "pandas")
    worker = serve("""
        import pandas, PIL.Image
        __glovebox__ = {"tensors": "binary"}

        @expose
        def image():
            return PIL.Image.new("RGB", (4, 2), "red")

        @expose
        def table():
            return pandas.DataFrame({"a": [1, 2], "b": ["x", None], "c": [0.5, float("nan")]})

        @expose(tensors="list")
        def listed():
            return {"t": pandas.DataFrame({"a": [1]})}
        """)
    frame = worker.result(worker.start("image"))
    form = frame.value
    assert (form["$gb"], form["format"], form["width"], form["height"]) == ("image", "png", 4, 2)
    assert sealed_bytes(frame.fds[0])[:4] == b"\x89PNG" and frame["tensors"][0]["dtype"] == "u8"
    form = worker.call("table")
    assert (form["$gb"], form["total_rows"]) == ("table", 2) and [c["name"] for c in form["columns"]] == [
        "a",
        "b",
        "c",
    ]
    assert form["rows"][0] == [1, "x", 0.5]
    assert 'return .to_dict("records")' in worker.error("listed")["message"]


def read(worker, handle, **fields):
    worker.send({"t": "tensor.read", "id": 77, "handle": handle, "what": "whole", **fields})
    return worker.wait(lambda f: f["t"] == "tensor.data")


def test_device_tensors_stay_and_the_least_used_leave(serve):
    worker = serve(FAKE_TORCH, limits={"device_cache_bytes": 200})
    first = worker.result(worker.start("on_device", 50, fields={"binary": True}))
    assert [(t["dtype"], t["device"], t["fd"]) for t in first["tensors"]] == [("bf16", "cuda:0", False)]
    one = first.value["handle"]
    assert read(worker, one).attachment == struct.pack("50H", *range(50))
    part = read(worker, one, what="slice", slice=[[2, 10, 3]])
    assert (part["shape"], part.attachment) == ([3], struct.pack("3H", 2, 5, 8))
    two = worker.call("on_device", 50, fields={"binary": True})["handle"]
    read(worker, one)
    worker.call("on_device", 40, fields={"binary": True})
    assert read(worker, one)["ok"] and read(worker, two)["error"]["kind"] == "handle_gone"
    worker.send({"t": "release", "handle": one})
    assert read(worker, one)["error"]["kind"] == "handle_gone"


def test_who_does_not_take_tensors_gets_the_data_at_once(serve):
    worker = serve(FAKE_TORCH)
    frame = worker.result(worker.start("on_device", 3))
    assert frame["tensors"][0]["fd"] and sealed_bytes(frame.fds[0]) == struct.pack("3H", 0, 1, 2)
