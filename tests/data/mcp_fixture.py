# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""The functions that the MCP conformance suite expects by name."""

import time

DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@expose
def test_simple_text() -> str:
    """Gives a text."""
    return "This is a simple text response for testing."


@expose
def test_image_content():
    """Gives an image."""
    return {"image": "png", "data": DOT}


@expose
def test_error_handling() -> str:
    """Fails."""
    raise RuntimeError("This tool intentionally returns an error for testing")


@expose
def test_tool_with_progress() -> str:
    """Tells how far it is."""
    for done in (0, 50, 100):
        progress(done, 100, "Completed step %d of 100" % done)
        time.sleep(0.25)  # what comes faster is told together
    return "done"


@expose
def slow(seconds: float) -> str:
    """Takes its time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if cancelled():
            return "stopped"
        progress(seconds - (end - time.monotonic()), seconds)
        time.sleep(0.02)
    return "done"


@expose
def add(a: int, b: int = 2) -> int:
    """Add two numbers."""
    return a + b
