# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Tensors that stay where they were made, through the host: parts come from the worker, the least used leave."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable

from faketorch import FAKE_TORCH
from host_process import HostProcess

OWN = "application/vnd.glovebox+json"


def made(host: HostProcess, n: int) -> str:
    form = host.call("on_device", n, accept=OWN)["result"]
    assert (form["dtype"], form["device"], form["shape"]) == ("bf16", "cuda:0", [n])
    return form["handle"]


def read(host: HostProcess, handle: str, part: str = "") -> bytes | str:
    status, data, _ = host.request("GET", f"/v1/tensors/{handle}" + (f"?slice={part}" if part else ""))
    if status != 200:
        assert status == 410
        return str(json.loads(data)["error"]["kind"])
    return data[8 + struct.unpack("<Q", data[:8])[0] :]


def test_what_stays_on_a_device(start: Callable[..., HostProcess]) -> None:
    host = start(FAKE_TORCH, limits={"device_cache_bytes": 200})
    first = made(host, 50)
    assert read(host, first) == struct.pack("50H", *range(50))
    assert read(host, first, "2:5") == struct.pack("3H", 2, 3, 4)
    assert host.get(f"/v1/tensors/{first}/stats")["stats"]["count"] == 50
    second = made(host, 50)
    assert read(host, first) == struct.pack("50H", *range(50))  # so the second one was used longer ago
    third = made(host, 40)
    assert read(host, second) == "handle_gone"
    assert read(host, first) != "handle_gone" and read(host, third) == struct.pack("40H", *range(40))
    # Whoever takes no tensors has the data at once, as lists.
    assert len(host.result("on_device", 3)) == 3
    # A worker that has gone took them along.
    host.request("POST", "/v1/reload", {})
    host.file.write_text(FAKE_TORCH + "x = 1\n")
    assert json.loads(host.request("POST", "/v1/reload", {})[1])["reload"]["how"] == "initial"
    assert read(host, third) == "handle_gone"
    assert read(host, made(host, 4)) == struct.pack("4H", 0, 1, 2, 3)
