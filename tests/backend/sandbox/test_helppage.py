# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""The codes that people meet stand in the help pages."""

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


def test_examples_and_presets_are_explained() -> None:
    page = (ROOT / "resources/help/errors.md").read_text()
    rooms = ("backend/api", "backend/experiments", "app/cli", "widgets/viewers", "backend/service")
    sources = [path.read_text() for room in rooms for path in (ROOT / room).rglob("*.cpp")]
    named = re.compile(r'(?:fail|Error)[({]\s*"((?:'
                       "example|presets|experiments|interfaces|calls|diff|compare|export|serve"
                       r')\.[a-z_]+)"')
    codes = {code for text in sources for code in named.findall(text)}
    assert len(codes) > 25
    assert sorted(code for code in codes if f"`{code}`" not in page) == []
