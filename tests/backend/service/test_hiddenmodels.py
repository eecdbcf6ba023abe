# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""A hidden model's name is nowhere inside, and in nothing that an interface answers."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import glovebox
import pytest

pytestmark = pytest.mark.as_user

HIDDEN = "acme/Zebrafish-7b"
SHOWN = "acme/visiblecat-9b"

# What to look for comes as numbers, so that looking for it leaves no trace of it. Prints where it was found.
SEARCH = """
import glob, json, os, sys
needle = bytes(json.loads(sys.argv[1])).lower()
found = []
def look(where, text):
    if needle in text.lower():
        found.append(where)
for name in os.environ:
    look("variable", f"{name}={os.environ[name]}".encode())
for path in ["/proc/self/mountinfo", "/proc/self/mounts", *glob.glob("/proc/[0-9]*/environ"),
             *glob.glob("/proc/[0-9]*/cmdline")]:
    try:
        look(path, open(path, "rb").read())
    except OSError:
        pass
own = ("/proc", "/sys", "/dev", "/usr", sys.prefix, sys.base_prefix)
for top, folders, files in os.walk("/"):
    folders[:] = [name for name in folders if os.path.join(top, name) not in own]
    for name in folders + files:
        path = os.path.join(top, name)
        look("name", path.encode())
        if os.path.islink(path):
            look("link", os.readlink(path).encode())
        elif os.path.isfile(path) and os.path.getsize(path) < 1 << 22:
            try:
                look("text", open(path, "rb").read())
            except OSError:
                pass
print(json.dumps(sorted(set(found))))
"""


def make_model(folder: Path, name: str) -> Path:
    """As they are published: the name stands in folders, files, configurations and descriptions."""
    place = folder / name.replace("/", "--")
    place.mkdir(parents=True)
    header = json.dumps({"__metadata__": {"format": "pt"}}).encode()
    (place / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + b"weights")
    (place / "config.json").write_text(json.dumps({
        "_name_or_path": f"/home/someone/{name}", "model_type": "zebra", "note": f"made from {name.upper()}"}))
    (place / "tokenizer.json").write_text(json.dumps({"from": name, "vocab": {"a": 1}}))
    (place / f"{name.split('/')[1]}.index.json").write_text("{}")
    (place / "README.md").write_text(f"# {name}\n")
    (place / "LICENSE").write_text(f"for {name}\n")
    for path in (folder, place, *place.iterdir()):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return place


@pytest.fixture
def models(tmp_path: Path) -> list[dict[str, Any]]:
    tmp_path.chmod(0o755)
    return [{"name": HIDDEN, "path": str(make_model(tmp_path, HIDDEN)), "hidden": True},
            {"name": SHOWN, "path": str(make_model(tmp_path, SHOWN))}]


def start(client: glovebox.Client, **more: Any) -> str:
    made = client.sandboxes.start({"interpreter": sys.executable, "name": "box", "network": "off", **more})
    return str(client.sandboxes.ready(made)["id"])


def search(client: glovebox.Client, sandbox: str, word: str) -> list[str]:
    numbers = json.dumps(list(word.encode()))
    code, out, errors = client.sandboxes.run(sandbox, sys.executable, "-c", SEARCH, numbers)
    assert code == 0, errors
    return json.loads(out)


def test_the_name_is_nowhere_inside(client: glovebox.Client, models: list[dict[str, Any]], tmp_path: Path) -> None:
    sandbox = start(client, models=models)
    assert search(client, sandbox, "zebrafish") == []
    # The control: the same search finds the other one, in every place.
    assert {"variable", "name", "text", "link", "/proc/self/mountinfo"} <= set(search(client, sandbox, "visiblecat"))
    code, out, _ = client.sandboxes.run(sandbox, "sh", "-c", "cd $MODEL_HIDDEN_1_PATH && ls && cat config.json")
    assert code == 0 and out.startswith(b"config.json\nhidden_1.index.json\nmodel.safetensors\ntokenizer.json\n{")
    assert json.loads(out[out.index(b"{"):]) == {"model_type": "zebra", "note": "made from hidden_1"}
    # Weights are not copied.
    weights = Path(models[0]["path"]) / "model.safetensors"
    assert weights.stat().st_nlink == 2
    code, _, errors = client.sandboxes.run(sandbox, "sh", "-c", "echo x > $MODEL_HIDDEN_1_PATH/model.safetensors")
    assert code != 0 and b"Read-only" in errors
    client.jobs.wait(client.sandboxes.stop(sandbox))
    client.sandboxes.rm(sandbox)
    assert weights.stat().st_nlink == 1 and weights.read_bytes().endswith(b"weights")


INTERFACE = '''
import os

@expose
def where(name: str) -> dict:
    """Tells where acme/Zebrafish-7b and acme/visiblecat-9b are."""
    print("asked for acme--zebrafish-7b and acme--visiblecat-9b", flush=True)
    return {"path": get_model_path(name), "said": "\\nZebrafish-7b ACME_ZEBRAFISH_7B acme\\/visiblecat-9b",
            "names": list_configured_models(), "variables": sorted(n for n in os.environ if n.startswith("MODEL_"))}

@expose
def broken() -> None:
    """Fails."""
    raise ValueError("no acme/zebrafish-7B and no acme/visiblecat-9b here")
'''


def test_no_answer_of_an_interface_says_it(client: glovebox.Client, models: list[dict[str, Any]],
                                           tmp_path: Path, eventually: Callable[..., Any]) -> None:
    (tmp_path / "tools.py").write_text(INTERFACE)
    sandbox = start(client, models=models, scoped=True)
    interface = client.sandboxes.serve(sandbox, str(tmp_path / "tools.py"))["id"]
    # Whoever writes the interface knows the name, and finds the model by it.
    ran = client.calls.run(interface, "where", [HIDDEN])
    assert ran.value() == {
        "path": "/models/hidden_1", "said": "\nhidden_1 hidden_1 acme\\/visiblecat-9b",
        "names": ["hidden_1", SHOWN], "variables": [
            "MODEL_ACME_VISIBLECAT_9B_PATH", "MODEL_HIDDEN_1_PATH"]}
    failed = client.calls.run(interface, "broken")
    assert failed.record["error"]["message"] == "no hidden_1 and no acme/visiblecat-9b here"
    told = [json.dumps(ran.record), json.dumps(failed.record), json.dumps(client.interfaces.schema(interface))]
    eventually(lambda: len(client.calls.list()["calls"]) == 2, what="the records")
    told += [json.dumps(client.calls.get(run.record["id"]).record) for run in (ran, failed)]
    for text in told:
        # What was asked with is the asker's own; everything that was answered is without, and not empty.
        assert "zebrafish" not in text.replace(json.dumps(HIDDEN), "").lower(), text
        assert "visiblecat" in text
    log = next((client_home() / "boxes" / sandbox).glob("interface-*.log")).read_text()
    assert "zebrafish" not in log.lower()


def client_home() -> Path:
    return Path(os.environ["GLOVEBOX_HOME"])


def test_weights_that_name_the_model_are_refused(client: glovebox.Client, models: list[dict[str, Any]]) -> None:
    (Path(models[0]["path"]) / "model.gguf").write_bytes(b"GGUF\0\0general.name\0" + b"Zebrafish-7B\0")
    made = client.sandboxes.start({"interpreter": sys.executable, "models": models})
    with pytest.raises(glovebox.GloveboxError) as caught:
        client.sandboxes.ready(made)
    assert caught.value.code == "sandbox.cannot_hide" and caught.value.data["file"] == "model.gguf"
