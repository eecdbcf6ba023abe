# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Formatting, licence lines, lengths: what a tool can say, a person need not."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = Path(sys.executable).parent
AREAS = ("app", "widgets", "backend", "rpc", "tests", ".cmake")


def files(*endings: str) -> list[Path]:
    found = [file for area in AREAS for ending in endings for file in (ROOT / area).rglob(f"*{ending}")]
    return sorted(file for file in found if file.is_file() and "__pycache__" not in file.parts)


def test_cpp_is_formatted() -> None:
    sources = [str(file) for file in files(".h", ".cpp", ".c")]
    result = subprocess.run([TOOLS / "clang-format", "--dry-run", "-Werror", *sources], capture_output=True,
                            text=True, cwd=ROOT)
    lines = [line for line in result.stderr.splitlines() if "error:" in line]
    assert result.returncode == 0, "\n".join(lines[:30])


def test_python_passes_ruff() -> None:
    result = subprocess.run([TOOLS / "ruff", "check", "--no-cache", "."], capture_output=True, text=True, cwd=ROOT)
    assert result.returncode == 0, result.stdout[-4000:]


# A class's own tr() makes a translation context of each class; a room has one (its text.h).
CLASS_CONTEXT = re.compile(r"(?<![:\w])tr\(")


def test_texts_are_in_their_rooms_context() -> None:
    assert CLASS_CONTEXT.search('setText(tr("Open"));') and not CLASS_CONTEXT.search('setText(HomeText::tr("Open"));')
    found = [f"{file.relative_to(ROOT)}: {line.strip()}" for file in files(".cpp")
             if file.is_relative_to(ROOT / "widgets") or file.is_relative_to(ROOT / "app" / "gui")
             for line in file.read_text().splitlines()
             if CLASS_CONTEXT.search(line) and not line.lstrip().startswith("//")]
    assert not found, found


def test_every_source_names_its_licence() -> None:
    without = [file.relative_to(ROOT).as_posix() for file in files(".h", ".cpp", ".c", ".py", ".sh", ".cmake")
               if "SPDX-License-Identifier: Apache-2.0" not in file.read_text(errors="replace")[:400]
               and "/data/" not in file.as_posix()]
    assert not without, without


def test_no_file_is_longer_than_600_lines() -> None:
    long = [f"{file.relative_to(ROOT)}: {count}" for file in files(".h", ".cpp", ".c", ".py")
            if (count := len(file.read_text(errors="replace").splitlines())) > 600]
    assert not long, long


@pytest.mark.parametrize("script", ["run", "test", ".ci/run"])
def test_shell_scripts_parse(script: str) -> None:
    subprocess.run(["bash", "-n", ROOT / script], check=True)
