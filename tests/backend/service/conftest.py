# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""A client of a daemon of its own, whose sandboxes end with the test."""

from __future__ import annotations

from collections.abc import Iterator

import glovebox
import pytest


@pytest.fixture
def client(client: glovebox.Client) -> Iterator[glovebox.Client]:
    yield client
    for sandbox in client.sandboxes.list():
        if sandbox["state"] not in ("stopped", "failed"):
            client.jobs.wait(client.sandboxes.stop(sandbox["id"]))
        client.sandboxes.rm(sandbox["id"])
