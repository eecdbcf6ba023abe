# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from host_process import HostProcess

TOOLS = '''"""Tools for the tests."""
import os, signal, sys, time

@expose
def add(a: int, b: int = 1) -> int:
    """Adds two numbers."""
    return a + b

@expose
def echo(value):
    return value

@expose
def shout(text: str) -> str:
    print("shouting", text)
    return text.upper()

@expose
def fails():
    raise ValueError("no such luck")

@expose
def leave(code: int):
    os._exit(code)

@expose
def crash():
    os.kill(os.getpid(), signal.SIGSEGV)

@expose
def spin(seconds: float) -> float:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
    return seconds

@expose
def stuck(seconds: float):
    time.sleep(seconds)

@expose(timeout=0.3)
def limited():
    time.sleep(30)

@expose
def count(n: int):
    for i in range(n):
        progress(i + 1, n, "counting")
        yield {"i": i}

@expose
def returns(n: int):
    for i in range(n):
        yield float("nan") if i == 1 else i
    return "the end"

@expose
def chunks(n: int, size: int):
    for i in range(n):
        yield "x" * size

@expose
def flood(lines: int):
    for _ in range(lines):
        print("x" * 1000)

@expose
def odd():
    return {"nan": float("nan"), "big": 2**70, "$gb": "mine", "list": [float("inf"), 1.5]}

@expose
def floats(n: int):
    random = __import__("random").Random(1)
    numbers = [random.uniform(-1, 1) * 10.0 ** random.randint(-300, 300) for _ in range(n)] + [-0.0, 5e-324, 1e5]
    return {"rows": [numbers, numbers[:10]], "mixed": numbers + [1], "nan": [float("nan"), *numbers],
            "whole": list(range(n)), "$gb": "floats", "text": "[" + "0.5," * n + "0.5]"}

@expose
def large(n: int):
    return list(range(n))
'''


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostProcess]:
    """One host for a whole module; tests leave it usable."""
    process = HostProcess(tmp_path_factory.mktemp("host"), TOOLS, compat=True)
    yield process
    process.close()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., HostProcess]]:
    hosts: list[HostProcess] = []

    def begin(source: str = TOOLS, **config: Any) -> HostProcess:
        folder = tmp_path / str(len(hosts))
        folder.mkdir()
        hosts.append(HostProcess(folder, source, **config))
        return hosts[-1]

    yield begin
    for host in hosts:
        host.close()
