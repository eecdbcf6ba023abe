# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments as they come over the link: JSON with the record form's ``$gb`` objects."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Tuple

from .errors import CallError
from .link import make_decode

_NUMBERS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_decode = make_decode(json.JSONDecoder(parse_constant=_refuse_constant))


def decode_arguments(raw: bytes) -> Tuple[List[Any], Dict[str, Any]]:
    if not raw:
        return [], {}
    try:
        whole = _decode(raw.decode("utf-8"))
        args = whole.get("args", [])
        kwargs = whole.get("kwargs", {})
    except (ValueError, RecursionError, AttributeError) as error:
        raise CallError("bad_arguments", f"the arguments are not valid JSON: {error}") from None
    if type(args) is not list or type(kwargs) is not dict:
        raise CallError("bad_arguments", "args must be a list and kwargs an object")
    if b"$" in raw or b"\\u" in raw:
        args = [_from_record(value) for value in args]
        kwargs = {_unescaped(key): _from_record(value) for key, value in kwargs.items()}
    return args, kwargs


def _unescaped(key: str) -> str:
    """One ``$`` less for an author's own ``$$gb``, ``$$$gb``, …"""
    if key.startswith("$$") and key.lstrip("$") == "gb":
        return key[1:]
    return key


def _from_record(value: Any) -> Any:
    if type(value) is list:
        return [_from_record(item) for item in value]
    if type(value) is not dict:
        return value
    if "$gb" in value:
        return _special(value)
    return {_unescaped(key): _from_record(item) for key, item in value.items()}


def _special(value: Dict[str, Any]) -> Any:
    kind = value["$gb"]
    if kind in ("nan", "inf", "-inf") and len(value) == 1:
        return _NUMBERS[kind]
    digits = value.get("v")
    if kind == "int" and len(value) == 2 and isinstance(digits, str) and len(digits) <= 4000:
        body = digits[1:] if digits[:1] == "-" else digits
        if body.isascii() and body.isdigit():
            return int(digits)
    raise CallError("bad_arguments", f"a $gb object that cannot be an argument: {str(value)[:100]!r}")
