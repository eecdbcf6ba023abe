# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""The Pythons of this machine that tests can run things in."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Dict, List

OLDEST = 8


def of_pyenv() -> List[str]:
    """What pyenv has installed; nothing when its folder is another person's."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    try:
        return [str(path) for path in sorted(root.glob("versions/3.*/bin/python3"))]
    except OSError:
        return []


@functools.lru_cache(maxsize=None)
def interpreters() -> Dict[str, str]:
    """By version ("3.11"), from 3.8 on, each one that runs: the one of the tests, those on PATH, those of pyenv."""
    names = ["python3", *(f"python3.{minor}" for minor in range(OLDEST, 20))]
    found: Dict[str, str] = {}
    for path in filter(None, [sys.executable, *map(shutil.which, names), *of_pyenv()]):
        # A shim of pyenv may stand for a version that is not switched on: then it fails, and does not count.
        try:
            done = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
        except OSError:
            continue
        said = re.match(r"Python (3\.(\d+))\.", done.stdout)
        if done.returncode == 0 and said and int(said[2]) >= OLDEST:
            found.setdefault(said[1], path)
    return found
