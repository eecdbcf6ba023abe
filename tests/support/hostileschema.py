# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Schemas as somebody would write them who wants to run code where they are read."""

from __future__ import annotations

import random
from typing import Any, Dict

from exposetool import function, parameter

HOSTILE = [
    '"""', "'''", '"', "'", "\\", '\\"""', "\r\n", "\r", "\n", "\x00", "\x1b[31m", "\u202e", "\u2066", "\u2028",
    "\ufeff", "\U000e0041", "${x}", "{x}", "%s", "#", ")\n    import os; os.system('x')\n", '"""\nimport os\n"""',
    "'); _gb_call('x', (), {", "\\N{BULLET}", "\\x41", "\\\n", "eval", "__import__('os').system('id')", "f'{1}'", ";",
    "a" * 300, "é", "ﬁ", "𝒙", "中文", "\ud7ff", "`", "<script>", "lambda: 0", "x: int = 5", "*", "/", "**k", "...",
    "gb_python(", ")gb_python\"",
]
NAMES = [
    "f", "class", "def", "None", "print", "len", "open", "_gb_call", "_gb_runtime", "_gb_stream", "settings",
    "RemoteError", "__import__", "__class__", "__builtins__", "os.system", "a b", "", "1x", "ﬁ", "größe", "λ",
    "x" * 500, "await", "async", "match", "self", "annotations", "x)", "x:\n  pass", "Array", "\u202ex", "ª", "µ",
    "ſ", "def f",
]
ANNOTATIONS = [
    "int", "dict[str, float]", "int | None", "tuple[int, ...]", "Optional[int]", "Literal['a']", "os.system('x')",
    "[__import__('os')]", "int if x else y", "list[", "list]", "int)", "print", "(yield)", "x := 1", "list[" * 40,
    "int | " * 30 + "int", "", "dict[str, eval('1')]", "None", "NoneX", "'int'", "lambda: 0", "int\nimport os",
]
KINDS = ["positional_only", "positional_or_keyword", "var_positional", "keyword_only", "var_keyword", "nonsense"]


def hostile_text(rng: random.Random) -> str:
    return "".join(rng.choice(HOSTILE) for _ in range(rng.randrange(0, 5)))


def hostile_name(rng: random.Random) -> str:
    return rng.choice(NAMES) if rng.random() < 0.8 else hostile_text(rng)


def hostile_value(rng: random.Random, depth: int = 0) -> Any:
    kind = rng.randrange(8 if depth < 3 else 6)
    if kind == 6:
        return [hostile_value(rng, depth + 1) for _ in range(rng.randrange(3))]
    if kind == 7:
        return {hostile_text(rng): hostile_value(rng, depth + 1) for _ in range(rng.randrange(3))}
    return [None, True, -5, 1.5e300, hostile_text(rng), 2**63 + 7][kind]


def hostile_function(rng: random.Random) -> Dict[str, Any]:
    parameters = []
    for _ in range(rng.randrange(0, 6)):
        more = {"annotation": rng.choice(ANNOTATIONS + [hostile_text(rng)]), "default_repr": hostile_text(rng)}
        make = parameter(hostile_name(rng), rng.choice(KINDS), **more)
        make["has_default"] = rng.random() < 0.5
        make["default_is_json"] = rng.random() < 0.7
        make["default"] = hostile_value(rng)
        parameters.append(make)
    return function(hostile_name(rng) or "empty", *parameters, doc=hostile_text(rng),
                    returns=rng.choice(ANNOTATIONS + [hostile_text(rng)]), generator=rng.random() < 0.2)
