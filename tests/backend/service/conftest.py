# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""A client of a daemon of its own, whose sandboxes end with the test."""

from __future__ import annotations

from collections.abc import Iterator

import glovebox
import pytest
from sandboxes import end_all


@pytest.fixture
def client(client: glovebox.Client) -> Iterator[glovebox.Client]:
    yield client
    end_all(client)
