# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""The thin thread: serve a file, see its functions, call one, see the result, find it recorded."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any, Callable

ROOT = Path(__file__).resolve().parents[2]
HELLO = ROOT / "resources/examples/hello/interface.py"


def served(home: Any) -> list[dict[str, Any]]:
    return [item for item in home.json("interfaces")["interfaces"] if item["state"] == "ready"]


def test_serve_call_record(home: Any, eventually: Callable[..., Any]) -> None:
    child, ready = home.serve(HELLO)
    names = [entry if isinstance(entry, str) else entry["name"] for entry in ready["functions"]]
    assert "greet" in names
    (interface,) = eventually(lambda: served(home), what="a served interface")
    assert interface["functions"] == len(names)

    record = home.json("calls", "run", "greet", "name=Ada", "language=de")
    assert (record["state"], record["result"]) == ("ok", "Hallo, Ada!")
    failed = home.json("calls", "run", "divide", "a=1", "b=0", code=1)
    assert failed["state"] == "error"
    assert failed["error"]["type"] == "ZeroDivisionError"
    wrong = home.json("calls", "run", "greet", "name=1", code=1)
    assert wrong["error"]["kind"] == "bad_arguments"
    assert "name" in wrong["error"]["message"]

    calls = eventually(lambda: (found := home.json("calls", "ls")["calls"]) and len(found) == 3 and found,
                       what="three recorded calls")
    assert [call["fn"] for call in calls] == ["greet", "divide", "greet"]
    shown = home.json("calls", "show", record["id"])
    assert shown["result"] == "Hallo, Ada!"
    assert home.json("calls", "ls", "status:error", "fn:divide")["calls"][0]["id"] == failed["id"]
    assert home.json("calls", "show", record["id"][-12:])["id"] == record["id"]
    assert "a=" in home.cli("calls", "ls", "fn:divide")
    again = home.json("calls", "resend", record["id"])
    assert again["result"] == "Hallo, Ada!"
    assert again["id"] != record["id"]
    # The same results, and two that differ.
    assert home.json("calls", "diff", record["id"], again["id"])["same"] is True
    other = home.json("calls", "run", "greet", "name=Ada", "language=en")
    differs = home.json("calls", "diff", record["id"], other["id"], code=1)
    assert differs["differences"] > 0
    assert {"Hallo", "Hello"} <= {word["text"].strip(" ,") for word in differs["words"]}

    child.send_signal(signal.SIGINT)
    assert child.wait(20) == 0
    eventually(lambda: not served(home), what="the interface to be gone")
    assert len(home.json("calls", "ls")["calls"]) == 5


def test_a_killed_daemon_loses_nothing(home: Any, eventually: Callable[..., Any]) -> None:
    home.serve(HELLO)
    eventually(lambda: served(home), what="a served interface")
    before = home.json("calls", "run", "remember", "note=one")
    os.kill(home.daemon_pid(), signal.SIGKILL)
    # A new daemon is started by the next client, finds the keeper again, and the box remembers its state.
    (interface,) = eventually(lambda: served(home), what="the interface to be found again")
    after = home.json("calls", "run", "remember", "note=two")
    assert after["result"]["count"] == 2
    assert after["generation"] == before["generation"]
    # An answer does not wait for its record to be stored.
    eventually(lambda: [call["id"] for call in home.json("calls", "ls")["calls"]] == [after["id"], before["id"]],
               what="both calls in the history")


def test_calls_made_without_a_daemon_are_imported(home: Any, eventually: Callable[..., Any]) -> None:
    import json
    import urllib.request

    child, ready = home.serve(HELLO, "--no-daemon")
    token = Path(ready["token_file"]).read_text().strip()
    request = urllib.request.Request(ready["url"].rstrip("/") + "/", method="POST",
                                     data=json.dumps({"fn": "greet", "args": ["Ada"], "kwargs": {}}).encode(),
                                     headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        assert json.load(answer)["result"] == "Hello, Ada!"
    child.send_signal(signal.SIGINT)
    child.wait(20)
    calls = eventually(lambda: home.json("calls", "ls")["calls"], what="the imported call")
    assert [call["fn"] for call in calls] == ["greet"]
