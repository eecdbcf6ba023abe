# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""One interface file, exposed in four forms from the command line, each used by something else."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Dict, Iterator, List

import pytest
from exposedhost import ExposedHost
from exposetool import ROOT, bin_folder

SOURCE = (ROOT / "tests" / "data" / "mcp_fixture.py").read_text(encoding="utf-8")


class Glovebox:
    """The command line with a daemon of its own, and a host that the daemon knows."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "GLOVEBOX_HOME": str(folder / "h" / "data"), "GLOVEBOX_IDLE_EXIT_MS": "500"}
        self.host = ExposedHost(folder / "h", SOURCE, name="fixture")

    def run(self, *words: str, text: str = "") -> str:
        done = subprocess.run([str(bin_folder() / "glovebox"), *words], env=self.environment, input=text,
                              cwd=self.folder, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def fails(self, *words: str) -> str:
        done = subprocess.run([str(bin_folder() / "glovebox"), *words], env=self.environment, cwd=self.folder,
                              capture_output=True, text=True, timeout=60)
        assert done.returncode != 0
        return done.stderr

    def close(self) -> None:
        self.host.close()
        subprocess.run([str(bin_folder() / "glovebox"), "daemon", "stop", "--force"], env=self.environment,
                       capture_output=True, timeout=60)


@pytest.fixture(scope="module")
def glovebox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Glovebox]:
    made = Glovebox(tmp_path_factory.mktemp("expose"))
    # The daemon finds hosts in its data folder by itself.
    end = time.monotonic() + 20
    while "fixture" not in made.run("interfaces", "--json"):
        assert time.monotonic() < end
        time.sleep(0.1)
    yield made
    made.close()


def test_a_library_is_imported_by_a_plain_python(glovebox: Glovebox) -> None:
    made = json.loads(glovebox.run("expose", "fixture", "--as", "library", "--name", "tools", "--out", "lib",
                                   "--json", "--functions", "add"))
    assert made["functions"] == ["add"] and made["tokens"] > 20 and made["token_id"]
    library = glovebox.folder / "lib"
    assert stat.S_IMODE((library / "tools.host.json").stat().st_mode) == 0o600
    done = subprocess.run([sys.executable, "-I", "-S", "-c",
                           "import sys; sys.path.insert(0, 'lib'); import tools; print(tools.add(40))"],
                          cwd=glovebox.folder, capture_output=True, text=True, timeout=30)
    assert done.stdout == "42\n", done.stderr
    caller = [record["caller"] for record in glovebox.host.records() if record["fn"] == "add"][-1]
    assert caller == {"kind": "agent", "name": "tools (library)", "token": made["token_id"]}


def test_limits_and_functions_are_the_hosts_to_keep(glovebox: Glovebox) -> None:
    glovebox.run("expose", "fixture", "--as", "library", "--out", "few", "--functions", "add", "--max-calls", "1")
    token = json.loads((glovebox.folder / "few" / "fixture.host.json").read_text())["token"]
    whole, glovebox.host.token = glovebox.host.token, token
    try:
        # What it may not call is not there for it, as what nobody may call.
        for name in ("slow", "nothing_of_this_name"):
            assert glovebox.host.request("POST", "/v1/calls", {"fn": name, "kwargs": {}})[0] == 404
        assert glovebox.host.request("POST", "/v1/calls", {"fn": "add", "kwargs": {"a": 1}})[0] == 200
        assert glovebox.host.request("POST", "/v1/calls", {"fn": "add", "kwargs": {"a": 1}})[0] in (403, 429)
    finally:
        glovebox.host.token = whole


def proxied(glovebox: Glovebox, access: str, *messages: Dict[str, Any]) -> List[Any]:
    text = "".join(json.dumps(message) + "\n" for message in messages)
    return [json.loads(line) for line in glovebox.run("mcp-proxy", "--host-file", access, text=text).splitlines()]


def test_mcp_works_through_the_command(glovebox: Glovebox) -> None:
    glovebox.run("expose", "fixture", "--as", "mcp", "--out", "mcp")
    stdio = json.loads((glovebox.folder / "mcp" / "fixture.mcp-stdio.json").read_text())["mcpServers"]["fixture"]
    assert stdio["command"] == "glovebox" and stdio["args"][0] == "mcp-proxy"
    http = json.loads((glovebox.folder / "mcp" / "fixture.mcp.json").read_text())["mcpServers"]["fixture"]
    assert http["url"] == glovebox.host.ready["url"] + "/mcp"
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    answers = proxied(
        glovebox, stdio["args"][-1],
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": "two", "method": "tools/call", "params": {"name": "add", "arguments": {"a": 1}}},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call",
         "params": {"name": "test_tool_with_progress", "_meta": {**meta, "progressToken": 1}}},
        {"jsonrpc": "2.0", "id": 4, "method": "no/such", "params": {"_meta": meta}},
    )
    by_id = {answer["id"]: answer for answer in answers if "id" in answer}
    assert by_id[1]["result"]["protocolVersion"] == "2025-06-18"
    assert by_id["two"]["result"]["structuredContent"] == {"result": 3}
    assert by_id[3]["result"]["resultType"] == "complete" and by_id[4]["error"]["code"] == -32601
    assert [note["params"]["progress"] for note in answers if "method" in note] == [0, 50, 100]


def test_the_command_says_when_no_host_answers(glovebox: Glovebox) -> None:
    access = glovebox.folder / "nobody.host.json"
    access.write_text(json.dumps({"url": "http://127.0.0.1:9", "token": "x"}))
    [answer] = proxied(glovebox, str(access), {"jsonrpc": "2.0", "id": 1, "method": "ping"})
    assert answer["id"] == 1 and "no answer from the host" in answer["error"]["message"]
    access.write_text(json.dumps({"url": glovebox.host.ready["url"], "token": "x"}))
    [answer] = proxied(glovebox, str(access), {"jsonrpc": "2.0", "id": 1, "method": "ping"})
    assert "401" in answer["error"]["message"]
    assert "no host" in glovebox.fails("mcp-proxy", "--host-file", str(glovebox.folder / "h" / "interface.py")) \
        or "JSON" in glovebox.fails("mcp-proxy", "--host-file", str(glovebox.folder / "h" / "interface.py"))


def test_a_prompt_tells_everything_needed_for_a_call(glovebox: Glovebox) -> None:
    text = glovebox.run("expose", "fixture", "--as", "prompt", "--functions", "add,slow")
    for part in ("add(a: int, b: int = 2) -> int", "Add two numbers.", "| `b` | `int` | `2` |", "result = add(a=1)",
                 "Returns `integer`", "slow(seconds: float) -> str"):
        assert part in text, part
    assert "test_simple_text" not in text


def check_skill(folder: Path) -> None:
    """The rules of Agent Skills."""
    text = (folder / "SKILL.md").read_text(encoding="utf-8")
    front, body = re.fullmatch(r"---\n(.*?)\n---\n(.*)", text, re.S).groups()  # type: ignore[union-attr]
    fields = dict(line.split(": ", 1) for line in front.split("\n"))
    assert set(fields) == {"name", "description"}
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", fields["name"]) and len(fields["name"]) <= 64
    assert folder.name == fields["name"]
    description = json.loads(fields["description"])
    assert 0 < len(description) <= 1024 and not re.search(r"[<>\n]", description)
    assert len(body.splitlines()) <= 500
    for link in re.findall(r"\]\(([^)]+)\)", body):
        assert (folder / link).is_file()


def check_with_the_reference(folder: Path) -> None:
    """The validator of the format's authors (pip: skills-ref), where it is installed."""
    validator = Path(sys.executable).with_name("agentskills")
    if validator.exists():
        done = subprocess.run([str(validator), "validate", str(folder)], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_skill_is_a_valid_folder_with_a_library_that_works(glovebox: Glovebox) -> None:
    glovebox.run("expose", "fixture", "--as", "skill", "--name", "Model_Tools 2", "--out", "skills")
    folder = glovebox.folder / "skills" / "model-tools-2"
    check_skill(folder)
    check_with_the_reference(folder)
    [library] = [file.stem for file in (folder / "scripts").glob("*.py")]
    done = subprocess.run([sys.executable, "-c", f"import {library}; print({library}.add(1))"],
                          cwd=folder / "scripts", capture_output=True, text=True, timeout=30)
    assert done.stdout == "3\n", done.stderr


def test_a_host_given_by_its_address_needs_no_daemon(glovebox: Glovebox) -> None:
    ready = glovebox.host.ready
    glovebox.run("expose", ready["url"], "--token-file", ready["token_file"], "--as", "library", "--out", "direct")
    access = json.loads((glovebox.folder / "direct" / "fixture.host.json").read_text())
    assert access == {"url": ready["url"], "token": glovebox.host.token}
    assert "--token-file" in glovebox.fails("expose", ready["url"], "--as", "library")


def test_mistakes_are_named(glovebox: Glovebox) -> None:
    assert "nothing_such" in glovebox.fails("expose", "fixture", "--functions", "nothing_such")
    assert "library, mcp, prompt or skill" in glovebox.fails("expose", "fixture", "--as", "poem")
    assert "nobody" in glovebox.fails("expose", "nobody")
