# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""tidy.py BUILD FILE…: runs the pinned clang-tidy on files the build knows; any finding ends it non-zero."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path


def main(build: str, names: list[str]) -> int:
    root = Path.cwd()
    known = {Path(entry["file"]) for entry in json.loads((Path(build) / "compile_commands.json").read_text())}
    files = [str(root / name) for name in names if root / name in known]
    if not files:
        return 0
    tool = Path(sys.executable).parent / "clang-tidy"
    quiet = [f"--extra-arg=-Wno-{name}" for name in ("unknown-warning-option", "deprecated-declarations")]
    result = subprocess.run([tool, "-p", build, "--quiet", *quiet, *files],
                            capture_output=True, text=True)
    if result.returncode:
        print(result.stdout)
        errors = [line for line in result.stderr.splitlines() if "error" in line]
        print("\n".join(errors[:10]))
    return 1 if result.returncode else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
