# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any, Dict, Optional


class GloveboxError(Exception):
    """What the daemon refused or could not do. `code` is stable; `glovebox help errors CODE` explains it."""

    def __init__(self, code: str, message: str, data: Optional[Dict[str, Any]] = None) -> None:
        super().__init__(f"{message} [{code}]")
        self.code = code
        self.message = message
        self.data: Dict[str, Any] = data or {}


class Disconnected(GloveboxError):
    """There is no daemon, or it went away before it answered."""
