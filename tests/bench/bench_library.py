# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""What a generated library costs: importing it, and a trivial call through it.

    ./run bench library [--json]

The library has twenty functions. Import is measured inside fresh interpreters: with the byte code that Python keeps
after the first time, and without (read-only folders). Medians of GB_BENCH_ROUNDS rounds.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Dict, List

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
ROUNDS = int(os.environ.get("GB_BENCH_ROUNDS", "5"))
CALLS = 3000
GOAL_MS = 15.0

FUNCTION = '''
@expose
def function_{n}(text: str, count: int = {n}, *, scale: float = 1.5, names: list[str] | None = None) -> dict:
    """Does thing number {n}.

    Args:
        text: what to do it with
        count: how often
    """
    return {{"n": {n}}}
'''
SOURCE = "@expose\ndef add(a: int, b: int) -> int:\n    return a + b\n" + "".join(
    FUNCTION.format(n=n) for n in range(19))
IMPORT = "import time; t = time.perf_counter(); import bench_tools; print((time.perf_counter() - t) * 1000)"


def import_times(folder: Path, *options: str) -> List[float]:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    times = []
    for _ in range(3 + 4 * ROUNDS):
        done = subprocess.run([sys.executable, *options, "-c", IMPORT], cwd=folder, env=environment, check=True,
                              stdout=subprocess.PIPE)
        times.append(float(done.stdout))
    return times[3:]


def call_us(module: Any) -> float:
    medians = []
    for _ in range(ROUNDS):
        times = []
        for i in range(CALLS):
            start = time.perf_counter_ns()
            module.add(i, 1)
            times.append(time.perf_counter_ns() - start)
        medians.append(statistics.median(times) / 1000)
    return statistics.median(medians)


def measure(bin_folder: Path) -> Dict[str, Any]:
    os.environ["GB_BIN"] = str(bin_folder)
    from host_process import HostProcess

    figures: Dict[str, Any] = {}

    def note(name: str, value: float, unit: str, goal: str = "", met: Any = None, baseline: str = "") -> None:
        figures[name] = {"value": round(value, 2), "unit": unit, "goal": goal or None, "met": met,
                         "baseline": baseline}

    with tempfile.TemporaryDirectory(prefix="gb-bench-") as temporary:
        folder = Path(temporary)
        all_cores = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {max(all_cores)})
        host = HostProcess(folder, SOURCE, name="bench_tools")
        try:
            subprocess.run([str(bin_folder / "glovebox"), "expose", host.ready["url"], "--token-file",
                            host.ready["token_file"], "--out", str(folder / "library")], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            library = folder / "library"
            value = statistics.median(import_times(library))
            note("import_ms", value, "ms", f"<= {GOAL_MS:g}", value <= GOAL_MS, "in a fresh interpreter")
            value = statistics.median(import_times(library, "-B", "-X", "pycache_prefix=/nowhere"))
            note("import_uncached_ms", value, "ms", "", None, "without stored byte code")
            sys.path.insert(0, str(library))
            module = importlib.import_module("bench_tools")
            note("call_us", call_us(module), "µs", "", None, "client and host on one core")
            os.sched_setaffinity(0, all_cores)
            note("text_bytes", (library / "bench_tools.py").stat().st_size, "B", "", None, "twenty functions")
        finally:
            host.close()
    return figures


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=Path, default=Path(".build/release/bin"))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures = measure(options.bin.resolve())
    if options.json:
        print(json.dumps({"bench": "library", "figures": figures}, ensure_ascii=False))
    else:
        for name, figure in figures.items():
            met = {True: "met", False: "NOT MET", None: ""}[figure["met"]]
            print(f"{name:20} {figure['value']} {figure['unit']}  {figure['goal'] or ''} {met}  {figure['baseline']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
