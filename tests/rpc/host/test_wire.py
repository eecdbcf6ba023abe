# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""What callers rely on: the original format, /v1, records and the control socket."""

from __future__ import annotations

import base64
import http.client
import json
import socket
import struct
import threading
import time
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from host_process import HostProcess, read_answer, read_spool

OWN = "application/vnd.glovebox+json"


def test_original_format_needs_no_header(host: HostProcess) -> None:
    url = urlsplit(host.ready["compat_url"])
    connection = http.client.HTTPConnection(url.netloc)
    connection.request("GET", url.path)
    listing = json.loads(connection.getresponse().read())
    assert listing["functions"][0] == "add"
    assert listing["schemas"]["add"] == {
        "description": "Adds two numbers.",
        "inputSchema": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 1}},
            "required": ["a"],
        },
    }

    def post(body: bytes) -> tuple[int, dict]:
        connection.request("POST", url.path, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())

    assert post(b'{"fn": "add", "args": [1], "kwargs": {"b": 41}}') == (200, {"ok": True, "result": 42})
    status, failed = post(b'{"fn": "fails", "args": [], "kwargs": {}}')
    assert status == 200 and failed["ok"] is False and "no such luck" in failed["error"]
    assert "ValueError" in failed["traceback"] and set(failed) == {"ok", "error", "traceback"}
    for body, code in ((b"{", 400), (b'{"args": []}', 400), (b'{"fn": "nothing"}', 404)):
        status, failed = post(body)
        assert status == code and failed["ok"] is False and failed["error"]
    assert post(b'{"fn": "odd"}')[1]["result"]["nan"] is None


def test_plain_and_record_form(host: HostProcess) -> None:
    plain = host.call("odd")
    assert plain["result"] == {"nan": None, "big": 2**70, "$gb": "mine", "list": [None, 1.5]}
    assert plain["warnings"]
    record = host.call("odd", accept=OWN)["result"]
    assert record["nan"] == {"$gb": "nan"} and record["big"] == {"$gb": "int", "v": str(2**70)}
    assert record["$$gb"] == "mine" and record["list"] == [{"$gb": "inf"}, 1.5]


def test_long_lists_of_numbers_as_bytes(host: HostProcess) -> None:
    packed = host.call("floats", 20_000, accept=f"{OWN}, application/vnd.glovebox.floats+json")["result"]
    record = host.call("floats", 20_000, accept=OWN)["result"]
    expected = record["rows"][0]
    form = packed["rows"][0]
    assert set(form) == {"$gb", "v"} and form["$gb"] == "floats"
    data = base64.b64decode(form["v"])
    # Bit for bit, and only where nothing but such numbers is in the list.
    assert data == struct.pack(f"<{len(expected)}d", *expected) and str(expected[-3]) == "-0.0"
    assert {**packed, "rows": record["rows"]} == record and packed["rows"][1] == expected[:10]
    assert packed["$$gb"] == "floats"
    # Nobody else sees it: not the record, not a client of plain JSON.
    plain = host.call("floats", 300, accept="application/json, application/vnd.glovebox.floats+json")["result"]
    assert len(plain["rows"][0]) == 303 and plain["nan"][0] is None
    record = host.records()[-1]
    assert record["result"]["rows"][0] == plain["rows"][0]
    # A short list is not worth it; the long one above is the control.
    short = host.call("floats", 2, accept=f"{OWN}, application/vnd.glovebox.floats+json")["result"]
    assert isinstance(short["rows"][0], list)


def test_the_parts_of_a_calls_time_are_no_more_than_the_whole(host: HostProcess) -> None:
    for n in (1, 600_000):
        began = time.monotonic_ns()
        parts = host.call("large", n)["ns"]
        took = time.monotonic_ns() - began
        assert sum(parts.values()) <= took and min(parts.values()) >= 0 and parts["serialise"] > 0


def test_schema_has_an_etag(host: HostProcess) -> None:
    status, text, headers = host.request("GET", "/v1/schema")
    assert status == 200 and json.loads(text)["functions"][0]["name"] == "add"
    status, text, _ = host.request("GET", "/v1/schema", If_None_Match=headers["etag"])
    assert (status, text) == (304, b"")


def test_stream_of_events(host: HostProcess) -> None:
    status, text, headers = host.request(
        "POST", "/v1/calls", {"fn": "count", "args": [3]}, Accept="text/event-stream"
    )
    assert status == 200 and headers["content-type"] == "text/event-stream"
    kinds = [line[7:] for line in text.decode().splitlines() if line.startswith("event: ")]
    assert kinds[0] == "started" and kinds[-1] == "result" and kinds.count("item") == 3 and "progress" in kinds
    last = json.loads(text.decode().rstrip().rsplit("data: ", 1)[1])
    assert last["ok"] is True


def last_event(text: bytes) -> dict:
    return json.loads(text.decode().rstrip().rsplit("data: ", 1)[1])


