# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import glovebox


def end_all(client: glovebox.Client) -> None:
    """Sandboxes outlive their daemon, so a test that makes some ends them."""
    for sandbox in client.sandboxes.list():
        if sandbox["state"] not in ("stopped", "failed"):
            client.jobs.wait(client.sandboxes.stop(sandbox["id"]))
        client.sandboxes.rm(sandbox["id"])
