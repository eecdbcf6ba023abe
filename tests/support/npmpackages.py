# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Programs from npm that opt-in tests run (GB_TEST_NPM=1), in .build/npm; fetched the first time."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / ".build" / "npm"
WANTED = pytest.mark.skipif(os.environ.get("GB_TEST_NPM") != "1", reason="GB_TEST_NPM=1 is not set")


def npm_packages(*specs: str) -> Path:
    """The folder node_modules with these packages (`name@version`)."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    modules = FOLDER / "node_modules"
    missing = [spec for spec in specs if not (modules / spec.rsplit("@", 1)[0]).exists()]
    if missing:
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent", *missing], cwd=FOLDER, check=True,
                       timeout=600)
    return modules