def test_streamed_items_stand_in_the_record(start: Callable[..., HostProcess]) -> None:
    host = start()
    _, text, _ = host.request("POST", "/v1/calls", {"fn": "returns", "args": [3]}, Accept="text/event-stream")
    assert b'"item":null' in text and last_event(text)["result"] == "the end"
    assert host.result("returns", 3) == [0, None, 2]
    control = host.control()
    _, result = control.call("keeper.call", b'{"args":[3]}', fn="returns", stream=True)
    assert json.loads(result) == [0, {"$gb": "nan"}, 2]
    _, result = control.call("keeper.call", b'{"args":[0]}', fn="returns", stream=True)
    assert json.loads(result) == []
    streamed, plain, linked, empty = host.records()
    assert streamed["result"] == plain["result"] == linked["result"] == [0, {"$gb": "nan"}, 2]
    assert streamed["warnings"] and empty["result"] == []
    # What is kept of them is bounded; the caller had them all.
    answer, result = control.call("keeper.call", b'{"args":[6,4000000]}', fn="chunks", stream=True)
    assert len(json.loads(result)) == 4 and answer["record"]["result_cut"]
    assert "the first 4 of 6 items" in answer["record"]["warnings"][-1]
    sent = [params for params, _ in control.notes if json.dumps(params).count('"item"')]
    assert len(sent) >= 1


def test_a_call_can_be_looked_up_and_cancelled(host: HostProcess) -> None:
    call = "018f0000-0000-7000-8000-000000000001"
    answers: list[dict] = []

    def run() -> None:
        status, text, _ = host.request("POST", "/v1/calls", {"fn": "spin", "args": [30], "id": call})
        answers.append(json.loads(text))

    thread = threading.Thread(target=run)
    thread.start()
    host.wait(lambda: host.request("GET", f"/v1/calls/{call}")[0] == 200)
    host.wait(lambda: host.get(f"/v1/calls/{call}")["state"] == "running")
    assert host.get("/v1/health")["running"] == 1
    assert host.request("POST", f"/v1/calls/{call}/cancel", {})[0] == 200
    thread.join(10)
    assert answers[0]["state"] == "cancelled" and answers[0]["error"]["kind"] == "cancelled"
    assert host.get(f"/v1/calls/{call}")["state"] == "cancelled"
    assert host.result("add", 1) == 2


def test_events_since(host: HostProcess) -> None:
    host.result("add", 5)
    with socket.create_connection(("127.0.0.1", host.port), timeout=10) as sock:
        sock.sendall(host.head("GET", "/v1/events?since=1"))
        text = b""
        while b"event: done" not in text:
            text += sock.recv(65536)
    assert b"event: state" in text and b'"fn":"add"' in text


def test_output_and_large_results_in_records(start: Callable[..., HostProcess]) -> None:
    host = start()
    host.result("shout", "hi")
    assert host.result("large", 50_000) == list(range(50_000))
    assert host.result("large", 400_000)[-1] == 399_999
    host.call("fails")
    deep: list = []
    for _ in range(54):
        deep = [deep]
    assert host.result("echo", deep) == deep
    wide = {str(i): i for i in range(4000)}
    assert host.result("echo", wide) == wide
    shout, middle, big, failed, nested, keys = host.records()
    assert shout["output"] == [{"stream": "stdout", "text": "shouting hi\n"}]
    assert shout["args"] == {"args": ["hi"], "kwargs": {}} and shout["result"] == "HI"
    assert shout["state"] == "ok" and shout["caller"]["kind"] == "script" and shout["generation"] == 1
    assert middle["result"] == list(range(50_000)) and not middle["result_cut"]
    assert big["result"] is None and big["result_cut"] and len(big["preview"]) == 4096
    assert failed["state"] == "error" and failed["error"]["type"] == "ValueError"
    assert nested["result"] == deep and keys["args"]["args"] == [wide]


def test_control_socket(start: Callable[..., HostProcess]) -> None:
    host = start()
    control = host.control()
    hello, _ = control.call("keeper.hello", protocol=1)
    assert hello["state"] == "ready" and hello["url"] == host.ready["url"] and hello["pid"] == host.process.pid
    assert control.call("keeper.schema")[0]["schema"]["functions"][0]["name"] == "add"
    assert control.call("keeper.records", since=0)[0]["next"] == 1

    answer, text = control.call(
        "keeper.call", b'{"args":[20],"kwargs":{"b":22}}', fn="add", caller={"kind": "person", "name": "window"}
    )
    assert json.loads(text) == 42 and answer["record"]["caller"]["kind"] == "person"
    noted, _ = control.notified("keeper.record")
    assert noted["seq"] == 1 and noted["record"]["id"] == answer["record"]["id"]
    _, text = control.call("keeper.call", b'{"args":[400000]}', fn="large")
    assert len(json.loads(text)) == 400_000
    control.call("keeper.call", b'{"args":[3]}', fn="count", stream=True)
    assert control.notified("keeper.call_event", lambda p: p["event"] == "item")[1] == b'{"i":0}'

    with pytest.raises(RuntimeError, match="unknown_function"):
        control.call("keeper.call", fn="nothing")
    with pytest.raises(RuntimeError, match="json"):
        control.call("keeper.call", b"{", fn="add")
    with pytest.raises(RuntimeError, match="rpc.unknown_method"):
        control.call("keeper.nothing")
    with pytest.raises(RuntimeError, match="rpc.version"):
        control.call("keeper.hello", protocol=99)

    control.call("keeper.ack", seq=2)
    second = host.control()
    assert second.call("keeper.records", since=0)[0]["next"] == 3
    assert second.notified("keeper.record")[0]["record"]["fn"] == "count"
    control.call("keeper.shutdown")
    assert host.process.wait(10) == 0


