# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""/mcp of a real host."""

from __future__ import annotations

import http.client
import json
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

import pytest
from exposedhost import ExposedHost
from exposetool import ROOT

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExposedHost]:
    source = (ROOT / "tests" / "data" / "mcp_fixture.py").read_text(encoding="utf-8")
    served = ExposedHost(tmp_path_factory.mktemp("mcp"), source, name="fixture")
    yield served
    served.close()


def new_headers(host: ExposedHost, method: str, name: str = "") -> Dict[str, str]:
    named = {"Mcp_Name": name} if name else {}
    return host.headers(MCP_Protocol_Version="2026-07-28", Mcp_Method=method,
                        Accept="application/json, text/event-stream", **named)


def ask(host: ExposedHost, method: str, **params: Any) -> Tuple[int, Any]:
    meta = {**META, **params.pop("_meta", {})}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    status, text, _ = host.request("POST", "/mcp", body, new_headers(host, method, params.get("name", "")))
    return status, json.loads(text) if text.startswith(b"{") else text


def events(text: bytes) -> List[Any]:
    return [json.loads(line[6:]) for line in text.split(b"\n") if line.startswith(b"data: ")]


def test_tools_are_listed_and_called(host: ExposedHost) -> None:
    status, answer = ask(host, "tools/list")
    assert status == 200
    names = [tool["name"] for tool in answer["result"]["tools"]]
    assert names[0] == "test_simple_text" and "add" in names
    status, answer = ask(host, "tools/call", name="add", arguments={"a": 40})
    assert answer["result"]["structuredContent"] == {"result": 42} and answer["result"]["isError"] is False
    status, answer = ask(host, "tools/call", name="add", arguments={"a": "x"})
    assert answer["result"]["isError"] is True and "'a'" in answer["result"]["content"][0]["text"]
    status, answer = ask(host, "tools/call", name="test_image_content", arguments={})
    assert answer["result"]["content"][0]["mimeType"] == "image/png"


def test_progress_streams(host: ExposedHost) -> None:
    status, text = ask(host, "tools/call", name="test_tool_with_progress", arguments={}, _meta={"progressToken": 9})
    assert status == 200
    *progress, last = events(text)
    assert [note["params"]["progress"] for note in progress] == [0, 50, 100]
    assert last["result"]["content"][0]["text"] == "done"


def test_a_long_silent_call_keeps_the_stream_alive(tmp_path: Path) -> None:
    source = "import time\n\n@expose\ndef quiet() -> int:\n    time.sleep(0.4)\n    return 5\n"
    host = ExposedHost(tmp_path / "h", source, limits={"idle_ms": 800})
    try:
        _, text = ask(host, "tools/call", name="quiet", arguments={})
        assert text.count(b": still at it\n\n") >= 1
        assert events(text)[-1]["result"]["structuredContent"] == {"result": 5}
    finally:
        host.close()


def test_closing_cancels(host: ExposedHost) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", host.port, timeout=10)
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "slow", "arguments": {"seconds": 60}, "_meta": {**META, "progressToken": 1}}}
    connection.request("POST", "/mcp", json.dumps(body), new_headers(host, "tools/call", "slow"))
    connection.getresponse().readline()
    connection.close()
    host.wait(lambda: any(record["fn"] == "slow" for record in host.records()))
    [record] = [record for record in host.records() if record["fn"] == "slow"]
    assert record["state"] == "cancelled" or record["result"] == "stopped"


def test_the_house_rules_hold_here_too(host: ExposedHost) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert host.request("POST", "/mcp", body)[0] == 200
    assert host.request("GET", "/mcp")[0] == 405
    assert host.request("DELETE", "/mcp")[0] == 405
    for changed, status in ((("Authorization", "Bearer x"), 401), (("Origin", "http://evil.example"), 403),
                            (("Host", "evil.example"), 403), (("Content-Type", "text/plain"), 415)):
        assert host.request("POST", "/mcp", body, {**host.headers(), changed[0]: changed[1]})[0] == status


def test_a_token_lists_and_calls_only_its_functions(host: ExposedHost) -> None:
    minted = host.ask("keeper.tokens.mint", caller={"kind": "agent", "name": "mcp"}, functions=["add"])
    whole, host.token = host.token, minted["token"]
    try:
        assert [tool["name"] for tool in ask(host, "tools/list")[1]["result"]["tools"]] == ["add"]
        answer = ask(host, "tools/call", name="add", arguments={"a": 1})[1]
        assert answer["result"]["structuredContent"] == {"result": 3}
        assert ask(host, "tools/call", name="slow", arguments={"seconds": 0})[1]["error"]["code"] == -32602
        # What it may not call is not suggested either.
        message = ask(host, "tools/call", name="slo", arguments={})[1]["error"]["message"]
        assert message == "there is no tool slo; there is only add"
        message = ask(host, "tools/call", name="ad", arguments={})[1]["error"]["message"]
        assert message == 'there is no tool ad; did you mean "add"?'
    finally:
        host.token = whole
    message = ask(host, "tools/call", name="slo", arguments={})[1]["error"]["message"]
    assert message == 'there is no tool slo; did you mean "slow"?'
    callers = [record["caller"] for record in host.records() if record["fn"] == "add"]
    assert callers[-1] == {"kind": "agent", "name": "mcp", "token": minted["id"]}


def test_digits_of_large_numbers_reach_the_function(tmp_path: Path) -> None:
    host = ExposedHost(tmp_path / "h", "@expose\ndef show(x) -> str:\n    return str(x)\n")
    try:
        body = ('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"show",'
                '"arguments":{"x":12345678901234567890123}}}')
        _, text, _ = host.request("POST", "/mcp", body.encode())
        assert json.loads(text)["result"]["content"][0]["text"] == "12345678901234567890123"
    finally:
        host.close()
