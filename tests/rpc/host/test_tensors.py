# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Tensors as values: every form a caller can ask for, against numpy doing the same."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Iterator

import pytest
from host_process import HostProcess

numpy = pytest.importorskip("numpy")
OWN = "application/vnd.glovebox+json"

SOURCE = """
import fcntl, os
import numpy as np
from glovebox_worker import tensors

good = tensors.sealed_file

@expose(tensors="binary")
def array(dtype: str, shape: list, kind: str = "range"):
    if kind == "normal":
        return np.random.default_rng(1).normal(size=shape).astype(dtype)
    count = int(np.prod(shape))
    return (np.arange(count) % 120).astype(dtype).reshape(shape)

@expose(tensors="binary")
def pair():
    value = np.array([1.5, float("nan"), float("inf"), -2.0], dtype=np.float32)
    return {"first": value, "second": [np.arange(6).reshape(2, 3)[:, ::2]], "$gb": 1}

@expose(tensors="binary")
def steps(n: int, size: int):
    for i in range(n):
        yield {"step": i, "value": np.full(size, i, dtype=np.float32)}

@expose(tensors="binary")
def unsealed(how: str):
    def bad(parts):
        fd = os.memfd_create("x", os.MFD_ALLOW_SEALING)
        os.write(fd, bytes(parts[0])[: 3 if how == "short" else None])
        if how == "short":
            fcntl.fcntl(fd, 1033, 15)
        return os.open("/proc/self/exe", os.O_RDONLY) if how == "file" else fd
    tensors.sealed_file = good if how == "good" else bad
    return np.arange(10)
"""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostProcess]:
    process = HostProcess(tmp_path_factory.mktemp("tensors"), SOURCE)
    yield process
    process.close()


def safetensors(data: bytes) -> dict:
    size = struct.unpack("<Q", data[:8])[0]
    assert size % 8 == 0
    header, body = json.loads(data[8 : 8 + size]), data[8 + size :]
    kinds = {"BOOL": "?", "C64": "<c8", "C128": "<c16", "F16": "<f2", "F32": "<f4", "F64": "<f8"}
    kinds |= {f"{letter}{8 * size}": f"<{letter.lower()}{size}" for letter in "IU" for size in (1, 2, 4, 8)}
    out = {}
    for name, entry in header.items():
        if name != "__metadata__":
            start, end = entry["data_offsets"]
            out[name] = numpy.frombuffer(body[start:end], kinds[entry["dtype"]]).reshape(entry["shape"])
    return out


def fetch(host: HostProcess, path: str) -> dict:
    status, data, headers = host.request("GET", path)
    assert status == 200, data
    assert headers["content-type"] == "application/vnd.safetensors"
    return safetensors(data)


@pytest.mark.parametrize(
    "dtype",
    ["float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8",
     "bool", "complex64", "complex128"],
)  # fmt: skip
@pytest.mark.parametrize("shape", [[], [0], [3, 0, 2], [2, 3, 4], [7]])
def test_every_dtype_and_shape(host: HostProcess, dtype: str, shape: list) -> None:
    expected = (numpy.arange(int(numpy.prod(shape))) % 120).astype(dtype).reshape(shape)
    form = host.call("array", dtype, shape, accept=OWN)["result"]
    assert form["$gb"] == "tensor" and form["shape"] == shape and form["bytes"] == expected.nbytes
    got = fetch(host, f"/v1/tensors/{form['handle']}")["tensor"]
    assert got.dtype == expected.dtype and got.shape == expected.shape and (got == expected).all()
    plain = host.call("array", dtype, shape)["result"]
    if expected.dtype.kind == "c":
        expected = numpy.stack([expected.real, expected.imag], -1)
    assert plain == expected.tolist()


def test_nested_values(host: HostProcess) -> None:
    plain = host.call("pair")["result"]
    assert plain == {"first": [1.5, None, None, -2.0], "second": [[[0, 2], [3, 5]]], "$gb": 1}
    stats = host.call("pair", accept=OWN)["result"]["first"]["stats"]
    assert stats == {"count": 2, "nan": 1, "inf": 1, "min": -2.0, "max": 1.5, "mean": -0.25, "std": 1.75}
    record = host.records()[-1]
    assert record["result"]["first"]["stats"]["nan"] == 1 and record["result"]["$$gb"] == 1


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "int32"])
def test_statistics(host: HostProcess, dtype: str) -> None:
    kind = "normal" if dtype.startswith("float") else "range"
    form = host.call("array", dtype, [300, 517], kind=kind, accept=OWN)["result"]
    data = fetch(host, f"/v1/tensors/{form['handle']}")["tensor"].astype("float64")
    stats = host.get(f"/v1/tensors/{form['handle']}/stats")["stats"]
    assert stats["count"] == data.size and stats["min"] == data.min() and stats["max"] == data.max()
    assert math.isclose(stats["mean"], data.mean(), rel_tol=1e-9, abs_tol=1e-9)
    assert math.isclose(stats["std"], data.std(), rel_tol=1e-9)
    histogram = numpy.histogram(data, 64)[0]
    assert sum(stats["histogram"]) == data.size and abs(histogram - stats["histogram"]).max() <= data.size / 100


