# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""The static check: it names what would go wrong, with lines, and runs nothing."""

from __future__ import annotations

import json
import subprocess

import pytest
from worker_process import PYTHON, WORKER


def check(tmp_path, source):
    path = tmp_path / "interface.py"
    path.write_text(source)
    done = subprocess.run([PYTHON, WORKER / "check.py", path, "--json"], capture_output=True, text=True, check=False)
    findings = json.loads(done.stdout)["findings"]
    return done.returncode, [(f["line"], f["code"], f["severity"]) for f in findings if f["code"] != "missing_doc"]


GOOD = '''
import torch
model = AutoModel.from_pretrained(get_model_path("google/gemma-2-9b"))
raise SystemExit("this never runs")

@expose
def embed(text: str, n: int = -3, names: list = ["a"], limit: float = LIMIT) -> dict:
    """Embed."""
    return {}

@expose(tensors="binary", name="raw")
def raw_values() -> torch.Tensor:
    """Raw."""
'''


def test_a_good_file_has_nothing_to_find(tmp_path):
    assert check(tmp_path, GOOD) == (0, [])


@pytest.mark.parametrize(
    "source, findings",
    [
        ("@expose\ndef f(a, *b, c=1) -> dict: ''\n", [(2, "missing_hint", "warning")] * 3),
        ("@expose\ndef f(): ''\n", [(2, "missing_hint", "warning")]),
        ("@expose\ndef f() -> 'torch.Tensor': ''\n", [(2, "tensor_result", "error")]),
        ("@expose\ndef f() -> dict[str, np.ndarray]: ''\n", [(2, "tensor_result", "error")]),
        ("@expose\ndef f(x: int = object()) -> int: ''\n", [(2, "default_not_json", "warning")]),
        ("@expose\ndef f() -> str:\n    return input()\n", [(3, "input", "error")]),
        ("x = input()\n@expose\ndef f() -> str: ''\n", [(1, "input", "error")]),
        ("@expose\ndef f() -> str:\n    m = AutoModel.from_pretrained('x')\n", [(3, "loads_in_function", "warning")]),
        ("@expose\ndef f() -> str:\n    sys.exit()\n", [(3, "exit", "warning")]),
        ("@expose\ndef f() -> str: ''\n@expose\ndef f() -> str: ''\n", [(4, "name_clash", "error")]),
        ("@expose\ndef f() -> str: ''\ndef f(): ''\n", [(3, "name_clash", "warning")]),
        ("def log(x): ''\n@expose\ndef f() -> str: ''\n", [(1, "name_clash", "error")]),
        ("@expose\nclass C: ''\n@expose\ndef f() -> str: ''\n", [(2, "expose_on_class", "error")]),
        ("class C:\n    @expose\n    def f(self: int) -> str: ''\n", [(3, "expose_on_method", "error")]),
        ("def g():\n    @expose\n    def f() -> str: ''\n", [(3, "expose_nested", "warning")]),
        ("@expose(nmae='g')\ndef f() -> str: ''\n", [(1, "unknown_option", "error")]),
        ("@expose\nasync def f() -> list:\n    yield 1\n", [(2, "generator_hint", "warning")]),
        ("x = 1\n", [(1, "nothing_exposed", "error")]),
        ("x = 1\ndef f(:\n", [(2, "syntax", "error")]),
    ],
)
def test_findings(tmp_path, source, findings):
    code, found = check(tmp_path, source)
    assert found == findings and code == (1 if any(f[2] == "error" for f in findings) else 0)
