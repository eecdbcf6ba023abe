# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""A generated library in every Python it promises that this machine has."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path
from typing import Any, Iterator

import pytest
from exposedhost import ExposedHost
from exposetool import expose, schema
from hostileschema import hostile_function, hostile_text
from interpreters import interpreters

PROMISED = ["3.8", "3.9", "3.10", "3.11", "3.12", "3.13"]

INTERFACE = '''
from typing import List, Optional

@expose
def embed(text: str, *, layers: Optional[List[int]] = None, scale: float = 0.5) -> List[float]:
    """Numbers for a text.

    Args:
        text: What to look at.
    """
    return [scale * len(text), 2**70, float("inf")]

@expose
def count(n: int):
    for i in range(n):
        yield i

@expose
def bad() -> str:
    raise KeyError("nothing of that name")
'''

PROGRAM = '''
import inspect, json, sys
sys.path.insert(0, sys.argv[1])
import model_tools, hostile
from model_tools import embed
assert embed("hello", scale=1) == [5, 2**70, float("inf")], embed("hello", scale=1)
assert list(model_tools.count(3)) == [0, 1, 2]
try:
    model_tools.bad()
except KeyError as error:
    assert isinstance(error, model_tools.RemoteError) and "in bad" in error.remote_traceback, error.remote_traceback
else:
    raise SystemExit("no error came")
assert "Numbers for a text." in embed.__doc__
print(json.dumps([list(sys.version_info[:2]), str(inspect.signature(embed)), len(vars(hostile))]))
'''


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    host = ExposedHost(tmp_path_factory.mktemp("host"), INTERFACE)
    made = host.folder / "workspace"
    host.write_library(made, "model_tools")
    rng = random.Random(11)
    [text] = expose([schema(*[hostile_function(rng) for _ in range(300)], doc=hostile_text(rng))], "library")
    (made / "hostile.py").write_text(text["text"], encoding="utf-8")
    yield made
    host.close()


@pytest.mark.parametrize("version", PROMISED)
def test_it_imports_and_calls(folder: Path, version: str) -> None:
    python = interpreters().get(version)
    if python is None:
        pytest.skip(f"no Python {version} here")
    # Warnings are errors: a SyntaxWarning of a newer Python is the error of the next.
    done: Any = subprocess.run([python, "-W", "error", "-I", "-B", "-c", PROGRAM, str(folder)], capture_output=True,
                               text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    found, signature, names = json.loads(done.stdout)
    assert ".".join(map(str, found)) == version and names > 300
    assert signature.replace("'", "") == (
        "(text: str, *, layers: Optional[List[int]] = None, scale: float = 0.5) -> List[float]")
