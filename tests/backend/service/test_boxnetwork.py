# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""What a sandbox of the daemon reaches: the person's package indexes, and what its list names."""

from __future__ import annotations

import base64
import hashlib
import http.server
import io
import sys
import threading
import zipfile
from collections.abc import Iterator
from typing import Any

import glovebox
import pytest

pytestmark = pytest.mark.as_user

WHEEL = "gbtiny-1.0-py3-none-any.whl"


def wheel() -> bytes:
    files = {"gbtiny.py": b"answer = 42\n",
             "gbtiny-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: gbtiny\nVersion: 1.0\n",
             "gbtiny-1.0.dist-info/WHEEL": (b"Wheel-Version: 1.0\nGenerator: hand\n"
                                             b"Root-Is-Purelib: true\nTag: py3-none-any\n")}
    record = ""
    for name, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(text)}\n"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in {**files, "gbtiny-1.0.dist-info/RECORD": record.encode()}.items():
            archive.writestr(name, text)
    return out.getvalue()


@pytest.fixture(scope="module")
def index() -> Iterator[Any]:
    """A package index on this machine's loopback."""
    pages = {"/simple/gbtiny/": (f'<a href="/files/{WHEEL}">{WHEEL}</a>'.encode(), "text/html"),
             f"/files/{WHEEL}": (wheel(), "application/octet-stream")}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body, kind = pages.get(self.path, (b"", "text/plain"))
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None: ...

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture(autouse=True)
def only_this_index(index: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "UV_INDEX", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{index.server_port}/simple")
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", f"http://127.0.0.1:{index.server_port}/npm")
    monkeypatch.setenv("NPM_CONFIG_USERCONFIG", "/dev/null")


def spec(**more: Any) -> dict[str, Any]:
    return {"interpreter": sys.executable, "name": "box", **more}


def install(client: glovebox.Client, sandbox: str) -> tuple[int, bytes, bytes]:
    return client.sandboxes.run(sandbox, "sh", "-c", f"{sys.executable} -m pip install --no-cache-dir --retries 0 "
                                "--target /workspace/lib gbtiny && PYTHONPATH=/workspace/lib "
                                f"{sys.executable} -c 'import gbtiny; print(gbtiny.answer)'")


def test_a_full_sandbox_installs_packages(client: glovebox.Client, index: Any) -> None:
    host = f"127.0.0.1:{index.server_port}"
    assert host in client.sandboxes.plan(spec())["hosts"]
    sandbox = client.sandboxes.ready(client.sandboxes.start(spec()))["id"]
    registry = client.sandboxes.run(sandbox, "sh", "-c", "echo $NPM_CONFIG_REGISTRY")[1]
    assert registry == f"http://{host}/npm\n".encode()
    code, out, errors = install(client, sandbox)
    assert code == 0 and out.endswith(b"42\n"), errors
    # Only these: anything else is refused, and the sandbox's log says so.
    ask = "import urllib.request; urllib.request.urlopen('https://elsewhere.example/', timeout=20)"
    _, _, errors = client.sandboxes.run(sandbox, sys.executable, "-c", ask)
    assert b"elsewhere.example:443 is not on the network list of this sandbox" in errors
    assert "network: refused elsewhere.example:443" in client.sandboxes.log(sandbox)["text"]


@pytest.mark.parametrize("closed", [{"scoped": True}, {"network": "off"}])
def test_others_do_not(client: glovebox.Client, closed: dict[str, Any]) -> None:
    assert "hosts" not in client.sandboxes.plan(spec(**closed))
    sandbox = client.sandboxes.ready(client.sandboxes.start(spec(**closed)))["id"]
    code, _, errors = install(client, sandbox)
    assert code != 0 and b"gbtiny" in errors
    assert b"PROXY" not in client.sandboxes.run(sandbox, "env")[1]


def test_a_list_names_more(client: glovebox.Client, index: Any) -> None:
    hosts = ["Data.Example.org", "*.example.org:8443", "10.0.0.0/8"]
    plan = client.sandboxes.plan(spec(network=hosts))
    assert plan["hosts"] == [f"127.0.0.1:{index.server_port}", *hosts] and not plan["problems"]
    for wrong in ("user@example.org", "10.0.0.0/99", "https://example.org", "a b"):
        with pytest.raises(glovebox.GloveboxError):
            client.sandboxes.ready(client.sandboxes.start(spec(network=[wrong])))
    client.sandboxes.ready(client.sandboxes.start(spec(network=hosts)))