def test_tokens_are_per_caller(start: Callable[..., HostProcess]) -> None:
    host = start()
    control = host.control()
    minted, _ = control.call(
        "keeper.tokens.mint", caller={"kind": "agent", "name": "a"}, functions=["add", "fails"], max_calls=3
    )
    headers = {**host.headers(), "Authorization": f"Bearer {minted['token']}"}

    def post(fn: str) -> tuple[int, bytes]:
        return host.request("POST", "/v1/calls", {"fn": fn, "args": [1] if fn == "add" else []}, headers)[:2]

    assert post("add")[0] == 200
    # What it may not call and what there is not are one to it, also in the original format.
    for path in ("/v1/calls", "/"):
        said = [host.request("POST", path, {"fn": fn}, headers)[:2] for fn in ("spin", "spun", "nothing")]
        assert said[0] == said[1] == said[2] and said[0][0] == 404 and b"there are add and fails" in said[0][1]
        assert host.request("POST", path, {"fn": "spun"})[1] != said[0][1]  # the person's own is told of spin
    # Neither of the two lists names what it may not call; the person's own token sees it (the positive control).
    mine = [json.loads(host.request("GET", path, None, headers)[1])["functions"] for path in ("/", "/v1/schema")]
    all_of_them = [json.loads(host.request("GET", path)[1])["functions"] for path in ("/", "/v1/schema")]
    assert mine[0] == [function["name"] for function in mine[1]] == ["add", "fails"]
    assert all_of_them[0] == [function["name"] for function in all_of_them[1]] and "spin" in all_of_them[0]
    # What there is instead is told, but only of what this token may call ("spin" is what the person's own is
    # told: the positive control).
    for wanted, hint in (("ad", 'did you mean "add"?'), ("spim", "there are add and fails"),
                         ("x" * 100_000, "there are add and fails")):
        status, text = post(wanted)
        assert status == 404 and json.loads(text)["error"]["message"].endswith(hint)
    status, text, _ = host.request("POST", "/v1/calls", {"fn": "spim"})
    assert status == 404 and json.loads(text)["error"]["message"].endswith('did you mean "spin"?')
    status, text = post("fails")
    error = json.loads(text)["error"]
    # An agent does not learn where things lie; the person's own token shows it (the positive control).
    assert status == 200 and str(host.folder) not in text.decode() and error["frames"][0]["file"] == "interface.py"
    assert str(host.folder) in json.dumps(host.call("fails"))
    assert post("add")[0] == 200 and post("add")[0] == 403
    assert host.request("POST", "/v1/reload", {}, headers)[0] == 403
    assert control.call("keeper.tokens.revoke", id=minted["id"])[0]["found"] is True
    assert post("add")[0] == 401
    assert [record["caller"]["kind"] for record in host.records()[:2]] == ["agent", "agent"]


def test_unix_socket(start: Callable[..., HostProcess], tmp_path) -> None:
    path = tmp_path / "http.sock"
    host = start(socket=str(path))
    assert host.ready["url"] == "" and path.stat().st_mode & 0o777 == 0o600
    body = b'{"fn":"add","args":[1]}'
    for token, code in ((host.token, b"200"), ("wrong", b"401")):
        with socket.socket(socket.AF_UNIX) as sock:
            sock.connect(str(path))
            sock.sendall(host.head(Host="anything", Authorization=f"Bearer {token}", Content_Length=str(len(body))))
            sock.sendall(body)
            assert read_answer(sock).startswith(b"HTTP/1.1 " + code)


def test_spool_survives_a_killed_host(start: Callable[..., HostProcess]) -> None:
    host = start()
    for number in range(20):
        host.result("add", number)
    host.process.kill()
    host.process.wait()
    assert [record["result"] for record in read_spool(host.spool)] == list(range(1, 21))
    again = start(id=host.ready["id"], data_folder=str(host.folder / "data"))
    again.result("add", 100)
    assert again.control().call("keeper.records", since=0)[0]["next"] == 1
    assert len(read_spool(host.spool)) == 21


def test_pipelined_requests_are_answered_in_order(host: HostProcess) -> None:
    data = b""
    for number in (1, 2, 3):
        body = b'{"fn":"add","args":[%d]}' % number
        data += host.head(path="/", Content_Length=str(len(body))) + body
    with socket.create_connection(("127.0.0.1", host.port), timeout=10) as sock:
        sock.sendall(data)
        text, end = b"", time.monotonic() + 10
        while text.count(b'"result"') < 3 and time.monotonic() < end:
            text += sock.recv(65536)
    assert [text.find(b'"result": %d' % n) > 0 for n in (2, 3, 4)] == [True] * 3
    assert text.find(b'"result": 2') < text.find(b'"result": 3') < text.find(b'"result": 4')
