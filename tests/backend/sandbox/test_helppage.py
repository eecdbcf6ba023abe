# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Every code that a sandbox fails with stands in the help page."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
ROOMS = ("backend/sandbox", "backend/service", "rpc/box", "rpc/init", "rpc/launch", "rpc/launcher")


def test_every_code_is_explained() -> None:
    page = (ROOT / "resources/help/sandbox.md").read_text()
    sources = [path.read_text() for room in ROOMS for path in (ROOT / room).rglob("*.cpp")]
    codes = {code for text in sources for code in re.findall(r'(?:fail|Error)[({]\s*"(sandbox\.[a-z_]+)"', text)}
    assert len(codes) > 30
    assert sorted(code for code in codes if f"`{code}`" not in page) == []
