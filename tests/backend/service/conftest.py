# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""A client of a daemon of its own, whose sandboxes end with the test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import glovebox
import pytest


@pytest.fixture
def client(home: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[glovebox.Client]:
    for name, value in home.environment.items():
        monkeypatch.setenv(name, value)
    with glovebox.connect(name="test") as made:
        yield made
        for sandbox in made.sandboxes.list():
            if sandbox["state"] not in ("stopped", "failed"):
                made.jobs.wait(made.sandboxes.stop(sandbox["id"]))
            made.sandboxes.rm(sandbox["id"])
