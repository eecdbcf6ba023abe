# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Tensors of the real torch as values, read by the real safetensors package."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from host_process import HostProcess

torch = pytest.importorskip("torch")
safetensors = pytest.importorskip("safetensors.torch")
OWN = "application/vnd.glovebox+json"

SOURCE = """
import torch

def make(kind):
    base = torch.arange(24).reshape(2, 3, 4) % 5
    floats = base.float()
    return {
        "bf16": base.to(torch.bfloat16) / 4, "half": base.half() / 8, "float": floats / 3,
        "int8": base.to(torch.int8) - 2, "uint8": base.to(torch.uint8), "long": base, "bool": base > 2,
        "scalar": torch.tensor(1.5), "empty": torch.empty(0, 3), "turned": floats.permute(2, 0, 1),
        "strided": floats[:, ::2, 1:], "expanded": torch.ones(3, 1).expand(3, 4),
        "learned": torch.nn.Parameter(torch.ones(2, 2)), "negated": torch.ones(3, dtype=torch.complex64).conj(),
    }[kind]

@expose(tensors="binary")
def value(kind: str):
    return make(kind)

@expose
def listed(kind: str):
    return make(kind)
"""
KINDS = ["bf16", "half", "float", "int8", "uint8", "long", "bool", "scalar", "empty", "turned", "strided", "expanded",
         "learned", "negated"]  # fmt: skip


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostProcess]:
    process = HostProcess(tmp_path_factory.mktemp("torch"), SOURCE)
    yield process
    process.close()


@pytest.fixture(scope="module")
def expected() -> dict:
    names: dict = {"expose": lambda *_, **__: lambda function: function}
    exec(SOURCE.replace("@expose\n", "@expose()\n"), names)
    return {kind: names["make"](kind).detach() for kind in KINDS}


def fetch(host: HostProcess, path: str):
    status, data, _ = host.request("GET", path)
    assert status == 200, data
    return safetensors.load(data)["tensor"]


@pytest.mark.parametrize("kind", KINDS)
def test_binary_and_lists(host: HostProcess, expected: dict, kind: str) -> None:
    tensor = expected[kind]
    form = host.call("value", kind, accept=OWN)["result"]
    assert form["$gb"] == "tensor" and form["shape"] == list(tensor.shape) and form["device"] == "cpu"
    got = fetch(host, f"/v1/tensors/{form['handle']}")
    assert got.dtype == tensor.dtype and got.shape == tensor.shape and torch.equal(got, tensor.resolve_conj())
    plain = host.call("value", kind)["result"]
    if tensor.is_complex():
        assert plain == [[value.real, value.imag] for value in tensor.tolist()]
    else:
        assert torch.equal(torch.tensor(plain, dtype=tensor.dtype).reshape(tensor.shape), tensor)


@pytest.mark.parametrize("kind", ["bf16", "half", "int8", "bool", "turned"])
def test_slices(host: HostProcess, expected: dict, kind: str) -> None:
    form = host.call("value", kind, accept=OWN)["result"]
    got = fetch(host, f"/v1/tensors/{form['handle']}?slice=0:1,1:,::2")
    assert torch.equal(got, expected[kind][0:1, 1:, ::2])


def test_lists_must_be_asked_for(host: HostProcess) -> None:
    error = host.call("listed", "half")["error"]
    assert error["kind"] == "not_serialisable" and "Tensor of shape [2, 3, 4]" in error["message"]
