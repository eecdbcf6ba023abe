# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Tensors through a generated library: numpy where it is, a small array type elsewhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, Iterator

import pytest
from exposedhost import ExposedHost

numpy = pytest.importorskip("numpy")

INTERFACE = '''
import numpy

@expose(tensors="binary")
def array(kind: str, shape: list):
    """Counts up in a shape."""
    count = 1
    for length in shape:
        count *= length
    return numpy.arange(count).reshape(shape).astype(kind)

@expose(tensors="binary")
def inside() -> dict:
    return {"a": numpy.array([1.5, float("nan")], "float32"), "b": [numpy.zeros((2, 0), "int8"), "text"]}

@expose
def total(values: list) -> float:
    return float(sum(values))
'''


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExposedHost]:
    served = ExposedHost(tmp_path_factory.mktemp("tensors"), INTERFACE)
    yield served
    served.close()


@pytest.fixture(scope="module")
def tools(host: ExposedHost) -> Any:
    return host.library()


@pytest.fixture(autouse=True)
def without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another test of this process may have imported torch, which the library would then prefer."""
    monkeypatch.setitem(sys.modules, "torch", None)


@pytest.mark.parametrize("kind", ["float32", "float64", "float16", "int8", "int64", "uint8", "bool", "complex64"])
@pytest.mark.parametrize("shape", [[], [0], [5], [2, 3, 4]])
def test_arrays_arrive_as_numpy(tools: Any, kind: str, shape: list) -> None:
    back = tools.array(kind, shape)
    wanted = numpy.arange(int(numpy.prod(shape))).reshape(shape).astype(kind)
    assert back.dtype == wanted.dtype and back.shape == wanted.shape and numpy.array_equal(back, wanted)


def test_arrays_inside_other_values(tools: Any) -> None:
    back = tools.inside()
    assert back["a"][0] == 1.5 and numpy.isnan(back["a"][1]) and back["b"][0].shape == (2, 0)
    assert back["b"][1] == "text"


def test_arrays_can_be_arguments(tools: Any) -> None:
    assert tools.total(numpy.arange(5)) == 10 and tools.total([numpy.float32(1.5), numpy.int64(2)]) == 3.5


def test_a_large_one_arrives_whole(tools: Any) -> None:
    back = tools.array("float32", [1000, 1000])
    assert float(back[999, 999]) == 999_999.0


def test_without_numpy_a_small_type_serves(host: ExposedHost, tmp_path: Path) -> None:
    host.write_library(tmp_path, "bare")
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", """
import sys; sys.path.insert(0, '.')
import bare
a = bare.array("float16", [2, 3])
assert a.shape == (2, 3) and a.dtype == "f16" and a.tolist() == [[0, 1, 2], [3, 4, 5]] and a[1][2] == 5.0
assert bare.array("int64", []).tolist() == 0 and bare.array("bool", [2]).tolist() == [False, True]
print(type(a).__name__)
"""], cwd=tmp_path, capture_output=True, text=True, timeout=30)
    assert done.stdout == "Array\n", done.stderr
