# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Entry point: ``python <package>/glovebox_worker/__main__.py --fd N [--speed FOLDER]``."""

from __future__ import annotations

import os
import sys


def _start() -> int:
    words = sys.argv[1:]
    speed = words.pop() if len(words) == 4 and words[2] == "--speed" else ""
    if words[:1] != ["--fd"] or len(words) != 2 + bool(speed) or not words[1].isdigit():
        sys.stderr.write("usage: python glovebox_worker/__main__.py --fd N [--speed FOLDER]\n")
        return 2
    # The interface file must be able to name a helper link.py or schema.py: this package's folder may be on
    # the path only while the package itself is being imported.
    package = os.path.dirname(os.path.abspath(__file__))
    sys.path = [entry for entry in sys.path if os.path.abspath(entry or ".") != package]
    sys.path.insert(0, os.path.dirname(package))
    from glovebox_worker import runtime

    del sys.path[0]
    sys.argv = [""]
    return runtime.serve(int(words[1]), speed)


if __name__ == "__main__":
    os._exit(_start())
