# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""What tests that run real programs share: the build's programs and a data folder of their own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Iterator

import glovebox
import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def bin_folder() -> Path:
    """Where the built programs lie: GB_BIN, else the dev build."""
    folder = Path(os.environ.get("GB_BIN", ROOT / ".build/dev/bin"))
    if not (folder / "glovebox").exists():
        pytest.fail(f"no programs in {folder}: run ./run --build first")
    return folder


@dataclass
class Home:
    """One data folder with everything that runs on it."""

    folder: Path
    bin: Path
    children: list[subprocess.Popen[str]] = field(default_factory=list)
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        env = {key: value for key, value in os.environ.items() if not key.startswith("GLOVEBOX_")}
        env["HF_HUB_OFFLINE"] = "1"  # who tests downloads brings a hub along
        env.update(GLOVEBOX_HOME=str(self.folder / "data"), XDG_CONFIG_HOME=str(self.folder / "config"),
                   GLOVEBOX_BIN=str(self.bin), QT_QPA_PLATFORM="offscreen", **self.extra)
        return env

    def cli(self, *words: str, code: int | None = 0, timeout: float = 60) -> str:
        done = subprocess.run([self.bin / "glovebox", *words], env=self.environment, capture_output=True, text=True,
                              timeout=timeout)
        if code is not None:
            said = f"{done.stdout}{done.stderr}"
            assert done.returncode == code, f"glovebox {' '.join(words)}: {done.returncode}\n{said}"
        return done.stdout

    def json(self, *words: str, code: int | None = 0) -> Any:
        return json.loads(self.cli(*words, "--json", code=code))

    def serve(self, file: Path, *words: str) -> tuple[subprocess.Popen[str], dict[str, Any]]:
        child = subprocess.Popen([self.bin / "glovebox", "serve", str(file), "--json", *words], env=self.environment,
                                 stdout=subprocess.PIPE, stderr=open(self.folder / "serve.log", "a"), text=True)
        self.children.append(child)
        assert child.stdout is not None
        line = child.stdout.readline()
        assert line.startswith("{"), (self.folder / "serve.log").read_text()
        return child, json.loads(line)

    def daemon_pid(self) -> int:
        return int(self.json("daemon", "status").get("pid", 0))

    def close(self) -> None:
        for child in self.children:
            if child.poll() is None:
                child.send_signal(signal.SIGINT)
        for child in self.children:
            try:
                child.wait(15)
            except subprocess.TimeoutExpired:
                child.kill()
        subprocess.run([self.bin / "glovebox", "daemon", "stop", "--force"], env=self.environment,
                       capture_output=True, timeout=30)
        shutil.rmtree(self.folder, ignore_errors=True)


@pytest.fixture
def home(bin_folder: Path) -> Iterator[Home]:
    made = Home(Path(tempfile.mkdtemp(prefix="gb-home-")), bin_folder)
    yield made
    made.close()


@pytest.fixture(scope="module")
def shared_home(bin_folder: Path) -> Iterator[Home]:
    """One for all tests of a file, where setting up is what takes the time."""
    made = Home(Path(tempfile.mkdtemp(prefix="gb-home-")), bin_folder)
    yield made
    made.close()


@pytest.fixture
def client(home: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[glovebox.Client]:
    for name, value in home.environment.items():
        monkeypatch.setenv(name, value)
    with glovebox.connect(name="test") as made:
        yield made


@pytest.fixture(scope="session")
def eventually() -> Callable[..., Any]:
    """Waits until a function returns something true; returns that."""

    def wait(ask: Callable[[], Any], seconds: float = 60, what: str = "it") -> Any:
        until = time.monotonic() + seconds
        while True:
            answer = ask()
            if answer:
                return answer
            assert time.monotonic() < until, f"waited {seconds} s for {what}"
            time.sleep(0.05)

    return wait
