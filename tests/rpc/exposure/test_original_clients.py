# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Clients written for the original's format work through compat_url: they know one address and no headers."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import Any, Iterator

import pytest
from exposedhost import ExposedHost

INTERFACE = '''
@expose
def get_embedding(text: str) -> dict:
    """Get text embedding from model."""
    return {"embedding": [0.5, float(len(text))]}

@expose
def broken() -> dict:
    raise ValueError("no")
'''


class OriginalClient:
    """What the original generates: one POST per call, results from `result`, errors raised with the traceback."""

    def __init__(self, url: str) -> None:
        self.url = url

    def call(self, fn: str, *args: Any, **kwargs: Any) -> Any:
        body = json.dumps({"fn": fn, "args": args, "kwargs": kwargs}).encode()
        request = urllib.request.Request(self.url, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            data = json.loads(answer.read())
        if not data["ok"]:
            raise RuntimeError(data["error"] + "\n" + data.get("traceback", ""))
        return data["result"]


class OriginalProxy:
    """Its stdio proxy: lists the functions with GET and passes tool calls on as keyword arguments."""

    def __init__(self, url: str) -> None:
        self.client = OriginalClient(url)
        with urllib.request.urlopen(url, timeout=30) as answer:
            listed = json.loads(answer.read())
        self.tools = {name: listed["schemas"][name] for name in listed["functions"]}

    def call_tool(self, name: str, arguments: Any) -> str:
        return json.dumps(self.client.call(name, **arguments))


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("original")
    host = ExposedHost(folder, INTERFACE, compat=True)
    yield host.ready["compat_url"]
    host.close()


def test_the_generated_client(url: str) -> None:
    client = OriginalClient(url)
    assert client.call("get_embedding", "hello") == {"embedding": [0.5, 5.0]}
    with pytest.raises(RuntimeError, match="no\n.*Traceback"):
        client.call("broken")


def test_the_stdio_proxy(url: str) -> None:
    proxy = OriginalProxy(url)
    assert proxy.tools["get_embedding"]["description"] == "Get text embedding from model."
    assert proxy.tools["get_embedding"]["inputSchema"]["required"] == ["text"]
    assert json.loads(proxy.call_tool("get_embedding", {"text": "hi"})) == {"embedding": [0.5, 2.0]}
