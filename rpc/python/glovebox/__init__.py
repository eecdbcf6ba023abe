# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Glovebox from a Python script: the same daemon, the same state as the window and the command line.

    import glovebox

    client = glovebox.connect()
    answer = client.calls.run("model_tools", "generate", args=["Hello"])
    print(answer.value())
"""

from .client import Answer, Client, connect
from .errors import Disconnected, GloveboxError

__all__ = ["Answer", "Client", "Disconnected", "GloveboxError", "connect"]
