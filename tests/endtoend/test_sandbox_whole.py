# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""One sandbox with everything a spec can name, by the command line: a system package, Python packages (PyTorch among
them), a repository, a file, a secret and a model; start, exec, files, serve, call, stop. It fetches a gigabyte from
the person's package indexes the first time, so it runs only where GB_TEST_REGISTRIES=1 asks for it."""

from __future__ import annotations

import functools
import http.server
import json
import os
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(os.environ.get("GB_TEST_REGISTRIES") != "1", reason="fetches from package indexes")

INTERFACE = '''
import os

import torch

@expose
def weights(rows: int) -> list:
    """Of the model's file, as numbers."""
    text = open(os.path.join(os.environ["MODEL_ACME_TINY_PATH"], "weights.txt")).read()
    return torch.tensor([float(word) for word in text.split()]).repeat(rows, 1).tolist()
'''.lstrip()


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """https://127.0.0.1:…/team/tool, and the certificates with which it can be reached."""
    served = tmp_path / "served"
    work = tmp_path / "work"
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-C", str(work)]
    work.mkdir()
    (work / "tool.txt").write_text("from the repository\n")
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"],
                  ["clone", "-q", "--bare", ".", str(served / "team/tool")]):
        subprocess.run([*git, *words], check=True)
    subprocess.run(["git", "-C", str(served / "team/tool"), "update-server-info"], check=True)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)],
                   check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(served)))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    known = Path(os.environ.get("SSL_CERT_FILE", "/etc/ssl/certs/ca-certificates.crt"))
    both = tmp_path / "authorities.pem"
    both.write_text(known.read_text() + certificate.read_text())
    yield f"https://127.0.0.1:{server.server_address[1]}/team/tool", both
    server.shutdown()


def test_everything_a_spec_can_name(home: Any, tmp_path: Path, repository: tuple[str, Path]) -> None:
    url, authorities = repository
    model = tmp_path / "tiny"
    model.mkdir()
    (model / "weights.txt").write_text("1.5 2.5")
    (tmp_path / "in.txt").write_text("from a file\n")
    (tmp_path / "interface.py").write_text(INTERFACE)
    tmp_path.chmod(0o755)
    home.extra.update(SSL_CERT_FILE=str(authorities), API_KEY="s3cret-of-mine")

    home.cli("sandbox", "start", "--name", "all", "--apt", "hello", "--pip", "torch", "--pip", "six",
             "--repo", url, "--file", f"{tmp_path}/in.txt:/workspace/in.txt", "--secret", "API_KEY",
             "--model", f"acme/tiny={model}", "--memory", "8GiB", "--timeout", "2h", timeout=1500)

    def inside(*words: str) -> str:
        said: str = home.cli("sandbox", "exec", "--no-input", "all", *words, timeout=120)
        return said.strip()

    torch = inside("python", "-c", "import torch, six; print(torch.__version__, torch.ones(2, 2).sum().item())")
    assert torch.endswith(" 4.0") and ("+cpu" in torch or Path("/dev/nvidiactl").exists()), torch
    assert inside("hello") == "Hello, world!"
    assert inside("cat", "tool/tool.txt", "in.txt") == "from the repository\nfrom a file"
    assert inside("sh", "-c", "echo $API_KEY") == "s3cret-of-mine"
    assert inside("sh", "-c", "cat $MODEL_ACME_TINY_PATH/weights.txt /models/tiny/weights.txt") == "1.5 2.51.5 2.5"

    inside("sh", "-c", "echo made inside > made.txt")
    home.cli("sandbox", "cp", "all:/workspace/made.txt", str(tmp_path / "made.txt"))
    assert (tmp_path / "made.txt").read_text() == "made inside\n"
    home.cli("sandbox", "serve", "all", str(tmp_path / "interface.py"), timeout=180)
    assert json.loads(home.cli("calls", "run", "weights", "rows=2", timeout=120)) == [[1.5, 2.5]] * 2

    layers = {image["title"]: image["bytes"] for image in home.json("sandbox", "images")["images"]}
    assert layers["Python packages"] < (1 << 30) or Path("/dev/nvidiactl").exists(), layers
    home.cli("sandbox", "stop", "all")
    assert home.json("sandbox", "ls")["sandboxes"][0]["state"] == "stopped"
    # What a command prints is its own affair; beside that it is written nowhere.
    texts = [path.read_bytes() for path in (home.folder / "data").rglob("*")
             if path.is_file() and not {"images", "commands"} & set(path.parts)]
    assert texts and not [text for text in texts if b"s3cret-of-mine" in text]
    home.cli("sandbox", "rm", "--all")
