# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""What a docstring says about the arguments: the Google, NumPy and reST ways of writing it."""

from __future__ import annotations

import re
from typing import Dict, List, Optional, Tuple

_GOOGLE = re.compile(r"^(Args|Arguments|Parameters|Params|Keyword Args|Keyword Arguments|Other Parameters):\s*$")
_GOOGLE_ITEM = re.compile(r"^(\*{0,2}\w+)\s*(?:\(.*?\))?\s*:\s*(.*)$")
_NUMPY_ITEM = re.compile(r"^(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?$")
_REST = re.compile(r"^\s*:(?:param|parameter|arg|argument|keyword|key)\s+(?:[^:]*\s)?(\*{0,2}\w+)\s*:\s*(.*)$")
_FIELD = re.compile(r"^\s*:\w+.*:")


def summary(doc: str) -> str:
    """The first paragraph as one line."""
    return " ".join(doc.strip().split("\n\n", 1)[0].split())


def argument_descriptions(doc: str) -> Dict[str, str]:
    """``doc`` is cleaned of its indentation, as by inspect.getdoc."""
    lines = doc.splitlines()
    found: Dict[str, str] = {}
    for index, line in enumerate(lines):
        if _GOOGLE.match(line):
            found.update(_google(lines[index + 1 :]))
        elif index + 1 < len(lines) and re.match(r"^-{3,}\s*$", lines[index + 1]):
            if line.strip() in ("Parameters", "Other Parameters", "Keyword Arguments"):
                found.update(_numpy(lines[index + 2 :]))
    found.update(_rest(lines))
    return {name.lstrip("*"): text for name, text in found.items() if text}


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _google(lines: List[str]) -> Dict[str, str]:
    found: Dict[str, List[str]] = {}
    name: Optional[str] = None
    level: Optional[int] = None
    for line in lines:
        if not line.strip():
            continue
        if _indent(line) == 0:
            break
        level = _indent(line) if level is None else level
        item = _GOOGLE_ITEM.match(line.strip()) if _indent(line) <= level else None
        if item is not None:
            name = item.group(1)
            found[name] = [item.group(2)]
        elif name is not None:
            found[name].append(line)
    return _joined(found)


def _numpy(lines: List[str]) -> Dict[str, str]:
    found: Dict[str, List[str]] = {}
    names: Tuple[str, ...] = ()
    for index, line in enumerate(lines):
        if not line.strip():
            continue
        if _indent(line) == 0:
            if index + 1 < len(lines) and re.match(r"^-{3,}\s*$", lines[index + 1]):
                break
            item = _NUMPY_ITEM.match(line.strip())
            if item is None:
                break
            names = tuple(name.strip() for name in item.group(1).split(","))
            found.update({name: [] for name in names})
        else:
            for name in names:
                found[name].append(line)
    return _joined(found)


def _rest(lines: List[str]) -> Dict[str, str]:
    found: Dict[str, List[str]] = {}
    name: Optional[str] = None
    for line in lines:
        item = _REST.match(line)
        if item is not None:
            name = item.group(1)
            found[name] = [item.group(2)]
        elif _FIELD.match(line) or not line.strip():
            name = None
        elif name is not None:
            found[name].append(line)
    return _joined(found)


def _joined(found: Dict[str, List[str]]) -> Dict[str, str]:
    return {name: " ".join(" ".join(lines).split()) for name, lines in found.items()}
