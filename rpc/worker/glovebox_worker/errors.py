# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Errors as the link carries them, and the exceptions the rooms of the worker raise for one another."""

from __future__ import annotations

import linecache
import os
import sys
import sysconfig
import traceback
from types import TracebackType
from typing import Any, Dict, List, Optional

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_LIBRARY = tuple(
    {sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    | {os.sep + "site-packages" + os.sep}
)
_MAX_FRAMES = 100
_MAX_MESSAGE = 16_000


class Cancelled(BaseException):
    """Raised inside a call that is to stop. A BaseException, so that ``except Exception`` lets it through."""


class CallError(Exception):
    """Ends a call with an error of the given kind."""

    def __init__(self, kind: str, message: str, argument: Optional[str] = None, where: Optional[str] = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.argument = argument
        self.where = where

    def as_json(self) -> Dict[str, Any]:
        error = plain_error(self.kind, self.message)
        if self.argument is not None:
            error["argument"] = self.argument
        if self.where is not None:
            error["where"] = self.where
        return error


def plain_error(kind: str, message: str, type_name: str = "") -> Dict[str, Any]:
    return {"kind": kind, "type": type_name, "message": message[:_MAX_MESSAGE], "traceback": "", "frames": []}


def exception_error(kind: str, error: BaseException, root: str) -> Dict[str, Any]:
    """An exception of the interface's code. ``root`` is the folder whose frames count as the author's own."""
    own = _strip(error, set())
    result = plain_error(kind, _message_of(error), _type_name(error))
    try:
        lines = traceback.format_exception(type(error), error, own)
        result["traceback"] = "".join(lines)[-64_000:]
        result["frames"] = _frames(error, own, root)
    except Exception:  # the exception's own __str__ may fail; the report must not
        result["traceback"] = "{} (its text could not be made)\n".format(result["type"])
    return result


def _type_name(error: BaseException) -> str:
    kind = type(error)
    return (
        kind.__qualname__
        if kind.__module__ in ("builtins", "__main__")
        else kind.__module__ + "." + kind.__qualname__
    )


def _message_of(error: BaseException) -> str:
    try:
        if isinstance(error, SystemExit):
            return f"the function called sys.exit({error.code!r})"
        return str(error)
    except Exception:
        return "(the exception's message could not be made)"


def _strip(error: BaseException, seen: "set[int]") -> Optional[TracebackType]:
    """Drop this package's own frames from the tracebacks, of causes and contexts as well."""
    if id(error) in seen:
        return error.__traceback__
    seen.add(id(error))
    while error.__traceback__ is not None and _is_ours(error.__traceback__.tb_frame.f_code.co_filename):
        error.__traceback__ = error.__traceback__.tb_next
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        if _is_ours(frame.tb_next.tb_frame.f_code.co_filename):
            frame.tb_next = frame.tb_next.tb_next
        else:
            frame = frame.tb_next
    for other in (error.__cause__, error.__context__):
        if other is not None:
            _strip(other, seen)
    return error.__traceback__


def _is_ours(filename: str) -> bool:
    return filename.startswith(_HERE)


def _frames(error: BaseException, start: Optional[TracebackType], root: str) -> List[Dict[str, Any]]:
    frames = []
    if isinstance(error, SyntaxError) and error.filename:
        frames = [_frame(error.filename, error.lineno or 0, "<module>", root, (error.text or "").strip())]
    walked = [
        _frame(frame.f_code.co_filename, line, frame.f_code.co_name, root, None)
        for frame, line in traceback.walk_tb(start)
        if not _is_ours(frame.f_code.co_filename)
    ]
    if len(walked) > _MAX_FRAMES:
        walked = walked[: _MAX_FRAMES // 2] + walked[-_MAX_FRAMES // 2 :]
    return walked + frames


def _frame(file: str, line: int, function: str, root: str, source: Optional[str]) -> Dict[str, Any]:
    if source is None:
        source = linecache.getline(file, line).strip()
    return {
        "file": file,
        "line": line,
        "function": function,
        "source": source[:500],
        "user": file.startswith(root) and not any(part in file for part in _LIBRARY),
    }


def report_own_failure(what: str) -> None:
    """For what must never stop the worker: told on descriptor 2, which the keeper reads."""
    try:
        text = f"glovebox worker: {what}: {traceback.format_exc()}\n"
        os.write(2, text.encode("utf-8", "replace"))
    except Exception:
        sys.exc_info()