def test_slices(host: HostProcess) -> None:
    form = host.call("array", "int32", [6, 7, 5], accept=OWN)["result"]
    whole = fetch(host, f"/v1/tensors/{form['handle']}")["tensor"]
    for text, cut in {
        "0:2": whole[0:2], "3": whole[3], "-1,::2,1:": whole[-1, ::2, 1:], "::5,-3:-1": whole[::5, -3:-1],
        "9:": whole[9:], ":,:,2": whole[:, :, 2], "1,2,3": whole[1, 2, 3],
    }.items():  # fmt: skip
        got = fetch(host, f"/v1/tensors/{form['handle']}?slice={text}")["tensor"]
        assert got.shape == cut.shape and (got == cut).all(), text
    for bad in ("9", "1:2:0", "a", "0,0,0,0", "1::::", "::-1"):
        assert host.request("GET", f"/v1/tensors/{form['handle']}?slice={bad}")[0] == 400, bad


def test_tiles(host: HostProcess) -> None:
    form = host.call("array", "float32", [2, 100, 90], kind="normal", accept=OWN)["result"]
    whole = fetch(host, f"/v1/tensors/{form['handle']}")["tensor"]
    tile = fetch(host, f"/v1/tensors/{form['handle']}/tile?rows=10&cols=9&lead=1")
    blocks = whole[1].reshape(10, 10, 9, 10).swapaxes(1, 2)
    assert numpy.allclose(tile["mean"], blocks.mean(axis=(2, 3)), atol=1e-6)
    assert (tile["min"] == blocks.min(axis=(2, 3))).all() and (tile["max"] == blocks.max(axis=(2, 3))).all()
    window = fetch(host, f"/v1/tensors/{form['handle']}/tile?row0=5&row1=8&col0=10&col1=20")
    assert (window["mean"] == whole[0, 5:8, 10:20]).all()
    for bad in ("lead=2", "row0=200", "rows=0", "rows=x", "row0=5&row1=5"):
        assert host.request("GET", f"/v1/tensors/{form['handle']}/tile?{bad}")[0] == 400, bad


def test_handles_end(start: Callable[..., HostProcess], host: HostProcess) -> None:
    form = host.call("array", "int8", [4], accept=OWN)["result"]
    path = f"/v1/tensors/{form['handle']}"
    assert host.request("DELETE", path)[0] == 200
    status, text, _ = host.request("GET", path)
    assert status == 410 and json.loads(text)["error"]["kind"] == "handle_gone"
    small = start(SOURCE, limits={"tensor_bytes": 1000})
    first, second = (small.call("array", "int8", [600], accept=OWN)["result"]["handle"] for _ in range(2))
    assert small.request("GET", f"/v1/tensors/{first}")[0] == 410
    assert small.request("GET", f"/v1/tensors/{second}")[0] == 200


def test_only_sealed_memory_of_the_right_size_is_taken(start: Callable[..., HostProcess]) -> None:
    host = start(SOURCE)
    assert host.call("unsealed", "good")["ok"]
    for how in ("open", "short", "file"):
        answer = host.call("unsealed", how)
        assert not answer["ok"] and answer["error"]["kind"] == "not_serialisable", how
        assert ("sealed" if how != "short" else "size") in answer["error"]["message"]
    assert host.call("unsealed", "good")["ok"]


def test_control_link_reads_tensors(host: HostProcess) -> None:
    control = host.control()
    _, text = control.call("keeper.call", b'{"args":["float32",[500,600]]}', fn="array")
    handle = json.loads(text)["handle"]
    stats, _ = control.call("keeper.tensor", handle=handle, what="stats")
    assert stats["shape"] == [500, 600] and stats["stats"]["max"] == 119
    tile, data = control.call("keeper.tensor", handle=handle, what="tile", rows=5, cols=6)
    assert tile["shape"] == [3, 5, 6] and len(data) == 3 * 5 * 6 * 4
    cut, data = control.call("keeper.tensor", handle=handle, what="slice", slice="1:3")
    assert cut["shape"] == [2, 600] and len(data) == 2 * 600 * 4
    whole, data = control.call("keeper.tensor", handle=handle, what="slice")
    assert len(data) == 500 * 600 * 4
    with pytest.raises(RuntimeError, match="handle_gone"):
        control.call("keeper.tensor", handle="9-1", what="stats")
    control.close()


def items(text: bytes) -> list[dict]:
    events = [block.split(b"\ndata: ", 1) for block in text.split(b"\n\n") if block.startswith(b"event: item")]
    return [json.loads(data)["item"] for _, data in events]


@pytest.mark.parametrize("size", [4, 60_000])  # the longer ones are written beside the loop
def test_tensors_inside_streamed_items(host: HostProcess, size: int) -> None:
    body = {"fn": "steps", "args": [4, size]}
    _, text, _ = host.request("POST", "/v1/calls", body, Accept="text/event-stream")
    assert items(text) == [{"step": i, "value": [float(i)] * size} for i in range(4)]
    _, text, _ = host.request("POST", "/v1/calls", body, Accept=f"text/event-stream, {OWN}")
    forms = items(text)
    assert [form["value"]["stats"]["mean"] for form in forms] == [0, 1, 2, 3]
    got = fetch(host, f"/v1/tensors/{forms[3]['value']['handle']}")["tensor"]
    assert got.shape == (size,) and (got == 3).all()
    assert host.records()[-1]["result"] == forms
    refused = host.call("steps", 2, 70_000_000_000)
    assert not refused["ok"] and host.call("pair")["ok"]
