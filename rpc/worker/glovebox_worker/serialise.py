# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Results as record form text: the C encoder where a value is plain JSON, a walk where it is not."""

from __future__ import annotations

import json
from typing import Any, List, Tuple

from .errors import CallError

MAX_DEPTH = 56
Encoded = Tuple[bytes, bool, List[Any]]

_SCALARS = frozenset((str, float, bool, type(None)))
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def is_plain(value: Any, depth: int = 0) -> bool:
    """Whether the C encoder writes this value exactly as the record form wants it (NaN aside)."""
    kind = type(value)
    if kind in _SCALARS:
        return True
    if kind is int:
        return -0x8000000000000000 <= value <= 0xFFFFFFFFFFFFFFFF
    if depth > MAX_DEPTH:
        return False
    if kind is dict:
        for key in value:
            if type(key) is not str or key[:1] == "$":
                return False
        return _all_plain(value.values(), depth + 1)
    if kind is list or kind is tuple:
        return _all_plain(value, depth + 1)
    return False


def _all_plain(values: Any, depth: int) -> bool:
    kinds = set(map(type, values))
    if kinds <= _SCALARS:
        return True
    if kinds == {int}:
        return min(values) >= -0x8000000000000000 and max(values) <= 0xFFFFFFFFFFFFFFFF
    for value in values:
        if type(value) not in _SCALARS and not is_plain(value, depth):
            return False
    return True


def encode(value: Any) -> Encoded:
    if is_plain(value):
        try:
            return _encode(value).encode("utf-8"), False, []
        except ValueError:  # NaN, Infinity, or half of a surrogate pair
            pass
    raise CallError("not_serialisable", f"result is a {type(value).__name__}", None, "result")
