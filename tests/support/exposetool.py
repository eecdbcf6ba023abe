# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""The C++ writers of library, prompt, skill and MCP, driven from Python."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Dict, List

ROOT = Path(__file__).resolve().parents[2]
RUNTIME = "\n\n".join((ROOT / "rpc" / "exposure" / name).read_text(encoding="utf-8")
                      for name in ("library_values.py", "library_runtime.py"))


def bin_folder() -> Path:
    return Path(os.environ.get("GB_BIN", ROOT / ".build" / "dev" / "bin")).resolve()


def run_tool(*arguments: str, text: str = "") -> str:
    done = subprocess.run([str(bin_folder() / "glovebox-test-expose"), *arguments], input=text.encode("utf-8"),
                          stdout=subprocess.PIPE, check=True, timeout=120)
    return done.stdout.decode("utf-8")


def expose(schemas: List[Dict[str, Any]], form: str, url: str = "", token: str = "") -> List[Dict[str, Any]]:
    text = "\n".join(json.dumps(schema) for schema in schemas) + "\n"
    return [json.loads(line) for line in run_tool(form, url, token, text=text).split("\n") if line]


def parameter(name: str, kind: str = "positional_or_keyword", **more: Any) -> Dict[str, Any]:
    return {"name": name, "kind": kind, "annotation": "", "has_default": False, "default": None, "default_repr": "",
            "default_is_json": False, "description": "", **more}


def optional(name: str, value: Any, kind: str = "positional_or_keyword", **more: Any) -> Dict[str, Any]:
    return parameter(name, kind, has_default=True, default=value, default_repr=repr(value), default_is_json=True,
                     **more)


def function(name: str, *parameters: Dict[str, Any], doc: str = "", returns: str = "", **more: Any) -> Dict[str, Any]:
    return {"name": name, "doc": doc, "summary": doc.split("\n")[0], "signature": "()" + (" -> " + returns) * bool(
        returns), "line": 1, "async": False, "generator": False, "read_only": False, "parameters": list(parameters),
        "input_schema": {}, "output_schema": {}, "warnings": [], **more}


def schema(*functions: Dict[str, Any], name: str = "model_tools", doc: str = "") -> Dict[str, Any]:
    return {"name": name, "doc": doc, "file": "interface.py", "python": "3.11", "functions": list(functions),
            "warnings": []}


def split(text: str) -> List[str]:
    """The two parts of a library that are not constant: the module's docstring and the definitions."""
    before, found, after = text.partition(RUNTIME)
    assert found, "the run-time part is not in the library as it stands in the source tree"
    return [before, after]
