# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Exchanges the bodies of functions in a module that keeps its state.

A body may change; everything that ran when the file was loaded may not. The code of every function of the file is
exchanged, also of those that did not change, so that the line numbers of all tracebacks are right afterwards.
"""

from __future__ import annotations

import ast
import gc
import os
import sys
import types
from typing import Any, Dict, Iterator, List, Optional, Tuple

_HAS_DOCSTRING = 0x4000000
_Functions = (ast.FunctionDef, ast.AsyncFunctionDef)
Stamp = Tuple[int, int]


def difference(old: ast.Module, new: ast.Module) -> Optional[str]:
    """Why the change needs a fresh worker, or None where only bodies of functions changed."""
    for before, after in zip(old.body, new.body):
        reason = _statement_difference(before, after)
        if reason is not None:
            return reason
    if len(new.body) > len(old.body):
        return f"line {new.body[len(old.body)].lineno}: {_name(new.body[len(old.body)])} was added"
    if len(new.body) < len(old.body):
        return f"{_name(old.body[len(new.body)])} was removed"
    return None


def _statement_difference(before: ast.stmt, after: ast.stmt) -> Optional[str]:
    if ast.dump(before) == ast.dump(after):
        return None
    place = f"line {after.lineno}: "
    if type(before) is not type(after) or not isinstance(before, _Functions) or not isinstance(after, _Functions):
        return f"{place}{_name(after)} changed"
    if before.name != after.name:
        return f"{place}{_name(after)} stands where {_name(before)} was"
    for field in ("decorator_list", "args", "returns"):
        if _dump(getattr(before, field)) != _dump(getattr(after, field)):
            word = {"decorator_list": "decorators", "args": "arguments", "returns": "result type"}[field]
            return f"{place}the {word} of {after.name}() changed"
    return None


def _dump(part: Any) -> str:
    if isinstance(part, list):
        return " ".join(ast.dump(item) for item in part)
    return ast.dump(part) if part is not None else ""


def _name(node: ast.stmt) -> str:
    if isinstance(node, _Functions):
        return f"the function {node.name}()"
    if isinstance(node, ast.ClassDef):
        return f"the class {node.name}"
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return "an import"
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return f"the value of {node.targets[0].id}"
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return f"the value of {node.target.id}"
    return "a statement at the top of the file"


def exchange(old: types.CodeType, new: types.CodeType) -> Optional[str]:
    """Put the new code into the living functions. Nothing is changed where a reason is returned."""
    pairs = list(_pairs(old, new))
    if any(a.co_name != b.co_name or len(a.co_freevars) != len(b.co_freevars) for a, b in pairs):
        return "the functions of the file cannot be matched"
    if len(_codes(old)) != len(_codes(new)):
        return "the functions of the file cannot be matched"
    by_old = {id(a): b for a, b in pairs}
    living = [fn for fn in gc.get_referrers(*[a for a, _ in pairs]) if isinstance(fn, types.FunctionType)]
    for fn in living:
        fresh = by_old.get(id(fn.__code__))
        if fresh is not None:
            if _docstring(fn.__code__) == fn.__doc__:
                fn.__doc__ = _docstring(fresh)
            fn.__code__ = fresh
    return None


def _codes(code: types.CodeType) -> List[types.CodeType]:
    return [const for const in code.co_consts if isinstance(const, types.CodeType)]


def _pairs(old: types.CodeType, new: types.CodeType) -> Iterator[Tuple[types.CodeType, types.CodeType]]:
    for before, after in zip(_codes(old), _codes(new)):
        yield before, after
        inside_old, inside_new = _codes(before), _codes(after)
        # Methods of a class, say. In a body that changed the inner functions need not correspond any more.
        if [code.co_name for code in inside_old] == [code.co_name for code in inside_new]:
            for a, b in _pairs(before, after):
                if len(a.co_freevars) == len(b.co_freevars):
                    yield a, b


def _docstring(code: types.CodeType) -> Optional[str]:
    # Before the flag came, functions without one had None as their first constant.
    if sys.version_info >= (3, 14) and not code.co_flags & _HAS_DOCSTRING:
        return None
    first = code.co_consts[0] if code.co_consts else None
    return first if isinstance(first, str) else None


def stamps_of_helpers(folder: str, own: str) -> Dict[str, Stamp]:
    """The modules that came from beside the interface file, and what they looked like."""
    found: Dict[str, Stamp] = {}
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and file.startswith(folder + os.sep) and file != own:
            if os.sep + "site-packages" + os.sep not in file:
                found[file] = stamp(file)
    return found


def stamp(file: str) -> Stamp:
    try:
        status = os.stat(file)
    except OSError:
        return (0, -1)
    return (status.st_mtime_ns, status.st_size)
