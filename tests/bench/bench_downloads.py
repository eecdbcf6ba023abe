# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Downloads against aria2c and one plain connection, kills at random moments, memory, what is published.

    ./run bench downloads [--json] [--quick]

The hub runs in a process of its own and is throttled to 25 MB/s per connection. Where aria2c or curl is not
installed its figure is null.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

MODEL = "org/model"
RATE = 25_000_000
LARGE = 1_000_000_000
SIZE = 256_000_000
GOALS = {"vs_aria2": "≤ 1.1", "vs_single": "≥ 6", "verify_tail": "≤ 0.05", "memory_mb": "≤ 150",
         "refetch_fraction": "≤ 0.01", "bad_published": "≤ 0", "leaked_tokens": "≤ 0", "gui_update_p99_ms": "≤ 16"}


class Hub:
    def __init__(self, tool: Path, *words: str) -> None:
        self._process = subprocess.Popen([tool, "serve", MODEL, *words], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True)
        self.about = self._read()
        kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
        self.environment = {**kept, "HF_ENDPOINT": self.about["url"], "HF_TOKEN": "secret"}

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def figures(self) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write("figures\n")
        self._process.stdin.flush()
        return self._read()

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)


class Bench:
    def __init__(self, folder: Path, bin_folder: Path, quick: bool) -> None:
        self.folder = folder
        self.tool = bin_folder / "gb_hubtool"
        self.quick = quick
        self.leaked = 0
        self.bad = 0

    def fetch(self, hub: Hub, cache: Path, *patterns: str) -> dict[str, Any]:
        done = subprocess.run([self.tool, "fetch", cache, MODEL, *patterns], env=hub.environment, text=True,
                              capture_output=True, check=True)
        return json.loads(done.stdout)

    def count_bad(self, hub: Hub, cache: Path) -> None:
        """Every published file against the hash in the hub's own address of it."""
        for path in (cache / "models--org--model" / "snapshots").glob("*/*"):
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256") if hasattr(hashlib, "file_digest") else None
                found = digest.hexdigest() if digest else hashlib.sha256(path.read_bytes()).hexdigest()
            self.bad += 0 if hub.about["files"][path.name].endswith(found) else 1

    def speed(self) -> dict[str, Any]:
        hub = Hub(self.tool, "--make", "model.safetensors", str(LARGE), "--rate", str(RATE))
        address = hub.about["files"]["model.safetensors"]
        ours, tails, theirs = [], [], []
        for _ in range(1 if self.quick else 5):
            cache = self.folder / "cache"
            os.sync()
            started = time.monotonic()
            report = self.fetch(hub, cache)
            ours.append(time.monotonic() - started)
            tails.append(report["tail_s"] / report["total_s"])
            self.count_bad(hub, cache)
            shutil.rmtree(cache)
            if shutil.which("aria2c"):
                theirs.append(self.elsewhere(
                    f"aria2c -q -x16 -s16 -k1M -o file {address} && sync file && openssl dgst -sha256 file"))
        # One throttled connection takes its time in proportion: the quick round fetches a part and scales it.
        part = SIZE if self.quick else LARGE
        single = self.elsewhere(f"curl -sS -r 0-{part - 1} -o file {address} && sync file"
                                " && openssl dgst -sha256 file") * LARGE / part if shutil.which("curl") else None
        self.leaked += hub.figures()["leaked"]
        hub.close()
        mine = statistics.median(ours)
        return {"seconds": round(mine, 3),
                "vs_aria2": round(mine / statistics.median(theirs), 3) if theirs else None,
                "vs_single": round(single / mine, 2) if single else None,
                "verify_tail": round(statistics.median(tails), 4)}

    def elsewhere(self, command: str) -> float:
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            os.sync()
            started = time.monotonic()
            subprocess.run(["sh", "-c", command], cwd=folder, check=True, stdout=subprocess.DEVNULL)
            return time.monotonic() - started

    def memory(self) -> dict[str, Any]:
        """Plans 100 GB and fetches the first 2 GB of it."""
        words = []
        for part in range(50):
            words += ["--claim", f"model-{part:05}-of-00050.safetensors", str(2_000_000_000)]
        hub = Hub(self.tool, "--make", "first.safetensors", "200000000" if self.quick else "2000000000", *words)
        cache = self.folder / "memory"
        whole = subprocess.run([self.tool, "plan", cache, MODEL], env=hub.environment, text=True,
                               capture_output=True, check=True)
        report = self.fetch(hub, cache, "first.safetensors")
        hub.close()
        shutil.rmtree(cache)
        planned = json.loads(whole.stdout)["bytes"]
        return {"planned_gb": planned / 1e9, "memory_mb": round(report["peak_kb"] / 1000, 1)}

    def kills(self) -> dict[str, Any]:
        hub = Hub(self.tool, "--make", "model.safetensors", str(SIZE), "--rate", str(RATE))
        wanted = 10 if self.quick else 100
        random.seed(7)
        killed, complete, connections = 0, 0, 16
        refetched = []
        while killed < wanted:
            cache = self.folder / "killed"
            before = hub.figures()["sent"]
            kills_here = 0
            while True:
                child = subprocess.Popen([self.tool, "fetch", cache, MODEL], env=hub.environment,
                                         stdout=subprocess.DEVNULL)
                try:
                    child.wait(random.uniform(0.02, 0.8) if killed < wanted else 120)
                    break
                except subprocess.TimeoutExpired:
                    child.kill()
                    child.wait()
                    killed += 1
                    kills_here += 1
            sent = hub.figures()["sent"] - before
            # What lay in the sockets when a process died was sent but belongs to nobody; a piece per connection and
            # kill is allowed.
            allowed = kills_here * connections * (1 << 20)
            refetched.append(max(0, sent - SIZE - allowed) / SIZE)
            self.count_bad(hub, cache)
            complete += 1
            shutil.rmtree(cache)
        self.leaked += hub.figures()["leaked"]
        hub.close()
        return {"kills": killed, "downloads": complete, "refetch_fraction": round(max(refetched), 4)}

    def window(self) -> dict[str, Any]:
        """What an update costs the window's thread while 200 files come; null where the window is not built."""
        program = self.tool.parent / "gb_modelspage_cost"
        if not program.exists():
            return {"gui_update_p99_ms": None}
        done = subprocess.run([program], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    def faults(self, builds: Path) -> bool:
        """The fault list of the tests counts what it finds published or leaked; a failure there is one more bad.

        The release preset builds no tests, so it is any build's; false where none has them."""
        found = next(builds.glob("*/tests/tst_fetch"), None)
        if found is None:
            return False
        done = subprocess.run([found, "publishesNothingBad"], capture_output=True, text=True)
        self.bad += done.stdout.count("FAIL!")
        assert "Totals:" in done.stdout, done.stderr
        return True


def judged(name: str, value: float | None) -> dict[str, Any]:
    goal = GOALS.get(name)
    met = None
    if goal and value is not None:
        limit = float(goal.split()[1])
        met = value >= limit if goal.startswith("≥") else value <= limit
    return {"value": value, "goal": goal, "met": met}


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--bin", type=Path, required=True)
    options.add_argument("--json", action="store_true")
    options.add_argument("--quick", action="store_true", help="one round of everything")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), given.bin, given.quick or os.environ.get("GB_BENCH_ROUNDS") == "1")
        figures = {**bench.speed(), **bench.memory(), **bench.kills(), **bench.window()}
        tried = bench.faults(given.bin.parents[1])
    figures.update(bad_published=bench.bad if tried or bench.bad else None, leaked_tokens=bench.leaked)
    shown = {name: judged(name, value) for name, value in figures.items()}
    if given.json:
        print(json.dumps({"bench": "downloads", "figures": shown}, ensure_ascii=False))
        return
    for name, figure in shown.items():
        met = {True: "met", False: "missed", None: ""}[figure["met"]]
        print(f"{name:18} {figure['value']}  {figure['goal'] or ''} {met}")


if __name__ == "__main__":
    main()
